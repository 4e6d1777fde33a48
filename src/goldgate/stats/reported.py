"""Metrics as they stand in a report: with the interval that their units leave open."""

from __future__ import annotations

from goldgate.core.metric import Count, Mean, Metric, Ratio
from goldgate.stats.interval import LEVEL, Interval, NoInterval, count_interval, ratio_interval, share_interval
from goldgate.stats.macro import mean_interval

GROUP = "group"  # the unit, where records name the group that they belong to
_NOT_SUMMED = "it is not a sum over units"
_NOT_PAIRED = "how its rates go together is not summed"


def with_interval(metric: Metric | Mean, unit: str, level: float = LEVEL) -> dict[str, object]:
    """A metric's JSON with `interval`; null, with `interval_reason`, where there is no honest one."""
    found = interval_of(metric, level)
    if isinstance(found, Interval):
        return {**metric.as_json(), "interval": found.as_json(unit)}
    return {**metric.as_json(), "interval": None, "interval_reason": found.reason}


def interval_of(metric: Metric | Mean, level: float = LEVEL) -> Interval | NoInterval:
    """The interval of a rate, a ratio, a count or a mean of rates."""
    if metric.value is None:
        return NoInterval(str(metric.reason))
    if isinstance(metric, Mean):
        return NoInterval(_NOT_PAIRED) if metric.sums is None else mean_interval(metric.sums, level)
    if metric.sums is None:
        return NoInterval(_NOT_SUMMED)
    if isinstance(metric, Count):
        return count_interval(metric.sums, level)
    return ratio_interval(metric.sums, level) if isinstance(metric, Ratio) else share_interval(metric.sums, level)
