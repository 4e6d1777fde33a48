"""How wide a text is, without a browser: the widths of a common sans-serif font, and some room for wider ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from unicodedata import combining, east_asian_width

from goldgate.report.escape import apart, named, shortened, shortened_apart, shortened_in_the_middle, width

SIZE = 12  # of letters, in units of the picture
BOLD = 13  # 12, and bold
SMALL = 11
TITLE = 15  # 14, and bold

# Widths in thousandths of the size, as in Helvetica and Arial.
_GROUPS = {
    222: "ijl'|",
    278: " ,./:;!\\tfI[]",
    333: '()r-`{}"',
    500: "csvxyzkJ*^",
    584: "+<=>~≥≤",
    611: "FTZ",
    667: "ABEKPSVXY&",
    722: "CDHNRUw",
    778: "GOQ",
    833: "mM",
    944: "W%@…",
}
_WIDTHS = {letter: wide for wide, letters in _GROUPS.items() for letter in letters}
_DIGIT, _OTHER, _WIDE = 556, 600, 1000
_ROOM = 1.06  # other fonts are wider
_NARROW = 0.3  # of the size: few letters are narrower
_NUMBER = 90  # the most room for a number
_LEAST_COLUMNS = 8  # of a label, however little room there is
_LONGEST = 400  # columns of a label that are looked at
_WHOLE = 2_000  # characters of a label that are there to be read in full


def text_width(text: str, size: float = SIZE) -> float:
    """About how wide a text is drawn."""
    return sum(map(_letter, text)) * size * _ROOM / 1000


def fit_labels(labels: Iterable[str], room: float, size: float = SIZE) -> dict[str, str]:
    """Each label as it is shown, no two alike and none wider than the room."""
    # The longest are cut before anything else is done with them; a digest tells them apart.
    whole = {label: shortened_apart(label, _LONGEST) for label in labels}
    named_apart = apart(whole.values())
    short = {label: _fit(named_apart[cut], room, size, shortened_in_the_middle) for label, cut in whole.items()}
    times = Counter(short.values())
    return {
        label: _fit(named_apart[whole[label]], room, size, shortened_apart) if times[shown] > 1 else shown
        for label, shown in short.items()
    }


def fit_text(text: str, room: float, size: float = SIZE) -> str:
    """A text that stands by itself, cut where it would be wider than the room."""
    return fit_labels([text], room, size)[text]


def cut_to(text: str, room: float, size: float = SIZE) -> str:
    """A text that is safe to show already, cut where it would be wider than the room."""
    return _fit(text, room, size, shortened_in_the_middle)


def fit_number(number: object) -> str:
    """A number or an interval; one with hundreds of digits is cut."""
    return fit_text(str(number), _NUMBER)


def in_full(label: str) -> str:
    """A label as it can be looked up, where it was cut to fit, or read aloud; only the longest end early."""
    return shortened(named(label[:_WHOLE]), _WHOLE)


def described(sentences: Iterable[str]) -> str:
    """What a picture says, for those who do not see it."""
    return ". ".join(in_full(sentence.rstrip(".")) for sentence in sentences if sentence) + "."


def _fit(text: str, room: float, size: float, cut: Callable[[str, int], str]) -> str:
    """The text with as many columns as have room."""
    columns = min(width(text), int(room / (_NARROW * size)))
    while text_width(shown := cut(text, columns), size) > room and columns > _LEAST_COLUMNS:
        columns -= 1
    return shown


def _letter(letter: str) -> int:
    if letter in _WIDTHS:
        return _WIDTHS[letter]
    if letter.isascii():
        return _DIGIT
    if combining(letter):
        return 0
    return _WIDE if east_asian_width(letter) in "WF" else _OTHER
