"""What a gate can be set on beside a suite's metrics: one part of a metric, and the macro average over its parts.

`strict_f1[Attack]` is the metric of one event type, `strict_f1[Attack/Target]` that of one of its roles. A name with a
slash in it, or one that begins with a quotation mark, is written as JSON: `strict_f1["Buy/Sell"/"Price"]`.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from goldgate.core.counted_unit import Key
from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Mean, Metric, Rate, exact_mean
from goldgate.core.tally import Tally

_STRING = json.JSONDecoder()


class MetricName(NamedTuple):
    """A metric, and the names of the part of it that is meant; none: all of it."""

    metric: str
    part: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.metric}[{'/'.join(map(_written, self.part))}]" if self.part else self.metric


class Gated(NamedTuple):
    """What stands behind a gate's name: a rate of a measure, of one part, or averaged over a level of parts."""

    measure: RatioMeasure[Any]
    metric: str
    part: tuple[str, ...] = ()
    averaged: int = 0  # the level whose parts are averaged; 0: none

    @property
    def key(self) -> Key:
        """The table of its counts."""
        return (self.measure.table, *self.part)


def parse_metric_name(text: str) -> MetricName:
    """A gate's name, taken apart; one that is not written as a part of a metric is the whole name of one."""
    metric, bracket, rest = text.partition("[")
    if not bracket or not rest.endswith("]"):
        return MetricName(text)
    try:
        return MetricName(metric, tuple(_parts(rest[:-1])))
    except ValueError:
        return MetricName(text)


def find_gated(name: str, measures: Iterable[Any]) -> Gated | None:
    """The part or the macro average that a name stands for; None where it is neither."""
    wanted = parse_metric_name(name)
    for measure in measures:
        if not isinstance(measure, RatioMeasure):
            continue
        if wanted.metric in measure.ratios and 0 < len(wanted.part) <= len(measure.parts):
            return Gated(measure, *wanted)
        for level, ending in enumerate(measure.parts.values(), 1):
            metric = name.removesuffix(f"_{ending}")
            if metric != name and metric in measure.ratios:
                return Gated(measure, metric, (), level)
    return None


def averages(measures: Iterable[Any]) -> list[str]:
    """The names of all macro averages."""
    return [
        f"{metric}_{ending}"
        for measure in measures
        if isinstance(measure, RatioMeasure)
        for ending in measure.parts.values()
        for metric in measure.ratios
    ]


def measured(gated: Gated, tally: Tally) -> Metric | Mean:
    """Its value over everything that was counted."""
    if not gated.averaged:
        return gated.measure.metrics_of(tally, gated.key)[gated.metric]
    parts = part_names(gated, tally, gated.averaged)
    rates = [gated.measure.metrics_of(tally, (gated.measure.table, *part))[gated.metric] for part in parts]
    # Which roles meet in a unit is not kept: of the macro average over them there is no interval.
    sums = gated.measure.means(tally)[gated.metric].sums if gated.averaged == 1 else None
    return exact_mean((rate for rate in rates if isinstance(rate, Rate)), sums)


def part_names(gated: Gated, tally: Tally, level: int) -> list[tuple[str, ...]]:
    """The parts of a level that were counted, sorted."""
    table = gated.measure.table
    return sorted(key[1:] for key in tally.tables if key[0] == table and len(key) == level + 1)


def is_known_part(gated: Gated, tally: Tally, declared: Collection[tuple[str, ...]]) -> bool:
    """Whether the part was counted, or is one that the suite knows of."""
    return not gated.part or gated.key in tally.tables or gated.part in declared


def _parts(text: str) -> Iterator[str]:
    while True:
        if text.startswith('"'):
            name, end = _STRING.raw_decode(text)
            yield str(name)
            rest = text[end:]
        else:
            name, slash, rest = text.partition("/")
            if not name:
                raise ValueError(text)
            yield name
            rest = slash + rest
        if not rest:
            return
        if not rest.startswith("/"):
            raise ValueError(text)
        text = rest[1:]


def _written(name: str) -> str:
    plain = name and "/" not in name and not name.startswith('"')
    return name if plain else json.dumps(name, ensure_ascii=False)


def similar_parts(gated: Gated, tally: Tally, declared: Sequence[tuple[str, ...]]) -> list[str]:
    """The names of parts that a gate could be set on, at the level of this one."""
    level = len(gated.part)
    known = {*part_names(gated, tally, level), *(part for part in declared if len(part) == level)}
    return [str(MetricName(gated.metric, part)) for part in sorted(known)]
