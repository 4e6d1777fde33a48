"""The site of stored results: its pages by their addresses on a server."""

from __future__ import annotations

import re
from collections.abc import Sequence

from goldgate.errors import GoldgateError
from goldgate.viewer.comparison import KINDS, FolderComparison, change_page, changes_page, home_page
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.index import (
    FACET,
    MAX_TEXT_LENGTH,
    ORDER,
    PAGE,
    TEXT,
    UnitQuery,
)
from goldgate.viewer.pages import (
    SITE_ASSETS,
    report_page,
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
    have numbers.
    """

    def __init__(self, folders: Sequence[ViewedFolder], compared: FolderComparison | None) -> None:
        self.folders = folders
        self.compared = compared or FolderComparison()

    def home(self) -> str:
        return "/"

    def report(self, folder: int) -> str:
        return f"/{folder}/"

    def units(self, folder: int, query: UnitQuery) -> str:
        return f"/{folder}/samples{query.query()}"

    def unit(self, folder: int, number: int, query: UnitQuery) -> str:
        return f"/{folder}/samples/{number}{query.at(1).query()}"

    def changes(self, pair: int, kind: str, page: int = 1) -> str:
        return f"/compare/{pair}/{kind}" + (f"?page={page}" if page > 1 else "")

    def change(self, pair: int, place: int, kind: str) -> str:
        return f"/compare/{pair}/{kind}/{place}"


_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u((?!d[89a-f])[0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4}))")
_MAX_PAGES = 10**9


def parse_query(query: str) -> UnitQuery:
    """From the query of an address, whatever it says: what cannot be meant is left out."""
    fields = query_fields(query)
    page = fields.get(PAGE, "")
    return UnitQuery(
        {key[len(FACET) :]: value for key, value in fields.items() if key.startswith(FACET) and value},
        _ESCAPE.sub(_hidden_character, fields.get(TEXT, "")).strip()[:MAX_TEXT_LENGTH].rstrip(),
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
