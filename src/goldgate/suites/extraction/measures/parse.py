"""Parse diagnostics: how many answers decoded as they stood, after repair, or not at all."""

from __future__ import annotations

from goldgate.core.measure import EACH, RatioMeasure
from goldgate.core.metric import Count, Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.suites.extraction.response import Status
from goldgate.suites.extraction.response.parsed import Method
from goldgate.suites.extraction.sample import Facts

_METRIC_OF = {
    Status.RAW: "parse_raw_success",
    Status.REPAIRED: "parse_repair_success",
    Status.ERROR: "parse_errors",
}
_COUNTS: dict[tuple[str, bool], Counts] = {  # by status, and whether there is no JSON at all
    (status, no_json): (0, *(int(status == other) for other in _METRIC_OF), int(no_json), 1)
    for status in _METRIC_OF
    for no_json in (False, True)
}
_MISSING = (1, *_COUNTS[Status.ERROR, False][1:])  # an error, for nothing was parsed


class Parse(RatioMeasure[Facts]):
    """raw + repaired + errors = all samples; a missing prediction is an error, for nothing was parsed."""

    table = "parse"
    columns = ("missing_predictions", *_METRIC_OF.values(), "parse_extraction_failures", EACH)
    single = frozenset(columns)
    counted = {name: name for name in columns[:-1]}

    def units(self, facts: Facts) -> Counts:
        parsed = facts.parsed
        if parsed is None:
            return _MISSING
        return _COUNTS[parsed.status, parsed.method == Method.NO_JSON_FOUND]

    def count(self, facts: Facts, tally: Tally) -> None:
        super().count(facts, tally)
        counts, parsed = tally.counts, facts.parsed
        counts["total_samples"] += 1
        if parsed is None:
            return
        counts["method." + parsed.method] += 1
        counts["thought." + parsed.thought_state] += 1
        if parsed.status == Status.REPAIRED:
            for step in parsed.repairs:
                counts[f"repair.{step}"] += 1

    def metrics(self, tally: Tally) -> Metrics:
        return {"total_samples": Count(tally.counts["total_samples"]), **super().metrics(tally)}
