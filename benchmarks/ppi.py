"""Corrected rates against ppi_py's point estimates, given our λ: plain, in strata, and as differences.

Needs the package `ppi-python`, which brings numba, pandas, statsmodels and scikit-learn (500 MB); says so where it is
missing. Fails where two estimates differ by more than 1e-9.
"""

from __future__ import annotations

import importlib
import random
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction

from judges import Pair, label_sums  # beside this file

from goldgate.stats.corrected_rate import CorrectedRate, plain_rate, stratified_rate
from goldgate.stats.label_counts import LabelScale, find_scale

DATA_SETS = 300
CLOSE = 1e-9

Data = tuple[list[Pair], list[Pair]]  # the items that people labelled, and the others
Point = Callable[[Sequence[Data], LabelScale, CorrectedRate], float]  # ppi_py's, with our λ in each stratum


def main() -> None:
    try:
        point = _load_ppi()
    except ImportError:
        print("ppi_py is not installed: pip install ppi-python, in an environment of its own")
        return
    rng = random.Random("ppi")
    farthest = {"plain": 0.0, "strata": 0.0, "differences": 0.0}
    for _ in range(DATA_SETS):
        strata = [_data(rng) for _ in range(rng.randint(2, 4))]
        scale = find_scale([j for labelled, others in strata for _, j in labelled + others])
        sums = [label_sums(Counter(labelled), Counter(others), scale) for labelled, others in strata]
        ours, theirs = [plain_rate(each) for each in sums], []
        for data, rate in zip(strata, ours, strict=True):
            theirs.append(point([data], scale, rate))
        stratified = stratified_rate(sums)
        distances = {
            "plain": abs(float(ours[0].value) - theirs[0]),
            "strata": abs(float(stratified.value) - point(strata, scale, stratified)),
            "differences": abs(float(ours[0].value - ours[1].value) - (theirs[0] - theirs[1])),
        }
        farthest = {name: max(farthest[name], distance) for name, distance in distances.items()}
    for name, distance in farthest.items():
        print(f"{name}: at most {distance:.1e} apart in {DATA_SETS:,} data sets")
    if max(farthest.values()) > CLOSE:
        raise SystemExit(f"more than {CLOSE} apart")


def _load_ppi() -> Point:
    ppi, numpy = importlib.import_module("ppi_py"), importlib.import_module("numpy")

    def point(strata: Sequence[Data], scale: LabelScale, rate: CorrectedRate) -> float:
        total, found = sum(len(labelled) + len(others) for labelled, others in strata), 0.0
        for (labelled, others), lam in zip(strata, rate.lambdas, strict=True):
            h = [float(h) for h, _ in labelled]
            j, o = ([float(scale(j)) for _, j in pairs] for pairs in (labelled, others))
            estimate = ppi.ppi_mean_pointestimate(*map(numpy.array, (h, j, o)), lam=float(lam))
            found += (len(labelled) + len(others)) / total * float(numpy.squeeze(estimate))
        return min(max(found, 0.0), 1.0)

    return point


def _data(rng: random.Random) -> Data:
    rate, right, scores = rng.random(), rng.uniform(0.5, 1), rng.random() < 0.5
    pairs: list[Pair] = []
    for _ in range(rng.randint(60, 300)):
        human = rng.random() < rate
        judge = Fraction(int(human == (rng.random() < right)))
        pairs.append((int(human), (judge + Fraction(rng.randint(0, 1000), 1000)) / 2 if scores else judge))
    drawn = rng.randint(10, 50)
    return pairs[:drawn], pairs[drawn:]


if __name__ == "__main__":
    main()
