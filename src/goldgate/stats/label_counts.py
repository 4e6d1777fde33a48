"""Labels counted item by item, the corrected rate of what was counted, and how many labels of people it needs.

Every suite that is judged by labels counts `COLUMNS`, for one item or for all items of a group. A judge's labels are
first rescaled to 0 to 1 (`LabelScale`); labels are then counted as whole numbers (`LabelResolution`). To predict the
number of labels that are needed, the sums of the labelled items are scaled up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from functools import partial, reduce
from math import exp, fsum, lcm, lgamma
from operator import add
from typing import Literal, NamedTuple

from goldgate.core.contracts import RemarkValue
from goldgate.core.finding import remark
from goldgate.core.measure import product_name
from goldgate.core.metric import Estimate
from goldgate.core.sums import Counts, RatioSums, UnitSums
from goldgate.stats.corrected_rate import (
    LEAST_LABELS,
    CorrectedRate,
    LabelSums,
    RateEnds,
    corrected_rate,
    grouped_rate,
    labels_worth,
    merge_small,
    plain_rate,
)
from goldgate.stats.interval import LEVEL, Interval, least_number, one_sided

HALF = Fraction(1, 2)
# A label of 1 is counted as this many whole steps, so that sums of labels are integers: the first number here that
# makes every label whole, for people and for judges apart. The last has the thirds to sixteenths of several people, and
# four decimals; what does not fit, such as a judge's long scores, is rounded there. Each divides the next.
RESOLUTIONS = (1, 2, 60, 720_720_000)


COLUMNS = (
    "items", "labelled", "human", "judge", "unsure", "judge_unsure", "others", "judge_others",
    "human_squared", "product", "judge_squared", "judge_squared_unsure", "judge_squared_others", "judged", "older",
)  # fmt: skip
PRODUCT_COLUMNS = ("labelled", "human", "judge", "unsure", "judge_unsure", "others", "judge_others")
ZEROS = "zeros"  # a column of what is 0 beside the items, which has no label
_MULTIPLIED = (*PRODUCT_COLUMNS, ZEROS)

GATE_CONFIDENCE = Decimal("0.95")  # of a gate on a corrected rate that sets none: its value alone must not decide
UNLIKELY = 0.001  # p-value from which on a remark is made
_HIGH, _FEW = Fraction(95, 100), 60  # agreement that is a warning where fewer items were compared
_MAX_CUTS = 20  # through the scores of a judge
NO_LABELS = "no item has a label of a person"
ALONE_NOTE = (
    "this is the worse of the corrected bound and the bound of people's labels alone, because no draw shows that the "
    "judge's labels are older"
)
TOO_FEW = "a rate needs at least {1} labels of people (found {0})"
TOO_FEW_GROUPS = "a rate needs labels of people in at least {2} {1} (found {0})"


class LabelScale(NamedTuple):
    """Rescales a judge's labels for the correction: `low` becomes 0 and `high` becomes 1."""

    low: Fraction = Fraction(0)
    high: Fraction = Fraction(1)

    def __call__(self, label: Fraction | None) -> Fraction:
        """The rescaled label; one half where the judge gave none."""
        return HALF if label is None else (label - self.low) / (self.high - self.low)


def find_scale(labels: Iterable[Fraction | None]) -> LabelScale:
    """The scale from the smallest to the largest label; where all are equal, it changes nothing."""
    numbers = {label for label in labels if label is not None}
    return LabelScale(min(numbers), max(numbers)) if len(numbers) > 1 else LabelScale()


def find_resolution(labels: Iterable[Fraction], least: int = 1) -> int:
    """The number of steps from 0 to 1 in which all these labels are whole, at least `least`."""
    common = least
    for denominator in {label.denominator for label in labels}:
        common = lcm(common, denominator)
        if common > RESOLUTIONS[-1]:
            return RESOLUTIONS[-1]
    return next((steps for steps in RESOLUTIONS if steps % common == 0), RESOLUTIONS[-1])


def quantize(label: Fraction, steps: int) -> int:
    """A label as a whole number of steps; a half is rounded to even."""
    return round(label * steps)


class LabelResolution(NamedTuple):
    """As how many whole steps a label of 1 is counted: with 60 of them, a label of 1/3 is 20."""

    human: int = 1
    judge: int = 1


