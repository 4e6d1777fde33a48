"""Unicode text in segments that are normalized one by one, a memo for each character, and lazily compiled patterns.

Normal forms order the combining marks on a letter, and Python does so by insertion: quadratic in their number.
Marks piled up by the thousand are sorted first: they then take one pass, and the normal form is the same.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import cache, cached_property
from typing import Final, TypeVar
from unicodedata import category, combining, normalize

# What may be joined to the character before it: marks, vowels and endings of Korean syllables, Japanese sound marks,
# vowels of Kirat Rai, which are letters to Unicode.
_MARKS = frozenset({"Mn", "Mc", "Me"})
_LETTERS = ((0x1160, 0x11FF), (0x3131, 0x318E), (0xD7B0, 0xD7FF), (0xFF9E, 0xFFDC), (0x16D63, 0x16D6A))

_MAX_CHARACTERS = 65_536  # characters that are kept, of a million that there are

# Characters that were found to stand alone: looked up first where a call would take too long.
SEGMENT_STARTERS: Final[set[str]] = set()


def segment_starts(text: str) -> list[int]:
    """Where the pieces begin: a letter with its marks is one."""
    joining = {character for character in set(text) if not starts_segment(character)}
    return [at for at, character in enumerate(text) if not at or character not in joining]


def starts_segment(character: str) -> bool:
    """Whether no normal form joins a character to the one before it; False for some that are never joined."""
    if character in SEGMENT_STARTERS:
        return True
    if may_combine(character):
        return False
    if len(SEGMENT_STARTERS) < _MAX_CHARACTERS:
        SEGMENT_STARTERS.add(character)
    return True


def may_combine(character: str) -> bool:
    """Whether a normal form could join a character to the one before it; True for some that are never joined."""
    code = ord(character)
    return category(character) in _MARKS or any(first <= code <= last for first, last in _LETTERS)


_HARMLESS = 2_000  # characters: a shorter text cannot hold a pile that takes long


def sort_marks(text: str) -> str:
    """A text with the same normal forms in which no pile of marks has to be sorted."""
    return text if len(text) < _HARMLESS else _piles().sub(_sort_pile, text)


def _sort_pile(pile: re.Match[str]) -> str:
    return "".join(sorted("".join(map(_decomposed, pile.group())), key=combining))


@cache
def _decomposed(mark: str) -> str:
    return normalize("NFD", mark)


@cache
def _piles() -> re.Pattern[str]:
    marks = "".join(re.escape(chr(code)) for code in range(0x300, 0x1F000) if combining(chr(code)))
    return re.compile(f"[{marks}]{{31,}}")


Result = TypeVar("Result")


class CharacterMemo(dict[str, Result]):
    """Results of a function by character: `table[character]` calls it the first time."""

    def __init__(self, function: Callable[[str], Result]) -> None:
        super().__init__()
        self._function = function

    def __missing__(self, character: str) -> Result:
        result = self._function(character)
        if len(self) < _MAX_CHARACTERS:
            self[character] = result
        return result


class LazyPattern:
    """A pattern that is compiled when it is first used; each call takes a little longer than of a compiled one."""

    def __init__(self, source: str, flags: int = 0) -> None:
        self._source = source
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._source, self._flags)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.match(text, start, end)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.search(text, start, end)
