"""Places in a row, and parts of a year: 第三届, 第三季度, Q3, third quarter, 上半年. The third is not the fourth."""

from __future__ import annotations

import re
from fractions import Fraction

from goldgate.suites.extraction.papers.chinese_number import NUMERALS, chinese_number
from goldgate.suites.extraction.papers.quantities import MOST_DIGITS, Quantity

_NAMED = {"first": 1, "second": 2, "third": 3, "fourth": 4, "上": 1, "下": 2}
_LATIN = "first|second|third|fourth"

PERIOD = re.compile(
    r"第?(?P<quarter>[一二三四1-4])季度?(?!节)|(?<![a-z])q(?P<q>[1-4])(?!\d)"
    rf"|\b(?P<named>{_LATIN})\s+quarter\b|(?P<half>[上下])半年|\b(?P<latin_half>first|second)\s+half\b|(?<![a-z])h(?P<h>[12])(?!\d)"
    rf"|第(?P<place>\d+|[{NUMERALS}]+)"
)


def period_of(match: re.Match[str]) -> Quantity | None:
    """The quarter, the half of a year or the place in a row that a match states."""
    found = match.groupdict()
    for unit, names in (
        ("quarter of a year", ("quarter", "q", "named")),
        ("half of a year", ("half", "latin_half", "h")),
        ("place in a row", ("place",)),
    ):
        text = next((found[name] for name in names if found[name]), None)
        if text is not None:
            number = _number(text)
            return None if number is None else Quantity(number, unit)
    return None


def _number(text: str) -> Fraction | None:
    if text in _NAMED:
        return Fraction(_NAMED[text])
    if len(text) > MOST_DIGITS:
        return None
    return Fraction(text) if text.isdecimal() else chinese_number(text)
