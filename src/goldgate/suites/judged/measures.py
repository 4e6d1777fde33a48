"""What an item counts, and the metrics that are made of the sums: rates, agreement, and the corrected rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import chain
from math import sqrt

from goldgate.core.measure import (
    NO_TOTALS,
    ColumnRatio,
    EqualityRule,
    EstimateDifference,
    PairedTables,
    RatioMeasure,
    over,
)
from goldgate.core.metric import Estimate, Metric, Metrics, Rate, Ratio
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts, RatioSums, UnitSums
from goldgate.core.tally import TableKey, Tally, UnitCounts
from goldgate.readers.draw import ItemKey
from goldgate.readers.labels import NamedLabel
from goldgate.stats.corrected_rate import (
    Cells,
    Moments,
    PairedUnit,
    RatedItem,
    Row,
    SignedMean,
    alpha_interval,
    corrected_difference,
    krippendorff_alpha,
    merge_small,
    share_of_items,
)
from goldgate.stats.interval import Interval, NoInterval
from goldgate.stats.label_counts import (
    COLUMNS,
    GATE_CONFIDENCE,
    HALF,
    NO_LABELS,
    PRODUCT_COLUMNS,
    EstimatedRate,
    LabelColumns,
    LabelResolution,
    count_item,
    estimate_rate,
    quantize,
)
from goldgate.suites.judged.suite import JudgedSettings

TABLE = "labels"

NO_JUDGE = "no item has a label of a judge"
NO_PAIR = "no item has a label of a person and one of a judge"
FRACTIONAL = "labels of people are not all 0 or 1"
SEVERAL_QUESTIONS = "there are {} questions: each has its own"
OTHER_ITEMS = "people labelled different items of the two systems"
OTHER_QUESTIONS = "the two systems were judged by different questions"
OTHER_STRATA = "the same items are in different strata of the two systems"
GROUPS_IN_STRATA = "rates of items that have groups and were drawn by strata are not compared"
ALIKE = "all labels are alike"
_DIFFERENCE_METHOD = "corrected-t"
_SAME_ITEMS = EqualityRule("others", OTHER_ITEMS)  # what was drawn in one system was drawn in the other


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """An item with its labels. `corrected` is the judge's label as the correction takes it; None: there is no judge."""

    key: ItemKey
    id: str  # of its record
    human_steps: int  # a label of 1 is counted as this many: see `LabelResolution`
    judge_steps: int
    drawn: bool  # whether people were to label it
    human: Fraction | None  # None: not drawn, or no person could say
    people: tuple[NamedLabel, ...]
    judge: Fraction | None  # None: there is no judge, or it gave no label
    judges: tuple[NamedLabel, ...]
    corrected: Fraction | None
    stratum: str | None = None
    older: bool = False  # whether the draw shows that the judge's labels are

    @property
    def is_unsure(self) -> bool:
        return self.drawn and self.human is None


def count_cells(facts: ItemFacts) -> tuple[int, int, int, int]:
    """The item in the table of both labels. A judge's label counts by its half; one half or none does not agree."""
    if facts.human is None or facts.human.denominator != 1 or facts.corrected is None:
        return 0, 0, 0, 0
    human = facts.human == 1
    judge = not human if facts.judge in (None, HALF) else facts.judge > HALF
    return int(human and judge), int(human and not judge), int(judge and not human), int(not human and not judge)


def _of_people(numerator: str, denominator: str, undefined: str) -> ColumnRatio:
    """The sum of some columns over that of others, for systems of which people labelled the same items."""
    above, below = (dict.fromkeys(columns.split(), 1) for columns in (numerator, denominator))
    return ColumnRatio(above, below, undefined, equality=_SAME_ITEMS)


