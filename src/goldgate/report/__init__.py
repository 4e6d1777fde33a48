"""Reports rendered: a suite describes its report as a page, and each format lays out any page.

A new format is a file and a line here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.page import Page

Report = dict[str, Any]


class Renderer(Protocol):
    """A report in one format. How wide it is, and in colour or not, only concerns formats for a terminal."""

    def __call__(self, report: Report, *, columns: int = 80, colour: bool = False) -> str: ...


def describe(report: Report) -> Page:
    """A report as a page: as its suite describes it, or why there are no numbers."""
    if report.get("error"):
        from goldgate.core.frame import error_page

        return error_page(report)
    from goldgate.suites import load_suite

    return load_suite(report["suite"]).describe(report)


def _json(report: Report, *, columns: int = 80, colour: bool = False) -> str:
    from goldgate.core.evaluation import render_json

    return render_json(report).decode()


def _text(report: Report, *, columns: int = 80, colour: bool = False) -> str:
    from goldgate.report.text import render_text

    return render_text(describe(report), columns, colour)


def _markdown(report: Report, *, columns: int = 80, colour: bool = False) -> str:
    from goldgate.report.markdown import render_markdown

    return render_markdown(describe(report))


# The command line lists these names in its help, so nothing is imported before one is used.
RENDERERS: dict[str, Renderer] = {"json": _json, "text": _text, "markdown": _markdown}


def render(
    evaluation: Evaluation | Report,
    format: Literal["text", "markdown", "json"] = "text",
    *,
    columns: int = 80,
    colour: bool = False,
) -> str:
    """An evaluation, or the report of one, as text, Markdown or JSON."""
    report = evaluation if isinstance(evaluation, dict) else evaluation.report
    return RENDERERS[format](report, columns=columns, colour=colour)
