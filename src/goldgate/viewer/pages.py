"""The pages of one folder: its report, the list of its units with filters, each unit, and the frame around them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from goldgate.core.page import FindingList, MeasuredValue, Table, count_text
from goldgate.report.element import Content, Markup, element, fragment, link
from goldgate.report.html import page_assets, page_body, page_title, whole_page
from goldgate.report.html.blocks import (
    DisplayLimits,
    column_heads,
    html_name,
    html_names,
    html_sentence,
    html_table,
    number_cell,
)
from goldgate.report.html.units import (
    FIRST_UNITS,
    GATE_FACET,
    NOTHING_WRONG,
    UnitSelection,
    unit_sections,
    verdict_mark,
    without_repetition,
)
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.index import (
    FACET,
    NUMBER_PREFIX,
    ORDER,
    PAGE_SIZE,
    TEXT,
    UnitQuery,
    count_below,
    nth_places,
    page_count,
    search_words,
    value_key,
)

if TYPE_CHECKING:
    from goldgate.viewer.site import SiteLinks

VIEW_STYLE = Path(__file__).with_name("view.css")
SITE_ASSETS = VIEW_STYLE, VIEW_STYLE.with_name("view.js")


class Link(NamedTuple):
    """A word and the address that it leads to; the word for the page itself has none."""

    words: str
    href: str | None = None


def site_page(title: str, body: Sequence[Content]) -> str:
    """A document of the site."""
    return whole_page(title, body, *SITE_ASSETS, forms=True)


@cache
def server_policy(*added: Path) -> str:
    """What a server says of its pages: the same as they say themselves, and that no other page may frame them."""
    return f"{page_assets(*added).policy(forms=True)}; frame-ancestors 'none'; require-trusted-types-for 'script'"


def simple_page(crumbs: Sequence[Link], heading: Content, about: str, main: Sequence[Content]) -> str:
    """A page with a heading and its sections."""
    title = " · ".join(html_sentence(link.words) for link in reversed(crumbs))
    body: list[Content] = [
        element("a", "Skip to the content", href="#main", class_="skip"),
        breadcrumbs(crumbs),
        element(
            "header",
            element("h1", heading),
            element("p", html_sentence(about), class_="about", dir="auto") if about else None,
        ),
        element("main", *main, id="main", tabindex=-1, class_="whole"),
    ]
    return site_page(title, body)


def breadcrumbs(crumbs: Sequence[Link]) -> Markup | None:
    """The way to a page, from the outermost."""
    if len(crumbs) < 2:
        return None
    above = len(crumbs) - 2  # the key u leads there
    items = [
        element("li", link_or_word(link, rel="up") if at == above else link_or_word(link))
        for at, link in enumerate(crumbs)
    ]
    return element("div", element("ol", *items), class_="crumbs", role="navigation", aria_label="Where you are")


def link_or_word(link: Link, **attributes: str) -> Markup:
    """A link, or the word alone."""
    text = element("bdi", html_name(link.words))
    if link.href is None:
        return element("span", text, aria_current="page")
    return element("a", text, href=link.href, **attributes)


def site_error_page(message: str) -> str:
    """A page that says what went wrong."""
    crumbs = [Link(HOME, "/"), Link("Not shown")]
    return simple_page(crumbs, "Not shown", "", [element("section", element("p", html_sentence(message)))])


MAX_OPTIONS = 200  # of one filter, the most frequent
_MAX_COUNTED_VALUES = 100  # values of a facet that are counted among what is selected
SEARCH_SCOPE = "ids, names and values in the records; not the source texts"


def select_units(folder: ViewedFolder, query: UnitQuery, *, without: str | None = None) -> int:
    """The places of the units that a query selects, in their order. `without` leaves out the filter of one facet."""
    values = {facet: _value(folder, facet, key) for facet, key in query.values.items() if facet != without}
    places = folder.index.selected(values, query.order)
    matches = folder.search(query.text, query.order)
    return places if matches is None else places & matches


def _value(folder: ViewedFolder, facet: str, key: str) -> str:
    """The value that a key stands for; of one that there is not, the key."""
    if not key.startswith(NUMBER_PREFIX):
        return key
    number, values = key[len(NUMBER_PREFIX) :], [*folder.index.facets.get(facet, ())]
    exists = number.isascii() and number.isdigit() and len(number) < 6 and int(number) < len(values)
    return values[int(number)] if exists else key


def _unit_pager(folder: ViewedFolder, number: int, unit: int, query: UnitQuery, links: SiteLinks) -> Markup:
    """Where a unit stands in its list, with links to the units beside it; empty for one that is not in the list."""
    selected, index = select_units(folder, query), folder.index
    place = index.place(unit, query.order)
    if not selected >> place & 1:
        return pager(None, None, None, element("p", "", class_="said"))
    at = count_below(selected, place)
    around = nth_places(selected, max(at - 1, 0), 3)
    beside = [links.unit(number, index.number(each, query.order), query) for each in around]
    before, behind = beside[0] if at else None, (*beside, None)[2 if at else 1]
    return pager(None, before, behind, element("p", f"{at + 1:,} of {selected.bit_count():,}", class_="said"))


def filter_form(folder: ViewedFolder, number: int, query: UnitQuery, selected: int, links: SiteLinks) -> Markup:
    """The filters as a form that works without a script."""
    facets = sorted(folder.index.facets, key=lambda facet: facet != GATE_FACET)  # gates first, the others as they are
    fields: list[Content] = [_facet(folder, facet, query, selected) for facet in facets]
    fields.append(
        element(
            "label",
            "search",
            element(
                "input",
                type="search",
                name=TEXT,
                value=query.visible_text,
                title=f"Searches {SEARCH_SCOPE}",
                dir="auto",
            ),
        )
    )
    orders = (("weight", "most errors first"), ("file", "as in the file"))
    options = [element("option", label, value=value, selected=query.order == value) for value, label in orders]
    fields.append(element("label", "order", element("select", *options, name=ORDER, aria_label="order")))
    show = element("button", "Show", type="submit")
    clear = element("a", "Clear", href=links.units(number, UnitQuery())) if not query.is_everything else None
    form = element(
        "form",
        element("div", *fields, class_="line"),
        element("div", show, clear, class_="line"),
        method="get",
        action=links.units(number, UnitQuery()),
        role="search",
        aria_label="Filters",
    )
    active = [f"{facet} {_value(folder, facet, key)}" for facet, key in query.values.items()]
    words = ", ".join([*active, *filter(None, [query.text])])
    summary = element("summary", html_sentence(f"Filters: {words}" if words else "Filters"), dir="auto")
    return element("details", summary, form, class_="filters open-wide")


def unit_rows(folder: ViewedFolder, number: int, numbers: Sequence[int], query: UnitQuery, links: SiteLinks) -> Markup:
    """Units as a table: what each is called, its score, what went wrong, and the beginning of its text."""
    folder.inputs.wait(_INPUTS_SECONDS)
    summaries = [folder.summary(each) for each in numbers]
    names = html_names(summary.id for summary in summaries)
    metric = next((summary.metric for summary in summaries if summary.metric), "score")
    rows = [
        element(
            "tr",
            element("th", link(element("bdi", names[summary.id]), links.unit(number, each, query)), scope="row"),
            number_cell(summary.score or MeasuredValue(None)),
            element("td", html_sentence(summary.word or NOTHING_WRONG), class_="word", dir="auto"),
            snippet_cell(summary.snippet),
            class_=None if summary.weight else "right",
        )
        for each, summary in zip(numbers, summaries, strict=True)
    ]
    heads = column_heads([folder.unit, metric, "what went wrong", "text"], [False, True, False, False])
    return html_table(f"{folder.unit.capitalize()}s", heads, rows, class_="units-list cards", tall=False)


def snippet_cell(snippet: str) -> Markup:
    """The beginning of a unit's text, in two lines at most."""
    return element("td", element("div", html_sentence(snippet), dir="auto"), class_="snippet")


