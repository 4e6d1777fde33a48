"""The blocks of a page as HTML. A table can be read as it stands; the page's script makes it sortable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from goldgate.core.finding import SEVERITIES
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    Findings,
    Grid,
    Matrix,
    Measured,
    Name,
    Notes,
    Pairs,
    Paragraph,
    Phrase,
    Table,
    Values,
)
from goldgate.report.html.element import Content, Markup, element, fragment, prepared
from goldgate.report.html.texts import name, names, words
from goldgate.report.said_once import Reasons, said_once, undefined_cells

MOST_ROWS = 1_000  # of one table
MOST_GRIDS, MOST_NAMES = 12, 30  # heat maps of one matrix, rows and columns of one heat map
_TALL = 40  # rows: a longer table also scrolls by itself
_HEATS = 5  # shades
SAMPLES = "samples"  # the place of the units in the page

_CELL, _ROW_HEAD, _CODE = prepared("td", dir="auto"), prepared("th", scope="row", dir="auto"), prepared("code")

Facets = Mapping[str, Mapping[str, str]]  # by what units can be filtered: a name, and where each value leads


def block(given: Block, title: str, facets: Facets | None = None, rows: int = MOST_ROWS) -> Markup:
    """Any block. `title` names a table to those who do not see what stands above it."""
    match given:
        case Table():
            return _table(given, title, facets or {}, rows)
        case Matrix():
            return _matrix(given, title, facets or {}, rows)
        case Values():
            return _values(given, title)
        case Pairs():
            return _pairs(given)
        case Paragraph():
            return element("p", words(given.text), dir="auto")
        case Notes():
            return element("ul", *(element("li", phrase(item), dir="auto") for item in given.items), class_="notes")
        case Findings():
            return _findings(given, title, rows)


def phrase(parts: Phrase) -> list[Content]:
    """Words of one line, with the names in it."""
    return [_name(part.text) if isinstance(part, Name) else words(part) for part in parts]


def table(title: str, head: Content, rows: Sequence[Markup], *, class_: str = "") -> Markup:
    """A table that scrolls by itself where it is wider than the page, or long."""
    inner = element("table", head, element("tbody", *rows), class_=class_ or None)
    looks = "wide tall" if len(rows) > _TALL else "wide"
    return element("div", inner, class_=looks, tabindex=0, role="region", aria_label=words(title))


def heads(titles: Sequence[str], numbers: Sequence[bool] = ()) -> Markup:
    """The titles of columns, in one row."""
    right = numbers or [False] * len(titles)
    return element("thead", element("tr", *(_head(title, number) for title, number in zip(titles, right, strict=True))))


def number(value: Measured, *, counts: bool = False) -> Markup:
    """The cell of a number, with what stands behind it below."""
    shown = element("strong", f"{value}*") if value.best else str(value)
    behind = [str(value.interval)] if value.interval is not None else []
    behind += [value.counts] if counts and value.counts else []
    below = [element("small", text) for text in behind]
    key = None if value.value is None else repr(float(value.value))
    why = words(value.reason) if value.reason and not counts else None  # with counts, it is said below the table
    return element("td", shown, below, class_="num", data_key=key or "", title=why)


def _head(title: str, is_number: bool) -> Markup:
    return element("th", words(title), scope="col", class_="num" if is_number else None)


def _name(text: str) -> Markup:
    return element("code", name(text), dir="auto")


def _table(given: Table, title: str, facets: Facets, most: int) -> Markup:
    if not given.rows:
        return element("p", words(f"{given.empty[:1].upper()}{given.empty[1:]}."), class_="none")
    most = min(given.most or most, most)
    columns = list(zip(*given.rows, strict=True))
    numbers = [any(isinstance(cell, Measured) for cell in column) for column in columns]
    cells = [_cells(column, n, most, given, facets) for n, column in enumerate(columns)]
    rows = [element("tr", *row) for row in zip(*cells, strict=True)]
    shown = table(title, _group_heads(given.columns, numbers), rows, class_="data")
    reasons = _reasons(said_once(undefined_cells(given))) if given.with_counts else None
    return fragment(shown, _more(len(given.rows) - len(rows)), reasons)


def _group_heads(columns: Sequence[Column], numbers: Sequence[bool]) -> Markup:
    """The titles, and above them the groups where there are any."""
    row = element("tr", *(_head(column.title, right) for column, right in zip(columns, numbers, strict=True)))
    if not any(column.group for column in columns):
        return element("thead", row)
    groups = [(group, len([*members])) for group, members in groupby(columns, key=lambda column: column.group)]
    above = [
        element("th", words(group), scope="colgroup", colspan=span) if group else element("td", colspan=span)
        for group, span in groups
    ]
    return element("thead", element("tr", *above, class_="groups"), row)


def _cells(column: Sequence[Cell], place: int, most: int, given: Table, facets: Facets) -> list[Markup]:
    """The first cells of a column. What stands in it several times is made once."""
    texts = [cell.text for cell in column if isinstance(cell, Name)]
    shown_names = names(texts) if texts else {}
    title = given.columns[place].title
    linked = facets.get(title, {})
    made: dict[str | Name, Markup] = {}
    cells = []
    for cell in column[:most]:
        if isinstance(cell, Measured):  # equal ones need not look alike
            cells.append(number(cell, counts=given.with_counts))
            continue
        if cell not in made:
            made[cell] = _cell(cell, place, title, shown_names, linked)
        cells.append(made[cell])
    return cells


def _cell(
    cell: str | Name, place: int, title: str, shown_names: Mapping[str, str], linked: Mapping[str, str]
) -> Markup:
    shown = words(cell) if isinstance(cell, str) else _CODE(shown_names[cell.text])
    text = cell if isinstance(cell, str) else cell.text
    if text in linked:
        shown = element("a", shown, href=linked[text], data_facet=name(title), data_value=name(text))
    if title == "interval":
        return element("td", shown, class_="num")
    if place == 0 and text:
        return _ROW_HEAD(shown)
    return _CELL(shown)


def _matrix(given: Matrix, title: str, facets: Facets, rows: int) -> Markup:
    """A heat map for each group, the most first; behind it all pairs as a table, which can be sorted."""
    if not given.cells:
        return element("p", words(f"{given.empty[:1].upper()}{given.empty[1:]}."), class_="none")
    most = max(_HEATS, *(cell.count for cell in given.cells))  # one confusion is no hot spot
    grids = [_grid(grid, given, title, most) for grid in given.grids()[:MOST_GRIDS]]
    pairs = element(
        "details", element("summary", "As a list"), _table(given.as_table(), title, facets, rows), class_="list"
    )
    return fragment(element("div", *grids, class_="grids"), pairs)


def _grid(grid: Grid, given: Matrix, title: str, most: int) -> Markup:
    """Rows by columns; the darker, the more, and the count stands in each."""
    rows, columns = grid.rows[:MOST_NAMES], grid.columns[:MOST_NAMES]
    shown = names((*grid.rows, *grid.columns))
    corner = element("td", f"{words(given.row_title)} ↓ {words(given.column_title)} →")
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
    caption = element("p", element("code", name(grid.group), dir="auto"), class_="group") if grid.group else None
    return element("div", caption, table(label, element("thead", head), body, class_="heats"))


def _values(given: Values, title: str) -> Markup:
    reasons = said_once((metric.text, value.reason) for metric, value in given.rows)
    if len(reasons) == 1 and all(value.reason for _, value in given.rows):
        return _reasons(reasons)
    shared = {reason: metrics for reason, metrics in reasons.items() if len(metrics) > 1}
    with_interval = any(value.interval for _, value in given.rows)
    rows = []
    for metric, value in given.rows:
        said = value.reason if value.reason not in shared else ""
        interval = element("td", "" if value.interval is None else str(value.interval), class_="num")
        rows.append(
            element(
                "tr",
                element("th", _name(metric.text), scope="row"),
                element("td", str(value), class_="num"),
                interval if with_interval else None,
                element("td", words(said or value.counts), class_="num" if not said else None),
            )
        )
    titles = ["metric", "value", *(["interval"] if with_interval else []), "counts"]
    shown = table(title, heads(titles, [title != "metric" for title in titles]), rows, class_="values")
    return fragment(shown, _reasons(shared))


def _reasons(reasons: Reasons) -> Markup:
    return fragment(
        *(
            element("p", words(f"n/a: {', '.join(metrics)}: {reason}"), class_="note")
            for reason, metrics in reasons.items()
        )
    )


def _pairs(given: Pairs) -> Markup:
    rows: list[Content] = []
    for pair in given.rows:
        label = _name(pair.label.text) if isinstance(pair.label, Name) else words(pair.label)
        parts = [element("span", words(part), dir="auto") for part in pair.parts]
        rows.append(element("div", element("dt", label), element("dd", *_separated(parts))))
    return element("dl", *rows)


def _separated(parts: Sequence[Markup]) -> Iterator[Content]:
    for at, part in enumerate(parts):
        yield from (", ", part) if at else (part,)


def _findings(given: Findings, title: str, most: int) -> Markup:
    if not given.rows:
        return element("p", "None.", class_="none")
    most = min(given.most or most, most)
    rows = [
        element(
            "tr",
            element("td", words(severity), class_=f"severity {severity}" if severity in SEVERITIES else None),
            element("td", _name(code)),
            element("td", words(place), dir="auto"),
            element("td", words(message), dir="auto"),
        )
        for severity, code, place, message in given.rows[:most]
    ]
    shown = table(title, heads(["severity", "code", "where", "message"]), rows, class_="data findings")
    return fragment(shown, _more(len(given.rows) - len(rows)))


def _more(count: int) -> Markup | None:
    return element("p", f"… and {count} more; the JSON report has all.", class_="note") if count > 0 else None
