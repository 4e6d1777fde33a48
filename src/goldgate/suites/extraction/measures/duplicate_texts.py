"""Texts that occur in several units: copies of a document make every interval narrower than it is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

from goldgate.core.tally import Tally
from goldgate.core.value_text import ASCII_SIGNS, normalize
from goldgate.suites.extraction.sample import Facts

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import DistinctCounts

_UNIT_BITS = 32
_LEAST_ARGUMENTS = 3  # in gold without a text: documents with fewer may well have the same ones
# Characters that are not seen, although they count as printable: fillers of Hangul, as normalized, the empty pattern of
# Braille, and selectors of variants.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SEEN = re.compile(r"[!-~\u4e00-\u9fff]*")  # only these, as most texts have: one look instead of two


def text_fingerprint(facts: Facts) -> int | None:
    """A number for the text of a sample and the unit that has it; None where there is too little to compare.

    Texts are compared by their letters and digits, normalized. Where gold has no text, its arguments are compared.
    Copies in one group are in one unit, and do no harm. The report's `reading.texts` is a sketch of these numbers.
    """
    letters = _gold_letters(facts)
    if not letters:
        return None
    gold = facts.sample.gold
    text = crc32(letters) << 32 | len(letters) & 0xFFFFFFFF
    unit = crc32((gold.id if gold.group is None else gold.group).encode("utf-8", "replace"))
    return text << _UNIT_BITS | unit


def text_counts(tally: Tally) -> DistinctCounts:
    """Different texts among those looked at, and the units that have them."""
    pairs = tally.sketch.kept
    return {"distinct": len({pair >> _UNIT_BITS for pair in pairs}), "units": len(pairs)}


def _gold_letters(facts: Facts) -> bytes:
    """What is compared of a sample's gold; empty where there is too little of it."""
    gold = facts.sample.gold
    if gold.text:
        letters = _letters(normalize(gold.text) if facts.text is None else facts.text.normalized)
        if letters:
            return letters
    arguments = sorted("\0".join((name, *pair)) for name, pairs in gold.events.units.items() for pair in pairs)
    return "\1".join(arguments).encode("utf-8", "replace") if len(arguments) >= _LEAST_ARGUMENTS else b""


def _letters(text: str) -> bytes:
    """A normalized text without marks, which are ASCII by then, and without what is not seen."""
    if not text.isascii() and not _SEEN.fullmatch(text):
        text = "".join(filter(str.isprintable, _UNSEEN.sub("", text)))
    return text.encode("utf-8", "replace").translate(None, ASCII_SIGNS)  # of ASCII, also what is not printable
