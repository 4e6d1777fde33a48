"""Where the pages of a site are: on a server by path and query, in an export by the name of a file."""

from __future__ import annotations

from abc import ABC, abstractmethod

from goldgate.viewer.choice import Choice


class Links(ABC):
    """Folders, units and comparisons have numbers. None where there is no such page."""

    forms: bool = True  # whether a form can ask for other pages
    most: int | None = None  # units of a folder that have pages, those that come first

    @abstractmethod
    def home(self) -> str: ...

    @abstractmethod
    def report(self, folder: int) -> str: ...

    @abstractmethod
    def units(self, folder: int, choice: Choice) -> str | None: ...

    @abstractmethod
    def unit(self, folder: int, number: int, choice: Choice) -> str | None: ...

    @abstractmethod
    def changes(self, pair: int, kind: str, page: int = 1) -> str | None: ...

    @abstractmethod
    def change(self, pair: int, place: int, kind: str) -> str | None: ...


class ServerLinks(Links):
    """`/0/`, `/0/samples?in.error=boundary`, `/0/samples/17`, `/compare/0/lost`."""

    def home(self) -> str:
        return "/"

    def report(self, folder: int) -> str:
        return f"/{folder}/"

    def units(self, folder: int, choice: Choice) -> str:
        return f"/{folder}/samples{choice.query()}"

    def unit(self, folder: int, number: int, choice: Choice) -> str:
        return f"/{folder}/samples/{number}{choice.at(1).query()}"

    def changes(self, pair: int, kind: str, page: int = 1) -> str:
        return f"/compare/{pair}/{kind}" + (f"?page={page}" if page > 1 else "")

    def change(self, pair: int, place: int, kind: str) -> str:
        return f"/compare/{pair}/{kind}/{place}"
