"""How well the intervals of judged rates hold; seeded, prints tables and the cells that miss.

Items are drawn one by one: a person's label with the true rate, the judge's with its sensitivity and specificity. n of
the N items have a person's label. The interval should hold the true rate, that of the population that the items come
from, in 95 % of all data sets. Cells that miss are named with `--full` alone (twenty minutes): the usual run has too
few data sets for that.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from itertools import product
from math import sqrt
from operator import add, mul
from typing import NamedTuple, TypeVar

from goldgate.errors import ConfigError
from goldgate.readers.draw import allocate, label_stratum
from goldgate.stats.corrected_rate import (
    LEAST_LABELS,
    LabelSums,
    PairedUnit,
    corrected_difference,
    corrected_rate,
    merge_small,
    plain_rate,
)
from goldgate.stats.label_counts import LabelScale, find_scale

LEAST = 0.927  # of the intervals hold the true rate: what the formulas were chosen for
RATES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.995)
PAIRS = ((0.7, 0.7), (0.7, 0.5), (0.9, 0.8), (0.97, 0.95), (0.995, 0.99))
LABELS = (10, 30, 100, 300)
ITEMS = (500, 2_000)
GROUP_SIZES = (1, 5, 20)
ALIKE = 4.0  # Beta concentration of the groups' own rates: two items of a group correlate by 1 / (1 + 4)
SAME = 0.36  # share of items that are as hard for one system as for the other
ZERO, ONE = Fraction(0), Fraction(1)
SCORES = tuple(Fraction(step, 10) for step in range(11))
SCORES_IF_ONE = tuple((step + 0.05) ** 2 for step in map(float, SCORES))  # 1 is 441 times as likely as 0

Thing = TypeVar("Thing")
Pair = tuple[int, Fraction]  # labels of a person and of the judge
Pairs = Mapping[Pair, int]  # how often each occurs


class Judge(NamedTuple):
    """How likely each label is if a person says 1, and if a person says 0."""

    labels: tuple[Fraction, ...]
    if_one: tuple[float, ...]
    if_zero: tuple[float, ...]

    def chances(self, rate: float) -> dict[Pair, float]:
        ones, zeros = sum(self.if_one), sum(self.if_zero)
        chances = [rate * chance / ones for chance in self.if_one]
        chances += [(1 - rate) * chance / zeros for chance in self.if_zero]
        return dict(zip([*product((1, 0), self.labels)], chances, strict=True))


def _binary(sensitivity: float, specificity: float) -> Judge:
    return Judge((ZERO, ONE), (1 - sensitivity, sensitivity), (specificity, 1 - specificity))


JUDGES = {
    "good": _binary(0.95, 0.9),
    "poor": _binary(0.85, 0.7),
    "lenient": _binary(0.99, 0.3),
    "perfect": _binary(1, 1),
    "coin": _binary(0.5, 0.5),
    "scores": Judge(SCORES, SCORES_IF_ONE, SCORES_IF_ONE[::-1]),
}


class Bounds(NamedTuple):
    """What an estimator says of a data set."""

    rate: float
    low: float
    high: float


class Cell:
    """What was seen over the data sets of one kind."""

    def __init__(self) -> None:
        self.seen, self.below, self.above, self.gates_held = 0, 0, 0, 0
        self.lengths, self.errors = 0.0, 0.0

    def add(self, bounds: Bounds | None, true: float) -> None:
        if bounds is None:
            return
        self.seen += 1
        self.below += bounds.high < true - 1e-12
        self.above += bounds.low > true + 1e-12
        self.lengths += bounds.high - bounds.low
        self.errors += bounds.rate - true

    @property
    def held(self) -> float:
        return 1 - (self.below + self.above) / self.seen

    @property
    def length(self) -> float:
        return self.lengths / self.seen

    @property
    def bias(self) -> float:
        return self.errors / self.seen

    @property
    def text(self) -> str:
        return f"{self.held:.3f} ({self.length:.3f})" if self.seen else "-"

    @property
    def misses(self) -> bool:
        """Whether too few intervals hold, and fewer than chance explains; with few data sets that cannot be said."""
        return self.seen >= 100 and self.held < min(LEAST, 0.95 - 3 * sqrt(0.95 * 0.05 / self.seen))


def main() -> None:
    full = "--full" in sys.argv[1:]
    for part in PARTS:
        started = time.perf_counter()
        part(full)
        print(f"  ({time.perf_counter() - started:.0f} s)\n")


def judged_rates(full: bool) -> None:
    data_sets = 500 if full else 10
    print(f"Coverage of 95 % intervals of a judged rate, and mean length; {data_sets} data sets each")
    _head("N", "n", "rate", "people alone", *JUDGES)
    cells: dict[str, Cell] = {}
    longer = []
    for size, labels, rate in product(ITEMS, LABELS, RATES):
        where, alone = f"N = {size}, n = {labels}, {rate}", Cell()
        row = {name: cells.setdefault(f"{name}, {where}", Cell()) for name in JUDGES}
        for name, judge in JUDGES.items():
            rng = random.Random(f"judges {where} {name}")
            chances = judge.chances(rate)
            for _ in range(data_sets):
                sums = label_sums(_draw(chances, labels, rng), _draw(chances, size - labels, rng))
                row[name].add(estimate(sums), rate)
                if name == "coin":
                    alone.add(estimate(sums, correct=False), rate)
        longer.append(row["coin"].length / alone.length)
        _line(f"{size:,}", labels, rate, alone.text, *(cell.text for cell in row.values()))
    _misses(cells)
    print(f"  a coin's interval is {sum(longer) / len(longer):.4f} times as long as that of people alone")
    for labels in LABELS:
        biases = {where: cell.bias for where, cell in cells.items() if f"n = {labels}," in where}
        where = max(biases, key=lambda at: abs(biases[at]))
        print(f"  largest bias with {labels} labels: {biases[where]:+.4f} ({where})")


def judged_groups(full: bool) -> None:
    data_sets = 200 if full else 2
    print(f"The same in groups of items that are alike, and how often a gate's bound holds; {data_sets} data sets each")
    _head("N", "group", "n", "rate", "good", "its gate", "poor", "its gate")
    cells: dict[str, Cell] = {}
    for size, together, labels, rate in product(ITEMS, GROUP_SIZES, LABELS[1:], (0.3, 0.7, 0.9, 0.97)):
        row: list[object] = []
        for name, sensitivity, specificity in (("good", 0.95, 0.9), ("poor", 0.85, 0.7)):
            where = f"{name}, N = {size}, groups of {together}, n = {labels}, {rate}"
            rng = random.Random(f"judges {where}")
            cell = cells[where] = Cell()
            for _ in range(data_sets):
                sums = _grouped_sums((rate, sensitivity, specificity), size, together, labels, rng)
                cell.add(estimate(sums), rate)
                bounds = estimate(sums, gate=True)
                cell.gates_held += bounds is not None and bounds.low <= rate
            row += [cell.text, f"{cell.gates_held / cell.seen:.3f}" if cell.seen else "-"]
        _line(f"{size:,}", together, labels, rate, *row)
    _misses(cells)


def judged_strata(full: bool) -> None:
    data_sets = 300 if full else 5
    print(f"Drawn by the judge's label, as goldgate sample does; {data_sets} data sets each")
    _head("N", "n", "rate", *JUDGES)
    cells: dict[str, Cell] = {}
    for size, labels, rate in product(ITEMS, LABELS, RATES):
        row = []
        for name, judge in JUDGES.items():
            where = f"{name}, N = {size}, n = {labels}, {rate}"
            rng = random.Random(f"judges strata {where}")
            cell = cells[where] = Cell()
            for _ in range(data_sets):
                strata = _stratified_sums(judge.chances(rate), size, labels, rng)
                cell.add(estimate(*strata) if strata else None, rate)
            row.append(cell)
        _line(f"{size:,}", labels, rate, *(cell.text for cell in row))
    _misses(cells)


def judged_differences(full: bool) -> None:
    data_sets = 300 if full else 5
    names = ("good", "poor", "lenient", "perfect", "coin")
    print(f"Differences of two systems on the same items; {data_sets} data sets each")
    _head("N", "n", "rates", *names)
    cells: dict[str, Cell] = {}
    for size, labels, (first, second) in product(ITEMS, LABELS, PAIRS):
        row = []
        for name in names:
            where = f"{name}, N = {size}, n = {labels}, {first} and {second}"
            rng = random.Random(f"judges differences {where}")
            cell, chances = cells.setdefault(where, Cell()), _paired_chances(JUDGES[name], first, second)
            for _ in range(data_sets):
                bounds = difference(_draw(chances, labels, rng), _draw(chances, size - labels, rng))
                cell.add(bounds, first - second)
            row.append(cell)
        _line(f"{size:,}", labels, f"{first}, {second}", *(cell.text for cell in row))
    _misses(cells)


def supported_claims(full: bool) -> None:
    data_sets = 300 if full else 5
    print(f"Supported claims: a run has claims that are 0 beside those that people label; {data_sets} data sets each")
    _head("runs", "n", "share", "rate", "share and rate apart", "good runs have more of both")
    cells: dict[str, Cell] = {}
    for runs, labels, share, rate in product((15, 40), (30, 100), (0.6, 0.95), (0.5, 0.9, 0.97)):
        row = []
        for linked in (False, True):
            spread = 0.8 * min(share, 1 - share), 0.8 * min(rate, 1 - rate)
            true = share * rate + (spread[0] * spread[1] if linked else 0)
            where = f"{'linked' if linked else 'apart'}, {runs} runs, n = {labels}, share {share}, {rate}"
            rng = random.Random(f"judges {where}")
            cell = cells[where] = Cell()
            for _ in range(data_sets):
                cell.add(estimate(_claim_sums((share, rate), spread if linked else None, runs, labels, rng)), true)
            row.append(cell)
        _line(runs, labels, share, rate, *(cell.text for cell in row))
    _misses(cells)


PARTS = (judged_rates, judged_groups, judged_strata, judged_differences, supported_claims)


def estimate(*strata: LabelSums, gate: bool = False, correct: bool = True) -> Bounds | None:
    """The corrected rate with its interval; for a gate, the two ends that hold with 95 % each. None: undefined."""
    whole = reduce(add, strata) if len(strata) > 1 else strata[0]
    if min(whole.labelled, whole.groups or whole.labelled) < LEAST_LABELS:
        return None
    merged = [reduce(add, [strata[at] for at in places]) for places in merge_small([s.labelled for s in strata])]
    rate = corrected_rate(whole, merged, gate=gate, correct=correct)
    return Bounds(float(rate.value), *rate.ends(0.9 if gate else 0.95))


def difference(labelled: Mapping[tuple[Pair, Pair], int], others: Mapping[tuple[Pair, Pair], int]) -> Bounds:
    rates = []
    for at in (0, 1):
        sides: tuple[Counter[Pair], Counter[Pair]] = (Counter(), Counter())
        for side, both in zip(sides, (labelled, others), strict=True):
            for pairs, times in both.items():
                side[pairs[at]] += times
        rates.append(plain_rate(label_sums(*sides)))
    units = [PairedUnit(_labelled_row(a), _labelled_row(b), times) for (a, b), times in labelled.items()]
    units += [PairedUnit(_other_row(a), _other_row(b), times) for (a, b), times in others.items()]
    found = corrected_difference((rates[0], rates[1]), [units], grouped=False)
    interval = found.interval(0.95, len(units), "")
    return Bounds(float(found.value), interval.low, interval.high)


def _labelled_row(pair: Pair) -> tuple[Fraction, Fraction, Fraction, Fraction, Fraction]:
    return ONE, Fraction(pair[0]), pair[1], ZERO, ZERO


def _other_row(pair: Pair) -> tuple[Fraction, Fraction, Fraction, Fraction, Fraction]:
    return ZERO, ZERO, ZERO, ONE, pair[1]


def _draw(chances: Mapping[Thing, float], count: int, rng: random.Random) -> dict[Thing, int]:
    """How often each thing is among so many."""
    things = [*chances]
    places = Counter(rng.choices(range(len(things)), [*chances.values()], k=count))
    return {things[place]: times for place, times in sorted(places.items())}


def label_sums(labelled: Pairs, others: Pairs, scale: LabelScale | None = None) -> LabelSums:
    """The sums of items that people labelled, and of the others, with the judge's labels stretched."""
    scale = scale or find_scale([j for _, j in (*labelled, *others)])
    n = [(h, scale(j), times) for (h, j), times in labelled.items()]
    m = [(scale(j), times) for (_, j), times in others.items()]
    ones = Fraction(sum(h * times for h, _, times in n))
    return LabelSums(
        labelled=sum(times for *_, times in n),
        others=sum(times for _, times in m),
        h=ones,
        j=sum((j * times for _, j, times in n), ZERO),
        o=sum((j * times for j, times in m), ZERO),
        hh=ones,
        hj=sum((h * j * times for h, j, times in n), ZERO),
        jj=sum((j * j * times for _, j, times in n), ZERO),
        oo=sum((j * j * times for j, times in m), ZERO),
    )


