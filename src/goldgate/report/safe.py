"""Text from data made safe to show: a model's answer must not move the cursor, break a table or add a link."""

from __future__ import annotations

import json
import re
from unicodedata import category, combining, east_asian_width

# Control (C0, C1, ESC, new lines), format (bidi overrides, zero width), surrogates, line and paragraph separators.
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_MARKUP = re.compile(r"[\\`*_\[\]<>#|~&@]|:(?=//)|(?<=[wW]{3})\.")  # the last two: bare addresses become links
_MARKS = 4  # characters a column: combining marks need none, and there could be thousands of them
_BACKTICKS = re.compile("`+")


def visible(text: str) -> str:
    r"""The text with what cannot be seen written out: ESC as `\x1b`, U+202E as `\u202e`."""
    if text.isprintable():
        return text
    return "".join(_escape(character) if category(character) in _UNSAFE else character for character in text)


def markdown(text: str) -> str:
    """The text as it stands inside a line or a table cell of Markdown: no markup, no HTML, no links."""
    return _MARKUP.sub(r"\\\g<0>", visible(text))


def code(text: str, *, in_table: bool = True) -> str:
    """The text as a Markdown code span; inside a table a `|` needs a backslash even there."""
    shown = visible(text)
    fence = "`" * (1 + max((len(run) for run in _BACKTICKS.findall(shown)), default=0))
    pad = " " if shown.startswith("`") or shown.endswith("`") else ""
    span = f"{fence}{pad}{shown}{pad}{fence}"
    return span.replace("|", "\\|") if in_table else span


def width(text: str) -> int:
    """How many columns a terminal needs: two for a wide East Asian character, none for a combining mark."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def shortened(text: str, columns: int) -> str:
    """The text in so many columns; what does not fit becomes `…`."""
    if width(text) <= columns and len(text) <= columns * _MARKS:
        return text
    kept, used = [], 0
    for character in text[: columns * _MARKS]:
        used += _columns(character)
        if used > columns - 1:
            break
        kept.append(character)
    return "".join(kept) + "…"


def _columns(character: str) -> int:
    if combining(character):
        return 0
    return 2 if east_asian_width(character) in "WF" else 1


def _escape(character: str) -> str:
    number = ord(character)
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"


def in_json(document: str) -> str:
    r"""A JSON document with what cannot be seen as JSON's own escapes (`\u202e`), and no `##` for a CI runner to obey.

    Both can only stand in its strings, so that it says the same as before.
    """
    document = document.replace("##", "#\\u0023")
    if document.isascii() and document.replace("\n", "").isprintable():
        return document
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in document)