def count_item(
    human: Fraction | None, judge: Fraction | None, steps: LabelResolution, *, is_unsure: bool, older: bool
) -> Counts:
    """The counts of an item, one for each of `COLUMNS`. `judge` is the rescaled label; None: there is no judge.

    Labels are whole numbers of steps, and products of labels are products of these. `older`: the draw shows that the
    judge's labels are.
    """
    s, t = steps
    h = None if human is None else quantize(human, s)
    j = 0 if judge is None else quantize(judge, t)
    is_other = h is None and not is_unsure
    return (
        1,
        s * (h is not None), h or 0, j * (h is not None),
        s * is_unsure, j * is_unsure, s * is_other, j * is_other,
        (h or 0) ** 2, (h or 0) * j, j * j * (h is not None), j * j * is_unsure, j * j * is_other,
        t * (judge is not None), int(older),
    )  # fmt: skip


class LabelColumns:
    """The sums of a table's columns, and of the products of two of them."""

    def __init__(self, table: UnitSums) -> None:
        self._sums = table.sums()

    def __getitem__(self, column: str) -> int:
        return self._sums[product_name(column, column)].a

    def pair(self, one: str, other: str) -> RatioSums:
        ordered = (one, other) if _MULTIPLIED.index(one) <= _MULTIPLIED.index(other) else (other, one)
        return self._sums[product_name(*ordered)]

    @property
    def steps(self) -> int:
        """As how many steps a person's label of 1 was counted: every item has as many, labelled or not."""
        return (self["labelled"] + self["unsure"] + self["others"]) // (self["items"] or 1) or 1

    @property
    def judge_steps(self) -> int:
        """As how many steps a judge's label of 1 was counted; 1 where there is no judge."""
        return self["judged"] // (self["items"] or 1) or 1

    @property
    def zeros(self) -> int:
        """Things beside the items that are 0, whatever people would say."""
        name = product_name(ZEROS, ZEROS)
        return self._sums[name].a if name in self._sums else 0

    @property
    def is_grouped(self) -> bool:
        """Whether two items share a group, or a group has more than its items."""
        items = self._sums[product_name("items", "items")]
        return items.aa > items.a or self.zeros > 0

    def labels(self, unsure: int) -> LabelSums:
        """The sums for the corrected rate, with every unsure item labelled as this: 0 or 1."""
        s, t = self.steps, self.judge_steps
        return LabelSums(
            labelled=(self["labelled"] + self["unsure"]) // s,
            others=self["others"] // s,
            h=Fraction(self["human"] + unsure * self["unsure"], s),
            j=Fraction(self["judge"] + self["judge_unsure"], t),
            o=Fraction(self["judge_others"], t),
            hh=Fraction(self["human_squared"] + unsure * s * self["unsure"], s * s),
            hj=Fraction(self["product"] + unsure * s * self["judge_unsure"], s * t),
            jj=Fraction(self["judge_squared"] + self["judge_squared_unsure"], t * t),
            oo=Fraction(self["judge_squared_others"], t * t),
            groups=self.pair("labelled", "unsure").units if self.is_grouped else 0,
            products=self._products(unsure) if self.is_grouped else (),
            zeros=self.zeros,
        )

    def _products(self, unsure: int) -> tuple[tuple[Fraction, ...], ...]:
        """Σ over groups of each two of their sums: labels, h, j, others, j of those, and what is 0 beside them."""
        s, t = Fraction(1, self.steps), Fraction(1, self.judge_steps)
        rows: list[dict[str, Fraction]] = [
            {"labelled": s, "unsure": s},
            {"human": s, "unsure": s * unsure},
            {"judge": t, "judge_unsure": t},
            {"others": s},
            {"judge_others": t},
            *([{ZEROS: Fraction(1)}] if self.zeros else []),
        ]
        return tuple(tuple(self._product(one, other) for other in rows) for one in rows)

    def _product(self, one: Mapping[str, Fraction], other: Mapping[str, Fraction]) -> Fraction:
        return sum((x * y * self.pair(a, b).ab for a, x in one.items() for b, y in other.items()), Fraction(0))

    @property
    def labelled_groups(self) -> int:
        return self.pair("labelled", "human").units


