"""The frame of every page of a site: where one is, what else there is, our style and script, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

from goldgate.report.html.element import Content, Markup, element
from goldgate.report.html.page import content_policy, source, whole_page
from goldgate.report.html.texts import name, words
from goldgate.report.svg.shapes import stylesheet

_HERE = Path(__file__).parent


class Link(NamedTuple):
    """A word that leads somewhere; without a place it is where one is."""

    words: str
    href: str | None = None


def site_page(title: str, body: Sequence[Content], *, forms: bool) -> str:
    """A document of the site."""
    return whole_page(title, body, more_style=_own("view.css"), more_script=_own("view.js"), forms=forms)


@cache
def site_policy() -> str:
    """What a server says of its pages: the same as they say themselves, and that nobody may frame them."""
    style, script = source("page.css") + stylesheet() + _own("view.css"), source("page.js") + _own("view.js")
    return f"{content_policy(style, script, forms=True)}; frame-ancestors 'none'; require-trusted-types-for 'script'"


def simple_page(
    crumbs: Sequence[Link], heading: Content, about: str, links: Sequence[Link], main: Sequence[Content], *, forms: bool
) -> str:
    """A page with a heading, links to what is near, and its sections."""
    title = " · ".join(words(link.words) for link in reversed(crumbs))
    body: list[Content] = [
        element("a", "Skip to the content", href="#main", class_="skip"),
        where(crumbs),
        element(
            "header",
            element("h1", heading),
            element("p", words(about), class_="about", dir="auto") if about else None,
        ),
        element("nav", element("ul", *(element("li", shown(link)) for link in links)), aria_label="Near this")
        if links
        else None,
        element("main", *main, id="main", tabindex=-1, class_=None if links else "whole"),
    ]
    return site_page(title, body, forms=forms)


def where(crumbs: Sequence[Link]) -> Markup | None:
    """The way to a page, from the outermost."""
    if len(crumbs) < 2:
        return None
    above = len(crumbs) - 2  # the key u leads there
    items = [element("li", shown(link, rel="up") if at == above else shown(link)) for at, link in enumerate(crumbs)]
    return element("div", element("ol", *items), class_="crumbs", role="navigation", aria_label="Where you are")


def shown(link: Link, **attributes: str) -> Markup:
    """A link, or the word alone."""
    text = element("bdi", name(link.words))
    if link.href is None:
        return element("span", text, aria_current="page")
    return element("a", text, href=link.href, **attributes)


def error_page(message: str, href: str, *, forms: bool = True) -> str:
    """A page that says what went wrong."""
    crumbs = [Link("goldgate view", href), Link("Not shown")]
    return simple_page(crumbs, "Not shown", "", [], [element("section", element("p", words(message)))], forms=forms)


@cache
def _own(file: str) -> str:
    return (_HERE / file).read_text(encoding="utf-8")
