"""The list of a folder's units: filters, a page of units, and the pages before and behind it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from goldgate.core.page import counted
from goldgate.core.unit_page import UnitSummary
from goldgate.report.html.blocks import heads, table
from goldgate.report.html.element import Content, Markup, element, fragment
from goldgate.report.html.texts import name, names, words
from goldgate.viewer.bits import all_bits, count_below, nth_places
from goldgate.viewer.choice import FACET, NUMBERED, ORDER, PAGE_SIZE, TEXT, Choice, value_key
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.index import GATE
from goldgate.viewer.links import Links

MOST_OPTIONS = 200  # of one filter, the most frequent
_MOST_COUNTED = 100  # values of a facet that are counted among what is selected
_AGAIN = "250"  # milliseconds after which a page is loaded again that is still searching
_RIGHT = "nothing went wrong"
SEARCHED = "ids, names and values in the records; not the source texts"


class Selected(NamedTuple):
    """The places of the chosen units in their order, and how many of all units were searched for words."""

    places: int
    searched: int | None = None

    @property
    def units(self) -> int:
        return self.places.bit_count()


def select(folder: ViewedFolder, choice: Choice, *, without: str | None = None, most: int | None = None) -> Selected:
    """What is chosen; a search goes on for a moment. `without` leaves out the filter of one facet.

    `most` are the units that have pages: the others are left out.
    """
    values = {facet: _value(folder, facet, key) for facet, key in choice.values.items() if facet != without}
    places = folder.index.selected(values, choice.order)
    places &= all_bits(most) if most is not None else places
    search = folder.searches.of(choice.text) if choice.text else None
    if search is None:
        return Selected(places)
    if without is None:
        search.go_on(folder.read_at)
    searched = None if search.is_complete else search.done
    return Selected(places & search.found(choice.order), searched)


def numbers_of_page(folder: ViewedFolder, choice: Choice, selected: Selected) -> list[int]:
    """The units of a page, in the order of the list."""
    first = (choice.page - 1) * PAGE_SIZE
    return [folder.index.number(place, choice.order) for place in nth_places(selected.places, first, PAGE_SIZE)]


def _value(folder: ViewedFolder, facet: str, key: str) -> str:
    """The value that a key stands for; of one that there is not, the key."""
    if not key.startswith(NUMBERED):
        return key
    number, values = key[len(NUMBERED) :], [*folder.index.facets.get(facet, ())]
    known = number.isascii() and number.isdigit() and len(number) < 6 and int(number) < len(values)
    return values[int(number)] if known else key


class Neighbours(NamedTuple):
    """Where a unit stands among those chosen, and the ones beside it. Without a place it is none of them."""

    place: int | None
    before: int | None
    behind: int | None
    units: int


def neighbours(folder: ViewedFolder, choice: Choice, number: int) -> Neighbours:
    """The units before and behind one in a list."""
    selected, index = select(folder, choice), folder.index
    place = index.place(number, choice.order)
    if not selected.places >> place & 1:
        return Neighbours(None, None, None, selected.units)
    at = count_below(selected.places, place)
    around = nth_places(selected.places, max(at - 1, 0), 3)
    found = [index.number(each, choice.order) for each in around]
    here = 1 if at else 0
    return Neighbours(
        at,
        found[0] if at else None,
        found[here + 1] if here + 1 < len(found) else None,
        selected.units,
    )


def filter_form(folder: ViewedFolder, number: int, choice: Choice, selected: Selected, links: Links) -> Markup:
    """The filters as a form that works without a script."""
    facets = sorted(folder.index.facets, key=lambda facet: facet != GATE)  # gates first, the others as they are
    fields: list[Content] = [_facet(folder, facet, choice, selected) for facet in facets]
    fields.append(
        element(
            "label",
            "search",
            element("input", type="search", name=TEXT, value=choice.text, title=f"Searches {SEARCHED}", dir="auto"),
        )
    )
    orders = (("weight", "the most errors first"), ("file", "as in the file"))
    options = [element("option", shown, value=value, selected=choice.order == value) for value, shown in orders]
    fields.append(element("label", "order", element("select", *options, name=ORDER, aria_label="order")))
    show = element("button", "Show", type="submit")
    clear = element("a", "Clear", href=links.units(number, Choice())) if not choice.is_everything else None
    return element(
        "form",
        element("div", *fields, class_="line"),
        element("div", show, clear, class_="line"),
        class_="filters",
        method="get",
        action=links.units(number, Choice()),
        role="search",
        aria_label="Filters",
    )


def unit_rows(
    folder: ViewedFolder, number: int, numbers: Sequence[int], choice: Choice, links: Links, class_: str = "units-list"
) -> Markup:
    """Units as a table: what each is called, and what went wrong."""
    summaries = [folder.summary(each) for each in numbers]
    shown = names(summary.id for summary in summaries)
    rows = [
        _row(summary, shown[summary.id], links.unit(number, each, choice))
        for each, summary in zip(numbers, summaries, strict=True)
    ]
    return table(f"{folder.unit.capitalize()}s", heads([folder.unit, "what went wrong"]), rows, class_=class_)


def count_words(folder: ViewedFolder, choice: Choice, selected: Selected) -> Markup:
    """How many units there are, which are shown, and how far a search has come."""
    count, total = selected.units, len(folder.index)
    first = (choice.page - 1) * PAGE_SIZE
    last = min(first + PAGE_SIZE, count)
    said = counted_words(total, folder.unit) if count == total else f"{count:,} of {total:,} {folder.unit}s"
    said += f", {first + 1:,} to {last:,}" if first < count and count > PAGE_SIZE else ""
    if selected.searched is None:
        return element("p", said, class_="said", role="status")
    more = f"; searched {selected.searched:,} of {total:,} so far"
    on = element("a", "go on", href=choice.query() or "?")
    return element("p", said, more, ": ", on, class_="said", role="status", data_again=_AGAIN)


def pager(first: str | None, before: str | None, behind: str | None, said: Content) -> Markup:
    """Links to the pages before and behind; the keys k and j follow them."""
    return element(
        "div",
        said,
        element("a", "first", href=first) if first and before else None,
        element("a", "← previous ", element("kbd", "k"), href=before, rel="prev") if before else None,
        element("a", "next → ", element("kbd", "j"), href=behind, rel="next") if behind else None,
        class_="pages",
    )


def pages(folder: ViewedFolder, number: int, choice: Choice, selected: Selected, links: Links) -> Markup:
    """The pager of a list."""
    last = max(-(-selected.units // PAGE_SIZE), 1)
    before = links.units(number, choice.at(min(choice.page - 1, last))) if choice.page > 1 else None
    behind = links.units(number, choice.at(choice.page + 1)) if choice.page < last else None
    return pager(links.units(number, choice.at(1)), before, behind, count_words(folder, choice, selected))


def counted_words(number: int, thing: str) -> str:
    """`1,100 samples`."""
    return counted(number, thing).replace(str(number), f"{number:,}", 1)


def left_out_note(folder: ViewedFolder) -> Markup | None:
    """Which facets have more values than can be chosen."""
    left_out = folder.index.left_out
    if not left_out:
        return None
    said = f"Not all values of {', '.join(left_out)} can be chosen: search for the others."
    return element("p", words(said), class_="note")


def value_lists(folder: ViewedFolder, number: int, links: Links) -> Markup:
    """Links to the lists of units with a value, where there is no form."""
    rows = []
    for facet, values in folder.index.facets.items():
        found: list[Content] = []
        for at, (value, having) in enumerate(values.items()):
            href = links.units(number, Choice({facet: value_key(value, at)}))
            if href is not None:
                link = element("a", element("bdi", f"{name(value)} ({having.units:,})"), href=href)
                found += [", ", link] if found else [link]
        if found:
            rows.append(element("div", element("dt", name(facet)), element("dd", *found)))
    return element("dl", *rows)


def _facet(folder: ViewedFolder, facet: str, choice: Choice, selected: Selected) -> Markup:
    values = folder.index.facets[facet]
    chosen = choice.values.get(facet, "")
    if len(values) > _MOST_COUNTED:
        counts = {value: having.units for value, having in values.items()}
    else:
        among = select(folder, choice, without=facet) if chosen else selected
        counts = folder.index.counts(facet, among.places, choice.order)
    keys = {value: value_key(value, number) for number, value in enumerate(values)}
    offered = sorted((value for value in values if counts[value]), key=lambda value: (-counts[value], value))
    offered = [value for at, value in enumerate(offered) if at < MOST_OPTIONS or keys[value] == chosen]
    shown = names(offered)
    options = [
        element("option", f"{shown[value]} ({counts[value]:,})", value=keys[value], selected=keys[value] == chosen)
        for value in offered
    ]
    if chosen and chosen not in {keys[value] for value in offered}:
        options.append(element("option", f"{name(chosen)} (0)", value=chosen, selected=True))
    any_value = element("option", "any", value="")
    shown_facet = name(facet)
    chooser = element("select", any_value, *options, name=f"{FACET}{facet}", aria_label=shown_facet)
    return element("label", shown_facet, chooser)


def _row(summary: UnitSummary, shown: str, href: str | None) -> Markup:
    identity = element("bdi", shown)
    link = element("a", identity, href=href) if href is not None else fragment(identity)
    return element(
        "tr",
        element("th", link, scope="row"),
        element("td", words(summary.word or _RIGHT), class_="word", dir="auto"),
        class_=None if summary.weight else "right",
    )
