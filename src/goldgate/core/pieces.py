"""A text in pieces that Unicode's normal forms do not join to one another: each can be normalized by itself."""

from __future__ import annotations

from functools import lru_cache
from typing import Final
from unicodedata import category

# What may be joined to the character before it: marks, vowels and endings of Korean syllables, Japanese sound marks,
# vowels of Kirat Rai, which are letters to Unicode.
_MARKS = frozenset({"Mn", "Mc", "Me"})
_LETTERS = ((0x1160, 0x11FF), (0x3131, 0x318E), (0xD7B0, 0xD7FF), (0xFF9E, 0xFFDC), (0x16D63, 0x16D6A))

_MOST = 65_536  # characters that are kept, of a million that there are

# Characters that were found to stand alone: looked up first where a call would take too long.
ALONE: Final[set[str]] = set()


def piece_starts(text: str) -> list[int]:
    """Where the pieces begin: a letter with its marks is one."""
    joining = {character for character in set(text) if not stands_alone(character)}
    return [at for at, character in enumerate(text) if not at or character not in joining]


def stands_alone(character: str) -> bool:
    """Whether no normal form joins a character to the one before it; False for some that are never joined."""
    if character in ALONE:
        return True
    if may_join(character):
        return False
    if len(ALONE) < _MOST:
        ALONE.add(character)
    return True


@lru_cache(maxsize=_MOST)  # a text has few different characters, and the next text the same ones
def may_join(character: str) -> bool:
    """Whether a normal form could join a character to the one before it; True for some that are never joined."""
    code = ord(character)
    return category(character) in _MARKS or any(first <= code <= last for first, last in _LETTERS)
