"""Results as notebooks show them: the blocks and the style of the HTML page, kept to one output of one cell.

There is no script and no id: a notebook may hold many outputs, and shows them in a document of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from goldgate.core.contracts import ErrorReport, SuiteReport
from goldgate.core.page import Notes, Page, Section
from goldgate.core.unit_page import UnitPage
from goldgate.report import describe_report
from goldgate.report.element import Content, Markup, element, raw
from goldgate.report.html import page_asset
from goldgate.report.html.blocks import figure, html_block, html_name, html_sentence
from goldgate.report.html.units import UnitSelection, gate_table, unit_sections, verdict_mark
from goldgate.report.svg.shapes import stylesheet
from goldgate.runs.contracts import ComparisonReport

MAX_ROWS = 100  # of one table: a notebook is stored with its outputs
_SCOPE = ".goldgate-output"
_DARK = re.compile(r"@media screen and \(prefers-color-scheme: dark\) \{[^\n]*\n(.*?)\n\}\n", re.DOTALL)
_PAGE_RULES = re.compile(r"^@page \{.*?\}\n", re.MULTILINE)  # they cannot stand inside another rule
_ROOT = re.compile(r":root\b|(?<![\w.#-])html(?= \{)")


def render_notebook(report: SuiteReport | ErrorReport) -> str:
    """A report: the verdict, what stands out, the gates, and the sections, most of them closed."""
    return _render_page(describe_report(report))


def render_comparison(report: ComparisonReport) -> str:
    """A comparison: its tables and pictures, most of them closed."""
    from goldgate.report.plot import comparison_page

    return _render_page(comparison_page(report))


def render_unit(unit: UnitPage, metrics: Iterable[tuple[str, str]]) -> str:
    """One unit: its id, its metrics in a line, then all that explains them."""
    values = ", ".join(f"{name} {value}" for name, value in metrics)
    heading = element("h1", element("bdi", html_name(unit.id))) if unit.id else None
    return _output(heading, element("p", values, class_="about"), unit_sections(unit))


def _render_page(page: Page) -> str:
    mark = verdict_mark(page.verdict) if page.verdict else None
    about = ", ".join(part for part in (page.subject, page.protocol and f"protocol {page.protocol}") if part)
    remarks = Notes(tuple((message,) for message in page.remarks))
    pictures = {picture.title: figure(picture) for picture in page.pictures}
    sections = page.titled_sections
    titles = [section.title for section in sections]
    return _output(
        element("h1", mark, f" goldgate {html_name(page.suite)}"),
        element("p", html_sentence(about), class_="about", dir="auto"),
        *(html_block(block, page.suite) for block in page.headline_blocks),
        (element("h2", "What stands out"), html_block(remarks, "What stands out")) if page.remarks else None,
        element("h2", "Gates") if page.gates is not None else None,
        gate_table(page, UnitSelection()),
        *(_section(section, pictures.get(section.title), place == 0) for place, section in enumerate(sections)),
        *(drawn for title, drawn in pictures.items() if title not in titles),
    )


def _section(section: Section, drawn: Markup | None, first: bool) -> Markup:
    """Open at first where it is the first one, or part of the short form; the others are one click away."""
    blocks = [html_block(block, section.title, rows=MAX_ROWS) for block in section.blocks]
    return element(
        "details",
        element("summary", html_sentence(section.title)),
        *blocks,
        drawn,
        class_="detail",
        open=first or section.in_brief,
    )


def _output(*content: Content) -> str:
    return element("div", raw("style", _style()), *content, class_=_SCOPE[1:])


@cache
def _style() -> str:
    """The page's style for this output alone; dark where the notebook is, or the system if it does not say."""
    style = _PAGE_RULES.sub("", page_asset("page.css") + stylesheet())
    dark = _ROOT.sub("&", "\n".join(_DARK.findall(style)))
    light = _ROOT.sub("&", _DARK.sub("", style))
    return (
        f"{_SCOPE} {{ padding: .5rem; {light} }}\n"
        f'@media screen {{ [data-jp-theme-light="false"] {_SCOPE}, .vscode-dark {_SCOPE} {{ {dark} }} }}\n'
        "@media screen and (prefers-color-scheme: dark) {\n"
        f'{_SCOPE}:not([data-jp-theme-light="true"] *, .vscode-light *) {{ {dark} }}\n'
        "}\n"
    )
