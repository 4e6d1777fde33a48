"""Forms of answers that no setting reads: Python calls, lines, inline tags, tables, triples and odd objects.

A form is recognized only where it holds names and values of gold: prose and code also have brackets and colons.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice

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
    "nested": "events inside another object",
    "rows": 'an object for each argument, such as {"event_type": "Type", "role": "role", "argument": "value"}',
    "objects": 'objects for values, such as {"argument": {"text": "value"}}',
    "encoded": "arguments as a string that holds JSON",
    "next_example": "values of gold behind a line such as Text:, which begins the next example of a prompt",
}
MAX_TEXT = 20_000  # characters of an answer in which a form is looked for
_MAX_MATCHES = 300  # of one pattern
_LONGEST_NAME = 60
_LONGEST_TUPLE = 5

_NO_LETTERS = lazy_pattern(r"[\W_]+")
_TAIL = lazy_pattern(r"[.:/]")
_QUOTED = r"""["']([^"'\n]{1,200})["']"""
_CALL = lazy_pattern(
    rf"\b([^\W\d][\w.]{{0,60}})\(\s*(?:([^\W\d]\w{{0,60}})\s*=(?:\s*\[?\s*{_QUOTED})?|\[?\s*{_QUOTED}|\))"
)
_LINE = lazy_pattern(
    r"""(?m)^[ \t>#*•-]{0,8}+(?:\d{1,3}[.)])?[ \t*_`]{0,4}+([^\s:：=|<>{}\[\]"'“][^\n:：=|<>{}\[\]"]{0,60}?)"""
    r"""[ \t]{0,9}(?:[:：=→]|->)[ \t]{0,9}(.{0,200})"""
)
# Closing tags and attributes; @@Ann##; [Ann](Person), [Ann|Person], {Ann|Person}.
_TAG = lazy_pattern(rf"</([^\W\d][\w .:-]{{0,60}})>|=\s*{_QUOTED}(?=[^<>\n]{{0,200}}>)")
_MARKED = lazy_pattern(r"@@([^@#\n]{1,200})##")
_LABELLED = lazy_pattern(r"[\[{]([^\[\]{}|()\n]{1,200})(?:\]\(|\|)([^\[\]{}|()\n]{1,60})[)\]}]")
_ROW = lazy_pattern(r"(?m)^([^|\t\n]{0,400}[|\t][^\n]{0,2000})")
_CSV = lazy_pattern(r"(?m)^([^\n,:()\[\]{}<>]{1,100}(?:,[^\n,:()\[\]{}<>]{1,200}){1,4})$")
_CELL_END = lazy_pattern(r"[|\t]")
_GROUP = lazy_pattern(r"[(\[<]([^()\[\]<>\n]{3,400})[)\]>]")
_SEPARATOR = lazy_pattern(r"[,;，；、]")


class GoldNames:
    """The event types, roles and values of a sample's gold, as they are compared with words of an answer."""

    def __init__(self, gold: Events) -> None:
        names = {*gold.units, *(role for pairs in gold.units.values() for role, _ in pairs)}
        self._names = {_letters(part) for name in names for part in (name, _TAIL.split(name)[-1])} - {""}
        self._values = {argument.replace(" ", "") for pairs in gold.units.values() for _, argument in pairs} - {""}

    def forms_of(self, text: str) -> set[str]:
        """The unread forms that a text has."""
        text = text[:MAX_TEXT]
        return {
            form
            for form, pattern, has_form in (
                ("calls", _CALL, lambda call: self.any_name(call) or any(map(self._is_value, call))),
                ("lines", _LINE, self.any_name),
                ("tags", _TAG, self.any_name),
                ("tags", _MARKED, lambda mark: self._is_value(mark[0])),
                ("tags", _LABELLED, self._is_row),
                ("tables", _ROW, lambda row: self._is_row(_CELL_END.split(row[0]), headed=True)),
                ("tables", _CSV, lambda line: self.is_tuple(_SEPARATOR.split(line[0]))),
                ("triples", _GROUP, lambda group: self.is_tuple(_SEPARATOR.split(group[0]))),
            )
            if _any_match(pattern, text, has_form)
        }

    def any_name(self, texts: Sequence[str]) -> bool:
        return any(map(self._is_name, texts))

    def is_tuple(self, cells: Sequence[str]) -> bool:
        """Whether a few texts beside each other are a name of gold and a value of it, perhaps with others."""
        return 1 < len(cells) <= _LONGEST_TUPLE and self._is_row(cells)

    def _is_row(self, cells: Sequence[str], *, headed: bool = False) -> bool:
        """Whether one text is a name of gold, and another a value of it, or with `headed` another name."""
        name_places = [place for place, cell in enumerate(cells) if self._is_name(cell)]
        valued = (name_places != [place] and self._is_value(cell) for place, cell in enumerate(cells) if name_places)
        return (headed and len(name_places) > 1) or any(valued)

    def _is_name(self, text: str) -> bool:
        return len(text) <= _LONGEST_NAME and _letters(text) in self._names

    def _is_value(self, text: str) -> bool:
        return normalize(text.strip(" \t\"'`*")) in self._values


@lru_cache(maxsize=4096)
def _letters(text: str) -> str:
    """A name without case, blanks and marks: a type is a class in code, and a role one word of it."""
    return _NO_LETTERS.sub("", normalize(text))


def _any_match(pattern: re.Pattern[str], text: str, test: Callable[[Sequence[str]], bool]) -> bool:
    return any(test(match.groups("")) for match in islice(pattern.finditer(text), _MAX_MATCHES))
