"""The formulas of the judged suite, worked out a second time from their specification, item by item.

Nothing here imports the suite. Items go in as a list, numbers come out; every sum runs over the items themselves.

Decided here, where the specification leaves it open:

 1. There are groups when two items of a question share one. An item without a group is a group of its own.
 2. Strata and groups together have no formula; `estimate` refuses them.
 3. Strata come in the order of their names. The first with fewer than five labels is merged with the next one (the
    last with the one before), again and again. One stratum alone is no stratum: the plain formula with n - 1 degrees.
 4. "Human 1, judge 0" can occur in a stratum where some item has j < 1, "human 0, judge 1" where some j > 0. Without
    a judge (all labels null, so 0.5) both can occur everywhere; so can one for which no stratum qualifies.
 5. The variance between strata uses theta and theta_s as they come out; only the rate itself is kept in [0, 1].
 6. A variance of the judge over a single item is 0. No degrees of freedom: the interval is everything possible.
 7. `judge_rate` and `judge_bias` take the judge's labels as given, null as 0.5. The correction takes them stretched:
    labels that were given are stretched, by their smallest and largest, and a null is 0.5 after that. Labels that
    are all alike are not stretched.
 8. Several judges on one item: the mean of those that gave a label; null if none did. Stretching comes after it.
 9. Ten labels: "unsure" is no label when they are counted. For the ends it is: then it has the value 0, or 1.
10. Unsure items give two estimates. The interval goes from the lower end of the one to the upper end of the other.
11. Agreement, sensitivity, specificity and kappa: a judge's label above 0.5 counts as 1, below as 0; exactly 0.5 and
    null do not agree with the label of people. An unsure item is left out. Groups play no part in them.
12. Kappa itself is that of the four cells as they are; only its interval has 1 added to each. The interval is kept in
    [-1, 1]; t has as many degrees as there are items, less one.
13. Alpha: the distance of two labels is the square of their difference (for 0 and 1: whether they differ). A pretended
    item has as many labels as most items have (the larger number if two are as common). The interval is centred at
    alpha with the pretended items, each of which is left out in turn as well; t has the number of real items less one.
14. The difference of two systems is that of the rates as they are reported, each kept in [0, 1].
15. A difference with groups or strata has no formula.
16. `labels_worth` takes both variances from the same formula (groups, strata), once with every lambda 0.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import fsum, inf, sqrt
from typing import Literal

from goldgate.stats.distributions import t_quantile

LEAST_LABELS = 10
LEAST_IN_STRATUM = 5


@dataclass(frozen=True)
class Item:
    """One item of one question: what people said, what the judge said, and where it belongs."""

    human: float | Literal["unsure"] | None = None  # None: was not drawn
    judge: float | None = None  # None: the judge gave no label
    group: str | None = None
    stratum: str | None = None


Stratum = tuple[list[Item], list[float]]  # with the judge's label of each, stretched


@dataclass(frozen=True)
class Estimate:
    """A corrected rate, and what it was made from."""

    rate: float
    low: float
    high: float
    lam: tuple[float, ...]  # one for each stratum; a single one without strata
    beta: float
    variance: float
    effective: float  # n_e
    df: float
    labels_worth: float


@dataclass(frozen=True)
class Bounded:
    """A corrected rate with all unsure items 0, and with all of them 1; the same twice if there are none."""

    lower: Estimate
    upper: Estimate

    @property
    def interval(self) -> tuple[float, float]:
        return self.lower.low, self.upper.high


@dataclass(frozen=True)
class Undefined:
    """No number, for this reason."""

    reason: str


@dataclass(frozen=True)
class Share:
    """A rate of items that either have it or not."""

    value: float
    low: float
    high: float
    of: int


@dataclass(frozen=True)
class _Parts:
    """A point with its variance, before the interval is made of them."""

    theta: float
    variance: float
    p: float
    df: float
    lam: tuple[float, ...]
    beta: float


# --- The judge's labels ---


def mean_of_judges(labels: Sequence[float | None]) -> float | None:
    given = [label for label in labels if label is not None]
    return mean(given) if given else None


def as_given(items: Sequence[Item]) -> list[float]:
    """The judge's labels for `judge_rate` and `judge_bias`."""
    return [0.5 if item.judge is None else item.judge for item in items]


