"""The research suite's report as a page: evidence, companions, findings, queries, runs, and what adds up to what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.frame import finding_lines, frame
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    Findings,
    Name,
    Page,
    Pair,
    Pairs,
    Paragraph,
    Samples,
    Section,
    Table,
    counted,
    measured,
    values,
)

SHOWN_FINDINGS = 15
SHOWN_IGNORED = 5
SHOWN_ROWS = 1_000  # of a long table; the JSON report has all
RUNS = "runs.jsonl"

# Each total and its parts.
_BALANCE = {
    "queries": ("answered", "missing"),
    "trials": ("runs", "missing"),
    "directories": ("runs", "ignored"),
    "runs": ("evaluated", "broken"),
    "claims": ("verified", "candidate", "retracted"),
    "evidence": ("valid", "failed"),
    "steps": ("with_manifest", "without_manifest"),
}


def describe(report: Mapping[str, Any]) -> Page:
    """Evidence and companions first, then the worst findings."""
    found = Findings(finding_lines(report["findings"]), limit=SHOWN_FINDINGS, most=SHOWN_ROWS)
    companions = report["metrics"]["companions"]
    sections = [
        Section("Evidence records", _evidence(report["evidence"])),
        Section("Companions", (values(companions),) if companions else ()),
        Section("Findings, the worst first" if found.rows else "Findings", (found,)),
        Section("Queries", (_queries(report),), is_detail=True),
        Section("Runs", (_runs(report),), is_detail=True),
        Section("Ignored", _ignored(report)),
        Section("Counts", (_counts(report),)),
    ]
    return frame(report, _subject(report), sections, Samples(RUNS, report["conservation"]["runs"]["total"]))


def _subject(report: Mapping[str, Any]) -> str:
    balance = report["conservation"]
    queries, runs = balance["queries"], balance["runs"]
    parts = [counted(queries["total"], "query"), counted(runs["total"], "run")]
    if queries["missing"]:
        parts[0] += f" ({queries['missing']} without a run)"
    if runs["broken"]:
        parts[1] += f" ({runs['broken']} broken)"
    return ", ".join(parts)


def _evidence(evidence: Mapping[str, Any]) -> tuple[Block, ...]:
    """How many valid records were checked to which level, how many failed and why, and what that leaves open."""
    levels, failures = (
        tuple(f"{name} {count}" for name, count in evidence[kind].items()) for kind in ("levels", "failures")
    )
    pairs = Pairs((Pair("checked to", levels or ("none",)), Pair("failed", failures or ("none",))))
    return (pairs, Paragraph(evidence["note"])) if evidence["note"] else (pairs,)


def _queries(report: Mapping[str, Any]) -> Table:
    rows = []
    for number, query in enumerate(report["queries"]):
        recall = query["recall"]
        of_trials: list[Cell] = [measured(recall[n]) if recall else "n/a" for n in ("best", "worst", "mean")]
        row: tuple[Cell, ...] = (
            str(number),
            query["objective"],
            "yes" if query["evidence_sufficient"] else "no",
            query["status"],
            f"{query['trials']}/{query['owed_trials']}",
            *of_trials,
            "" if query["right_abstentions"] is None else str(query["right_abstentions"]),
        )
        rows.append(row)
    columns = (
        *map(Column, ("#", "objective", "sufficient", "status", "trials/owed")),
        *(Column(title, group="recall") for title in ("best", "worst", "mean")),
        Column("right abstentions"),
    )
    return Table(columns, tuple(rows), most=SHOWN_ROWS)


def _runs(report: Mapping[str, Any]) -> Table:
    rows = tuple(
        (
            Name(run["run"]),
            "" if run["query"] is None else str(run["query"]),
            run["status"] + (f" ({run['reason']})" if run["reason"] else ""),
            run["stop_reason"] or "",
            f"{run['covered_claims']}/{run['verified_claims']}",
            f"{run['found_ids']}/{run['required_ids']}",
            str(run["ledger"]),
            f"{run['steps_with_manifest']}/{run['steps']}",
        )
        for run in report["runs"]
    )
    titles = ("run", "query", "status", "stop reason", "claims", "ids", "ledger", "manifests")
    return Table(tuple(map(Column, titles)), rows, most=SHOWN_ROWS)


def _ignored(report: Mapping[str, Any]) -> tuple[Block, ...]:
    rows = tuple((Name(entry["path"]), entry["reason"]) for entry in report["ignored"])
    return (Table((Column("path"), Column("reason")), rows, SHOWN_IGNORED, SHOWN_ROWS),) if rows else ()


def _counts(report: Mapping[str, Any]) -> Pairs:
    balance = report["conservation"]
    return Pairs(
        tuple(
            Pair(name, (f"{balance[name]['total']} = " + " + ".join(f"{balance[name][p]} {p}" for p in parts),))
            for name, parts in _BALANCE.items()
        )
    )
