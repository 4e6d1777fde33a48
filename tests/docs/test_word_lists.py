"""The word lists of the reader stand in the docs: all of them, and no other."""

from __future__ import annotations

import re

from goldgate.response import candidates, selection, strings
from goldgate.suites.extraction.events import answer_form
from tests.cases import cases

from .documents import DOCS

NULL_WORDS = {word for word, (value, step) in strings._LITERALS.items() if value is None and step is not None}


def listed(name: str) -> list[str]:
    """The words in backticks under one name of the section "Word lists"."""
    page = (DOCS / "reading-responses.md").read_text(encoding="utf-8")
    section = page[page.index("\n### Word lists\n") : page.index("\n## 4. Decoding\n")]
    found = re.search(rf"^- \*\*{re.escape(name)}\*\*(.*?)(?=^- |\Z)", section, re.MULTILINE | re.DOTALL)
    assert found is not None, name
    return re.findall(r"`([^`]+)`", found.group(1))


@cases(
    ("name", "words", "examples"),
    [
        ("Marks of another turn", selection.TURN_TOKENS, 0),
        ("Marks that end the turn", selection.END_TOKENS, 0),
        ("Names of who speaks", selection.TURN_NAMES, 1),
        ("Beginnings of the next example", selection.NEXT_EXAMPLE, 0),
        ("Phrases that say that there are no events", answer_form.SAID_NONE, 0),
        ("Words that say that the later replaces the earlier", selection.REPLACING_WORDS, 0),
        ("Placeholders of a type", answer_form.TYPE_PLACEHOLDERS, 0),
        ("Placeholders of a value", answer_form.VALUE_PLACEHOLDERS - answer_form.TYPE_PLACEHOLDERS, 4),
        ("Programming languages", candidates._CODE_LANGUAGES, 0),
        ("Words without quotation marks that are null", NULL_WORDS, 0),
    ],
)
def test_word_list_is_documented(name: str, words: tuple[str, ...], examples: int) -> None:
    found = listed(name)
    assert sorted(found[: len(found) - examples]) == sorted(words)
