"""The interval of a macro average: the plain mean of the rates of several classes, such as event types or roles.

Classes that stand in the same document go together, so the products of their counts are summed too, for those pairs
of classes that meet in a unit. The bounds of the classes' own intervals are put together as their variances would be
(the method of variance estimates recovery; Zou and Donner 2008), so that a class with one document, or with all
right, counts as uncertain as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import sqrt

from goldgate.core.products import MeanSums, Products
from goldgate.core.sums import RatioSums, pair_sums
from goldgate.stats.interval import LEVEL, Interval, NoInterval, outwards, share_interval

Classes = Mapping[str, tuple[int, int]]  # a and b of each class that occurs in a unit


class MacroSums:
    """Adds up what the macro average of one rate needs. Units of one group are added before they are multiplied.

    This is the simple way, for whoever has the counts of one rate; a report's tally sums for all rates at once.
    """

    __slots__ = ("_groups", "_pairs", "_products", "_units")

    def __init__(self) -> None:
        self._units = 0
        self._pairs: dict[str, dict[tuple[int, int], int]] = {}
        self._products: dict[tuple[str, str], Products] = {}
        self._groups: dict[str, dict[str, tuple[int, int]]] = {}

    def add(self, classes: Classes, group: str | None = None) -> None:
        """One unit, or a part of the unit `group`."""
        if group is None:
            self._add_unit(classes)
            return
        known = self._groups.setdefault(group, {})
        for name, (a, b) in classes.items():
            had = known.get(name, (0, 0))
            known[name] = (had[0] + a, had[1] + b)

    def __iadd__(self, other: MacroSums) -> MacroSums:
        self._units += other._units
        for name, pairs in other._pairs.items():
            mine = self._pairs.setdefault(name, {})
            for pair, times in pairs.items():
                mine[pair] = mine.get(pair, 0) + times
        for names, products in other._products.items():
            had = self._products.get(names, Products())
            self._products[names] = Products(*(x + y for x, y in zip(had, products, strict=True)))
        for group, classes in other._groups.items():
            self.add(classes, group)
        return self

    def finished(self) -> MacroSums:
        """The same with every group a unit of its own."""
        whole = MacroSums()
        whole += self
        for classes in self._groups.values():
            whole._add_unit(classes)
        whole._groups = {}
        return whole

    def sums(self) -> dict[str, RatioSums]:
        """The six sums of each class, sorted by its name."""
        whole = self.finished()
        return {name: pair_sums(pairs) for name, pairs in sorted(whole._pairs.items())}

    def products(self) -> dict[tuple[str, str], Products]:
        return self.finished()._products

    @property
    def units(self) -> int:
        return self.finished()._units

    def _add_unit(self, classes: Classes) -> None:
        present = sorted((name, pair) for name, pair in classes.items() if pair != (0, 0))
        self._units += bool(present)
        for index, (name, (a, b)) in enumerate(present):
            pairs = self._pairs.setdefault(name, {})
            pairs[a, b] = pairs.get((a, b), 0) + 1
            for other, (c, d) in present[index + 1 :]:
                had = self._products.get((name, other), Products())
                self._products[name, other] = Products(had.aa + a * c, had.ab + a * d, had.ba + b * c, had.bb + b * d)


def macro_interval(sums: MacroSums, level: float = LEVEL) -> Interval | NoInterval:
    """Of the mean of the classes' rates, each from 0 to 1."""
    whole = sums.finished()
    return mean_interval(MeanSums(whole.sums(), whole.products(), whole.units), level)


def mean_interval(sums: MeanSums, level: float = LEVEL) -> Interval | NoInterval:
    """Of the mean of rates from 0 to 1; those with nothing to divide by are left out."""
    classes = {name: one for name, one in sorted(sums.rates.items()) if one.b}
    bounds = {name: share_interval(one, level) for name, one in classes.items()}
    below: dict[str, float] = {}
    above: dict[str, float] = {}
    for name, bound in bounds.items():
        if isinstance(bound, Interval):
            rate = classes[name].a / classes[name].b
            below[name], above[name] = rate - bound.low, bound.high - rate
    if not below:
        return NoInterval("no rate to average is defined")
    links = _correlations(classes, sums.products)
    mean = float(sum((Fraction(one.a, one.b) for one in classes.values()), Fraction(0)) / len(classes))
    low, high = mean - _together(below, links), mean + _together(above, links)
    return outwards(level, max(0.0, low), min(1.0, high), "mover-wilson-t", sums.units)


def _together(widths: Mapping[str, float], links: Mapping[tuple[str, str], float]) -> float:
    """The width of the mean: the root of the sum of squares and of twice the products, times their correlation."""
    total = 0.0
    for name in sorted(widths):
        total += widths[name] * widths[name]
    for (one, other), correlation in sorted(links.items()):
        total += 2 * correlation * widths[one] * widths[other]
    return sqrt(max(0.0, total)) / len(widths)


def _correlations(
    classes: Mapping[str, RatioSums], products: Mapping[tuple[str, str], Products]
) -> dict[tuple[str, str], float]:
    """Of the linearized rates of two classes: Σ(a - Rb)(c - Qd) over the root of both sums of squares."""
    found = {}
    for (name, other), met in products.items():
        one, two = classes.get(name), classes.get(other)
        if one is None or two is None:
            continue
        joint = one.b * two.b * met.aa - one.b * two.a * met.ab - one.a * two.b * met.ba + one.a * two.a * met.bb
        squares = _squares(one) * _squares(two)
        if joint and squares:
            # joint² / squares in integers first: the root of a ratio below 1, however large the numbers.
            size = sqrt(Fraction(joint * joint, squares))
            found[name, other] = size if joint > 0 else -size
    return found


def _squares(sums: RatioSums) -> int:
    return sums.b**2 * sums.aa - 2 * sums.a * sums.b * sums.ab + sums.a**2 * sums.bb
