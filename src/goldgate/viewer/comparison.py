"""Several folders compared: the systems, which units changed, and the pages that show a unit side by side."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from goldgate.comparison import Comparison, compare_systems
from goldgate.core.evaluation import render_json
from goldgate.core.metric import metrics_by_name
from goldgate.core.page import MeasuredValue, measured_value
from goldgate.core.unit_page import SIDES, UnitPage, UnitSummary, pair_pages
from goldgate.errors import GoldgateError
from goldgate.files.parsing import parse_json
from goldgate.readers.unit_records import CountIndex, read_unit_tables
from goldgate.report.element import Content, Markup, element, fragment, link
from goldgate.report.html import page_body
from goldgate.report.html.blocks import (
    DisplayLimits,
    column_heads,
    html_name,
    html_sentence,
    html_table,
    number_cell,
)
from goldgate.report.html.units import (
    NOTHING_WRONG,
    UnitSelection,
    score_text,
    unit_sections,
    verdict_mark,
    without_repetition,
)
from goldgate.report.svg import comparison_page
from goldgate.runs.sources import SystemSource
from goldgate.viewer.folder import ViewedFolder, cache_identity, load_cached, store_cached
from goldgate.viewer.index import PAGE_SIZE, UnitQuery
from goldgate.viewer.pages import (
    HOME,
    UNIT_LIMITS,
    Link,
    input_notes,
    link_or_word,
    list_pager,
    page_range,
    pager,
    simple_page,
    site_page,
    snippet_cell,
)

if TYPE_CHECKING:
    from goldgate.runs.contracts import ComparisonReport
    from goldgate.viewer.site import SiteLinks

CHANGED, WON, LOST = "changed", "won", "lost"
KINDS = (CHANGED, WON, LOST)
_COMPARISON_KIND = "compare"


@dataclass
class PairedUnits:
    """The units that changed from one folder to another, the largest change first.

    A change is the unit's part of the difference, nan where that is undefined. Of a side, `starts` says where the
    numbers of a unit's records begin: a system may have several of one unit.
    """

    folders: tuple[int, int]
    changes: array[float]
    starts: tuple[array[int], array[int]]
    numbers: tuple[array[int], array[int]]

    def __len__(self) -> int:
        return len(self.changes)

    def records(self, side: int, place: int) -> Sequence[int]:
        """The numbers of a unit's records in one of the folders."""
        return self.numbers[side][self.starts[side][place] : self.starts[side][place + 1]]

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The places of each kind: the system won a unit that raises the difference, and lost one that lowers it."""
        return {
            CHANGED: range(len(self)),
            WON: array("I", [place for place, change in enumerate(self.changes) if change > 0]),
            LOST: array("I", [place for place, change in enumerate(self.changes) if change < 0]),
        }

    def position(self, kind: str, place: int) -> int | None:
        """Where a unit stands among those of a kind; None if it is none of them."""
        places = self.places[kind]
        at = bisect_left(places, place)
        return at if at < len(places) and places[at] == place else None


@dataclass
class FolderComparison:
    """comparison.json and the pairs of folders; or why there is no comparison."""

    report: ComparisonReport | None = None
    pairs: list[PairedUnits] = field(default_factory=list)
    refused: str = ""


def compare_folders(
    sources: Sequence[SystemSource], folders: Sequence[ViewedFolder], common: bool = False
) -> FolderComparison:
    """Compare all systems with the first; `refused` says why they cannot be compared."""
    names = [[source.name, len(source.paths)] for source in sources]
    files = [file for folder in folders for file in (folder.result.records, folder.result.file)]
    of = [*cache_identity(files), f"{names} {common}"]
    compared = load_cached(_COMPARISON_KIND, of, _unpack_pairs)
    if compared is not None:
        return compared
    try:
        comparison = compare_systems(sources, common=common)
        pairs = [*_pairs(comparison, sources, folders)]
    except GoldgateError as error:
        return FolderComparison(refused=str(error))
    packed = [(pair.folders, pair.changes, pair.starts, pair.numbers) for pair in pairs]
    store_cached(_COMPARISON_KIND, of, (render_json(comparison.report), packed))
    return FolderComparison(comparison.report, pairs)


def _pairs(
    comparison: Comparison, sources: Sequence[SystemSource], folders: Sequence[ViewedFolder]
) -> Iterator[PairedUnits]:
    """A pair for each system of one run, with the reference, if that has one run too."""
    numbers, count = dict[str, int](), 0
    for source in sources:
        if len(source.paths) == 1:
            numbers[source.name] = count
        count += len(source.paths)
    reference = comparison.report["against"]
    changed: dict[str, dict[str, float]] = {}
    for line in comparison.changes.lines():
        changed.setdefault(line["system"], {})[line["id"]] = nan if line["change"] is None else line["change"]
    for source in sources:
        if source.name != reference and reference in numbers and source.name in numbers:
            sides = numbers[reference], numbers[source.name]
            yield _pair_units(sides, changed.get(source.name, {}), folders)


def _pair_units(sides: tuple[int, int], changed: Mapping[str, float], folders: Sequence[ViewedFolder]) -> PairedUnits:
    places = {identity: place for place, identity in enumerate(changed)}
    starts, numbers = [], []
    for side in sides:
        result = folders[side].result
        records: list[list[int]] = [[] for _ in places]
        ids = (identity for table in read_unit_tables(result, CountIndex()) for identity in table.ids)
        for number, identity in enumerate(ids):
            place = None if identity is None else places.get(identity)
            if place is not None:
                records[place].append(number)
        flat, begins = array("I"), array("I", [0])
        for each in records:
            flat.extend(each)
            begins.append(len(flat))
        starts.append(begins)
        numbers.append(flat)
    return PairedUnits(sides, array("d", changed.values()), (starts[0], starts[1]), (numbers[0], numbers[1]))


def _unpack_pairs(stored: tuple[bytes, Any]) -> FolderComparison:
    report, packed = stored
    pairs = []
    for folders, changes, starts, numbers in packed:
        (one_start, other_start), (one, other) = ([array("I", side) for side in sides] for sides in (starts, numbers))
        pairs.append(PairedUnits(folders, array("d", changes), (one_start, other_start), (one, other)))
    return FolderComparison(parse_json(report.decode(), "comparison", "comparison"), pairs)


HALF_LIMITS = DisplayLimits(characters=50_000, marks=1_000, rows=500)  # of a page with two units
_MAX_RECORDS = 5  # of one unit in one folder
_MAX_LISTED_UNITS = 10  # changed units that the comparison lists


def home_page(links: SiteLinks) -> str:
    """The comparison, with links to each folder and to what changed; or the folders as a table."""
    report = links.compared.report
    if report is None:
        return _uncompared_page(links)
    page = comparison_page(report)
    facets = {"system": {folder.name: links.report(at) for at, folder in enumerate(links.folders)}}
    facets["id"] = _change_links(links)
    units = fragment(_folders(links), _standings(links))
    body = page_body(page, UnitSelection(unit=report["unit"]), facets, units)
    return site_page(f"goldgate view: {page.subject}", body)


def changes_page(links: SiteLinks, pair: int, kind: str, page: int) -> str:
    """A page of the units that changed, were won or lost, the largest change first."""
    paired = links.compared.pairs[pair]
    one, other = (links.folders[side] for side in paired.folders)
    places = paired.places[kind]
    first = (page - 1) * PAGE_SIZE
    rows = [_row(links, pair, kind, place) for place in places[first : first + PAGE_SIZE]]
    count = len(places)
    status = element("p", f"{count:,} {kind}" + page_range(page, count), class_="said", role="status")
    unit = one.result.suite.pairing.unit or one.unit
    titles = [unit, "part of the difference", f"A: {one.name}", f"B: {other.name}", "text"]
    heads = column_heads(titles, [False, True, False, False, False])
    kinds = [[" · ", link_or_word(Link(each, links.changes(pair, each) if each != kind else None))] for each in KINDS]
    section = element(
        "section",
        element("p", *[part for each in kinds for part in each][1:]),
        list_pager(page, count, lambda number: links.changes(pair, kind, number), status),
        html_table(f"What changed: {kind}", heads, rows, class_="units-list cards", tall=False)
        if rows
        else element("p", "None."),
    )
    heading = [element("bdi", html_name(other.name)), " against ", element("bdi", html_name(one.name))]
    about = f"{_metric(links)}: won raises the difference, lost lowers it. A is {one.name}, B {other.name}."
    crumbs = [Link(HOME, links.home()), Link(f"{other.name} against {one.name}: {kind}")]
    return simple_page(crumbs, heading, about, [section])


def change_page(links: SiteLinks, pair: int, kind: str, place: int) -> str:
    """A unit in both folders, side by side: what both share stands once, above."""
    folders, paired = links.folders, links.compared.pairs[pair]
    identity = _identity(folders, paired, place)
    places = paired.places[kind]
    at = paired.position(kind, place)
    before = links.change(pair, places[at - 1], kind) if at else None
    behind = links.change(pair, places[at + 1], kind) if at is not None and at + 1 < len(places) else None
    words = "" if at is None else f"{at + 1:,} of {len(places):,} {kind}"
    one, other = (folders[side] for side in paired.folders)
    crumbs = [
        Link(HOME, links.home()),
        Link(f"{other.name} against {one.name}: {kind}", links.changes(pair, kind)),
        Link(identity),
    ]
    units = [
        [folders[number].unit_page(each) for each in paired.records(side, place)[:_MAX_RECORDS]]
        for side, number in enumerate(paired.folders)
    ]
    shared = UnitPage(identity, ())
    if [*map(len, units)] == [1, 1]:
        shared, *rest = pair_pages(units[0][0][1], units[1][0][1], [f"A: {one.name}", f"B: {other.name}"])
        units = [[(unit[0][0], page)] for unit, page in zip(units, rest, strict=True)]
    sides = [
        _side(letter, folders[number], unit, len(paired.records(side, place)))
        for side, (letter, number, unit) in enumerate(zip(SIDES, paired.folders, units, strict=True))
    ]
    unread = [input_notes(folder) for folder in (one, other)]
    keys = element("span", element("kbd", "n"), " next difference, ", element("kbd", "p"), " previous")
    section = element("section", pager(None, before, behind, element("p", words, class_="said"), keys), *unread)
    about = f"{_metric(links)}: {_change(paired.changes[place])} of the difference. A is {one.name}, B {other.name}."
    columns = element("div", *sides, class_="sides")
    heading = element("bdi", html_name(identity))
    main = [section, unit_sections(shared, UNIT_LIMITS, level=2), columns]
    return simple_page(crumbs, heading, about, main)


def _uncompared_page(links: SiteLinks) -> str:
    """The results with their main metrics, without statistics."""
    refused = links.compared.refused
    lines = [element("p", html_sentence(line)) for line in refused.splitlines()]
    why = element("section", element("h2", "Why they are not compared"), lines) if refused else None
    content = [element("section", _folders(links, with_metrics=True)), why]
    return simple_page([Link(HOME)], HOME, f"{len(links.folders)} results", content)


def _folders(links: SiteLinks, *, with_metrics: bool = False) -> Markup:
    rows = []
    for at, folder in enumerate(links.folders):
        units = f"{folder.index.wrong:,} of {len(folder.index):,} {folder.unit}s with errors"
        cells = [
            element("th", element("a", element("bdi", html_name(folder.name)), href=links.report(at)), scope="row"),
            element("td", verdict_mark(folder.page.verdict)),
            element("td", link(units, links.units(at, UnitQuery()))),
        ]
        metrics = metrics_by_name(folder.result.report["metrics"])
        main = [f"{name} {measured_value(metrics[name])}" for name in folder.result.suite.headline if name in metrics]
        rows.append(element("tr", *cells, element("td", ", ".join(main)) if with_metrics else None))
    titles = ["result", "verdict", "look at", *(["main metrics"] if with_metrics else [])]
    return html_table("Results", column_heads(titles), rows)


def _standings(links: SiteLinks) -> list[Markup]:
    """How many units each system won and lost, with links to them."""
    rows = []
    for at, paired in enumerate(links.compared.pairs):
        one, other = (links.folders[side] for side in paired.folders)
        counts: list[Content] = []
        for kind in KINDS:
            href = links.changes(at, kind) if paired.places[kind] else None
            counts += [link(f"{len(paired.places[kind]):,} {kind}", href), " · "]
        title = f"{html_name(other.name)} against {html_name(one.name)}"
        rows.append(element("p", element("bdi", title), ": ", *counts[:-1]))
    if rows:
        rows.append(element("p", html_sentence(f"By {_metric(links)}, the largest change first."), class_="note"))
    return rows


def _change_links(links: SiteLinks) -> dict[str, str]:
    """Where the units are that the comparison names, if that is clear: with two systems."""
    if len(links.compared.pairs) != 1 or len(links.folders) != 2:
        return {}
    paired = links.compared.pairs[0]
    addresses = {place: links.change(0, place, CHANGED) for place in range(min(len(paired), _MAX_LISTED_UNITS))}
    return {_identity(links.folders, paired, place): href for place, href in addresses.items() if href is not None}


def _row(links: SiteLinks, pair: int, kind: str, place: int) -> Markup:
    folders, paired = links.folders, links.compared.pairs[pair]
    identity = element("bdi", html_name(_identity(folders, paired, place)))
    change = paired.changes[place]
    summaries = [
        [folders[number].summary(each) for each in paired.records(side, place)[:_MAX_RECORDS]]
        for side, number in enumerate(paired.folders)
    ]
    snippet = next((each.snippet for side in summaries for each in side if each.snippet), "")
    value = MeasuredValue(None) if isnan(change) else MeasuredValue(change, display=_change(change))
    return element(
        "tr",
        element("th", link(identity, links.change(pair, place, kind)), scope="row"),
        number_cell(value),
        *(_summary_cell(*side) for side in zip(SIDES, summaries, strict=True)),
        snippet_cell(snippet),
    )


def _summary_cell(side: str, summaries: Sequence[UnitSummary]) -> Markup:
    """The score of each record, and what went wrong in few words."""
    parts: list[Content] = []
    for each in summaries:
        parts += ["; ", score_text(each), html_sentence(each.word or NOTHING_WRONG)]
    return element("td", *(parts[1:] or ["no record"]), dir="auto", data_side=side)


def _side(letter: str, folder: ViewedFolder, units: Sequence[tuple[UnitSummary, UnitPage]], count: int) -> Markup:
    name = f"{letter}: {html_name(folder.name)}"
    parts: list[Content] = [element("h2", element("bdi", name))]
    for summary, page in units:
        identity = element("strong", html_name(summary.id), " ") if count > 1 else None
        words = html_sentence(summary.word or NOTHING_WRONG)
        parts.append(element("p", identity, score_text(summary), element("span", words, class_="word"), dir="auto"))
        parts.append(unit_sections(without_repetition(page, summary.word or NOTHING_WRONG), HALF_LIMITS, level=3))
    if count > len(units):
        parts.append(element("p", f"… and {count - len(units)} more.", class_="note"))
    return element("article", *parts, class_="side", aria_label=name)


def _identity(folders: Sequence[ViewedFolder], paired: PairedUnits, place: int) -> str:
    """What a unit is called: by what both systems were asked."""
    for side, at in enumerate(paired.folders):
        for each in paired.records(side, place):
            folder = folders[at]
            return str(folder.record(each)[folder.result.suite.pairing.field])
    return "?"


def _change(change: float) -> str:
    """Cut towards zero, as in the comparison."""
    if isnan(change):
        return "an undefined part"
    exact = Fraction(change)
    return ("+" if change > 0 else "") + str(MeasuredValue(change, exact.numerator, exact.denominator))


def _metric(links: SiteLinks) -> str:
    return str((links.compared.report or {"changed": {"metric": ""}})["changed"]["metric"])
