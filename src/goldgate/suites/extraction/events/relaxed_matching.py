"""Relaxed matching: when two arguments of one role may be matched, and the largest one-to-one matching of many.

Which arguments fit each other is held as bits of an integer, one row for each argument.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from goldgate.core.bitset import bitset, set_bits
from goldgate.suites.extraction.events import Span
from goldgate.suites.extraction.settings import RelaxedSettings

Spans = Sequence[Span]

LONG_TEXT = 100_000  # characters that comparing every window may copy, before parts of half the length are looked for


class RelaxedRule:
    """A share of characters or of a span that two different arguments must have in common, exactly."""

    def __init__(self, settings: RelaxedSettings) -> None:
        self.uses_spans = settings.match_mode == "span_iou"
        share = settings.span_iou_threshold if self.uses_spans else settings.char_overlap_threshold
        self.threshold = Fraction(share)
        self._low, self._high = self.threshold.as_integer_ratio()

    def fits(self, a: str, spans_a: Spans, b: str, spans_b: Spans) -> bool:
        """Whether two arguments may be matched; their offsets count only under `span_iou`."""
        low, high = self._low, self._high
        if self.uses_spans:
            if a != b and spans_a and spans_b:
                return any(iou_reaches(x, y, low, high) for x in spans_a for y in spans_b)
            return a == b or shares_substring(a, b, required_overlap(len(a) + len(b), self.threshold))
        if a in b or b in a:
            return True
        characters_a, characters_b = set(a), set(b)
        common = len(characters_a & characters_b)
        return common * high >= low * (len(characters_a) + len(characters_b) - common)


def required_overlap(both: int, threshold: Fraction) -> int:
    """How much two things must share, of which `both` is the sum of their sizes.

    c / (both - c) >= low / high  is  c >= low both / (low + high), rounded up.
    """
    low, high = threshold.numerator, threshold.denominator
    return -(-low * both // (low + high))


def iou_reaches(a: Span, b: Span, low: int, high: int) -> bool:
    """Whether two spans have this share of their union in common."""
    common = max(0, min(a[1], b[1]) - max(a[0], b[0]))
    return common * high >= low * (a[1] - a[0] + b[1] - b[0] - common)


def shares_substring(a: str, b: str, length: int) -> bool:
    """Whether two texts share a stretch of at least this length."""
    short = min(len(a), len(b))
    if short < length or length <= 0 or length * (short - length + 1) <= LONG_TEXT:
        return slow_shares_substring(a, b, length)
    return shares_substring_by_halves(a, b, length)


def slow_shares_substring(a: str, b: str, length: int) -> bool:
    """The rule for `shares_substring`: every stretch of the shorter text is looked for in the longer one."""
    if length <= 0:
        return True
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    return any(short[at : at + length] in long for at in range(len(short) - length + 1))


def shares_substring_by_halves(a: str, b: str, length: int) -> bool:
    """Whether two long texts share a stretch of this length, found by looking for parts of one in the other.

    Every stretch of this length has one of the parts in it: they are half as long and begin just as far apart. Where a
    part stands in the other text again and again, only the places are tried at which more than a part may be shared.
    """
    half = (length + 1) // 2
    for at in range(0, len(a) - half + 1, length - half + 1):
        part = a[at : at + half]
        place = b.find(part)
        while place >= 0:
            following = b.find(part, place + 1)
            period = following - place
            last, tried = place, [place]
            if 0 < period <= half:
                last, tried = _last_repetition(a, at, b, place, half, period)
                following = b.find(part, last + 1)
            if any(_common_length_around(a, at, b, each, half) >= length for each in tried):
                return True
            place = following
    return False


def _last_repetition(a: str, at: int, b: str, place: int, half: int, period: int) -> tuple[int, list[int]]:
    """The last place of a part that stands in `b` at every period from `place` on, and the places to be tried.

    Around each, both texts agree up to where the first of them stops repeating itself, and beyond only where both stop
    at once. So most is shared at one end, or where the two begin or cease to repeat themselves side by side.
    """
    before_a, before_b = (common_suffix_length(text[:end], text[: end + period]) for text, end in ((a, at), (b, place)))
    after_a = common_prefix_length(a[at + half :], a[at + half - period :])
    after_b = common_prefix_length(b[place + half :], b[place + half - period :])
    count = after_b // period
    side_by_side = ((before_a - before_b) // period, (after_b - after_a) // period)
    numbers = {0, count, *side_by_side, *(number + 1 for number in side_by_side)}
    return place + count * period, [place + n * period for n in sorted(numbers) if 0 <= n <= count]


def _common_length_around(a: str, at: int, b: str, place: int, size: int) -> int:
    """How long the stretch is that both texts share around a part that stands in both."""
    return common_suffix_length(a[:at], b[:place]) + size + common_prefix_length(a[at + size :], b[place + size :])


def common_suffix_length(a: str, b: str) -> int:
    """How many characters two texts have in common at the end."""
    most = min(len(a), len(b))
    return common_prefix_length(a[len(a) - most :][::-1], b[len(b) - most :][::-1])


def common_prefix_length(a: str, b: str) -> int:
    """How many characters two texts have in common at the beginning."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