def count_words(folder: ViewedFolder, query: UnitQuery, selected: int) -> Markup:
    """How many units there are, and which are shown."""
    count, total = selected.bit_count(), len(folder.index)
    words = counted_words(total, folder.unit) if count == total else f"{count:,} of {total:,} {folder.unit}s"
    words += page_range(query.page, count)
    return element("p", words, class_="said", role="status")


def page_range(page: int, count: int) -> str:
    """`, 51 to 100`; empty where all are on one page."""
    first = (page - 1) * PAGE_SIZE
    return f", {first + 1:,} to {min(first + PAGE_SIZE, count):,}" if count > PAGE_SIZE and first < count else ""


def pager(first: str | None, before: str | None, behind: str | None, text: Content, keys: Content = None) -> Markup:
    """Links to the pages before and behind; the keys k and j follow them."""
    return element(
        "div",
        text,
        element("a", "first", href=first) if first and before else None,
        element("a", "← previous ", element("kbd", "k"), href=before, rel="prev") if before else None,
        element("a", "next → ", element("kbd", "j"), href=behind, rel="next") if behind else None,
        keys,
        class_="pages",
    )


def list_pager(page: int, count: int, address: Callable[[int], str | None], words: Content) -> Markup:
    """The pager of a list of `count` items; `address` gives the address of a page by its number."""
    last = page_count(count)
    before = address(min(page - 1, last)) if page > 1 else None
    behind = address(page + 1) if page < last else None
    return pager(address(1), before, behind, words)


