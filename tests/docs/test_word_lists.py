"""The word lists of the reader stand in the docs: all of them, and no other."""

from __future__ import annotations

import re
from itertools import product
from re import _constants as sre  # type: ignore[attr-defined]  # a pattern is taken apart: there is no public way
from re import _parser  # type: ignore[attr-defined]
from typing import Any

from goldgate.extraction.response import bare, locate, template, turns

from .documents import DOCS


def listed(name: str) -> list[str]:
    """The words in backticks under one name of the section "Word lists"."""
    page = (DOCS / "reading-responses.md").read_text(encoding="utf-8")
    section = page[page.index("\n### Word lists\n") : page.index("\n## 4. Decoding\n")]
    found = re.search(rf"^- \*\*{re.escape(name)}\*\*(.*?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return re.findall(r"`([^`]+)`", found.group(1))


def forms(pattern: re.Pattern[str]) -> set[str]:
    """The shortest texts that a pattern of plain words matches: what may be left out is, and a blank stands for any."""
    return {text for text in _forms(_parser.parse(pattern.pattern, pattern.flags)) if text}


def _forms(parsed: Any) -> list[str]:
    return ["".join(parts) for parts in product(*(_form(*node) for node in parsed))]


def _form(kind: Any, given: Any) -> list[str]:
    if kind is sre.LITERAL:
        return [chr(given)]
    if kind is sre.IN:
        return [" "] if given[0][0] is not sre.LITERAL else [chr(code) for _, code in given]
    if kind is sre.BRANCH:
        return [text for branch in given[1] for text in _forms(branch)]
    if kind is sre.SUBPATTERN:
        return _forms(given[3])
    if kind is sre.MAX_REPEAT:
        least, _, repeated = given
        return _forms(repeated) if least else [""]
    assert kind in (sre.AT, sre.ASSERT), kind
    return [""]


def test_marks_of_another_turn_are_documented() -> None:
    words = listed("Marks of another turn")
    assert forms(turns._TURN) == set(words)
    for word in words:
        assert turns.next_turn(f"[]\n{word}\n[]", 2, len(word) + 4) >= 0, word


def test_words_that_replace_are_documented() -> None:
    words = listed("Words that say that the later replaces the earlier")
    assert forms(turns._REPLACES) == set(words)
    for word in words:
        assert turns.says_replaced(f"[]\n{word.upper()}:\n[]", 2, len(word) + 5), word


def test_placeholders_are_documented() -> None:
    types = listed("Placeholders of a type")
    assert set(types) == template.TYPE_PLACEHOLDERS
    values = listed("Placeholders of a value")
    assert set(values[:-2]) == template.VALUE_PLACEHOLDERS - template.TYPE_PLACEHOLDERS
    assert all(template._BRACKETED.fullmatch(word) for word in values[-2:])  # the two examples


def test_programming_languages_are_documented() -> None:
    assert set(listed("Programming languages")) == locate._CODE


def test_words_for_null_are_documented() -> None:
    null = {word for word, (value, step) in bare._LITERALS.items() if value is None and step is not None}
    assert set(listed("Words without quotation marks that are null")) == null