Row = Callable[[int], int]  # number of a left one → bit j is set if it fits right j

# How many of the left may be looked at in searches one after the other. They give the pairs that
# are in the records; where long paths cross, all searches are then made at once.
MAX_SEARCHED = 1_000_000
MAX_SEARCHED_BITS = 1 << 33  # in the rows of these
RARE = 64  # a feature that fewer than one in 64 items have is kept as a list of them, not as bits


def largest_matching(
    lefts: int, rights: int, row: Row, equal: dict[int, int], limit: int = MAX_SEARCHED
) -> dict[int, int]:
    """Right → left of a largest matching in which all that was matched at first (`equal`) stays matched.

    Each unmatched left, in order, looks for an augmenting path, breadth first and lowest right
    first. What a search in vain has reached is left out from then on: no path leads out of it. So
    vain searches cost one pass together, and beyond `limit` the rest is done by Hopcroft and Karp's
    phases, of which there are at most about twice the square root of the lefts.
    """
    matching = _Matching(rights, row, dict(equal))
    for start in range(lefts):
        if start not in matching.right_of:
            if matching.looked_at > min(limit, MAX_SEARCHED_BITS // rights):
                matching.finish([left for left in range(start, lefts) if left not in matching.right_of])
                break
            matching.search(start)
    return matching.left_of


class BitIndex:
    """Which items of a list have a feature, as bits."""

    def __init__(self, features: Sequence[Iterable[Hashable]]) -> None:
        self._size = len(features)
        self._numbers: dict[Hashable, list[int]] = {}
        self._often: dict[Hashable, int] = {}  # bits of features that many have
        for number, of_item in enumerate(features):
            for feature in of_item:
                self._numbers.setdefault(feature, []).append(number)

    def having(self, feature: Hashable) -> int:
        """The items that have the feature."""
        bits = self._often.get(feature)
        if bits is None:
            numbers = self._numbers.get(feature, ())
            bits = bitset(numbers, self._size) if numbers else 0
            if len(numbers) * RARE >= self._size:
                self._often[feature] = bits
        return bits

    def count(self, features: Iterable[Hashable]) -> list[int]:
        """How many of these each item has: bit j of integer k is digit k, in base two, of the count of item j."""
        counters: list[int] = []
        for feature in features:
            carry = self.having(feature)
            for place, digit in enumerate(counters):
                if not carry:
                    break
                counters[place], carry = digit ^ carry, digit & carry
            if carry:
                counters.append(carry)
        return counters


def bits_at_least(counters: Sequence[int], least: int) -> int:
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


def largest_count(counters: Sequence[int], among: int) -> tuple[int, int]:
    """The largest number that the counters hold at some bits, and at which of them they hold it."""
    largest = 0
    for place in range(len(counters) - 1, -1, -1):
        if among & counters[place]:
            among &= counters[place]
            largest |= 1 << place
    return largest, among


class _Matching:
    """The pairs so far. `alive` are the rights from which an unmatched one may still be reached."""

    def __init__(self, rights: int, row: Row, left_of: dict[int, int]) -> None:
        self.row = row
        self.left_of = left_of
        self.right_of = {left: right for right, left in left_of.items()}
        self.alive = (1 << rights) - 1
        self.free = self.alive & ~bitset(left_of, rights)
        self.looked_at = 0

    def search(self, start: int) -> None:
        """Match one more left, if there is a path from it to a free right."""
        reached_from: dict[int, int] = {}
        unreached = self.alive
        queue = deque([start])
        while queue:
            here = queue.popleft()
            self.looked_at += 1
            new = self.row(here) & unreached
            ends = new & self.free
            if ends:
                end = (ends & -ends).bit_length() - 1
                reached_from[end] = here
                self._follow(end, reached_from)
                return
            for there in set_bits(new):
                reached_from[there] = here
                queue.append(self.left_of[there])
            unreached &= ~new
        self.alive = unreached

    def _follow(self, end: int, reached_from: dict[int, int]) -> None:
        """Every pair on the path moves on by one."""
        self.free &= ~(1 << end)
        right: int | None = end
        while right is not None:
            left = reached_from[right]
            before = self.right_of.get(left)
            self.right_of[left], self.left_of[right] = right, left
            right = before

    def finish(self, unmatched: list[int]) -> None:
        """Hopcroft and Karp: as many shortest paths as go beside one another, phase after phase."""
        while layers := self._layers(unmatched):
            for start in unmatched:
                self._dig(start, layers)
            unmatched = [left for left in unmatched if left not in self.right_of]

    def _layers(self, unmatched: list[int]) -> list[int]:
        """The rights by their distance from the unmatched lefts, up to the first free ones; empty if there are none."""
        layers: list[int] = []
        frontier, unreached = unmatched, self.alive
        while frontier:
            layer = 0
            for left in frontier:
                layer |= self.row(left)
            self.looked_at += len(frontier)
            layer &= unreached
            if layer & self.free:
                return [*layers, layer & self.free]
            layers.append(layer)
            unreached &= ~layer
            frontier = [self.left_of[right] for right in set_bits(layer)]
        return []

    def _dig(self, start: int, layers: list[int]) -> None:
        """Follow one shortest path down the layers; what was tried is taken out of them."""
        lefts, rights = [start], list[int]()
        while lefts:
            depth = len(lefts) - 1
            self.looked_at += 1
            options = self.row(lefts[-1]) & layers[depth]
            if not options:
                lefts.pop()
                if rights:
                    rights.pop()
                continue
            bit = options & -options
            layers[depth] ^= bit
            rights.append(bit.bit_length() - 1)
            if depth == len(layers) - 1:
                self.free ^= bit
                for left, right in zip(lefts, rights, strict=True):
                    self.right_of[left], self.left_of[right] = right, left
                return
            lefts.append(self.left_of[rights[-1]])


Arguments = Mapping[str, Sequence[Span]]

FEW_LEFT, FEW_PAIRS = 3, 2_000  # up to here an index costs more than it saves
MAX_CACHED_ROWS = 1 << 29  # bits: 64 MB of rows are kept, the others are made again
STEP, STEPS = 128, 512  # bits between two sets that are kept of a sorted order, and how many sets at most
SHORT_ARGUMENT = 256  # characters of a right that is looked up by every stretch of it
MAX_SUBSTRINGS = 10_000_000  # characters at which such stretches begin, in all indexes together
MAX_LOOKUPS = 32  # characters of a stretch by which longer ones are looked up


def candidate_rows(
    lefts: Sequence[str], rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule
) -> Row:
    """Which rights fit a left one."""
    if len(lefts) <= FEW_LEFT or len(lefts) * len(rights) <= FEW_PAIRS:
        return cached_rows(lambda number: slow_row(lefts[number], rights, left, right, rule), len(rights))
    return cached_rows(indexed_rows(lefts, rights, left, right, rule), len(rights))


def slow_row(a: str, rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule) -> int:
    """The row as the rule has it, pair by pair. All rules are the same in both directions."""
    spans, fits = left[a], rule.fits
    return bitset([number for number, b in enumerate(rights) if fits(a, spans, b, right[b])], len(rights))


def indexed_rows(
    lefts: Sequence[str], rights: Sequence[str], left: Arguments, right: Arguments, rule: RelaxedRule
) -> Row:
    """The rows of `slow_row`, from an index."""
    if not rule.uses_spans:
        index = _CharacterIndex(lefts, rights, rule.threshold)
        return lambda number: index.row(lefts[number])
    places, stretches = _OffsetIndex(rights, right, rule.threshold), _SubstringIndex(lefts, rights, rule.threshold)

    def row(number: int) -> int:
        a = lefts[number]
        if not left[a]:
            return stretches.row(a)
        return places.row(left[a]) | (stretches.row(a) & ~places.anywhere) | stretches.equal(a)

    return row


def cached_rows(row: Row, rights: int) -> Row:
    """Rows that are made once, as long as there is room for them."""
    return lru_cache(MAX_CACHED_ROWS // (rights + 1))(row)


class _CharacterIndex:
    """`include_or_char_overlap` for all rights together."""

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], threshold: Fraction) -> None:
        self.rights = rights
        self.threshold = threshold
        of_lefts = set().union(*lefts)
        self.characters = BitIndex([of_lefts.intersection(b) for b in rights])
        sizes: defaultdict[int, list[int]] = defaultdict(list)  # number of different characters → rights
        for number, b in enumerate(rights):
            sizes[len(set(b))].append(number)
        self.sizes = {size: bitset(numbers, len(rights)) for size, numbers in sizes.items()}

    def row(self, a: str) -> int:
        characters = set(a)
        counters = self.characters.count(characters)
        all_of_a = bits_at_least(counters, len(characters))
        fit = within = 0
        for size, of_size in self.sizes.items():
            common = required_overlap(len(characters) + size, self.threshold)
            if common <= min(len(characters), size):
                fit |= bits_at_least(counters, common) & of_size
            if size <= len(characters):
                within |= bits_at_least(counters, size) & of_size
        for number in set_bits(all_of_a & ~fit):
            if a in self.rights[number]:
                fit |= 1 << number
        for number in set_bits(within & ~fit):
            if self.rights[number] in a:
                fit |= 1 << number
        return fit


