"""Which gold arguments a predicted one may be matched with, or the other way round, for many at once.

A row is an integer in which bit j says whether the j-th of the right fits. The answers are those
of the rule, pair by pair (`relaxed_rule.fits`), and come from indexes:

- characters: for each character the rights that have it, as bits. How many characters each right
  shares with a left one is then counted for all rights together, in a few operations on integers
  of as many bits as there are rights. One that contains the other has all its characters, so only
  such pairs are looked at one by one.
- offsets: spans sorted by their start; only those near enough can overlap enough.
- stretches: two texts that share enough share a short stretch that can be looked up.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from goldgate.extraction.event import Span
from goldgate.extraction.largest_matching import Row, ones
from goldgate.extraction.relaxed_rule import RelaxedRule, iou_reaches, needed, shares_stretch

Arguments = Mapping[str, Sequence[Span]]

FEW_LEFT, FEW_PAIRS = 3, 2_000  # up to here an index costs more than it saves
ROWS_KEPT = 1 << 29  # bits: 64 MB of rows are kept, the others are made anew when they are asked for
RARE = 256  # a character that fewer than one in 256 rights have is kept as a list, not as bits
LONGEST_LOOKED_UP = 32  # characters of a stretch


def rows(lefts: Sequence[str], rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule) -> Row:
    """Which rights fit a left one."""
    if len(lefts) <= FEW_LEFT or len(lefts) * len(rights) <= FEW_PAIRS:
        return _kept(lambda number: row_by_rule(lefts[number], rights, left, right, rule), len(rights))
    return _kept(indexed_rows(lefts, rights, left, right, rule), len(rights))


def row_by_rule(a: str, rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule) -> int:
    """The row as the rule has it, pair by pair. All rules are the same in both directions."""
    spans, fits = left[a], rule.fits
    return sum([1 << number for number, b in enumerate(rights) if fits(a, spans, b, right[b])])


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


def _kept(row: Row, rights: int) -> Row:
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
        self.having: defaultdict[str, list[int]] = defaultdict(list)  # character → rights
        sizes: defaultdict[int, list[int]] = defaultdict(list)  # number of different characters → rights
        wanted = set().union(*lefts)
        for number, b in enumerate(rights):
            characters = set(b)
            sizes[len(characters)].append(number)
            for character in characters & wanted:
                self.having[character].append(number)
        self.sizes = {size: self._bits(numbers) for size, numbers in sizes.items()}
        self.often: dict[str, int] = {}

    def row(self, a: str) -> int:
        characters = set(a)
        counters: list[int] = []  # bit j of counters[k] is digit k, in base two, of what right j shares
        all_of_a = -1
        for character in characters:
            carry = self._having(character)
            all_of_a &= carry
            for place, digit in enumerate(counters):
                counters[place], carry = digit ^ carry, digit & carry
                if not carry:
                    break
            else:
                counters.append(carry)
        fit = within = 0
        for size, of_size in self.sizes.items():
            common = needed(len(characters) + size, self.threshold)
            if common <= min(len(characters), size):
                fit |= _at_least(counters, common) & of_size
            if size <= len(characters):
                within |= _at_least(counters, size) & of_size
        for number in ones(all_of_a & ~fit):
            if a in self.rights[number]:
                fit |= 1 << number
        for number in ones(within & ~fit):
            if self.rights[number] in a:
                fit |= 1 << number
        return fit

    def _having(self, character: str) -> int:
        found = self.often.get(character)
        if found is None:
            numbers = self.having.get(character, ())
            found = self._bits(numbers)
            if len(numbers) * RARE >= len(self.rights):
                self.often[character] = found
        return found

    def _bits(self, numbers: Iterable[int]) -> int:
        return _bits(numbers, len(self.rights))


def _at_least(counters: list[int], least: int) -> int:
    """The bits at which the number that the counters hold is no less than this."""
    if least >> len(counters):
        return 0
    above, equal = 0, -1
    for place in range(len(counters) - 1, -1, -1):
        if least >> place & 1:
            equal &= counters[place]
        else:
            above |= equal & counters[place]
            equal &= ~counters[place]
    return above | equal


class _Places:
    """`span_iou` by offsets, for the rights that carry them."""

    def __init__(self, rights: Sequence[str], right: Arguments, threshold: Fraction) -> None:
        self.low, self.high = threshold.numerator, threshold.denominator
        self.size = len(rights)
        numbers: defaultdict[Span, list[int]] = defaultdict(list)
        for number, b in enumerate(rights):
            for span in right[b]:
                numbers[span].append(number)
        self.spans = sorted(numbers)
        self.numbers = numbers
        self.anywhere = _bits([number for found in numbers.values() for number in found], self.size)
        self.rows: dict[Span, int] = {}

    def row(self, spans: Sequence[Span]) -> int:
        found = 0
        for span in spans:
            if span not in self.rows:
                self.rows[span] = self._near(span)
            found |= self.rows[span]
        return found

    def _near(self, span: Span) -> int:
        if not self.low:
            return self.anywhere
        longest = (span[1] - span[0]) * self.high // self.low
        first = bisect_left(self.spans, (span[0] - longest, 0))
        last = bisect_left(self.spans, (span[1], 0))
        fitting = [other for other in self.spans[first:last] if iou_reaches(span, other, self.low, self.high)]
        return _bits([number for other in fitting for number in self.numbers[other]], self.size)


class _Stretches:
    """`span_iou` by the longest common stretch of two texts."""

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], threshold: Fraction) -> None:
        self.threshold = threshold
        self.rights = rights
        self.number = {b: number for number, b in enumerate(rights)}
        self.indexes: dict[int, dict[str, list[int]]] = {}
        lengths: defaultdict[int, set[int]] = defaultdict(set)  # length looked up → lengths of lefts
        for a in lefts:
            lengths[self._looked_up(len(a))].add(len(a))
        for length, of_lefts in lengths.items():
            if length:
                self.indexes[length] = self._index(length, min(of_lefts), max(of_lefts))

    def row(self, a: str) -> int:
        length = self._looked_up(len(a))
        if not length:
            return (1 << len(self.rights)) - 1
        index, candidates = self.indexes[length], set[int]()
        step = self._least(len(a)) - length + 1  # every stretch that is long enough has one of these in it
        for at in range(0, len(a) - length + 1, step):
            candidates.update(index.get(a[at : at + length], ()))
        fitting = [number for number in candidates if self._fits(a, self.rights[number])]
        return _bits(fitting, len(self.rights)) | self.equal(a)

    def equal(self, a: str) -> int:
        number = self.number.get(a)
        return 0 if number is None else 1 << number

    def _fits(self, a: str, b: str) -> bool:
        return shares_stretch(a, b, needed(len(a) + len(b), self.threshold))

    def _least(self, length: int) -> int:
        """The least that any text must share with one of this length: the shorter it is, the less, but all of it."""
        low, high = self.threshold.numerator, self.threshold.denominator
        return -(-low * length // high)

    def _looked_up(self, length: int) -> int:
        """How long the stretches are that are looked up for such a text: few different lengths, so few indexes."""
        least = min(self._least(length), LONGEST_LOOKED_UP)
        return least if least <= 4 else 1 << (least.bit_length() - 1)

    def _index(self, length: int, shortest: int, longest: int) -> dict[str, list[int]]:
        """Stretch → the rights that have it, of those that are not too short or too long for any left."""
        low, high = self.threshold.numerator, self.threshold.denominator
        index: defaultdict[str, list[int]] = defaultdict(list)
        for number, b in enumerate(self.rights):
            if low * shortest <= high * len(b) and low * len(b) <= high * longest:
                for stretch in {b[at : at + length] for at in range(len(b) - length + 1)}:
                    index[stretch].append(number)
        return index


def _bits(numbers: Iterable[int], size: int) -> int:
    """An integer with these bits set, made in one step: setting them one by one would copy it each time."""
    made = bytearray(size // 8 + 1)
    for number in numbers:
        made[number >> 3] |= 1 << (number & 7)
    return int.from_bytes(made, "little")
