"""Quantities in a text: a number with its scale and its unit. 1,200万元, 12 million and 人民币12,000,000元 are one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple

from goldgate.suites.extraction.papers.chinese_number import LARGE, NUMERALS, POINT, SCALES, chinese_number
from goldgate.suites.extraction.papers.units import CURRENCIES, PARTS, PERCENT, PROPER, SHARES, UNIT_OF, VAGUE

MOST_DIGITS = 60  # a longer number is no quantity that anybody compares, and takes long to multiply

_SCALES = {
    **SCALES,
    "trillion": 10**12,
    "billion": 10**9,
    "million": 10**6,
    "thousand": 10**3,
    "tn": 10**12,
    "bn": 10**9,
    "bln": 10**9,
    "mn": 10**6,
    "mln": 10**6,
}
_SHORT = {"k": 10**3, "m": 10**6, "b": 10**9}  # only after a currency: $5m, but not 5m, which is a length
_SCALE_MARKS = "".join(SCALES)
_RANGE = re.compile(r"\s*(?:[-~–—至到]|to\b)\s*")


def _words(listed: Iterable[str]) -> str:
    """One of these words, the longest first; one in Latin letters ends where its letters do."""
    ordered = sorted(listed, key=lambda word: (-len(word), word))
    return "|".join(
        re.escape(word) + (r"(?![a-z])" if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )


_BEFORE = [word for words in CURRENCIES.values() for word in words if word != "元"]
_ARABIC = r"\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?|(?<![\d.])\.\d+"
_CHINESE = rf"[{NUMERALS}]+(?:{POINT}[{NUMERALS}]+)?"
_LATIN_SCALE = _words(word for word in _SCALES if word[0].isascii())

PATTERN = re.compile(
    rf"(?:(?P<before>{_words(_BEFORE)})\s*)?(?P<sign>(?:[-+]|负|minus\s)\s*)?(?:(?P<share>{_words(SHARES)})\s*)?"
    rf"(?:(?P<number>{_ARABIC})"
    rf"(?:\s*(?P<scale>[{_SCALE_MARKS}]{{1,3}})(?P<more>\d+(?:\.\d+)?[{_SCALE_MARKS}]{{1,3}})?|\s*(?P<latin>{_LATIN_SCALE})"
    r"|(?(before)(?P<short>[kmb])(?![a-z])|(?!)))?"
    rf"|(?P<chinese>{_CHINESE}))"
    rf"\s*(?P<unit>{_words([*UNIT_OF, *PARTS])})?"
)


class Quantity(NamedTuple):
    """A number, and its unit if it has one that is known."""

    number: Fraction
    unit: str | None

    def agrees(self, other: Quantity) -> bool:
        """The same number of the same; a number alone may be of anything but percent."""
        if self.number != other.number:
            return False
        units = {self.unit, other.unit}
        return len(units) == 1 or (None in units and not units & PROPER)


def quantity_of(match: re.Match[str]) -> Quantity | None:
    """The quantity that a match states; None where it is none after all."""
    number = _chinese(match) if match["chinese"] else _arabic(match)
    if number is None:
        return None
    if (match["sign"] or "")[:1] in ("-", "负", "m"):
        number = -number
    if match["share"]:
        return Quantity(number * SHARES[match["share"]], PERCENT)
    if match["unit"] in PARTS:
        unit, part = PARTS[match["unit"]]
        return Quantity(number * part, unit)
    return Quantity(number, _unit(match["unit"], match["before"]))


def is_range_mark(text: str) -> bool:
    """Whether this is what stands between the two ends of a range."""
    return _RANGE.fullmatch(text) is not None


def as_range(first: Quantity, match: re.Match[str], second: Quantity) -> Quantity:
    """The first end of a range, with what only the second says: 5-6% begins at 5%, 10-20万元 at 100,000 yuan."""
    if first.unit is not None and first.unit not in CURRENCIES:
        return first
    bare = Fraction(match["number"].replace(",", "")) if match["number"] else None
    scaled = bare and first.number < bare and (match["scale"] or match["latin"]) and not match["more"]
    number = first.number * abs(second.number) / bare if bare and scaled else first.number
    return Quantity(number, first.unit or second.unit)


def _unit(after: str | None, before: str | None) -> str | None:
    """What the number is of, where it may be said twice: 港币500万元 are Hong Kong dollars."""
    said = [word for word in (after, before) if word]
    chosen = next((word for word in said if word not in VAGUE), said[0] if said else "")
    return UNIT_OF.get(chosen)


def _arabic(match: re.Match[str]) -> Fraction | None:
    if len(match["number"]) > MOST_DIGITS or len(match["more"] or "") > MOST_DIGITS:
        return None
    number = Fraction(match["number"].replace(",", ""))
    if match["short"]:
        return number * _SHORT[match["short"]]
    if match["latin"]:
        return number * _SCALES[match["latin"]]
    if match["scale"]:
        number *= _product(match["scale"])
        if match["more"]:
            digits = match["more"].rstrip(_SCALE_MARKS)
            number += Fraction(digits) * _product(match["more"][len(digits) :])
    return number


def _chinese(match: re.Match[str]) -> Fraction | None:
    """Characters for numbers are part of many names: they are a number with a unit, as a share, or up to 万 or 亿."""
    text = match["chinese"]
    if len(text) > MOST_DIGITS or (match["unit"] is None and not match["share"] and text[-1] not in LARGE):
        return None
    return chinese_number(text)


def _product(marks: str) -> int:
    """千万 is 10,000,000."""
    product = 1
    for mark in marks:
        product *= SCALES[mark]
    return product
