"""The site of stored results: its pages by their addresses on a server, or all of them as files.

Files are for a web server, a CI artifact, or a disk, with a limited number of samples. They lie in one folder, with
links that are names. There is no server to ask: in place of filters there are lists of the samples with a value.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from goldgate.core.page import count_text
from goldgate.errors import ConfigError, GoldgateError, Place
from goldgate.files.writing import atomic_file, write_failure
from goldgate.viewer.comparison import CHANGED, KINDS, FolderComparison, change_page, changes_page, home_page
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.index import (
    FACET,
    MAX_TEXT_LENGTH,
    ORDER,
    PAGE,
    TEXT,
    UnitQuery,
    page_count,
    value_key,
)
from goldgate.viewer.pages import (
    SITE_ASSETS,
    report_page,
    select_units,
    server_policy,
    single_unit_page,
    site_error_page,
    units_page,
)
from goldgate.viewer.server import NO_SUCH_PAGE, NOT_FOUND, OK, SERVER_ERROR, HttpRequest, SiteResponse, query_fields

_NUMBER, _KIND = r"(0|[1-9][0-9]{0,9})", f"({'|'.join(KINDS)})"
_FOLDER_PAGE = re.compile(rf"/{_NUMBER}/(?:(samples)(?:/{_NUMBER})?)?")
_COMPARISON_PAGE = re.compile(rf"/compare/{_NUMBER}/{_KIND}(?:/{_NUMBER})?")


class SiteLinks:
    """Folders with their comparison, and the addresses of their pages on a server.

    These are `/0/`, `/0/samples?in.error=boundary`, `/0/samples/17`, `/compare/0/lost`: folders, units and comparisons
    have numbers. An export has other addresses, and None for pages that it lacks.
    """

    forms: bool = True  # whether a form can ask for other pages
    most: int | None = None  # units of a folder that have pages, those that come first

    def __init__(self, folders: Sequence[ViewedFolder], compared: FolderComparison | None) -> None:
        self.folders = folders
        self.compared = compared or FolderComparison()

    def home(self) -> str:
        return "/"

    def report(self, folder: int) -> str:
        return f"/{folder}/"

    def units(self, folder: int, query: UnitQuery) -> str | None:
        return f"/{folder}/samples{query.query()}"

    def unit(self, folder: int, number: int, query: UnitQuery) -> str | None:
        return f"/{folder}/samples/{number}{query.at(1).query()}"

    def changes(self, pair: int, kind: str, page: int = 1) -> str | None:
        return f"/compare/{pair}/{kind}" + (f"?page={page}" if page > 1 else "")

    def change(self, pair: int, place: int, kind: str) -> str | None:
        return f"/compare/{pair}/{kind}/{place}"


_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u((?!d[89a-f])[0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4}))")
_MAX_PAGES = 10**9


def parse_query(query: str) -> UnitQuery:
    """From the query of an address, whatever it says: what cannot be meant is left out."""
    fields = query_fields(query)
    page = fields.get(PAGE, "")
    return UnitQuery(
        {key[len(FACET) :]: value for key, value in fields.items() if key.startswith(FACET) and value},
        _ESCAPE.sub(_hidden_character, fields.get(TEXT, "")).strip()[:MAX_TEXT_LENGTH],
        "file" if fields.get(ORDER) == "file" else "weight",
        min(int(page), _MAX_PAGES) if page.isascii() and page.isdigit() and len(page) < 12 and int(page) else 1,
    )


def _hidden_character(escape: re.Match[str]) -> str:
    """The character that an escape stands for, where it cannot be seen; otherwise what was typed."""
    character = chr(int(escape[1] or escape[2] or escape[3], 16))
    return escape[0] if character.isprintable() else character


class Site:
    """The pages of these folders. An address is only ever compared with patterns, and gives numbers of a list."""

    def __init__(self, folders: Sequence[ViewedFolder], compared: FolderComparison | None) -> None:
        self._links = SiteLinks(folders, compared)

    @property
    def policy(self) -> str:
        return server_policy(*SITE_ASSETS)

    def respond(self, request: HttpRequest) -> SiteResponse:
        return self.answer(request.path, request.query)

    def answer(self, path: str, query: str) -> SiteResponse:
        """The page at a path, as it was sent: nothing in it is decoded."""
        try:
            html = self._page(path, parse_query(query))
        except GoldgateError as error:
            return SiteResponse(SERVER_ERROR, self.error_page(str(error)))
        if html is None:
            return SiteResponse(NOT_FOUND, self.error_page(NO_SUCH_PAGE))
        return SiteResponse(OK, html)

    def error_page(self, message: str) -> str:
        return site_error_page(message)

    def _page(self, path: str, query: UnitQuery) -> str | None:
        links, folders, pairs = self._links, self._links.folders, self._links.compared.pairs
        if path == "/":
            return home_page(links) if len(folders) > 1 else report_page(links, 0)
        if match := _FOLDER_PAGE.fullmatch(path):
            number, unit = int(match[1]), match[3]
            if number >= len(folders) or (unit is not None and int(unit) >= len(folders[number].index)):
                return None
            if unit is not None:
                return single_unit_page(links, number, int(unit), query)
            return units_page(links, number, query) if match[2] else report_page(links, number)
        if match := _COMPARISON_PAGE.fullmatch(path):
            pair, kind, place = int(match[1]), match[2], match[3]
            if pair >= len(pairs) or (place is not None and int(place) >= len(pairs[pair])):
                return None
            if place is not None:
                return change_page(links, pair, kind, int(place))
            return changes_page(links, pair, kind, query.page)
        return None


HOME = "index.html"
MAX_LISTS = 200  # of one folder: lists of samples with a value, the most frequent first
_MARKER = ".goldgate-view"
_OURS = re.compile(r"(?:index|[0-9]+(?:-(?:list|sample)(?:-[0-9]+)+)?|compare-[0-9]+-[a-z]+(?:-[0-9]+)?)\.html")
_ADVICE = "--export needs a folder that can be written to, with room for the pages"


class ExportLinks(SiteLinks):
    """The addresses of an export: names of files, and None for pages that are not written."""

    forms = False
    most: int

    def __init__(self, folders: Sequence[ViewedFolder], compared: FolderComparison | None, samples: int) -> None:
        super().__init__(folders, compared)
        self.most = samples
        self.lists = [_lists(folder) for folder in folders]
        self._numbers = [{address: number for number, address in enumerate(lists)} for lists in self.lists]
        self.pages = cache(self._pages)

    def home(self) -> str:
        return HOME

    def report(self, folder: int) -> str:
        return HOME if len(self.folders) == 1 else f"{folder}.html"

    def units(self, folder: int, query: UnitQuery) -> str | None:
        address = query.at(1).query()
        number = self._numbers[folder].get(address)
        if number is None or query.page > self.pages(folder, address):
            return None
        return f"{folder}-list-{number}.html" if query.page == 1 else f"{folder}-list-{number}-{query.page}.html"

    def unit(self, folder: int, number: int, query: UnitQuery) -> str | None:
        return f"{folder}-sample-{number}.html" if self.folders[folder].index.rank[number] < self.most else None

    def changes(self, pair: int, kind: str, page: int = 1) -> str:
        return f"compare-{pair}-{kind}.html" if page == 1 else f"compare-{pair}-{kind}-{page}.html"

    def change(self, pair: int, place: int, kind: str) -> str | None:
        return f"compare-{pair}-sample-{place}.html" if place < self.most else None

    def _pages(self, folder: int, address: str) -> int:
        """How many pages a list has, at least one."""
        selected = select_units(self.folders[folder], self.lists[folder][address], most=self.most)
        return page_count(selected.units)


def export_site(folders: Sequence[ViewedFolder], compared: FolderComparison | None, out: str, samples: int) -> str:
    """Write every page, and say how much that is."""
    target = Path(out)
    _prepare(target)
    for folder in folders:
        folder.inputs.wait()
    links = ExportLinks(folders, compared, samples)
    files = 0
    for name, html in _pages(links):
        with atomic_file(target / name, _ADVICE) as stream:
            stream.write(html.encode("utf-8", "backslashreplace"))
        files += 1
    left = sum(max(len(folder.index) - samples, 0) for folder in folders)
    unit = folders[0].unit
    more = f"; the {left:,} best {unit}s have no page: --samples writes more" if left else ""
    return f"{count_text(files, 'page')} in {target}{more}\nOpen {target / HOME}\n"


def _pages(links: ExportLinks) -> Iterator[tuple[str, str]]:
    """The name and content of each file; the entrance comes last, when all else is there."""
    for number in range(len(links.folders)):
        yield from _folder_pages(links, number)
    for pair in range(len(links.compared.pairs)):
        yield from _pair_pages(links, pair)
    if len(links.folders) > 1:
        yield HOME, home_page(links)


def _folder_pages(links: ExportLinks, number: int) -> Iterator[tuple[str, str]]:
    for unit in links.folders[number].index.by_weight[: links.most]:
        name = links.unit(number, unit, UnitQuery())
        assert name is not None
        yield name, single_unit_page(links, number, unit, UnitQuery())
    for address, query in links.lists[number].items():
        for page in range(1, links.pages(number, address) + 1):
            name = links.units(number, query.at(page))
            assert name is not None
            yield name, units_page(links, number, query.at(page))
    yield links.report(number), report_page(links, number)


def _pair_pages(links: ExportLinks, pair: int) -> Iterator[tuple[str, str]]:
    paired = links.compared.pairs[pair]
    for place in range(min(len(paired), links.most or 0)):
        name = links.change(pair, place, CHANGED)
        assert name is not None
        yield name, change_page(links, pair, CHANGED, place)
    for kind in KINDS:
        written = sum(place < links.most for place in paired.places[kind])
        for page in range(1, page_count(written) + 1):
            yield links.changes(pair, kind, page), changes_page(links, pair, kind, page)


def _lists(folder: ViewedFolder) -> dict[str, UnitQuery]:
    """The queries of the lists that are written, by address: all units, then those with the most frequent values."""
    values_by_count = [
        (-having.units, facet, at, value)
        for facet, values in folder.index.facets.items()
        for at, (value, having) in enumerate(values.items())
    ]
    queries = [
        UnitQuery(),
        *(UnitQuery({facet: value_key(value, at)}) for _, facet, at, value in sorted(values_by_count)[:MAX_LISTS]),
    ]
    return {query.query(): query for query in queries}


def _prepare(target: Path) -> None:
    """Make the folder, and remove an earlier export from it; a place that has anything else in it is refused."""
    if os.path.lexists(target) and not target.is_dir():
        raise _refusal("out.is_a_file", "--export names a file", target)
    marker = target / _MARKER
    try:
        target.mkdir(parents=True, exist_ok=True)
        names = os.listdir(target)
        if names and (marker.is_symlink() or not marker.is_file()):
            raise _refusal("out.not_empty", "--export names a folder with other files in it", target)
        marker.write_text("Pages that goldgate view --export wrote: the next export removes them.\n", encoding="utf-8")
        for name in [HOME, *names]:  # without its entrance first, so that no half of it looks whole
            if _OURS.fullmatch(name):
                (target / name).unlink(missing_ok=True)
    except OSError as problem:
        raise write_failure(target, problem, _ADVICE) from None


def _refusal(code: str, message: str, target: Path) -> ConfigError:
    return ConfigError(
        code,
        message,
        place=Place(os.fspath(target)),
        expected="an empty folder, one that is not there yet, or an earlier export",
        advice="choose another folder for --export",
    )
