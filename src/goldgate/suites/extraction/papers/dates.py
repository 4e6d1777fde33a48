"""Dates in a text, as far as they are stated: 2023年3月12日, 二〇二三年三月, 2023-03-12, March 12, 2023, 3月12日.

A year of two digits is one only before a month: 23年3月. A date of which day and month could change places
(12/03/2023) is read as none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from goldgate.suites.extraction.papers.chinese_number import DIGITS, chinese_number


class Date(NamedTuple):
    """What was stated of a date; None is what was left open."""

    year: int | None
    month: int | None
    day: int | None

    def agrees(self, other: Date) -> bool:
        """Whether some part is stated by both, and no part differently: 3月12日 agrees with 2023-03-12."""
        stated = [(a, b) for a, b in zip(self, other, strict=True) if a is not None and b is not None]
        return bool(stated) and all(a == b for a, b in stated)


_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_SPELLED = "".join(DIGITS)
_YEAR = rf"(?P<year>\d{{4}}|\d\d(?=\s*年\s*\d{{1,2}}\s*月)|[{_SPELLED}]{{4}})\s*年"
_MONTH_DAY = (
    rf"(?P<month>\d{{1,2}}|[{_SPELLED}十]{{1,3}})\s*月份?(?:\s*(?P<day>\d{{1,2}}|[{_SPELLED}十]{{1,3}})\s*[日号])?"
)
_ALONE = r"(?![\d./-]|,\d|\s*[千万亿元股人%])"  # not the beginning of a larger number, or of an amount
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"

# Tried in this order at each place of a text in small letters.
PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"(?<!\d){_YEAR}(?:\s*{_MONTH_DAY})?",
        rf"(?<![\d{_SPELLED}十]){_MONTH_DAY}",
        rf"(?<![\d{_SPELLED}十])(?P<day>\d{{1,2}}|[{_SPELLED}十]{{1,3}})\s*日",
        r"(?<![\d./-])(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?![./-]?\d)",
        rf"(?<![\d.,])(?P<year>(?:19|20)\d\d)(?P<month>\d\d)(?P<day>\d\d){_ALONE}",
        rf"(?<![\d./-])(?P<year>(?:19|20)\d\d)[-/](?P<month>0[1-9]|1[0-2]){_ALONE}",
        rf"\b{_MONTH}\s*{_DAY}(?:\s*,?\s+(?P<year>\d{{4}}))?(?!\d)",
        rf"(?<!\d){_DAY}\s*(?:of\s+)?\b{_MONTH}(?:\s*,?\s*(?P<year>\d{{4}}))?(?!\d)",
        rf"\b{_MONTH}\s*,?\s*(?P<year>\d{{4}})(?!\d)",
    )
)


def date_of(match: re.Match[str]) -> Date | None:
    """The date that a match states; None where there is no such month or day."""
    found = match.groupdict()
    name = found.get("name")
    year, month, day = (_number(found.get(part)) for part in ("year", "month", "day"))
    if name:
        month = 1 + _MONTHS.index(name[:3])
    if year is not None and year < 100:
        year += 2000 if year < 70 else 1900
    if not (month is None or 1 <= month <= 12) or not (day is None or 1 <= day <= 31):
        return None
    return Date(year, month, day)


def _number(text: str | None) -> int | None:
    if text is None:
        return None
    if text.isdecimal():
        return int(text)
    value = chinese_number(text)
    return None if value is None else int(value)
