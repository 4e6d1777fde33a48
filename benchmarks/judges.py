"""How well the intervals of judged rates hold; seeded, prints tables and the cells that miss.

Items are drawn one by one: a person's label with the true rate, the judge's with its sensitivity and specificity. n of
the N items have a person's label. The interval should hold the true rate, that of the population that the items come
from, in 95 % of all data sets. `--full` takes minutes, and gives the tables of docs/statistics.md.
"""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from collections.abc import Sequence
from itertools import product
from math import sqrt
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the reference implementation lies among the tests

from tests.judged import reference  # after the line above

LEAST = 0.927  # of the intervals hold the true rate: what the formulas were chosen for
RATES = (0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.995)
LABELS = (10, 30, 100, 300)
ITEMS = (500, 2_000)
GROUP_SIZES = (1, 5, 20)
ALIKE = 4.0  # Beta concentration of the groups' own rates: two items of a group correlate by 1 / (1 + 4)
STEPS = tuple(step / 10 for step in range(11))
SCORES_IF_ONE = tuple((step + 0.05) ** 2 for step in STEPS)  # a score of 1 is 441 times as likely as one of 0


class Row(NamedTuple):
    """An item as it is given to the estimator."""

    human: float | None  # None: not drawn
    judge: float | None
    group: str | None = None
    stratum: str | None = None


class Judge(NamedTuple):
    """How likely each label is if a person says 1, and if a person says 0."""

    labels: tuple[float, ...]
    if_one: tuple[float, ...]
    if_zero: tuple[float, ...]


def _binary(sensitivity: float, specificity: float) -> Judge:
    return Judge((0.0, 1.0), (1 - sensitivity, sensitivity), (specificity, 1 - specificity))


JUDGES = {
    "good": _binary(0.95, 0.9),
    "poor": _binary(0.85, 0.7),
    "lenient": _binary(0.99, 0.3),
    "perfect": _binary(1, 1),
    "coin": _binary(0.5, 0.5),
    "scores": Judge(STEPS, SCORES_IF_ONE, SCORES_IF_ONE[::-1]),
}


class Bounds(NamedTuple):
    """What an estimator says of a data set."""

    rate: float
    low: float
    high: float
    worth: float


class Cell:
    """What was seen over the data sets of one kind."""

    def __init__(self) -> None:
        self.seen, self.below, self.above, self.undefined = 0, 0, 0, 0
        self.length, self.alone, self.error, self.gate_held = 0.0, 0.0, 0.0, 0

    def add(self, bounds: Bounds | None, true: float) -> None:
        if bounds is None:
            self.undefined += 1
            return
        self.seen += 1
        self.below += bounds.high < true - 1e-12  # pessimistic: the rate is better than the interval says
        self.above += bounds.low > true + 1e-12
        self.length += bounds.high - bounds.low
        self.error += bounds.rate - true

    @property
    def held(self) -> float:
        return 1 - (self.below + self.above) / self.seen

    @property
    def bias(self) -> float:
        return self.error / self.seen

    @property
    def text(self) -> str:
        return f"{self.held:.3f} ({self.length / self.seen:.3f})" if self.seen else "-"

    @property
    def misses(self) -> bool:
        """Whether too few intervals hold, by more than so few data sets could show by chance."""
        return self.held < min(LEAST, 0.95 - 3 * sqrt(0.95 * 0.05 / self.seen))

    @property
    def missed_by(self) -> str:
        return f"{self.held:.3f} (below {self.below / self.seen:.3f}, above {self.above / self.seen:.3f})"


def main() -> None:
    full = "--full" in sys.argv[1:]
    for part in PARTS:
        started = time.perf_counter()
        part(full)
        print(f"  ({time.perf_counter() - started:.0f} s)\n")


