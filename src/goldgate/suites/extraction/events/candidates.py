"""Which gold arguments a predicted one may be matched with, or the other way round, for many at once.

A row is an integer in which bit j says whether the j-th of the right fits. The answers are those
of the rule, pair by pair (`relaxed_rule.fits`), and come from indexes:

- characters: for each character the rights that have it, as bits. How many characters each right
  shares with a left one is then counted for all rights together, in a few operations on integers
  of as many bits as there are rights. One that contains the other has all its characters, so only
  such pairs are looked at one by one.
- offsets: the rights sorted by start, end, length and two sums of these, as bits up to each place.
- stretches: how long a stretch two texts must share follows from their lengths, so it can be looked up.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction

from goldgate.suites.extraction.events.event import Span
from goldgate.suites.extraction.events.largest_matching import BitIndex, Row, at_least, bits_at, ones
from goldgate.suites.extraction.events.relaxed_rule import RelaxedRule, needed, shares_stretch

Arguments = Mapping[str, Sequence[Span]]

FEW_LEFT, FEW_PAIRS = 3, 2_000  # up to here an index costs more than it saves
ROWS_KEPT = 1 << 29  # bits: 64 MB of rows are kept, the others are made anew when they are asked for
STEP, STEPS = 128, 512  # bits between two sets that are kept of a sorted order, and how many sets at most
SHORT = 256  # characters of a right that is looked up by every stretch of it
STRETCHES = 10_000_000  # characters at which such stretches begin, in all indexes together
LOOKED_UP = 32  # characters of a stretch by which longer ones are looked up


def rows(lefts: Sequence[str], rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule) -> Row:
    """Which rights fit a left one."""
    if len(lefts) <= FEW_LEFT or len(lefts) * len(rights) <= FEW_PAIRS:
        return kept_rows(lambda number: row_by_rule(lefts[number], rights, left, right, rule), len(rights))
    return kept_rows(indexed_rows(lefts, rights, left, right, rule), len(rights))


def row_by_rule(a: str, rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule) -> int:
    """The row as the rule has it, pair by pair. All rules are the same in both directions."""
    spans, fits = left[a], rule.fits
    return bits_at([number for number, b in enumerate(rights) if fits(a, spans, b, right[b])], len(rights))


def indexed_rows(
    lefts: Sequence[str], rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule
) -> Row:
    """The same rows, from an index."""
    if not rule.uses_spans:
        index = _Characters(lefts, rights, rule.threshold)
        return lambda number: index.row(lefts[number])
    places, stretches = _Places(rights, right, rule.threshold), _Stretches(lefts, rights, rule.threshold)

    def row(number: int) -> int:
        a = lefts[number]
        if not left[a]:
            return stretches.row(a)
        return places.row(left[a]) | (stretches.row(a) & ~places.anywhere) | stretches.equal(a)

    return row


def kept_rows(row: Row, rights: int) -> Row:
    """Rows that are made once, as long as there is room for them."""
    made: dict[int, int] = {}
    most = ROWS_KEPT // (rights + 1)

    def kept(number: int) -> int:
        found = made.get(number)
        if found is None:
            found = row(number)
            if len(made) < most:
                made[number] = found
        return found

    return kept


class _Characters:
    """`include_or_char_overlap` for all rights together."""

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], threshold: Fraction) -> None:
        self.rights = rights
        self.threshold = threshold
        wanted = set().union(*lefts)
        self.characters = BitIndex([wanted.intersection(b) for b in rights])
        sizes: defaultdict[int, list[int]] = defaultdict(list)  # number of different characters → rights
        for number, b in enumerate(rights):
            sizes[len(set(b))].append(number)
        self.sizes = {size: bits_at(numbers, len(rights)) for size, numbers in sizes.items()}

    def row(self, a: str) -> int:
        characters = set(a)
        counters = self.characters.count(characters)
        all_of_a = at_least(counters, len(characters))
        fit = within = 0
        for size, of_size in self.sizes.items():
            common = needed(len(characters) + size, self.threshold)
            if common <= min(len(characters), size):
                fit |= at_least(counters, common) & of_size
            if size <= len(characters):
                within |= at_least(counters, size) & of_size
        for number in ones(all_of_a & ~fit):
            if a in self.rights[number]:
                fit |= 1 << number
        for number in ones(within & ~fit):
            if self.rights[number] in a:
                fit |= 1 << number
        return fit


class _Places:
    """`span_iou` by offsets, for the rights that carry them.

    With x = [s, e) of the left and y = [s', e') of a right, the share is reached where, by the order of
    their ends, one of four inequalities holds: |y| >= t |x| if y lies in x, |y| <= |x| / t if x lies
    in y, s' + t e' <= e + t s if y is further on, e' + t s' >= s + t e if it is further back.
    """

    def __init__(self, rights: Sequence[str], right: Arguments, threshold: Fraction) -> None:
        self.low, self.high = low, high = threshold.numerator, threshold.denominator
        self.size = len(rights)
        # Bit j stands for the first span of right j; further ones have bits of their own above all of these.
        first: dict[int, Span] = {number: right[b][0] for number, b in enumerate(rights) if right[b]}
        further = [(span, number) for number, b in enumerate(rights) for span in right[b][1:]]
        self.right_of = [number for _, number in further]
        spans = {**first, **{self.size + place: span for place, (span, _) in enumerate(further)}}
        self.anywhere = bits_at(first, self.size)
        self.starts = _Sorted({bit: start for bit, (start, _) in spans.items()})
        self.ends = _Sorted({bit: end for bit, (_, end) in spans.items()})
        self.lengths = _Sorted({bit: end - start for bit, (start, end) in spans.items()})
        self.further_on = _Sorted({bit: high * start + low * end for bit, (start, end) in spans.items()})
        self.further_back = _Sorted({bit: high * end + low * start for bit, (start, end) in spans.items()})

    def row(self, spans: Sequence[Span]) -> int:
        if not self.low:
            return self.anywhere
        found = 0
        for start, end in dict.fromkeys(spans):
            found |= self._reached(start, end)
        row = found & ((1 << self.size) - 1)
        for place in ones(found >> self.size):
            row |= 1 << self.right_of[place]
        return row

    def _reached(self, start: int, end: int) -> int:
        low, high, length = self.low, self.high, end - start
        begins, stops = self.starts.at_most(start), self.ends.at_most(end)
        inside = stops & ~begins & ~self.lengths.at_most(-(-low * length // high) - 1)
        outside = begins & ~stops & self.lengths.at_most(length * high // low)
        on = ~begins & ~stops & self.further_on.at_most(high * end + low * start)
        back = begins & stops & ~self.further_back.at_most(high * start + low * end - 1)
        return inside | outside | on | back


class _Sorted:
    """Bits by a key: which have at most a given one."""

    def __init__(self, keys: Mapping[int, int]) -> None:
        self.bits = sorted(keys, key=keys.__getitem__)
        self.keys = [keys[bit] for bit in self.bits]
        self.size = max(keys, default=0) + 1
        self.step = max(STEP, len(self.bits) // STEPS)
        self.before = [0]  # the first `step` bits in this order, the first twice as many, …
        for begin in range(0, len(self.bits), self.step):
            self.before.append(self.before[-1] | bits_at(self.bits[begin : begin + self.step], self.size))

    def at_most(self, key: int) -> int:
        place = bisect_right(self.keys, key)
        whole = place // self.step
        return self.before[whole] | bits_at(self.bits[whole * self.step : place], self.size)


class _Stretches:
    """`span_iou` by the longest common stretch of two texts.

    How long it must be follows from both lengths, so short rights are looked up by all their stretches of
    that length. Long ones, of which there cannot be as many, are looked up by a short stretch and compared;
    and so are all where there are too many different lengths.
    """

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], threshold: Fraction) -> None:
        self.low, self.high = threshold.numerator, threshold.denominator
        self.threshold = threshold
        self.rights = rights
        self.texts = BitIndex([(b,) for b in rights])
        self.of_length: defaultdict[int, list[int]] = defaultdict(list)
        for number, b in enumerate(rights):
            self.of_length[len(b)].append(number)
        self.short = SHORT if self._stretches({len(a) for a in lefts}) <= STRETCHES else 0
        self.long = [number for number, b in enumerate(rights) if len(b) > self.short]
        self.indexes: dict[tuple[int, int], dict[str, list[int]]] = {}

    def row(self, a: str) -> int:
        if not self.low:
            return (1 << len(self.rights)) - 1
        found = set[int]()
        for length, numbers in self.of_length.items():
            common = needed(len(a) + length, self.threshold)
            if length <= self.short and common <= min(length, len(a)):
                index = self._index(length, common, numbers)
                for at in range(len(a) - common + 1):
                    found.update(index.get(a[at : at + common], ()))
        if self.long:
            found.update(number for number in self._long_candidates(a) if self._fits(a, self.rights[number]))
        return bits_at(found, len(self.rights)) | self.equal(a)

    def equal(self, a: str) -> int:
        return self.texts.having(a)

    def _stretches(self, of_lefts: set[int]) -> int:
        """How much there would be to index for lefts of these lengths."""
        return sum(
            length * len(numbers)
            for length, numbers in self.of_length.items()
            for other in of_lefts
            if length <= SHORT and needed(length + other, self.threshold) <= min(length, other)
        )

    def _fits(self, a: str, b: str) -> bool:
        return shares_stretch(a, b, needed(len(a) + len(b), self.threshold))

    def _long_candidates(self, a: str) -> set[int]:
        """Long rights that share a short stretch with this text. The least it must share is low/high of its length."""
        least = -(-self.low * len(a) // self.high)
        length = 1 << (min(least, LOOKED_UP).bit_length() - 1)  # few different lengths, so few indexes
        index, found = self._index(0, length, self.long), set[int]()
        for at in range(0, len(a) - length + 1, least - length + 1):  # one of these is in every stretch long enough
            found.update(index.get(a[at : at + length], ()))
        return found

    def _index(self, group: int, length: int, numbers: Sequence[int]) -> dict[str, list[int]]:
        """Stretch of this length → those of a group of rights that have it."""
        index = self.indexes.get((group, length))
        if index is None:
            index = self.indexes[group, length] = {}
            for number in numbers:
                b = self.rights[number]
                for stretch in {b[at : at + length] for at in range(len(b) - length + 1)}:
                    index.setdefault(stretch, []).append(number)
        return index
