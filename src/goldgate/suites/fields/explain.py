"""A document of a stored result, explained: its errors, both values leaf by leaf, text and answer with marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict

from goldgate.core.finding import limit_length
from goldgate.core.page import Block, Cell, Column, Name, Paragraph, Table, confusion_label, count_text
from goldgate.core.suite import Options, Plan
from goldgate.core.unit_page import (
    BOTH,
    GOLD,
    PREDICTED,
    RIGHT,
    MarkedText,
    MarkedValue,
    UnitPage,
    UnitSection,
    UnitSummary,
    mark_values,
)
from goldgate.core.value_text import Normalize, NormalizedText, Span, normalizer
from goldgate.errors import InputError, Place
from goldgate.report.answers_text import AnswerReader, ShownAnswer, value_lines
from goldgate.response.reading_report import AnswerView, answer_blocks, answer_facets, describe_unread, thought_spans
from goldgate.suites.fields.alignment import CONFUSED_LENGTH
from goldgate.suites.fields.comparators import leaf_text
from goldgate.suites.fields.leaves import HIT, WRONG, Leaf, location
from goldgate.suites.fields.page import CONFUSED
from goldgate.suites.fields.scorer import FieldFacts, FieldsAnswer, FieldsScorer, GoldDocument, document_record
from goldgate.suites.fields.source import obtain_schema, parse_answer, parse_document
from goldgate.suites.fields.spellings import key_places, value_keys
from goldgate.suites.fields.suite import FieldsSettings

if TYPE_CHECKING:
    from goldgate.suites.fields.contracts import DocumentRecord, LeafError, LeafPlace

MAX_ROWS = 500
_SHORTEST = 3  # characters of a text that is looked for: shorter ones are everywhere
_NO_TEXT = "The gold record has no source text, or is not there any more."
_OTHERWISE = "The inputs have changed since, or are scored otherwise now: what is below is what was scored then."


def document_summary(record: DocumentRecord) -> UnitSummary:
    """Its weight is the number of errors, and one more where there is no answer."""
    errors, unread = record["errors"], describe_unread(record["parse"])
    facets = answer_facets(record["parse"])
    counts = Counter(error["error"] for error in errors)
    words = [unread] if unread else []
    if errors:
        words.append(", ".join(f"{name} {count}" for name, count in counts.items()))
        facets["error"] = (*counts, *sorted({f"wrong: {e['kind']}" for e in errors if e["error"] == WRONG}))
        facets["path"] = (*dict.fromkeys(error["path"] for error in errors),)
    if confused := (*dict.fromkeys(_confusions(record)),):
        facets[CONFUSED] = confused
    if record["unsupported"]:
        facets["unsupported values"] = ("yes",)
    if record["compliant"] is False:
        facets["schema"] = ("not compliant",)
        words += [] if words else ["not as the schema has it"]
    weight = len(errors) + record["errors_left_out"] + bool(unread)
    return UnitSummary(record["id"], "; ".join(words), weight, facets)


def _confusions(record: DocumentRecord) -> Iterator[str]:
    """Which value of an enum was taken for which, as the report's confusions have it."""
    for error in record["errors"]:
        gold, predicted = error["gold"], error["predicted"]
        if error.get("enum") and gold is not None and predicted is not None:
            one, other = (limit_length(leaf_text(place["value"]), CONFUSED_LENGTH) for place in (gold, predicted))
            yield confusion_label(one, other, error["path"])


class DocumentView(NamedTuple):
    """What a page shows. `facts` are None where the document cannot be compared as it was."""

    record: DocumentRecord
    text: str | None
    answer: FieldsAnswer | None
    facts: FieldFacts | None
    differs: bool = False  # it was compared again, and came out otherwise
    settings: FieldsSettings = FieldsSettings()


def view_document(record: DocumentRecord, inputs: Mapping[str, Any]) -> DocumentView:
    """The document of a record, with what its inputs still say."""
    scorer: FieldsScorer | None = inputs.get("scorer")
    try:
        gold = inputs.get("gold")
        document = None if gold is None else parse_document(gold, record["id"], inputs.get("value_field"))
        prediction = inputs.get("predictions")
        answer = None if prediction is None else parse_answer(prediction)
    except InputError:  # then a record was changed after scoring
        return DocumentView(record, None, None, None)
    text = None if document is None else document.text
    if scorer is None or document is None or record["too_many"]:  # comparing it once was enough
        return DocumentView(record, text, answer, None)
    facts = scorer.facts(document, answer)
    again = document_record(facts)
    differs = any(again[name] != record[name] for name in ("errors", "leaves"))
    return DocumentView(record, text, answer, None if differs else facts, differs, scorer.settings)


