"""Argument text in its comparable form, and the exact test "is this value in that text?".

Normalization `nfkc-cjk-casefold` version 1, in this order: Unicode NFKC; CJK punctuation
folded to ASCII; all Unicode whitespace and zero-width characters removed; casefold.
"""

from __future__ import annotations

import re
from functools import lru_cache
from unicodedata import normalize as unicode_normalize

from goldgate.core.marks import ordered_marks

# What NFKC leaves as it is. Full-width ，：；！？（） and the ideographic space are its own work.
_FOLDED = {
    "。": ".",
    "、": ",",
    "“": '"',
    "”": '"',
    "„": '"',
    "‟": '"',
    "〝": '"',
    "〞": '"',
    "「": '"',
    "」": '"',
    "『": '"',
    "』": '"',
    "‘": "'",
    "’": "'",
    "‚": "'",
    "‛": "'",
    "《": "<",
    "》": ">",
    "〈": "<",
    "〉": ">",
    "【": "[",
    "】": "]",
    "〔": "[",
    "〕": "]",
    "〖": "[",
    "〗": "]",
    "—": "-",
    "–": "-",
    "―": "-",
    "‐": "-",
    "‒": "-",
    "−": "-",
    "·": ".",
    "•": ".",
    "・": ".",
    "〜": "~",
}
# Invisible and without meaning in an argument; NFKC keeps them, str.split() does too.
_ZERO_WIDTH = "\u200b\u200c\u200d\u2060\ufeff\u00ad"

_TABLE = str.maketrans({**_FOLDED, **dict.fromkeys(_ZERO_WIDTH, None)})
_IN_TABLE = re.compile("[" + re.escape("".join(_FOLDED) + _ZERO_WIDTH) + "]")

_ASCII_LOWER = bytes(range(256)).lower()
_ASCII_BLANKS = bytes(code for code in range(128) if chr(code).isspace())

# Text that normalization leaves as it is; most Chinese arguments are of this kind.
_UNCHANGED = re.compile(r"[\u4e00-\u9fff!-@\[-~]*")
_ALL_UNCHANGED = re.compile(r"[\u4e00-\u9fff!-@\[-~\0]*")


def normalize(text: str) -> str:
    """The comparable form of a text; empty if nothing but whitespace is in it."""
    form = normalize_quickly(text)
    return normalize_plainly(text) if form is None else form


def normalize_plainly(text: str) -> str:
    """The same, as it is defined."""
    return "".join(unicode_normalize("NFKC", ordered_marks(text)).translate(_TABLE).split()).casefold()


def normalize_quickly(text: str) -> str | None:
    """The same for most texts; None for one that has to go the plain way."""
    if text.isascii():
        return text.encode().translate(_ASCII_LOWER, _ASCII_BLANKS).decode()  # on ASCII, lower() is casefold()
    if _UNCHANGED.fullmatch(text):
        return text
    if len(text) >= _WORTH_A_SET:
        return _fold(text)
    composed = unicode_normalize("NFKC", text)
    return None if _IN_TABLE.search(composed) else "".join(composed.split()).casefold()


def normalize_all(texts: list[str]) -> list[str]:
    """The comparable forms of several short texts, most often made in one step for all of them."""
    forms = normalize_all_at_once(texts)
    return [normalize(text) for text in texts] if forms is None else forms


def normalize_all_at_once(texts: list[str]) -> list[str] | None:
    """The same if one step will do; None if not."""
    joined = "\0".join(texts)
    if joined.isascii():
        forms = joined.encode().translate(_ASCII_LOWER, _ASCII_BLANKS).decode().split("\0")
        return forms if len(forms) == len(texts) else None  # a text has a NUL in it, or there are none
    if _ALL_UNCHANGED.fullmatch(joined):
        return texts
    folded = _fold(joined)
    forms = folded.split("\0") if folded is not None else []
    return forms if len(forms) == len(texts) else None


# Measured on 900 Chinese characters: NFKC and translate 150 µs, _fold 8 µs for prose and 15 µs for other texts.
_WORTH_A_SET = 64


def _fold(text: str) -> str | None:
    """The form of a text of characters that stand alone, by replacing the few distinct ones that change."""
    if _PROSE.fullmatch(text):
        for character, folded in _PROSE_FOLDED:
            text = text.replace(character, folded)
        return text
    for character in set(_CHANGING.findall(text)):
        if character not in STANDS_ALONE:
            return None
        text = text.replace(character, _folded(character))  # which is plain, so the order is free
    return text


@lru_cache(maxsize=1024)
def _folded(character: str) -> str:
    return normalize_plainly(character)


# Characters that NFKC never joins to the one before them: a sound, partial list, in which the
# text of most documents is found whole.
STANDS_ALONE = frozenset(
    chr(code)
    for first, last in ((0, 0x2FF), (0x2010, 0x2044), (0x3000, 0x3020), (0x4E00, 0x9FFF), (0xFF01, 0xFF5E))
    for code in range(first, last + 1)
)

# Marks of Chinese prose, which change, each by itself. With them and the unchanged characters most texts are made, and
# to replace one that is not there costs less than to look which of them are.
_PROSE_CHANGING = "，。、：；？！（）“”《》"
_PROSE = re.compile("[" + _PROSE_CHANGING + r"\u4e00-\u9fff!-@\[-~\0]*")
_PROSE_FOLDED = [(each, form) for each in _PROSE_CHANGING if (form := normalize_plainly(each)) != each]
_CHANGING = re.compile(r"[^\u4e00-\u9fff!-@\[-~\0]")


class Haystack:
    """A text in which values are looked for; normalized at most once, and only if need be.

    Most values stand in the text letter for letter, and then normalization can change nothing:
    it works on each character alone, but for NFKC, which may join a character to the one
    before it. So where the value and what follows it in the text both begin with a character
    that never joins (`STANDS_ALONE`), a plain find decides.
    """

    __slots__ = ("_normalized", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._normalized: str | None = None

    def __reduce__(self) -> tuple[object, ...]:
        return (Haystack, (self.text,))  # compiled, it is not put together from its parts

    @property
    def normalized(self) -> str:
        if self._normalized is None:
            self._normalized = normalize(self.text)
        return self._normalized

    def contains(self, value: str) -> bool:
        """Whether the normalized value is in the normalized text."""
        return self.stands_in(value) or self.contains_plainly(value)

    def contains_plainly(self, value: str) -> bool:
        """The same, as it is defined."""
        return normalize(value) in self.normalized

    def stands_in(self, value: str) -> bool | None:
        """True where the value stands in the text letter for letter and surely does so after normalization."""
        at = self.text.find(value)
        return True if at >= 0 and survives(self.text, at, value) else None


def survives(text: str, at: int, value: str) -> bool:
    """Whether a value that stands in a text letter for letter surely does so after normalization."""
    return value[:1] in STANDS_ALONE and (text[at + len(value) : at + len(value) + 1] or " ") in STANDS_ALONE
