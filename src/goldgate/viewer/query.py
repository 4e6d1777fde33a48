"""Which units a list shows (values, words, order, page), and the addresses of pages on a server."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote

from goldgate.report.escape import escape_character
from goldgate.viewer.index import Order

FACET, TEXT, ORDER, PAGE = "in.", "text", "order", "page"  # names in the query of an address
PAGE_SIZE = 50
MAX_TEXT_LENGTH = 500  # characters of a value that stands in an address
NUMBER_PREFIX = "~"
_MAX_FIELDS = 100
_MAX_PAGES = 10**9
_ESCAPE = re.compile(r"\\(?:x([0-9a-f]{2})|u((?!d[89a-f])[0-9a-f]{4})|U(00(?:0[0-9a-f]|10)[0-9a-f]{4}))")


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
        text = "&".join(f"{quote(key, safe='')}={quote(value, safe='')}" for key, value in pairs)
        return f"?{text}" if text else ""

    def at(self, page: int) -> UnitQuery:
        """The same query on another page."""
        return replace(self, page=page)

    @property
    def visible_text(self) -> str:
        """The text for a form, with what cannot be seen written out; `parse_query` reads it back."""
        return "".join(each if each.isprintable() else escape_character(each) for each in self.text)

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


def query_fields(query: str) -> dict[str, str]:
    """The fields of an address's query; none where there are too many."""
    try:
        return dict(parse_qsl(query, max_num_fields=_MAX_FIELDS, errors="replace"))
    except ValueError:
        return {}


def page_count(items: int) -> int:
    """The number of pages for a list of `items`, at least one."""
    return max(-(-items // PAGE_SIZE), 1)


class SiteLinks:
    """Addresses on a server: `/0/`, `/0/samples?in.error=boundary`, `/0/samples/17`, `/compare/0/lost`.

    Folders, units and comparisons have numbers. An export has other addresses, and None for pages that it lacks.
    """

    forms: bool = True  # whether a form can ask for other pages
    most: int | None = None  # units of a folder that have pages, those that come first

    def home(self) -> str:
        return "/"

    def report(self, folder: int) -> str:
        return f"/{folder}/"

    def units(self, folder: int, choice: UnitQuery) -> str | None:
        return f"/{folder}/samples{choice.query()}"

    def unit(self, folder: int, number: int, choice: UnitQuery) -> str | None:
        return f"/{folder}/samples/{number}{choice.at(1).query()}"

    def changes(self, pair: int, kind: str, page: int = 1) -> str | None:
        return f"/compare/{pair}/{kind}" + (f"?page={page}" if page > 1 else "")

    def change(self, pair: int, place: int, kind: str) -> str | None:
        return f"/compare/{pair}/{kind}/{place}"
