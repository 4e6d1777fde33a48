"""Texts and blocks of a page as HTML: invisible characters are written out, and marked passages are marked.

A table can be read without a script; the page's script makes it sortable. In a text with marks, overlapping marks
are split where one begins or ends.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, groupby, pairwise
from typing import NamedTuple

from goldgate.core.finding import SEVERITIES
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    FindingList,
    Grid,
    LabelList,
    Matrix,
    MeasuredValue,
    MetricValues,
    Name,
    Notes,
    Paragraph,
    Phrase,
    Picture,
    Reasons,
    Table,
    confusion_label,
)
from goldgate.core.unit_page import Mark, MarkedText
from goldgate.report.element import Content, Markup, element, fragment
from goldgate.report.escape import (
    distinct_names,
    escape_character,
    hidden_characters,
    lookalike_key,
    shorten_middle,
    shorten_with_digest,
    visible,
    visible_name,
)
from goldgate.report.svg import draw

_AROUND = 300  # characters on both sides of a mark that are shown of a long text


class TextPiece(NamedTuple):
    """A piece of a text. All its characters have the same marks; those in `ends` end behind it."""

    start: int
    end: int
    kinds: tuple[str, ...] = ()
    wrong: bool = False
    ends: tuple[Mark, ...] = ()  # the innermost first


def split_by_marks(start: int, end: int, marks: Sequence[Mark]) -> Iterator[TextPiece]:
    """The part of a text from `start` to `end`; a mark without a character is an empty piece of its own."""
    opening: dict[int, list[Mark]] = {}
    closing: dict[int, list[Mark]] = {}
    points: dict[int, list[Mark]] = {}
    for mark in marks:
        first, last = max(mark.start, start), min(mark.end, end)
        if first < last:
            opening.setdefault(first, []).append(mark)
            closing.setdefault(last, []).append(mark)
        elif first == last and mark.start == mark.end:
            points.setdefault(first, []).append(mark)
    kinds: dict[str, int] = {}  # of the marks that are open
    wrong = 0
    places = sorted({start, end, *opening, *closing, *points})
    for here, there in pairwise((*places, end)):
        if here in points:
            yield TextPiece(here, here, ends=tuple(points[here]))
        for mark in closing.get(here, ()):
            kinds[mark.kind] -= 1
            if not kinds[mark.kind]:
                del kinds[mark.kind]
            wrong -= bool(mark.wrong)
        for mark in opening.get(here, ()):
            kinds[mark.kind] = kinds.get(mark.kind, 0) + 1
            wrong += bool(mark.wrong)
        if here < there:
            yield TextPiece(here, there, tuple(sorted(kinds)), wrong > 0, tuple(reversed(closing.get(there, ()))))


def excerpts(length: int, marks: Sequence[Mark], most: int) -> list[tuple[int, int]]:
    """The parts of a text that are shown, `most` characters of it: all of a short one, else the beginning and what
    stands around the ends of its marks, as far as there is room."""
    if length <= most:
        return [(0, length)]
    windows = [(0, max(most // 4, 1))]
    ends = sorted({max(0, min(end, length)) for mark in marks for end in (mark.start, mark.end)})
    windows += [(max(0, at - _AROUND), min(length, at + _AROUND)) for at in ends] or [(0, most)]
    parts: list[tuple[int, int]] = []
    left = most
    for start, end in windows:
        joined = bool(parts) and start <= parts[-1][1]
        start = parts[-1][1] if joined else start
        end = min(end, start + left)
        if start >= end:
            continue
        left -= end - start
        parts[-1:] = [(parts[-1][0], end)] if joined else [*parts[-1:], (start, end)]
    return parts


MAX_TEXT_LENGTH = 1_000  # characters of a sentence or a value
MAX_NAME_LENGTH = 120  # columns of a name


class DisplayLimits(NamedTuple):
    """How much of a unit is shown: what is left out is said."""

    characters: int = 12_000  # of one text
    marks: int = 300  # in one text
    rows: int = 100  # of one table


PAGE_LIMITS = DisplayLimits()  # of a page with many units

# How a kind of mark looks; whatever else a suite has looks like the last.
_LOOKS = {
    "gold": "gold",
    "predicted": "pred",
    "both": "both",
    "read": "read",
    "repair": "fix",
    "thought": "thought",
    "left_out": "left",
    "left out": "left",
    # The marks of two systems in one text.
    "gold + A + B": "both",
    "gold + A": "gold pred",
    "gold + B": "gold pred",
    "A + B": "pred",
    "A": "pred",
    "B": "pred",
}
_OTHER = "other"


def html_name(text: str) -> str:
    """An identifier, as text: blanks at its ends and what cannot be seen are written out; a long one is cut."""
    return _name_and_key(text)[0]


def html_names(texts: Iterable[str]) -> dict[str, str]:
    """Identifiers that stand together, each as text: no two of them look alike."""
    names = {text: _name_and_key(text) for text in texts}
    if all(len({*part}) == len(names) for part in zip(*names.values(), strict=True)):
        return {text: name for text, (name, _) in names.items()}
    cut = {text: _cut_name(text) for text in names}
    distinct = distinct_names(cut.values(), MAX_NAME_LENGTH, commands=False)
    return {text: distinct[short] for text, short in cut.items()}


@lru_cache(maxsize=4096, typed=True)  # a page has the same few names again and again; markup is not its text
def _name_and_key(text: str) -> tuple[str, str]:
    """The name as it is shown, and the lookalike key of all of it: cutting can hide that two names look alike."""
    whole = visible_name(_cut_name(text), commands=False)
    return shorten_middle(whole, MAX_NAME_LENGTH), lookalike_key(whole)


def _cut_name(text: str) -> str:
    """The name as text, also where it is markup; a huge one is cut before anything else is done with it."""
    return text[:] if len(text) <= MAX_TEXT_LENGTH else shorten_with_digest(text, MAX_TEXT_LENGTH)


def html_sentence(text: str) -> str:
    """A sentence, as text; of a long one the beginning."""
    more = len(text) - MAX_TEXT_LENGTH
    start = visible(text[:MAX_TEXT_LENGTH], commands=False)
    return start if more <= 0 else f"{start}… and {more:,} more characters"


def html_notes(notes: Iterable[str], **attributes: str) -> list[Markup]:
    """Small print, a paragraph for each note that is not empty."""
    return [element("p", html_sentence(note), class_="note", **attributes) for note in notes if note]


def html_running_text(text: str) -> Markup:
    """A text with its line ends; characters that cannot be seen are written out in boxes."""
    parts: list[Content] = []
    end = 0
    for at in hidden_characters(text):
        parts += [text[end:at], _boxed_character(text[at])]
        end = at + 1
    return fragment(*parts, text[end:])


def _boxed_character(character: str) -> Markup:
    title = f"U+{ord(character):04X} {unicodedata.name(character, '')}".rstrip()
    if unicodedata.category(character) == "Zs":  # a blank: it keeps its width
        return element("span", character, class_="blank", title=title)
    return element("span", escape_character(character), class_="unseen", title=title)


def html_marked_text(marked: MarkedText, label: str, limits: DisplayLimits = PAGE_LIMITS) -> Markup:
    """The text with its marks, the legend above it and the note below; of a long one the parts with marks."""
    text = marked.text
    marks = marked.marks[: limits.marks]
    letters = _letters(marks)
    parts: list[Content] = []
    before = 0
    is_plain = next(hidden_characters(text), None) is None
    for start, end in excerpts(len(text), marks, limits.characters):
        parts.append(_gap(start - before))
        for piece in split_by_marks(start, end, marks):
            part = text[piece.start : piece.end]
            content = part if is_plain else html_running_text(part)
            if piece.kinds:
                content = element("mark", content, class_=_mark_class(piece.kinds, piece.wrong))
            parts.append(content)
            parts += [_tag(letters[mark.kind], mark.kind, mark.label, mark.wrong) for mark in piece.ends]
        before = end
    parts.append(_gap(len(text) - before))
    notes = [marked.note]
    if len(marked.marks) > len(marks):
        notes.append(f"{len(marks)} of {len(marked.marks)} marks are shown")
    return fragment(
        _legend(marks, letters),
        element("div", *parts, class_="text", dir="auto", tabindex=0, role="group", aria_label=html_sentence(label)),
        html_notes(notes, dir="auto"),
    )


@cache
def _mark_class(kinds: tuple[str, ...], wrong: bool) -> str:
    return " ".join([*sorted({_LOOKS.get(kind, _OTHER) for kind in kinds}), *(["wrong"] if wrong else [])])


@lru_cache(maxsize=1024)
def _tag(letter: str, kind: str, label: str, wrong: str) -> Markup:
    """What is said of a mark, behind it: whose it is, by a letter, the label, and the error."""
    look = _LOOKS.get(kind, _OTHER) + (" wrong" if wrong else "")
    error = element("em", html_sentence(wrong)) if wrong else None
    return element("bdi", element("b", letter), html_name(label), error, class_=f"tag {look}")


def _legend(marks: Sequence[Mark], letters: dict[str, str]) -> Markup | None:
    if not marks:
        return None
    counts = {kind: sum(mark.kind == kind for mark in marks) for kind in letters}
    items = [
        element(
            "li",
            element("mark", letters[kind], class_=_LOOKS.get(kind, _OTHER)),
            f" {html_sentence(kind)} ",
            element("span", str(count), class_="count"),
        )
        for kind, count in counts.items()
    ]
    return element("ul", *items, class_="legend", aria_label="What is marked")


def _letters(marks: Sequence[Mark]) -> dict[str, str]:
    """A sign for each kind that occurs: its first letter (`GA` for `gold + A`), or as many as tell it from others."""
    letters: dict[str, str] = {}
    for kind in dict.fromkeys(mark.kind for mark in marks):
        name = html_name(kind)
        initials = "".join(part[:1].upper() for part in name.split(" + "))
        signs = chain([initials], (name[:length].capitalize() for length in range(1, len(kind) + 1)))
        letters[kind] = next((sign for sign in signs if sign not in letters.values()), str(len(letters) + 1))
    return letters


def _gap(characters: int) -> Markup | None:
    if not characters:
        return None
    return element("span", f"… {characters:,} characters …", class_="gap")


MAX_ROWS = 1_000  # of one table
MAX_GRIDS, MAX_NAMES = 12, 30  # heat maps of one matrix, rows and columns of one heat map
_TALL = 40  # rows: a longer table also scrolls by itself
_HEATS = 5  # shades
SAMPLES = "samples"  # the place of the units in the page

Facets = Mapping[str, Mapping[str, str]]  # by what units can be filtered: a name, and where each value leads


def html_block(block: Block, title: str, facets: Facets | None = None, rows: int = MAX_ROWS) -> Markup:
    """Any block. `title` names a table to those who do not see what stands above it."""
    match block:
        case Table():
            return _table(block, title, facets or {}, rows)
        case Matrix():
            return _matrix(block, title, facets or {}, rows)
        case MetricValues():
            return _values(block, title)
        case LabelList():
            return _pairs(block)
        case Paragraph():
            return element("p", html_sentence(block.text), dir="auto")
        case Notes():
            return element(
                "ul", *(element("li", html_phrase(item), dir="auto") for item in block.items), class_="notes"
            )
        case FindingList():
            return _findings(block, title, facets or {}, rows)


def html_phrase(parts: Phrase) -> list[Content]:
    """Words of one line, with the names in it."""
    return [_name_cell(part.text) if isinstance(part, Name) else html_sentence(part) for part in parts]


def figure(picture: Picture) -> Markup:
    """A picture that those who use the keyboard can scroll."""
    label = html_sentence(f"Picture: {picture.title}")
    return element("figure", draw(picture), tabindex=0, role="group", aria_label=label)


def facet_link(content: Content, facets: Facets, facet: str, value: str) -> Content:
    """The content as a link to the units that have a value, if there is a list of them."""
    href = facets.get(facet, {}).get(value)
    if href is None:
        return content
    return element("a", content, href=href, data_facet=html_name(facet), data_value=html_name(value))


def html_table(title: str, head: Content, rows: Sequence[Markup], *, class_: str = "", tall: bool = True) -> Markup:
    """A table that scrolls by itself where it is wider than the page; a long one also down, unless it is a list."""
    inner = element("table", head, element("tbody", *rows), class_=class_ or None)
    looks = "wide tall" if tall and len(rows) > _TALL else "wide"
    return element("div", inner, class_=looks, tabindex=0, role="region", aria_label=html_sentence(title))


def column_heads(titles: Sequence[str], numbers: Sequence[bool] = ()) -> Markup:
    """The titles of columns, in one row."""
    right = numbers or [False] * len(titles)
    return element("thead", element("tr", *(_head(title, number) for title, number in zip(titles, right, strict=True))))


def number_cell(value: MeasuredValue, *, counts: bool = False) -> Markup:
    """The cell of a number, with what stands behind it below."""
    number = element("strong", f"{value}*") if value.best else str(value)
    behind = [str(value.interval)] if value.interval is not None else []
    behind += [value.counts] if counts and value.counts else []
    below = [element("small", text) for text in behind]
    key = "" if value.value is None else repr(float(value.value))
    why = html_sentence(value.reason) if value.reason and not counts else None  # with counts, it is below the table
    return element("td", number, below, class_="num", data_key=key, title=why)


def _head(title: str, is_number: bool) -> Markup:
    return element("th", html_sentence(title), scope="col", class_="num" if is_number else None)


def _name_cell(text: str) -> Markup:
    return element("code", html_name(text), dir="auto")


def _table(block: Table, title: str, facets: Facets, most: int) -> Markup:
    if not block.rows:
        return element("p", html_sentence(f"{block.empty[:1].upper()}{block.empty[1:]}."), class_="none")
    most = min(block.most or most, most)
    cells = [_cells(column, n, most, block, facets) for n, column in enumerate(zip(*block.rows, strict=True))]
    rows = [
        element("tr", *row, class_="marked", tabindex=-1) if number in block.marked else element("tr", *row)
        for number, row in enumerate(zip(*cells, strict=True))
    ]
    table = html_table(title, _group_heads(block.columns, tuple(block.number_columns())), rows, class_="data")
    return fragment(table, _more(len(block.rows) - len(rows)), _reasons(block.reasons()))


@lru_cache(maxsize=256)  # the tables of all units have the same few
def _group_heads(columns: tuple[Column, ...], numbers: tuple[bool, ...]) -> Markup:
    """The titles, and above them the groups where there are any."""
    row = element("tr", *(_head(column.title, right) for column, right in zip(columns, numbers, strict=True)))
    if not any(column.group for column in columns):
        return element("thead", row)
    groups = [(group, len([*members])) for group, members in groupby(columns, key=lambda column: column.group)]
    above = [
        element("th", html_sentence(group), scope="colgroup", colspan=span) if group else element("td", colspan=span)
        for group, span in groups
    ]
    return element("thead", element("tr", *above, class_="groups"), row)


def _cells(column: Sequence[Cell], place: int, most: int, table: Table, facets: Facets) -> list[Markup]:
    """The first cells of a column."""
    names = html_names(cell.text for cell in column if isinstance(cell, Name))
    title = table.columns[place].title
    links = facets.get(title, {})
    cells: list[Markup] = []
    for cell in column[:most]:
        if isinstance(cell, MeasuredValue):
            cells.append(number_cell(cell, counts=table.with_counts))
        elif isinstance(cell, Name):
            cells.append(_text_cell(cell.text, names[cell.text], title, place == 0, links.get(cell.text)))
        else:
            cells.append(_text_cell(cell, None, title, place == 0, links.get(cell)))
    return cells


@lru_cache(maxsize=4096, typed=True)  # tables have the same few names again and again
def _text_cell(text: str, name: str | None, title: str, is_first: bool, href: str | None) -> Markup:
    """The cell of a text, or of a name as it is shown, in the column of this title."""
    content: Content = html_sentence(text) if name is None else element("code", name)
    if href is not None:
        content = facet_link(content, {title: {text: href}}, title, text)
    if title == "interval":
        return element("td", content, class_="num")
    if is_first and text != "":
        return element("th", content, scope="row", dir="auto")
    return element("td", content, dir="auto")


def _matrix(block: Matrix, title: str, facets: Facets, rows: int) -> Markup:
    """A heat map for each group, the most first; behind it all pairs as a table, which can be sorted."""
    if not block.cells:
        return element("p", html_sentence(f"{block.empty[:1].upper()}{block.empty[1:]}."), class_="none")
    most = max(_HEATS, *(cell.count for cell in block.cells))  # one confusion is no hot spot
    grids = [_grid(grid, block, title, most, facets) for grid in block.grids()[:MAX_GRIDS]]
    table = _table(block.as_table(), title, facets, rows)
    pairs = element("details", element("summary", "As a list"), table, class_="list")
    return fragment(element("div", *grids, class_="grids"), pairs)


def _grid(grid: Grid, block: Matrix, title: str, most: int, facets: Facets) -> Markup:
    """Rows by columns; the darker, the more; the count in each leads to its units."""
    rows, columns = grid.rows[:MAX_NAMES], grid.columns[:MAX_NAMES]
    names = html_names((*grid.rows, *grid.columns))
    titles = (f"{html_sentence(block.row_title)} ↓", f"{html_sentence(block.column_title)} →", f"({block.counted})")
    corner = element("td", " ".join(titles))
    head = element("tr", corner, *(element("th", names[each], scope="col", dir="auto") for each in columns))
    body = []
    for row, counts in zip(rows, grid.counts, strict=False):
        cells = [
            element(
                "td",
                facet_link(str(count), facets, block.facet, confusion_label(row, column, grid.group)),
                class_=f"heat h{-(-count * _HEATS // most)}",
            )
            if count
            else element("td", class_="heat")
            for column, count in zip(columns, counts, strict=False)
        ]
        body.append(element("tr", element("th", names[row], scope="row", dir="auto"), *cells))
    label = f"{title}: {grid.group}" if grid.group else title
    caption = element("p", element("code", html_name(grid.group), dir="auto"), class_="group") if grid.group else None
    return element("div", caption, html_table(label, element("thead", head), body, class_="heats"))


def _values(block: MetricValues, title: str) -> Markup:
    if block.only_reason() is not None:
        return fragment(_reasons(block.reasons()))
    rows = [
        element(
            "tr",
            element("th", _name_cell(line.name), scope="row"),
            element("td", line.value, class_="num"),
            element("td", line.interval, class_="num") if block.has_intervals else None,
            element("td", html_sentence(line.counts), class_=None if line.has_reason else "num"),
        )
        for line in block.lines()
    ]
    titles = ["metric", "value", *(["interval"] if block.has_intervals else []), "counts"]
    table = html_table(title, column_heads(titles, [title != "metric" for title in titles]), rows, class_="values")
    return fragment(table, _reasons(block.shared_reasons()))


def _reasons(reasons: Reasons) -> list[Markup]:
    return html_notes(f"n/a: {', '.join(metrics)}: {reason}" for reason, metrics in reasons.items())


def _pairs(block: LabelList) -> Markup:
    rows: list[Content] = []
    for pair in block.rows:
        label = _name_cell(pair.label.text) if isinstance(pair.label, Name) else html_sentence(pair.label)
        parts = [(", ", element("span", html_sentence(part), dir="auto")) for part in pair.parts]
        rows.append(element("div", element("dt", label), element("dd", *[*chain.from_iterable(parts)][1:])))
    return element("dl", *rows)


def _findings(block: FindingList, title: str, facets: Facets, most: int) -> Markup:
    if not block.rows:
        return element("p", "None.", class_="none")
    most = min(block.most or most, most)
    rows = [
        element(
            "tr",
            element("td", html_sentence(severity), class_=f"severity {severity}" if severity in SEVERITIES else None),
            element("td", facet_link(_name_cell(code), facets, "finding", code)),
            element("td", facet_link(html_sentence(place), facets, "id", unit), dir="auto"),
            element("td", html_sentence(message), dir="auto"),
        )
        for severity, code, place, message, unit, *_ in block.rows[:most]
    ]
    table = html_table(title, column_heads(block.heads), rows, class_="data findings")
    return fragment(table, _more(len(block.rows) - len(rows)))


def _more(count: int) -> Markup | None:
    return element("p", f"… and {count} more; the JSON report has all.", class_="note") if count > 0 else None
