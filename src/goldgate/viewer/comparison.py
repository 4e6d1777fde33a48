"""Several folders compared: the systems, which units changed, and the pages that show a unit side by side."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import isnan, nan
from typing import Any

from goldgate.core.evaluation import render_json
from goldgate.core.page import Cell, Column, MeasuredValue, Name, Table, measured_value
from goldgate.errors import GoldgateError
from goldgate.files.parsing import parse_json
from goldgate.readers.unit_records import CountIndex, read_unit_tables
from goldgate.report.element import Content, Markup, element, fragment
from goldgate.report.html import page_body
from goldgate.report.html.blocks import (
    DisplayLimits,
    column_heads,
    html_block,
    html_name,
    html_sentence,
    html_table,
    number_cell,
)
from goldgate.report.html.units import UnitSelection, unit_sections, verdict_mark
from goldgate.report.plot import comparison_pictures
from goldgate.runs.comparison_page import describe_comparison
from goldgate.runs.sources import SystemSource
from goldgate.system_comparison import Comparison, compare_systems
from goldgate.viewer import folder as cache
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.pages import HOME, Link, input_notes, pager, simple_page, site_page
from goldgate.viewer.query import PAGE_SIZE, SiteLinks, UnitQuery

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

    report: Mapping[str, Any] | None = None
    pairs: list[PairedUnits] = field(default_factory=list)
    refused: str = ""


def compare_folders(
    sources: Sequence[SystemSource], folders: Sequence[ViewedFolder], common: bool = False
) -> FolderComparison:
    """All systems compared with the first; what cannot be compared is said and no more."""
    names = [[source.name, len(source.paths)] for source in sources]
    files = [file for folder in folders for file in (folder.result.records, folder.result.file)]
    of = [*cache.cache_identity(files), f"{names} {common}"]
    stored = cache.load_cached(_COMPARISON_KIND, of)
    if stored is not None:
        try:
            return _unpack_pairs(stored)
        except (ValueError, LookupError, TypeError, GoldgateError):
            pass  # as good as none
    try:
        found = compare_systems(sources, common=common)
        pairs = [*_pairs(found, sources, folders)]
    except GoldgateError as error:
        return FolderComparison(refused=str(error))
    compared = FolderComparison(found.report, pairs)
    cache.store_cached(
        _COMPARISON_KIND, of, {"pairs": [[*pair.folders, *_lengths(pair)] for pair in pairs]}, _pack_pairs(compared)
    )
    return compared


def _pairs(
    found: Comparison, sources: Sequence[SystemSource], folders: Sequence[ViewedFolder]
) -> Iterator[PairedUnits]:
    """A pair for each system of one run, with the reference, if that has one run too."""
    numbers, count = dict[str, int](), 0
    for source in sources:
        if len(source.paths) == 1:
            numbers[source.name] = count
        count += len(source.paths)
    reference = found.report["against"]
    changed: dict[str, dict[str, float]] = {}
    for line in found.changes.listed():
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


def _lengths(pair: PairedUnits) -> list[int]:
    return [len(pair), len(pair.numbers[0]), len(pair.numbers[1])]


def _pack_pairs(compared: FolderComparison) -> Iterator[bytes]:
    report = render_json(dict(compared.report or {}))
    yield len(report).to_bytes(8, "little")
    yield report
    for pair in compared.pairs:
        yield pair.changes.tobytes()
        for part in (*pair.starts, *pair.numbers):
            yield part.tobytes()


def _unpack_pairs(stored: cache.CachedValue) -> FolderComparison:
    length = int.from_bytes(stored.take(8), "little")
    report = parse_json(bytes(stored.take(length)).decode(), "comparison", "comparison")

    def numbers(count: int) -> array[int]:
        found = array("I")
        found.frombytes(stored.take(count * found.itemsize))
        return found

    pairs = []
    for one, other, units, first, second in stored.head["pairs"]:
        changes = array("d")
        changes.frombytes(stored.take(units * changes.itemsize))
        starts = numbers(units + 1), numbers(units + 1)
        pairs.append(PairedUnits((one, other), changes, starts, (numbers(first), numbers(second))))
    return FolderComparison(report, pairs)


HALF_LIMITS = DisplayLimits(characters=50_000, marks=1_000, rows=500)  # of a page with two units
_MOST_RECORDS = 5  # of one unit in one folder
_MOST_NAMED = 10  # changed units that the comparison lists


def home_page(folders: Sequence[ViewedFolder], compared: FolderComparison | None, links: SiteLinks) -> str:
    """The comparison, with links to each folder and to what changed; or the folders as a table."""
    if compared is None or compared.report is None:
        return _uncompared_page(folders, "" if compared is None else compared.refused, links)
    report = compared.report
    page = describe_comparison(report)._replace(pictures=tuple(comparison_pictures(report)))
    facets = {"system": {folder.name: links.report(at) for at, folder in enumerate(folders)}}
    facets["id"] = _named(folders, compared, links)
    units = fragment(_folders(folders, links), _standings(folders, compared, links))
    body = page_body(page, UnitSelection(unit=report["unit"]), facets, units, units_first=True)
    return site_page(f"goldgate view: {page.subject}", body, forms=links.forms)


def changes_page(
    folders: Sequence[ViewedFolder], compared: FolderComparison, pair: int, kind: str, page: int, links: SiteLinks
) -> str:
    """A page of the units that changed, were won or lost, the largest change first."""
    paired = compared.pairs[pair]
    one, other = (folders[side] for side in paired.folders)
    places = _linked_kinds(paired.places[kind], links)
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
        html_table(
            f"What changed: {kind}", column_heads(titles, [False, True, False, False]), rows, class_="units-list"
        )
        if rows
        else element("p", "None.")
    )
    kinds = [Link(_words(each), links.changes(pair, each) if each != kind else None) for each in KINDS]
    section = element("section", pager(links.changes(pair, kind), before, behind, said), shown)
    about = f"{_metric(compared)}: won raises the difference, lost lowers it; its parts add up to it"
    crumbs = [Link(HOME, links.home()), Link(f"{other.name} against {one.name}: {kind}")]
    return simple_page(crumbs, _heading(folders, paired), about, kinds, [section], forms=links.forms)


def change_page(
    folders: Sequence[ViewedFolder], compared: FolderComparison, pair: int, kind: str, place: int, links: SiteLinks
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
    unread = [found for folder in (one, other) if (found := input_notes(folder)) is not None]
    section = element("section", pager(None, before, behind, element("p", said, class_="said")), *unread)
    about = f"{_metric(compared)}: {_change(paired.changes[place])} of the difference"
    columns = element("div", *sides, class_="sides")
    heading = element("bdi", html_name(identity))
    return simple_page(crumbs, heading, about, [], [section, columns], forms=links.forms)


def _linked_kinds(places: Sequence[int], links: SiteLinks) -> Sequence[int]:
    """Those that have pages."""
    return places if links.most is None else places[: bisect_left(places, links.most)]


def _uncompared_page(folders: Sequence[ViewedFolder], refused: str, links: SiteLinks) -> str:
    """Systems by their main metrics, a table for each suite, without statistics."""
    suites = dict.fromkeys(folder.result.suite.name for folder in folders)
    tables = [
        element("section", element("h2", html_name(suite)), _metrics([*_folder_of(folders, suite)], links))
        for suite in suites
    ]
    why = element("section", element("h2", "Why they are not compared"), _lines(refused)) if refused else None
    content = [element("section", _folders(folders, links)), *tables, why]
    return simple_page([Link(HOME)], HOME, f"{len(folders)} results", [], content, forms=links.forms)


def _lines(text: str) -> list[Markup]:
    return [element("p", html_sentence(line)) for line in text.splitlines()]


def _folder_of(folders: Sequence[ViewedFolder], suite: str) -> Iterator[tuple[int, ViewedFolder]]:
    return ((at, folder) for at, folder in enumerate(folders) if folder.result.suite.name == suite)


def _metrics(folders: Sequence[tuple[int, ViewedFolder]], links: SiteLinks) -> Markup:
    headline = folders[0][1].result.suite.headline
    rows: list[tuple[Cell, ...]] = []
    for _, folder in folders:
        sections = [found for found in folder.result.report["metrics"].values() if isinstance(found, Mapping)]
        known = {metric: found for section in sections for metric, found in section.items()}
        values = [measured_value(known[metric]) if metric in known else MeasuredValue(None) for metric in headline]
        rows.append((Name(folder.name), *values))
    facets = {"system": {folder.name: links.report(at) for at, folder in folders}}
    return html_block(Table((Column("system"), *map(Column, headline)), tuple(rows)), "Main metrics", facets)


def _folders(folders: Sequence[ViewedFolder], links: SiteLinks) -> Markup:
    rows = []
    for at, folder in enumerate(folders):
        units = f"{folder.index.wrong:,} of {len(folder.index):,} {folder.unit}s with errors"
        href = links.units(at, UnitQuery())
        rows.append(
            element(
                "tr",
                element("th", element("a", element("bdi", html_name(folder.name)), href=links.report(at)), scope="row"),
                element("td", verdict_mark(folder.page.verdict)),
                element("td", element("a", units, href=href) if href is not None else units),
            )
        )
    return html_table("Results", column_heads(["result", "verdict", "look at"]), rows)


def _standings(folders: Sequence[ViewedFolder], compared: FolderComparison, links: SiteLinks) -> list[Markup]:
    """How many units each system won and lost, with links to them."""
    rows = []
    for at, paired in enumerate(compared.pairs):
        one, other = (folders[side] for side in paired.folders)
        shown: list[Content] = []
        for kind in KINDS:
            count = f"{len(paired.places[kind]):,} {kind}"
            href = links.changes(at, kind) if paired.places[kind] else None
            shown += [element("a", count, href=href) if href is not None else count, " · "]
        title = f"{html_name(other.name)} against {html_name(one.name)}"
        rows.append(element("p", element("bdi", title), ": ", *shown[:-1]))
    if rows:
        rows.append(element("p", html_sentence(f"By {_metric(compared)}, the largest change first."), class_="note"))
    return rows


def _named(folders: Sequence[ViewedFolder], compared: FolderComparison, links: SiteLinks) -> dict[str, str]:
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
    folders: Sequence[ViewedFolder], paired: PairedUnits, pair: int, kind: str, place: int, links: SiteLinks
) -> Markup:
    href = links.change(pair, place, kind)
    identity = element("bdi", html_name(_identity(folders, paired, place)))
    change = paired.changes[place]
    said = [_error_summary(folders[number], paired.records(side, place)) for side, number in enumerate(paired.folders)]
    value = MeasuredValue(None) if isnan(change) else MeasuredValue(change, shown=_change(change))
    return element(
        "tr",
        element("th", element("a", identity, href=href) if href is not None else identity, scope="row"),
        number_cell(value),
        *(element("td", html_sentence(text), dir="auto") for text in said),
    )


def _error_summary(folder: ViewedFolder, records: Sequence[int]) -> str:
    """What went wrong in few words, of each record."""
    shown = [folder.summary(each).word or "nothing went wrong" for each in records[:_MOST_RECORDS]]
    return "; ".join(shown) or "no record"


def _side(folder: ViewedFolder, records: Sequence[int]) -> Markup:
    parts: list[Content] = [element("h2", element("bdi", html_name(folder.name)))]
    for each in records[:_MOST_RECORDS]:
        summary, page = folder.unit_page(each)
        if len(records) > 1:
            parts.append(element("p", element("strong", html_name(summary.id)), dir="auto"))
        parts.append(unit_sections(page, HALF_LIMITS, level=3))
    if len(records) > _MOST_RECORDS:
        parts.append(element("p", f"… and {len(records) - _MOST_RECORDS} more.", class_="note"))
    return element("article", *parts, class_="side", aria_label=html_name(folder.name))


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
    return ("+" if change > 0 else "") + str(MeasuredValue(change, exact.numerator, exact.denominator))


def _range(first: int, count: int) -> str:
    return f", {first + 1:,} to {min(first + PAGE_SIZE, count):,}" if count > PAGE_SIZE and first < count else ""


def _words(kind: str) -> str:
    return {CHANGED: "all that changed"}.get(kind, kind)


def _metric(compared: FolderComparison) -> str:
    return str((compared.report or {"changed": {"metric": ""}})["changed"]["metric"])


def _heading(folders: Sequence[ViewedFolder], paired: PairedUnits) -> list[Content]:
    one, other = (folders[side] for side in paired.folders)
    return [element("bdi", html_name(other.name)), " against ", element("bdi", html_name(one.name))]
