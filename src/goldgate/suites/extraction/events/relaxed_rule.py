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

LONG = 100_000  # characters that comparing every window may copy, before hashes take over
_BASE, _PRIME = 1_000_003, (1 << 61) - 1


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
    return shares_stretch_by_hash(a, b, length)


def shares_stretch_plainly(a: str, b: str, length: int) -> bool:
    """The same, by looking for every stretch of the shorter text in the longer one."""
    if length <= 0:
        return True
    short, long = (a, b) if len(a) <= len(b) else (b, a)
    return any(short[at : at + length] in long for at in range(len(short) - length + 1))


def shares_stretch_by_hash(a: str, b: str, length: int) -> bool:
    """The same in linear time, for long texts; stretches with the same hash are compared."""
    places: dict[int, list[int]] = {}
    for at, found in enumerate(_window_hashes(a, length)):
        places.setdefault(found, []).append(at)
    for at, found in enumerate(_window_hashes(b, length)):
        here = places.get(found)
        if here and any(a[place : place + length] == b[at : at + length] for place in here):
            return True
    return False


def _window_hashes(text: str, length: int) -> list[int]:
    """The hash of each stretch of this length, from that of the one before it."""
    leaving = pow(_BASE, length - 1, _PRIME)
    found, hashes = 0, []
    for at, character in enumerate(text):
        if at >= length:
            found -= ord(text[at - length]) * leaving
        found = (found * _BASE + ord(character)) % _PRIME
        if at >= length - 1:
            hashes.append(found)
    return hashes
