"""Argument text: numbers as written, the comparable form of a text, and where values occur in a longer text.

Normal forms order the combining marks on a letter, and Python does so by insertion: quadratic in their number.
Marks piled up by the thousand are sorted first: they then take one pass, and the normal form is the same.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from heapq import nsmallest
from itertools import pairwise
from typing import Any, Final, Literal, TypeVar
from unicodedata import category, combining, name
from unicodedata import normalize as unicode_normalize


@dataclass(frozen=True, slots=True)
class NumberText:
    """A JSON number kept as the text it was written in: `1.10` stays `1.10`."""

    text: str


def number_text(text: str) -> int | NumberText:
    """An integer whose text can be made again from its value, or else the text."""
    return int(text) if len(text) < 19 and text != "-0" else NumberText(text)


_NUMBERS: Final = re.compile(r"-?[0-9][0-9.eE+-]*")
_EXPONENT: Final = re.compile(r"[0-9][eE]")
_MAX_DEPTH: Final = 400  # brackets: where they nest deeper, the rule may not be able to decode the text


def number_spelling(value: Any, source: str | bytes | None) -> str | None:
    """The text of a decoded number; None for anything else, and where the text has several spellings of this value.

    Whatever looks like a number in the text counts, inside of strings too.
    """
    if type(value) is int:
        if value:
            return repr(value)
        minus_zero = b"-0" if isinstance(source, bytes) else "-0"
        return "0" if source is None or minus_zero not in source else None  # type: ignore[operator]  # same kind
    if type(value) is not float:
        return None
    if source is None:
        return repr(value)
    text = source.decode("latin-1") if isinstance(source, bytes) else source  # what numbers are made of is ASCII
    if text.count("[") + text.count("{") > _MAX_DEPTH:
        return None
    if value.is_integer() or "e" in repr(value) or _EXPONENT.search(text) is not None:
        numbers = {each for each in _NUMBERS.findall(text) if len(each) > 18 or not {*".eE"}.isdisjoint(each)}
    else:  # without an exponent, a number with this value begins with its whole part
        numbers = _numbers_beginning_with(repr(value).partition(".")[0] + ".", text)
    spellings = {each for each in numbers if _decoded_number(each) == value}
    return spellings.pop() if len(spellings) == 1 else None


def _numbers_beginning_with(head: str, text: str) -> set[str]:
    """What looks like a number and begins with these digits; a pattern for each head would have to be compiled."""
    numbers: set[str] = set()
    at = text.find(head)
    while at >= 0:
        if at == 0 or text[at - 1] not in "0123456789.eE+-":
            number = _NUMBERS.match(text, at)
            assert number is not None  # for it begins with digits
            numbers.add(number[0])
        at = text.find(head, at + 1)
    return numbers


def _decoded_number(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return None


# What may be joined to the character before it: marks, vowels and endings of Korean syllables, Japanese sound marks,
# vowels of Kirat Rai, which are letters to Unicode.
_MARKS = frozenset({"Mn", "Mc", "Me"})
_LETTERS = ((0x1160, 0x11FF), (0x3131, 0x318E), (0xD7B0, 0xD7FF), (0xFF9E, 0xFFDC), (0x16D63, 0x16D6A))

_MAX_CHARACTERS = 65_536  # characters that are kept, of a million that there are
_PIECE = 100_000  # characters of a text that are normalized at once: one of them may become 18, with blanks

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


PILE_SIZE = 31  # marks
_SHORT = 200  # characters, or marks: they take no time, in whatever order


def sort_marks(text: str) -> str:
    """A text with the same normal forms in which no pile of marks has to be sorted."""
    if len(text) < _SHORT or (len(text) <= _PIECE and sum(map(bool, map(combining, text))) < _SHORT):
        return text
    return piled_marks().sub(_sort_pile, text)


def _sort_pile(pile: re.Match[str]) -> str:
    return "".join(sorted("".join(map(_decomposed, pile.group())), key=combining))


@cache
def _decomposed(mark: str) -> str:
    return unicode_normalize("NFD", mark)


@cache
def piled_marks() -> re.Pattern[str]:
    """More combining marks in a row than Unicode's stream-safe text has (UAX 15): ordering them is quadratic."""
    marks = "".join(re.escape(chr(code)) for code in range(0x300, 0x1F000) if combining(chr(code)))
    return re.compile(f"[{marks}]{{{PILE_SIZE},}}")


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