def _grouped_sums(
    shares: tuple[float, float, float], size: int, together: int, labels: int, rng: random.Random
) -> LabelSums:
    """Groups differ in their rate, and in how often the judge is right about 1s and about 0s."""
    drawn = set(rng.sample(range(size), labels))
    labelled: Counter[Pair] = Counter()
    others: Counter[Pair] = Counter()
    groups = []
    for start in range(0, size, together):
        rate, sensitivity, specificity = (rng.betavariate(share * ALIKE, (1 - share) * ALIKE) for share in shares)
        sums = [0] * 5
        for at in range(start, start + together):
            human = rng.random() < rate
            judge = human == (rng.random() < (sensitivity if human else specificity))
            (labelled if at in drawn else others)[int(human), ONE if judge else ZERO] += 1
            for place, number in enumerate((1, human, judge, 0, 0) if at in drawn else (0, 0, 0, 1, judge)):
                sums[place] += number
        groups.append(sums)
    sums_of_all = label_sums(labelled, others)
    return sums_of_all if together == 1 else _with_groups(sums_of_all, groups)


def _with_groups(sums: LabelSums, groups: Sequence[Sequence[int]]) -> LabelSums:
    """The sums with those of each group: labelled items, h, j, other items, their j, and maybe what is 0."""
    columns = [*zip(*groups, strict=True)]
    products = tuple(tuple(Fraction(sum(map(mul, one, other))) for other in columns) for one in columns)
    return replace(
        sums,
        groups=sum(1 for group in groups if group[0]),
        products=products,
        zeros=sum(sum(column) for column in columns[5:]),
    )


