r"""Text from data made safe to show, and so that what differs looks different.

A model's answer must not move the cursor, break a table, add a link, call a person or give a command to the program
that runs the job: CI runners obey lines such as `::add-mask::x`, and `##[…]` or `##vso[…]` anywhere in a line. Whatever
cannot be seen, or looks like something else, is written out: ESC as `\x1b`, U+202E as `\u202e`. A backslash that would
read as such an escape is one itself (`\x5c`), so that no two texts are shown alike for that reason.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from unicodedata import combining, east_asian_width, is_normalized, normalize

_MARKS = 4  # characters a column: combining marks need none, and there could be thousands of them
_DIGEST = 6  # hex digits that tell two cut names apart

# Where a command to a CI runner would begin, and a backslash that would read as an escape.
_COMMAND = re.compile(r"(?<=:):|(?<=#)#|\\(?=[xuU])")
_BACKSLASH = re.compile(r"\\(?=[xuU])")
# Characters that are not seen although they are letters, marks or signs: fillers, selectors, a blank of Braille.
_BLANK = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff"
_UNSEEN = re.compile(f"[{_BLANK}]")
_JOINING = re.compile("[\u1160-\u11ff]")  # Hangul that joins the letter before it, as combining marks do
_WORD = re.compile(r"\w+")
# Greek, Cyrillic and Armenian letters that look like a Latin one, and the one that they look like.
_LOOK = (
    "ΑA ΒB ΕE ΖZ ΗH ΙI ΚK ΜM ΝN ΟO ΡP ΤT ΥY ΧX οo νv ϲc ϳj "
    "АA ВB ЕE КK МM НH ОO РP СC ТT УY ХX аa еe оo рp сc уy хx іi јj ѕs һh ԁd ԛq ԝw ӏl ЅS ІI ЈJ ԚQ ԜW "
    "օo սu հh յj ցg"
)
_LATIN = str.maketrans({pair[0]: pair[1] for pair in _LOOK.split()})
_LOOKALIKE = re.compile(f"[{''.join(map(chr, _LATIN))}]")
# Every character of which anything may have to be written out, but for those that Python does not call printable.
_CAREFUL_IN_HTML = re.compile(rf"[\\{_BLANK}{''.join(map(chr, _LATIN))}]")
_CAREFUL = re.compile(rf"[\\:#{_BLANK}{''.join(map(chr, _LATIN))}]")
_COLOUR = re.compile(r"(\x1b\[[0-9;]*m)")
_BLANKS = re.compile(r"^ | $|(?<= ) ")  # a page shows many blanks as one, and none at the ends
_IN_MARKDOWN = str.maketrans({each: f"\\{each}" for each in "\\`*_[]<>#|~&"})
# What GitHub and GitLab make a link or a mention of even behind a backslash, because they look at the finished page.
_LINK = re.compile(r"(?:@|://|(?<=[wW]{3})\.|[#!](?=\d)|\bGH-(?=\d))+")
_BACKTICKS = re.compile("`+")


def visible(text: str, *, commands: bool = True) -> str:
    r"""The text with what cannot be seen, or would be a command, written out.

    Where commands to a CI runner are prevented otherwise, they stay as they are.
    """
    return text if needs_no_escapes(text, commands=commands) else escape_hidden(text, commands=commands)


def needs_no_escapes(text: str, *, commands: bool = True) -> bool:
    """Whether nothing has to be written out, as far as that is seen at once."""
    careful = _CAREFUL if commands else _CAREFUL_IN_HTML
    return text.isprintable() and careful.search(text) is None and is_normalized("NFC", text)


def escape_hidden(text: str, *, commands: bool = True) -> str:
    """What `visible` gives, character by character."""
    places = {match.start() for match in (_COMMAND if commands else _BACKSLASH).finditer(text)}
    if not (text.isascii() and text.isprintable()):
        hidden = _hidden_in(text)
        places |= {at for at, character in enumerate(text) if hidden(character)}
        places |= {at for word in _WORD.finditer(text) for at in _lookalikes(word)}
    if not places:
        return text
    return "".join(escape_character(character) if at in places else character for at, character in enumerate(text))


def visible_name(text: str, *, commands: bool = True) -> str:
    """The text where nothing else stands beside it: blanks at its ends, and several in a row, are written out too."""
    name = visible(text, commands=commands)
    if "  " in name or name[:1] == " " or name[-1:] == " ":
        return _BLANKS.sub(lambda blank: escape_character(blank.group()), name)
    return name


def distinct_names(names: Iterable[str], columns: int | None = None, *, commands: bool = True) -> dict[str, str]:
    """Names made visible and cut to `columns`, such that no two look alike."""
    forms = {text: visible_name(text, commands=commands) for text in names}
    if not all(map(str.isascii, forms.values())):
        keys = Counter(map(lookalike_key, forms.values()))
        for text, form in forms.items():
            if keys[lookalike_key(form)] > 1:
                forms[text] = "".join(c if c.isascii() else escape_character(c) for c in form)
    if columns is None:
        return forms
    short = {text: shorten_middle(form, columns) for text, form in forms.items()}
    for _ in range(2):
        alike: dict[str, list[str]] = {}
        for text, cut in short.items():
            alike.setdefault(cut, []).append(text)
        for texts in (texts for texts in alike.values() if len(texts) > 1):
            short |= _without_common_start({text: forms[text] for text in texts}, columns)
    counts = Counter(short.values())
    return {
        text: shorten_with_digest(form, columns) if counts[short[text]] > 1 else short[text]
        for text, form in forms.items()
    }


def _without_common_start(forms: dict[str, str], columns: int) -> dict[str, str]:
    """Names cut to `columns` from about where they differ: at the key of a path, or the word, that is not the same."""
    first = next(iter(forms.values()))
    same = next((n for n, letters in enumerate(zip(*forms.values(), strict=False)) if len({*letters}) > 1), 0)
    start = max(first.rfind(mark, 0, same) for mark in "._ ") + 1
    start = start if same - start <= columns // 4 else same
    return {text: shorten_middle(f"…{form[start:]}", columns) for text, form in forms.items()}


def escape_markdown(text: str) -> str:
    """The text as it stands inside a line or a table cell of Markdown: no markup, no HTML, no links, no mentions."""
    name, parts, end = visible_name(text), list[str](), 0
    for link in _LINK.finditer(name):
        parts += [name[end : link.start()].translate(_IN_MARKDOWN), f"`{link.group()}`"]
        end = link.end()
    return "".join([*parts, name[end:].translate(_IN_MARKDOWN)])


def markdown_code(text: str, *, in_table: bool = True, is_visible: bool = False) -> str:
    """The text as a Markdown code span; inside a table a `|` needs a backslash even there.

    `is_visible` says that `distinct_names` or `visible_name` returned the text.
    """
    name = text if is_visible else visible_name(text)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(name)), default=0))
    pad = " " if name.startswith("`") or name.endswith("`") else ""
    span = f"{fence}{pad}{name}{pad}{fence}"
    return span.replace("|", "\\|") if in_table else span


def display_width(text: str) -> int:
    """How many columns a terminal needs: two for a wide East Asian character, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def shorten(text: str, columns: int) -> str:
    """The text cut to `columns`; what does not fit becomes `…`."""
    if len(text) * 2 <= columns:  # however wide its characters are
        return text
    if len(text) <= columns * _MARKS and display_width(text) <= columns:  # a huge text is not measured
        return text
    kept, used = [], 0
    for character in text[: columns * _MARKS]:
        used += _columns(character)
        if used > columns - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def shorten_middle(text: str, columns: int) -> str:
    """The text cut to `columns` in the middle: names that begin alike mostly end differently."""
    if shorten(text, columns) == text:
        return text
    tail, used = [], 0
    for character in reversed(text[-columns * _MARKS :]):
        used += _columns(character)
        if used > (columns - 1) // 2:
            break
        tail.append(character)
    end = "".join(reversed(tail))
    return shorten(text, columns - display_width(end)) + end


