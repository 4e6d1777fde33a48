"""What is shown at an address: folders, units and comparisons by their numbers, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from goldgate.errors import GoldgateError
from goldgate.viewer.choice import parse_choice
from goldgate.viewer.compared import KINDS, Compared
from goldgate.viewer.compared_pages import change_page, changes_page, home_page
from goldgate.viewer.folder import ViewedFolder
from goldgate.viewer.frame import error_page
from goldgate.viewer.links import ServerLinks
from goldgate.viewer.looking import report_page, unit_page, units_page

OK, NOT_FOUND, FAULT = 200, 404, 500
_NUMBER = r"(0|[1-9][0-9]{0,9})"
_REPORT = re.compile(rf"/{_NUMBER}/")
_UNITS = re.compile(rf"/{_NUMBER}/samples")
_UNIT = re.compile(rf"/{_NUMBER}/samples/{_NUMBER}")
_CHANGES = re.compile(rf"/compare/{_NUMBER}/({'|'.join(KINDS)})")
_CHANGE = re.compile(rf"/compare/{_NUMBER}/({'|'.join(KINDS)})/{_NUMBER}")


class Answer(NamedTuple):
    """A page, and the status of HTTP that goes with it."""

    status: int
    html: str


class Site:
    """The pages of these folders. An address is only ever compared with patterns, and gives numbers of a list."""

    def __init__(self, folders: Sequence[ViewedFolder], compared: Compared | None) -> None:
        self._folders = folders
        self._compared = compared
        self._links = ServerLinks()

    def answer(self, path: str, query: str) -> Answer:
        """The page at a path, as it was sent: nothing in it is decoded."""
        try:
            html = self._page(path, query)
        except GoldgateError as error:
            return Answer(FAULT, error_page(str(error), self._links.home()))
        if html is None:
            return Answer(NOT_FOUND, error_page("There is no such page.", self._links.home()))
        return Answer(OK, html)

    def _page(self, path: str, query: str) -> str | None:
        folders, compared, links = self._folders, self._compared, self._links
        if path == "/":
            return home_page(folders, compared, links) if len(folders) > 1 else report_page(folders, 0, links)
        if found := _REPORT.fullmatch(path):
            number = int(found[1])
            return report_page(folders, number, links) if number < len(folders) else None
        if found := _UNITS.fullmatch(path):
            number = int(found[1])
            return units_page(folders, number, parse_choice(query), links) if number < len(folders) else None
        if found := _UNIT.fullmatch(path):
            number, unit = int(found[1]), int(found[2])
            if number >= len(folders) or unit >= len(folders[number].index):
                return None
            return unit_page(folders, number, unit, parse_choice(query), links)
        return None if compared is None else self._of_pairs(compared, path, query)

    def _of_pairs(self, compared: Compared, path: str, query: str) -> str | None:
        folders, links = self._folders, self._links
        if found := _CHANGES.fullmatch(path):
            number = int(found[1])
            page = parse_choice(query).page
            return (
                changes_page(folders, compared, number, found[2], page, links) if number < len(compared.pairs) else None
            )
        if found := _CHANGE.fullmatch(path):
            number, place = int(found[1]), int(found[3])
            if number >= len(compared.pairs) or place >= len(compared.pairs[number]):
                return None
            return change_page(folders, compared, number, found[2], place, links)
        return None
