"""A stored report of the research suite, worked out again: one that contradicts its own runs is refused.

What a baseline sums comes from `runs` and `queries`; the numbers under `metrics` must be the same.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from goldgate.core.stored import ContradictionError, Counts, Stored, require_same, whole
from goldgate.errors import describe

_NOT_KEPT = "manifests:not_kept"  # in the signature
_MOST_TRIALS = "trials:most"  # in the signature, where the protocol does not set their number
_COUNTS = (  # of a run: the part, and what it is a part of
    ("covered_claims", "verified_claims"),
    ("found_ids", "required_ids"),
    ("steps_with_manifest", "steps"),
)


def stored(report: dict[str, Any]) -> Stored:
    """The four rates as the runs give them; the objectives that were asked."""
    _require_fields(report)
    rates = _rates(report)
    if _NOT_KEPT in str(report["signature"]).split("|"):
        rates["manifest_integrity"] = (0, 0)  # the runs count their steps all the same
    _check_conservation(report)
    require_same("metrics.main", rates, _stated(report))
    balance = report["conservation"]
    asked = frozenset(query["objective"] for query in report["queries"] if query["trials"])
    return Stored(
        rates,
        {"runs": balance["runs"]["evaluated"], "queries": balance["queries"]["total"]},
        {"objectives": asked},
        report["inputs"]["outputs"],
        tuple(run["fingerprint"] for run in report["runs"]),
    )


def _require_fields(report: dict[str, Any]) -> None:
    """What is taken from a report without working it out again is there: KeyError or TypeError if not."""
    if not all(type(query["objective"]) is str for query in report["queries"]):
        raise TypeError
    if not all(run["fingerprint"] is None or type(run["fingerprint"]) is str for run in report["runs"]):
        raise TypeError
    _ = [query["trials"] for query in report["queries"]], report["inputs"]["outputs"]["sha256"]


def _check_conservation(report: dict[str, Any]) -> None:
    runs, stated = report["runs"], report["conservation"]["runs"]
    evaluated = sum(run["status"] == "evaluated" for run in runs)
    counted = {"total": len(runs), "evaluated": evaluated, "broken": len(runs) - evaluated}
    for name in sorted(counted.keys() | stated.keys()):
        if counted.get(name) != stated.get(name):
            raise ContradictionError(
                f"conservation.runs.{name}", describe(counted.get(name)), describe(stated.get(name))
            )


def _stated(report: dict[str, Any]) -> dict[str, Counts]:
    main = report["metrics"]["main"]
    return {name: (whole(metric["numerator"]), whole(metric["denominator"])) for name, metric in main.items()}


def _rates(report: dict[str, Any]) -> dict[str, Counts]:
    """The four rates, from the counts of every run and the trials that every query owes."""
    queries, runs = report["queries"], report["runs"]
    for number, run in enumerate(runs):
        for part, of in _COUNTS:
            if not 0 <= whole(run[part]) <= whole(run[of]):
                raise ContradictionError(f"runs.{number}.{part}", f"at most {run[of]}", str(run[part]))
        if run["query"] is not None and run["required_ids"] != queries[whole(run["query"])]["required_ids"]:
            raise ContradictionError(f"runs.{number}.required_ids", "those of its query", str(run["required_ids"]))
    copies = [whole(run.get("copies", 0)) for run in runs]
    merged = Counter(run["query"] for run in runs)
    with_copies = merged.copy()
    for run, number in zip(runs, copies, strict=True):
        with_copies[run["query"]] += number
    owed = _owed(report, merged, with_copies)
    most = max(with_copies[number] for number in range(len(queries))) or 1
    rates = _rates_with(report, [1] * len(runs), owed)
    if not any(copies):
        return rates
    others = _rates_with(report, [1 + number for number in copies], owed if _is_set(report) else most)
    return {name: _worse(rates[name], others[name]) for name in rates}


def _owed(report: dict[str, Any], merged: Counter[int | None], with_copies: Counter[int | None]) -> int:
    """The trials that every query owes; ContradictionError where a query does not have those that its runs are."""
    queries, runs = report["queries"], report["runs"]
    owed = max([whole(query["owed_trials"]) for query in queries])
    evaluated = {run["query"] for run in runs if run["status"] == "evaluated"}
    for number, query in enumerate(queries):
        trials = with_copies[number] if _is_set(report) else merged[number]
        surplus = trials > owed and number in evaluated
        if query["trials"] != merged[number] or query["owed_trials"] != owed or surplus:
            found = f"{query['trials']} trials of {query['owed_trials']}"
            raise ContradictionError(f"queries.{number}.trials", f"{trials} trials, of {owed} owed", found)
    return owed


def _is_set(report: dict[str, Any]) -> bool:
    """Whether the protocol sets the number of trials."""
    return _MOST_TRIALS not in str(report["signature"]).split("|")


def _worse(merged: Counts, with_copies: Counts) -> Counts:
    """The lower rate, and of two that are equal the one with copies merged."""
    return with_copies if with_copies[0] * merged[1] < merged[0] * with_copies[1] else merged


def _rates_with(report: dict[str, Any], weights: Sequence[int], owed: int) -> dict[str, Counts]:
    """The four rates, each run counted as often as its weight says, and the trials that every query then owes."""
    queries, weighed = report["queries"], [*zip(report["runs"], weights, strict=True)]
    there: Counter[int | None] = Counter()
    for run, weight in weighed:
        there[run["query"]] += weight
    of_query = [(query, max(owed, there[number])) for number, query in enumerate(queries)]
    evaluated = [(run, weight) for run, weight in weighed if run["status"] == "evaluated"]
    asked = [(run, queries[run["query"]], weight) for run, weight in evaluated if run["query"] is not None]
    right = sum(
        weight * (run["stop_reason"] == "NO_EVIDENCE" and run["verified_claims"] == 0)
        for run, query, weight in asked
        if not query["evidence_sufficient"]
    )
    return {
        "evidence_coverage_rate": (_sum(evaluated, "covered_claims"), _sum(weighed, "verified_claims")),
        "golden_recall": (
            sum(run["found_ids"] * weight for run, _, weight in asked),
            sum(whole(query["required_ids"]) * trials for query, trials in of_query),
        ),
        "abstention_accuracy": (right, sum(trials for query, trials in of_query if not query["evidence_sufficient"])),
        "manifest_integrity": (_sum(weighed, "steps_with_manifest"), _sum(weighed, "steps")),
    }


def _sum(weighed: Sequence[tuple[dict[str, Any], int]], name: str) -> int:
    return sum(run[name] * weight for run, weight in weighed)