def _claim_sums(
    means: tuple[float, float], spread: tuple[float, float] | None, runs: int, labels: int, rng: random.Random
) -> LabelSums:
    """Runs differ in the share of claims that people can label and in the rate among these: both by `spread`, or apart.

    The judge is the good one.
    """
    groups, items = [], list[tuple[int, bool, bool]]()
    for number in range(runs):
        if spread is None:
            share, rate = (rng.betavariate(mean * ALIKE, (1 - mean) * ALIKE) for mean in means)
        else:
            sign = rng.choice((1, -1))
            share, rate = (mean + sign * part for mean, part in zip(means, spread, strict=True))
        claims = rng.randint(3, 15)
        labelable = sum(rng.random() < share for _ in range(claims))
        groups.append([0, 0, 0, 0, 0, claims - labelable])
        for _ in range(labelable):
            human = rng.random() < rate
            items.append((number, human, human == (rng.random() < (0.95 if human else 0.9))))
    drawn = set(rng.sample(range(len(items)), min(labels, len(items))))
    labelled: Counter[Pair] = Counter()
    others: Counter[Pair] = Counter()
    for at, (number, human, judge) in enumerate(items):
        (labelled if at in drawn else others)[int(human), ONE if judge else ZERO] += 1
        for place, one in enumerate((1, human, judge, 0, 0) if at in drawn else (0, 0, 0, 1, judge)):
            groups[number][place] += one
    return _with_groups(label_sums(labelled, others), groups)