# What NFKC leaves as it is: marks, and the ASCII mark that each is compared as.
# Full-width ，：；！？（） and the ideographic space are folded by NFKC itself.
_FOLDED = {
    ".": "。·•・",
    ",": "、",
    '"': "“”„‟〝〞「」『』",
    "'": "‘’‚‛",
    "<": "《〈",
    ">": "》〉",
    "[": "【〔〖",
    "]": "】〕〗",
    "-": "—–―‐‒−",
    "~": "〜",
}
# Invisible and without meaning in an argument; NFKC keeps them, str.split() does too.
ZERO_WIDTH: Final = "\u200b\u200c\u200d\u2060\ufeff\u00ad"

_TABLE = str.maketrans(
    {**{mark: form for form, marks in _FOLDED.items() for mark in marks}, **dict.fromkeys(ZERO_WIDTH, None)}
)

_ASCII_LOWER = bytes(range(256)).lower()
_ASCII_BLANKS = bytes(code for code in range(128) if chr(code).isspace())
ASCII_SIGNS: Final = bytes(code for code in range(128) if not chr(code).isalnum())  # all but letters and digits

# Text that normalization leaves as it is; most Chinese, Japanese and Korean arguments are of this kind.
_UNCHANGED = re.compile(r"[\u4e00-\u9fff\u3041-\u3096\u30a1-\u30fa\u30fc\uac00-\ud7a3!-@\[-~\0\1]*")


def normalize(text: str) -> str:
    """The comparable form of a text; empty if nothing but whitespace is in it."""
    form = fast_normalize(text)
    return normalize_by_character(text) if form is None else form


def slow_normalize(text: str) -> str:
    """The rule for `normalize`: NFKC, the marks of the table, no blanks, case folded."""
    return "".join(unicode_normalize("NFKC", sort_marks(text)).translate(_TABLE).split()).casefold()


Blanks = Literal["remove", "keep"]
Normalize = Callable[[str], str]


def normalizer(blanks: Blanks) -> Normalize:
    """The normalization of a protocol: `normalize`, or `normalize_with_blanks`."""
    return normalize_with_blanks if blanks == "keep" else normalize


@lru_cache(maxsize=2)
def normalize_with_blanks(text: str) -> str:
    """`normalize`, with one blank for each run of whitespace between two characters of words that blanks separate.

    Beside a punctuation mark, a symbol, or a character of Chinese or Japanese, a blank is removed all the same: `20 %`
    is `20%`. Without its blanks, the result is that of `normalize`.
    """
    parts, rest = [], ""
    for piece in _pieces(text):
        rest += _folded(piece)
        end = rest.rfind(" ") + 1
        parts.append(join_words(rest[:end].split()))
        rest = rest[end:]
    return join_words([*parts, *rest.split()]).casefold()


def _pieces(text: str) -> Iterator[str]:
    """A text in pieces whose normal forms are that of the text: at once, those of a long one take too much memory."""
    start = 0
    while len(text) - start > _PIECE:
        end = start + _PIECE
        while end < len(text) and not starts_segment(text[end]):
            end += 1
        yield text[start:end]
        start = end
    yield text[start:] if start else text


def join_words(words: Iterable[str]) -> str:
    """Texts, of which none begins or ends with a blank, with a blank between two wherever `keep` has one."""
    parts: list[str] = []
    before = ""
    for word in words:
        if before and word and not (_NEEDS_NO_BLANK[before[-1]] or _NEEDS_NO_BLANK[word[0]]):
            parts.append(" ")
        parts.append(word)
        before = word or before
    return "".join(parts)


_UNSPACED_SCRIPTS = ("CJK ", "IDEOGRAPHIC ", "HANGZHOU ", "HIRAGANA ", "HENTAIGANA ", "KATAKANA", "BOPOMOFO ")