def stretched(items: Sequence[Item]) -> list[float]:
    """The judge's labels for the correction: the smallest is 0, the largest 1, none is 0.5."""
    given = [item.judge for item in items if item.judge is not None]
    if not given or min(given) == max(given):
        return as_given(items)
    least, most = min(given), max(given)
    return [0.5 if item.judge is None else (item.judge - least) / (most - least) for item in items]


# --- Rates without a correction ---


def human_rate(items: Sequence[Item]) -> float:
    return mean([item.human for item in items if isinstance(item.human, float | int)])


def judge_rate(items: Sequence[Item]) -> float:
    return mean(as_given(items))


def judge_bias(items: Sequence[Item]) -> float:
    labels = zip(items, as_given(items), strict=True)
    return mean([j - item.human for item, j in labels if isinstance(item.human, float | int)])


# --- The corrected rate ---


def estimate(items: Sequence[Item], *, gate: bool = False, level: float = 0.95) -> Bounded | Undefined:
    """The corrected rate. `gate`: groups weigh the pretended disagreements as a gate does."""
    labelled = [(at, item) for at, item in enumerate(items) if isinstance(item.human, float | int)]
    if len(labelled) < LEAST_LABELS:
        return Undefined(f"{len(labelled)} human labels")
    if has_groups(items) and len({group_name(at, item) for at, item in labelled}) < LEAST_LABELS:
        return Undefined("labelled groups")
    ends = []
    for value in (0.0, 1.0):
        filled = [replace(item, human=value) if item.human == "unsure" else item for item in items]
        ends.append(estimate_end(filled, gate=gate, level=level))
    return Bounded(*ends)


def estimate_end(items: Sequence[Item], *, gate: bool = False, level: float = 0.95) -> Estimate:
    """The corrected rate where no item is unsure, whatever the number of labels."""
    parts, alone = (calculate(items, gate, correct) for correct in (True, False))
    rate = clip(parts.theta, 0, 1)
    effective = max(1.0, parts.p * (1 - parts.p) / parts.variance)
    low, high = wilson(rate, effective, parts.df, level)
    worth = labels_in(items) * alone.variance / parts.variance
    return Estimate(rate, low, high, parts.lam, parts.beta, parts.variance, effective, parts.df, worth)


def calculate(items: Sequence[Item], gate: bool, correct: bool) -> _Parts:
    """The point and its variance by the formula that fits the items; with `correct` false every lambda is 0."""
    labels = stretched(items)
    strata = merge_strata(items, labels)
    if len(strata) > 1:
        if has_groups(items):
            raise NotImplementedError("strata and groups together")
        return stratified_parts(strata, correct)
    if has_groups(items):
        return grouped_parts(items, labels, correct, gate)
    return plain_parts(items, labels, correct)


def plain_parts(items: Sequence[Item], judge: Sequence[float], correct: bool) -> _Parts:
    h, j, others = split(items, judge)
    n, m, all_items = len(h), len(others), len(items)
    beta = slope([(h, j, 1.0)]) if correct else 0.0
    lam = beta * m / all_items
    theta = mean(h) + (lam * (mean(others) - mean(j)) if m else 0.0)
    r = [one - lam * other for one, other in zip(h, j, strict=True)]
    v = variance([*r, 1 - lam * 0, 0 - lam * 1]) / (n + 2)
    if m:
        v += lam**2 * variance(judge) / m
    return _Parts(theta, v, (fsum(h) + 1) / (n + 2), n - 1, (lam,), beta)


def grouped_parts(items: Sequence[Item], judge: Sequence[float], correct: bool, gate: bool) -> _Parts:
    h, j, others = split(items, judge)
    n, m, all_items = len(h), len(others), len(items)
    beta = slope([(h, j, 1.0)]) if correct else 0.0
    lam = beta * m / all_items
    theta = mean(h) + (lam * (mean(others) - mean(j)) if m else 0.0)

    names = [group_name(at, item) for at, item in enumerate(items)]
    with_labels = {name for name, item in zip(names, items, strict=True) if item.human is not None}
    count = len(with_labels)
    w = n / count if gate else sqrt(n / count)
    n_prime = n + 2 * w
    r_mean = (fsum(one - lam * other for one, other in zip(h, j, strict=True)) + w * (1 - lam)) / n_prime
    others_mean = mean(others) if m else 0.0
    u: defaultdict[str, float] = defaultdict(float)
    for name, item, label in zip(names, items, judge, strict=True):
        if isinstance(item.human, float | int):
            u[name] += (item.human - lam * label - r_mean) / n_prime
        else:
            u[name] += lam * (label - others_mean) / m
    pretended = [w * (1 - r_mean) / n_prime, w * (-lam - r_mean) / n_prime]
    g_prime = count + 2
    v = g_prime / (g_prime - 1) * fsum(x * x for x in [*u.values(), *pretended])
    return _Parts(theta, v, (fsum(h) + w) / n_prime, count - 1, (lam,), beta)


