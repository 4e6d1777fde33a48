"""Pictures: numbers into SVG. What is drawn on a page is drawn for itself in the same way.

On a page a picture has no heading and no looks of its own: `stylesheet()` is part of the page's.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from goldgate.core.picture import BarPicture, GatePicture, Picture, ScorePicture

if TYPE_CHECKING:
    from goldgate.core.page import Page
    from goldgate.report.html.element import Markup


def draw(drawn: Picture, *, standalone: bool = False) -> Markup:
    """A picture as an SVG element; standalone with its title, its looks and its ground."""
    if isinstance(drawn, GatePicture):
        from goldgate.report.svg.gates import draw_gates

        return draw_gates(drawn, standalone=standalone)
    if isinstance(drawn, ScorePicture):
        from goldgate.report.svg.scores import draw_scores

        return draw_scores(drawn, standalone=standalone)
    if isinstance(drawn, BarPicture):
        from goldgate.report.svg.bars import draw_bars

        return draw_bars(drawn, standalone=standalone)
    from goldgate.report.svg.heat_map import draw_counts

    return draw_counts(drawn, standalone=standalone)


def render_svg(drawn: Picture) -> str:
    """A picture as a file."""
    return f"{draw(drawn, standalone=True)}\n"


def page_pictures(page: Page, name: str = "") -> list[Picture]:
    """All pictures of a report: its gates, if any were judged, and what its suite has to draw.

    `name` is what the report is of, and stands under their titles.
    """
    about = ": ".join(part for part in (name, page.subject) if part)
    gates = [GatePicture(page.gates)] if page.gates else []
    return [replace(found, about=about) for found in (*gates, *page.pictures)]
