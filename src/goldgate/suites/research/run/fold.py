"""Text folded for comparing a quote with its source: what typesetting changes is made alike, words are not.

Folded: NFC, runs of white space, curly quotes, dashes, soft hyphens. Never case, and nothing is fuzzy:
a sentence and its negation are 99 % alike.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache
from unicodedata import combining, is_normalized, normalize

FOLDING = "nfc-space-quotes-dashes.v1"  # stands in the signature

_LONGEST_MAPPED = 1_000_000  # characters; finding a place in the unfolded text folds it some twenty times

_PILE = 31  # marks

_TABLE = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′ʼ", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
        "\u00ad": None,  # soft hyphen
        "\u200b": None,  # zero width space
        "\ufeff": None,  # byte order mark inside a text
    }
)

# Default_Ignorable_Code_Point of Unicode: joiners, selectors, fillers, marks of direction, tags.
_IGNORABLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)


def nfc(text: str) -> str:
    """The text in NFC; as it is where marks are piled up by the dozen, which would take time without end."""
    if text.isascii() or is_normalized("NFC", text) or has_piled_marks(text):
        return text
    return normalize("NFC", text)


def visible(text: str) -> str:
    """The text in NFKC without what nobody sees: for texts that look alike, not for finding quotes in sources."""
    if text.isascii():
        return text
    seen = _IGNORABLE.sub("", text)
    return seen if is_normalized("NFKC", seen) or has_piled_marks(seen) else normalize("NFKC", seen)


def fold(text: str) -> str:
    """The text folded, without outer white space."""
    return text if is_folded(text) else " ".join(plain_fold(text).split())


def is_folded(text: str) -> bool:
    """Whether folding leaves the text as it is, fast; False is no answer."""
    return text[:1] != " " and text[-1:] != " " and has_single_blanks(text)


def has_single_blanks(text: str) -> bool:
    """Whether the text is ASCII, and all white space in it blanks that stand alone, fast; False is no answer."""
    return (
        text.isascii()  # and has no other white space of ASCII: one character is found in no time
        and "\n" not in text
        and "\r" not in text
        and "\t" not in text
        and "\v" not in text
        and "\f" not in text
        and "\x1c" not in text
        and "\x1d" not in text
        and "\x1e" not in text
        and "\x1f" not in text
        and "  " not in text
    )


def plain_fold(text: str) -> str:
    """The text folded, its white space as it is."""
    return text if text.isascii() else nfc(text).translate(_TABLE)  # nothing in the table is ASCII


def offset_in(text: str, folded_quote: str) -> int | None:
    """Where in the unfolded text the folded quote begins; None if it is not there, or the text too long to say."""
    if len(text) > _LONGEST_MAPPED:
        return None
    at = fold(text).find(folded_quote)
    if at < 0:
        return None
    # The folding of a prefix grows with the prefix: the first that is longer than `at` ends in the wanted character.
    return bisect_left(range(len(text) + 1), at + 1, key=lambda end: len(fold(text[:end]))) - 1


def has_piled_marks(text: str) -> bool:
    """Whether a letter has more combining marks than in Unicode's stream-safe text (UAX 15): sorting is quadratic."""
    if has_few_marks(text):
        return False
    return _piled_marks().search(text) is not None


def has_few_marks(text: str) -> bool:
    """Whether not even all characters beyond ASCII would be a pile, fast; False is no answer."""
    return len(text) - len(text.encode("ascii", "ignore")) < _PILE


@cache
def _piled_marks() -> re.Pattern[str]:
    marks = "".join(re.escape(chr(code)) for code in range(0x300, 0x1F000) if combining(chr(code)))
    return re.compile(f"[{marks}]{{{_PILE}}}")
