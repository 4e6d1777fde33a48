"""Text in so many columns: wrapped lists, labels, and tables that always fit. All that is given is safe to show.

A table that is too wide leaves out what is optional, shortens names in the middle, wraps its widest text, and at last
puts columns under their rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from goldgate.core.page import NOT_AVAILABLE
from goldgate.report.escape import apart, shortened, shortened_in_the_middle, visible, width

COLUMNS = 80
NARROWEST = 40  # columns of a terminal; one that is narrower breaks lines by itself
INDENT = "  "
_GAP = "  "
_NAME_COLUMNS = 12  # a name is not shortened further than this
_TEXT_COLUMNS = 20  # a text is not wrapped in less than this
_BETWEEN_WORDS = re.compile(" (?!%)")
_WORDS = re.compile("[^ ]+ *| +")
_COLOURS = {"PASS": 32, "FAIL": 31, "INCONCLUSIVE": 33, "SYSTEM_ERROR": 31, "NO_GATES": 33, NOT_AVAILABLE: 33}


class Shown(NamedTuple):
    """A cell: lines of text. A name can be shortened, a text wrapped; a number goes to the right."""

    lines: tuple[str, ...]
    kind: Literal["fixed", "name", "text", "number", "verdict"] = "fixed"
    name: str = ""  # as it is in the data, if this is one

    @property
    def width(self) -> int:
        return max(map(width, self.lines), default=0)


class Head(NamedTuple):
    """The head of a column."""

    title: str = ""
    group: str = ""
    optional: bool = False


class Row(NamedTuple):
    """Cells, and a note to stand under them."""

    cells: tuple[Shown, ...]
    note: str = ""


def wrapped(
    parts: Sequence[str],
    columns: int,
    begin: str = "",
    indent: str = "",
    separator: str = " ",
    most: int | None = None,
) -> list[str]:
    """Parts on as many lines as they need, up to `most`; one is only broken if it is longer than a line."""
    lines, line, is_new = [], begin, True
    for number, part in enumerate(parts):
        piece = part + (separator if number < len(parts) - 1 else "")
        for fragment in _fragments(piece, max(2, columns - width(indent))):
            fits = width(line) + width(fragment.rstrip(" ")) <= columns
            if not fits and (not is_new or width(line) > width(indent)):
                lines.append(line.rstrip(" "))
                line = indent
            line, is_new = line + fragment, False
    lines.append(line.rstrip(" "))
    if most is not None and len(lines) > most:
        lines[most - 1] = shortened(lines[most - 1], columns - 2).rstrip("… ") + " …"
        del lines[most:]
    return lines


def words(text: str, columns: int, indent: str = "", begin: str | None = None, most: int | None = None) -> list[str]:
    """A text, broken between words; a number and its % are one."""
    return wrapped(_BETWEEN_WORDS.split(text), columns, indent if begin is None else begin, indent, most=most)


def labelled(
    label: str, parts: Sequence[str], columns: int, label_width: int, separator: str = ", ", indent: str = INDENT
) -> list[str]:
    """A label, and beside it the parts; a single part is broken between its words."""
    if len(parts) == 1:
        parts, separator = parts[0].split(" "), " "
    label_width = min(label_width, columns // 2)
    label = shortened_in_the_middle(label, label_width)
    begin = indent + label + " " * (label_width - width(label)) + _GAP
    return wrapped(parts, columns, begin, " " * width(begin), separator)


def paint(text: str, verdict: str, *, colour: bool) -> str:
    """The text in the colour of a verdict, where colour is wanted."""
    number = _COLOURS.get(verdict)
    return f"\x1b[{number}m{text}\x1b[0m" if colour and number is not None else text


def table(heads: Sequence[Head], rows: Sequence[Row], columns: int, *, colour: bool = False) -> list[str]:
    """Rows with aligned columns, none of them wider than `columns`; heads without any title are not shown."""
    fixed = [n for n, head in enumerate(heads) if not head.optional]
    room = columns - len(INDENT)
    for chosen in _choices(heads, fixed):
        fitted = _fit([heads[n] for n in chosen], [[row.cells[n] for n in chosen] for row in rows], room)
        if fitted is not None:
            break
    else:
        fitted = [[_cut(row.cells[n], room) for n in chosen] for row in rows]
    shown_heads = [heads[n]._replace(title=shortened_in_the_middle(heads[n].title, room)) for n in chosen]
    lines, widths = _head_lines(shown_heads, fitted), _widths(shown_heads, fitted)
    for row, cells in zip(rows, fitted, strict=True):
        lines += _row_lines(cells, widths, colour=colour)
        below = [_named(heads[n], row.cells[n]) for n in fixed if n not in chosen and any(row.cells[n].lines)]
        if below:
            lines += wrapped(below, columns, INDENT * 3, INDENT * 3, ", ")
        if row.note:
            lines += words(row.note, columns, INDENT * 3)
    return lines


def verdict_lines(verdict: str, sentences: Sequence[str], columns: int, colour: bool) -> list[str]:
    """A verdict, and beside it a line or more for each sentence, which need not be safe to show."""
    indent = " " * (len(verdict) + len(_GAP))
    lines = [line for sentence in sentences for line in words(visible(sentence), columns, indent)]
    return [paint(verdict, verdict, colour=colour) + lines[0][len(verdict) :], *lines[1:]]


def more(count: int, indent: str = INDENT) -> list[str]:
    """A line on what is not shown."""
    return [f"{indent}… and {count} more (--format json shows all)"] if count > 0 else []


def _fragments(piece: str, room: int) -> Iterator[str]:
    """The piece, if it fits into a line; else its words; else parts of them."""
    if width(piece.rstrip(" ")) <= room:
        yield piece
        return
    for word in _WORDS.findall(piece):
        while width(word.rstrip(" ")) > room:
            part = shortened(word, room + 1)[:-1] or word[:1]
            yield part
            word = word[len(part) :]
        if word:
            yield word


def _choices(heads: Sequence[Head], fixed: list[int]) -> Iterator[list[int]]:
    """Which columns could stand side by side: all; fewer and fewer that are optional, the last one left out first; then
    fewer and fewer of the rest, groups as a whole, at last the first."""
    optional = [n for n, head in enumerate(heads) if head.optional]
    for kept in range(len(optional), 0, -1):
        yield sorted([*fixed, *optional[:kept]])
    for kept in range(len(fixed), 0, -1):
        group = heads[fixed[kept - 1]].group
        if kept in (1, len(fixed)) or not group or heads[fixed[kept]].group != group:
            yield fixed[:kept]


def _fit(heads: Sequence[Head], cells: list[list[Shown]], room: int) -> list[list[Shown]] | None:
    """The cells with names shortened and one text wrapped, as far as it needs; None if that does not help."""
    widths = _widths(heads, cells)
    excess = _total(widths) - room
    widest_first = sorted(range(len(heads)), key=lambda n: (-widths[n], n))
    for kind, least in (("name", _NAME_COLUMNS), ("text", _TEXT_COLUMNS)):
        for n in widest_first:
            narrow = max(least, widths[n] - excess, width(heads[n].title))
            if excess > 0 and narrow < widths[n] and any(cell.kind == kind for cell in (row[n] for row in cells)):
                cells = _narrowed(cells, n, narrow)
                excess -= widths[n] - narrow
    return cells if excess <= 0 else None


def _narrowed(cells: list[list[Shown]], n: int, narrow: int) -> list[list[Shown]]:
    names = apart((row[n].name for row in cells if row[n].kind == "name"), narrow)
    return [[*row[:n], _narrow(row[n], names, narrow), *row[n + 1 :]] for row in cells]


def _narrow(cell: Shown, names: dict[str, str], narrow: int) -> Shown:
    if cell.kind == "name":
        return cell._replace(lines=(names[cell.name],))
    return cell._replace(lines=tuple(part for line in cell.lines for part in words(line, narrow)))


def _cut(cell: Shown, room: int) -> Shown:
    return cell._replace(lines=tuple(shortened_in_the_middle(line, room) for line in cell.lines))


def _widths(heads: Sequence[Head], cells: list[list[Shown]]) -> list[int]:
    return [max([width(head.title), *(row[n].width for row in cells)]) for n, head in enumerate(heads)]


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def _head_lines(heads: Sequence[Head], cells: list[list[Shown]]) -> list[str]:
    widths, lines = _widths(heads, cells), []
    if any(head.group for head in heads):
        line = ""
        for group, members in groupby(range(len(heads)), key=lambda n: heads[n].group):
            span = _total([widths[n] for n in members])
            name = shortened(group, span)
            line += name + " " * (span - width(name)) + _GAP
        lines.append((INDENT + line).rstrip(" "))
    if any(head.title for head in heads):
        numbers = [any(row[n].kind == "number" for row in cells) for n in range(len(heads))]
        titles = [Shown((h.title,), "number" if right else "fixed") for h, right in zip(heads, numbers, strict=True)]
        lines += _row_lines(titles, widths)
    return lines


def _row_lines(cells: Sequence[Shown], widths: Sequence[int], *, colour: bool = False) -> list[str]:
    lines = []
    for number in range(max((len(cell.lines) for cell in cells), default=0)):
        line = INDENT
        for cell, columns in zip(cells, widths, strict=True):
            text = cell.lines[number] if number < len(cell.lines) else ""
            blanks = " " * (columns - width(text))
            if cell.kind in ("verdict", "number"):
                text = paint(text, text.split(" ")[0], colour=colour)
            line += (blanks + text if cell.kind == "number" else text + blanks) + _GAP
        lines.append(line.rstrip(" "))
    return lines


def _named(head: Head, cell: Shown) -> str:
    """A cell that stands under its row: `relaxed P 0.8588 (280/326)`; an interval has brackets of its own."""
    value, *others = filter(None, cell.lines)
    behind = " ".join(others)
    counts = behind if not others or (len(others) == 1 and behind.startswith("[")) else f"({behind})"
    return " ".join(filter(None, (head.group, head.title, value, counts)))
