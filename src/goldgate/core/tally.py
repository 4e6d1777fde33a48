"""Counts that add up: the sum of any split of the samples, in any order, is the same tally."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from itertools import combinations
from typing import Any, Protocol

from goldgate.core.sums import MAX_VECTORS, Counts, ProductSums, RatioForm, UnitSums

TableKey = tuple[str, ...]  # a table of counts: the measure's name, and the names of a part of it


class PartCounts(Protocol):
    """What a unit counts in the parts of tables, sorted by key, where a measure has it at hand in another form."""

    def get(self, key: TableKey, /) -> Counts | None: ...
    def items(self) -> Iterable[tuple[TableKey, Counts]]: ...
    def json(self) -> bytes: ...  # the items as a list without its brackets


class UnitCounts:
    """A unit that is being counted: the group that it is part of, and what it counts, if that is wanted."""

    __slots__ = ("counts", "group", "parts", "times")

    def __init__(self, group: str | None = None, *, wanted: bool = False) -> None:
        self.group = group
        self.counts: dict[TableKey, Counts] | None = {} if wanted else None
        self.parts: PartCounts | None = None  # what it counts beyond that
        self.times = 1  # how many units like it

    def counted(self, key: TableKey) -> Counts | None:
        """What it counts in a table; None where it has no part in it."""
        found = self.counts.get(key) if self.counts is not None else None
        return self.parts.get(key) if found is None and self.parts is not None else found


MOST = 512  # things that are kept


class Sketch:
    """The smallest of some numbers, each once. All there are, up to as many as are kept."""

    __slots__ = ("_bound", "_kept")

    def __init__(self) -> None:
        self._kept: set[int] = set()
        self._bound: int | None = None  # nothing above it is kept

    def add(self, number: int) -> None:
        if self._bound is None or number < self._bound:
            self._kept.add(number)
            if len(self._kept) > 2 * MOST:
                self._cut()

    def _cut(self) -> None:
        if len(self._kept) > MOST:
            smallest = sorted(self._kept)[:MOST]
            self._kept, self._bound = {*smallest}, smallest[-1]

    @property
    def kept(self) -> set[int]:
        self._cut()
        return self._kept

    def __iadd__(self, other: Sketch) -> Sketch:
        for number in other._kept:
            self.add(number)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sketch) and self.kept == other.kept

    __hash__ = None  # type: ignore[assignment]  # it changes in place


MAX_PAIRED_PARTS = 40  # parts of a unit: their pairs grow with the square, and an answer can name any number of types
_MAX_DEFERRED = 2_000  # units that a measure keeps before they are settled: some 3 MB


class DeferredCounts(Protocol):
    """What units count in many tables, kept by a measure in a form of its own until somebody asks for the tables."""

    def add(self, unit: Any, /) -> None: ...
    def settle(self, tally: Tally, /) -> None: ...


class Tally:
    """Named counts, and tables of what each unit counted.

    A table holds the vectors of the units' counts (hits, predicted, gold), of which equal ones are kept once; it has
    the sums that rates and their intervals are made of.
    """

    __slots__ = ("_kept", "_products", "_tables", "_units_kept", "counts", "is_crowded", "now", "sketch")

    def __init__(self) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self._kept: dict[TableKey, DeferredCounts] = {}
        self._units_kept = 0
        self._tables: dict[TableKey, UnitSums] = {}
        self._products: dict[tuple[TableKey, TableKey], ProductSums] = {}  # of parts that meet in a unit
        self.now = UnitCounts()  # the unit that is being counted
        self.is_crowded = False  # whether more parts met in a unit than are paired
        self.sketch = Sketch()  # of what should be different in every unit

    def add(self, key: TableKey, forms: Mapping[str, RatioForm], counts: Counts, times: int = 1) -> None:
        """What a unit counts in a table, from which rates of these forms are made."""
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = UnitSums(forms)
        now = self.now
        if now.group is None:
            vectors = table.vectors  # `table.add`, inline: it is called for every rate of every unit
            vectors[counts] = vectors.get(counts, 0) + times
            if len(vectors) > MAX_VECTORS:
                table.square()
        else:
            table.add(counts, now.group)
        if now.counts is not None:
            now.counts[key] = counts
            now.times = times

    def meet(self, parts: Mapping[TableKey, Counts], times: int = 1) -> None:
        """Parts that stand in one unit. Where units are groups, the tables know it."""
        if self.now.group is not None:
            return
        if len(parts) > MAX_PAIRED_PARTS:
            self.is_crowded = True
            return
        for (key, counts), (other, others) in combinations(sorted(parts.items()), 2):
            products = self._products.get((key, other))
            if products is None:
                products = self._products[key, other] = ProductSums()
            products.add(counts, others, times)

    def keep(self, key: TableKey, make: Callable[[], DeferredCounts], unit: Any) -> None:
        """What a unit counts in many tables, to be added to them later, together with others like it."""
        kept = self._kept.get(key)
        if kept is None:
            kept = self._kept[key] = make()
        kept.add(unit)
        self._units_kept += 1
        if self._units_kept > _MAX_DEFERRED:
            self._settle()

    def _settle(self) -> None:
        if not self._kept:
            return
        kept, self._kept, self._units_kept = self._kept, {}, 0
        now, self.now = self.now, UnitCounts()
        for each in kept.values():
            each.settle(self)
        self.now = now

    @property
    def tables(self) -> dict[TableKey, UnitSums]:
        """What units counted, by the name of the measure and of a part of it."""
        self._settle()
        return self._tables

    @property
    def products(self) -> dict[tuple[TableKey, TableKey], ProductSums]:
        """Of parts that met in a unit."""
        self._settle()
        return self._products

    def __getstate__(self) -> object:
        self._settle()
        return super().__getstate__()

    def all_products(self, keys: Iterable[TableKey]) -> dict[tuple[TableKey, TableKey], ProductSums] | None:
        """The products of those tables that meet, in a unit or in a group; None where too many met in one."""
        wanted = sorted(keys)
        by_group: dict[str, dict[TableKey, Counts]] = {}
        for key in wanted:
            for group, counts in self.tables[key].groups.items():
                by_group.setdefault(group, {})[key] = counts
        groups = Tally()
        for parts in by_group.values():
            groups.meet(parts)
        if self.is_crowded or groups.is_crowded:
            return None
        found, among = groups.products, {*wanted}
        for pair, products in self.products.items():
            if among.issuperset(pair):
                found[pair] = found.get(pair, ProductSums()) + products
        return found

    @property
    def is_grouped(self) -> bool:
        """Whether units are groups of records."""
        return any(table.is_grouped for table in self.tables.values())

    def __iadd__(self, other: Tally) -> Tally:
        for name, count in other.counts.items():
            self.counts[name] += count
        for key, table in other.tables.items():
            known = self._tables.get(key)
            if known is None:
                known = self._tables[key] = UnitSums(table.forms)
            known += table
        for pair, products in other._products.items():
            mine = self._products.get(pair)
            if mine is None:
                mine = self._products[pair] = ProductSums()
            mine += products
        self.sketch += other.sketch
        self.is_crowded |= other.is_crowded
        return self

    def __eq__(self, other: object) -> bool:
        # A count of zero and no count are the same tally; Counter knows that.
        return isinstance(other, Tally) and (
            Counter(self.counts) == Counter(other.counts)
            and (self.tables, self.products) == (other.tables, other.products)
            and (self.sketch, self.is_crowded) == (other.sketch, other.is_crowded)
        )

    __hash__ = None  # type: ignore[assignment]  # it changes in place

    def __repr__(self) -> str:
        return f"<Tally: {len(self.counts)} counts, {len(self.tables)} tables>"


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    summed = Tally()
    for tally in tallies:
        summed += tally
    return summed