class _OffsetIndex:
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
        self.anywhere = bitset(first, self.size)
        self.starts = _ThresholdBits({bit: start for bit, (start, _) in spans.items()})
        self.ends = _ThresholdBits({bit: end for bit, (_, end) in spans.items()})
        self.lengths = _ThresholdBits({bit: end - start for bit, (start, end) in spans.items()})
        self.further_on = _ThresholdBits({bit: high * start + low * end for bit, (start, end) in spans.items()})
        self.further_back = _ThresholdBits({bit: high * end + low * start for bit, (start, end) in spans.items()})

    def row(self, spans: Sequence[Span]) -> int:
        if not self.low:
            return self.anywhere
        reached = 0
        for start, end in dict.fromkeys(spans):
            reached |= self._reached(start, end)
        row = reached & ((1 << self.size) - 1)
        for place in set_bits(reached >> self.size):
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


class _ThresholdBits:
    """Bits by a key: which have at most a given one."""

    def __init__(self, keys: Mapping[int, int]) -> None:
        self.bits = sorted(keys, key=keys.__getitem__)
        self.keys = [keys[bit] for bit in self.bits]
        self.size = max(keys, default=0) + 1
        self.step = max(STEP, len(self.bits) // STEPS)
        self.before = [0]  # the first `step` bits in this order, the first twice as many, …
        for begin in range(0, len(self.bits), self.step):
            self.before.append(self.before[-1] | bitset(self.bits[begin : begin + self.step], self.size))

    def at_most(self, key: int) -> int:
        place = bisect_right(self.keys, key)
        whole = place // self.step
        return self.before[whole] | bitset(self.bits[whole * self.step : place], self.size)


class _SubstringIndex:
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
        self.short = SHORT_ARGUMENT if self._stretches({len(a) for a in lefts}) <= MAX_SUBSTRINGS else 0
        self.long = [number for number, b in enumerate(rights) if len(b) > self.short]
        self.indexes: dict[tuple[int, int], dict[str, list[int]]] = {}

    def row(self, a: str) -> int:
        if not self.low:
            return (1 << len(self.rights)) - 1
        numbers_of_row = set[int]()
        for length, numbers in self.of_length.items():
            common = required_overlap(len(a) + length, self.threshold)
            if length <= self.short and common <= min(length, len(a)):
                index = self._index(length, common, numbers)
                for at in range(len(a) - common + 1):
                    numbers_of_row.update(index.get(a[at : at + common], ()))
        if self.long:
            numbers_of_row.update(number for number in self._long_candidates(a) if self._fits(a, self.rights[number]))
        return bitset(numbers_of_row, len(self.rights)) | self.equal(a)

    def equal(self, a: str) -> int:
        return self.texts.having(a)

    def _stretches(self, of_lefts: set[int]) -> int:
        """How much there would be to index for lefts of these lengths."""
        return sum(
            length * len(numbers)
            for length, numbers in self.of_length.items()
            for other in of_lefts
            if length <= SHORT_ARGUMENT and required_overlap(length + other, self.threshold) <= min(length, other)
        )

    def _fits(self, a: str, b: str) -> bool:
        return shares_substring(a, b, required_overlap(len(a) + len(b), self.threshold))

    def _long_candidates(self, a: str) -> set[int]:
        """Long rights that share a short stretch with this text. The least it must share is low/high of its length."""
        least = -(-self.low * len(a) // self.high)
        length = 1 << (min(least, MAX_LOOKUPS).bit_length() - 1)  # few different lengths, so few indexes
        index = self._index(0, length, self.long)
        starts = range(0, len(a) - length + 1, least - length + 1)  # one of these is in every stretch long enough
        return {number for at in starts for number in index.get(a[at : at + length], ())}

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
