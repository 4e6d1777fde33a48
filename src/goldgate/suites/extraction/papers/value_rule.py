"""When two arguments may be matched if numbers and dates are read: 5% is not 6%, and 1,200万元 is 12 million."""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple
from unicodedata import normalize as unicode_normalize

from goldgate.suites.extraction.events.candidates import FEW_PAIRS, indexed_rows
from goldgate.suites.extraction.events.event import Span
from goldgate.suites.extraction.events.largest_matching import BitIndex, Row, bits_at
from goldgate.suites.extraction.events.normalize import normalize
from goldgate.suites.extraction.events.relaxed_rule import RelaxedRule
from goldgate.suites.extraction.papers.dates import PATTERNS, Date, date_of
from goldgate.suites.extraction.papers.periods import PERIOD, period_of
from goldgate.suites.extraction.papers.quantities import PATTERN, Quantity, as_range, is_range_mark, quantity_of
from goldgate.suites.extraction.papers.units import PROPER

Value = Date | Quantity
_MINUS = str.maketrans({"−": "-", "–": "-", "‒": "-"})
_ENDS = ".,;:!?()[]<>\"'-~/"  # marks that say nothing at the ends of what is left of a text


class ReadText(NamedTuple):
    """An argument, normalized; the numbers and dates in it, in its order; and what is left of it."""

    text: str
    values: tuple[Value, ...]
    rest: str

    @property
    def words(self) -> str:
        """What is compared as text: what is left beside the values, or all of it where there are none."""
        return self.rest if self.values else self.text


def fits(one: ReadText, two: ReadText, rule: RelaxedRule) -> bool:
    """Whether two arguments may be matched.

    They must state the same numbers and dates in the same order, or both none; and what is left of both, if anything,
    must fit under the protocol's relaxed rule.
    """
    if one.text == two.text:
        return True
    if len(one.values) != len(two.values) or not all(map(agree, one.values, two.values)):
        return False
    return not one.words or not two.words or rule.fits(one.words, (), two.words, ())


def value_rows(lefts: Sequence[ReadText], rights: Sequence[ReadText], rule: RelaxedRule) -> Row:
    """Which rights fit a left one, as bits: what `fits` says, for many at once."""
    if len(lefts) * len(rights) <= FEW_PAIRS:
        return lambda number: bits_at([at for at, b in enumerate(rights) if fits(lefts[number], b, rule)], len(rights))
    index = _Values(rights)
    texts = BitIndex([(b.text,) for b in rights])
    wordless = bits_at([at for at, b in enumerate(rights) if not b.words], len(rights))
    ours, theirs = [a.words for a in lefts], [b.words for b in rights]
    no_spans: dict[str, tuple[Span, ...]] = dict.fromkeys([*ours, *theirs], ())
    by_words = indexed_rows(ours, theirs, no_spans, no_spans, rule)

    def row(number: int) -> int:
        left = lefts[number]
        bits = index.row(left.values)
        if bits and left.words:
            bits &= wordless | by_words(number)
        return bits | texts.having(left.text)

    return row


class _Values:
    """Which of many arguments state the same numbers and dates, as bits. The rule is `agree`, value by value."""

    def __init__(self, rights: Sequence[ReadText]) -> None:
        self.of_length = BitIndex([(len(b.values),) for b in rights])
        self.at = BitIndex([[key for at, value in enumerate(b.values) for key in _keys(at, value)] for b in rights])

    def row(self, values: Sequence[Value]) -> int:
        bits = self.of_length.having(len(values))
        for at, value in enumerate(values):
            if not bits:
                break
            bits &= self._dates(at, value) if isinstance(value, Date) else self._quantities(at, value)
        return bits

    def _dates(self, at: int, date: Date) -> int:
        having, same, fitting = self.at.having, 0, self.at.having((at, Date))
        for part, stated in zip(Date._fields, date, strict=True):
            if stated is not None:
                equal = having((at, part, stated))
                same |= equal
                fitting &= equal | having((at, part, None))
        years = having((at, Fraction(date.year), None)) if _is_year(date) and date.year is not None else 0
        return fitting & same | years

    def _quantities(self, at: int, quantity: Quantity) -> int:
        having, (number, unit) = self.at.having, quantity
        bits = having((at, number, unit))
        if unit is None:
            proper = 0
            for other in PROPER:
                proper |= having((at, number, other))
            return bits | having((at, number)) & ~proper | having((at, "only year", number))
        return bits if unit in PROPER else bits | having((at, number, None))


def _keys(at: int, value: Value) -> list[tuple[Hashable, ...]]:
    """What a value at some place is looked up by."""
    if isinstance(value, Quantity):
        return [(at, value.number), (at, *value)]
    stated = [(at, part, number) for part, number in zip(Date._fields, value, strict=True)]
    return [(at, Date), *stated, *([(at, "only year", value.year)] if _is_year(value) else [])]


def _is_year(date: Date) -> bool:
    return date.month is None and date.day is None


def agree(one: Value, two: Value) -> bool:
    """Whether two values are the same; a bare number can be a year."""
    if isinstance(one, Date) and isinstance(two, Date):
        return one.agrees(two)
    if isinstance(one, Quantity) and isinstance(two, Quantity):
        return one.agrees(two)
    date, quantity = (one, two) if isinstance(one, Date) else (two, one)
    assert isinstance(date, Date)
    assert isinstance(quantity, Quantity)
    return _is_year(date) and quantity.unit is None and quantity.number == date.year


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
