"""Baseline records: stored reports summed, with the thresholds they propose and the arithmetic behind each.

A threshold "should change only after collecting baseline runs" (eval-gates.md): a protocol that lowers a default
names such a record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.evaluation import FORMAT_VERSION as REPORT_VERSION
from goldgate.core.gate import Gate, Verdict
from goldgate.core.metric import shorten
from goldgate.errors import ConfigError, GoldgateError, InputError, Place, describe
from goldgate.protocol.tree import parse_json
from goldgate.readers.text_file import read_text
from goldgate.stats.beta_binomial import quantile

FORMAT_VERSION = 1  # of a baseline record
KIND = "baseline"
FALSE_ALARM_RATE = Decimal("0.05")
MOST_FURTHER = 1_000_000
FEW_TRIALS = 20  # fewer leave a proposal that says next to nothing
_DIGITS = 4  # of a proposed threshold


class Baseline(NamedTuple):
    """What a gate needs of a record: the proposed threshold of each metric, as it is written there."""

    proposals: dict[str, Decimal]
    sha256: str


class _Report(NamedTuple):
    file: str
    sha256: str
    value: dict[str, Any]


def make_baseline(
    paths: Sequence[str | Path], suite: str, defaults: Mapping[str, Gate], false_alarm_rate: Decimal = FALSE_ALARM_RATE
) -> dict[str, Any]:
    """Sum stored reports and propose a threshold for each metric with a default gate."""
    reports = sorted((_load_report(path, suite) for path in paths), key=lambda report: report.sha256)
    _refuse_mixtures(reports)
    runs = sum(report.value["conservation"]["runs"]["evaluated"] for report in reports)
    objectives = {query["objective"] for report in reports for query in report.value["queries"] if query["trials"]}
    return {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "suite": suite,
        "metrics_version": reports[0].value["metrics"]["version"],
        "false_alarm_rate": str(false_alarm_rate),
        "reports": [
            {
                "sha256": report.sha256,
                "signature": report.value["signature"],
                "status": report.value["status"],
                "runs": report.value["conservation"]["runs"]["evaluated"],
                "queries": report.value["conservation"]["queries"]["total"],
            }
            for report in reports
        ],
        "runs": runs,
        "objectives": len(objectives),
        "metrics": {
            name: _proposal(name, gate, [report.value for report in reports], false_alarm_rate)
            for name, gate in defaults.items()
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
            advice=_ADVICE,
        ) from None
    try:
        if (value["kind"], value["suite"], value["format_version"]) != (KIND, suite, FORMAT_VERSION):
            raise KeyError("kind")
        if not value["reports"] or not all(len(report["sha256"]) == 64 for report in value["reports"]):
            raise KeyError("reports")
        proposals = {
            str(name): Decimal(entry["proposal"]["threshold"])
            for name, entry in value["metrics"].items()
            if entry["proposal"] is not None
        }
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        raise ConfigError(
            "protocol.not_a_baseline",
            "this is no baseline record",
            place=place,
            expected=f"a record of the {suite} suite, made by goldgate baseline",
            found=named,
            advice=_ADVICE,
        ) from None
    return Baseline(proposals, sha256)


def require_baseline(
    gates: Mapping[str, Gate], defaults: Mapping[str, Gate], baseline: Baseline | None, places: Mapping[str, Place]
) -> None:
    """Refuse a gate below its default that no baseline record speaks for."""
    for name, default in defaults.items():
        gate = gates.get(name, default)
        least, default_least = _least(gate), _least(default)
        if default_least is None or (least is not None and least >= default_least):
            continue
        shown = "no lower bound" if least is None else f"≥ {least}"
        if baseline is None:
            raise ConfigError(
                "protocol.lowered_without_baseline",
                f"the gate on {name} is lower than its default",
                place=places.get(name),
                expected=f"{default.bounds()}, or research.baseline naming a record of stored reports",
                found=shown,
                advice=_ADVICE,
            )
        proposed = baseline.proposals.get(name)
        if proposed is None or least is None or least < proposed:
            raise ConfigError(
                "protocol.below_baseline",
                f"the gate on {name} is lower than its baseline record proposes",
                place=places.get(name),
                expected="no proposal: the record has no trials of it" if proposed is None else f"≥ {proposed}",
                found=shown,
                advice=_ADVICE,
            )


_ADVICE = (
    "collect reports of representative runs, then: goldgate baseline REPORT... --out baseline.json, "
    "and name the file as research.baseline in the protocol"
)


def _least(gate: Gate) -> Decimal | None:
    bounds = [bound for bound in (gate.min, gate.equals) if bound is not None]
    return max(bounds) if bounds else None


def _proposal(name: str, gate: Gate, reports: list[dict[str, Any]], chance: Decimal) -> dict[str, Any]:
    measured = [report["metrics"]["main"][name] for report in reports]
    hits = sum(metric["numerator"] for metric in measured)
    trials = sum(metric["denominator"] for metric in measured)
    entry: dict[str, Any] = {
        "default": gate.bounds(),
        "numerator": hits,
        "denominator": trials,
        "observed": shorten(hits, trials, 6) if trials else None,
        "by_report": [f"{metric['numerator']}/{metric['denominator']}" for metric in measured],
        "proposal": None,
    }
    # The next evaluation is taken to be as large as these were on average; beyond a million it makes no difference.
    further = min(trials // len(reports), MOST_FURTHER)
    if not further:
        return entry
    if trials < FEW_TRIALS:
        entry["caution"] = f"only {trials} trials: the proposal is low because little is known"
    found = quantile(hits, trials, further, float(chance))
    threshold = shorten(found.hits, further, _DIGITS)
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


def _load_report(path: str | Path, suite: str) -> _Report:
    file = str(path)
    text, sha256 = read_text(path, "report")
    value = parse_json(text, file, "report")
    if not isinstance(value, dict) or value.get("suite") != suite or value.get("format_version") != REPORT_VERSION:
        raise InputError(
            "report.not_a_report",
            f"this is no report of the {suite} suite",
            place=Place(file),
            expected=f"a JSON report with suite {suite} and format_version {REPORT_VERSION}",
            found=describe(value.get("suite")) if isinstance(value, dict) else describe(value),
        )
    if value.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this report has no numbers: it ended in SYSTEM_ERROR", place=Place(file)
        )
    try:
        _ = value["signature"], value["conservation"]["runs"]["evaluated"], value["conservation"]["queries"]["total"]
        _ = [query["objective"] for query in value["queries"] if query["trials"]]
        for metric in value["metrics"]["main"].values():
            if not 0 <= metric["numerator"] <= metric["denominator"]:
                raise ValueError
    except (KeyError, TypeError, ValueError):
        raise InputError("report.malformed", "this report is not complete", place=Place(file)) from None
    return _Report(file, sha256, value)


def _refuse_mixtures(reports: list[_Report]) -> None:
    """One report twice would count its runs twice; other settings would mix other numbers."""
    for one, other in pairwise(reports):
        if one.sha256 == other.sha256:
            raise InputError(
                "report.twice",
                "the same report stands twice",
                place=Place(other.file),
                found=f"the same bytes as {one.file}",
                advice="name every report once",
            )
        if one.value["metrics"]["version"] != other.value["metrics"]["version"]:
            raise InputError(
                "report.other_version",
                "these reports count differently",
                place=Place(other.file),
                expected=f"metrics.version {one.value['metrics']['version']}",
                found=f"metrics.version {other.value['metrics']['version']}",
            )
