"""Judged rates against ppi_py's point estimates, given our λ: plain, in strata, and as differences.

Needs the package `ppi-python`, which brings numba, pandas, statsmodels and scikit-learn (500 MB); says so where it is
missing. Fails where two estimates differ by more than 1e-9.
"""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # the reference implementation lies among the tests

from tests.judged.reference import Item, difference, estimate_end, merge_strata, split, stretched

DATA_SETS = 2_000
CLOSE = 1e-9

Point = Callable[[Sequence[float], Sequence[float], Sequence[float], float], float]


def main() -> None:
    try:
        ppi, numpy = importlib.import_module("ppi_py"), importlib.import_module("numpy")
    except ImportError:
        print("ppi_py is not installed: pip install ppi-python, in an environment of its own")
        return

    def point(h: Sequence[float], j: Sequence[float], others: Sequence[float], lam: float) -> float:
        found = ppi.ppi_mean_pointestimate(*map(numpy.array, (h, j, others)), lam=lam)
        return float(numpy.squeeze(found))

    rng = random.Random("ppi")
    farthest = {"plain": 0.0, "strata": 0.0, "differences": 0.0}
    for _ in range(DATA_SETS):
        items = _items(rng)
        farthest["plain"] = max(farthest["plain"], _distance(items, point))
        farthest["strata"] = max(farthest["strata"], _distance(_in_strata(items), point))
        second = [Item(None if item.human is None else float(rng.random() < 0.6), rng.random()) for item in items]
        farthest["differences"] = max(farthest["differences"], _difference_distance(items, second, point))
    for name, distance in farthest.items():
        print(f"{name}: at most {distance:.1e} apart in {DATA_SETS:,} data sets")
    if max(farthest.values()) > CLOSE:
        raise SystemExit(f"more than {CLOSE} apart")


def _items(rng: random.Random) -> list[Item]:
    size, rate, scores = rng.randint(60, 300), rng.random(), rng.random() < 0.5
    right, drawn = rng.uniform(0.5, 1), rng.randint(10, 50)
    items = []
    for at in range(size):
        human = rng.random() < rate
        judge = float(human == (rng.random() < right))
        items.append(Item(float(human) if at < drawn else None, (judge + rng.random()) / 2 if scores else judge))
    return items


def _in_strata(items: Sequence[Item]) -> list[Item]:
    """The same in four strata, in each of which the judge's label varies; the order of items says which."""
    return [Item(item.human, item.judge, None, str(at % 4)) for at, item in enumerate(items)]


def _distance(items: Sequence[Item], point: Point) -> float:
    ours = estimate_end(items)
    theirs = 0.0
    strata = merge_strata(items, stretched(items))
    for (part, labels), lam in zip(strata, ours.lam, strict=True):
        theirs += len(part) / len(items) * point(*split(part, labels), lam)
    return abs(ours.rate - min(max(theirs, 0.0), 1.0))


def _difference_distance(first: Sequence[Item], second: Sequence[Item], point: Point) -> float:
    ours = difference(first, second)
    assert isinstance(ours, tuple)
    theirs = 0.0
    for sign, items in ((1, first), (-1, second)):
        found = point(*split(items, stretched(items)), estimate_end(items).lam[0])
        theirs += sign * min(max(found, 0.0), 1.0)
    return abs(ours[0] - theirs)


if __name__ == "__main__":
    main()
