"""Combining marks that are piled up by the thousand, put in order before Unicode's own sorting gets to them.

Normal forms order the marks on a letter, and Python does so by insertion: quadratic in their number. In order
already, they take one pass, and the normal form is the same.
"""

from __future__ import annotations

import re
from functools import cache
from unicodedata import combining, normalize

_HARMLESS = 2_000  # characters: a shorter text cannot hold a pile that takes long


def ordered_marks(text: str) -> str:
    """A text with the same normal forms in which no pile of marks has to be sorted."""
    return text if len(text) < _HARMLESS else _piles().sub(_in_order, text)


def _in_order(pile: re.Match[str]) -> str:
    return "".join(sorted("".join(map(_decomposed, pile.group())), key=combining))


@cache
def _decomposed(mark: str) -> str:
    return normalize("NFD", mark)


@cache
def _piles() -> re.Pattern[str]:
    marks = "".join(re.escape(chr(code)) for code in range(0x300, 0x1F000) if combining(chr(code)))
    return re.compile(f"[{marks}]{{31,}}")
