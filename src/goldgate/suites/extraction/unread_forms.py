"""Forms of answers that no setting reads: Python calls, lines, inline tags, tables, triples and odd objects.

A form is recognized only where it holds names and values of gold: prose and code also have brackets and colons.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain, islice

from goldgate.core.value_text import normalize
from goldgate.response.strings import lazy_pattern
from goldgate.suites.extraction.events import Events

UNREAD_FORMS = {  # in the words of a report
    "calls": 'Python calls, such as Type(role="value")',
    "lines": "lines, such as role: value",
    "tags": "inline tags, such as <role>value</role>",
    "tables": "a table",
    "triples": 'triples or pairs, such as ["a", "relation", "b"]',
    "by_type": 'event types as keys, such as {"Type": {"role": "value"}}',
    "by_role": 'roles as keys inside the arguments, such as [{"role": "value"}]',
    "other_roles": "values under keys such as head, tail or text, which are not roles of gold",
    "nested": "a list of events inside another object",
}
_MOST_TEXT = 20_000  # characters of an answer in which a form is looked for
_MOST_MATCHES = 300  # of one pattern
_LONGEST_NAME = 60
_LONGEST_ROW = 5  # cells of a triple, or of a longer tuple

_NO_LETTERS = lazy_pattern(r"[\W_]+")
_TAIL = lazy_pattern(r"[.:/]")
_QUOTED = r"""["']([^"'\n]{1,200})["']"""
_CALL = lazy_pattern(
    rf"\b([^\W\d][\w.]{{0,60}})\(\s*(?:([^\W\d]\w{{0,60}})\s*=(?:\s*\[?\s*{_QUOTED})?|\[?\s*{_QUOTED}|\))"
)
_LINE = lazy_pattern(
    r"""(?m)^[ \t>#*•-]{0,8}(?:\d{1,3}[.)])?[ \t*_`]{0,4}([^\n:：=|<>{}\[\]"'“*_`][^\n:：=|<>{}\[\]"]{0,60}?)"""
    r"""[ \t]*(?:[:：=→]|->)[ \t]*(.{0,200})$"""
)
_CLOSING_TAG = lazy_pattern(r"</([^\W\d][\w .:-]{0,60})>")
_ATTRIBUTE = lazy_pattern(rf"=\s*{_QUOTED}(?=[^<>\n]{{0,200}}>)")
_MARKED = lazy_pattern(r"@@([^@#\n]{1,200})##")  # of GPT-NER
# [Ann](Person), [Ann|Person], {Ann|Person}
_LABELLED = lazy_pattern(r"[\[{]([^\[\]{}|()\n]{1,200})(?:\]\(|\|)([^\[\]{}|()\n]{1,60})[)\]}]")
_GROUP = lazy_pattern(r"[(\[<]([^()\[\]<>\n]{3,400})[)\]>]")
_SEPARATOR = lazy_pattern(r"[,;，；、]")


class GoldNames:
    """The event types, roles and values of a sample's gold, as words of an answer are compared with them."""

    def __init__(self, gold: Events) -> None:
        roles = (role for pairs in gold.units.values() for role, _ in pairs)
        names = dict.fromkeys((*gold.units, *roles))
        self._names = {_letters(part) for name in names for part in (name, _TAIL.split(name)[-1])} - {""}
        self._values = {argument.replace(" ", "") for pairs in gold.units.values() for _, argument in pairs} - {""}

    def has_name(self, text: str) -> bool:
        return len(text) <= _LONGEST_NAME and _letters(text) in self._names

    def has_value(self, text: str) -> bool:
        return normalize(text.strip(" \t\"'`*")) in self._values

    def is_row(self, cells: Sequence[str]) -> bool:
        """Whether one of the cells is a name of gold, and another one of its values."""
        named = [place for place, cell in enumerate(cells) if self.has_name(cell)]
        return any(self.has_value(cell) and named != [place] for place, cell in enumerate(cells) if named)

    def is_tuple(self, cells: Sequence[str]) -> bool:
        return 1 < len(cells) <= _LONGEST_ROW and self.is_row(cells)


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    """A name without case, blanks and marks: a type is a class in code, a role one word of it."""
    return _NO_LETTERS.sub("", normalize(text))


def text_forms(text: str, gold: GoldNames) -> Iterator[str]:
    """The unread forms that a text has."""
    text = text[:_MOST_TEXT]
    for name, has_form in _TEXT_FORMS.items():
        if has_form(text, gold):
            yield name


def _has_calls(text: str, gold: GoldNames) -> bool:
    calls = _matches(_CALL, text)
    return any(any(map(gold.has_name, call[:2])) or any(map(gold.has_value, call[2:])) for call in calls)


def _has_lines(text: str, gold: GoldNames) -> bool:
    return any(any(map(gold.has_name, line)) for line in _matches(_LINE, text))


def _has_tags(text: str, gold: GoldNames) -> bool:
    names = chain(_matches(_CLOSING_TAG, text), _matches(_ATTRIBUTE, text))
    marked = _matches(_MARKED, text)
    return (
        any(gold.has_name(name) for (name,) in names)
        or any(gold.has_value(value) for (value,) in marked)
        or any(map(gold.is_row, _matches(_LABELLED, text)))
    )


def _has_tables(text: str, gold: GoldNames) -> bool:
    """Whether a line between `|` or tabs has a name and a value of gold, or two names; of CSV, two lines must."""
    lines = text.splitlines()[:_MOST_MATCHES]
    rows = [re.split(r"\s*[|\t]\s*", line) for line in lines if "|" in line or "\t" in line.strip()]
    csv = (line.split(",") for line in lines if "," in line)
    return any(sum(map(gold.has_name, row)) > 1 or gold.is_row(row) for row in rows) or sum(map(gold.is_row, csv)) > 1


def _has_triples(text: str, gold: GoldNames) -> bool:
    return any(gold.is_tuple(_SEPARATOR.split(inner)) for (inner,) in _matches(_GROUP, text))


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[tuple[str, ...]]:
    return (match.groups("") for match in islice(pattern.finditer(text), _MOST_MATCHES))


_TEXT_FORMS = {
    "calls": _has_calls,
    "lines": _has_lines,
    "tags": _has_tags,
    "tables": _has_tables,
    "triples": _has_triples,
}