def _stratified_sums(chances: Mapping[Pair, float], size: int, labels: int, rng: random.Random) -> list[LabelSums]:
    """The sums of each stratum; none where there are more strata than can be drawn from."""
    strata: defaultdict[str, dict[Pair, float]] = defaultdict(dict)
    for pair, chance in chances.items():
        strata[label_stratum(float(pair[1]))][pair] = chance
    sizes = _draw({name: sum(own.values()) for name, own in strata.items()}, size, rng)
    try:
        shares = allocate(sizes, labels)
    except ConfigError:
        return []
    drawn = []
    for name in sorted(sizes):
        labelled = _draw(strata[name], shares[name], rng)
        drawn.append((labelled, _draw(strata[name], sizes[name] - shares[name], rng)))
    scale = find_scale([j for both in drawn for pairs in both for _, j in pairs])
    return [label_sums(*both, scale) for both in drawn]


def _paired_chances(judge: Judge, first: float, second: float) -> dict[tuple[Pair, Pair], float]:
    """How likely each pair of pairs is: two systems, each with the labels of a person and of the judge."""
    same = {(1, 1): min(first, second), (1, 0): max(0.0, first - second), (0, 1): max(0.0, second - first)}
    same[0, 0] = 1 - max(first, second)
    one, two = judge.chances(first), judge.chances(second)
    found = {}
    for a, b in product(one, two):
        rates = (first if a[0] else 1 - first), (second if b[0] else 1 - second)
        given = one[a] * two[b] / (rates[0] * rates[1])  # of the judge's labels, given those of people
        found[a, b] = given * (SAME * same[a[0], b[0]] + (1 - SAME) * rates[0] * rates[1])
    return found


def _head(*names: str) -> None:
    _line(*names)
    _line(*("---" for _ in names))


def _line(*values: object) -> None:
    print("| " + " | ".join(map(str, values)) + " |", flush=True)


def _misses(cells: Mapping[str, Cell]) -> None:
    """Name the cells whose intervals hold too rarely, and at which side they miss."""
    for where, cell in cells.items():
        if cell.misses:
            sides = f"too low {cell.below / cell.seen:.3f}, too high {cell.above / cell.seen:.3f}"
            print(f"  missed: {where}: {cell.held:.3f} ({sides})")
    shares = {where: cell.held for where, cell in cells.items() if cell.seen}
    inner = [held for where, held in shares.items() if "0.995" not in where]
    print(f"  held in {min(shares.values()):.3f} or more; leaving out rates of 0.995, in {min(inner):.3f} or more")


if __name__ == "__main__":
    main()