def stratified_parts(strata: Sequence[Stratum], correct: bool) -> _Parts:
    all_items = sum(len(items) for items, _ in strata)
    weights = [len(items) / all_items for items, _ in strata]
    halves = [split(items, judge) for items, judge in strata]
    beta = 0.0
    if correct:
        pairs = zip(halves, weights, strict=True)
        beta = slope([(h, j, weight**2 / (len(h) * (len(h) - 1))) for (h, j, _), weight in pairs])
    plus = shares([any(label < 1 for label in judge) for _, judge in strata])
    minus = shares([any(label > 0 for label in judge) for _, judge in strata])

    thetas, variances, degrees, lams, p = [], [], [], [], 0.0
    for (items, judge), (h, j, others), weight, k_plus, k_minus in zip(
        strata, halves, weights, plus, minus, strict=True
    ):
        m, n_prime = len(others), len(h) + k_plus + k_minus
        lam = beta * m / len(items)
        thetas.append(mean(h) + (lam * (mean(others) - mean(j)) if m else 0.0))
        r = [(one - lam * other, 1.0) for one, other in zip(h, j, strict=True)]
        v = weighted_variance([*r, (1 - lam * 0, k_plus), (0 - lam * 1, k_minus)]) / n_prime
        if m:
            v += lam**2 * variance(judge) / m
        variances.append(weight**2 * v)
        degrees.append(n_prime - 1)
        lams.append(lam)
        p += weight * (fsum(h) + k_plus) / n_prime
    theta = fsum(weight * one for weight, one in zip(weights, thetas, strict=True))
    within = fsum(variances)
    between = fsum(weight * (one - theta) ** 2 for weight, one in zip(weights, thetas, strict=True)) / all_items
    df = max(1.0, within**2 / fsum(v**2 / d for v, d in zip(variances, degrees, strict=True)))
    return _Parts(theta, within + between, p, df, tuple(lams), beta)


def merge_strata(items: Sequence[Item], labels: Sequence[float]) -> list[Stratum]:
    """The items of each stratum and the judge's labels of them; those with few human labels merged with a neighbour."""
    by_name: defaultdict[str, list[tuple[Item, float]]] = defaultdict(list)
    for item, label in zip(items, labels, strict=True):
        by_name[item.stratum or ""].append((item, label))
    strata = [by_name[name] for name in sorted(by_name)]
    while len(strata) > 1:
        few = [at for at, pairs in enumerate(strata) if labels_in([item for item, _ in pairs]) < LEAST_IN_STRATUM]
        if not few:
            break
        at = min(few[0], len(strata) - 2)
        strata[at : at + 2] = [strata[at] + strata[at + 1]]
    return [([item for item, _ in pairs], [label for _, label in pairs]) for pairs in strata]


def shares(possible: Sequence[bool]) -> list[float]:
    """One pretended disagreement, shared equally among the strata where it can occur."""
    if not any(possible):
        possible = [True] * len(possible)
    return [1 / sum(possible) if can else 0.0 for can in possible]


# --- The difference of two systems on the same items ---


def difference(
    first: Sequence[Item], second: Sequence[Item], level: float = 0.95
) -> tuple[float, float, float] | Undefined:
    """A - B, and the ends of its interval. The items are paired by position."""
    if any((a.human is None) != (b.human is None) for a, b in zip(first, second, strict=True)):
        return Undefined("human labels on different items")
    n = labels_in(first)
    if n < LEAST_LABELS:
        return Undefined(f"{n} human labels")
    value, sides = 0.0, []
    for sign, items in ((1, first), (-1, second)):
        labels = stretched(items)
        parts = plain_parts(items, labels, True)
        value += sign * clip(parts.theta, 0, 1)
        sides.append((parts.lam[0], *split(items, labels)))
    (lam_a, h_a, j_a, others_a), (lam_b, h_b, j_b, others_b) = sides
    e = [(a - lam_a * b) - (c - lam_b * d) for a, b, c, d in zip(h_a, j_a, h_b, j_b, strict=True)]
    f = [lam_a * a - lam_b * b for a, b in zip(others_a, others_b, strict=True)]
    v = variance([*e, 1.0, -1.0]) / (n + 2)
    if f:
        v += variance(f) / len(f)
    half = t_of(level, n - 1) * sqrt(v)
    return value, max(-1.0, value - half), min(1.0, value + half)


