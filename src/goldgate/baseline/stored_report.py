"""Stored reports of the research suite, read for a baseline: one that contradicts its own runs is refused.

What is summed is worked out again from `runs` and `queries`; the numbers under `metrics` must be the same.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.evaluation import FORMAT_VERSION
from goldgate.core.gate import Verdict
from goldgate.errors import InputError, Place, describe
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import read_text

_COUNTS = (  # of a run: the part, and what it is a part of
    ("covered_claims", "verified_claims"),
    ("found_ids", "required_ids"),
    ("steps_with_manifest", "steps"),
)


class StoredReport(NamedTuple):
    """A report, the digest of its bytes, the digest of its content, and its rates as its runs give them."""

    file: str
    sha256: str
    content: str
    value: dict[str, Any]
    rates: dict[str, tuple[int, int]]


def load_report(path: str | Path, suite: str) -> StoredReport:
    """Read a report that has numbers, and check them against its own runs."""
    file = str(path)
    text, digest = read_text(path, "report")
    value = parse_json(text, file, "report")
    if not isinstance(value, dict) or value.get("suite") != suite or value.get("format_version") != FORMAT_VERSION:
        raise InputError(
            "report.not_a_report",
            f"not a report of the {suite} suite",
            place=Place(file),
            expected=f"a JSON report with suite {suite} and format_version {FORMAT_VERSION}",
            found=describe(value.get("suite")) if isinstance(value, dict) else describe(value),
        )
    if value.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this report has no numbers: it ended in SYSTEM_ERROR", place=Place(file)
        )
    try:
        _require_fields(value)
        rates = _rates(value)
        _check_conservation(value)
        _check_metrics(value, rates)
        content = json.dumps(value, sort_keys=True).encode()
    except _ContradictionError as contradiction:
        field, from_runs, found = contradiction.args
        raise InputError(
            "report.contradicts_itself",
            "the numbers of this report are not those of its own runs",
            place=Place(file, None, field),
            expected=f"{from_runs}, as its runs give",
            found=found,
            advice="make the report again from the stored runs",
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError("report.malformed", "this report is not complete", place=Place(file)) from None
    return StoredReport(file, digest, sha256(content).hexdigest(), value, rates)


def refuse_mixtures(reports: Sequence[StoredReport]) -> None:
    """One report twice, or the same runs in two, would count them twice; other settings would mix other numbers."""
    for number, other in enumerate(reports):
        for one in reports[:number]:
            if one.content == other.content:
                raise _twice(other, f"the content of {one.file}, however it is laid out")
            if one.value["inputs"]["outputs"] == other.value["inputs"]["outputs"]:
                raise _twice(other, f"the outputs that {one.file} judges")
            shared = _shared(one, other)
            if shared * 2 > min(len(one.value["runs"]), len(other.value["runs"])):
                raise _twice(other, f"{shared} runs that are those of {one.file} but for ids and times")
            if one.value["metrics"]["version"] != other.value["metrics"]["version"]:
                raise InputError(
                    "report.other_version",
                    "these reports count differently",
                    place=Place(other.file),
                    expected=f"metrics.version {one.value['metrics']['version']}",
                    found=f"metrics.version {other.value['metrics']['version']}",
                )


class _ContradictionError(Exception):
    """Field, what its runs give, what it says."""


def _require_fields(report: dict[str, Any]) -> None:
    """What a baseline takes from a report without working it out again is there: KeyError or TypeError if not."""
    if not all(type(query["objective"]) is str for query in report["queries"]):
        raise TypeError
    if not all(run["fingerprint"] is None or type(run["fingerprint"]) is str for run in report["runs"]):
        raise TypeError
    _ = report["signature"], report["metrics"]["version"], report["conservation"]["queries"]["total"]
    _ = [query["trials"] for query in report["queries"]], report["inputs"]["outputs"]["sha256"]


def _check_conservation(report: dict[str, Any]) -> None:
    runs, stated = report["runs"], report["conservation"]["runs"]
    evaluated = sum(run["status"] == "evaluated" for run in runs)
    counted = {"total": len(runs), "evaluated": evaluated, "broken": len(runs) - evaluated}
    for name in sorted(counted.keys() | stated.keys()):
        if counted.get(name) != stated.get(name):
            raise _ContradictionError(
                f"conservation.runs.{name}", describe(counted.get(name)), describe(stated.get(name))
            )


def _check_metrics(report: dict[str, Any], rates: dict[str, tuple[int, int]]) -> None:
    stated = {
        name: (_whole(metric["numerator"]), _whole(metric["denominator"]))
        for name, metric in report["metrics"]["main"].items()
    }
    for name in sorted(rates.keys() | stated.keys()):  # the same one first, whatever the order of a set
        if rates.get(name) != stated.get(name):
            raise _ContradictionError(f"metrics.main.{name}", _fraction(rates.get(name)), _fraction(stated.get(name)))


def _rates(report: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """The four rates, from the counts of every run and the trials that every query owes."""
    queries, runs = report["queries"], report["runs"]
    for number, run in enumerate(runs):
        for part, whole in _COUNTS:
            if not 0 <= _whole(run[part]) <= _whole(run[whole]):
                raise _ContradictionError(f"runs.{number}.{part}", f"at most {run[whole]}", str(run[part]))
        if run["query"] is not None and run["required_ids"] != queries[_whole(run["query"])]["required_ids"]:
            raise _ContradictionError(f"runs.{number}.required_ids", "those of its query", str(run["required_ids"]))
    there = Counter(run["query"] for run in runs)
    owed = max([_whole(query["owed_trials"]) for query in queries])
    for number, query in enumerate(queries):
        surplus = there[number] > owed and any(r["query"] == number and r["status"] == "evaluated" for r in runs)
        if query["trials"] != there[number] or query["owed_trials"] != owed or surplus:
            found = f"{query['trials']} trials of {query['owed_trials']}"
            raise _ContradictionError(f"queries.{number}.trials", f"{there[number]} trials, of {owed} owed", found)
    of_query = [(query, max(owed, there[number])) for number, query in enumerate(queries)]
    whole_runs = [run for run in runs if run["status"] == "evaluated"]
    asked = [(run, queries[run["query"]]) for run in whole_runs if run["query"] is not None]
    right = sum(
        run["stop_reason"] == "NO_EVIDENCE" and run["verified_claims"] == 0
        for run, query in asked
        if not query["evidence_sufficient"]
    )
    return {
        "evidence_coverage_rate": (_sum(whole_runs, "covered_claims"), _sum(runs, "verified_claims")),
        "golden_recall": (
            sum(run["found_ids"] for run, _ in asked),
            sum(_whole(query["required_ids"]) * trials for query, trials in of_query),
        ),
        "abstention_accuracy": (right, sum(trials for query, trials in of_query if not query["evidence_sufficient"])),
        "manifest_integrity": (_sum(runs, "steps_with_manifest"), _sum(runs, "steps")),
    }


def _shared(one: StoredReport, other: StoredReport) -> int:
    """How many runs the two have in common."""
    mine = {run["fingerprint"] for run in one.value["runs"]} - {None}
    return sum(run["fingerprint"] in mine for run in other.value["runs"])


def _twice(report: StoredReport, found: str) -> InputError:
    return InputError(
        "report.twice",
        "the same runs would count twice",
        place=Place(report.file),
        found=found,
        advice="name every report once, and only reports of runs of their own",
    )


def _whole(value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _sum(runs: Sequence[dict[str, Any]], name: str) -> int:
    return sum(run[name] for run in runs)


def _fraction(rate: tuple[int, int] | None) -> str:
    return "nothing" if rate is None else f"{rate[0]}/{rate[1]}"
