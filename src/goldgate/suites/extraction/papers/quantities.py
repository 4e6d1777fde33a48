"""Quantities in a text: a number with its scale and its unit. 1,200万元, 12 million and 人民币12,000,000元 are one."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from goldgate.suites.extraction.papers.chinese_number import NUMERALS, POINT, SCALES, chinese_number

MOST_DIGITS = 60  # a longer number is no quantity that anybody compares, and takes long to multiply

PERCENT, POINTS = "%", "percentage points"
_PROPER = frozenset({PERCENT, POINTS})  # a number without a unit is none of these

# Words for units, by the unit that they stand for. What is not here stays part of the text around the number.
_UNITS = {
    PERCENT: ("%", "percent", "per cent", "pct"),
    POINTS: ("个百分点", "百分点", "percentage points", "percentage point"),
    "cny": ("元人民币", "人民币元", "人民币", "元", "圆", "块钱", "yuan", "rmb", "cny", "¥"),
    "usd": ("美元", "美金", "us dollars", "us dollar", "dollars", "dollar", "usd", "us$", "$"),
    "hkd": ("港元", "港币", "hkd", "hk$"),
    "eur": ("欧元", "euros", "euro", "eur", "€"),
    "jpy": ("日元", "yen", "jpy"),
    "gbp": ("英镑", "pounds", "pound", "gbp", "£"),
    "shares": ("股", "shares", "share"),
    "people": ("人", "名", "位", "people", "persons", "person"),
}
_UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words}
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


def _words(listed: list[str]) -> str:
    """One of these words, the longest first; one in Latin letters ends where its letters do."""
    ordered = sorted(listed, key=lambda word: (-len(word), word))
    return "|".join(
        re.escape(word) + (r"(?![a-z])" if word[-1].isascii() and word[-1].isalpha() else "") for word in ordered
    )


_BEFORE = [word for unit in ("cny", "usd", "hkd", "eur", "jpy", "gbp") for word in _UNITS[unit] if word != "元"]
_ARABIC = r"\d{1,3}(?:,\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?"
_CHINESE = rf"[{NUMERALS}]+(?:{POINT}[{NUMERALS}]+)?"
_LATIN_SCALE = _words([word for word in _SCALES if word[0].isascii()])

PATTERN = re.compile(
    rf"(?:(?P<before>{_words(_BEFORE)})\s*)?(?P<share>百分之\s*)?"
    rf"(?:(?P<sign>(?:^|(?<=[\s(:]))[-+])?(?P<number>{_ARABIC})"
    rf"(?:\s*(?P<scale>[{_SCALE_MARKS}]{{1,3}})(?P<more>\d+(?:\.\d+)?[{_SCALE_MARKS}]{{1,3}})?|\s*(?P<latin>{_LATIN_SCALE})"
    r"|(?(before)(?P<short>[kmb])(?![a-z])|(?!)))?"
    rf"|(?P<chinese>{_CHINESE}))"
    rf"\s*(?P<unit>{_words([*_UNIT_OF])}|‰)?"
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
        return len(units) == 1 or (None in units and not units & _PROPER)


def quantity_of(match: re.Match[str]) -> Quantity | None:
    """The quantity that a match states; None where it is none after all."""
    unit, before = _UNIT_OF.get(match["unit"] or ""), _UNIT_OF.get(match["before"] or "")
    number = _chinese(match) if match["chinese"] else _arabic(match)
    if number is None:
        return None
    if match["unit"] == "‰":
        return Quantity(number / 10, PERCENT)
    return Quantity(number, PERCENT if match["share"] else unit or before)


def _arabic(match: re.Match[str]) -> Fraction | None:
    if len(match["number"]) > MOST_DIGITS or len(match["more"] or "") > MOST_DIGITS:
        return None
    number = Fraction(match["number"].replace(",", ""))
    if match["short"]:
        number *= _SHORT[match["short"]]
    elif match["latin"]:
        number *= _SCALES[match["latin"]]
    elif match["scale"]:
        number *= _product(match["scale"])
        if match["more"]:
            digits = match["more"].rstrip(_SCALE_MARKS)
            number += Fraction(digits) * _product(match["more"][len(digits) :])
    return -number if match["sign"] == "-" else number


def _chinese(match: re.Match[str]) -> Fraction | None:
    """Characters for numbers are part of many names: they are a number only with a unit, or as a share."""
    if (match["unit"] is None and not match["share"]) or len(match["chinese"]) > MOST_DIGITS:
        return None
    return chinese_number(match["chinese"])


def _product(marks: str) -> int:
    """千万 is 10,000,000."""
    product = 1
    for mark in marks:
        product *= SCALES[mark]
    return product
