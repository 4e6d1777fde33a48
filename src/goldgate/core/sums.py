"""Integer sums over units from which rates and their intervals are made; they add up in any order and any split.

A rate is a ratio of sums, R = Σa / Σb, where a and b are counts of one unit: a document, a run, or a group of
them. A unit where both are zero does not count towards the rate. The average of several rates also needs the
products of counts that occur in the same unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import compress
from operator import mul, or_
from typing import NamedTuple, TypeVar

Counts = tuple[int, ...]
Key = TypeVar("Key")

MAX_VECTORS = 4096  # different vectors kept before they are squared and summed: under 1 MB


class RatioSums(NamedTuple):
    """The number of units, Σa, Σb, Σa², Σab and Σb²."""

    units: int = 0
    a: int = 0
    b: int = 0
    aa: int = 0
    ab: int = 0
    bb: int = 0

    def __add__(self, other: RatioSums) -> RatioSums:  # type: ignore[override]  # the sums, not a longer tuple
        return RatioSums(
            self.units + other.units,
            self.a + other.a,
            self.b + other.b,
            self.aa + other.aa,
            self.ab + other.ab,
            self.bb + other.bb,
        )

    @property
    def variance(self) -> Fraction | None:
        """n/(n - 1) Σ(a - R b)² / (Σb)², by linearization; None for less than two units or a sum of zero."""
        if self.units < 2 or self.b == 0:
            return None
        squares = self.b**2 * self.aa - 2 * self.a * self.b * self.ab + self.a**2 * self.bb
        return Fraction(self.units * squares, (self.units - 1) * self.b**4)


def pair_sums(pairs: Mapping[tuple[int, int], int]) -> RatioSums:
    """The sums of units given by their counts a and b, and how often each pair occurred."""
    if not pairs:
        return RatioSums()
    a, b = zip(*pairs, strict=True)
    return _column_sums(a, b, [*pairs.values()])


class RatioForm(NamedTuple):
    """A rate as two weighted sums of a unit's counts: F1 of (hits, predicted, gold) is (2, 0, 0) over (0, 1, 1)."""

    numerator: tuple[int, ...]
    denominator: tuple[int, ...]

    def of(self, counts: Counts) -> tuple[int, int]:
        """The a and b of one unit."""
        return _weighted(counts, self.numerator), _weighted(counts, self.denominator)

    def of_all(self, vectors: Sequence[Counts]) -> Iterator[tuple[int, int]]:
        """The a and b of each unit."""
        return zip(*self.of_columns([*zip(*vectors, strict=True)], len(vectors)), strict=True)

    def of_columns(self, columns: Sequence[Counts], units: int) -> tuple[Sequence[int], Sequence[int]]:
        """The a of all units, and the b, by the columns of their counts."""
        nothing = [0] * units
        return (
            _weighted_column(columns, self.numerator) or nothing,
            _weighted_column(columns, self.denominator) or nothing,
        )


