"""A research report for a page: Markdown with every query, run and finding, and whole digests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from goldgate.report import research_shown
from goldgate.report.display import error_lines, shown
from goldgate.report.escape import code, markdown

SHOWN_ROWS = 1_000  # of a table; the JSON report has all


def render_research_markdown(report: dict[str, Any]) -> str:
    """The same order as the text, and no less than the text has."""
    if report.get("error"):
        return _error(report)
    blocks = [
        f"# {report['status']}: goldgate research",
        markdown(
            f"{research_shown.headline(report)}, protocol {report['protocol']['name']} {report['protocol']['version']}."
        ),
        "## Gates",
        _table(("verdict", "metric", "value", "counts", "gate", "lower bound", "at 95 %", "reason"), _gates(report)),
        "Evidence records were checked to: " + markdown(", ".join(research_shown.levels(report))) + ".",
        "Records that failed: " + markdown(", ".join(research_shown.failures(report)) or "none") + ".",
        *([markdown(report["evidence"]["note"])] if report["evidence"]["note"] else []),
        "## Companions",
        _table(
            ("metric", "value", "counts"),
            [
                (code(name), metric.value, markdown(metric.reason or metric.counts))
                for name, metric in research_shown.companions(report).items()
            ],
        ),
        "## Findings",
        _findings(report),
        "## Queries",
        _queries(report),
        "## Runs",
        _runs(report),
        "## Ignored",
        _table(("path", "reason"), [(code(entry["path"]), markdown(entry["reason"])) for entry in report["ignored"]]),
        "## Counts",
        _table(("", "total = parts"), [(name, markdown(words)) for name, words in research_shown.counts(report)]),
        "## Where the numbers come from",
        f"- `metrics.version`: {markdown(report['metrics']['version'])}\n"
        f"- signature: {code(report['signature'], in_table=False)}",
        _table(("input", "sha256"), [(name, code(digest)) for name, digest in research_shown.inputs(report)]),
    ]
    return "\n\n".join(blocks) + "\n"


def _error(report: dict[str, Any]) -> str:
    error = report["error"]
    lines = [f"- {label}: {markdown(text)}" for label, text in error_lines(error)]
    problems = error.get("problems") or []
    if len(problems) > 1:
        lines += ["", "All problems:", ""]
        lines += [
            f"- {code(problem['pointer'] or '/', in_table=False)}: "
            + markdown(f"expected {problem['expected']}, found {problem['found']}")
            for problem in problems
        ]
    return "\n".join(["# SYSTEM_ERROR: goldgate research", "", *lines]) + "\n"


def _gates(report: dict[str, Any]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for gate in report["gates"]:
        measured = shown(gate["measured"])
        rows.append(
            (
                gate["verdict"] + (" (warn)" if gate["severity"] == "warn" else ""),
                code(gate["metric"]),
                measured.value,
                measured.counts,
                research_shown.bounds(gate),
                research_shown.lower_bound(gate, report),
                gate["support"] or "",
                markdown(gate["reason"]),
            )
        )
    return rows


def _findings(report: dict[str, Any]) -> str:
    rows = [
        (finding["severity"], code(finding["code"]), code(research_shown.place(finding)), markdown(finding["message"]))
        for finding in research_shown.findings(report)
    ]
    return _table(("severity", "code", "where", "message"), rows)


def _queries(report: dict[str, Any]) -> str:
    rows = []
    for number, query in enumerate(report["queries"]):
        recall = query["recall"]
        best, worst, mean = (shown(recall[n]).value if recall else "n/a" for n in ("best", "worst", "mean"))
        trials = f"{query['trials']}/{query['owed_trials']}"
        abstained = "" if query["right_abstentions"] is None else str(query["right_abstentions"])
        sufficient = "yes" if query["evidence_sufficient"] else "no"
        name = markdown(query["objective"])
        rows.append((str(number), name, sufficient, query["status"], trials, best, worst, mean, abstained))
    head = (
        "#",
        "objective",
        "sufficient",
        "status",
        "trials/owed",
        "recall: best",
        "worst",
        "mean",
        "right abstentions",
    )
    return _table(head, rows)


def _runs(report: dict[str, Any]) -> str:
    rows = [
        (
            code(run["run"]),
            "" if run["query"] is None else str(run["query"]),
            run["status"] + (f" ({run['reason']})" if run["reason"] else ""),
            markdown(run["stop_reason"] or ""),
            f"{run['covered_claims']}/{run['verified_claims']}",
            f"{run['found_ids']}/{run['required_ids']}",
            str(run["ledger"]),
            f"{run['steps_with_manifest']}/{run['steps']}",
        )
        for run in report["runs"]
    ]
    return _table(("run", "query", "status", "stop reason", "claims", "ids", "ledger", "manifests"), rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table; the cells are Markdown already."""
    if not rows:
        return "None."
    lines = ["| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows[:SHOWN_ROWS])]
    if len(rows) > SHOWN_ROWS:
        lines += ["", f"… and {len(rows) - SHOWN_ROWS} more; the JSON report has all."]
    return "\n".join(lines)
