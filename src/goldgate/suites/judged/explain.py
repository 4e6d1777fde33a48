"""An item of a stored result, explained: what was shown, and what people and judges say of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import orjson

from goldgate.core.finding import limit_length
from goldgate.core.page import Column, Paragraph, Table
from goldgate.core.unit_page import Mark, MarkedText, UnitPage, UnitSection, UnitSummary, marked_text
from goldgate.readers.draw import shown_fields

if TYPE_CHECKING:
    from goldgate.suites.judged.contracts import ItemLabelsRecord

_MAX_FIELDS = 40
_HALF = 0.5


def item_summary(record: ItemLabelsRecord) -> UnitSummary:
    """The item in a list; first those where judge and people disagree, then unsure ones, then people who disagree."""
    human, judge = record["human"], record["judge"]
    facets = {"question": (record["question"],)}
    numbers = {each["label"] for each in record["people"] if isinstance(each["label"], (int, float))}
    words, weight = [], 0
    if record["drawn"] and human is None:
        words, weight = ["unsure" if record["people"] else "no label of a person"], 1
        facets["labels"] = ("unsure",)
    elif human is not None and judge is not None and (human > _HALF) != (judge > _HALF):
        words, weight = [f"people {_text(human)}, judge {_text(judge)}"], 3
        facets["labels"] = ("too strict",) if human > judge else ("too lenient",)
    if len(numbers) > 1:
        words.append("people disagree")
        weight += 1
        facets["people"] = ("disagree",)
    if record["stratum"] is not None:
        facets["stratum"] = (record["stratum"],)
    facets["drawn"] = ("yes",) if record["drawn"] else ("no",)
    return UnitSummary(record["id"], "; ".join(words), weight, facets)


def item_snippet(record: ItemLabelsRecord, inputs: Mapping[str, Any]) -> str:
    """The claim, or the longest text of the item."""
    item = inputs.get("items")
    if not isinstance(item, Mapping):
        return ""
    if isinstance(item.get("claim"), str):
        return str(item["claim"])
    texts = (value for value in shown_fields(item).values() if isinstance(value, str))
    return max(texts, key=len, default="")


def item_page(record: ItemLabelsRecord, inputs: Mapping[str, Any]) -> UnitPage:
    """The result, the item as it was shown, with its quotes marked in its text, and all labels with their notes."""
    summary = item_summary(record)
    sections = [UnitSection("Result", (Paragraph(summary.word or "Nothing stands out."), Paragraph(_result(record))))]
    item = inputs.get("items")
    if isinstance(item, Mapping):
        fields = [*shown_fields(item).items()][:_MAX_FIELDS]
        sections += [UnitSection(str(name), (_field(name, value, item),)) for name, value in fields]
    sections.append(UnitSection("Labels", (_label_table(record, inputs.get("labels")),)))
    return UnitPage(record["id"], tuple(sections))


def _result(record: ItemLabelsRecord) -> str:
    drawn = "Drawn" if record["drawn"] else "Not drawn"
    stratum = "" if record["stratum"] is None else f", stratum {limit_length(record['stratum'], 80)}"
    return f"{drawn}{stratum}; label of people {_text(record['human'])}, of the judge {_text(record['judge'])}."


def _text(label: object) -> str:
    return "none" if label is None else f"{label:g}" if isinstance(label, (int, float)) else str(label)


def _field(name: str, value: object, item: Mapping[str, Any]) -> MarkedText:
    if not isinstance(value, str):
        return marked_text(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode(), ())
    marks = [] if name != "text" else [*_quote_marks(value, item.get("quotes"))]
    return marked_text(value, marks)


def _quote_marks(text: str, quotes: object) -> list[Mark]:
    """Where the item's quotes are in its text, if they are."""
    marks = []
    for quote in quotes if isinstance(quotes, list) else ():
        words = quote.get("text") if isinstance(quote, Mapping) else quote
        start = text.find(words) if isinstance(words, str) and words else -1
        if isinstance(words, str) and start >= 0:
            marks.append(Mark(start, start + len(words), "quote", "quote"))
    return marks


def _label_table(record: ItemLabelsRecord, stored: object) -> Table:
    """Every label; with its note where the file is there."""
    notes = {}
    for each in stored if isinstance(stored, list) else ():
        if isinstance(each, Mapping):
            remark = each.get("note") or each.get("reason")
            notes[each.get("kind"), each.get("by")] = limit_length(remark) if isinstance(remark, str) else ""
    rows = [
        (kind, each["by"], _text(each["label"]), notes.get((kind, each["by"]), ""))
        for kind, labels in (("human", record["people"]), ("judge", record["judges"]))
        for each in labels
    ]
    return Table(tuple(map(Column, ("kind", "by", "label", "note"))), tuple(rows), empty="it has no label")
