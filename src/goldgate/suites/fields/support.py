"""Whether a source text has the values of an answer: texts as they stand, numbers and dates by what they mean."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property

from goldgate.core.value_text import Haystack, contained_values, normalize
from goldgate.suites.fields.comparators import DateComparator, NumberComparator, magnitude, number_of, read_number
from goldgate.suites.fields.dates import DateReading, date_places
from goldgate.suites.fields.leaves import Leaf

_NUMBER = re.compile(r"\(?[-−]?(?:[0-9](?:[0-9.,'’]*[0-9])?|[.,][0-9]+)\)?")


def number_places(text: str) -> Iterator[tuple[Decimal | int, tuple[int, int]]]:
    """Every number in a text, in all readings that it has and without its sign, and where it begins and ends."""
    for match in _NUMBER.finditer(text):
        for mark in (None, ".", ","):
            number = read_number(match[0], mark)
            if number is not None:
                yield (number if number >= 0 else -number), match.span()


class SourceText:
    """A text that leaves are looked for in; what it has is found when it is first needed."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._haystack = Haystack(text)
        self._found_dates: dict[tuple[str, ...], set[tuple[int, ...]]] = {}

    @cached_property
    def _numbers(self) -> set[object]:
        """Every number in the text, in all readings that it has, without its sign."""
        return {number for number, _ in number_places(self._text)}

    def unsupported(self, leaves: list[Leaf]) -> tuple[frozenset[int], int]:
        """The ids of leaves that the text does not have, and how many were looked for.

        Booleans and the values of enums are not looked for.
        """
        checked = [leaf for leaf in leaves if not isinstance(leaf.value, bool) and not leaf.shape.is_choice]
        texts = {leaf.value: normalize(leaf.value) for leaf in checked if type(leaf.value) is str}
        present = contained_values({*texts.values()}, self._haystack.normalized)
        missing = [
            leaf
            for leaf in checked
            if not (type(leaf.value) is str and texts[leaf.value] in present) and not self._has(leaf)
        ]
        return frozenset(map(id, missing)), len(checked)

    def _dates(self, formats: tuple[str, ...]) -> set[tuple[int, ...]]:
        if formats not in self._found_dates:
            self._found_dates[formats] = {reading.written for reading, _ in date_places(self._text, formats)}
        return self._found_dates[formats]

    def _has(self, leaf: Leaf) -> bool:
        """Whether the text has the number or the date that a leaf is."""
        number = number_of(leaf.value)
        if number is not None:
            return magnitude(number) in self._numbers
        comparator = leaf.shape.comparator
        if isinstance(leaf.key, DateReading) and isinstance(comparator, DateComparator):
            written = leaf.key.written
            return any(found[: len(written)] == written for found in self._dates(comparator.formats))
        if isinstance(comparator, NumberComparator) and isinstance(leaf.value, str):
            number = read_number(leaf.value, comparator.decimal)
        return number is not None and magnitude(number) in self._numbers
