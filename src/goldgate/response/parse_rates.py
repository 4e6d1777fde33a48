"""Parse diagnostics: how many answers were read as they stand, after repairs, or not at all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from goldgate.core.measure import UNITS_COLUMN, RatioMeasure, count_names
from goldgate.core.metric import Count, Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.response.parsed import METHODS, THOUGHT_STATES, Method, Parsed, Status, Step

if TYPE_CHECKING:
    from goldgate.core.contracts import ParseCounts


class ParsedFacts(Protocol):
    """Facts of a unit whose answer was read; None where there is no prediction."""

    @property
    def parsed(self) -> Parsed | None: ...


_METRIC_OF = {
    Status.RAW: "parse_raw_success",
    Status.REPAIRED: "parse_repair_success",
    Status.ERROR: "parse_errors",
}
_PARSE_COUNTS: dict[tuple[str, bool], Counts] = {  # by status, and whether there is no JSON at all
    (status, no_json): (0, *(int(status == other) for other in _METRIC_OF), int(no_json), 1)
    for status in _METRIC_OF
    for no_json in (False, True)
}
_MISSING_PREDICTION = (1, *_PARSE_COUNTS[Status.ERROR, False][1:])  # an error, for nothing was parsed


class ParseRates(RatioMeasure[ParsedFacts]):
    """raw + repaired + errors = all samples; a missing prediction is an error, for nothing was parsed."""

    table = "parse"
    columns = ("missing_predictions", *_METRIC_OF.values(), "parse_extraction_failures", UNITS_COLUMN)
    single = frozenset(columns)
    counted = {name: name for name in columns[:-1]}

    def units(self, facts: ParsedFacts) -> Counts:
        parsed = facts.parsed
        if parsed is None:
            return _MISSING_PREDICTION
        return _PARSE_COUNTS[parsed.status, parsed.method == Method.NO_JSON_FOUND]

    def totals(self, facts: ParsedFacts) -> Mapping[str, int]:
        parsed = facts.parsed
        if parsed is None:
            return {"total_samples": 1}
        totals = {"total_samples": 1, "method." + parsed.method: 1, "thought." + parsed.thought_state: 1}
        if parsed.status == Status.REPAIRED:
            totals |= count_names([f"repair.{step}" for step in parsed.repairs])
        return totals

    def metrics(self, tally: Tally) -> Metrics:
        return {"total_samples": Count(tally.counts["total_samples"]), **super().metrics(tally)}


def parse_section(tally: Tally) -> ParseCounts:
    """How often answers were found by each method, with a thought in each state, and mended by each step."""
    counts = tally.counts
    return {
        "methods": {method: counts[f"method.{method}"] for method in METHODS},
        "thoughts": {state: counts[f"thought.{state}"] for state in THOUGHT_STATES},
        "repairs": {step.value: counts[f"repair.{step}"] for step in Step if counts[f"repair.{step}"]},
    }
