"""Which units a list shows (values, words, order, page), and the addresses of pages on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote

from goldgate.viewer.index import Order

FACET, TEXT, ORDER, PAGE = "in.", "text", "order", "page"  # names in the query of an address
PAGE_SIZE = 50
MAX_TEXT_LENGTH = 500  # characters of a value that stands in an address
NUMBER_PREFIX = "~"
_MOST_FIELDS = 100
_MOST_PAGES = 10**9


@dataclass(frozen=True, slots=True)
class UnitQuery:
    """Everything, unless it says more. A value stands as `value_key` has it."""

    values: Mapping[str, str] = field(default_factory=dict)
    text: str = ""
    order: Order = "weight"
    page: int = 1

    def query(self) -> str:
        """As the query of an address, with its question mark; empty for everything."""
        pairs = [(f"{FACET}{facet}", value) for facet, value in self.values.items()]
        pairs += [(TEXT, self.text)] if self.text else []
        pairs += [(ORDER, self.order)] if self.order != "weight" else []
        pairs += [(PAGE, str(self.page))] if self.page > 1 else []
        shown = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in pairs)
        return f"?{shown}" if shown else ""

    def at(self, page: int) -> UnitQuery:
        """Another page of the same."""
        return replace(self, page=page)

    @property
    def is_everything(self) -> bool:
        return not self.values and not self.text


def value_key(value: str, number: int) -> str:
    """A value in an address or a form: itself where it comes back as it was, otherwise its number behind a ~."""
    is_plain = (
        0 < len(value) <= MAX_TEXT_LENGTH
        and value.isprintable()
        and value == value.strip()
        and value[0] != NUMBER_PREFIX
    )
    return value if is_plain else f"{NUMBER_PREFIX}{number}"


def parse_query(query: str) -> UnitQuery:
    """From the query of an address, whatever it says: what cannot be meant is left out."""
    try:
        pairs = parse_qsl(query, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError:
        pairs = []
    given = dict(pairs)
    page = given.get(PAGE, "")
    return UnitQuery(
        {key[len(FACET) :]: value for key, value in given.items() if key.startswith(FACET) and value},
        given.get(TEXT, "").strip()[:MAX_TEXT_LENGTH],
        "file" if given.get(ORDER) == "file" else "weight",
        min(int(page), _MOST_PAGES) if page.isascii() and page.isdigit() and len(page) < 12 and int(page) else 1,
    )


class SiteLinks(ABC):
    """Folders, units and comparisons have numbers. None where there is no such page."""

    forms: bool = True  # whether a form can ask for other pages
    most: int | None = None  # units of a folder that have pages, those that come first

    @abstractmethod
    def home(self) -> str: ...

    @abstractmethod
    def report(self, folder: int) -> str: ...

    @abstractmethod
    def units(self, folder: int, choice: UnitQuery) -> str | None: ...

    @abstractmethod
    def unit(self, folder: int, number: int, choice: UnitQuery) -> str | None: ...

    @abstractmethod
    def changes(self, pair: int, kind: str, page: int = 1) -> str | None: ...

    @abstractmethod
    def change(self, pair: int, place: int, kind: str) -> str | None: ...


class ServerLinks(SiteLinks):
    """`/0/`, `/0/samples?in.error=boundary`, `/0/samples/17`, `/compare/0/lost`."""

    def home(self) -> str:
        return "/"

    def report(self, folder: int) -> str:
        return f"/{folder}/"

    def units(self, folder: int, choice: UnitQuery) -> str:
        return f"/{folder}/samples{choice.query()}"

    def unit(self, folder: int, number: int, choice: UnitQuery) -> str:
        return f"/{folder}/samples/{number}{choice.at(1).query()}"

    def changes(self, pair: int, kind: str, page: int = 1) -> str:
        return f"/compare/{pair}/{kind}" + (f"?page={page}" if page > 1 else "")

    def change(self, pair: int, place: int, kind: str) -> str:
        return f"/compare/{pair}/{kind}/{place}"
