"""An item taken apart for pages: what is judged, the texts that it quotes with the quotes marked, its other fields."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

import orjson

from goldgate.core.page import LabelList, LabelRow, Paragraph
from goldgate.core.unit_page import Mark, MarkedText, UnitSection
from goldgate.readers.draw import shown_fields

_MAX_TEXTS, _MAX_QUOTES, _MAX_FIELDS = 50, 100, 30
_MAX_PLACES = 10  # of one quote in one text
_MAX_SEARCHED = 5_000_000  # characters of texts that the quotes of an item are looked for in, all together
_MAX_COLLAPSED = 1_000_000  # characters of a text in which a quote is also looked for with other line ends and blanks
_MAX_QUOTE_CHARACTERS = 900  # of a quote in the list: a sentence of a page has 1,000
_SHORT = 200  # characters of a value that fits on a line


class Quote(NamedTuple):
    """A quote of an item, the name of its source, and the text of its source, where it comes with the quote."""

    text: str
    source: str = ""
    context: str = ""


class QuotedSource(NamedTuple):
    """A text in which quotes are looked for; one that came with a quote has the quote's number."""

    name: str
    text: str
    quote: int | None = None


class ItemParts(NamedTuple):
    """What is judged, the texts that it quotes, and the other fields of an item."""

    judged: tuple[UnitSection, ...]
    sources: tuple[UnitSection, ...]
    others: tuple[UnitSection, ...]


def split_item(item: Mapping[str, Any], most_quotes: int = _MAX_QUOTES, most_texts: int = _MAX_TEXTS) -> ItemParts:
    """The parts of an item, with its quotes marked in their sources; of many quotes or sources, the first."""
    rest = shown_fields(item)
    claim = rest.pop("claim") if isinstance(rest.get("claim"), str) else None
    quotes, notes = _take_quotes(rest, most_quotes)
    sources = _take_sources(rest, quotes)
    texts, places = _mark_quotes(quotes, sources[:most_texts])
    judged = [] if claim is None else [UnitSection("Claim", (MarkedText(claim),))]
    if quotes:
        rows = [_quote_row(number, quote, places[number], len(sources)) for number, quote in enumerate(quotes)]
        judged.append(UnitSection("Quotes", (LabelList(tuple(rows)), *map(Paragraph, notes))))
    if len(sources) > most_texts:
        words = f"{len(sources) - most_texts:,} of {len(sources):,} sources are not shown."
        texts.append(UnitSection("More sources", (Paragraph(words),)))
    return ItemParts(tuple(judged), tuple(texts), tuple(_plain_sections(rest)))


def _take_quotes(rest: dict[str, Any], most: int) -> tuple[list[Quote], list[str]]:
    """The quotes of an item, and what of them is left out; quotes in another form stay with the plain fields."""
    values = rest.get("quotes")
    if not isinstance(values, list) or not all(map(_has_text, values)):
        return [], []
    del rest["quotes"]
    first = values[:most]
    more = len(values) - len(first)
    return [*map(_parse_quote, first)], [f"{more:,} of {len(values):,} quotes are not shown."] if more else []


def _has_text(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("text"), str))


def _parse_quote(value: Any) -> Quote:
    """A quote as a text, or with its source: a name, or the text that it is from."""
    if isinstance(value, str):
        return Quote(value)
    text, source, name = value["text"], value.get("source"), _source_name(value)
    if not isinstance(source, str):
        return Quote(text, name)
    is_text = len(source) > _SHORT or (0 < len(text) < len(source) and text in source)
    return Quote(text, name, source) if is_text else Quote(text, source or name)


def _source_name(value: Mapping[str, Any]) -> str:
    return next((str(value[key]) for key in ("source_id", "id", "name", "url") if value.get(key)), "")


def _take_sources(rest: dict[str, Any], quotes: Sequence[Quote]) -> list[QuotedSource]:
    """The item's text, its sources, and those that come with a quote, each text once."""
    sources = [QuotedSource("Text", rest.pop("text"))] if isinstance(rest.get("text"), str) else []
    values = rest.get("sources")
    if isinstance(values, dict) and all(isinstance(each, str) for each in values.values()):
        sources += [QuotedSource(name, text) for name, text in values.items()]
        del rest["sources"]
    elif isinstance(values, list) and all(isinstance(each, dict) and _has_text(each) for each in values):
        sources += [
            QuotedSource(_source_name(each) or f"Source {at}", each["text"]) for at, each in enumerate(values, 1)
        ]
        del rest["sources"]
    texts = {source.text for source in sources}
    for number, quote in enumerate(quotes, 1):
        if quote.context and quote.context not in texts:
            name = f"Source of quote {number}" + (f": {quote.source}" if quote.source else "")
            sources.append(QuotedSource(name, quote.context, number))
            texts.add(quote.context)
    return sources


