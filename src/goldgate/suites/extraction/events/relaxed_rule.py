"""When two arguments of one role may be matched under relaxed scoring: the protocol's rule, pair by pair.

`fits` is the rule. `goldgate.suites.extraction.events.candidates` answers the same for many pairs at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction

from goldgate.suites.extraction.events.event import Span
from goldgate.suites.extraction.settings import RelaxedSettings

Spans = Sequence[Span]
Fits = Callable[[str, Spans, str, Spans], bool]

LONG = 100_000  # characters that comparing every window may copy, before parts of half the length are looked for


@dataclass(frozen=True, slots=True)
class RelaxedRule:
    """A share of characters or of a span that two different arguments must have in common, exactly."""

    uses_spans: bool
    threshold: Fraction
    fits: Fits


def relaxed_rule(settings: RelaxedSettings) -> RelaxedRule:
    """The rule that a protocol sets."""
    if settings.match_mode == "include_or_char_overlap":
        threshold = Fraction(settings.char_overlap_threshold)
        return RelaxedRule(False, threshold, _include_or_char_overlap(threshold))
    threshold = Fraction(settings.span_iou_threshold)
    return RelaxedRule(True, threshold, _span_iou(threshold))


def _include_or_char_overlap(threshold: Fraction) -> Fits:
    low, high = threshold.numerator, threshold.denominator

    def fits(a: str, _spans_a: Spans, b: str, _spans_b: Spans) -> bool:
        if a in b or b in a:
            return True
        characters_a, characters_b = set(a), set(b)
        common = len(characters_a & characters_b)
        return common * high >= low * (len(characters_a) + len(characters_b) - common)

    return fits


def _span_iou(threshold: Fraction) -> Fits:
    low, high = threshold.numerator, threshold.denominator

    def fits(a: str, spans_a: Spans, b: str, spans_b: Spans) -> bool:
        if a == b:
            return True
        if spans_a and spans_b:
            return any(iou_reaches(x, y, low, high) for x in spans_a for y in spans_b)
        return shares_stretch(a, b, needed(len(a) + len(b), threshold))

    return fits


def needed(both: int, threshold: Fraction) -> int:
    """How much two things must share, of which `both` is the sum of their sizes.

    c / (both - c) >= low / high  is  c >= low both / (low + high), rounded up.
    """
    low, high = threshold.numerator, threshold.denominator
    return -(-low * both // (low + high))


def iou_reaches(a: Span, b: Span, low: int, high: int) -> bool:
    """Whether two spans have this share of their union in common."""
    common = max(0, min(a[1], b[1]) - max(a[0], b[0]))
    return common * high >= low * (a[1] - a[0] + b[1] - b[0] - common)


def shares_stretch(a: str, b: str, length: int) -> bool:
    """Whether two texts share a stretch of at least this length."""
    short = min(len(a), len(b))
    if short < length or length <= 0 or length * (short - length + 1) <= LONG:
        return shares_stretch_plainly(a, b, length)
    return shares_stretch_by_halves(a, b, length)


def shares_stretch_plainly(a: str, b: str, length: int) -> bool:
    """The same, by looking for every stretch of the shorter text in the longer one."""
    if length <= 0:
        return True
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    return any(short[at : at + length] in long for at in range(len(short) - length + 1))


def shares_stretch_by_halves(a: str, b: str, length: int) -> bool:
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
                last, tried = _repeated(a, at, b, place, half, period)
                following = b.find(part, last + 1)
            if any(_shared(a, at, b, each, half) >= length for each in tried):
                return True
            place = following
    return False


def _repeated(a: str, at: int, b: str, place: int, half: int, period: int) -> tuple[int, list[int]]:
    """The last place of a part that stands in `b` at every period from `place` on, and the places to be tried.

    Around each, both texts agree up to where the first of them stops repeating itself, and beyond only where both stop
    at once. So most is shared at one end, or where the two begin or cease to repeat themselves side by side.
    """
    before_a, before_b = (alike_before(text[:end], text[: end + period]) for text, end in ((a, at), (b, place)))
    after_a = alike(a[at + half :], a[at + half - period :])
    after_b = alike(b[place + half :], b[place + half - period :])
    count = after_b // period
    side_by_side = ((before_a - before_b) // period, (after_b - after_a) // period)
    numbers = {0, count, *side_by_side, *(number + 1 for number in side_by_side)}
    return place + count * period, [place + n * period for n in sorted(numbers) if 0 <= n <= count]


def _shared(a: str, at: int, b: str, place: int, size: int) -> int:
    """How long the stretch is that both texts share around a part that stands in both."""
    return alike_before(a[:at], b[:place]) + size + alike(a[at + size :], b[place + size :])


def alike_before(a: str, b: str) -> int:
    """How many characters two texts have in common at the end."""
    most = min(len(a), len(b))
    return alike(a[len(a) - most :][::-1], b[len(b) - most :][::-1])


def alike(a: str, b: str) -> int:
    """How many characters two texts have in common at the beginning."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