def counted_words(number: int, thing: str) -> str:
    """`1,100 samples`."""
    return count_text(number, thing).replace(str(number), f"{number:,}", 1)


def left_out_note(folder: ViewedFolder) -> Markup | None:
    """A note on facets that have more values than can be chosen; None where none has."""
    left_out = folder.index.left_out
    if not left_out:
        return None
    words = f"Not all values of {', '.join(left_out)} can be chosen: search for the others."
    return element("p", html_sentence(words), class_="note")


def _value_links(folder: ViewedFolder, number: int, links: SiteLinks) -> dict[str, dict[str, str]]:
    """By facet and value, where the list of the units with it is."""
    return {
        facet: {value: links.units(number, UnitQuery({facet: value_key(value, at)})) for at, value in enumerate(values)}
        for facet, values in folder.index.facets.items()
    }


def _unit_links(folder: ViewedFolder, number: int, links: SiteLinks) -> dict[str, dict[str, str]]:
    """Where the units are that the report names in findings and tables: a search."""
    ids: set[str] = set()
    for block in (block for section in folder.page.sections for block in section.blocks):
        if isinstance(block, FindingList):
            ids.update(line.unit for line in block.rows)
        elif isinstance(block, Table) and block.columns[0].title == folder.unit:
            ids.update(str(row[0]) for row in block.rows)
    addresses = {each: links.units(number, UnitQuery(text=each)) for each in ids if search_words(each)}
    return {"id": addresses, folder.unit: addresses}


def _facet(folder: ViewedFolder, facet: str, query: UnitQuery, selected: int) -> Markup:
    values = folder.index.facets[facet]
    chosen = query.values.get(facet, "")
    if len(values) > _MAX_COUNTED_VALUES:
        counts = {value: having.units for value, having in values.items()}
    else:
        among = select_units(folder, query, without=facet) if chosen else selected
        counts = folder.index.counts(facet, among, query.order)
    keys = {value: value_key(value, number) for number, value in enumerate(values)}
    offered = sorted((value for value in values if counts[value]), key=lambda value: (-counts[value], value))
    offered = [value for at, value in enumerate(offered) if at < MAX_OPTIONS or keys[value] == chosen]
    names = html_names(offered)
    options = [
        element("option", f"{names[value]} ({counts[value]:,})", value=keys[value], selected=keys[value] == chosen)
        for value in offered
    ]
    if chosen and chosen not in {keys[value] for value in offered}:
        options.append(element("option", f"{html_name(chosen)} (0)", value=chosen, selected=True))
    any_value = element("option", "any", value="")
    shown_facet = html_name(facet)
    chooser = element("select", any_value, *options, name=f"{FACET}{facet}", aria_label=shown_facet)
    return element("label", shown_facet, chooser)


HOME = "goldgate view"
UNIT_LIMITS = DisplayLimits(characters=100_000, marks=1_500, rows=1_000)  # of a page with one unit
_FIRST = 10  # units that the report's page lists
_INPUTS_SECONDS = 0.3  # that a list waits for its texts
_INPUTS_REFRESH = "700"  # milliseconds after which a page is loaded again that waits for the inputs


def report_page(links: SiteLinks, number: int) -> str:
    """The report as it is in report.html, whose names lead to the units that have them."""
    folder = links.folders[number]
    facets = {**_value_links(folder, number, links), **_unit_links(folder, number, links)}
    body = page_body(folder.page, _unit_selection(folder, number, links), facets, _first_units(folder, number, links))
    if len(links.folders) > 1:
        body.insert(1, breadcrumbs([Link(HOME, links.home()), Link(folder.name)]))
    return site_page(page_title(folder.page), body)


