"""The pages of several folders: systems beside each other, which units changed, and each of them side by side."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import isnan

from goldgate.comparison.page import describe_comparison
from goldgate.core.page import Cell, Column, Measured, Name, Table, measured
from goldgate.report.html.blocks import block, heads, number, table
from goldgate.report.html.element import Content, Markup, element, fragment
from goldgate.report.html.gates import verdict
from goldgate.report.html.looked import Looked
from goldgate.report.html.page import page_body
from goldgate.report.html.texts import Limits, name, words
from goldgate.report.html.units import unit_sections
from goldgate.results.pictures import comparison_pictures
from goldgate.viewer.choice import PAGE_SIZE, Choice
from goldgate.viewer.compared import CHANGED, KINDS, Compared, PairedUnits
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.frame import Link, simple_page, site_page
from goldgate.viewer.links import Links
from goldgate.viewer.listing import pager
from goldgate.viewer.looking import HOME, notes

HALF = Limits(characters=50_000, marks=1_000, rows=500)  # of a page with two units
_MOST_RECORDS = 5  # of one unit in one folder
_MOST_NAMED = 10  # changed units that the comparison lists


def home_page(folders: Sequence[ViewedFolder], compared: Compared | None, links: Links) -> str:
    """The comparison, with links to each folder and to what changed; or the folders as a table."""
    if compared is None or compared.report is None:
        return _uncompared_page(folders, "" if compared is None else compared.refused, links)
    report = compared.report
    page = describe_comparison(report)._replace(pictures=tuple(comparison_pictures(report)))
    facets = {"system": {folder.name: links.report(at) for at, folder in enumerate(folders)}}
    facets["id"] = _named(folders, compared, links)
    units = fragment(_folders(folders, links), _standings(folders, compared, links))
    body = page_body(page, Looked(unit=report["unit"]), facets, units, units_first=True)
    return site_page(f"goldgate view: {page.subject}", body, forms=links.forms)


def changes_page(
    folders: Sequence[ViewedFolder], compared: Compared, pair: int, kind: str, page: int, links: Links
) -> str:
    """A page of the units that changed, were won or lost, the largest change first."""
    paired = compared.pairs[pair]
    one, other = (folders[side] for side in paired.folders)
    places = _written(paired.places[kind], links)
    first = (page - 1) * PAGE_SIZE
    rows = [_row(folders, paired, pair, kind, place, links) for place in places[first : first + PAGE_SIZE]]
    count, total = len(places), len(paired.places[kind])
    of = f"{count:,} {kind}" if count == total else f"{count:,} of {total:,} {kind} have pages"
    said = element("p", of + _range(first, count), class_="said", role="status")
    last = max(-(-count // PAGE_SIZE), 1)
    before = links.changes(pair, kind, min(page - 1, last)) if page > 1 else None
    behind = links.changes(pair, kind, page + 1) if page < last else None
    titles = [_unit(one), "part of the difference", one.name, other.name]
    shown: Content = (
        table(f"What changed: {kind}", heads(titles, [False, True, False, False]), rows, class_="units-list")
        if rows
        else element("p", "None.")
    )
    kinds = [Link(_words(each), links.changes(pair, each) if each != kind else None) for each in KINDS]
    section = element("section", pager(links.changes(pair, kind), before, behind, said), shown)
    about = f"{_metric(compared)}: won raises the difference, lost lowers it; its parts add up to it"
    crumbs = [Link(HOME, links.home()), Link(f"{other.name} against {one.name}: {kind}")]
    return simple_page(crumbs, _heading(folders, paired), about, kinds, [section], forms=links.forms)


def change_page(
    folders: Sequence[ViewedFolder], compared: Compared, pair: int, kind: str, place: int, links: Links
) -> str:
    """A unit in both folders, side by side."""
    paired = compared.pairs[pair]
    identity = _identity(folders, paired, place)
    places = paired.places[kind]
    at = paired.position(kind, place)
    before = links.change(pair, places[at - 1], kind) if at else None
    behind = links.change(pair, places[at + 1], kind) if at is not None and at + 1 < len(places) else None
    said = "" if at is None else f"{at + 1:,} of {len(places):,} {kind}"
    one, other = (folders[side] for side in paired.folders)
    crumbs = [
        Link(HOME, links.home()),
        Link(f"{other.name} against {one.name}: {kind}", links.changes(pair, kind)),
        Link(identity),
    ]
    sides = [_side(folders[number], paired.records(side, place)) for side, number in enumerate(paired.folders)]
    unread = [found for folder in (one, other) if (found := notes(folder)) is not None]
    section = element("section", pager(None, before, behind, element("p", said, class_="said")), *unread)
    about = f"{_metric(compared)}: {_change(paired.changes[place])} of the difference"
    columns = element("div", *sides, class_="sides")
    heading = element("bdi", name(identity))
    return simple_page(crumbs, heading, about, [], [section, columns], forms=links.forms)


def _written(places: Sequence[int], links: Links) -> Sequence[int]:
    """Those that have pages."""
    return places if links.most is None else places[: bisect_left(places, links.most)]


def _uncompared_page(folders: Sequence[ViewedFolder], refused: str, links: Links) -> str:
    """Systems by their main metrics, a table for each suite, without statistics."""
    suites = dict.fromkeys(folder.result.suite.name for folder in folders)
    tables = [
        element("section", element("h2", name(suite)), _metrics([*_of(folders, suite)], links)) for suite in suites
    ]
    why = element("section", element("h2", "Why they are not compared"), _lines(refused)) if refused else None
    content = [element("section", _folders(folders, links)), *tables, why]
    return simple_page([Link(HOME)], HOME, f"{len(folders)} results", [], content, forms=links.forms)


def _lines(text: str) -> list[Markup]:
    return [element("p", words(line)) for line in text.splitlines()]


def _of(folders: Sequence[ViewedFolder], suite: str) -> Iterator[tuple[int, ViewedFolder]]:
    return ((at, folder) for at, folder in enumerate(folders) if folder.result.suite.name == suite)


def _metrics(folders: Sequence[tuple[int, ViewedFolder]], links: Links) -> Markup:
    headline = folders[0][1].result.suite.headline
    rows: list[tuple[Cell, ...]] = []
    for _, folder in folders:
        sections = [found for found in folder.result.report["metrics"].values() if isinstance(found, Mapping)]
        known = {metric: found for section in sections for metric, found in section.items()}
        values = [measured(known[metric]) if metric in known else Measured(None) for metric in headline]
        rows.append((Name(folder.name), *values))
    facets = {"system": {folder.name: links.report(at) for at, folder in folders}}
    return block(Table((Column("system"), *map(Column, headline)), tuple(rows)), "Main metrics", facets)


def _folders(folders: Sequence[ViewedFolder], links: Links) -> Markup:
    rows = []
    for at, folder in enumerate(folders):
        units = f"{folder.index.wrong:,} of {len(folder.index):,} {folder.unit}s with errors"
        href = links.units(at, Choice())
        rows.append(
            element(
                "tr",
                element("th", element("a", element("bdi", name(folder.name)), href=links.report(at)), scope="row"),
                element("td", verdict(folder.page.verdict)),
                element("td", element("a", units, href=href) if href is not None else units),
            )
        )
    return table("Results", heads(["result", "verdict", "look at"]), rows)


def _standings(folders: Sequence[ViewedFolder], compared: Compared, links: Links) -> list[Markup]:
    """How many units each system won and lost, with links to them."""
    rows = []
    for at, paired in enumerate(compared.pairs):
        one, other = (folders[side] for side in paired.folders)
        shown: list[Content] = []
        for kind in KINDS:
            count = f"{len(paired.places[kind]):,} {kind}"
            href = links.changes(at, kind) if paired.places[kind] else None
            shown += [element("a", count, href=href) if href is not None else count, " · "]
        title = f"{name(other.name)} against {name(one.name)}"
        rows.append(element("p", element("bdi", title), ": ", *shown[:-1]))
    if rows:
        rows.append(element("p", words(f"By {_metric(compared)}, the largest change first."), class_="note"))
    return rows


def _named(folders: Sequence[ViewedFolder], compared: Compared, links: Links) -> dict[str, str]:
    """Where the units are that the comparison names, if that is clear: with two systems."""
    if len(compared.pairs) != 1 or len(folders) != 2:
        return {}
    paired = compared.pairs[0]
    found = {}
    for place in range(min(len(paired), _MOST_NAMED)):
        href = links.change(0, place, CHANGED)
        if href is not None:
            found[_identity(folders, paired, place)] = href
    return found


def _row(
    folders: Sequence[ViewedFolder], paired: PairedUnits, pair: int, kind: str, place: int, links: Links
) -> Markup:
    href = links.change(pair, place, kind)
    identity = element("bdi", name(_identity(folders, paired, place)))
    change = paired.changes[place]
    said = [_said(folders[number], paired.records(side, place)) for side, number in enumerate(paired.folders)]
    value = Measured(None) if isnan(change) else Measured(change, shown=_change(change))
    return element(
        "tr",
        element("th", element("a", identity, href=href) if href is not None else identity, scope="row"),
        number(value),
        *(element("td", words(text), dir="auto") for text in said),
    )


def _said(folder: ViewedFolder, records: Sequence[int]) -> str:
    """What went wrong in few words, of each record."""
    shown = [folder.summary(each).word or "nothing went wrong" for each in records[:_MOST_RECORDS]]
    return "; ".join(shown) or "no record"


def _side(folder: ViewedFolder, records: Sequence[int]) -> Markup:
    parts: list[Content] = [element("h2", element("bdi", name(folder.name)))]
    for each in records[:_MOST_RECORDS]:
        summary, page = folder.unit_page(each)
        if len(records) > 1:
            parts.append(element("p", element("strong", name(summary.id)), dir="auto"))
        parts.append(unit_sections(page, HALF, level=3))
    if len(records) > _MOST_RECORDS:
        parts.append(element("p", f"… and {len(records) - _MOST_RECORDS} more.", class_="note"))
    return element("article", *parts, class_="side", aria_label=name(folder.name))


def _identity(folders: Sequence[ViewedFolder], paired: PairedUnits, place: int) -> str:
    """What a unit is called: by what both systems were asked."""
    for side, at in enumerate(paired.folders):
        for each in paired.records(side, place):
            folder = folders[at]
            return str(folder.record(each)[folder.result.suite.pairing.field])
    return "?"


def _unit(folder: ViewedFolder) -> str:
    return folder.result.suite.pairing.unit or folder.unit


def _change(change: float) -> str:
    """Cut towards zero, as in the comparison."""
    if isnan(change):
        return "an undefined part"
    exact = Fraction(change)
    return ("+" if change > 0 else "") + str(Measured(change, exact.numerator, exact.denominator))


def _range(first: int, count: int) -> str:
    return f", {first + 1:,} to {min(first + PAGE_SIZE, count):,}" if count > PAGE_SIZE and first < count else ""


def _words(kind: str) -> str:
    return {CHANGED: "all that changed"}.get(kind, kind)


def _metric(compared: Compared) -> str:
    return str((compared.report or {"changed": {"metric": ""}})["changed"]["metric"])


def _heading(folders: Sequence[ViewedFolder], paired: PairedUnits) -> list[Content]:
    one, other = (folders[side] for side in paired.folders)
    return [element("bdi", name(other.name)), " against ", element("bdi", name(one.name))]
