"""Counts by row and column: the more, the darker, and every count as a number in its cell."""

from __future__ import annotations

from goldgate.core.picture import CountPicture
from goldgate.report.html.element import Markup, element
from goldgate.report.svg.lettering import SMALL, described, fit_labels, fit_text, in_full, text_width
from goldgate.report.svg.shapes import GAP, LINE, MARGIN, WIDTH, Canvas, fixed, heading, notes, picture, rect, text

MOST = 16  # rows, and columns
_LABELS = 170
_CELL_WIDTH, _CELL_HEIGHT = 46, 24
_LEAST_WIDTH = 420
_LEVELS = 5
_HOT = 5  # the least count that is drawn darkest: a single one is no hot spot
_DARK = 4  # from this level on letters are light
_LISTED = 10  # counts that a description names
_SLOPE = 0.7072  # of labels that stand at 45 degrees


def draw_counts(drawn: CountPicture, *, standalone: bool) -> Markup:
    """Rows down, columns across; a name's own cell is framed, where rows and columns have the same names."""
    shown = _largest(drawn)
    rows, columns = (fit_labels(names, _LABELS) for names in (shown.rows, shown.columns))
    tilted = max((text_width(label, SMALL) for label in columns.values()), default=0.0) * _SLOPE
    left = MARGIN + max([text_width(shown.row_title, SMALL), *map(text_width, rows.values())]) + GAP
    room = WIDTH - MARGIN - tilted - left
    cell = min(_CELL_WIDTH, room / max(1, len(shown.columns)))
    canvas = Canvas(width=min(WIDTH, max(_LEAST_WIDTH, left + cell * len(shown.columns) + tilted + MARGIN)))
    if standalone:
        heading(canvas, shown.title, shown.about)
    canvas.y += LINE - 2
    canvas.add(text(left, canvas.y, fit_text(f"{shown.column_title} →", canvas.width - left, SMALL), "small"))
    canvas.y += tilted + 10
    for number, name in enumerate(shown.columns):
        canvas.add(_tilted(left + (number + 0.5) * cell, canvas.y, columns[name], name))
    canvas.add(text(MARGIN, canvas.y, fit_text(f"{shown.row_title} ↓", left - MARGIN, SMALL), "small"))
    canvas.y += 6
    most = max([_HOT, *(count for row in shown.counts for count in row)])
    for name, counts in zip(shown.rows, shown.counts, strict=True):
        canvas.add(text(MARGIN, canvas.y + 16, rows[name], whole=name))
        for number, (other, count) in enumerate(zip(shown.columns, counts, strict=True)):
            canvas.add(*_cell(left + number * cell, canvas.y, cell, count, most, same=name == other))
        canvas.y += _CELL_HEIGHT
    notes(canvas, [in_full(note) for note in shown.notes])
    return picture(canvas, in_full(shown.title), _description(shown), standalone=standalone)


def heat(count: int, most: int) -> int:
    """0 for nothing, else from 1 to 5 by the root of the share: few are told from none, also beside many."""
    return next(level for level in range(_LEVELS + 1) if count * _LEVELS**2 <= level**2 * most) if count else 0


def _cell(x: float, y: float, width: float, count: int, most: int, *, same: bool) -> list[Markup]:
    level = heat(count, most)
    parts = [rect(x, y, width, _CELL_HEIGHT, f"cell heat-{level}")]
    if same:
        parts.append(rect(x + 1.5, y + 1.5, width - 3, _CELL_HEIGHT - 3, f"same heat-{level}"))
    if count:
        parts.append(text(x + width / 2, y + 16, str(count), "on-dark" if level >= _DARK else "", anchor="middle"))
    return parts


def _tilted(x: float, y: float, shown: str, whole: str) -> Markup:
    turned = f"rotate(-45 {fixed(x)} {fixed(y)})"
    return element("g", text(x, y, shown, "tilted", whole=whole), transform=turned)


def _largest(drawn: CountPicture) -> CountPicture:
    """The rows and columns that have most, in their order, and a note on how many were left out."""
    by_row = [sum(row) for row in drawn.counts]
    by_column = [sum(row[n] for row in drawn.counts) for n in range(len(drawn.columns))]
    rows, columns = (
        sorted(sorted(range(len(sums)), key=lambda n: (-sums[n], n))[:MOST]) for sums in (by_row, by_column)
    )
    if len(rows) == len(drawn.rows) and len(columns) == len(drawn.columns):
        return drawn
    left_out = sum(by_row) - sum(drawn.counts[r][c] for r in rows for c in columns)
    note = (
        f"Shown: {len(rows)} of {len(drawn.rows)} rows and {len(columns)} of {len(drawn.columns)} columns, those with "
        f"most; {left_out} of {sum(by_row)} lie outside."
    )
    return CountPicture(
        drawn.kind,
        drawn.title,
        drawn.row_title,
        drawn.column_title,
        tuple(drawn.rows[r] for r in rows),
        tuple(drawn.columns[c] for c in columns),
        tuple(tuple(drawn.counts[r][c] for c in columns) for r in rows),
        drawn.about,
        (*drawn.notes, note),
    )


def _description(drawn: CountPicture) -> str:
    """The largest counts off the diagonal."""
    found = [
        (-count, row, column)
        for row, counts in zip(drawn.rows, drawn.counts, strict=True)
        for column, count in zip(drawn.columns, counts, strict=True)
        if count and row != column
    ]
    listed = [f"{-count} {row} → {column}" for count, row, column in sorted(found)[:_LISTED]]
    head = f"{drawn.row_title} → {drawn.column_title}, but for those of one name: {'none' if not listed else ''}"
    return described([drawn.about, head + "; ".join(listed), *drawn.notes])
