"""A page as one HTML file: it loads nothing, and a browser accepts only its own script and style."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from goldgate.core.page import Block, MetricValues, Notes, Page, Picture, ReportOrigin, Section, Table
from goldgate.report.element import Content, Markup, document, element, fragment, raw
from goldgate.report.html.blocks import SAMPLES, Facets, column_heads, html_block, html_name, html_sentence, html_table
from goldgate.report.html.units import (
    UnitSelection,
    facets_of,
    filter_placeholder,
    gate_table,
    section_anchors,
    shown_count_text,
    unit_list,
    verdict_mark,
)
from goldgate.report.svg import draw
from goldgate.report.svg.shapes import stylesheet

_HERE = Path(__file__).parent
_OPEN = 20  # rows of a detail that is shown at once
_SHORT, _NARROW = 9, 4  # rows and columns of what two can stand side by side


class _Part(NamedTuple):
    title: str
    content: Markup | None
    anchor: str = ""
    short: bool = False  # it leaves room for another beside it


def render_html(page: Page, looked: UnitSelection | None = None) -> str:
    """The verdict first, what stands out, the gates, every section, the units worth a look, the origin."""
    units, looked = unit_list(looked or UnitSelection())
    return whole_page(page_title(page), page_body(page, looked, facets_of(looked), _units(units, looked)))


def page_body(
    page: Page, looked: UnitSelection, facets: Facets, units: Markup | None, *, units_first: bool = False
) -> list[Content]:
    """The same as parts of a document; `units` stand where the units are, and `facets` say where values lead."""
    to_look_at = [_Part(f"{looked.unit.capitalize()}s to look at", units, SAMPLES)]
    pictures = {drawn.title: _figure(drawn) for drawn in page.pictures}
    untitled = [section for section in page.sections if not section.title]
    titled = [section for section in page.sections if section.title]
    titles = {section.title for section in titled}
    parts = [
        *(to_look_at if units_first else []),
        _Part("What stands out", _stands_out(page)),
        _Part("Gates", gate_table(page, looked)),
        *(_Part(title, figure) for title, figure in pictures.items() if title not in titles),
        *(_part(section, facets, pictures.get(section.title)) for section in titled),
        *([] if units_first else to_look_at),
        _Part(
            _first_title(page), _first_samples(page) if units is None or (looked.note and not looked.units) else None
        ),
        _Part("Where the numbers come from", _origin(page.origin)),
    ]
    shown = [part for part in parts if part.content is not None]
    anchors = [part.anchor or made for part, made in zip(shown, section_anchors(p.title for p in shown), strict=True)]
    main = [
        element(
            "section",
            element("h2", html_sentence(part.title), id=anchor),
            part.content,
            class_="short" if part.short else None,
        )
        for part, anchor in zip(shown, anchors, strict=True)
    ]
    links = [
        element("li", element("a", html_sentence(part.title), href=f"#{anchor}"))
        for part, anchor in zip(shown, anchors, strict=True)
    ]
    return [
        element("a", "Skip to the report", href="#main", class_="skip"),
        _headline(page, [html_block(each, page.suite) for section in untitled for each in section.blocks]),
        element("nav", element("ul", *links), aria_label="Sections") if len(links) > 1 else None,
        element("main", *main, id="main", tabindex=-1),
    ]


def whole_page(
    title: str, body: Sequence[Content], *, more_style: str = "", more_script: str = "", forms: bool = False
) -> str:
    """A page with our style and script, and a policy that forbids everything else."""
    style, script = page_asset("page.css") + stylesheet() + more_style, page_asset("page.js") + more_script
    policy = content_policy(style, script, forms=forms)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", html_sentence(title)),
        raw("style", style),
    )
    return document(element("html", head, element("body", *body, raw("script", script)), lang="en"))


def content_policy(style: str, script: str, *, forms: bool = False) -> str:
    """What a browser may do with a page: nothing but this style and script; forms lead only back to the site."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action " + ("'self'" if forms else "'none'")
    )


