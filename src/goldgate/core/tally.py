"""Counts that add up: the sum of any split of the samples, in any order, is the same tally."""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from hashlib import sha256, sha512
from itertools import chain, combinations

from goldgate.core.sums import Counts, ProductSums, RatioForm, UnitSums

TableKey = tuple[str, ...]  # a table of counts: the measure's name, and the names of a part of it
UnitCounts = dict[TableKey, Counts]  # what one unit counts, by table and by part of one
Forms = Mapping[str, Mapping[str, RatioForm]]  # the rates of each table, by the table's name
PairProducts = defaultdict[tuple[TableKey, TableKey], ProductSums]  # by two parts that stand in the same units

_PRIME = 2**521 - 1  # the digest of all answers is a product modulo it, and so the same in any order and split


def answer_digest(identity: str, text: str | None, *more: object) -> int:
    """A number for the answer to a unit: its text, and other plain values; 0 where there is none to be had."""
    try:
        values = repr((identity, *more)).encode()
    except (RecursionError, ValueError):  # nested too deep, or a number of too many digits
        return 0
    data = values if text is None else values + b"\0" + text.encode("utf-8", "surrogatepass")
    return int.from_bytes(sha512(data).digest(), "big")


MAX_KEPT = 8192  # fingerprints of a sample: some 600 kB, and twice that while more are added


class FingerprintSample:
    """A sample of numbers, the smallest ones, each once: the same for any order and split. Up to MAX_KEPT, all."""

    __slots__ = ("_limit", "_numbers")

    def __init__(self) -> None:
        self._numbers: set[int] = set()  # with some that are cut off later
        self._limit = float("inf")  # the largest of those that were left when some were cut off

    def add(self, number: int) -> None:
        if number < self._limit:
            self._numbers.add(number)
        if len(self._numbers) > 2 * MAX_KEPT:
            self._numbers = self.kept
            self._limit = max(self._numbers)

    @property
    def kept(self) -> set[int]:
        return {*sorted(self._numbers)[:MAX_KEPT]}

    def __iadd__(self, other: FingerprintSample) -> FingerprintSample:
        for number in other._numbers:
            self.add(number)
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FingerprintSample) and self.kept == other.kept

    __hash__ = None  # type: ignore[assignment]  # it changes in place


Example = tuple[str, ...]
MAX_EXAMPLES = 3  # of one kind
MAX_SAMPLED = 16  # values of a kind
MAX_PAIRED_PARTS = 40  # parts of a unit: their pairs grow with the square, and an answer can name any number of types
_MAX_WAITING = 1_000  # units that wait to be counted together, which is faster than one by one: some 2 MB


