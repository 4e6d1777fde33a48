"""What of a folder's units is listed: those with these values and words, in which order, and which page of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import parse_qsl, quote

from goldgate.viewer.index import Order

FACET, TEXT, ORDER, PAGE = "in.", "text", "order", "page"  # names in the query of an address
PAGE_SIZE = 50
LONGEST = 500  # characters of a value that stands in an address
NUMBERED = "~"
_MOST_FIELDS = 100
_MOST_PAGES = 10**9


@dataclass(frozen=True, slots=True)
class Choice:
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

    def at(self, page: int) -> Choice:
        """Another page of the same."""
        return replace(self, page=page)

    @property
    def is_everything(self) -> bool:
        return not self.values and not self.text


def value_key(value: str, number: int) -> str:
    """A value in an address or a form: itself where it comes back as it was, otherwise its number behind a ~."""
    is_plain = 0 < len(value) <= LONGEST and value.isprintable() and value == value.strip() and value[0] != NUMBERED
    return value if is_plain else f"{NUMBERED}{number}"


def parse_choice(query: str) -> Choice:
    """From the query of an address, whatever it says: what cannot be meant is left out."""
    try:
        pairs = parse_qsl(query, max_num_fields=_MOST_FIELDS, errors="replace")
    except ValueError:
        pairs = []
    given = dict(pairs)
    page = given.get(PAGE, "")
    return Choice(
        {key[len(FACET) :]: value for key, value in given.items() if key.startswith(FACET) and value},
        given.get(TEXT, "").strip()[:LONGEST],
        "file" if given.get(ORDER) == "file" else "weight",
        min(int(page), _MOST_PAGES) if page.isascii() and page.isdigit() and len(page) < 12 and int(page) else 1,
    )