def judged_rates(full: bool) -> None:
    data_sets = 1_000 if full else 20
    print(f"Coverage of 95 % intervals of a judged rate, and mean length; {data_sets} data sets each")
    _head("N", "n", "rate", "people alone", *JUDGES)
    cells: dict[str, Cell] = {}
    coin, alone_by_coin = 0.0, 0.0
    for size, labels, rate in product(ITEMS, LABELS, RATES):
        where = f"N = {size}, n = {labels}, {rate}"
        alone, row = Cell(), []
        for name, judge in JUDGES.items():
            rng = random.Random(f"judges {where} {name}")
            cell = cells[f"{name}, {where}"] = Cell()
            for _ in range(data_sets):
                rows = _rows(judge, rate, size, labels, rng)
                cell.add(estimate(rows), rate)
                if name == "coin":
                    alone.add(estimate(without_judge(rows)), rate)
            row.append(cell)
            if name == "coin":
                coin, alone_by_coin = coin + cell.length / cell.seen, alone_by_coin + alone.length / alone.seen
        _line(f"{size:,}", labels, rate, alone.text, *(cell.text for cell in row))
    _misses(cells)
    print(f"  a coin's interval is {coin / alone_by_coin:.4f} times as long as that of people alone")
    from_30 = {where: cell.bias for where, cell in cells.items() if "n = 10," not in where}
    at_10 = {where: cell.bias for where, cell in cells.items() if "n = 10," in where}
    for name, biases in (("10 labels", at_10), ("30 labels or more", from_30)):
        where = max(biases, key=lambda at: abs(biases[at]))
        print(f"  largest bias with {name}: {biases[where]:+.4f} ({where})")


def judged_groups(full: bool) -> None:
    data_sets = 500 if full else 10
    print(f"The same in groups of items that are alike, and how often a gate's bound holds; {data_sets} data sets each")
    _head("N", "group", "n", "rate", "good", "its gate", "poor", "its gate")
    cells: dict[str, Cell] = {}
    for size, together, labels, rate in product(ITEMS, GROUP_SIZES, LABELS[1:], (0.3, 0.7, 0.9, 0.97)):
        row: list[object] = []
        for name, (sensitivity, specificity) in {"good": (0.95, 0.9), "poor": (0.85, 0.7)}.items():
            where = f"{name}, N = {size}, groups of {together}, n = {labels}, {rate}"
            rng = random.Random(f"judges {where}")
            cell = cells[where] = Cell()
            for _ in range(data_sets):
                rows = _grouped_rows(rate, sensitivity, specificity, size, together, labels, rng)
                cell.add(estimate(rows), rate)
                bounds = estimate(rows, gate=True)
                cell.gate_held += bounds is not None and bounds.low <= rate
            row += [cell.text, f"{cell.gate_held / cell.seen:.3f}" if cell.seen else "-"]
        _line(f"{size:,}", together, labels, rate, *row)
    _misses(cells)
    gates = {where: cell.gate_held / cell.seen for where, cell in cells.items() if cell.seen}
    missed = [f"{where}: {share:.3f}" for where, share in gates.items() if share < LEAST]
    print("  gates' lower bounds (wanted: 0.95) below 0.927: " + ("; ".join(missed) or "none"))


def judged_strata(full: bool) -> None:
    data_sets = 500 if full else 10
    print(
        f"Drawn by the judge's label: in proportion, at least 5 and a tenth of n from each; {data_sets} data sets each"
    )
    names = ("good", "poor", "lenient", "perfect", "scores")
    _head("N", "n", "rate", *names)
    cells: dict[str, Cell] = {}
    for size, labels, rate in product(ITEMS, LABELS, RATES):
        row = []
        for name in names:
            where = f"{name}, N = {size}, n = {labels}, {rate}"
            rng = random.Random(f"judges strata {where}")
            cell = cells[where] = Cell()
            for _ in range(data_sets):
                cell.add(estimate(_stratified_rows(JUDGES[name], rate, size, labels, rng)), rate)
            row.append(cell)
        _line(f"{size:,}", labels, rate, *(cell.text for cell in row))
    _misses(cells)


def judged_differences(full: bool) -> None:
    data_sets = 500 if full else 10
    print(f"Differences of two systems on the same items; {data_sets} data sets each")
    names = ("good", "poor", "perfect", "coin")
    _head("N", "n", "rates", *names)
    cells: dict[str, Cell] = {}
    for size, labels, rates in product(
        ITEMS, LABELS, ((0.7, 0.7), (0.7, 0.5), (0.9, 0.8), (0.97, 0.95), (0.995, 0.99))
    ):
        row = []
        for name in names:
            where = f"{name}, N = {size}, n = {labels}, {rates[0]} and {rates[1]}"
            rng = random.Random(f"judges differences {where}")
            cell = cells[where] = Cell()
            for _ in range(data_sets):
                cell.add(difference(*_paired_rows(JUDGES[name], rates, size, labels, rng)), rates[0] - rates[1])
            row.append(cell)
        _line(f"{size:,}", labels, f"{rates[0]}, {rates[1]}", *(cell.text for cell in row))
    _misses(cells)


# --- Estimators ---


