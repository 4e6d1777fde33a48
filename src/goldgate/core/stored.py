"""What a baseline takes from a stored report: its rates as counts, and what tells it from other reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Counts = tuple[int, int]  # hits, trials


class ContradictionError(Exception):
    """A report says what its own parts do not give: the field, what they give, what it says."""

    def __init__(self, field: str, given: str, found: str) -> None:
        super().__init__(field, given, found)
        self.field, self.given, self.found = field, given, found


@dataclass(frozen=True, slots=True)
class Stored:
    """What a report comes to. Two reports of the same work must not be summed: `judged` and `units` tell them."""

    rates: Mapping[str, Counts]  # worked out again where the report holds what they are made of
    sizes: Mapping[str, int] = field(default_factory=dict)  # how much stands behind them, the units first
    subjects: Mapping[str, frozenset[str]] = field(default_factory=dict)  # counted once over all reports
    judged: object = None  # digests of what was judged; None where they are not known
    units: tuple[str | None, ...] = ()  # fingerprints of single units, where the report has them


def stored_as_it_stands(report: Mapping[str, Any]) -> Stored:
    """The rates under metrics.main. What was judged are the predictions, and as many samples as the gold has."""
    inputs = report["inputs"]
    samples = sum(whole(file["samples"]) for file in inputs["gold"])
    return Stored(stated_rates(report), {"samples": samples}, judged=inputs["predictions"] or None)


def stated_rates(report: Mapping[str, Any]) -> dict[str, Counts]:
    """The rates under metrics.main that are shares, by name."""
    return {
        name: part_of(metric, f"metrics.main.{name}")
        for name, metric in report["metrics"]["main"].items()
        if "denominator" in metric
    }


def part_of(metric: Mapping[str, Any], where: str) -> Counts:
    """Numerator and denominator of a share."""
    numerator, denominator = whole(metric["numerator"]), whole(metric["denominator"])
    if numerator > denominator:
        raise ContradictionError(f"{where}.numerator", f"at most {denominator}", str(numerator))
    return numerator, denominator


def require_same(where: str, given: Mapping[str, Counts], stated: Mapping[str, Counts]) -> None:
    """ContradictionError where the two differ."""
    for name in sorted(given.keys() | stated.keys()):  # the same one first, whatever the order of a set
        if given.get(name) != stated.get(name):
            raise ContradictionError(f"{where}.{name}", _fraction(given.get(name)), _fraction(stated.get(name)))


def whole(value: object) -> int:
    """A number of things; ValueError for anything else."""
    if type(value) is not int or value < 0:
        raise ValueError
    return value


def _fraction(rate: Counts | None) -> str:
    return "nothing" if rate is None else f"{rate[0]}/{rate[1]}"