def is_unspaced(character: str) -> bool:
    """Whether a character is Han, kana or bopomofo, which are written without blanks between words."""
    return name(character, "").startswith(_UNSPACED_SCRIPTS)


def _needs_no_blank(character: str) -> bool:
    return category(character)[0] in "PS" or is_unspaced(character)


_NEEDS_NO_BLANK: Final = CharacterMemo(_needs_no_blank)


@lru_cache(maxsize=2)  # a text is normalized by each comparator that it may be compared by
def normalize_by_character(text: str) -> str:
    """`slow_normalize` in less time: replace only the few distinct characters that NFKC or the table change.

    That is NFKC where no character may join the one before it. Where one may, NFKC is done first; what it gives has
    only characters that it leaves as they are.
    """
    if len(text) > _PIECE:
        return "".join(map(_normalize_piece, _pieces(text)))
    return _normalize_piece(text)


def _normalize_piece(text: str) -> str:
    text = "".join(_folded(text).split())
    return text if _UNCHANGED.fullmatch(text) else text.casefold()


def _folded(text: str) -> str:
    """A text after NFKC and the table."""
    if text.isascii():
        return text
    odd = _odd_characters(text)
    if not (odd <= SEGMENT_STARTERS or all(map(starts_segment, odd))):
        text = unicode_normalize("NFKC", sort_marks(text))
        odd = _odd_characters(text)
    if len(odd) > _MANY_CHARACTERS:
        return unicode_normalize("NFKC", sort_marks(text)).translate(_TABLE)
    for character in odd:
        text = text.replace(character, _FORMS[character])  # which has none that is replaced: the order is free
    return text


def fast_normalize(text: str) -> str | None:
    """`slow_normalize` of ASCII, and of Chinese, Japanese and Korean with the marks of prose; None for other texts."""
    if text.isascii():
        return text.encode().translate(_ASCII_LOWER, _ASCII_BLANKS).decode()  # on ASCII, lower() is casefold()
    if _UNCHANGED.fullmatch(text):
        return text
    if not _PROSE.fullmatch(text):
        return None
    for character, folded in _PROSE_FOLDED:
        text = text.replace(character, folded)
    return text


def normalize_all(texts: list[str]) -> list[str]:
    """The comparable forms of several short texts, made in one step: nothing is joined to U+0001, and it stays."""
    forms = normalize("\1".join(texts)).split("\1")
    if len(forms) == len(texts):
        return forms
    return [normalize(text) for text in texts]  # a text has this character, or there is no text


# Marks of Chinese prose, which change, each by itself. With them and the unchanged characters most texts are made, and
# to replace one that is not there costs less than to look which of them are.
_PROSE_CHANGING = "，。、：；？！（）“”《》"
_PROSE = re.compile("[" + _PROSE_CHANGING + r"\u4e00-\u9fff!-@\[-~\0\1]*")
_PROSE_FOLDED = [(each, form) for each in _PROSE_CHANGING if (form := slow_normalize(each)) != each]

# All but letters and signs that stand alone and that neither NFKC nor the table changes: a partial list of those.
_ODD_CHARACTERS = re.compile(
    r"[^\0-\x7f"
    r"\u00c0-\u0131\u0134-\u013e\u0141-\u0148\u014a-\u017e\u0180-\u01c3\u0218-\u021b\u1ea0-\u1ef9"  # Latin
    r"\u0388-\u03ce\u0400-\u0482\u048a-\u052f\u0531-\u0556\u0561-\u0586\u10d0-\u10fa"  # Greek, Cyrillic, Caucasus
    r"\u05d0-\u05ea\u060c\u061b\u061f\u0621-\u064a\u0660-\u066d\u0679-\u06d4\u06f0-\u06f9"  # Hebrew, Arabic
    r"\u0904-\u0939\u093d-\u094c\u0964-\u096f\u0e01-\u0e32\u0e40-\u0e47"  # Devanagari, Thai
    r"\u3005-\u3007\u3041-\u3096\u309d\u309e\u30a1-\u30fa\u30fc-\u30fe"  # Japanese
    r"\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"  # Chinese, Korean
    r"\u20ac\u2190-\u21ff\u25a0-\u27bf\ufe0f\U0001f300-\U0001f64f\U0001f680-\U0001f6d7\U0001f900-\U0001f9ff]"  # signs
)


