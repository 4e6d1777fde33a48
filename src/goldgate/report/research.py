"""The formats of the research suite's report. Nothing is imported before one is used."""

from __future__ import annotations

from goldgate.report import RENDERERS as SHARED
from goldgate.report import Renderer, Report


def _text(report: Report) -> str:
    from goldgate.report.research_text import render_research_text

    return render_research_text(report)


def _markdown(report: Report) -> str:
    from goldgate.report.research_markdown import render_research_markdown

    return render_research_markdown(report)


RENDERERS: dict[str, Renderer] = {"json": SHARED["json"], "text": _text, "markdown": _markdown}
