"""Whether a text says anything at all: blanks, invisible characters, punctuation and "unknown" do not."""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import category, decomposition, normalize

# Letters to Unicode, and nothing to a reader: the fillers of Hangul. And the empty pattern of Braille.
_INVISIBLE = str.maketrans(dict.fromkeys("\u115f\u1160\u3164\uffa0\u2800"))
TELLING = "x"
_DIGIT = re.compile("[0-9]")  # nearly all ids have one, and no word for nothing has
_LONGEST_WORD = 64  # no way of saying "unknown" is longer

# As they are left when everything but letters and digits is taken away.
_SAYS_NOTHING = frozenset(
    "unknown na none null nil nan tbd todo undefined missing unspecified notavailable notapplicable".split()
)


def telling(text: str) -> bool:
    """Whether there is a letter or a digit in it that can be seen and stands for itself."""
    if text.isascii():
        return any(map(str.isalnum, text))
    return any(map(tells, text.translate(_INVISIBLE)))


class _Marks(dict[int, str]):
    """What each character is in `mark_telling`: each is looked up once."""

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        mark = self[code] = TELLING if tells(sign) and code not in _INVISIBLE else "."
        return mark


def mark_telling(text: str) -> str:
    """A text of the same length, with `TELLING` where a letter or a digit tells something and a dot elsewhere."""
    return text.translate(_Marks())


def tells(sign: str) -> bool:
    """Whether a sign is a letter or a digit of its own.

    Modifier letters only change or lengthen another one (`ʼ`, `ː`, the Arabic tatweel, the Japanese `ー`), and what is
    raised refers to something (`ª`, `²`): all of them stand in any text, or look like punctuation.
    """
    if sign.isascii():
        return sign.isalnum()
    return sign.isalnum() and category(sign) != "Lm" and not decomposition(sign).startswith("<super>")


def is_blank(text: str) -> bool:
    """Whether nothing of it can be seen."""
    return not any(sign.isprintable() and not sign.isspace() for sign in text.translate(_INVISIBLE))


def says_something(value: object) -> bool:
    """Whether an identifier says where something comes from."""
    if type(value) is not str:
        return False
    if _DIGIT.search(value) is not None:
        return True
    return _known(value) if len(value) <= _LONGEST_WORD else _identifies(value)  # only short ones are remembered


@lru_cache(maxsize=4096)
def _known(value: str) -> bool:
    return _identifies(value)


def _identifies(value: str) -> bool:
    seen = "".join(filter(tells, value.translate(_INVISIBLE)))
    if len(seen) > _LONGEST_WORD:
        return True
    return seen != "" and normalize("NFKC", seen).casefold() not in _SAYS_NOTHING
