"""The pages on which a person labels: one item with its quotes marked in their sources, and what is left at the end.

Whatever an item holds is shown as text, and as much of it as a page can hold; what is left out is said.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.page import LabelList, LabelRow, count_text
from goldgate.core.unit_page import MarkedText, UnitPage, UnitSection
from goldgate.readers.labels import UNSURE
from goldgate.report.element import Content, Markup, element
from goldgate.report.escape import visible_name
from goldgate.report.html import whole_page
from goldgate.report.html.blocks import DisplayLimits, html_names, html_sentence
from goldgate.report.html.units import unit_sections
from goldgate.suites.judged.ask import LabelChoice
from goldgate.suites.judged.item_parts import split_item
from goldgate.viewer.pages import VIEW_STYLE

MAX_NOTE_CHARACTERS = 5_000
BACK, NEXT = "back", "next"  # what else the form can ask for
REFERRER = "same-origin"  # with no-referrer, browsers do not say where a form comes from

_MAX_CHARACTERS = 100_000  # of all texts of an item
_MAX_MARKS = 500  # in one text
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
            element(
                "p", f"{words}; the labels are in ", element("code", visible_name(out, commands=False), dir="auto"), "."
            ),
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
