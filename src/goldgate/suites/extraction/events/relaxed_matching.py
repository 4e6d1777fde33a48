"""Relaxed matching: when two arguments of one role may be matched, and the largest one-to-one matching of many.

Which arguments fit each other is held as bits of an integer, one row for each argument.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category
from unicodedata import normalize as unicode_normalize

from goldgate.core.assignment import heaviest_pairs
from goldgate.core.bitset import bitset, count_bits, set_bits
from goldgate.core.value_text import CharacterMemo, is_unspaced, sort_marks
from goldgate.suites.extraction.events import Span
from goldgate.suites.extraction.settings import RelaxedSettings

Spans = Sequence[Span]


class RelaxedRule:
    """A share of characters or of a span that two different arguments must have in common, exactly."""

    def __init__(self, settings: RelaxedSettings) -> None:
        self.uses_spans = settings.match_mode == "span_iou"
        self.uses_words = settings.unit == "word"
        share = settings.span_iou_threshold if self.uses_spans else settings.char_overlap_threshold
        self.threshold = Fraction(share)
        self._low, self._high = self.threshold.as_integer_ratio()

    def fits(self, a: str, spans_a: Spans, b: str, spans_b: Spans) -> bool:
        """Whether two arguments may be matched; their offsets count only under `span_iou`."""
        low, high = self._low, self._high
        if self.uses_spans:
            if a != b and spans_a and spans_b:
                return self._spans_fit(spans_a, spans_b)
            return a == b or shares_substring(a, b, required_overlap(len(a) + len(b), self.threshold))
        if a in b or b in a:
            return True
        characters_a, characters_b = characters_of(a), characters_of(b)
        common = len(characters_a & characters_b)
        return common * high >= low * (len(characters_a) + len(characters_b) - common)

    def codes_fit(self, a: str, spans_a: Spans, b: str, spans_b: Spans) -> bool:
        """Whether two arguments that differ may be matched, by the codes of their words."""
        if self.uses_spans and spans_a and spans_b:
            return self._spans_fit(spans_a, spans_b)
        return self.fits(a, (), b, ())

    def _spans_fit(self, spans_a: Spans, spans_b: Spans) -> bool:
        return any(iou_reaches(x, y, self._low, self._high) for x in spans_a for y in spans_b)


def argument_words(text: str, normalized: str) -> str:
    """The words of an argument as it was written, with a blank between two; one without any word is a single word.

    A word is a run of letters and digits after NFKC and case folding. Each Han character, kana or bopomofo is a word.
    """
    characters = map(_WORD_CHARACTERS.__getitem__, unicode_normalize("NFKC", sort_marks(text)).casefold())
    return " ".join("".join(characters).split()) or normalized.replace(" ", "")


def _word_character(character: str) -> str:
    """What a character is in a text of words: a mark belongs to the letter before it."""
    if category(character)[0] not in "LNM":
        return " "
    return f" {character} " if is_unspaced(character) else character


_WORD_CHARACTERS = CharacterMemo(_word_character)
_FIRST_CODE = 0x100  # of a word: no blank among them


def word_codes(texts: Iterable[str]) -> list[str]:
    """Texts of words as texts in which each word is a character, so that the rules for characters hold for words."""
    codes: dict[str, str] = {}
    room = sys.maxunicode - _FIRST_CODE  # more different words are in no two arguments that anyone compares
    return [
        "".join([codes.setdefault(word, chr(_FIRST_CODE + len(codes) % room)) for word in text.split(" ")])
        for text in texts
    ]


def characters_of(text: str) -> set[str]:
    """The characters of a normalized text, without the blanks that may be left in it."""
    return set(text) - {" "}


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
    if length <= 0:
        return True
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    return any(short[at : at + length] in long for at in range(len(short) - length + 1))


Row = Callable[[int], int]  # number of a left one → bit j is set if it fits right j

RARE = 64  # a feature that fewer than one in 64 items have is kept as a list of them, not as bits


def largest_matching(lefts: int, rights: int, row: Row, equal: dict[int, int]) -> dict[int, int]:
    """Right → left of a largest matching in which all that was matched at first (`equal`) stays matched.

    Each unmatched left, in order, looks for an augmenting path, breadth first and lowest right first. What a search in
    vain has reached is left out from then on: no path leads out of it. So vain searches cost one pass together. The
    lefts are the smaller side, which the limits of an answer keep small enough for searches one after the other.
    """
    matching = _Matching(rights, row, dict(equal))
    for start in range(lefts):
        if start not in matching.right_of:
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
        """How many of these each item has, as `count_bits` gives it."""
        return count_bits(map(self.having, features))


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

    def search(self, start: int) -> None:
        """Match one more left, if there is a path from it to a free right."""
        reached_from: dict[int, int] = {}
        unreached = self.alive
        queue = deque([start])
        while queue:
            here = queue.popleft()
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


MAX_CHOICE = 64  # values of a role on either side, up to which the best of all largest matchings is taken


def best_matching(left: Values, right: Values, row: Row, *, swapped: bool = False) -> dict[int, int]:
    """Right → left of a largest matching: of all of them one with most equal pairs, then with most characters that
    pairs share, as multisets, then the first one in the order of the lefts; of the rights if they are `swapped`.

    Beyond MAX_CHOICE values to choose from on a side, it is the first one that augmenting paths lead to.
    """
    lefts, rights = left.texts, right.texts
    place = {text: number for number, text in enumerate(rights)}
    kept = equal = {place[text]: number for number, text in enumerate(lefts) if text in place}
    first = largest_matching(len(lefts), len(rights), row, equal)
    if len(first) == len(equal):
        return first
    if not equal.items() <= first.items():  # one more pair may cost an equal one
        others = ~bitset(equal, len(rights))
        direct = largest_matching(len(lefts), len(rights), lambda number: row(number) & others, equal)
        if len(direct) == len(first):
            first = direct
        else:
            kept = _pairs_to_keep(row, equal, len(lefts))
    kept_lefts = {*kept.values()}
    ours = [number for number in range(len(lefts)) if number not in kept_lefts]
    theirs = [number for number in range(len(rights)) if number not in kept]
    if max(len(ours), len(theirs)) > MAX_CHOICE:
        return first
    fits = [[row(number) >> at & 1 for at in theirs] for number in ours]
    if sum(map(sum, fits)) == len(first) - len(kept):  # there is nothing to choose
        return first
    weights = _pair_weights([lefts[number] for number in ours], [rights[at] for at in theirs], fits, swapped)
    return kept | {theirs[at]: ours[number] for number, at in sorted(heaviest_pairs(weights).items())}


def _pairs_to_keep(row: Row, equal: dict[int, int], lefts: int) -> dict[int, int]:
    """The equal pairs that no augmenting path can take apart."""
    kept = dict(equal)
    queue = [*{*range(lefts)}.difference(equal.values())]
    while queue:
        queue += [kept.pop(at) for at in set_bits(row(queue.pop())) if at in kept]
    return kept


def _pair_weights(
    lefts: Sequence[str], rights: Sequence[str], fits: Sequence[Sequence[int]], swapped: bool
) -> list[list[int]]:
    """Weights of which the sum is largest for the best matching alone: a pair counts more than all equalities, an
    equality more than all shared characters, and a shared character more than the whole order."""
    size, most = 1 + max(len(lefts), len(rights)), 1 + sum(map(len, lefts))
    ours, theirs = _multisets([*lefts, *rights], len(lefts))
    table = []
    for number, a in enumerate(ours):
        weights = [0] * len(rights)
        for at, b in enumerate(theirs):
            if fits[number][at]:
                major, minor = (at, number) if swapped else (number, at)
                value = (size + (lefts[number] == rights[at])) * most + (a & b).bit_count()
                weights[at] = value * size**size + (size - 1 - minor) * size ** (size - 1 - major)
        table.append(weights)
    return table


def _multisets(texts: Sequence[str], lefts: int) -> tuple[list[int], list[int]]:
    """The characters of the first and of the other texts as bits: one for each, and for each time that it comes."""
    places: dict[tuple[str, int], int] = {}
    numbers: list[list[int]] = []
    for text in texts:
        characters = [(character, n) for character, count in Counter(text).items() for n in range(count)]
        numbers.append([places.setdefault(each, len(places)) for each in characters])
    bits = [bitset(each, len(places)) for each in numbers]
    return bits[:lefts], bits[lefts:]


class Values(NamedTuple):
    """Normalized arguments, sorted; their offsets if the rule looks at them, and their words, likewise."""

    texts: Sequence[str]
    spans: Sequence[Spans] = ()
    words: Sequence[str] = ()


FEW_LEFT, FEW_PAIRS = 3, 2_000  # up to here an index costs more than it saves
MAX_CACHED_ROWS = 1 << 29  # bits: 64 MB of rows are kept, the others are made again


def candidate_rows(left: Values, right: Values, rule: RelaxedRule) -> Row:
    """Which rights fit a left one."""
    lefts, rights = left.texts, right.texts
    if left.words:
        return cached_rows(_word_rows(left, right, rule), len(rights))
    if rule.uses_spans or len(lefts) <= FEW_LEFT or len(lefts) * len(rights) <= FEW_PAIRS:
        return cached_rows(lambda number: slow_row(number, left, right, rule), len(rights))
    return cached_rows(indexed_rows(lefts, rights, rule), len(rights))


def _word_rows(left: Values, right: Values, rule: RelaxedRule) -> Row:
    """Which rights fit a left one under a rule for the words of each; equal ones always do."""
    places = {b: number for number, b in enumerate(right.texts)}
    codes = word_codes([*left.words, *right.words])
    right_codes = codes[len(left.texts) :]
    index = None if rule.uses_spans else _CharacterIndex(codes[: len(left.texts)], right_codes, rule.threshold)

    def row(number: int) -> int:
        a = left.texts[number]
        if index is not None:
            fitting = index.row(codes[number])
        else:
            pairs = enumerate(zip(right.spans, right_codes, strict=True))
            code, spans = codes[number], left.spans[number]
            numbers = [at for at, (others, other) in pairs if rule.codes_fit(code, spans, other, others)]
            fitting = bitset(numbers, len(right.texts))
        return fitting | (1 << places[a] if a in places else 0)

    return row


def slow_row(number: int, left: Values, right: Values, rule: RelaxedRule) -> int:
    """The row as the rule has it, pair by pair. All rules are the same in both directions."""
    a, fits = left.texts[number], rule.fits
    if not rule.uses_spans:
        fitting = [at for at, b in enumerate(right.texts) if fits(a, (), b, ())]
    else:
        spans, pairs = left.spans[number], zip(right.texts, right.spans, strict=True)
        fitting = [at for at, (b, others) in enumerate(pairs) if fits(a, spans, b, others)]
    return bitset(fitting, len(right.texts))


def indexed_rows(lefts: Sequence[str], rights: Sequence[str], rule: RelaxedRule) -> Row:
    """The rows of `slow_row` under `include_or_char_overlap`, from an index."""
    index = _CharacterIndex(lefts, rights, rule.threshold)
    return lambda number: index.row(lefts[number])


def cached_rows(row: Row, rights: int) -> Row:
    """Rows that are made once, as long as there is room for them."""
    return lru_cache(MAX_CACHED_ROWS // (rights + 1))(row)


class _CharacterIndex:
    """`include_or_char_overlap` for all rights together."""

    def __init__(self, lefts: Sequence[str], rights: Sequence[str], threshold: Fraction) -> None:
        self.rights = rights
        self.threshold = threshold
        of_lefts = set().union(*lefts) - {" "}
        self.characters = BitIndex([of_lefts.intersection(b) for b in rights])
        sizes: defaultdict[int, list[int]] = defaultdict(list)  # number of different characters → rights
        for number, b in enumerate(rights):
            sizes[len(characters_of(b))].append(number)
        self.sizes = {size: bitset(numbers, len(rights)) for size, numbers in sizes.items()}

    def row(self, a: str) -> int:
        characters = characters_of(a)
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
