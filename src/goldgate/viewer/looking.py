"""The pages of one folder: its report, the list of its units, and each unit."""

from __future__ import annotations

from collections.abc import Sequence

from goldgate.core.page import counted
from goldgate.report.html.element import Content, Markup, element, fragment
from goldgate.report.html.gates import verdict
from goldgate.report.html.looked import Looked
from goldgate.report.html.page import page_body, page_title
from goldgate.report.html.texts import Limits, name, words
from goldgate.report.html.units import unit_sections
from goldgate.viewer.bits import nth_places
from goldgate.viewer.choice import Choice, value_key
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.frame import Link, simple_page, site_page, where
from goldgate.viewer.index import GATE
from goldgate.viewer.links import Links
from goldgate.viewer.listing import (
    SEARCHED,
    counted_words,
    filter_form,
    left_out_note,
    neighbours,
    numbers_of_page,
    pager,
    pages,
    select,
    unit_rows,
    value_lists,
)

HOME = "goldgate view"
WHOLE = Limits(characters=100_000, marks=1_500, rows=1_000)  # of a page with one unit
_FIRST = 10  # units that the report's page lists
_NAMED = 3  # units that are named beside a gate
_AGAIN = "700"  # milliseconds after which a page is loaded again that waits for the inputs


def report_page(folders: Sequence[ViewedFolder], number: int, links: Links) -> str:
    """The report as it is in report.html, whose names lead to the units that have them."""
    folder = folders[number]
    facets = {
        facet: {
            value: href
            for at, value in enumerate(values)
            if (href := links.units(number, Choice({facet: value_key(value, at)}))) is not None
        }
        for facet, values in folder.index.facets.items()
    }
    body = page_body(folder.page, _looked(folder, number, links), facets, _first_units(folder, number, links))
    if len(folders) > 1:
        body.insert(1, where([Link(HOME, links.home()), Link(folder.name)]))
    return site_page(page_title(folder.page), body, forms=links.forms)


def units_page(folders: Sequence[ViewedFolder], number: int, choice: Choice, links: Links) -> str:
    """A page of the list."""
    folder = folders[number]
    selected = select(folder, choice, most=links.most)
    numbers = numbers_of_page(folder, choice, selected)
    crumbs = [*_way(folders, number, links), Link(f"{folder.unit}s")]
    shown: Content = unit_rows(folder, number, numbers, choice, links) if numbers else element("p", "None.")
    section = element(
        "section",
        filter_form(folder, number, choice, selected, links) if links.forms else _lists(folder, number, links),
        left_out_note(folder) if links.forms else None,
        pages(folder, number, choice, selected, links),
        shown,
        element("p", f"Search looks through {SEARCHED}.", class_="note") if links.forms else None,
    )
    about = f"{counted_words(len(folder.index), folder.unit)}, {folder.index.wrong:,} of them with errors"
    heading = [verdict(folder.page.verdict), f" {name(folder.name)}"]
    return simple_page(crumbs, heading, about, [], [section], forms=links.forms)


def unit_page(folders: Sequence[ViewedFolder], number: int, unit: int, choice: Choice, links: Links) -> str:
    """One unit, with the ones before and behind it in its list."""
    folder = folders[number]
    summary, page = folder.unit_page(unit)
    near = neighbours(folder, choice, unit)
    said = "" if near.place is None else f"{near.place + 1:,} of {near.units:,}"
    before = None if near.before is None else links.unit(number, near.before, choice)
    behind = None if near.behind is None else links.unit(number, near.behind, choice)
    crumbs = [
        *_way(folders, number, links),
        Link(f"{folder.unit}s", links.units(number, choice)),
        Link(summary.id),
    ]
    main = [
        element("section", pager(None, before, behind, element("p", said, class_="said")), notes(folder)),
        unit_sections(page, WHOLE, level=2),
    ]
    heading = element("bdi", name(summary.id))
    return simple_page(crumbs, heading, summary.word or "nothing went wrong", [], main, forms=links.forms)


def _lists(folder: ViewedFolder, number: int, links: Links) -> Markup:
    """What is in an export, and its lists."""
    most = len(folder.index) if links.most is None else links.most
    said = f"These pages have {most:,} of {len(folder.index):,} {folder.unit}s, the worst first"
    note = element("p", f"{said}; goldgate view shows all.", class_="note") if most < len(folder.index) else None
    return element("details", element("summary", "By value"), note, value_lists(folder, number, links), class_="detail")


def notes(folder: ViewedFolder) -> Markup | None:
    """What of the inputs is not shown, and why."""
    found = folder.inputs.notes
    if not found:
        return None
    again = None if folder.inputs.is_done else _AGAIN
    return element("ul", *(element("li", words(note)) for note in found), class_="notes", data_again=again)


def _way(folders: Sequence[ViewedFolder], number: int, links: Links) -> list[Link]:
    home = [Link(HOME, links.home())] if len(folders) > 1 else []
    return [*home, Link(folders[number].name, links.report(number))]


def _looked(folder: ViewedFolder, number: int, links: Links) -> Looked:
    """The units that explain each gate: how many, the worst of them, and where all are."""
    index = folder.index
    explains: dict[str, tuple[int, tuple[str, ...]]] = {}
    unit_links, gate_links = dict[tuple[str, str], str](), dict[str, str]()
    for at, (metric, having) in enumerate(index.facets.get(GATE, {}).items()):
        choice = Choice({GATE: value_key(metric, at)})
        identities = []
        for place in nth_places(index.having(GATE, metric, "weight"), 0, _NAMED):
            each = index.number(place, "weight")
            href = links.unit(number, each, choice)
            if href is not None:
                identities.append(folder.summary(each).id)
                unit_links[metric, identities[-1]] = href
        explains[metric] = having.units, tuple(identities)
        everywhere = links.units(number, choice)
        if everywhere is not None:
            gate_links[metric] = everywhere
    return Looked((), len(index), index.wrong, folder.unit, explains, "", unit_links, gate_links)


def _first_units(folder: ViewedFolder, number: int, links: Links) -> Markup:
    index = folder.index
    first = [index.by_weight[place] for place in range(min(_FIRST, index.wrong))]
    total = counted(len(index), folder.unit)
    if not first:
        said = f"In none of {total} anything went wrong."
    else:
        said = f"{index.wrong:,} of {len(index):,} {folder.unit}s with errors, the worst first."
    href = links.units(number, Choice())
    more = element("p", element("a", f"All {folder.unit}s, with filters", href=href)) if href is not None else None
    rows = unit_rows(folder, number, first, Choice(), links) if first else None
    return fragment(element("p", said, class_="note"), rows, more)
