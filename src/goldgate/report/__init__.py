"""Reports rendered from plain values. A new format is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation

Report = dict[str, Any]
Renderer = Callable[[Report], str]

RESEARCH = "research"  # the suite whose reports are laid out otherwise


def _json(report: Report) -> str:
    from goldgate.core.evaluation import render_json

    return render_json(report).decode()


def _text(report: Report) -> str:
    if report["suite"] == RESEARCH:
        from goldgate.report.research_text import render_research_text

        return render_research_text(report)
    from goldgate.report.text import render_text

    return render_text(report)


def _markdown(report: Report) -> str:
    if report["suite"] == RESEARCH:
        from goldgate.report.research_markdown import render_research_markdown

        return render_research_markdown(report)
    from goldgate.report.markdown import render_markdown

    return render_markdown(report)


# The command line lists these names in its help, so nothing is imported before one is used.
RENDERERS: dict[str, Renderer] = {"json": _json, "text": _text, "markdown": _markdown}


def render(evaluation: Evaluation | Report, format: Literal["text", "markdown", "json"] = "text") -> str:
    """An evaluation, or the report of one, as text, Markdown or JSON."""
    report = evaluation if isinstance(evaluation, dict) else evaluation.report
    return RENDERERS[format](report)
