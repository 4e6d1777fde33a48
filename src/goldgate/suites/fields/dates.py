"""Dates as they are written: ISO, English month names with a four-digit year, and declared formats. Never guessed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import NamedTuple

from goldgate.core.value_text import normalize

_MONTHS = "january february march april may june july august september october november december".split()
_NUMBERS = {name[:length]: number for number, name in enumerate(_MONTHS, 1) for length in (3, len(name))} | {"sept": 9}
_NAME = "|".join(sorted(_NUMBERS, key=len, reverse=True))
_DAY = r"(?P<day>[0-9]{1,2})(?:st|nd|rd|th)?"
_ISO = re.compile(r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2}))?)?")
_TIME = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})t?(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})"
    r"(?::(?P<second>[0-9]{2})(?:[.,](?P<fraction>[0-9]{1,9}))?)?(?P<offset>z|[+-][0-9]{2}:?[0-9]{2})?"
)
_NAMED = (
    re.compile(rf"(?:{_DAY}\s*(?:of\s*)?)?(?P<name>{_NAME})\.?,?\s*(?P<year>[0-9]{{4}})", re.IGNORECASE),
    re.compile(rf"(?P<name>{_NAME})\.?\s*{_DAY},?\s*(?P<year>[0-9]{{4}})", re.IGNORECASE),
)
_TIME_PARTS = ("year", "month", "day", "hour", "minute", "second")
_LONGEST_DATE = 60  # characters of a text that may be a date
_DIRECTIVES = {
    "%d": "[0-9]{1,2}", "%m": "[0-9]{1,2}", "%Y": "[0-9]{4}", "%y": "[0-9]{2}", "%H": "[0-9]{1,2}",
    "%M": "[0-9]{1,2}", "%S": "[0-9]{1,2}", "%b": "[A-Za-z]{3}", "%B": "[A-Za-z]+", "%p": "[AaPp][Mm]",
}  # fmt: skip


class DateReading(NamedTuple):
    """A year, a month or a day, or a time on a day; times with an offset are in UTC."""

    written: tuple[int, ...]  # year, month, day, as far as they are written
    time: str | None = None

    @property
    def is_time(self) -> bool:
        return self.time is not None

    @property
    def day(self) -> tuple[int, ...] | None:
        """The written day, if there is one."""
        return self.written if len(self.written) == 3 else None

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DateReading):
            return NotImplemented
        return self.time == other.time if self.time is not None else tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(self.time) if self.time is not None else hash(self.written)


def read_date(text: str, formats: tuple[str, ...] = ()) -> DateReading | None:
    """The date that a text is after normalization; None where it is not one, or could be several."""
    written, text = text.strip(), normalize(text)
    if len(text) > _LONGEST_DATE:
        return None
    for pattern in formats:
        try:
            moment = datetime.strptime(written if " " in pattern else text, pattern)
        except ValueError:
            continue
        if moment.tzinfo is not None or any(part in pattern for part in ("%H", "%I", "%M", "%S")):
            return _time_reading(moment)
        return DateReading(
            (moment.year, moment.month, moment.day)[: 3 if "%d" in pattern else 2 if "%m" in pattern else 1]
        )
    if match := _ISO.fullmatch(text):
        return _reading(match["year"], match["month"], match["day"])
    if match := _TIME.fullmatch(text):
        return _read_time(match)
    for named in _NAMED:
        if match := named.fullmatch(text):
            month = _NUMBERS[match["name"].lower()]
            return _reading(match["year"], str(month), match["day"])
    return None


def date_places(text: str, formats: tuple[str, ...] = ()) -> Iterator[tuple[DateReading, tuple[int, int]]]:
    """Every date in a longer text, and where it begins and ends."""
    patterns = [_ISO, *_NAMED]
    for declared in formats:
        source = re.escape(declared)
        for directive, digits in _DIRECTIVES.items():
            source = source.replace(re.escape(directive), digits)
        if "%" not in source:
            patterns.append(re.compile(source))
    for pattern in patterns:
        for match in pattern.finditer(text):
            if reading := read_date(match[0], formats):
                yield reading, match.span()


def _reading(year: str, month: str | None, day: str | None) -> DateReading | None:
    written = tuple(int(part) for part in (year, month, day) if part is not None)
    try:
        date(*(*written, 1, 1)[:3])
    except ValueError:
        return None
    return DateReading(written)


def _read_time(match: re.Match[str]) -> DateReading | None:
    offset, zone = match["offset"], None
    try:
        if offset is not None:
            sign = -1 if offset[0] == "-" else 1
            minutes = 0 if offset == "z" else int(offset[1:3]) * 60 + int(offset[-2:])
            zone = timezone(sign * timedelta(minutes=minutes))
        year, month, day, hour, minute, second = (int(match[name] or 0) for name in _TIME_PARTS)
        micros = int((match["fraction"] or "0").ljust(6, "0")[:6])
        return _time_reading(datetime(year, month, day, hour, minute, second, micros, zone))
    except ValueError:
        return None


def _time_reading(moment: datetime) -> DateReading | None:
    written = (moment.year, moment.month, moment.day)
    try:
        universal = moment.astimezone(UTC) if moment.tzinfo is not None else moment
    except OverflowError:
        return None
    return DateReading(written, universal.isoformat())