class UnitSums:
    """The sums of all rates that are made of the same few counts, such as hits, predicted and gold.

    Adding a unit costs one look-up: equal vectors of counts are kept once, with how often each occurred, and squared
    at the end. Units of the same group are added up before they are squared, also over shards, so memory grows with
    the groups.
    """

    __slots__ = ("_sums", "forms", "groups", "vectors")

    def __init__(self, forms: Mapping[str, RatioForm]) -> None:
        self.forms = forms
        self.vectors: dict[Counts, int] = {}
        self.groups: dict[str, Counts] = {}  # what each group has counted so far
        self._sums: dict[str, RatioSums] = {}

    def add(self, counts: Counts, group: str | None = None, times: int = 1) -> None:
        """Add `times` units with these counts, or a part of the unit `group`."""
        if group is not None:
            previous = self.groups.get(group)
            self.groups[group] = tuple(counts) if previous is None else _add_counts(previous, counts)
            return
        vectors = self.vectors
        vectors[counts] = vectors.get(counts, 0) + times
        if len(vectors) > MAX_VECTORS:
            self.square()

    def __iadd__(self, other: UnitSums) -> UnitSums:
        if self.forms != other.forms:
            raise ValueError("sums of different rates do not add up")
        _add_numbers(self.vectors, other.vectors)
        for group, counts in other.groups.items():
            self.add(counts, group)
        for name, sums in other._sums.items():
            self._sums[name] = self._sums.get(name, RatioSums()) + sums
        if len(self.vectors) > MAX_VECTORS:
            self.square()
        return self

    def sums(self) -> dict[str, RatioSums]:
        """The six sums of each rate, by its name."""
        vectors = dict(Counter(self.groups.values()))
        _add_numbers(vectors, self.vectors)
        vector_sums = _sums_of(self.forms, vectors)
        return {name: self._sums[name] + sums for name, sums in vector_sums.items()} if self._sums else vector_sums

    def __eq__(self, other: object) -> bool:
        # Two ways to the same sums may have squared their vectors at different times.
        return (
            isinstance(other, UnitSums)
            and (self.forms, self.groups) == (other.forms, other.groups)
            and self.sums() == other.sums()
        )

    __hash__ = None  # type: ignore[assignment]  # it changes in place

    def square(self) -> None:
        """Square what is kept, and keep the sums."""
        for name, sums in _sums_of(self.forms, self.vectors).items():
            self._sums[name] = self._sums.get(name, RatioSums()) + sums
        self.vectors = {}


def _sums_of(forms: Mapping[str, RatioForm], vectors: Mapping[Counts, int]) -> dict[str, RatioSums]:
    """The sums of each rate over units given by their counts, and how often each vector of them occurred.

    Column by column, because hundreds of rates of a report are made this way.
    """
    if not vectors:
        return dict.fromkeys(forms, RatioSums())
    columns, times = [*zip(*vectors, strict=True)], [*vectors.values()]
    return {name: _column_sums(*form.of_columns(columns, len(times)), times) for name, form in forms.items()}


def _weighted_column(columns: Sequence[Counts], weights: tuple[int, ...]) -> Sequence[int]:
    """What `_weighted` gives for each unit; nothing where no column has a weight."""
    parts = [
        column if weight == 1 else [count * weight for count in column]
        for column, weight in zip(columns, weights, strict=True)
        if weight
    ]
    return parts[0] if len(parts) == 1 else [*map(sum, zip(*parts, strict=True))]


def _column_sums(a: Sequence[int], b: Sequence[int], times: Sequence[int]) -> RatioSums:
    all_a, all_b = [*map(mul, a, times)], [*map(mul, b, times)]
    return RatioSums(
        sum(compress(times, map(or_, a, b))),
        sum(all_a),
        sum(all_b),
        sum(map(mul, all_a, a)),
        sum(map(mul, all_a, b)),
        sum(map(mul, all_b, b)),
    )


def _weighted(counts: Counts, weights: tuple[int, ...]) -> int:
    return sum([count * weight for count, weight in zip(counts, weights, strict=True) if weight])


def _add_counts(one: Counts, other: Counts) -> Counts:
    return tuple(mine + theirs for mine, theirs in zip(one, other, strict=True))


def _add_numbers(mine: dict[Key, int], theirs: Mapping[Key, int]) -> None:
    """Add numbers by key."""
    for key, number in theirs.items():
        mine[key] = mine.get(key, 0) + number


_MAX_VECTOR_PAIRS = 4096  # different pairs of vectors kept before they are multiplied and summed


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
        if len(pairs) > _MAX_VECTOR_PAIRS:
            self._multiply()

    def __iadd__(self, other: ProductSums) -> ProductSums:
        for (one, two), times in other._pairs.items():
            self.add(one, two, times)
        _add_numbers(self._matrix, other._matrix)
        return self

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
