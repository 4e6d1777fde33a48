"""When two arguments may be matched if numbers and dates are read: 5% is not 6%, and 1,200万元 is 12 million."""

from __future__ import annotations

import re
from typing import NamedTuple
from unicodedata import normalize as unicode_normalize

from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.events.relaxed_rule import RelaxedRule
from goldgate.suites.extraction.papers.dates import PATTERNS, Date, date_of
from goldgate.suites.extraction.papers.periods import PERIOD, period_of
from goldgate.suites.extraction.papers.quantities import PATTERN, Quantity, as_range, is_range_mark, quantity_of

Value = Date | Quantity
_MINUS = str.maketrans({"−": "-", "–": "-", "‒": "-"})
_ENDS = ".,;:!?()[]<>\"'-~/"  # marks that say nothing at the ends of what is left of a text


class ReadText(NamedTuple):
    """An argument, normalized; the numbers and dates in it, in its order; and what is left of it."""

    text: str
    values: tuple[Value, ...]
    rest: str


def fits(one: ReadText, two: ReadText, rule: RelaxedRule) -> bool:
    """Whether two arguments may be matched.

    Where both state numbers or dates, they must state the same ones in the same order, and what is left of both, if
    anything, must fit under the protocol's relaxed rule. Otherwise that rule decides alone, by text.
    """
    if one.text == two.text:
        return True
    if not one.values or not two.values:
        return rule.fits(one.text, (), two.text, ())
    if len(one.values) != len(two.values) or not all(map(agree, one.values, two.values)):
        return False
    return not one.rest or not two.rest or rule.fits(one.rest, (), two.rest, ())


def agree(one: Value, two: Value) -> bool:
    """Whether two values are the same; a bare number can be a year."""
    if isinstance(one, Date) and isinstance(two, Date):
        return one.agrees(two)
    if isinstance(one, Quantity) and isinstance(two, Quantity):
        return one.agrees(two)
    date, quantity = (one, two) if isinstance(one, Date) else (two, one)
    assert isinstance(date, Date)
    assert isinstance(quantity, Quantity)
    is_year = date.month is None and date.day is None
    return is_year and quantity.unit is None and quantity.number == date.year


def read_text(written: str) -> ReadText:
    """An argument as it was written, taken apart from left to right; a date is tried before a number."""
    text = unicode_normalize("NFKC", written).casefold().translate(_MINUS)
    values: list[Value] = []
    rest: list[str] = []
    at = end = 0  # `end`: of the last value
    while at < len(text):
        value, match, after = _value_at(text, at, follows_value=bool(values) and not text[end:at].strip())
        if value is None:
            rest.append(text[at:after])
        else:
            if values and isinstance(value, Quantity) and match is not None and is_range_mark(text[end:at]):
                values[-1] = _first_end(values[-1], match, value)
            values.append(value)
            end = after
        at = after
    return ReadText(normalize(written), tuple(values), normalize("".join(rest)).strip(_ENDS))


def _first_end(first: Value, match: re.Match[str], second: Quantity) -> Value:
    return as_range(first, match, second) if isinstance(first, Quantity) else first


def _value_at(text: str, at: int, *, follows_value: bool) -> tuple[Value | None, re.Match[str] | None, int]:
    """The value that begins here, or None; its match, if it is a quantity; and where to go on.

    What only looks like a number is passed as a whole.
    """
    for pattern in PATTERNS:
        found = pattern.match(text, at)
        if found is not None and (date := date_of(found)) is not None:
            return date, None, found.end()
    found = PERIOD.match(text, at)
    if found is not None and (period := period_of(found)) is not None:
        return period, None, found.end()
    found = PATTERN.match(text, at)
    if found is None or (found["sign"] and found.start("sign") == at and not _may_be_signed(text, at, follows_value)):
        return None, None, at + 1
    return quantity_of(found), found, found.end()


def _may_be_signed(text: str, at: int, follows_value: bool) -> bool:
    """Whether a mark here is a sign: it is none in 5%-6%, and none in covid-19."""
    return not follows_value and not (at and text[at - 1].isascii() and text[at - 1].isalnum())
