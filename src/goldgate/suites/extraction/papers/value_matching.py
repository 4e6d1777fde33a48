"""Relaxed scores in which numbers and dates are compared by value: 5% is not 6%, and 1,200万元 is 12 million."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple
from unicodedata import normalize as unicode_normalize

from goldgate.core.bitset import bitset
from goldgate.core.measure import precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.core.value_text import ZERO_WIDTH, Normalize, normalize, normalizer, sort_marks
from goldgate.suites.extraction.events import Events
from goldgate.suites.extraction.events.relaxed_matching import RelaxedRule, equal_pairs, largest_matching
from goldgate.suites.extraction.papers.numbers_and_dates import (
    DATES,
    PERIOD,
    QUANTITY,
    Date,
    Quantity,
    date_of,
    is_range_mark,
    period_of,
    quantity_of,
    range_start,
)
from goldgate.suites.extraction.papers.records import EventTypeRates, add_beyond_limits
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

StatedValue = Date | Quantity
MAX_READ = 1_000  # characters of an argument in which numbers and dates are looked for
_READABLE = str.maketrans({"−": "-", "–": "-", "‒": "-", **dict.fromkeys(ZERO_WIDTH)})
_ENDS = ".,;:!?()[]<>\"'-~/"  # marks that say nothing at the ends of what is left of a text


class ReadArgument(NamedTuple):
    """A normalized argument, the numbers and dates in it, in order, and the text without these."""

    text: str
    values: tuple[StatedValue, ...]
    rest: str

    @property
    def words(self) -> str:
        """What is compared as text: what is left beside the values, or all of it where there are none."""
        return self.rest if self.values else self.text


def arguments_fit(one: ReadArgument, two: ReadArgument, rule: RelaxedRule) -> bool:
    """Whether two arguments may be matched.

    They must state the same numbers and dates in the same order, or both none; and what is left of both, if anything,
    must fit under the protocol's relaxed rule.
    """
    if one.text == two.text:
        return True
    if len(one.values) != len(two.values) or not all(map(same_value, one.values, two.values)):
        return False
    return not one.words or not two.words or rule.fits(one.words, (), two.words, ())


def _is_year(date: Date) -> bool:
    return date.month is None and date.day is None


def same_value(one: StatedValue, two: StatedValue) -> bool:
    """Whether two values are the same; a bare number can be a year."""
    if isinstance(one, Date) and isinstance(two, Date):
        return one.agrees(two)
    if isinstance(one, Quantity) and isinstance(two, Quantity):
        return one.agrees(two)
    date, quantity = (one, two) if isinstance(one, Date) else (two, one)
    assert isinstance(date, Date)
    assert isinstance(quantity, Quantity)
    return _is_year(date) and quantity.unit is None and quantity.number == date.year


def read_argument(written: str, normalize: Normalize = normalize) -> ReadArgument:
    """An argument as it was written, taken apart from left to right; a date is tried before a number."""
    # Without what only takes time to look at: blanks beyond one, and characters without width.
    folded = unicode_normalize("NFKC", sort_marks(written)).casefold().translate(_READABLE)
    text = " ".join(folded.split())
    values: list[StatedValue] = []
    rest: list[str] = []
    at = end = 0  # `end`: of the last value
    while at < min(len(text), MAX_READ):
        value, match, after = _value_at(text, at, follows_value=bool(values) and not text[end:at].strip())
        if value is None:
            rest.append(text[at:after])
        else:
            first = values[-1] if values else None
            if isinstance(first, Quantity) and isinstance(value, Quantity) and match and is_range_mark(text[end:at]):
                values[-1] = range_start(first, match, value)
            values.append(value)
            end = after
        at = after
    return ReadArgument(normalize(written), tuple(values), normalize("".join([*rest, text[at:]])).strip(_ENDS))


def _value_at(text: str, at: int, *, follows_value: bool) -> tuple[StatedValue | None, re.Match[str] | None, int]:
    """The value that begins here, or None; its match, if it is a quantity; and where to go on.

    What only looks like a number is passed as a whole.
    """
    for pattern in DATES:
        if (match := pattern.match(text, at)) and (date := date_of(match)) is not None:
            return date, None, match.end()
    if (match := PERIOD.match(text, at)) and (period := period_of(match)) is not None:
        return period, None, match.end()
    match = QUANTITY.match(text, at)
    if match is None or (match["sign"] and match.start("sign") == at and not _may_be_signed(text, at, follows_value)):
        return None, None, at + 1
    return quantity_of(match), match, match.end()


def _may_be_signed(text: str, at: int, follows_value: bool) -> bool:
    """Whether a mark here is a sign: it is none in 5%-6%, and none in covid-19."""
    return not follows_value and not (at and text[at - 1].isascii() and text[at - 1].isalnum())


ByRole = dict[str, dict[str, str]]  # role → normalized argument → as it was written


class ValueRates(EventTypeRates):
    """TP = size of the largest one-to-one matching within each (event type, role), under the rule of `arguments_fit`.

    The units are those of strict and relaxed matching; equal ones are always matched, so strict hits ≤ these.
    """

    table = "values"
    columns = ("hits", "predicted", "gold")
    ratios = precision_recall_f1("values_", "hits")

    def __init__(self, settings: ExtractionSettings) -> None:
        self.rule = RelaxedRule(settings.relaxed)
        self._normalize = normalizer(settings.blanks)

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        ours, theirs = _written_arguments(facts.predicted), _written_arguments(facts.sample.gold.events)
        counts = {}
        for event_type in ours.keys() | theirs.keys():
            predicted, gold = ours.get(event_type, {}), theirs.get(event_type, {})
            if predicted or gold:
                hits = sum(self._hits(predicted[role], gold[role]) for role in predicted.keys() & gold.keys())
                counts[event_type] = (hits, sum(map(len, predicted.values())), sum(map(len, gold.values())))
        return add_beyond_limits(counts, facts, self.columns.index("predicted"), len(self.columns))

    def _hits(self, predicted: dict[str, str], gold: dict[str, str]) -> int:
        """How many arguments of a role the largest matching has. The order of the input makes no difference."""
        lefts, rights = sorted(predicted), sorted(gold)
        equal = equal_pairs(lefts, rights)
        if len(equal) == min(len(lefts), len(rights)):
            return len(equal)
        ours = [read_argument(predicted[a], self._normalize) for a in lefts]
        theirs = [read_argument(gold[b], self._normalize) for b in rights]
        rows = [
            bitset([at for at, b in enumerate(theirs) if arguments_fit(a, b, self.rule)], len(theirs)) for a in ours
        ]
        return len(largest_matching(rows, equal))


def _written_arguments(events: Events) -> dict[str, ByRole]:
    """Event type → role → its distinct arguments, each with the words that it was written in."""
    arguments: dict[str, ByRole] = {}
    for event_type, roles, texts, normalized, _ in events.columns:
        by_role = arguments.setdefault(event_type, {})
        for role, text, argument in zip(roles, texts, normalized, strict=True):
            spellings = by_role.setdefault(role, {})
            spellings[argument] = min(spellings.get(argument, text), text)  # of several, always the same one
    return arguments