class EstimatedRate(NamedTuple):
    """The corrected rate of a question, for reading and for gates, and how many labels it is worth."""

    ends: RateEnds
    gate: RateEnds  # where there are groups it is wider
    alone: RateEnds  # for gates, without the judge
    older: bool  # whether the judge's labels are known to be older than those of people
    worth: Fraction
    strata: int  # after small ones were merged; 1: none
    merged: int  # strata that were merged with a neighbour

    def estimate(self) -> Estimate:
        """The rate as a metric, whose gates look at its interval."""
        is_copied = self.may_be_copied
        note = ALONE_NOTE if is_copied else ""
        at = partial(_widest, (self.gate, self.alone)) if is_copied else self.gate.interval
        return Estimate(self.ends.value, None, True, self.ends.interval, at, GATE_CONFIDENCE, note)

    @property
    def may_be_copied(self) -> bool:
        """Whether the judge's labels are used, and may have been made when those of people were known."""
        return not self.older and any((*self.ends.lower.lambdas, *self.ends.upper.lambdas))


def _widest(rates: Sequence[RateEnds], level: float) -> Interval:
    """From the lowest to the highest end of several rates."""
    intervals = [rate.interval(level) for rate in rates]
    return intervals[0]._replace(low=min(one.low for one in intervals), high=max(one.high for one in intervals))


def estimate_rate(
    column: LabelColumns, strata: Sequence[LabelColumns] = (), groups: str = "groups"
) -> EstimatedRate | str:
    """The corrected rate of a table of labels, or why it has none; `groups` is the word for groups of items."""
    n = column["labelled"] // column.steps
    if n < LEAST_LABELS:
        return TOO_FEW.format(n, LEAST_LABELS) if n else NO_LABELS
    if column.is_grouped and column.labelled_groups < LEAST_LABELS:
        return TOO_FEW_GROUPS.format(column.labelled_groups, groups, LEAST_LABELS)
    places = merge_small([each.labels(0).labelled for each in strata])
    sides = []
    for unsure in (0, 1):
        sums = [each.labels(unsure) for each in strata]
        sides.append((column.labels(unsure), [reduce(add, [sums[at] for at in merged]) for merged in places]))
    units = sides[0][0].groups or sides[0][0].labelled
    ends, gate, alone = (
        RateEnds(low, high, units)
        for for_gate, correct in ((False, True), (True, True), (True, False))
        for low, high in [[corrected_rate(*side, gate=for_gate, correct=correct) for side in sides]]
    )
    worth = min(labels_worth(whole, merged) for whole, merged in sides)
    kept = len(sides[0][1])
    return EstimatedRate(ends, gate, alone, column["older"] > 0, worth, max(kept, 1), len(strata) - kept)


class JudgeSplit(NamedTuple):
    """How many items there are, how many of them were drawn, and how many of each the judge has above a cut."""

    items: int
    drawn: int
    above: int
    drawn_above: int