# --- Agreement of the judge with people ---


def cells(items: Sequence[Item]) -> dict[tuple[int, int], int] | Undefined:
    """How often each pair (human, judge) occurs."""
    counts = {(h, j): 0 for h in (0, 1) for j in (0, 1)}
    has_judge = any(item.judge is not None for item in items)
    for item in items:
        if not isinstance(item.human, float | int):
            continue
        if item.human not in (0, 1):
            return Undefined("fractional human labels")
        if has_judge:
            judge = not item.human if item.judge in (None, 0.5) else item.judge > 0.5
            counts[int(item.human), int(judge)] += 1
    return counts


def agreement(items: Sequence[Item], level: float = 0.95) -> Share | Undefined:
    counts = cells(items)
    return counts if isinstance(counts, Undefined) else share(counts[0, 0] + counts[1, 1], sum(counts.values()), level)


def sensitivity(items: Sequence[Item], level: float = 0.95) -> Share | Undefined:
    counts = cells(items)
    return counts if isinstance(counts, Undefined) else share(counts[1, 1], counts[1, 0] + counts[1, 1], level)


def specificity(items: Sequence[Item], level: float = 0.95) -> Share | Undefined:
    counts = cells(items)
    return counts if isinstance(counts, Undefined) else share(counts[0, 0], counts[0, 0] + counts[0, 1], level)


def cohens_kappa(items: Sequence[Item], level: float = 0.95) -> Share | Undefined:
    counts = cells(items)
    if isinstance(counts, Undefined):
        return counts
    n = sum(counts.values())
    if n == 0:
        return Undefined("no item has both labels")
    value = kappa_of(counts)
    if value is None:
        return Undefined("all labels are alike")
    added = {cell: count + 1 for cell, count in counts.items()}
    centre = kappa_of(added)
    assert centre is not None
    half = t_of(level, n - 1) * sqrt(kappa_variance(added))
    return Share(value, max(-1.0, centre - half), min(1.0, centre + half), n)


def kappa_of(counts: dict[tuple[int, int], int]) -> float | None:
    """(observed - expected) / (1 - expected); None if 1 is expected."""
    n = sum(counts.values())
    observed = counts[0, 0] * n + counts[1, 1] * n
    expected = sum((counts[k, 0] + counts[k, 1]) * (counts[0, k] + counts[1, k]) for k in (0, 1))
    return None if expected == n * n else (observed - expected) / (n * n - expected)


def kappa_variance(counts: dict[tuple[int, int], int]) -> float:
    """Fleiss, Cohen and Everitt (1969), formula 13: the variance of kappa by the delta method."""
    n = sum(counts.values())
    p = {cell: count / n for cell, count in counts.items()}
    row = {k: p[k, 0] + p[k, 1] for k in (0, 1)}
    column = {k: p[0, k] + p[1, k] for k in (0, 1)}
    expected = row[0] * column[0] + row[1] * column[1]
    kappa = (p[0, 0] + p[1, 1] - expected) / (1 - expected)
    same = sum(p[k, k] * (1 - (row[k] + column[k]) * (1 - kappa)) ** 2 for k in (0, 1))
    other = (1 - kappa) ** 2 * sum(p[a, b] * (column[a] + row[b]) ** 2 for a, b in ((0, 1), (1, 0)))
    return (same + other - (kappa - expected * (1 - kappa)) ** 2) / (n * (1 - expected) ** 2)


# --- Agreement among people ---


