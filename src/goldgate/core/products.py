"""Parts of a table that meet in a unit, such as event types in a document: sums of the products of their counts.

Classes that stand in the same unit go together, and the interval of their average must know how much.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from goldgate.core.sums import Counts, RatioForm, RatioSums

_MOST_VECTORS = 4096  # different pairs of vectors kept before they are multiplied and summed


class Products(NamedTuple):
    """Σac, Σad, Σbc and Σbd over the units where a rate of a/b meets one of c/d."""

    aa: int = 0
    ab: int = 0
    ba: int = 0
    bb: int = 0


class MeanSums(NamedTuple):
    """What the interval of a mean of rates needs: their own sums, and the products of those that meet in a unit.

    The first of two names is the one that sorts first; `units` counts those with a part in any of the rates.
    """

    rates: Mapping[str, RatioSums]
    products: Mapping[tuple[str, str], Products]
    units: int


class ProductSums:
    """The products of the counts of two parts, over the units where they meet, for all rates made of these counts.

    Equal pairs of vectors are kept once, with how often they occurred, and multiplied at the end.
    """

    __slots__ = ("_matrix", "_pairs")

    def __init__(self) -> None:
        self._pairs: dict[tuple[Counts, Counts], int] = {}
        self._matrix: dict[tuple[int, int], int] = {}  # by the columns of the one and of the other

    def add(self, one: Counts, other: Counts, times: int = 1) -> None:
        pairs, pair = self._pairs, (one, other)
        pairs[pair] = pairs.get(pair, 0) + times
        if len(pairs) > _MOST_VECTORS:
            self._multiply()

    def __iadd__(self, other: ProductSums) -> ProductSums:
        for (one, two), times in other._pairs.items():
            self.add(one, two, times)
        for columns, product in other._matrix.items():
            self._matrix[columns] = self._matrix.get(columns, 0) + product
        return self

    def __add__(self, other: ProductSums) -> ProductSums:
        both = ProductSums()
        both += self
        both += other
        return both

    def of(self, form: RatioForm) -> Products:
        """The products of one rate."""
        self._multiply()
        a, b = form.numerator, form.denominator
        return Products(*(self._weighted(one, other) for one in (a, b) for other in (a, b)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ProductSums):
            return NotImplemented
        self._multiply()
        other._multiply()
        return self._matrix == other._matrix

    __hash__ = None  # type: ignore[assignment]  # it changes in place

    def _weighted(self, rows: Counts, columns: Counts) -> int:
        return sum(rows[i] * columns[j] * product for (i, j), product in self._matrix.items())

    def _multiply(self) -> None:
        rows: dict[Counts, list[int]] = {}  # for each vector of the one: what the others that it meets come to
        for (one, other), times in self._pairs.items():
            row = rows.get(one)
            if row is None:
                row = rows[one] = [0] * len(other)
            for j, theirs in enumerate(other):
                row[j] += theirs * times
        matrix = self._matrix
        for one, row in rows.items():
            for i, mine in enumerate(one):
                for j, theirs in enumerate(row):
                    if mine and theirs:
                        matrix[i, j] = matrix.get((i, j), 0) + mine * theirs
        self._pairs = {}