class Tally:
    """Named counts, and tables of what each unit counted.

    A table holds the vectors of the units' counts (hits, predicted, gold), of which equal ones are kept once; it has
    the sums that rates and their intervals are made of. `forms` says which rates the tables have.
    """

    __slots__ = (
        "_forms",
        "_products",
        "_tables",
        "_waiting",
        "answers",
        "counts",
        "examples",
        "fingerprints",
        "is_crowded",
        "samples",
    )

    def __init__(self, forms: Forms | None = None) -> None:
        self.counts: defaultdict[str, int] = defaultdict(int)
        self._forms: dict[str, Mapping[str, RatioForm]] = dict(forms or {})
        self._waiting: list[UnitCounts] = []
        self._tables: dict[TableKey, UnitSums] = {}
        self._products: PairProducts = defaultdict(ProductSums)  # sums over units that have both parts
        self.is_crowded = False  # whether more parts met in a unit than are paired
        self.fingerprints = FingerprintSample()  # of texts that should differ in every unit
        self.answers = 1  # the product of the digests of all answers; 0 where one has none
        self.examples: dict[str, list[Example]] = {}  # of some counts, by name: the first ones in sorted order

        self.samples: dict[TableKey, list[bytes]] = {}  # of values by what they are: those with the smallest digests

    def add(self, unit: UnitCounts, group: str | None = None, times: int = 1) -> None:
        """Add what a unit counts, as often as `times` says; or, with a group, what a part of that unit counts."""
        if group is not None:
            for key, counts in unit.items():
                self._table(key).add(counts, group)
        elif times == 1:
            self._waiting.append(unit)
            if len(self._waiting) >= _MAX_WAITING:
                self._count_waiting()
        else:
            for key, counts in unit.items():
                self._table(key).add(counts, times=times)
            self._meet(_parts_by_table(unit), times)

    def add_totals(self, totals: Mapping[str, int]) -> None:
        """Add named counts, which are summed and not kept for single units."""
        for name, count in totals.items():
            self.counts[name] += count

    def add_examples(self, name: str, examples: Iterable[Example]) -> None:
        """Keep examples of what a named count counts: the first ones in sorted order."""
        if kept := sorted({*self.examples.get(name, ()), *examples})[:MAX_EXAMPLES]:
            self.examples[name] = kept

    def add_sample(self, key: TableKey, digest: bytes, value: bytes) -> None:
        """Keep a value, with its digest before it, if that is one of the smallest under its key."""
        kept = self.samples.get(key)
        if kept is None:
            self.samples[key] = [digest + value]
        elif len(kept) < MAX_SAMPLED:
            insort(kept, digest + value)
        elif digest < kept[-1]:
            kept.pop()
            insort(kept, digest + value)

    def add_fingerprint(self, number: int | None) -> None:
        """Add a number for what should be different in every unit."""
        if number is not None:
            self.fingerprints.add(number)

    def add_answer(self, digest: int) -> None:
        """Add the digest of what a system answered."""
        self.answers = self.answers * digest % _PRIME

    def answers_digest(self) -> str | None:
        """A digest of all answers; None where it is not known what they were."""
        return sha256(f"{self.answers:x}".encode()).hexdigest() if self.answers > 1 else None

    def _table(self, key: TableKey) -> UnitSums:
        table = self._tables.get(key)
        if table is None:
            table = self._tables[key] = UnitSums(self._forms[key[0]])
        return table

    def _count_waiting(self) -> None:
        if not self._waiting:
            return
        waiting, self._waiting = self._waiting, []
        vectors = Counter(chain.from_iterable([unit.items() for unit in waiting]))
        for (key, counts), times in vectors.items():
            self._table(key).add(counts, times=times)
        for parts, times in Counter(map(_parts_by_table, waiting)).items():
            self._meet(parts, times)

    def _meet(self, parts: tuple[tuple[TableKey, Counts], ...], times: int) -> None:
        """Count the pairs of parts that stand in one unit."""
        if len(parts) > MAX_PAIRED_PARTS and max(Counter(key[0] for key, _ in parts).values()) > MAX_PAIRED_PARTS:
            self.is_crowded = True
            return
        for (key, counts), (other, others) in combinations(sorted(parts), 2):
            if key[0] == other[0]:
                self._products[key, other].add(counts, others, times)

    @property
    def tables(self) -> dict[TableKey, UnitSums]:
        """The sums of all units, by the name of a measure's table and of a part of it."""
        self._count_waiting()
        return self._tables

    @property
    def products(self) -> PairProducts:
        """Sums of products of parts that occur in the same unit."""
        self._count_waiting()
        return self._products

    def __getstate__(self) -> object:
        self._count_waiting()
        return super().__getstate__()

    def all_products(self, keys: Iterable[TableKey]) -> PairProducts | None:
        """The products of each two tables that a unit or group has both of; None where one has too many."""
        ordered = sorted(keys)
        by_group: dict[str, dict[TableKey, Counts]] = {}
        for key in ordered:
            for group, counts in self.tables[key].groups.items():
                by_group.setdefault(group, {})[key] = counts
        groups = Tally()
        for parts in by_group.values():
            groups._meet((*parts.items(),), 1)
        if self.is_crowded or groups.is_crowded:
            return None
        products_by_pair, among = groups.products, {*ordered}
        for pair, products in self.products.items():
            if among.issuperset(pair):
                products_by_pair[pair] += products
        return products_by_pair

    @property
    def is_grouped(self) -> bool:
        """Whether units are groups of records."""
        return any(table.groups for table in self.tables.values())

    def __iadd__(self, other: Tally) -> Tally:
        for name, count in other.counts.items():
            self.counts[name] += count
        self._forms |= other._forms
        for key, table in other.tables.items():
            own_table = self._table(key)
            own_table += table
        for pair, products in other._products.items():
            self._products[pair] += products
        self.fingerprints += other.fingerprints
        for name, examples in other.examples.items():
            self.add_examples(name, examples)
        for key, values in other.samples.items():
            self.samples[key] = sorted([*self.samples.get(key, ()), *values])[:MAX_SAMPLED]
        self.is_crowded |= other.is_crowded
        self.add_answer(other.answers)
        return self

    def __eq__(self, other: object) -> bool:
        # A count of zero and no count are the same tally; Counter knows that.
        return isinstance(other, Tally) and (
            Counter(self.counts) == Counter(other.counts)
            and (self.tables, self.products) == (other.tables, other.products)
            and (self.fingerprints, self.is_crowded) == (other.fingerprints, other.is_crowded)
            and (self.answers, self.examples, self.samples) == (other.answers, other.examples, other.samples)
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


def _parts_by_table(unit: UnitCounts) -> tuple[tuple[TableKey, Counts], ...]:
    """The parts of a unit that are averaged: one name below a table, such as event types."""
    return tuple([part for part in unit.items() if len(part[0]) == 2])