def alpha(items: Sequence[Sequence[float]]) -> float | None:
    """Krippendorff's alpha of the labels that people gave each item; None if no two of them differ."""
    paired = [labels for labels in items if len(labels) > 1]
    every = [label for labels in paired for label in labels]
    total = len(every)
    expected = fsum((a - b) ** 2 for a in every for b in every)
    if not expected:
        return None
    observed = fsum(fsum((a - b) ** 2 for a in labels for b in labels) / (len(labels) - 1) for labels in paired)
    return 1 - (observed / total) / (expected / (total * (total - 1)))


def human_agreement(items: Sequence[Sequence[float]], level: float = 0.95) -> Share | Undefined:
    """Alpha with its interval."""
    paired = [labels for labels in items if len(labels) > 1]
    if not paired:
        return Undefined("no item has labels of two people")
    value = alpha(paired)
    if value is None:
        return Undefined("all labels are alike")
    sizes = Counter(map(len, paired))
    people = max(sizes, key=lambda size: (sizes[size], size))
    pretended = [
        [1.0] * people,
        [0.0] * people,
        [1.0] * (people - 1) + [0.0],
        [0.0] * (people - 1) + [1.0],
    ]
    every = [*paired, *pretended]
    centre = alpha(every)
    left_out = [alpha(every[:at] + every[at + 1 :]) for at in range(len(every))]
    values = [one for one in left_out if one is not None]
    assert centre is not None
    assert len(values) == len(every)
    k = len(every)
    v = (k - 1) / k * fsum((one - mean(values)) ** 2 for one in values)
    half = t_of(level, len(paired) - 1) * sqrt(v)
    return Share(value, max(-1.0, centre - half), min(1.0, centre + half), len(paired))


# --- Means, variances, intervals ---


def mean(values: Sequence[float]) -> float:
    return fsum(values) / len(values)


def variance(values: Sequence[float]) -> float:
    """With the divisor one less than their number; 0 for a single one."""
    return weighted_variance([(value, 1.0) for value in values]) if len(values) > 1 else 0.0


def weighted_variance(values: Sequence[tuple[float, float]]) -> float:
    total = fsum(weight for _, weight in values)
    centre = fsum(value * weight for value, weight in values) / total
    return fsum(weight * (value - centre) ** 2 for value, weight in values) / (total - 1)


def slope(strata: Sequence[tuple[Sequence[float], Sequence[float], float]]) -> float:
    """Of human labels over the judge's, in [0, 1]; 0 if the judge is constant in every stratum."""
    above, below = 0.0, 0.0
    for h, j, factor in strata:
        if min(j) == max(j):
            continue
        h_mean, j_mean = mean(h), mean(j)
        above += factor * fsum((a - h_mean) * (b - j_mean) for a, b in zip(h, j, strict=True))
        below += factor * fsum((b - j_mean) ** 2 for b in j)
    return clip(above / below, 0, 1) if below else 0.0


def split(items: Sequence[Item], judge: Sequence[float]) -> tuple[list[float], list[float], list[float]]:
    """Labels of people, the judge's on the same items, and the judge's on the others."""
    h, j, others = [], [], []
    for item, label in zip(items, judge, strict=True):
        if item.human is None:
            others.append(label)
        else:
            h.append(float(item.human))
            j.append(label)
    return h, j, others


def labels_in(items: Sequence[Item]) -> int:
    return sum(item.human is not None for item in items)


def group_name(at: int, item: Item) -> str:
    return f"item {at}" if item.group is None else f"group {item.group}"


def has_groups(items: Sequence[Item]) -> bool:
    names = [item.group for item in items if item.group is not None]
    return len(set(names)) < len(names)


def share(hits: int, of: int, level: float) -> Share | Undefined:
    if not of:
        return Undefined("nothing to divide by")
    low, high = wilson(hits / of, of, of - 1, level)
    return Share(hits / of, low, high, of)


def wilson(rate: float, n: float, df: float, level: float) -> tuple[float, float]:
    t = t_of(level, df)
    if t == inf:
        return 0.0, 1.0
    scale = 1 + t**2 / n
    centre = (rate + t**2 / (2 * n)) / scale
    half = t / scale * sqrt(rate * (1 - rate) / n + t**2 / (4 * n**2))
    return clip(centre - half, 0, 1), clip(centre + half, 0, 1)


def t_of(level: float, df: float) -> float:
    """For an interval that holds with this probability at both sides together; a gate takes 2 · confidence - 1."""
    return t_quantile((1 + level) / 2, df) if df > 0 else inf


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)
