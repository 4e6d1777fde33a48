"""Reference implementation of the interval of a macro average: from the counts of one rate, unit by unit.

A report's tally sums for all rates at once.
"""

from __future__ import annotations

from collections.abc import Mapping

from goldgate.core.sums import MeanSums, Products, RatioSums, pair_sums
from goldgate.stats.interval import LEVEL, Interval, NoInterval, mean_interval

Classes = Mapping[str, tuple[int, int]]  # a and b of each class that occurs in a unit


class MacroSums:
    """Adds up what the macro average of one rate needs. Units of one group are added before they are multiplied."""

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
        """These sums, with every group a unit of its own."""
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