def document_page(record: DocumentRecord, inputs: Mapping[str, Any]) -> UnitPage:
    """Errors first, then the text and both values that explain them. A paragraph says what is missing now."""
    return page_of_document(view_document(record, inputs))


def page_of_document(view: DocumentView) -> UnitPage:
    """The page of a document that is at hand."""
    record = view.record
    unread, summary = describe_unread(record["parse"]), document_summary(record)
    result = [Paragraph(summary.word or "No errors."), *([Paragraph(_OTHERWISE)] if view.differs else [])]
    answer = answer_blocks(_answer_view(view))
    facts, left_out = view.facts, ", ".join(record["gold_left_out"])
    text: Block | MarkedText = Paragraph(_NO_TEXT)
    if view.text:
        text = mark_values(NormalizedText(view.text, view.settings.blanks), [*_marked_values(view)], named=True)
    parts: list[tuple[str, tuple[Block | MarkedText, ...]]] = [
        ("Result", tuple(result)),
        ("Answer", answer if unread else ()),
        ("Errors", _error_table(record)),
        ("Source text", (text,)),
        ("Values", () if facts is None else _value_table(facts)),
        ("Answer", () if unread else answer),
        ("Unsupported values", _unsupported(record)),
        ("Gold that is left out", (Paragraph(limit_length(left_out)),) if left_out else ()),
    ]
    sections = (UnitSection(title, blocks, title != "Errors" or facts is None) for title, blocks in parts if blocks)
    return UnitPage(record["id"], tuple(sections))


def _answer_view(view: DocumentView) -> AnswerView:
    parsed = None if view.facts is None else view.facts.parsed
    response = None if view.answer is None else view.answer.response
    return AnswerView(
        view.record["parse"],
        () if parsed is None else [(part.start, part.end, part.reason) for part in parsed.left_out],
        view.answer is not None,
        response,
        None if view.answer is None else view.answer.value,
        parsed,
        () if response is None else thought_spans(response, response, view.settings.thought_tags),
        view.differs,
    )


def _error_table(record: DocumentRecord) -> tuple[Block, ...]:
    """A row for each error: what was predicted, and what gold has in its place."""
    columns = (Column("error"), Column("at", group="predicted"), Column("value", group="predicted"),
               Column("at", group="gold"), Column("value", group="gold"))  # fmt: skip
    rows = tuple(
        (Name(_error_name(error)), *_place_cells(error["predicted"]), *_place_cells(error["gold"]))
        for error in record["errors"][:MAX_ROWS]
    )
    more = len(record["errors"]) - len(rows) + record["errors_left_out"]
    return () if not rows else (Table(columns, rows), *_more_rows(more, "error"))


def _error_name(error: LeafError) -> str:
    return error["error"] if error["kind"] is None else f"{error['error']}: {error['kind']}"


def _place_cells(place: LeafPlace | None) -> tuple[Cell, Cell]:
    return ("", "") if place is None else (Name(place["at"]), limit_length(leaf_text(place["value"])))


def _more_rows(count: int, thing: str) -> list[Paragraph]:
    return [Paragraph(f"And {count_text(count, f'more {thing}')}.")] if count > 0 else []


def _value_table(facts: FieldFacts) -> tuple[Block, ...]:
    """Every leaf of both sides in the order of gold; what only the answer has, after its neighbour there."""
    rows: list[tuple[Cell, ...]] = []
    for gold, predicted in _leaf_pairs(facts):
        leaf = gold or predicted
        assert leaf is not None  # a row is of at least one
        elsewhere = gold is not None and predicted is not None and gold.shape.name != predicted.shape.name
        predicted_text = "" if predicted is None else limit_length(leaf_text(predicted.value))
        where = f" (at {location(predicted)})" if elsewhere and predicted is not None else ""
        rows.append((Name(location(leaf)), "" if gold is None else limit_length(leaf_text(gold.value)),
                     predicted_text + where, Name(leaf.error or RIGHT)))  # fmt: skip
    columns = (*map(Column, ("at", "gold", "predicted", "result")),)
    table = Table(columns, tuple(rows[:MAX_ROWS]), shared=2, empty="neither has a value")
    return table, *_more_rows(len(rows) - MAX_ROWS, "value")


def _leaf_pairs(facts: FieldFacts) -> Iterator[tuple[Leaf | None, Leaf | None]]:
    extra: dict[int, list[Leaf]] = {}  # after the gold leaf with this id, those that only the answer has
    before = 0
    for leaf in facts.predicted.leaves:
        if leaf.partner is None:
            extra.setdefault(before, []).append(leaf)
        else:
            before = id(leaf.partner)
    yield from ((None, leaf) for leaf in extra.get(0, ()))
    for leaf in facts.gold.leaves:
        yield leaf, leaf.partner
        yield from ((None, other) for other in extra.get(id(leaf), ()))