def estimate(rows: Counter[Row], *, gate: bool = False) -> Bounds | None:
    """The corrected rate with its interval; for a gate, the two ends that hold with 95 % each. None: undefined."""
    items = [reference.Item(*row) for row, times in rows.items() for _ in range(times)]
    found = reference.estimate(items, gate=gate, level=0.9 if gate else 0.95)
    if isinstance(found, reference.Undefined):
        return None
    return Bounds(found.lower.rate, found.lower.low, found.lower.high, found.lower.labels_worth)


def difference(first: Sequence[Row], second: Sequence[Row]) -> Bounds | None:
    found = reference.difference([reference.Item(*row) for row in first], [reference.Item(*row) for row in second])
    return None if isinstance(found, reference.Undefined) else Bounds(*found, worth=0.0)


def without_judge(rows: Counter[Row]) -> Counter[Row]:
    found: Counter[Row] = Counter()
    for row, times in rows.items():
        found[row._replace(judge=None)] += times
    return found


# --- Data ---


def _rows(judge: Judge, rate: float, size: int, labels: int, rng: random.Random) -> Counter[Row]:
    rows = Counter(Row(h, j) for h, j in _labels(judge, rate, labels, rng))
    rows.update(Row(None, j) for _, j in _labels(judge, rate, size - labels, rng))
    return rows


def _labels(judge: Judge, rate: float, count: int, rng: random.Random) -> list[tuple[float, float]]:
    """Labels of a person and of the judge."""
    pairs = [(1.0, j) for j in judge.labels] + [(0.0, j) for j in judge.labels]
    ones, zeros = sum(judge.if_one), sum(judge.if_zero)
    chances = [rate * x / ones for x in judge.if_one] + [(1 - rate) * x / zeros for x in judge.if_zero]
    return rng.choices(pairs, chances, k=count)


def _grouped_rows(
    rate: float, sensitivity: float, specificity: float, size: int, together: int, labels: int, rng: random.Random
) -> Counter[Row]:
    """Groups differ in their rate, and in how often the judge is right."""
    drawn = set(rng.sample(range(size), labels))
    rows: Counter[Row] = Counter()
    for start in range(0, size, together):
        own, if_one, if_zero = (_own(share, rng) for share in (rate, sensitivity, specificity))
        for at in range(start, start + together):
            human = rng.random() < own
            right = rng.random() < (if_one if human else if_zero)
            rows[Row(float(human) if at in drawn else None, float(human == right), f"{start}")] += 1
    return rows


def _own(share: float, rng: random.Random) -> float:
    return rng.betavariate(share * ALIKE, (1 - share) * ALIKE)


def _stratified_rows(judge: Judge, rate: float, size: int, labels: int, rng: random.Random) -> Counter[Row]:
    strata: dict[str, list[tuple[float, float]]] = {"0": [], "1": []}
    for pair in _labels(judge, rate, size, rng):
        strata["1" if pair[1] > 0.5 else "0"].append(pair)
    least = max(5, labels // 10)
    small = min(strata, key=lambda name: len(strata[name]))
    shares = {small: min(len(strata[small]), max(least, round(labels * len(strata[small]) / size)))}
    shares |= {name: labels - shares[small] for name in strata if name != small}
    rows: Counter[Row] = Counter()
    for name, pairs in strata.items():
        rows.update(Row(h if at < shares[name] else None, j, None, name) for at, (h, j) in enumerate(pairs))
    return rows


def _paired_rows(
    judge: Judge, rates: tuple[float, float], size: int, labels: int, rng: random.Random
) -> tuple[list[Row], list[Row]]:
    """Two systems; in six of ten items what is hard for one is as hard for the other."""
    found: tuple[list[Row], list[Row]] = ([], [])
    for at in range(size):
        hard = rng.random()
        for rows, rate in zip(found, rates, strict=True):
            human = (hard if rng.random() < 0.6 else rng.random()) < rate
            j = rng.choices(judge.labels, judge.if_one if human else judge.if_zero)[0]
            rows.append(Row(float(human) if at < labels else None, j))
    return found


# --- Tables ---


def _head(*names: str) -> None:
    _line(*names)
    _line(*("---" for _ in names))


def _line(*values: object) -> None:
    print("| " + " | ".join(map(str, values)) + " |", flush=True)


def _misses(cells: dict[str, Cell]) -> None:
    for where, cell in cells.items():
        if not cell.seen:
            print(f"  undefined everywhere: {where}")
        elif cell.misses:
            print(f"  missed: {where}: {cell.missed_by}")
    shares = [cell.held for cell in cells.values() if cell.seen]
    print(f"  held in {min(shares):.3f} to {max(shares):.3f}")


PARTS = (judged_rates, judged_groups, judged_strata, judged_differences)

if __name__ == "__main__":
    main()
