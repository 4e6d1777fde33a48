"""Argument text in its comparable form, and the exact test "is this value in that text?".

Normalization `nfkc-cjk-casefold` version 1, in this order: Unicode NFKC; CJK punctuation
folded to ASCII; all Unicode whitespace and zero-width characters removed; casefold.
"""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize as unicode_normalize

from goldgate.core.by_character import ByCharacter
from goldgate.core.marks import ordered_marks
from goldgate.core.pieces import ALONE, stands_alone

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

_ASCII_LOWER = bytes(range(256)).lower()
_ASCII_BLANKS = bytes(code for code in range(128) if chr(code).isspace())

# Text that normalization leaves as it is; most Chinese, Japanese and Korean arguments are of this kind.
_UNCHANGED = re.compile(r"[\u4e00-\u9fff\u3041-\u3096\u30a1-\u30fa\u30fc\uac00-\ud7a3!-@\[-~\0]*")


def normalize(text: str) -> str:
    """The comparable form of a text; empty if nothing but whitespace is in it."""
    form = normalize_quickly(text)
    return normalize_by_character(text) if form is None else form


def normalize_plainly(text: str) -> str:
    """The same, as it is defined."""
    return "".join(unicode_normalize("NFKC", ordered_marks(text)).translate(_TABLE).split()).casefold()


def normalize_by_character(text: str) -> str:
    """The same in less time, for any text: by replacing the few distinct characters that NFKC or the table change.

    That is NFKC where no character may join the one before it. Where one may, NFKC is done first; what it gives has
    only characters that it leaves as they are.
    """
    if not text.isascii():
        odd = set(_ODD.findall(text))
        if not (odd <= ALONE or all(map(stands_alone, odd))):
            text = unicode_normalize("NFKC", ordered_marks(text))
            odd = set(_ODD.findall(text))
        if len(odd) > _MANY:
            return normalize_plainly(text)
        for character in odd:
            text = text.replace(character, _FORMS[character])  # which has none that is replaced: the order is free
    text = "".join(text.split())
    return text if _UNCHANGED.fullmatch(text) else text.casefold()


def normalize_quickly(text: str) -> str | None:
    """The same for text of the most usual kinds; None for any other."""
    if text.isascii():
        return text.encode().translate(_ASCII_LOWER, _ASCII_BLANKS).decode()  # on ASCII, lower() is casefold()
    if _UNCHANGED.fullmatch(text):
        return text
    return _fold_prose(text)


def normalize_all(texts: list[str]) -> list[str]:
    """The comparable forms of several short texts, most often made in one step for all of them."""
    forms = normalize_all_at_once(texts)
    return [normalize(text) for text in texts] if forms is None else forms


def normalize_all_at_once(texts: list[str]) -> list[str] | None:
    """The same if one step will do; None if not. Nothing is joined to a NUL, and none is changed."""
    joined = "\0".join(texts)
    if joined.isascii():
        forms = joined.encode().translate(_ASCII_LOWER, _ASCII_BLANKS).decode().split("\0")
    elif _UNCHANGED.fullmatch(joined):
        return texts
    else:
        forms = normalize_by_character(joined).split("\0")
    return forms if len(forms) == len(texts) else None  # a text has a NUL in it, or there are none


def _fold_prose(text: str) -> str | None:
    """The form of a text of Chinese characters and marks; None for any other."""
    if not _PROSE.fullmatch(text):
        return None
    for character, folded in _PROSE_FOLDED:
        text = text.replace(character, folded)
    return text


# Marks of Chinese prose, which change, each by itself. With them and the unchanged characters most texts are made, and
# to replace one that is not there costs less than to look which of them are.
_PROSE_CHANGING = "，。、：；？！（）“”《》"
_PROSE = re.compile("[" + _PROSE_CHANGING + r"\u4e00-\u9fff!-@\[-~\0]*")
_PROSE_FOLDED = [(each, form) for each in _PROSE_CHANGING if (form := normalize_plainly(each)) != each]

# All but letters and signs that stand alone and that neither NFKC nor the table changes: a partial list of those.
_ODD = re.compile(
    r"[^\0-\x7f"
    r"\u00c0-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0180-\u01c3\u0218-\u021b\u1ea0-\u1ef9"  # Latin
    r"\u0388-\u03ce\u0400-\u0482\u048a-\u052f\u0531-\u0556\u0561-\u0586\u10d0-\u10fa"  # Greek, Cyrillic, Caucasus
    r"\u05d0-\u05ea\u060c\u061b\u061f\u0621-\u064a\u0660-\u066d\u0679-\u06d4\u06f0-\u06f9"  # Hebrew, Arabic
    r"\u0904-\u0939\u093d-\u094c\u0964-\u096f\u0e01-\u0e32\u0e40-\u0e47"  # Devanagari, Thai
    r"\u3005-\u3007\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe"  # Japanese
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"  # Chinese, Korean
    r"\u20ac\u2190-\u21ff\u25a0-\u27bf\ufe0f\U0001f300-\U0001f64f\U0001f680-\U0001f6d7\U0001f900-\U0001f9ff]"  # signs
)
_MANY = 64  # odd characters, beyond which one pass over the text is better than one for each


def _form(character: str) -> str:
    return unicode_normalize("NFKC", character).translate(_TABLE)


_FORMS: Final = ByCharacter(_form)


class Haystack:
    """A text in which values are looked for; normalized at most once, and only if need be.

    Most values stand in the text letter for letter, and then normalization can change nothing:
    it works on each character alone, but for NFKC, which may join a character to the one
    before it. So where the value and what follows it in the text both begin with a character
    that never joins (`stands_alone`), a plain find decides.
    """

    __slots__ = ("_normalized", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._normalized: str | None = None

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
    after = text[at + len(value) : at + len(value) + 1]
    return bool(value) and stands_alone(value[0]) and (not after or stands_alone(after))
