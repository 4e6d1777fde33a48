"""Relaxed matching: when two arguments of one role may be matched, and the largest one-to-one matching of many.

Which arguments fit each other is held as bits of an integer, one row for each argument.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple
from unicodedata import category
from unicodedata import normalize as unicode_normalize

from goldgate.core.assignment import heaviest_pairs
from goldgate.core.bitset import bitset, set_bits
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
        """Whether two arguments that differ may be matched, by their normalized texts or the codes of their words.

        Their offsets count only under `span_iou`.
        """
        if not self.uses_spans:
            return a in b or b in a or self._shares_characters(characters_of(a), characters_of(b))
        if spans_a and spans_b:
            return any(iou_reaches(x, y, self._low, self._high) for x in spans_a for y in spans_b)
        return shares_substring(a, b, required_overlap(len(a) + len(b), self.threshold))

    def rows(self, left: Values, right: Values) -> list[int]:
        """For each left argument those of the right that it may be matched with, equal ones among them."""
        ours, theirs = left.texts, right.texts
        if self.uses_words:
            codes = word_codes([*left.words, *right.words])
            ours, theirs = codes[: len(ours)], codes[len(ours) :]
        characters = [] if self.uses_spans else [*map(characters_of, theirs)]
        rows = []
        for number, a in enumerate(ours):
            if self.uses_spans:
                spans, others = left.spans[number], enumerate(zip(theirs, right.spans, strict=True))
                fitting = [at for at, (b, spans_b) in others if self.fits(a, spans, b, spans_b)]
            else:
                own, shares = characters_of(a), self._shares_characters
                fitting = [at for at, b in enumerate(theirs) if a in b or b in a or shares(own, characters[at])]
            rows.append(bitset(fitting, len(theirs)))
        for number, at in equal_pairs(left.texts, right.texts).items():
            rows[at] |= 1 << number
        return rows

    def _shares_characters(self, a: set[str], b: set[str]) -> bool:
        common = len(a & b)
        return common * self._high >= self._low * (len(a) + len(b) - common)


class Values(NamedTuple):
    """Normalized arguments, sorted; their offsets if the rule looks at them, and their words, likewise."""

    texts: Sequence[str]
    spans: Sequence[Spans] = ()
    words: Sequence[str] = ()


def equal_pairs(lefts: Sequence[str], rights: Sequence[str]) -> dict[int, int]:
    """Right → left of the texts that both have, in the order of the lefts."""
    place = {text: number for number, text in enumerate(rights)}
    return {place[text]: number for number, text in enumerate(lefts) if text in place}


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


def largest_matching(rows: Sequence[int], equal: Mapping[int, int]) -> dict[int, int]:
    """Right → left of a largest matching in which all that was matched at first (`equal`) stays matched.

    Each unmatched left, in order, looks for an augmenting path, breadth first and lowest right first. What a search in
    vain has reached is left out from then on: no path leads out of it. So vain searches cost one pass together.
    """
    left_of = dict(equal)
    right_of = {left: right for right, left in equal.items()}
    matched = sum(1 << right for right in equal)
    dead_ends = 0
    for start in range(len(rows)):
        if start in right_of:
            continue
        reached, reached_from, queue = dead_ends, dict[int, int](), deque([start])
        end: int | None = None
        while queue and end is None:
            here = queue.popleft()
            new = rows[here] & ~reached
            reached |= new
            free = new & ~matched
            if free:
                end = (free & -free).bit_length() - 1
                reached_from[end] = here
                matched |= 1 << end
            else:
                for there in set_bits(new):
                    reached_from[there] = here
                    queue.append(left_of[there])
        if end is None:
            dead_ends = reached
        while end is not None:  # every pair on the path moves on by one
            left = reached_from[end]
            right_of[left], left_of[end], end = end, left, right_of.get(left)
    return left_of


MAX_CHOICE = 64  # values of a role on either side, up to which the best of all largest matchings is taken


def best_matching(left: Values, right: Values, rule: RelaxedRule, *, swapped: bool = False) -> dict[int, int]:
    """Right → left of a largest matching: of all of them one with most equal pairs, then with most characters that
    pairs share, as multisets, then the first one in the order of the lefts; of the rights if they are `swapped`.

    Beyond MAX_CHOICE values to choose from on a side, it is the first one that augmenting paths lead to.
    """
    lefts, rights, rows = left.texts, right.texts, rule.rows(left, right)
    kept = equal = equal_pairs(lefts, rights)
    first = largest_matching(rows, equal)
    if len(first) == len(equal):
        return first
    if not equal.items() <= first.items():  # one more pair may cost an equal one
        others = ~bitset(equal, len(rights))
        direct = largest_matching([row & others for row in rows], equal)
        if len(direct) == len(first):
            first = direct
        else:
            kept = _pairs_to_keep(rows, equal)
    kept_lefts = {*kept.values()}
    ours = [number for number in range(len(lefts)) if number not in kept_lefts]
    theirs = [number for number in range(len(rights)) if number not in kept]
    if max(len(ours), len(theirs)) > MAX_CHOICE:
        return first
    fits = [[rows[number] >> at & 1 for at in theirs] for number in ours]
    if sum(map(sum, fits)) == len(first) - len(kept):  # there is nothing to choose
        return first
    weights = _pair_weights([lefts[number] for number in ours], [rights[at] for at in theirs], fits, swapped)
    return kept | {theirs[at]: ours[number] for number, at in sorted(heaviest_pairs(weights).items())}


def _pairs_to_keep(rows: Sequence[int], equal: dict[int, int]) -> dict[int, int]:
    """The equal pairs that no augmenting path can take apart."""
    kept = dict(equal)
    queue = [*{*range(len(rows))}.difference(equal.values())]
    while queue:
        queue += [kept.pop(at) for at in set_bits(rows[queue.pop()]) if at in kept]
    return kept


def _pair_weights(
    lefts: Sequence[str], rights: Sequence[str], fits: Sequence[Sequence[int]], swapped: bool
) -> list[list[int]]:
    """Weights of which the sum is largest for the best matching alone: a pair counts more than all equalities, an
    equality more than all shared characters, and a shared character more than the whole order."""
    size, most = 1 + max(len(lefts), len(rights)), 1 + sum(map(len, lefts))
    ours, theirs = [*map(Counter, lefts)], [*map(Counter, rights)]
    table = []
    for number, a in enumerate(ours):
        weights = [0] * len(rights)
        for at, b in enumerate(theirs):
            if fits[number][at]:
                major, minor = (at, number) if swapped else (number, at)
                shared = a & b if len(a) < len(b) else b & a
                value = (size + (lefts[number] == rights[at])) * most + shared.total()
                weights[at] = value * size**size + (size - 1 - minor) * size ** (size - 1 - major)
        table.append(weights)
    return table
