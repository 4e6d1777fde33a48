"""Baseline records: stored reports summed, with the thresholds they propose and the arithmetic behind each.

A threshold "should change only after collecting baseline runs" (eval-gates.md): a protocol that lowers a default
names such a record.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from goldgate.baseline.required import ADVICE, Baseline
from goldgate.baseline.stored_report import load_reports, proposed_for
from goldgate.core.gate import Gate
from goldgate.core.metric import cut
from goldgate.core.suite import Suite
from goldgate.errors import ConfigError, GoldgateError, Place
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import read_text
from goldgate.stats.beta_binomial import quantile

FORMAT_VERSION = 1  # of a baseline record
KIND = "baseline"
FALSE_ALARM_RATE = Decimal("0.05")
MOST_FURTHER = 1_000_000
FEW_TRIALS = 20  # fewer leave a proposal that says next to nothing
_DIGITS = 4  # of a proposed threshold


def make_baseline(
    paths: Sequence[str | Path], suites: Sequence[Suite], false_alarm_rate: Decimal = FALSE_ALARM_RATE
) -> dict[str, Any]:
    """Sum stored reports of one of the suites, and propose a threshold for each metric that it would gate."""
    reports = load_reports(paths, suites)
    suite = reports[0].suite
    stored = [report.stored for report in reports]
    summed = next(iter(stored[0].sizes), None)  # the units; other sizes may be the same ones in every report
    subjects = {name: frozenset().union(*(each.subjects[name] for each in stored)) for name in stored[0].subjects}
    return {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "suite": suite.name,
        "metrics_version": reports[0].result.report["metrics"]["version"],
        "false_alarm_rate": str(false_alarm_rate),
        "reports": [
            {
                "sha256": report.result.sha256,
                "signature": report.result.report["signature"],
                "status": report.result.report["status"],
                **report.stored.sizes,
            }
            for report in reports
        ],
        **({} if summed is None else {summed: sum(each.sizes[summed] for each in stored)}),
        **{name: len(found) for name, found in subjects.items()},
        "metrics": {
            name: _entry(gate, [each.rates[name] for each in stored], false_alarm_rate)
            for name, gate in proposed_for(suite).items()
        },
    }


def load_baseline(path: Path, named: str, place: Place, suite: str) -> Baseline:
    """Read a record that a protocol names; whatever is wrong with it is the protocol's error."""
    try:
        text, sha256 = read_text(path, KIND)
        value = parse_json(text, named, KIND)
    except GoldgateError as problem:
        raise ConfigError(
            "protocol.baseline_unreadable",
            "the baseline record cannot be read",
            place=place,
            found=f"{named}: {problem.message}",
            advice=ADVICE,
        ) from None
    try:
        if (value["kind"], value["suite"], value["format_version"]) != (KIND, suite, FORMAT_VERSION):
            raise KeyError("kind")
        if not value["reports"] or not all(len(report["sha256"]) == 64 for report in value["reports"]):
            raise KeyError("reports")
        proposals = dict(_proposals(value))
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise ConfigError(
            "protocol.not_a_baseline",
            "not a baseline record, or not as goldgate wrote it",
            place=place,
            expected=f"a record of the {suite} suite, made by goldgate baseline",
            found=named,
            advice=ADVICE,
        ) from None
    return Baseline(proposals, sha256)


def _proposals(record: dict[str, Any]) -> Iterator[tuple[str, Decimal]]:
    """The proposed thresholds, each worked out again from the counts beside it: a number alone proves nothing."""
    for name, entry in record["metrics"].items():
        pairs = [tuple(map(int, counts.split("/"))) for counts in entry["by_report"]]
        if len(pairs) != len(record["reports"]) or not all(0 <= hits <= trials for hits, trials in pairs):
            raise ValueError(name)
        again = _entry(None, pairs, Decimal(record["false_alarm_rate"]))
        if entry["proposal"] != again["proposal"]:
            raise ValueError(name)
        if entry["proposal"] is not None and Decimal(entry["proposal"]["threshold"]):
            yield str(name), Decimal(entry["proposal"]["threshold"])  # one of 0 proposes nothing: it cannot fail


def _entry(gate: Gate | None, counted: Sequence[tuple[int, ...]], chance: Decimal) -> dict[str, Any]:
    """One metric of a record: hits and trials of each report, and what they propose."""
    hits, trials = (sum(column) for column in zip(*counted, strict=True))
    entry: dict[str, Any] = {
        "default": gate.bounds() if gate is not None else None,
        "numerator": hits,
        "denominator": trials,
        "observed": cut(hits, trials, 6) if trials else None,
        "by_report": [f"{numerator}/{denominator}" for numerator, denominator in counted],
        "proposal": None,
    }
    # The next evaluation is taken to be as large as these were on average; beyond a million it makes no difference.
    further = min(trials // len(counted), MOST_FURTHER)
    if not further:
        return entry
    found = quantile(hits, trials, further, float(chance))
    if not hits:
        entry["caution"] = f"not one of {trials} trials succeeded: a threshold of 0 cannot fail, so look there first"
    elif not found.hits:
        entry["caution"] = f"{hits} of {trials} leave no threshold above 0, and one of 0 cannot fail: collect more"
    elif trials < FEW_TRIALS:
        entry["caution"] = f"only {trials} trials: the proposal is low because little is known"
    threshold = cut(found.hits, further, _DIGITS)
    entry["proposal"] = {
        "threshold": threshold,
        "prior": "Beta(1, 1)",
        "posterior": f"Beta({hits + 1}, {trials - hits + 1})",
        "further_trials": further,
        "count": found.hits,
        "chance_below": f"{found.chance_below:.6f}",
        "arithmetic": (
            f"{hits} of {trials} leave Beta({hits + 1}, {trials - hits + 1}); of {further} further trials fewer than "
            f"{found.hits} succeed with a chance of {found.chance_below:.6f}, at most {chance}; "
            f"{found.hits}/{further}, cut to {_DIGITS} decimals, is {threshold}"
        ),
    }
    return entry