def units_page(links: SiteLinks, number: int, query: UnitQuery) -> str:
    """A page of the list of units."""
    folder = links.folders[number]
    selected = select_units(folder, query)
    places = nth_places(selected, (query.page - 1) * PAGE_SIZE, PAGE_SIZE)
    numbers = [folder.index.number(place, query.order) for place in places]
    crumbs = [*_breadcrumbs_of(links, number), Link(f"{folder.unit}s")]
    rows = unit_rows(folder, number, numbers, query, links) if numbers else element("p", "None.")
    section = element(
        "section",
        filter_form(folder, number, query, selected, links),
        left_out_note(folder),
        list_pager(
            query.page,
            selected.bit_count(),
            lambda page: links.units(number, query.at(page)),
            count_words(folder, query, selected),
        ),
        rows,
        element("p", f"Search looks through {SEARCH_SCOPE}.", class_="note"),
    )
    about = f"{counted_words(len(folder.index), folder.unit)}, {folder.index.wrong:,} of them with errors"
    heading = [verdict_mark(folder.page.verdict), f" {html_name(folder.name)}"]
    return simple_page(crumbs, heading, about, [section])


def single_unit_page(links: SiteLinks, number: int, unit: int, query: UnitQuery) -> str:
    """One unit, with the ones before and behind it in its list."""
    folder = links.folders[number]
    summary, page = folder.unit_page(unit)
    crumbs = [
        *_breadcrumbs_of(links, number),
        Link(f"{folder.unit}s", links.units(number, query)),
        Link(summary.id),
    ]
    main = [
        element("section", _unit_pager(folder, number, unit, query, links), input_notes(folder)),
        unit_sections(without_repetition(page, summary.word or NOTHING_WRONG), UNIT_LIMITS, level=2),
    ]
    heading = element("bdi", html_name(summary.id))
    score = f"{summary.metric} {summary.score} ({summary.score.counts}): " if summary.score is not None else ""
    return simple_page(crumbs, heading, score + (summary.word or NOTHING_WRONG), main)


def input_notes(folder: ViewedFolder) -> Markup | None:
    """The inputs that are not shown, and why; None where all are open."""
    notes = folder.inputs.available.notes
    if not notes:
        return None
    again = None if folder.inputs.is_done else _INPUTS_REFRESH
    return element("ul", *(element("li", html_sentence(note)) for note in notes), class_="notes", data_again=again)


def _breadcrumbs_of(links: SiteLinks, number: int) -> list[Link]:
    home = [Link(HOME, links.home())] if len(links.folders) > 1 else []
    return [*home, Link(links.folders[number].name, links.report(number))]


def _unit_selection(folder: ViewedFolder, number: int, links: SiteLinks) -> UnitSelection:
    """The units that cost each gate something: how many, the worst of them, and the address of all."""
    index = folder.index
    explains: dict[str, tuple[int, tuple[str, ...]]] = {}
    unit_links, gate_links = dict[tuple[str, str], str](), dict[str, str]()
    for at, (metric, having) in enumerate(index.facets.get(GATE_FACET, {}).items()):
        query = UnitQuery({GATE_FACET: value_key(metric, at)})
        identities = []
        for place in nth_places(index.having(GATE_FACET, metric, "weight"), 0, FIRST_UNITS):
            each = index.number(place, "weight")
            href = links.unit(number, each, query)
            if href is not None:
                identities.append(folder.summary(each).id)
                unit_links[metric, identities[-1]] = href
        explains[metric] = having.units, tuple(identities)
        everywhere = links.units(number, query)
        if everywhere is not None:
            gate_links[metric] = everywhere
    return UnitSelection(
        total=len(index),
        wrong=index.wrong,
        unit=folder.unit,
        explains=explains,
        unit_links=unit_links,
        gate_links=gate_links,
    )


def _first_units(folder: ViewedFolder, number: int, links: SiteLinks) -> Markup:
    index = folder.index
    first = [index.by_weight[place] for place in range(min(_FIRST, index.wrong))]
    total = count_text(len(index), folder.unit)
    words = f"In none of {total} anything went wrong."
    if first:
        words = f"{index.wrong:,} of {len(index):,} {folder.unit}s with errors, most errors first."
    href = links.units(number, UnitQuery())
    more = element("p", link(f"All {folder.unit}s, with filters", href)) if href is not None else None
    rows = unit_rows(folder, number, first, UnitQuery(), links) if first else None
    return fragment(element("p", words, class_="note"), rows, more)
