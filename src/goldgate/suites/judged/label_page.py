"""The pages on which a person labels: one item with its quotes marked in their sources, and what is left at the end.

Whatever an item holds is shown as text, and as much of it as a page can hold; what is left out is said.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate.core.page import LabelList, LabelRow, Paragraph, count_text
from goldgate.core.unit_page import Mark, MarkedText, UnitPage, UnitSection
from goldgate.readers.draw import shown_fields
from goldgate.readers.labels import UNSURE
from goldgate.report.element import Content, Markup, element
from goldgate.report.html import whole_page
from goldgate.report.html.blocks import DisplayLimits, html_name, html_names, html_sentence
from goldgate.report.html.units import unit_sections
from goldgate.suites.judged.ask import LabelChoice
from goldgate.viewer.pages import VIEW_STYLE

MAX_NOTE_CHARACTERS = 5_000
BACK, NEXT = "back", "next"  # what else the form can ask for
REFERRER = "same-origin"  # with no-referrer, browsers do not say where a form comes from

_MAX_CHARACTERS = 100_000  # of all texts of an item
_MAX_MARKS = 500  # in one text
_MAX_TEXTS, _MAX_QUOTES, _MAX_FIELDS = 50, 100, 30
_MAX_PLACES = 10  # of one quote in one text
_MAX_COLLAPSED = 1_000_000  # characters of a text in which a quote is also looked for with other line ends and blanks
_MAX_QUOTE_CHARACTERS = 900  # of a quote in the list: a sentence of a page has 1,000
_SHORT = 200  # characters of a value that fits on a line
LABEL_ASSETS = VIEW_STYLE, Path(__file__).with_name("label.css"), Path(__file__).with_name("label.js")


class StoredLabel(NamedTuple):
    """What a person said of an item, and the line of the file that has it."""

    label: object
    note: str
    judge_seen: bool  # the label was changed after the judge's was shown
    line: bytes


class ItemView(NamedTuple):
    """An item as its page shows it. Items are counted from 1."""

    number: int
    total: int
    labelled: int  # items that have a label
    item: Mapping[str, Any]
    question: str  # its text; empty: made from what the item has
    answer: StoredLabel | None
    note: str  # in the form
    judge: tuple[str, ...]  # what judges say of it: empty until the item has a label
    saved: str  # what was saved last, in words
    problem: str = ""  # why something was not saved


def render_item(view: ItemView, choices: Sequence[LabelChoice]) -> str:
    """The page of an item: its texts, and the form with a button for each label."""
    parts = split_item(view.item)
    blocks = [block for sections in parts for section in sections for block in section.blocks]
    lengths = [len(block.text) for block in blocks if isinstance(block, MarkedText)]
    limits = DisplayLimits(_share(lengths, _MAX_CHARACTERS), _MAX_MARKS)
    columns = [
        element("div", unit_sections(UnitPage(f"item {view.number}", sections), limits, level=2), class_=name)
        for name, sections in parts._asdict().items()
        if sections
    ]
    question = html_sentence(view.question or _default_question(view.item))
    body = [
        element("a", "Skip to the labels", href="#labels", class_="skip"),
        element(
            "header",
            element(
                "h1",
                f"Item {view.number:,} of {view.total:,}",
                tabindex=-1,
                aria_describedby="saved asked",
            ),
            _progress(view.labelled, view.total),
            element("p", html_sentence(view.saved), class_="said", id="saved", role="status", dir="auto"),
        ),
        element(
            "main",
            element("p", html_sentence(view.problem), class_="problem", role="alert") if view.problem else None,
            element("p", question, class_="asked", id="asked", dir="auto"),
            element("div", *columns, class_="columns"),
            _form(view, choices, question),
            id="main",
            class_="whole label",
        ),
    ]
    return _page(f"Item {view.number:,} of {view.total:,}", body)


def _share(lengths: Iterable[int], most: int) -> int:
    """How many characters each text may show, so that all of them together show no more than `most`."""
    ordered = sorted(lengths)
    for place, length in enumerate(ordered):
        share = most // (len(ordered) - place)
        if length > share:
            return share
        most -= length
    return most


def render_done(total: int, counts: Mapping[str, int], first_open: int | None, out: str) -> str:
    """The page at the end: how many items have which label, and how to go on."""
    labelled = sum(counts.values())
    words = f"{labelled:,} of {count_text(total, 'item')} labelled"
    rows = [LabelRow(name, (f"{count:,}",)) for name, count in counts.items()]
    link = f"/items/{total if first_open is None else first_open}"
    more = "Look at the last item again" if first_open is None else f"Go on with item {first_open:,}"
    heading = "All items have a label" if first_open is None else "Some items have no label yet"
    body = [
        element("header", element("h1", heading, tabindex=-1), _progress(labelled, total)),
        element(
            "main",
            element("p", f"{words}; the labels are in ", element("code", html_name(out), dir="auto"), "."),
            unit_sections(UnitPage("", (UnitSection("Labels", (LabelList(tuple(rows)),)),)), level=2),
            element("p", element("a", more, href=link, data_keys="b ArrowLeft")) if total else None,
            element("p", "To end, press Ctrl-C where goldgate label runs.", class_="note"),
            id="main",
            class_="whole label",
        ),
    ]
    return _page(heading, body)


def render_label_error(message: str) -> str:
    """A page that says what went wrong, with the way back to the items."""
    lines = [element("p", html_sentence(line)) for line in message.splitlines()]
    body = [
        element("header", element("h1", "Not shown", tabindex=-1)),
        element("main", *lines, element("p", element("a", "To the items", href="/")), id="main", class_="whole label"),
    ]
    return _page("Not shown", body)


def _page(title: str, body: Sequence[Content]) -> str:
    return whole_page(f"{title} · goldgate label", body, *LABEL_ASSETS, forms=True, referrer=REFERRER)


def _progress(labelled: int, total: int) -> Markup:
    words = f"{labelled:,} of {total:,} labelled"
    bar = element("progress", value=labelled, max=max(total, 1), aria_label="Items with a label")
    return element("p", bar, element("span", words), class_="bar")


def _form(view: ItemView, choices: Sequence[LabelChoice], question: str) -> Markup:
    note_keys = ("t",) if any("n" in choice.keys for choice in choices) else ("n", "t")
    names = html_names(choice.word for choice in choices)
    chosen = None if view.answer is None else view.answer.label
    buttons = [
        _button(names[choice.word], str(place), choice.keys, pressed=is_same_label(chosen, choice.value))
        for place, choice in enumerate(choices, 1)
    ]
    buttons.append(_button(UNSURE, UNSURE, ("u",), pressed=is_same_label(chosen, UNSURE)))
    moves = [
        _button("back", BACK, ("b", "ArrowLeft")) if view.number > 1 else None,
        _button("next" if view.answer is not None else "skip", NEXT, ("s", "ArrowRight")),
    ]
    note = element(
        "details",
        element("summary", "Note ", element("kbd", note_keys[0]), data_keys=" ".join(note_keys)),
        element("textarea", view.note, name="note", rows=2, maxlength=MAX_NOTE_CHARACTERS, aria_label="Note"),
        class_="note-box",
        open=bool(view.note),
    )
    return element(
        "form",
        _judges(view),
        element("div", *buttons, class_="choices", role="group", aria_label=question, id="labels"),
        element("div", *moves, note, _help(choices, note_keys), class_="moves"),
        method="post",
        action=f"/items/{view.number}",
        class_="answer",
        accept_charset="utf-8",
    )


def _button(word: str, value: str, keys: Sequence[str], *, pressed: bool | None = None) -> Markup:
    return element(
        "button",
        element("kbd", keys[0], aria_hidden="true"),
        element("bdi", word),
        type="submit",
        name="do",
        value=value,
        data_keys=" ".join(keys),
        aria_keyshortcuts=" ".join(keys),
        aria_pressed=None if pressed is None else str(pressed).lower(),
    )


def is_same_label(one: object, other: object) -> bool:
    """Whether two labels are equal; the number 1 is not true."""
    return type(one) is type(other) and one == other


def _judges(view: ItemView) -> Markup | None:
    if not view.judge:
        return None
    lines = [element("p", html_sentence(f"Judge: {words}"), dir="auto") for words in view.judge]
    return element("div", *lines, class_="judge")


def _help(choices: Sequence[LabelChoice], note_keys: Sequence[str]) -> Markup:
    names = html_names(choice.word for choice in choices)
    rows: list[tuple[Sequence[str], str]] = [(choice.keys, names[choice.word]) for choice in choices]
    rows += [(("u",), "unsure: it stays in the draw, and is counted")]
    rows += [(("b", "←"), "back"), (("s", "→"), "on, without a label")]
    rows += [(note_keys, "write a note; Esc leaves it, and a label saves it")]
    rows += [(("q",), "to the next quote in its text"), (("?",), "show or hide these keys")]
    items = [
        element("div", element("dt", [p for key in keys for p in (" ", element("kbd", key))][1:]), element("dd", words))
        for keys, words in rows
    ]
    return element(
        "details",
        element("summary", "Keys ", element("kbd", "?"), data_keys="?"),
        element("dl", *items),
        class_="help",
    )


def _default_question(item: Mapping[str, Any]) -> str:
    if "claim" in item:
        return "Do the quotes support the claim?" if item.get("quotes") else "Is the claim supported?"
    return "Is this right?"


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


def split_item(item: Mapping[str, Any]) -> ItemParts:
    """The parts of an item, with its quotes marked in their sources."""
    rest = shown_fields(item)
    claim = rest.pop("claim") if isinstance(rest.get("claim"), str) else None
    quotes, notes = _take_quotes(rest)
    sources = _take_sources(rest, quotes)
    texts, places = _mark_quotes(quotes, sources[:_MAX_TEXTS])
    judged = [] if claim is None else [UnitSection("Claim", (MarkedText(claim),))]
    if quotes:
        rows = [_quote_row(number, quote, places[number], len(sources)) for number, quote in enumerate(quotes)]
        judged.append(UnitSection("Quotes", (LabelList(tuple(rows)), *map(Paragraph, notes))))
    if len(sources) > _MAX_TEXTS:
        words = f"{len(sources) - _MAX_TEXTS:,} of {len(sources):,} sources are not shown."
        texts.append(UnitSection("More sources", (Paragraph(words),)))
    return ItemParts(tuple(judged), tuple(texts), tuple(_plain_sections(rest)))


def _take_quotes(rest: dict[str, Any]) -> tuple[list[Quote], list[str]]:
    """The quotes of an item, and what of them is left out; quotes in another form stay with the plain fields."""
    values = rest.get("quotes")
    if not isinstance(values, list) or not all(map(_has_text, values)):
        return [], []
    del rest["quotes"]
    first = values[:_MAX_QUOTES]
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


def _mark_quotes(quotes: Sequence[Quote], sources: Sequence[QuotedSource]) -> tuple[list[UnitSection], list[list[str]]]:
    """The texts with their marks; and for each quote the names of the texts that it was found in.

    A quote that names one of them is looked for there; any other, and one that is not there, in all of them.
    """
    searches = [QuoteSearch(source.text) for source in sources]
    marks: list[list[Mark]] = [[] for _ in sources]
    places: list[list[str]] = []
    for number, quote in enumerate(quotes, 1):
        own = [at for at, source in enumerate(sources) if number == source.quote or quote.source == source.name]
        spans = {at: searches[at].find(quote.text) for at in own}
        if not any(spans.values()):
            spans = {at: search.find(quote.text) for at, search in enumerate(searches)}
        for at, of_text in spans.items():
            marks[at] += [Mark(start, end, "quote", str(number)) for start, end in of_text]
        places.append([sources[at].name for at, of_text in spans.items() if of_text])
    sections = [
        UnitSection(source.name, (MarkedText(source.text, tuple(sorted(of_text, key=lambda m: (m.start, -m.end)))),))
        for source, of_text in zip(sources, marks, strict=True)
    ]
    return sections, places


def _quote_row(number: int, quote: Quote, places: Sequence[str], sources: int) -> LabelRow:
    words = " ".join(quote.text.split())
    more = f"… ({len(words):,} characters)" if len(words) > _MAX_QUOTE_CHARACTERS else ""
    parts = [f"“{words[:_MAX_QUOTE_CHARACTERS]}{more}”"]
    if places:
        parts += [f"in {', '.join(places)}"] if sources > 1 else []
    else:
        parts += [f"from {quote.source}"] if quote.source else []
        parts += ["not found in the texts shown here"] if sources else []
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
