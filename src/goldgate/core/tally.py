"""Counts that add up: the sum of any split of the samples, in any order, is the same tally."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping

from goldgate.core.sums import Counts, RatioForm, UnitSums

Key = tuple[str, ...]  # a table of counts: the measure's name, and the names of a part of it


class Tally:
    """Named counts, and tables of what each unit counted.

    A table holds the vectors of the units' counts (hits, predicted, gold), of which equal ones are kept once; it has
    the sums that rates and their intervals are made of.
    """

    __slots__ = ("counts", "group", "tables", "unit")

    def __init__(self) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self.tables: dict[Key, UnitSums] = {}
        self.group: str | None = None  # of the unit that is being counted
        self.unit: dict[Key, Counts] | None = None  # takes what the unit counts, where somebody wants to know

    def add(self, key: Key, forms: Mapping[str, RatioForm], counts: Counts, times: int = 1) -> None:
        """What a unit counts in a table, from which rates of these forms are made."""
        table = self.tables.get(key)
        if table is None:
            table = self.tables[key] = UnitSums(forms)
        table.add(counts, self.group, times)
        if self.unit is not None:
            self.unit[key] = counts

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
        return self

    def __eq__(self, other: object) -> bool:
        # A count of zero and no count are the same tally; Counter knows that.
        return isinstance(other, Tally) and (
            Counter(self.counts) == Counter(other.counts) and self.tables == other.tables
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
