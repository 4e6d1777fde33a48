"""Texts and blocks of a page as HTML: invisible characters are written out, and marked passages are marked.

A table can be read without a script; the page's script makes it sortable. In a text with marks, overlapping marks
are split where one begins or ends.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby, pairwise
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
)
from goldgate.core.unit_page import Mark, MarkedText
from goldgate.report.element import Content, Markup, element, element_template, fragment
from goldgate.report.escape import (
    distinct_names,
    escape_character,
    fit_name,
    hidden_characters,
    shorten_with_digest,
    visible,
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
    kinds: Counter[str] = Counter()
    wrong = 0
    places = sorted({start, end, *opening, *closing, *points})
    for here, there in pairwise((*places, end)):
        if here in points:
            yield TextPiece(here, here, ends=tuple(points[here]))
        for mark in opening.get(here, ()):
            kinds[mark.kind] += 1
            wrong += bool(mark.wrong)
        if here < there:
            ended = tuple(reversed(closing.get(there, ())))
            yield TextPiece(here, there, tuple(sorted(kind for kind in kinds if kinds[kind])), wrong > 0, ended)
        for mark in closing.get(there, ()):
            kinds[mark.kind] -= 1
            wrong -= bool(mark.wrong)


def excerpts(length: int, marks: Sequence[Mark], most: int) -> list[tuple[int, int]]:
    """The parts of a text that are shown, `most` characters of it: all of a short one, else the beginning and what
    stands around the ends of its marks, as far as there is room."""
    if length <= most:
        return [(0, length)]
    wanted = [(0, max(most // 4, 1))]
    ends = sorted({max(0, min(end, length)) for mark in marks for end in (mark.start, mark.end)})
    wanted += [(max(0, at - _AROUND), min(length, at + _AROUND)) for at in ends] or [(0, most)]
    found: list[tuple[int, int]] = []
    left = most
    for start, end in wanted:
        joined = bool(found) and start <= found[-1][1]
        start = found[-1][1] if joined else start
        end = min(end, start + left)
        if start >= end:
            continue
        left -= end - start
        found[-1:] = [(found[-1][0], end)] if joined else [*found[-1:], (start, end)]
    return found


MOST_WORDS = 1_000  # characters of a sentence or a value
MOST_NAME = 120  # columns of a name


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
}
_OTHER = "other"
_B, _EM = element_template("b"), element_template("em")


def html_name(text: str) -> str:
    """An identifier, as text: blanks at its ends and what cannot be seen are written out; a long one is cut."""
    if len(text) <= MOST_NAME:
        return _short_name(text[:])  # as text, also what is markup
    return fit_name(
        text if len(text) <= MOST_WORDS else shorten_with_digest(text, MOST_WORDS), MOST_NAME, commands=False
    )


@lru_cache(maxsize=4096)  # a page has the same names again and again
def _short_name(text: str) -> str:
    return fit_name(text, MOST_NAME, commands=False)


def html_names(texts: Iterable[str]) -> dict[str, str]:
    """Identifiers that stand together, each as text: no two of them look alike."""
    cut = {text: text if len(text) <= MOST_WORDS else shorten_with_digest(text, MOST_WORDS) for text in texts}
    shown = distinct_names(cut.values(), MOST_NAME, commands=False)
    return {text: shown[short] for text, short in cut.items()}


def html_sentence(text: str) -> str:
    """A sentence, as text; of a long one the beginning."""
    if len(text) <= MOST_NAME:
        return _short_words(text[:])
    more = len(text) - MOST_WORDS
    shown = visible(text[:MOST_WORDS], commands=False)
    return shown if more <= 0 else f"{shown}… and {more:,} more characters"


@lru_cache(maxsize=4096)  # and the same words
def _short_words(text: str) -> str:
    return visible(text, commands=False)


def html_notes(notes: Iterable[str], **attributes: str) -> list[Markup]:
    """Small print, a paragraph for each note that is not empty."""
    return [element("p", html_sentence(note), class_="note", **attributes) for note in notes if note]


def html_running_text(text: str) -> Markup:
    """A text with its line ends; what cannot be seen in it stands in a box."""
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


def html_marked_text(given: MarkedText, label: str, limits: DisplayLimits = PAGE_LIMITS) -> Markup:
    """The text with its marks, the legend above it and the note below; of a long one the parts with marks."""
    text = given.text
    marks = given.marks[: limits.marks]
    letters = _letters(marks)
    shown = excerpts(len(text), marks, limits.characters)
    parts: list[Content] = []
    show = (
        html_running_text if any(True for _ in hidden_characters(text)) else str
    )  # most texts have nothing that cannot be seen
    for number, (start, end) in enumerate(shown):
        before = shown[number - 1][1] if number else 0
        parts += [_gap(start - before), *_pieces(text, split_by_marks(start, end, marks), letters, show)]
    parts.append(_gap(len(text) - shown[-1][1]))
    notes = [given.note]
    if len(given.marks) > len(marks):
        notes.append(f"{len(marks)} of {len(given.marks)} marks are shown")
    return fragment(
        _legend(marks, letters),
        element("div", *parts, class_="text", dir="auto", tabindex=0, role="group", aria_label=html_sentence(label)),
        html_notes(notes, dir="auto"),
    )


def _pieces(text: str, runs: Iterator[TextPiece], letters: dict[str, str], show: Callable[[str], str]) -> Iterator[str]:
    for run in runs:
        shown = show(text[run.start : run.end])
        if run.kinds:
            yield _mark(run.kinds, run.wrong)(shown)
        else:
            yield shown
        yield from (_tag(mark, letters) for mark in run.ends)


@lru_cache
def _mark(kinds: tuple[str, ...], wrong: bool) -> Callable[[str], Markup]:
    looks = sorted({_LOOKS.get(kind, _OTHER) for kind in kinds})
    return element_template("mark", class_=" ".join([*looks, *(["wrong"] if wrong else [])]))


def _tag(mark: Mark, letters: dict[str, str]) -> Markup:
    """What is said of a mark, behind it: whose it is, by a letter, the label, and the error."""
    look = _LOOKS.get(mark.kind, _OTHER) + (" wrong" if mark.wrong else "")
    wrong = _EM(html_sentence(mark.wrong)) if mark.wrong else None
    return element("bdi", _B(letters[mark.kind]), html_name(mark.label), wrong, class_=f"tag {look}")


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
    """A sign for each kind that occurs: its first letter, or as many as tell it from the others before it."""
    found: dict[str, str] = {}
    for kind in dict.fromkeys(mark.kind for mark in marks):
        signs = (html_name(kind)[:length].capitalize() for length in range(1, len(kind) + 1))
        found[kind] = next((sign for sign in signs if sign not in found.values()), str(len(found) + 1))
    return found


def _gap(characters: int) -> Markup | None:
    if not characters:
        return None
    return element("span", f"… {characters:,} characters …", class_="gap")


MOST_ROWS = 1_000  # of one table
MOST_GRIDS, MOST_NAMES = 12, 30  # heat maps of one matrix, rows and columns of one heat map
_TALL = 40  # rows: a longer table also scrolls by itself
_HEATS = 5  # shades
SAMPLES = "samples"  # the place of the units in the page

_CELL, _ROW_HEAD, _CODE = (
    element_template("td", dir="auto"),
    element_template("th", scope="row", dir="auto"),
    element_template("code"),
)

Facets = Mapping[str, Mapping[str, str]]  # by what units can be filtered: a name, and where each value leads


def html_block(given: Block, title: str, facets: Facets | None = None, rows: int = MOST_ROWS) -> Markup:
    """Any block. `title` names a table to those who do not see what stands above it."""
    match given:
        case Table():
            return _table(given, title, facets or {}, rows)
        case Matrix():
            return _matrix(given, title, facets or {}, rows)
        case MetricValues():
            return _values(given, title)
        case LabelList():
            return _pairs(given)
        case Paragraph():
            return element("p", html_sentence(given.text), dir="auto")
        case Notes():
            return element(
                "ul", *(element("li", html_phrase(item), dir="auto") for item in given.items), class_="notes"
            )
        case FindingList():
            return _findings(given, title, rows)


def html_phrase(parts: Phrase) -> list[Content]:
    """Words of one line, with the names in it."""
    return [_name_cell(part.text) if isinstance(part, Name) else html_sentence(part) for part in parts]


def figure(picture: Picture) -> Markup:
    """A picture that those who use the keyboard can scroll."""
    label = html_sentence(f"Picture: {picture.title}")
    return element("figure", draw(picture), tabindex=0, role="group", aria_label=label)


def html_table(title: str, head: Content, rows: Sequence[Markup], *, class_: str = "") -> Markup:
    """A table that scrolls by itself where it is wider than the page, or long."""
    inner = element("table", head, element("tbody", *rows), class_=class_ or None)
    looks = "wide tall" if len(rows) > _TALL else "wide"
    return element("div", inner, class_=looks, tabindex=0, role="region", aria_label=html_sentence(title))


def column_heads(titles: Sequence[str], numbers: Sequence[bool] = ()) -> Markup:
    """The titles of columns, in one row."""
    right = numbers or [False] * len(titles)
    return element("thead", element("tr", *(_head(title, number) for title, number in zip(titles, right, strict=True))))


def number_cell(value: MeasuredValue, *, counts: bool = False) -> Markup:
    """The cell of a number, with what stands behind it below."""
    shown = element("strong", f"{value}*") if value.best else str(value)
    behind = [str(value.interval)] if value.interval is not None else []
    behind += [value.counts] if counts and value.counts else []
    below = [element("small", text) for text in behind]
    key = None if value.value is None else repr(float(value.value))
    why = (
        html_sentence(value.reason) if value.reason and not counts else None
    )  # with counts, it is said below the table
    return element("td", shown, below, class_="num", data_key=key or "", title=why)


def _head(title: str, is_number: bool) -> Markup:
    return element("th", html_sentence(title), scope="col", class_="num" if is_number else None)


def _name_cell(text: str) -> Markup:
    return element("code", html_name(text), dir="auto")


def _table(given: Table, title: str, facets: Facets, most: int) -> Markup:
    if not given.rows:
        return element("p", html_sentence(f"{given.empty[:1].upper()}{given.empty[1:]}."), class_="none")
    most = min(given.most or most, most)
    cells = [_cells(column, n, most, given, facets) for n, column in enumerate(zip(*given.rows, strict=True))]
    rows = [element("tr", *row) for row in zip(*cells, strict=True)]
    table = html_table(title, _group_heads(given.columns, given.number_columns()), rows, class_="data")
    return fragment(table, _more(len(given.rows) - len(rows)), _reasons(given.reasons()))


def _group_heads(columns: Sequence[Column], numbers: Sequence[bool]) -> Markup:
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


def _cells(column: Sequence[Cell], place: int, most: int, given: Table, facets: Facets) -> list[Markup]:
    """The first cells of a column. What stands in it several times is made once."""
    texts = [cell.text for cell in column if isinstance(cell, Name)]
    shown_names = html_names(texts) if texts else {}
    title = given.columns[place].title
    linked = facets.get(title, {})
    made: dict[str | Name, Markup] = {}
    cells = []
    for cell in column[:most]:
        if isinstance(cell, MeasuredValue):  # equal ones need not look alike
            cells.append(number_cell(cell, counts=given.with_counts))
            continue
        if cell not in made:
            made[cell] = _cell(cell, place, title, shown_names, linked)
        cells.append(made[cell])
    return cells


def _cell(
    cell: str | Name, place: int, title: str, shown_names: Mapping[str, str], linked: Mapping[str, str]
) -> Markup:
    shown = html_sentence(cell) if isinstance(cell, str) else _CODE(shown_names[cell.text])
    text = str(cell)
    if text in linked:
        shown = element("a", shown, href=linked[text], data_facet=html_name(title), data_value=html_name(text))
    if title == "interval":
        return element("td", shown, class_="num")
    if place == 0 and text:
        return _ROW_HEAD(shown)
    return _CELL(shown)


def _matrix(given: Matrix, title: str, facets: Facets, rows: int) -> Markup:
    """A heat map for each group, the most first; behind it all pairs as a table, which can be sorted."""
    if not given.cells:
        return element("p", html_sentence(f"{given.empty[:1].upper()}{given.empty[1:]}."), class_="none")
    most = max(_HEATS, *(cell.count for cell in given.cells))  # one confusion is no hot spot
    grids = [_grid(grid, given, title, most) for grid in given.grids()[:MOST_GRIDS]]
    pairs = element(
        "details", element("summary", "As a list"), _table(given.as_table(), title, facets, rows), class_="list"
    )
    return fragment(element("div", *grids, class_="grids"), pairs)


def _grid(grid: Grid, given: Matrix, title: str, most: int) -> Markup:
    """Rows by columns; the darker, the more, and the count stands in each."""
    rows, columns = grid.rows[:MOST_NAMES], grid.columns[:MOST_NAMES]
    shown = html_names((*grid.rows, *grid.columns))
    corner = element("td", f"{html_sentence(given.row_title)} ↓ {html_sentence(given.column_title)} →")
    head = element("tr", corner, *(element("th", shown[each], scope="col", dir="auto") for each in columns))
    body = []
    for row, counts in zip(rows, grid.counts, strict=False):
        cells = [
            element(
                "td", str(count) if count else "", class_=f"heat h{-(-count * _HEATS // most)}" if count else "heat"
            )
            for count in counts[: len(columns)]
        ]
        body.append(element("tr", element("th", shown[row], scope="row", dir="auto"), *cells))
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


def _pairs(given: LabelList) -> Markup:
    rows: list[Content] = []
    for pair in given.rows:
        label = _name_cell(pair.label.text) if isinstance(pair.label, Name) else html_sentence(pair.label)
        parts = [element("span", html_sentence(part), dir="auto") for part in pair.parts]
        rows.append(element("div", element("dt", label), element("dd", *_separated(parts))))
    return element("dl", *rows)


def _separated(parts: Sequence[Markup]) -> Iterator[Content]:
    for at, part in enumerate(parts):
        yield from (", ", part) if at else (part,)


def _findings(given: FindingList, title: str, most: int) -> Markup:
    if not given.rows:
        return element("p", "None.", class_="none")
    most = min(given.most or most, most)
    rows = [
        element(
            "tr",
            element("td", html_sentence(severity), class_=f"severity {severity}" if severity in SEVERITIES else None),
            element("td", _name_cell(code)),
            element("td", html_sentence(place), dir="auto"),
            element("td", html_sentence(message), dir="auto"),
        )
        for severity, code, place, message in given.rows[:most]
    ]
    shown = html_table(title, column_heads(["severity", "code", "where", "message"]), rows, class_="data findings")
    return fragment(shown, _more(len(given.rows) - len(rows)))


def _more(count: int) -> Markup | None:
    return element("p", f"… and {count} more; the JSON report has all.", class_="note") if count > 0 else None