@cache
def page_asset(file: str) -> str:
    """The page's style or script."""
    return (_HERE / file).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def page_title(page: Page) -> str:
    """In a word or two, for the browser's tab."""
    return ": ".join(part for part in (page.verdict, f"goldgate {page.suite}".rstrip(), page.subject) if part)


def _headline(page: Page, blocks: list[Markup]) -> Markup:
    about = [html_sentence(page.subject)] if page.subject else []
    about += [f"protocol {html_name(page.protocol)}"] if page.protocol else []
    return element(
        "header",
        element(
            "h1", verdict_mark(page.verdict) if page.verdict else None, f" goldgate {html_name(page.suite)}".rstrip()
        ),
        element("p", ", ".join(about), class_="about", dir="auto") if about else None,
        *blocks,
    )


def is_short(section: Section) -> bool:
    """Whether it takes little room: a few metrics, or a small table."""
    return not section.is_detail and all(
        len(given.rows) <= _SHORT if isinstance(given, MetricValues) else _is_small(given) for given in section.blocks
    )


def _is_small(given: Block) -> bool:
    return isinstance(given, Table) and len(given.rows) <= _SHORT and len(given.columns) <= _NARROW


def _part(section: Section, facets: Facets, figure: Markup | None) -> _Part:
    content = _section(section, facets)
    return _Part(
        section.title,
        content if figure is None else fragment(content, figure),
        short=is_short(section) and figure is None,
    )


def _figure(drawn: Picture) -> Markup:
    return element("figure", draw(drawn), tabindex=0, role="group", aria_label=html_sentence(f"Picture: {drawn.title}"))


def _stands_out(page: Page) -> Markup | None:
    if not page.stands_out:
        return None
    return html_block(Notes(tuple((message,) for message in page.stands_out)), "What stands out")


def _section(section: Section, facets: Facets) -> Markup:
    """Its blocks; long details are closed at first."""
    blocks = fragment(*(html_block(each, section.title, facets) for each in section.blocks))
    rows = max((len(each.rows) for each in section.blocks if isinstance(each, Table)), default=0)
    if not section.is_detail or rows <= _OPEN:
        return blocks
    return element("details", element("summary", f"Show all {rows}"), blocks, class_="detail")


def _units(units: Markup, looked: UnitSelection) -> Markup | None:
    if not looked.units and not looked.note:
        return None
    notes = [shown_count_text(looked)] if looked.units else []
    notes += [looked.note] if looked.note else []
    return fragment(
        [element("p", html_sentence(note), class_="note") for note in notes], filter_placeholder(looked), units
    )


def _first_title(page: Page) -> str:
    return "" if page.samples is None else f"Look at these first, of {page.samples.count} in {page.samples.file}"


def _first_samples(page: Page) -> Markup | None:
    """Those that a page names, where none can be opened."""
    if page.samples is None or not page.samples.first:
        return None
    rows = [
        element(
            "tr",
            element("th", html_name(sample.id), scope="row", dir="auto"),
            element("td", html_sentence(sample.word)),
        )
        for sample in page.samples.first
    ]
    return html_table(_first_title(page), column_heads(["sample", "why"]), rows)


def _origin(origin: ReportOrigin | None) -> Markup | None:
    if origin is None:
        return None
    pairs = [(label, version) for label, version in origin.versions]
    pairs.append(("signature", origin.signature))
    rows = [
        element("div", element("dt", html_sentence(label)), element("dd", element("code", html_sentence(text))))
        for label, text in pairs
    ]
    inputs = [
        element(
            "tr",
            element("th", html_sentence(given.kind), scope="row", dir="auto"),
            element("td", element("code", html_sentence(given.sha256))),
            element("td", html_sentence(given.size), class_="num"),
        )
        for given in origin.inputs
    ]
    shown = (
        html_table("Inputs", column_heads(["input", "sha256", "size"], [False, False, True]), inputs)
        if inputs
        else None
    )
    return fragment(element("dl", *rows, class_="origin"), shown)
