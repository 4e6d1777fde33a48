"""When two arguments may be matched if numbers and dates are read: 5% is not 6%, and 1,200万元 is 12 million."""

from __future__ import annotations

from typing import NamedTuple
from unicodedata import normalize as unicode_normalize

from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.events.relaxed_rule import RelaxedRule
from goldgate.suites.extraction.papers.dates import PATTERNS, Date, date_of
from goldgate.suites.extraction.papers.quantities import PATTERN, Quantity, quantity_of

Value = Date | Quantity
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
    text = unicode_normalize("NFKC", written).casefold()
    values: list[Value] = []
    rest: list[str] = []
    at = 0
    while at < len(text):
        value, end = _value_at(text, at)
        if value is None:
            rest.append(text[at:end])
        else:
            values.append(value)
        at = end
    return ReadText(normalize(written), tuple(values), normalize("".join(rest)).strip(_ENDS))


def _value_at(text: str, at: int) -> tuple[Value | None, int]:
    """The value that begins here, or None, and where to go on: what only looks like a number is passed as a whole."""
    for pattern in PATTERNS:
        match = pattern.match(text, at)
        if match is not None and (date := date_of(match)) is not None:
            return date, match.end()
    match = PATTERN.match(text, at)
    return (None, at + 1) if match is None else (quantity_of(match), match.end())
