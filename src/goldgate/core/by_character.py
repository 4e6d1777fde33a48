"""What is so of a character, asked once for each: a text has few different ones, and the next text mostly the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Known = TypeVar("Known")

_MOST = 65_536  # characters that are kept, of a million that there are


class ByCharacter(dict[str, Known]):
    """What a function says of a character: `table[character]` asks it at the first time."""

    def __init__(self, ask: Callable[[str], Known]) -> None:
        super().__init__()
        self._ask = ask

    def __missing__(self, character: str) -> Known:
        known = self._ask(character)
        if len(self) < _MOST:
            self[character] = known
        return known