def shorten_with_digest(text: str, columns: int) -> str:
    """The text cut to `columns`, with a digest behind the `…`: texts with other cut parts look different."""
    if shorten(text, columns) == text:
        return text
    digest = sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:_DIGEST]
    return f"{shorten(text, columns - 1 - _DIGEST)}~{digest}"


def hidden_characters(text: str) -> Iterator[int]:
    """Where in a running text a character stands that cannot be seen, or is a blank of another kind; no line ends."""
    if text.replace("\n", "").replace("\t", "").isprintable() and not _UNSEEN.search(text):
        return
    for at, character in enumerate(text):
        if character not in "\n\t" and (not character.isprintable() or _UNSEEN.match(character)):
            yield at


def _hidden_in(text: str) -> Callable[[str], bool]:
    """Which characters of this text are written out."""
    # Control and format characters (bidi, zero width), surrogates, blanks but for the common one, unassigned ones.
    if is_normalized("NFC", text):
        return lambda character: not character.isprintable() or _UNSEEN.match(character) is not None
    # A letter in two pieces looks like the one in one piece.
    return lambda character: (
        not character.isprintable()
        or _UNSEEN.match(character) is not None
        or combining(character) > 0
        or _JOINING.match(character) is not None
        or not is_normalized("NFC", character)
    )


def _lookalikes(word: re.Match[str]) -> Iterator[int]:
    """Where in a word of Latin letters a foreign one stands that looks like one of theirs."""
    text = word.group()
    if not text.isascii() and re.search("[A-Za-z]", text):
        yield from (word.start() + at for at, character in enumerate(text) if ord(character) in _LATIN)


def lookalike_key(text: str) -> str:
    """A key that names share if they look alike, such as one with a Latin A and one with a Cyrillic A."""
    if text.isascii():
        return text
    text = normalize("NFKC", text)
    return text.translate(_LATIN) if _LOOKALIKE.search(text) else text


def _columns(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def escape_character(character: str) -> str:
    r"""A character written out: `\x1b`, `\u202e`."""
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def escape_json(document: str) -> str:
    r"""A JSON document with what cannot be seen as JSON's own escapes (`\u202e`), and no `##` for a CI runner to obey.

    Both can only stand in its strings, so that it says the same as before.
    """
    document = document.replace("##", "#\\u0023")
    return document.translate({ord(each): json.dumps(each)[1:-1] for each in _unprintable(document)})


def escape_for_terminal(text: str) -> str:
    """The text with what a terminal could obey or hide written out, except line ends and colours."""
    escapes = {ord(each): escape_character(each) for each in _unprintable(text)}
    if not escapes:
        return text
    return "".join(part if at % 2 else part.translate(escapes) for at, part in enumerate(_COLOUR.split(text)))


def _unprintable(text: str) -> set[str]:
    return {each for each in set(text) if not (each.isprintable() or each == "\n")}


LISTED_LOSSES = 20


def losses_text(title: str, lost: Sequence[str]) -> str:
    """The first lines on what a conversion could not keep; nothing where all was kept."""
    lines = [f"  {visible(each)}\n" for each in lost[:LISTED_LOSSES]]
    more = f"  and {len(lost) - LISTED_LOSSES} more\n" if len(lost) > LISTED_LOSSES else ""
    return f"{title} ({len(lost)}):\n{''.join(lines)}{more}" if lost else ""
