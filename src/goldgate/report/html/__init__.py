"""A page as one HTML file, and results as notebooks show them, in the same blocks and style.

The file loads nothing, and a browser accepts only its own script and style. The output of a notebook's cell has no
script and no id: a notebook may hold many outputs, and shows them in a document of its own.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goldgate.core.page import Notes, Page, ReportOrigin, Section, Table
from goldgate.report import describe_report
from goldgate.report.element import Content, Markup, document, element, fragment, raw
from goldgate.report.html.blocks import (
    SAMPLES,
    Facets,
    column_heads,
    facet_link,
    figure,
    html_block,
    html_name,
    html_notes,
    html_sentence,
    html_table,
)
from goldgate.report.html.units import (
    UnitSelection,
    facets_of,
    filter_placeholder,
    gate_table,
    section_anchors,
    shown_count_text,
    unit_sections,
    verdict_mark,
)
from goldgate.report.svg.shapes import PICTURE_STYLE, read_asset

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorReport, SuiteReport
    from goldgate.core.unit_page import UnitPage
    from goldgate.runs.contracts import ComparisonReport

_HERE = Path(__file__).parent
_OPEN = 20  # rows of a detail that is shown at once
_NAMED_FILES = 3  # of one input


def render_html(page: Page, selection: UnitSelection | None = None) -> str:
    """The verdict first, the remarks, the gates, the units worth a look, every section, the origin."""
    selection = selection or UnitSelection()
    return whole_page(page_title(page), page_body(page, selection, facets_of(selection), _units(selection)))


def page_body(page: Page, selection: UnitSelection, facets: Facets, units: Markup | None) -> list[Content]:
    """A page as parts of a document; `units` are those to look at, and `facets` say where values lead."""
    parts = [
        ("What stands out", _remarks(page, facets)),
        ("Gates", gate_table(page, selection)),
        (f"{selection.unit.capitalize()}s to look at", units),
        *_section_parts(page, facets),
        ("Where the numbers come from", _origin(page.origin)),
    ]
    parts = [(title, content) for title, content in parts if content is not None]
    main, links = [], []
    for (title, content), anchor in zip(parts, section_anchors(title for title, _ in parts), strict=True):
        place = SAMPLES if content is units else anchor
        main.append(element("section", element("h2", html_sentence(title), id=place), content))
        links.append(element("li", element("a", html_sentence(title), href=f"#{place}")))
    return [
        element("a", "Skip to the report", href="#main", class_="skip"),
        _headline(page),
        element("nav", element("ul", *links), aria_label="Sections") if len(links) > 1 else None,
        element("main", *main, id="main", tabindex=-1),
    ]


class PageAssets(NamedTuple):
    """The style and the script of a page: a browser accepts no other."""

    style: str
    script: str

    def policy(self, *, forms: bool) -> str:
        """What a browser may do with a page: nothing but this style and script; forms lead only back to the site."""
        return (
            f"default-src 'none'; style-src '{_digest(self.style)}'; script-src '{_digest(self.script)}'; "
            "base-uri 'none'; form-action " + ("'self'" if forms else "'none'")
        )


@cache
def page_assets(*added: Path) -> PageAssets:
    """Our style and script, and behind them what is in files of other pages."""
    files = (_HERE / "page.css", PICTURE_STYLE, _HERE / "page.js", *added)
    style, script = ("".join(read_asset(file) for file in files if file.suffix == ending) for ending in (".css", ".js"))
    return PageAssets(style, script)


def whole_page(
    title: str, body: Sequence[Content], *added: Path, forms: bool = False, referrer: str = "no-referrer"
) -> str:
    """A page with our style and script, what is `added` to them, and a policy that forbids everything else."""
    assets = page_assets(*added)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=assets.policy(forms=forms)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content=referrer),
        element("meta", name="color-scheme", content="light dark"),
        element("title", html_sentence(title)),
        raw("style", assets.style),
    )
    return document(element("html", head, element("body", *body, raw("script", assets.script)), lang="en"))


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def page_title(page: Page) -> str:
    """In a word or two, for the browser's tab."""
    return ": ".join(part for part in (page.verdict, f"goldgate {page.suite}".rstrip(), page.subject) if part)


def _headline(page: Page) -> Markup:
    about = [html_sentence(page.subject)] if page.subject else []
    about += [f"protocol {html_name(page.protocol)}"] if page.protocol else []
    mark = verdict_mark(page.verdict) if page.verdict else None
    return element(
        "header",
        element("h1", mark, f" goldgate {html_name(page.suite)}".rstrip()),
        element("p", ", ".join(about), class_="about", dir="auto") if about else None,
        _judged_files(page),
        *(html_block(block, page.suite) for block in page.headline_blocks),
    )


def _judged_files(page: Page) -> Markup | None:
    """What was judged, by what, and when, as far as that is known."""
    parts = [f"{kind} {', '.join(map(html_name, names[:_NAMED_FILES]))}" for kind, names in page.files.items()]
    parts += [f"and {len(n) - _NAMED_FILES} more" for n in page.files.values() if len(n) > _NAMED_FILES]
    parts += [f"scored {html_sentence(page.scored_at)}"] if page.scored_at else []
    return element("p", " · ".join(parts), class_="about", dir="auto") if parts else None


def _remarks(page: Page, facets: Facets) -> Markup | None:
    """What stands out, each leading to the units that it is about."""
    items = [
        element("li", facet_link(html_sentence(message), facets, *page.remark_filters.get(message, ("", ""))))
        for message in page.remarks
    ]
    return element("ul", *items, class_="notes") if items else None


