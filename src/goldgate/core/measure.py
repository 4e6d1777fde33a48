"""Measures that are rates: a suite says what each unit counts, and which counts are divided by which."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from itertools import combinations_with_replacement
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from goldgate.core.metric import Count, Estimate, IntervalAt, Mean, Metric, Metrics, NamedMetrics, Rate, Ratio, mean
from goldgate.core.sums import Counts, MeanSums, RatioForm, RatioSums
from goldgate.core.tally import Forms, TableKey, Tally, UnitCounts
from goldgate.errors import InputError, Place

if TYPE_CHECKING:
    from goldgate.core.suite import Measure

Facts = TypeVar("Facts")
Score = TypeVar("Score")
UNITS_COLUMN = "units"  # the name of the count that is 1 in every unit
NO_TOTALS: Mapping[str, int] = MappingProxyType({})


class EqualityRule(NamedTuple):
    """A rate of two systems is compared only if every unit has the same count in `column` in both.

    `reason` is what the comparison says otherwise: "people labelled different items of the two systems".
    """

    column: str
    reason: str


class ColumnRatio(NamedTuple):
    """A rate: weighted counts over weighted counts. `undefined` is the reason where the denominator is 0."""

    numerator: Mapping[str, int]
    denominator: Mapping[str, int]
    undefined: str
    share: bool = True  # False: it may be above 1
    equality: EqualityRule | None = None


def over(numerator: str, denominator: str, undefined: str) -> ColumnRatio:
    """The rate `numerator / denominator` of two columns of a measure; `undefined` is the reason where there is none."""
    return ColumnRatio({numerator: 1}, {denominator: 1}, undefined)


def precision_recall_f1(
    prefix: str, hits: str, predicted: str = "predicted", gold: str = "gold"
) -> dict[str, ColumnRatio]:
    """P = hits / predicted, R = hits / gold, F1 = 2 hits / (predicted + gold)."""
    return {
        f"{prefix}precision": over(hits, predicted, "nothing was predicted"),
        f"{prefix}recall": over(hits, gold, "nothing is in the gold"),
        f"{prefix}f1": ColumnRatio(
            {hits: 2}, {predicted: 1, gold: 1}, "nothing was predicted and nothing is in the gold"
        ),
    }


def product_name(one: str, other: str) -> str:
    """The key in `RatioMeasure.forms` of the sum over units of one column times the other, such as `hits × gold`."""
    return f"{one} × {other}"


# What units counted in two systems, by table or part of one, and how often; None where a system has no such table.
PairedTables = Mapping[TableKey, Mapping[tuple[Counts | None, Counts | None], int]]


class EstimateDifference(NamedTuple):
    """The difference of two estimates, with its interval at a level; without a value the reason."""

    value: Fraction | None = None
    interval_at: IntervalAt | None = None
    p: float | None = None
    method: str = ""
    se: float = 0.0
    reason: str | None = None
    comparable: bool = True  # False: both may have a value, and their difference would mean nothing


class RatioMeasure(ABC, Generic[Facts]):
    """Rates over the same few counts. What a unit counts is one vector, so every rate has an interval."""

    section: str = "main"
    table: str  # the name of its counts
    columns: tuple[str, ...]
    ratios: Mapping[str, ColumnRatio] = MappingProxyType({})
    # What gates judge, by the name of a rate, where that is over other units than the rate itself.
    gate_ratios: Mapping[str, ColumnRatio] = MappingProxyType({})
    gate_note: str = ""  # why: "samples without a thought count as misses"
    # Metrics that are made of sums over units but are no ratio of two, and why each is undefined where nothing was
    # counted. `estimate` makes them, from the column sums and the products of the `multiplied` columns.
    estimates: Mapping[str, str] = MappingProxyType({})
    multiplied: tuple[str, ...] = ()
    compared: frozenset[str] = frozenset()  # the estimates that have a `difference` between two systems
    # The levels below its table, and the ending of the macro average over each: {"event type": "macro"}; "" for none.
    parts: Mapping[str, str] = MappingProxyType({})
    counted: Mapping[str, str] = MappingProxyType({})  # metrics that are plain counts: the column of each

    @abstractmethod
    def row(self, facts: Facts) -> Counts | None:
        """What this unit counts, column by column; None where it has no part in any rate."""

    def count(self, facts: Facts) -> UnitCounts:
        """What this unit counts in the table, and in its parts."""
        counts = self.row(facts)
        return {} if counts is None else {self.key: counts}

    def totals(self, facts: Facts) -> Mapping[str, int]:
        """Named counts beside the table, which are summed and not kept for single units."""
        return NO_TOTALS

    def metrics(self, tally: Tally) -> Metrics:
        return self.metrics_of(tally, self.key)

    def metrics_of(self, tally: Tally, key: TableKey) -> Metrics:
        """The metrics of one table."""
        table = tally.tables.get(key)
        sums = table.sums() if table is not None else dict.fromkeys(self.forms, RatioSums())
        metrics: dict[str, Metric] = {}
        for name, ratio in self.ratios.items():
            kind = Rate if ratio.share else Ratio
            rate = kind(sums[name].a, sums[name].b, ratio.undefined, sums[name])
            gate_rate = self._gate_rate(name, rate, sums) if name in self.gate_ratios else None
            metrics[name] = rate if gate_rate is None else replace(rate, gate_rate=gate_rate)
        metrics |= {name: Count(sums[name].a, None, sums[name]) for name in self.counted}
        return metrics | self.estimate(tally, key) if self.estimates else metrics

    def _gate_rate(self, name: str, rate: Rate, sums: Mapping[str, RatioSums]) -> Rate:
        """What a gate on a rate judges, with a note where that is not the rate itself."""
        own = sums[_gate_name(name)]
        note = f"{name} itself is {rate} ({rate.numerator}/{rate.denominator}); in a gate, {self.gate_note}"
        return Rate(own.a, own.b, self.gate_ratios[name].undefined, own, note="" if own.b == rate.denominator else note)

    def estimate(self, tally: Tally, key: TableKey) -> dict[str, Metric]:
        """The estimates of one table; a rate of `ratios` by the same name takes the place of that."""
        return {name: Estimate(None, reason) for name, reason in self.estimates.items()}

    def difference(
        self, metric: str, key: TableKey, paired: PairedTables, *, for_gate: bool = False
    ) -> EstimateDifference:
        """The difference of a `compared` estimate of one table between two systems: the first less the second."""
        raise NotImplementedError(metric)

    def means(self, tally: Tally) -> dict[str, Mean]:
        """The plain average of each rate over the parts of the table: one name below it, such as an event type."""
        keys = [(self.table, *part) for part in self.part_names(tally)]
        parts = {key[1]: self.metrics_of(tally, key) for key in keys}
        products = tally.all_products(keys)
        whole = tally.tables[self.table,].sums() if keys else {}
        means = {}
        for name, ratio in self.ratios.items():
            rates = {part: rate for part, metrics in parts.items() if isinstance(rate := metrics[name], Rate)}
            sums = None
            if products is not None and ratio.share:
                form = self.forms[name]
                sums = MeanSums(
                    {part: rate.sums for part, rate in rates.items() if rate.sums is not None},
                    {(one[1], other[1]): product.of(form) for (one, other), product in products.items()},
                    whole[name].units if keys else 0,
                )
            means[name] = mean(rates.values(), sums)
        return means

    def by_part(self, tally: Tally, level: int = 1) -> dict[tuple[str, ...], Metrics]:
        """The metrics of each part, `level` names below the table, sorted by these."""
        return {part: self.metrics_of(tally, (self.table, *part)) for part in self.part_names(tally, level)}

    def part_names(self, tally: Tally, level: int = 1) -> list[tuple[str, ...]]:
        """The parts that were counted, `level` names below the table, sorted."""
        return sorted(key[1:] for key in tally.tables if key[0] == self.table and len(key) == level + 1)

    @cached_property
    def key(self) -> TableKey:
        """The key of its table."""
        return (self.table,)

    @cached_property
    def forms(self) -> dict[str, RatioForm]:
        """Every metric as weights of the columns. A count is over 1 in each unit."""
        gate_ratios = {_gate_name(name): ratio for name, ratio in self.gate_ratios.items()}
        forms = {
            name: RatioForm(self._weights(ratio.numerator), self._weights(ratio.denominator))
            for name, ratio in {**self.ratios, **gate_ratios}.items()
        }
        for name, column in self.counted.items():
            forms[name] = RatioForm(self._weights({column: 1}), self._weights({UNITS_COLUMN: 1}))
        if self.estimates:
            pairs = [*combinations_with_replacement(self.multiplied, 2), *((column, column) for column in self.columns)]
            for one, other in pairs:
                forms[product_name(one, other)] = RatioForm(self._weights({one: 1}), self._weights({other: 1}))
        return forms

    def gate_form(self, metric: str) -> RatioForm:
        """What a gate on this metric judges, as weights of the columns."""
        return self.forms[_gate_name(metric) if metric in self.gate_ratios else metric]

    def _weights(self, counts: Mapping[str, int]) -> tuple[int, ...]:
        unknown = counts.keys() - set(self.columns)
        if unknown:
            raise ValueError(f"{type(self).__name__} counts no {', '.join(sorted(unknown))}")
        return tuple(counts.get(column, 0) for column in self.columns)


def _gate_name(metric: str) -> str:
    return f"{metric} of gates"


def count_names(names: Iterable[str | None]) -> dict[str, int]:
    """How often each name occurs. For a few names it takes half as long as a `Counter`."""
    totals: dict[str, int] = {}
    for name in names:
        if name is not None:
            totals[name] = totals.get(name, 0) + 1
    return totals


def table_forms(measures: Iterable[Any]) -> Forms:
    """The rates of each table that these measures count in."""
    return {measure.table: measure.forms for measure in measures if isinstance(measure, RatioMeasure)}


def all_metrics(measures: Iterable[Measure[Any]], tally: Tally) -> NamedMetrics:
    """The metrics of all these measures, by name."""
    return NamedMetrics(item for measure in measures for item in measure.metrics(tally).items())


BLANKS_ONLY = "blanks_only"


class TotalsOnly(ABC, Generic[Facts]):
    """A measure without metrics, whose counts make other parts of the report."""

    section = "main"

    @abstractmethod
    def totals(self, facts: Facts) -> Mapping[str, int]: ...

    def count(self, facts: Facts) -> UnitCounts:
        return {}

    def metrics(self, tally: Tally) -> Metrics:
        return {}


class SampledMeasure(TotalsOnly[Facts]):
    """A measure that keeps examples or samples, not counts, in a tally."""

    @abstractmethod
    def add_to(self, tally: Tally, facts: Facts) -> None:
        """Add a unit to a tally, in place."""

    def totals(self, facts: Facts) -> Mapping[str, int]:
        return NO_TOTALS


class BlanksOnly(SampledMeasure[Facts]):
    """Counts the hits that `blanks: keep` would not count, and keeps examples."""

    @abstractmethod
    def hits(self, facts: Facts) -> Iterable[tuple[str, str]]:
        """What was predicted and what is in gold, for each such hit."""

    def add_to(self, tally: Tally, facts: Facts) -> None:
        if hits := [*self.hits(facts)]:
            tally.counts[BLANKS_ONLY] += len(hits)
            tally.add_examples(BLANKS_ONLY, hits)


def count_unit(measures: Iterable[Measure[Facts]], facts: Facts, tally: Tally) -> UnitCounts:
    """What a unit counts in all tables. Its totals are added to the tally."""
    unit: UnitCounts = {}
    for measure in measures:
        unit.update(measure.count(facts))
        tally.add_totals(measure.totals(facts))
        if isinstance(measure, SampledMeasure):
            measure.add_to(tally, facts)
    return unit


def score_pairs(score: Callable[[Any, Any], Score], responses: Iterable[Any], golds: Iterable[Any]) -> list[Score]:
    """Score answers beside their gold records, one for one; an error says which of them it is about."""
    for name, values in (("responses", responses), ("golds", golds)):
        if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
            raise TypeError(f"{name} is a list with an entry for each sample, not {type(values).__name__}")
    response_list, gold_list = list(responses), list(golds)
    if len(response_list) != len(gold_list):
        raise ValueError(
            f"every response needs its gold record: {len(response_list)} responses, {len(gold_list)} golds"
        )
    scores: list[Score] = []
    for number, (response, gold) in enumerate(zip(response_list, gold_list, strict=True), 1):
        try:
            scores.append(score(response, gold))
        except TypeError as problem:
            raise TypeError(f"response {number}: {problem}") from None
        except InputError as error:
            error.place = Place(f"gold record {number}", None, error.place.field)
            raise
    return scores
