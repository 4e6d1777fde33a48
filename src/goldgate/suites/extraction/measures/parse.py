"""Parse diagnostics: how many answers decoded as they stood, after repair, or not at all."""

from __future__ import annotations

from goldgate.core.metric import Count, Metrics
from goldgate.core.tally import Tally
from goldgate.suites.extraction.response import Status
from goldgate.suites.extraction.response.parsed import Method
from goldgate.suites.extraction.sample import Facts

_METRIC_OF = {
    Status.RAW: "parse_raw_success",
    Status.REPAIRED: "parse_repair_success",
    Status.ERROR: "parse_errors",
}


class Parse:
    """raw + repaired + errors = all samples; a missing prediction is an error, for nothing was parsed."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        counts, parsed = tally.counts, facts.parsed
        counts["total_samples"] += 1
        if parsed is None:
            counts["missing_predictions"] += 1
            counts["parse_errors"] += 1
            return
        counts[_METRIC_OF[parsed.status]] += 1
        counts["method." + parsed.method] += 1
        counts["thought." + parsed.thought_state] += 1
        if parsed.method == Method.NO_JSON_FOUND:
            counts["parse_extraction_failures"] += 1
        if parsed.status == Status.REPAIRED:
            for step in parsed.repairs:
                counts[f"repair.{step}"] += 1

    def metrics(self, tally: Tally) -> Metrics:
        names = (
            "total_samples",
            "missing_predictions",
            *_METRIC_OF.values(),
            "parse_extraction_failures",
        )
        return {name: Count(tally.counts[name]) for name in names}