def _mark_quotes(
    quotes: Sequence[Quote], sources: Sequence[QuotedSource]
) -> tuple[list[UnitSection], list[list[str] | None]]:
    """The texts with their marks; and for each quote the names of the texts that have it.

    A quote that names one of them is looked for there; any other, and one that is not there, in all of them. Where
    there is too much to search, the names of the remaining quotes are None.
    """
    searches = [QuoteSearch(source.text) for source in sources]
    marks: list[list[Mark]] = [[] for _ in sources]
    places: list[list[str] | None] = []
    left, whole = _MAX_SEARCHED, sum(len(source.text) for source in sources)
    for number, quote in enumerate(quotes, 1):
        own = [at for at, source in enumerate(sources) if number == source.quote or quote.source == source.name]
        spans = {at: searches[at].find(quote.text) for at in own} if left > 0 else {}
        left -= sum(len(sources[at].text) for at in own)
        if not any(spans.values()):
            if left <= 0:
                places.append(None)
                continue
            left -= whole
            spans = {at: search.find(quote.text) for at, search in enumerate(searches)}
        for at, of_text in spans.items():
            marks[at] += [Mark(start, end, "quote", str(number)) for start, end in of_text]
        places.append([sources[at].name for at, of_text in spans.items() if of_text])
    sections = [
        UnitSection(source.name, (MarkedText(source.text, tuple(sorted(of_text, key=lambda m: (m.start, -m.end)))),))
        for source, of_text in zip(sources, marks, strict=True)
    ]
    return sections, places


def _quote_row(number: int, quote: Quote, places: Sequence[str] | None, sources: int) -> LabelRow:
    words = " ".join(quote.text.split())
    more = f"… ({len(words):,} characters)" if len(words) > _MAX_QUOTE_CHARACTERS else ""
    parts = [f"“{words[:_MAX_QUOTE_CHARACTERS]}{more}”"]
    if places:
        parts += [f"in {', '.join(places)}"] if sources > 1 else []
    else:
        parts += [f"from {quote.source}"] if quote.source else []
        reason = "too much text to look for it" if places is None else "not found in the texts shown here"
        parts += [reason] if sources else []
    return LabelRow(str(number + 1), tuple(parts))


class QuoteSearch:
    """Finds quotes in a text: as they stand, or else with other blanks and line ends between the words."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._words: tuple[list[int], list[int]] | None = None  # where words begin: in the text, in the collapsed one
        self._collapsed = ""

    def find(self, quote: str) -> list[tuple[int, int]]:
        """Where the quote begins and ends, the first ten times."""
        if not quote.strip():
            return []
        spans = list(islice(_occurrences(quote, self._text), _MAX_PLACES))
        if spans or len(self._text) > _MAX_COLLAPSED:
            return spans
        if self._words is None:
            self._collapse()
        words = " ".join(quote.split())
        return [
            (self._original(start), self._original(end - 1) + 1)
            for start, end in islice(_occurrences(words, self._collapsed), _MAX_PLACES)
        ]

    def _collapse(self) -> None:
        words, starts, collapsed, end, size = self._text.split(), list[int](), list[int](), 0, 0
        for word in words:
            starts.append(self._text.index(word, end))
            collapsed.append(size)
            end = starts[-1] + len(word)
            size += len(word) + 1
        self._words, self._collapsed = (starts, collapsed), " ".join(words)

    def _original(self, position: int) -> int:
        assert self._words is not None
        starts, collapsed = self._words
        word = bisect_right(collapsed, position) - 1
        return starts[word] + position - collapsed[word]


def _occurrences(part: str, text: str) -> Iterator[tuple[int, int]]:
    at = text.find(part)
    while at >= 0:
        yield at, at + len(part)
        at = text.find(part, at + len(part))


def _plain_sections(rest: Mapping[str, Any]) -> list[UnitSection]:
    """The other fields: short values in one list, each long one under its name."""
    short, sections = list[LabelRow](), list[UnitSection]()
    for name, value in islice(rest.items(), _MAX_FIELDS):
        text = _value_text(value)
        if len(text) <= _SHORT and "\n" not in text:
            short.append(LabelRow(name, (text,)))
        else:
            sections.append(UnitSection(name, (MarkedText(text),)))
    if short:
        sections.insert(0, UnitSection("Also given", (LabelList(tuple(short)),)))
    if len(rest) > _MAX_FIELDS:
        words = f"{len(rest) - _MAX_FIELDS:,} of {len(rest):,} fields are not shown."
        sections.append(UnitSection("More fields", (Paragraph(words),)))
    return sections


def _value_text(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    except orjson.JSONEncodeError:
        return "(nested too deeply to be shown)"