def _section_parts(page: Page, facets: Facets) -> Iterator[tuple[str, Markup]]:
    """Titles with pictures that belong to no section, then those of sections, each with its picture."""
    pictures = {picture.title: figure(picture) for picture in page.pictures}
    titles = {section.title for section in page.titled_sections}
    yield from ((title, drawn) for title, drawn in pictures.items() if title not in titles)
    for section in page.titled_sections:
        drawn = pictures.get(section.title)
        yield section.title, fragment(_section(section, facets), drawn)


def _section(section: Section, facets: Facets) -> Markup:
    """Its blocks; long details are closed at first."""
    blocks = fragment(*(html_block(block, section.title, facets) for block in section.blocks))
    rows = max((len(block.rows) for block in section.blocks if isinstance(block, Table)), default=0)
    if not section.is_detail or rows <= _OPEN:
        return blocks
    return element("details", element("summary", f"Show all {rows}"), blocks, class_="detail")


def _units(selection: UnitSelection) -> Markup | None:
    if not selection.units and not selection.note:
        return None
    notes = [shown_count_text(selection)] if selection.units else []
    return fragment(html_notes([*notes, selection.note]), filter_placeholder(selection), selection.markup)


def _origin(origin: ReportOrigin | None) -> Markup | None:
    if origin is None:
        return None
    rows = [
        element("div", element("dt", html_sentence(label)), element("dd", element("code", html_sentence(text))))
        for label, text in (*origin.versions, ("signature", origin.signature))
    ]
    files = [
        element(
            "tr",
            element("th", html_sentence(file.kind), scope="row", dir="auto"),
            element("td", element("code", html_sentence(file.sha256))),
            element("td", html_sentence(file.size), class_="num"),
        )
        for file in origin.inputs
    ]
    heads = column_heads(["input", "sha256", "size"], [False, False, True])
    return fragment(element("dl", *rows, class_="origin"), html_table("Inputs", heads, files) if files else None)


_NOTEBOOK_ROWS = 100  # of one table: a notebook is stored with its outputs
_SCOPE = ".goldgate-output"
_DARK = r"(?s)@media screen and \(prefers-color-scheme: dark\) \{[^\n]*\n(.*?)\n\}\n"
_PAGE_RULES = r"(?m)^@page \{.*?\}\n"  # they cannot stand inside another rule
_ROOT = r":root\b|(?<![\w.#-])html(?= \{)"


def render_notebook(report: SuiteReport | ErrorReport) -> str:
    """A report: the verdict, what stands out, the gates, and the sections, most of them closed."""
    return _notebook_page(describe_report(report))


def render_comparison(report: ComparisonReport) -> str:
    """A comparison: its tables and pictures, most of them closed."""
    from goldgate.report.svg import comparison_page

    return _notebook_page(comparison_page(report))


def render_unit(unit: UnitPage, metrics: Iterable[tuple[str, str]]) -> str:
    """One unit: its id, its metrics in a line, then all that explains them."""
    values = ", ".join(f"{name} {value}" for name, value in metrics)
    heading = element("h1", element("bdi", html_name(unit.id))) if unit.id else None
    return _notebook_output(heading, element("p", values, class_="about"), unit_sections(unit))


def _notebook_page(page: Page) -> str:
    mark = verdict_mark(page.verdict) if page.verdict else None
    about = ", ".join(part for part in (page.subject, page.protocol and f"protocol {page.protocol}") if part)
    remarks = Notes(tuple((message,) for message in page.remarks))
    pictures = {picture.title: figure(picture) for picture in page.pictures}
    sections = page.titled_sections
    titles = [section.title for section in sections]
    return _notebook_output(
        element("h1", mark, f" goldgate {html_name(page.suite)}"),
        element("p", html_sentence(about), class_="about", dir="auto"),
        *(html_block(block, page.suite) for block in page.headline_blocks),
        (element("h2", "What stands out"), html_block(remarks, "What stands out")) if page.remarks else None,
        element("h2", "Gates") if page.gates is not None else None,
        gate_table(page, UnitSelection()),
        *(
            _notebook_section(section, pictures.get(section.title), place == 0)
            for place, section in enumerate(sections)
        ),
        *(drawn for title, drawn in pictures.items() if title not in titles),
    )


def _notebook_section(section: Section, drawn: Markup | None, first: bool) -> Markup:
    """Open at first where it is the first one, or part of the short form; the others are one click away."""
    blocks = [html_block(block, section.title, rows=_NOTEBOOK_ROWS) for block in section.blocks]
    return element(
        "details",
        element("summary", html_sentence(section.title)),
        *blocks,
        drawn,
        class_="detail",
        open=first or section.in_brief,
    )


def _notebook_output(*content: Content) -> str:
    return element("div", raw("style", _notebook_style()), *content, class_=_SCOPE[1:])


@cache
def _notebook_style() -> str:
    """The page's style for this output alone; dark where the notebook is, or the system if it does not say."""
    style = re.sub(_PAGE_RULES, "", page_assets().style)
    dark = re.sub(_ROOT, "&", "\n".join(re.findall(_DARK, style)))
    light = re.sub(_ROOT, "&", re.sub(_DARK, "", style))
    return (
        f"{_SCOPE} {{ padding: .5rem; {light} }}\n"
        f'@media screen {{ [data-jp-theme-light="false"] {_SCOPE}, .vscode-dark {_SCOPE} {{ {dark} }} }}\n'
        "@media screen and (prefers-color-scheme: dark) {\n"
        f'{_SCOPE}:not([data-jp-theme-light="true"] *, .vscode-light *) {{ {dark} }}\n'
        "}\n"
    )
