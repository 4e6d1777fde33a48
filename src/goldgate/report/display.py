"""A report's values as they are shown, in the order in which they are shown; text and Markdown lay them out.

Decimals are cut, never rounded up. Nothing here is escaped yet.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from goldgate.core.metric import SHOWN_DIGITS, shorten
from goldgate.errors import Place

FAMILIES = ("strict", "relaxed", "type")
RATES = ("precision", "recall", "f1")

# Headings of the main metrics, with how the names under each begin.
_GROUPS = {
    "Parse diagnostics": ("total_samples", "missing_predictions", "parse_"),
    "Schema compliance": ("schema_",),
    "Hallucination": ("hallucination_",),
    "Length of matched values": ("relaxed_excess", "relaxed_shortfall"),
}
_REST = "Other metrics"
_THOUGHT = "cot_"  # they come last, under a heading of their own


@dataclass(frozen=True, slots=True)
class Shown:
    """A value, the counts behind it (`430/752`, empty for a plain count), and why it is n/a."""

    value: str
    counts: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Metrics under one heading."""

    title: str
    metrics: dict[str, Shown]


def shown(metric: dict[str, Any]) -> Shown:
    """A rate, a count or a mean as it is shown."""
    reason = metric.get("reason")
    if "denominator" in metric:
        numerator, denominator = metric["numerator"], metric["denominator"]
        value = shorten(numerator, denominator) if denominator else "n/a"
        return Shown(value, f"{numerator}/{denominator}", reason)
    if "averaged" in metric:
        averaged = metric["averaged"]
        return Shown(_cut(metric["value"]), f"{averaged} of {averaged + metric['undefined']}", reason)
    return Shown("n/a" if metric["value"] is None else str(metric["value"]), "", reason)


def scores(report: dict[str, Any]) -> dict[str, list[Shown]]:
    """Precision, recall and F1 of each way of matching."""
    main = report["metrics"]["main"]
    return {family: [shown(main[f"{family}_{rate}"]) for rate in RATES] for family in FAMILIES}


def groups(report: dict[str, Any]) -> list[Group]:
    """The metrics but those of thoughts under their headings; one that no heading expects is not left out."""
    found: dict[str, dict[str, Shown]] = {title: {} for title in (*_GROUPS, _REST)}
    in_scores = {f"{family}_{rate}" for family in FAMILIES for rate in RATES}
    metrics = report["metrics"]
    for name, metric in {**metrics["main"], **metrics["diagnostics"]}.items():
        if name not in in_scores and not name.startswith(_THOUGHT):
            title = next((title for title, starts in _GROUPS.items() if name.startswith(starts)), _REST)
            found[title][name] = shown(metric)
    return [Group(title, metrics) for title, metrics in found.items() if metrics]


def diagnostics(report: dict[str, Any]) -> Group:
    """The chain-of-thought metrics, coverage first: no rate of them means anything without it."""
    found = report["metrics"]["diagnostics"]
    metrics = {name: shown(metric) for name, metric in found.items() if name.startswith(_THOUGHT)}
    order = sorted(metrics, key=lambda name: name != "cot_coverage_rate")
    return Group("Diagnostics", {name: metrics[name] for name in order})


def same_reason(group: Group) -> str | None:
    """The reason, if all metrics of a group are n/a for one and the same."""
    reasons = {metric.reason for metric in group.metrics.values()}
    return reasons.pop() if len(reasons) == 1 else None


def mistakes(report: dict[str, Any]) -> list[tuple[str, int, int]]:
    """Error name, false positives, false negatives; the last row is their sum."""
    rows = [(name, e["false_positives"], e["false_negatives"]) for name, e in report["errors"].items()]
    return [*rows, ("total", sum(row[1] for row in rows), sum(row[2] for row in rows))]


def reading(report: dict[str, Any]) -> dict[str, list[str]]:
    """How answers were read: by heading, `name count` for each that occurred."""
    found = report["reading"]
    lists = {
        heading: [f"{name} {count}" for name, count in found[heading].items() if count]
        for heading in ("methods", "thoughts", "repairs")
    }
    lists["violations"] = [
        f"{name} {entry['occurrences']} (in {counted(entry['samples'], 'sample')})"
        for name, entry in found["violations"].items()
    ]
    return lists


def hints(report: dict[str, Any]) -> list[tuple[str, str]]:
    """What stands out in the answers, and the setting that would read it."""
    return [
        (f"{hint['answers']} of {hint['of']} answers have {hint['have']}", hint["setting"])
        for hint in report.get("hints", ())
    ]


def stands_out(report: dict[str, Any]) -> list[str]:
    """What stands out, one message for each."""
    return [entry["message"] for entry in report.get("stands_out", ())]


def event_types(report: dict[str, Any]) -> list[dict[str, Any]]:
    """The breakdown by event type, those with most gold first, then by name."""
    entries: list[dict[str, Any]] = report["breakdown"]["event_types"]
    return sorted(entries, key=lambda entry: (-entry["gold"], entry["event_type"]))


def rates_of(entry: dict[str, Any]) -> list[str]:
    """Strict, then relaxed precision, recall and F1 of one entry of the breakdown."""
    return [shown(entry[f"{family}_{rate}"]).value for family in ("strict", "relaxed") for rate in RATES]


def macro(report: dict[str, Any]) -> Iterator[tuple[str, list[Shown]]]:
    """The macro averages, by a label that says of what."""
    for kind, label in (("event_types", "event type"), ("roles", "role")):
        means = report["breakdown"]["macro"][kind]
        for family in ("strict", "relaxed"):
            yield f"{family}, by {label}", [shown(means[f"{family}_{rate}"]) for rate in RATES]


def inputs(report: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What it was, its sha256, how many samples it had. Records that came from memory have no digest."""
    given = report["inputs"]
    rows = [
        (kind, file["sha256"], counted(file["samples"], "sample"))
        for kind in ("gold", "predictions")
        for file in given[kind]
    ]
    return rows + [(kind, given[kind], "") for kind in ("schema", "protocol") if given[kind] is not None]


def error_lines(error: dict[str, Any]) -> list[tuple[str, str]]:
    """Label and text of what is known about an error."""
    place = Place(error["file"], error["line"], error["field"])
    lines = (
        ("code", error["code"]),
        ("where", str(place)),
        ("message", error["message"]),
        ("expected", error["expected"]),
        ("found", error["found"]),
        ("do", error["advice"]),
    )
    return [(label, text) for label, text in lines if text]


def counted(number: int, thing: str) -> str:
    """`1 sample`, `2 samples`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _cut(value: float | None) -> str:
    if value is None:
        return "n/a"
    # The shortest decimal of the float: 0.57 is stored a little below itself and would be cut to 0.5699.
    return str(Decimal(repr(value)).quantize(Decimal(1).scaleb(-SHOWN_DIGITS), ROUND_FLOOR))