def _odd_characters(text: str) -> set[str]:
    return set(_ODD_CHARACTERS.findall(text if len(text) < _SHORT else "".join(set(text))))


_MANY_CHARACTERS = 64  # odd characters, beyond which one pass over the text is better than one for each


def _normalized_character(character: str) -> str:
    return unicode_normalize("NFKC", character).translate(_TABLE)


_FORMS: Final = CharacterMemo(_normalized_character)


class Haystack:
    """A text in which values are looked for; normalized at most once, and only if need be."""

    def __init__(self, text: str, blanks: Blanks = "remove") -> None:
        self.text = text
        self._normalize = normalizer(blanks)

    @cached_property
    def normalized(self) -> str:
        return self._normalize(self.text)

    def contains(self, value: str) -> bool:
        """Whether the normalized value is in the normalized text."""
        return self._normalize(value) in self.normalized


def first_values(values: set[str], hits: Iterable[str], most: int) -> set[str]:
    """The hits among values, and of the others the first in canonical order, together at most `most`."""
    if len(values) <= most:
        return values
    kept = values.intersection(hits)
    return kept.union(nsmallest(most - len(kept), values - kept))


FEW_NEEDLES = 20_000_000  # needles times characters; below, looking for one after the other is faster
AUTOMATON_COST = 500  # characters that `in` looks at in the time in which the automaton reads one, or is built from one
NEEDLES_PER_BATCH = 1 << 18  # characters of needles in one automaton, which takes some 250 bytes for each
BATCH_SHARE = 8  # an automaton may also have as many characters as an eighth of the text: then passes cost no more than
# eight times the needles, and memory no more than some 30 bytes for each character of the text
_CODE_BITS = 21  # of a character

LATIN = frozenset(chr(code) for code in range(128) if chr(code).isalnum())


def contained_values(needles: Collection[str], text: str) -> set[str]:
    """The needles that occur in the text, in time that grows with the sum of both, not with their product."""
    work = len(needles) * len(text)
    if work <= FEW_NEEDLES or work <= AUTOMATON_COST * (len(text) + sum(map(len, needles))):
        return slow_contained(needles, text)
    return contained_by_automaton(needles, text)


def slow_contained(needles: Collection[str], text: str) -> set[str]:
    """The rule for `contained_values`: each needle is looked for."""
    return {needle for needle in needles if needle in text}


def contained_by_automaton(needles: Collection[str], text: str) -> set[str]:
    """`slow_contained` in linear time, whatever the needles are."""
    contained: set[str] = {needle for needle in needles if not needle}  # nothing is everywhere
    for automaton in automata(needles, len(text)):
        contained |= automaton.found_in(text)
    return contained


def automata(needles: Iterable[str], longest: int, size: int | None = None) -> Iterator[Automaton]:
    """Automata for all needles that are not empty nor too long, one after the other: memory is for one of them.

    `size` is that of the text that each is led over, where that is not the longest of its parts.
    """
    for together in needle_batches(needles, longest, size):
        yield Automaton(together)


