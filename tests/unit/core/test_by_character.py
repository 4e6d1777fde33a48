"""A table of characters asks once for each, and does not grow without bound."""

from __future__ import annotations

import pytest

from goldgate.core import value_text
from goldgate.core.value_text import CharacterMemo


def test_each_character_is_asked_about_once() -> None:
    asked: list[str] = []

    def upper(character: str) -> str:
        asked.append(character)
        return character.upper()

    table = CharacterMemo(upper)
    assert [table[each] for each in "abba"] == ["A", "B", "B", "A"]
    assert asked == ["a", "b"]


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_text, "_MAX_CHARACTERS", 3)
    table = CharacterMemo(str.upper)
    assert [table[each] for each in "abcdefcba"] == [*"ABCDEFCBA"]
    assert len(table) == 3
