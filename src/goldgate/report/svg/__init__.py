"""Pictures: numbers into SVG. What is drawn on a page is drawn for itself in the same way.

On a page a picture has no heading and no looks of its own: `stylesheet()` is part of the page's.
"""

from __future__ import annotations

from collections.abc import Iterator

from goldgate.core.page import BarPicture, CountPicture, GatePicture, Matrix, Page, Picture, ScorePicture
from goldgate.report.element import Markup
from goldgate.report.svg.counts import draw_bars, draw_counts
from goldgate.report.svg.scores import draw_gates, draw_scores


def draw(drawn: Picture, *, standalone: bool = False) -> Markup:
    """A picture as an SVG element; standalone with its title, its looks and its ground."""
    match drawn:
        case GatePicture():
            return draw_gates(drawn, standalone=standalone)
        case ScorePicture():
            return draw_scores(drawn, standalone=standalone)
        case BarPicture():
            return draw_bars(drawn, standalone=standalone)
        case CountPicture():
            return draw_counts(drawn, standalone=standalone)


def render_svg(drawn: Picture) -> str:
    """A picture as a file."""
    return f"{draw(drawn, standalone=True)}\n"


def page_pictures(page: Page, name: str = "") -> list[Picture]:
    """All pictures of a report: its gates, if any were judged, what its suite has to draw, and its matrices.

    `name` is what the report is of, and stands under their titles.
    """
    about = ": ".join(part for part in (name, page.subject) if part)
    gates = [GatePicture(page.gates)] if page.gates else []
    return [drawn._replace(about=about) for drawn in (*gates, *page.pictures, *_matrices(page))]


def _matrices(page: Page) -> Iterator[Picture]:
    """The matrices of a page, named after their sections; the groups of one below each other."""
    for section in page.sections:
        for matrix in section.blocks:
            if isinstance(matrix, Matrix) and matrix.cells:
                kind = "-".join(section.title.lower().split())
                yield matrix_picture(matrix, kind, section.title)


def matrix_picture(matrix: Matrix, kind: str, title: str) -> CountPicture:
    """A matrix with a row for each name in each group."""
    grids = matrix.grids()
    columns = tuple(dict.fromkeys(name for grid in grids for name in grid.columns))
    rows, counts = [], []
    for grid in grids:
        for row, own in zip(grid.rows, grid.counts, strict=True):
            by_column = dict(zip(grid.columns, own, strict=True))
            rows.append(f"{grid.group} / {row}" if matrix.group_title else row)
            counts.append(tuple(by_column.get(name, 0) for name in columns))
    row_title = f"{matrix.group_title} / {matrix.row_title}" if matrix.group_title else matrix.row_title
    return CountPicture(kind, title, row_title, matrix.column_title, tuple(rows), columns, tuple(counts))