def needle_batches(needles: Iterable[str], longest: int, size: int | None = None) -> Iterator[list[str]]:
    """The needles of each automaton. The longer the text, the more are together: no pass is made for a few."""
    most = max(NEEDLES_PER_BATCH, (longest if size is None else size) // BATCH_SHARE)
    together: list[str] = []
    room = most
    for needle in dict.fromkeys(needles):
        if 0 < len(needle) <= longest:
            if len(needle) > room and together:
                yield together
                together, room = [], most
            together.append(needle)
            room -= len(needle)
    if together:
        yield together


class Automaton:
    """Finds some needles in any number of texts."""

    def __init__(self, needles: Iterable[str]) -> None:
        # Nodes are beginnings of needles, numbered; node 0 is the empty one.
        self._next: dict[int, int] = {}  # node and character → the node of one character more
        self._needle: dict[int, str] = {}  # node → the needle that ends there
        parents, codes, depths = [0], [0], [0]
        for needle in needles:
            node = 0
            for code in map(ord, needle):
                key = node << _CODE_BITS | code
                following = self._next.get(key)
                if following is None:
                    following = self._next[key] = len(parents)
                    parents.append(node)
                    codes.append(code)
                    depths.append(depths[node] + 1)
                node = following
            self._needle[node] = needle
        self._suffix = [0] * len(parents)  # node → the longest proper suffix of it that is a node
        self._shorter = [0] * len(parents)  # node → the longest of these at which a needle ends
        for node in sorted(range(1, len(parents)), key=depths.__getitem__):
            if parents[node]:
                self._suffix[node] = self._step(self._suffix[parents[node]], codes[node])
            suffix = self._suffix[node]
            self._shorter[node] = suffix if suffix in self._needle else self._shorter[suffix]

    def found_in(self, text: str, *, as_words: bool = False) -> set[str]:
        """The needles that occur in the text; `as_words`, those that are not part of a longer Latin word there."""
        needle_at, shorter, step = self._needle, self._shorter, self._step
        contained: set[str] = set()
        passed: set[int] = set()  # all shorter needles that end with these were looked at: they stand in them alike
        node, last = 0, len(text) - 1
        for at, character in enumerate(text):
            node = step(node, ord(character))
            if as_words and at < last and character in LATIN and text[at + 1] in LATIN:
                continue
            ends = node if node in needle_at else shorter[node]
            while ends:
                needle = needle_at[ends]
                start = at + 1 - len(needle)
                if not (as_words and start and needle[0] in LATIN and text[start - 1] in LATIN):
                    contained.add(needle)
                if ends in passed:
                    break
                passed.add(ends)
                ends = shorter[ends]
        return contained

    def _step(self, node: int, code: int) -> int:
        """The longest suffix of what was read that begins a needle."""
        following = self._next.get(node << _CODE_BITS | code)
        while following is None and node:
            node = self._suffix[node]
            following = self._next.get(node << _CODE_BITS | code)
        return following or 0


Span = tuple[int, int]  # of characters of the text itself, the end exclusive


class NormalizedText:
    """A text, normalized, in which every character knows where it comes from."""

    def __init__(self, text: str, blanks: Blanks = "remove") -> None:
        self.text = text
        self._normalize = normalizer(blanks)
        self.normalized, self._starts, self._ends = _align(text, blanks)

    def span(self, start: int, end: int) -> Span:
        """The part of the text behind these normalized characters."""
        return self._starts[start], self._ends[end - 1]

    def holds(self, span: Span, value: str) -> bool:
        """Whether a normalized value is what stands at a place."""
        start, end = span
        return 0 <= start < end <= len(self.text) and self._normalize(self.text[start:end]) == value

    def places(self, values: Collection[str], most: int) -> dict[str, list[Span]]:
        """The places of each normalized value, at most `most` of all together; a value that is nowhere has none."""
        places: dict[str, list[Span]] = {}
        for value in values:
            at = self.normalized.find(value)
            while at >= 0 and most:
                places.setdefault(value, []).append(self.span(at, at + len(value)))
                at, most = self.normalized.find(value, at + 1), most - 1
        return places


def _align(text: str, blanks: Blanks) -> tuple[str, Sequence[int], Sequence[int]]:
    """The normalized text, and where the piece of each of its characters begins and ends: a letter with its marks."""
    parts: list[str] = []
    starts, ends = array("q"), array("q")
    before, after_blank = "", False  # the last character other than a blank, and whether a blank follows it
    for start, end in pairwise([*segment_starts(text), len(text)]):
        for character in unicode_normalize("NFKC", sort_marks(text[start:end])).translate(_TABLE):
            if character.isspace():
                after_blank = blanks == "keep" and before != ""
                continue
            form = character.casefold()
            if after_blank and not (_NEEDS_NO_BLANK[before] or _NEEDS_NO_BLANK[character]):
                form = " " + form
            before, after_blank = character, False
            parts.append(form)
            starts.extend([start] * len(form))
            ends.extend([end] * len(form))
    return "".join(parts), starts, ends