class LabelledRates(RatioMeasure[ItemFacts]):
    """Rates of people and judge, how far they agree, and the corrected rate; by question, and by stratum of one.

    Labels are whole numbers of steps, and products of labels are products of these (`LabelResolution`). `judge`,
    `judge_unsure` and `judge_others` are rescaled for the correction (`LabelScale`); `judge_all` is not.
    """

    table = TABLE
    columns = (
        *COLUMNS, "judge_all", "compared", "judge_above", "judge_below", "bias_squared",
        "both_1", "human_1", "judge_1", "both_0", "fractional",
    )  # fmt: skip
    multiplied = PRODUCT_COLUMNS
    parts = {"question": "", "stratum": ""}
    ratios = {
        "human_rate": _of_people("human", "labelled", NO_LABELS),
        "judge_rate": over("judge_all", "judged", NO_JUDGE),
        "judge_bias": ColumnRatio(
            {"judge_above": 1, "judge_below": -1}, {"compared": 1}, NO_PAIR, share=False, equality=_SAME_ITEMS
        ),
        "agreement": _of_people("both_1 both_0", "both_1 human_1 judge_1 both_0", NO_PAIR),
        "judge_sensitivity": _of_people("both_1", "both_1 human_1", "no item that has both labels is 1 for people"),
        "judge_specificity": _of_people("both_0", "both_0 judge_1", "no item that has both labels is 0 for people"),
    }
    estimates = {"rate": NO_LABELS, "labels_worth": NO_LABELS, "cohens_kappa": NO_PAIR}
    compared = frozenset({"rate"})

    def row(self, facts: ItemFacts) -> Counts:
        s, t = steps = LabelResolution(facts.human_steps, facts.judge_steps)
        has_judge, human = facts.corrected is not None, facts.human
        raw = quantize(HALF if facts.judge is None else facts.judge, t) if has_judge else 0
        compared = human is not None and has_judge
        both = max(s, t)  # of which each is a divisor
        bias = raw * (both // t) - quantize(human, s) * (both // s) if human is not None and has_judge else 0
        return (
            *count_item(human, facts.corrected, steps, is_unsure=facts.is_unsure, older=facts.older),
            raw, both * compared, max(bias, 0), max(-bias, 0), bias * bias,
            *count_cells(facts), int(human is not None and human.denominator != 1),
        )  # fmt: skip

    def count(self, facts: ItemFacts) -> UnitCounts:
        counts = self.row(facts)
        keys = [self.key, (self.table, facts.key.question)]
        if facts.stratum is not None:
            keys.append((*keys[-1], facts.stratum))
        return dict.fromkeys(keys, counts)

    def metrics_of(self, tally: Tally, key: TableKey) -> Metrics:
        """In the order of the report: the corrected rate first."""
        metrics = super().metrics_of(tally, key)
        return {name: metrics[name] for name in ("rate", *self.ratios, "cohens_kappa", "labels_worth")}

    def estimate(self, tally: Tally, key: TableKey) -> dict[str, Metric]:
        table = tally.tables.get(key)
        corrected = NO_LABELS if table is None else estimate_question_rate(tally, key)
        if isinstance(corrected, str):
            rate = Estimate(None, corrected, gate_confidence=GATE_CONFIDENCE)
            worth = Estimate(None, corrected, share=False)
        else:
            rate = corrected.estimate()
            worth = Estimate(corrected.worth, share=False)
        agreement = {"cohens_kappa": Estimate(None, NO_PAIR, share=False)} if table is None else _agreement(table)
        return {**agreement, "rate": rate, "labels_worth": worth}

    def difference(
        self, metric: str, key: TableKey, paired: PairedTables, *, for_gate: bool = False
    ) -> EstimateDifference:
        """The first corrected rate less the second, over the same labelled items."""
        return _rate_difference(key, paired, for_gate)


def _agreement(table: UnitSums) -> dict[str, Metric]:
    """What needs both labels of an item."""
    column = LabelColumns(table)
    cells = Cells(*(column[name] for name in ("both_1", "human_1", "judge_1", "both_0")))
    above, below, n = column["judge_above"], column["judge_below"], column["compared"]
    bias = _bias(column, table.sums()["judge_bias"]) if n else None
    metrics: dict[str, Metric] = {
        "judge_bias": Ratio(above - below, n, NO_PAIR, interval_at=partial(_bias_interval, bias))
    }
    for name in ("agreement", "judge_sensitivity", "judge_specificity"):
        ratio = LabelledRates.ratios[name]
        hits, trials = (sum(column[each] for each in columns) for columns in (ratio.numerator, ratio.denominator))
        metrics[name] = Rate(hits, trials, ratio.undefined, interval_at=partial(share_of_items, hits, trials))
        if column["fractional"]:
            metrics[name] = Rate(0, 0, FRACTIONAL)
    kappa = cells.kappa if sum(cells) and not column["fractional"] else None
    why = FRACTIONAL if column["fractional"] else ALIKE if sum(cells) else NO_PAIR
    interval = None if column["fractional"] else cells.kappa_interval
    metrics["cohens_kappa"] = Estimate(kappa, None if kappa is not None else why, False, interval)
    return metrics


def _bias(column: LabelColumns, by_group: RatioSums) -> SignedMean:
    """The mean of j - h; over groups, the larger of the two variances."""
    s = max(column.steps, column.judge_steps)
    total, squares = column["judge_above"] - column["judge_below"], column["bias_squared"]
    moments = Moments(column["compared"] // s, Fraction(total, s), Fraction(squares, s * s))
    mean = moments.mean_with_disagreements()
    if not column.is_grouped:
        return mean._replace(df=mean.df - 2)
    variance = max(mean.variance, by_group.variance or mean.variance)
    return SignedMean(mean.value, variance, Fraction(by_group.units - 1))


def question_keys(tally: Tally, key: TableKey) -> list[TableKey]:
    """The tables one name below this one, in the order of their names."""
    return sorted(other for other in tally.tables if other[:-1] == key and len(other) == len(key) + 1)


def estimate_question_rate(tally: Tally, key: TableKey) -> EstimatedRate | str:
    """The corrected rate of one table of labels, or the reason why it has none.

    Without a question in `key`, it is the rate of the only question.
    """
    parts = question_keys(tally, key) if len(key) == 1 else []
    if len(parts) > 1:
        return SEVERAL_QUESTIONS.format(len(parts))
    if parts:
        key = parts[0]
    strata = question_keys(tally, key) if len(key) == 2 else []
    return estimate_rate(LabelColumns(tally.tables[key]), [LabelColumns(tally.tables[part]) for part in strata])


def _bias_interval(bias: SignedMean | None, level: float) -> Interval | NoInterval:
    if bias is None or bias.df <= 0:
        return NoInterval("one item shows no spread" if bias else NO_PAIR)
    return bias.interval(level, int(bias.df) + 1, "disagreements-t")


def _rate_difference(key: TableKey, paired: PairedTables, for_gate: bool) -> EstimateDifference:
    tallies = [_tally_of(paired, run) for run in (0, 1)]
    if {part[:2] for part in tallies[0].tables} != {part[:2] for part in tallies[1].tables}:
        return EstimateDifference(reason=OTHER_QUESTIONS, comparable=False)
    if any(key not in tally.tables for tally in tallies):
        return EstimateDifference(reason=NO_LABELS)
    one, two = (estimate_question_rate(tally, key) for tally in tallies)
    if isinstance(one, str) or isinstance(two, str):
        return EstimateDifference(reason=one if isinstance(one, str) else str(two))
    if len(key) == 1:
        [key] = question_keys(tallies[0], key)
    grouped = LabelColumns(tallies[0].tables[key]).is_grouped
    if grouped and max(one.strata, two.strata) > 1:
        return EstimateDifference(reason=GROUPS_IN_STRATA, comparable=False)
    strata = [part for part in paired if part[:-1] == key and len(key) == 2 and not grouped]
    keys = sorted(strata) or [key]
    if any(None in pair for part in keys for pair in paired[part]):
        return EstimateDifference(reason=OTHER_STRATA, comparable=False)
    corners = []
    pairs = [(one.ends, two.ends)]
    if for_gate and (one.may_be_copied or two.may_be_copied):
        pairs.append((one.alone, two.alone))
    for unsure, rates in chain.from_iterable(
        (((0, 1), (mine.lower, theirs.upper)), ((1, 0), (mine.upper, theirs.lower))) for mine, theirs in pairs
    ):
        units_of = [[*_paired_units(paired[part], unsure)] for part in keys]
        if any(unit.first[at] != unit.second[at] for units in units_of for unit in units for at in (0, 3)):
            return EstimateDifference(reason=OTHER_ITEMS, comparable=False)
        sizes = [sum(int(unit.first[0]) * unit.times for unit in units) for units in units_of]
        merged = [[unit for at in places for unit in units_of[at]] for places in merge_small(sizes)]
        corners.append(corrected_difference(rates, merged, grouped=grouped, gate=for_gate))
    is_decided = corners[0].value * corners[1].value > 0
    return EstimateDifference(
        one.ends.value - two.ends.value,
        partial(_difference_interval, corners, one.ends.units),
        max(corner.p_value() for corner in corners) if is_decided else 1.0,
        _DIFFERENCE_METHOD,
        max(sqrt(corner.variance) for corner in corners),
    )


def _difference_interval(corners: Sequence[SignedMean], units: int, level: float) -> Interval:
    """From the lower end of the lowest difference that unsure items allow to the upper end of the highest."""
    ends = [corner.interval(level, units, _DIFFERENCE_METHOD) for corner in corners]
    return ends[0]._replace(low=min(each.low for each in ends), high=max(each.high for each in ends))


def _tally_of(paired: PairedTables, run: int) -> Tally:
    """What one of the two systems counted; every unit, be it an item or a group, is its own."""
    tally = Tally({TABLE: LabelledRates().forms})
    for key, units in paired.items():
        for counts, times in units.items():
            mine = counts[run]
            if mine is not None:
                tally.add({key: mine}, times=times)
    return tally


def _paired_units(
    units: Mapping[tuple[Counts | None, Counts | None], int], unsure: tuple[int, int]
) -> Iterator[PairedUnit]:
    place = {name: at for at, name in enumerate(LabelledRates.columns)}

    def row(counts: Counts, value: int) -> Row:
        column = {name: counts[at] for name, at in place.items()}
        s = (column["labelled"] + column["unsure"] + column["others"]) // column["items"]
        t = column["judged"] // column["items"] or 1
        return (
            Fraction(column["labelled"] + column["unsure"], s),
            Fraction(column["human"] + value * column["unsure"], s),
            Fraction(column["judge"] + column["judge_unsure"], t),
            Fraction(column["others"], s),
            Fraction(column["judge_others"], t),
        )

    for (first, second), times in units.items():
        if first is not None and second is not None:
            yield PairedUnit(row(first, unsure[0]), row(second, unsure[1]), times)


class HumanAgreement:
    """Krippendorff's alpha of the labels that several people gave the same item, by question."""

    section = "main"
    metric = "human_agreement"

    def count(self, facts: ItemFacts) -> UnitCounts:
        return {}

    def totals(self, facts: ItemFacts) -> Mapping[str, int]:
        labels = [quantize(each.label, facts.human_steps) for each in facts.people if isinstance(each.label, Fraction)]
        if len(labels) < 2:
            return NO_TOTALS
        squares = sum(label * label for label in labels)
        return {f"people {facts.human_steps} {len(labels)} {sum(labels)} {squares} {facts.key.question}": 1}

    def metrics(self, tally: Tally) -> Metrics:
        questions = people_by_question(tally)
        if len(questions) > 1:
            return {self.metric: Estimate(None, SEVERAL_QUESTIONS.format(len(questions)), share=False)}
        return {self.metric: alpha_metric(next(iter(questions.values()), {}))}


def people_by_question(tally: Tally) -> dict[str, dict[RatedItem, int]]:
    """How often each set of labels of several people occurs, by question."""
    questions: dict[str, dict[RatedItem, int]] = {}
    for name, times in sorted(tally.counts.items()):
        if name.startswith("people "):
            _, steps, people, total, squares, question = name.split(" ", 5)
            s = int(steps)
            labels = RatedItem(int(people), Fraction(int(total), s), Fraction(int(squares), s * s))
            questions.setdefault(question, {})[labels] = times
    return questions


def alpha_metric(items: Mapping[RatedItem, int]) -> Estimate:
    """Krippendorff's alpha with its interval."""
    alpha = krippendorff_alpha(items) if items else None
    why = None if alpha is not None else ALIKE if items else "no item has labels of two people"
    return Estimate(alpha, why, False, partial(alpha_interval, items))


def judged_measures(settings: JudgedSettings | None = None) -> Sequence[Measure[ItemFacts]]:
    """Every measure, in the order of the report; whatever the settings are."""
    return [LabelledRates(), HumanAgreement()]
