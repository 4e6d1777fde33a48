"""Quotes that are made of several pieces of a text: words left out, or sentences joined."""

from __future__ import annotations

import re

from goldgate.suites.research.run.sources import GAP

MOST_PIECES = 12
_WORDS_A_PIECE = 2  # at least, on average, in a splice: single words are in every text
_ELLIPSES = ("[...]", "[…]", "(...)", "...", "…")
_WORD = re.compile("[0-9A-Za-z]+")

_LIKELY = 8  # characters that most pieces have
_MOST_STEPS = 8  # from one place to the next where more of a piece stands, before we halve


def is_spliced(quote: str, text: str) -> bool:
    """Whether the quote is made of few pieces that are all in the text. Both are folded."""
    for ellipsis in _ELLIPSES:
        quote = quote.replace(ellipsis, GAP)
    pieces = 0
    size = 0
    for part in quote.split(GAP):
        rest = part.strip(" ,;:.")
        while rest:
            piece = next_piece(rest, text)
            if not piece:
                return False
            pieces += 1
            size += len(piece.split()) if piece.isascii() else max(len(piece.split()), len(piece) // 2)
            if pieces > MOST_PIECES:
                return False
            rest = rest[len(piece) :].strip(" ")
    return pieces > 1 and size >= _WORDS_A_PIECE * pieces


def next_piece(rest: str, text: str) -> str:
    """The longest beginning of the rest that is in the text, cut between words or not at all."""
    word = _WORD.match(rest)
    if word is not None and word[0] not in text:  # nothing of it up to the end of a word, which is seen in one search
        return ""
    piece = rest[: longest_prefix(rest, text)]
    following = rest[len(piece) : len(piece) + 1]
    if piece[-1:].isascii() and piece[-1:].isalnum() and following.isalnum():
        return piece.rpartition(" ")[0]
    return piece


def longest_prefix(part: str, text: str) -> int:
    """How many characters of the part, from its beginning, are somewhere in the text.

    More of it can only stand further on than less of it: what is found says where the next search begins.
    """
    size, at = min(_LIKELY, len(part)), -1
    for _ in range(_MOST_STEPS):
        at = text.find(part[:size], at + 1)
        if at < 0:
            return size - 1 if size > _LIKELY else _halved(part, text, 0, size - 1, 0)
        size = _common(part, text, at, size) + 1
        if size > len(part):
            return len(part)
    return _halved(part, text, size - 1, len(part), at)


def _halved(part: str, text: str, low: int, high: int, at: int) -> int:
    """The same from `low` to `high` characters, of which `low` stand at `at` or further on."""
    while low < high:
        middle = (low + high + 1) // 2
        found = text.find(part[:middle], at)
        if found < 0:
            high = middle - 1
        else:
            at, low = found, middle
    return low


def _common(part: str, text: str, at: int, size: int) -> int:
    """How many characters of the part stand at this place; `size` of them are known to."""
    most = min(len(part), len(text) - at)
    while size < most:
        middle = (size + most + 1) // 2
        if text.startswith(part[:middle], at):
            size = middle
        else:
            most = middle - 1
    return size