def _unsupported(record: DocumentRecord) -> tuple[Block, ...]:
    """Predicted values that the text does not have."""
    leaves = record["unsupported"]
    rows = tuple((Name(leaf["path"]), limit_length(leaf_text(leaf["value"]))) for leaf in leaves[:MAX_ROWS])
    return (
        (Table((Column("path"), Column("value")), rows), *_more_rows(len(leaves) - len(rows), "value")) if rows else ()
    )


def _marked_values(view: DocumentView) -> Iterator[MarkedValue]:
    """The values of both sides, errors first; hits only where the document was compared again."""
    text, normalize = view.text or "", normalizer(view.settings.blanks)
    leaves = [] if view.facts is None else [*facts_leaves(view.facts)]
    formats = {each for leaf, _ in leaves for each in leaf.shape.settings.formats}
    places: dict[object, list[Span]] = {}
    for key, span in key_places(text, tuple(sorted(formats))):
        places.setdefault(key, []).append(span)
    if view.facts is None:
        for error in view.record["errors"]:
            for kind, place in ((GOLD, error["gold"]), (PREDICTED, error["predicted"])):
                if place is not None and not isinstance(place["value"], bool):
                    keys = value_keys(place["value"])
                    yield _marked(
                        place["value"], kind, place["at"], _error_name(error), _spans(keys, places), normalize
                    )
    for leaf, kind in leaves:
        if not isinstance(leaf.value, bool) and not leaf.shape.is_enum:
            keys = value_keys(leaf.value, leaf.shape.settings.formats)
            yield _marked(leaf.value, kind, location(leaf), leaf.error, _spans(keys, places), normalize)


def _spans(keys: Iterable[object], places: Mapping[object, list[Span]]) -> list[Span]:
    return sorted({span for key in keys for span in places.get(key, ())})


def facts_leaves(facts: FieldFacts) -> Iterator[tuple[Leaf, str]]:
    """Leaves with whose they are, errors first; a hit once."""
    yield from ((leaf, GOLD) for leaf in facts.gold.leaves if leaf.state != HIT)
    yield from ((leaf, PREDICTED) for leaf in facts.predicted.leaves if leaf.state != HIT)
    yield from ((leaf, BOTH) for leaf in facts.gold.leaves if leaf.state == HIT)


def _marked(value: Any, kind: str, label: str, wrong: str, spans: list[Span], normalize: Normalize) -> MarkedValue:
    """A value; a number or a date is where the text has it, and a text wherever its characters are."""
    text = leaf_text(value)
    normalized = normalize(text)
    is_sought = isinstance(value, str) and len(normalized) >= _SHORTEST
    return MarkedValue(normalized if is_sought else "", text, kind, label, wrong, spans)


def open_fields_reader(plan: Plan, options: Options) -> AnswerReader:
    """`goldgate read`: answers as the scorer reads them, by the schema where one is given."""
    settings: FieldsSettings = plan.settings
    schema = obtain_schema(options.get("schema") or {}, settings)
    return AnswerReader(parse_answer, partial(_read_answer, FieldsScorer(settings, schema)))


def _read_answer(scorer: FieldsScorer, identity: str | None, answer: FieldsAnswer) -> ShownAnswer:
    if answer.response is None and answer.value is None:  # stored as null
        answer = FieldsAnswer("")
    facts = scorer.facts(GoldDocument("", {}), answer)
    parsed, response = facts.parsed, answer.response or ""
    assert parsed is not None  # there is an answer
    sizes = (count_text(facts.predicted_count, "value"),)
    return ShownAnswer(identity, response, parsed, sizes, partial(value_lines, response, parsed))


class WrongValueItem(TypedDict):
    """A wrong value for people and judges: would they accept it?"""

    id: str  # document/place in the answer
    group: str  # that of the document, or the document
    path: str
    gold: str | float | bool
    predicted: str | float | bool
    text: str | None  # of the document


def wrong_value_items(record: DocumentRecord, inputs: Mapping[str, Any], options: Options) -> Iterator[WrongValueItem]:
    """The wrong values that the record of a document lists."""
    wrong = [error for error in record["errors"] if error["error"] == WRONG]
    if not wrong:
        return
    view = view_document(record, inputs)
    if "gold" not in inputs or view.differs:
        raise InputError(
            "items.no_inputs", _OTHERWISE, place=Place(f"the document {record['id']}"), advice="score it again"
        )
    for error in wrong:
        gold, predicted = error["gold"], error["predicted"]
        if gold is not None and predicted is not None:
            yield {
                "id": f"{record['id']}/{predicted['at']}",
                "group": str(record.get("group") or record["id"]),
                "path": error["path"],
                "gold": gold["value"],
                "predicted": predicted["value"],
                "text": view.text,
            }
