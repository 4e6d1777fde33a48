"""The letters of a text, fast: what is left of it without case, blanks, punctuation and, if wanted, digits."""

from __future__ import annotations

from collections.abc import Sequence
from operator import add
from unicodedata import category

from goldgate.suites.research.run.fold import has_few_marks, visible

_LOWER = bytes(code + 32 if 65 <= code <= 90 else code for code in range(256))
_SIGNS = bytes(code for code in range(128) if not chr(code).isalnum())
_SIGNS_AND_DIGITS = bytes(code for code in range(128) if not chr(code).isalpha())
_BEYOND_ASCII = bytes(range(128, 256))
_COUNTED = (b"k", b"w", b"g")  # rare ones are counted fast


def letters(text: str) -> bytes:
    """The letters in their order; what is no ASCII stays as it is."""
    return text.encode("utf-8", "replace").translate(_LOWER, _SIGNS_AND_DIGITS)


def sketch(text: str) -> tuple[int, ...]:
    """How many letters, and how many of some of them: the same for any order of the parts of a text.

    Texts that differ are nearly always told apart, at a tiny part of what folding and comparing them takes.
    """
    plain = visible(text).encode("utf-8", "replace").translate(_LOWER, _SIGNS + _BEYOND_ASCII)
    return (len(plain), *map(plain.count, _COUNTED))


def sketch_of_all(texts: Sequence[str]) -> tuple[int, ...]:
    """The sketch of the texts as one, fast: what is ASCII needs no second look, whatever the others are.

    A text that begins with ASCII or punctuation joins with nothing before it, so the two can be looked at alone.
    """
    whole = "".join(texts)
    if whole.isascii():
        return sketch(whole)
    odd = [text for text in texts if not text.isascii()]
    alone = all(text[0].isascii() or category(text[0])[0] == "P" for text in odd)
    if not alone or not has_few_marks("".join(odd)):
        return sketch(whole)
    plain = "".join([text for text in texts if text.isascii()])
    return (*map(add, sketch(plain), sketch("".join(odd))),)
