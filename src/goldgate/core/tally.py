"""Counts that add up: the sum of any split of the samples, in any order, is the same tally."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import combinations

from goldgate.core.products import ProductSums
from goldgate.core.sums import Counts, RatioForm, UnitSums

Key = tuple[str, ...]  # a table of counts: the measure's name, and the names of a part of it


class Tally:
    """Named counts, and tables of what each unit counted.

    A table holds the vectors of the units' counts (hits, predicted, gold), of which equal ones are kept once; it has
    the sums that rates and their intervals are made of.
    """

    __slots__ = ("counts", "group", "products", "tables", "times", "unit")

    def __init__(self) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.tables: dict[Key, UnitSums] = {}
        self.products: dict[tuple[Key, Key], ProductSums] = {}  # of parts that meet in a unit
        self.group: str | None = None  # of the unit that is being counted
        self.times = 1  # how many units like it
        self.unit: dict[Key, Counts] | None = None  # takes what the unit counts, where somebody wants to know

    def add(self, key: Key, forms: Mapping[str, RatioForm], counts: Counts, times: int = 1) -> None:
        """What a unit counts in a table, from which rates of these forms are made."""
        table = self.tables.get(key)
        if table is None:
            table = self.tables[key] = UnitSums(forms)
        table.add(counts, self.group, times)
        if self.unit is not None:
            self.unit[key] = counts
            self.times = times

    def meet(self, parts: Mapping[Key, Counts]) -> None:
        """Parts that stand in one unit. Where units are groups, the tables know it."""
        if self.group is not None or len(parts) < 2:
            return
        found = sorted(parts.items())
        for index, (key, counts) in enumerate(found):
            for other, others in found[index + 1 :]:
                products = self.products.get((key, other))
                if products is None:
                    products = self.products[key, other] = ProductSums()
                products.add(counts, others)

    def all_products(self, keys: Iterable[Key]) -> dict[tuple[Key, Key], ProductSums]:
        """The products of those tables that meet, in a unit or in a group."""
        wanted = sorted(keys)
        found: dict[tuple[Key, Key], ProductSums] = {}
        by_group: dict[str, list[tuple[Key, Counts]]] = {}
        for key in wanted:
            for group, counts in self.tables[key].groups.items():
                by_group.setdefault(group, []).append((key, counts))
        for parts in by_group.values():
            for (key, counts), (other, others) in combinations(parts, 2):
                found.setdefault((key, other), ProductSums()).add(counts, others)
        for pair, products in self.products.items():
            if {*pair} <= {*wanted}:
                found[pair] = found.setdefault(pair, ProductSums()) + products
        return found

    @property
    def is_grouped(self) -> bool:
        """Whether units are groups of records."""
        return any(table.is_grouped for table in self.tables.values())

    def __iadd__(self, other: Tally) -> Tally:
        for name, count in other.counts.items():
            self.counts[name] += count
        for key, table in other.tables.items():
            known = self.tables.get(key)
            if known is None:
                known = self.tables[key] = UnitSums(table.forms)
            known += table
        for pair, products in other.products.items():
            mine = self.products.get(pair)
            if mine is None:
                mine = self.products[pair] = ProductSums()
            mine += products
        return self

    def __eq__(self, other: object) -> bool:
        # A count of zero and no count are the same tally; Counter knows that.
        return isinstance(other, Tally) and (
            Counter(self.counts) == Counter(other.counts)
            and (self.tables, self.products) == (other.tables, other.products)
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