def split_judge(labels: Sequence[tuple[bool, Fraction]]) -> list[JudgeSplit]:
    """The judge's labels of items, each with whether it was drawn: one split for 0 and 1, at most 20 for scores.

    A single cut through scores would not see labels that were raised on one side of it.
    """
    numbers, drawn = [float(label) for _, label in labels], [is_drawn for is_drawn, _ in labels]
    ordered, size = sorted(numbers), len(numbers)
    cuts = {ordered[size * part // _MAX_CUTS] for part in range(_MAX_CUTS)} - {*ordered[-1:]} if size else set()
    splits = []
    for cut in sorted(cuts):
        above = [is_drawn for number, is_drawn in zip(numbers, drawn, strict=True) if number > cut]
        splits.append(JudgeSplit(size, sum(drawn), len(above), sum(above)))
    return splits


def uneven_judge(splits: Iterable[JudgeSplit]) -> Iterator[RemarkValue]:
    """Whether the judge's labels on drawn items differ from those on the others by more than a random draw explains.

    The rate follows the judge from the drawn items to the others, so labels that were raised there would raise it.
    """
    p_values = [(2 * min(_tails(split)), split) for split in splits if 0 < split.drawn < split.items]
    if not p_values:
        return
    smallest, split = min(p_values)
    if smallest * len(p_values) < UNLIKELY:
        change = "higher" if split.drawn_above * split.items < split.above * split.drawn else "lower"
        message = (
            f"the judge has {change} labels for items that were not drawn, by more than chance "
            f"(p {smallest * len(p_values):.1g}): were its labels changed after the draw, or the items chosen by them?"
        )
        yield remark("uneven_judge", message, drawn=split.drawn, items=split.items)


def agreement_remarks(agreed: int, compared: int, noun: str, where: str = "") -> Iterator[RemarkValue]:
    """Whether judge and people agree so often that one may have seen the other's labels."""
    if compared >= LEAST_LABELS and (agreed == compared or (agreed >= _HIGH * compared and compared < _FEW)):
        message = f"{where}judge and people agree on {agreed} of {compared} {noun}s: has one seen the other's labels?"
        yield remark("high_agreement", message, items=compared)


def _tails(split: JudgeSplit) -> tuple[float, float]:
    """The probabilities of at most, and of at least, this number above the mean in a random draw (hypergeometric)."""
    least, most = max(0, split.drawn - split.items + split.above), min(split.drawn, split.above)
    every = _log_choices(split.items, split.drawn)

    def chance(above: int) -> float:
        ways = _log_choices(split.above, above) + _log_choices(split.items - split.above, split.drawn - above)
        return exp(ways - every)

    few, many = range(least, split.drawn_above + 1), range(split.drawn_above, most + 1)
    return fsum(map(chance, few)), fsum(map(chance, many))


def _log_choices(items: int, chosen: int) -> float:
    return lgamma(items + 1) - lgamma(chosen + 1) - lgamma(items - chosen + 1)


MAX_ONES = 100_000  # labels


class LabelGoal(NamedTuple):
    """What labels are needed for: an interval of at most this length, or a gate that passes."""

    kind: Literal["length", "min", "max"]
    bound: str
    confidence: float | None = None  # of a gate


class ExpectedLabels(NamedTuple):
    """The sums of a question with every unsure item 0, and with every one 1."""

    all_0: LabelSums
    all_1: LabelSums
    older: bool = True  # whether the judge's labels are known to be older than those of people

    def ends(self, n: int, level: float, *, correct: bool = True, gate: bool = False) -> tuple[float, float]:
        """The interval that n labels like these would give; `correct` False: without the judge."""
        low, high = (_expected_rate(sums, n, correct, gate) for sums in (self.all_0, self.all_1))
        return low.ends(level)[0], high.ends(level)[1]

    def length(self, n: int, *, correct: bool = True) -> float:
        low, high = self.ends(n, LEVEL, correct=correct)
        return high - low

    def reaches(self, goal: LabelGoal, n: int, *, correct: bool) -> bool:
        if goal.confidence is None:
            return self.length(n, correct=correct) <= float(goal.bound)
        for with_judge in {correct, correct and self.older}:
            low, high = self.ends(n, one_sided(goal.confidence), correct=with_judge, gate=True)
            if low < Fraction(goal.bound) if goal.kind == "min" else high > Fraction(goal.bound):
                return False
        return True

    def needed(self, goal: LabelGoal, *, correct: bool) -> int | None:
        """The least number of labels that reaches a goal; None where all items do not."""
        return least_number(lambda n: self.reaches(goal, n, correct=correct), LEAST_LABELS, self.all_0.items)


def _expected_rate(sums: LabelSums, n: int, correct: bool, gate: bool) -> CorrectedRate:
    """The rate with n labels. Groups raise its variance by as much as they do now."""
    labelled, m = Fraction(n, sums.labelled), sums.items - n
    others = Fraction(m, sums.others) if sums.others else Fraction(0)
    h, j, hh, hj, jj = (labelled * part for part in (sums.h, sums.j, sums.hh, sums.hj, sums.jj))
    rate = plain_rate(LabelSums(n, m, h, j, others * sums.o, hh, hj, jj, others * sums.oo), correct)
    if not sums.groups:
        return rate
    raised = grouped_rate(sums, gate, correct).variance / plain_rate(sums, correct).variance
    df = max(Fraction(1), min(rate.df, sums.groups * labelled - 1))
    return replace(rate, variance=rate.variance * max(Fraction(1), raised), df=df)


def ones_needed(bound: Fraction, confidence: float) -> int | None:
    """How many labels of people, all of them 1 and without a judge, have a lower end of at least this."""

    def enough(n: int) -> bool:
        one, nothing = Fraction(n), Fraction(0)
        sums = LabelSums(n, 0, one, nothing, nothing, one, nothing, nothing, nothing)
        return plain_rate(sums).ends(one_sided(confidence))[0] >= bound

    return least_number(enough, LEAST_LABELS, MAX_ONES)
