"""The page of one sample: its errors, arguments, source text, answer and thought, with marks that explain them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from goldgate.core.finding import limit_length
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    LabelList,
    LabelRow,
    MeasuredValue,
    Name,
    Paragraph,
    Table,
    count_text,
)
from goldgate.core.unit_page import Mark, MarkedText, UnitPage, UnitSection, marked_text
from goldgate.suites.extraction.events.event import Unit
from goldgate.suites.extraction.explain import SampleView, Side, sample_summary, stored_unit, view_sample
from goldgate.suites.extraction.explain.marked_text import marked_source, marked_thought, unit_label
from goldgate.suites.extraction.response import Parsed
from goldgate.suites.extraction.response.parsed import (
    METHOD_MEANINGS,
    MOST_PLACES,
    REASON_MEANINGS,
    STATUS_MEANINGS,
    STEP_MEANINGS,
    Status,
    ThoughtState,
)
from goldgate.suites.extraction.response.thoughts import cut_thoughts

MOST_ROWS = 500
RIGHT = "right"
_NO_ARGUMENTS = "(without arguments)"


def error_table(sample: SampleView) -> tuple[Block, ...]:
    """A row for each error: what was predicted, and what gold has in its place."""
    columns = (
        Column("error"),
        Column("argument", group="predicted"),
        Column("value", group="predicted"),
        Column("argument", group="gold"),
        Column("value", group="gold"),
    )
    rows = [
        (Name(error), *_unit_cells(predicted, sample.predicted), *_unit_cells(gold, sample.gold))
        for error, predicted, gold in _error_rows(sample)
    ]
    return _table(columns, rows, "error")


def argument_table(sample: SampleView) -> tuple[Block, ...]:
    """Every argument of both sides, type by type; an argument that is meant for another is in one row with it."""
    several = any(count > 1 for side in (sample.gold, sample.predicted) for count in side.events.values())
    columns = (
        Column("event type"),
        Column("role"),
        *(Column(title, group=side) for side in ("gold", "predicted") for title in ("value", "event")[: 1 + several]),
        Column("result"),
    )
    rows = []
    for result, predicted, gold in _argument_rows(sample):
        values = (*_value_cells(gold, sample.gold, several), *_value_cells(predicted, sample.predicted, several))
        rows.append((*_name_cells(gold, predicted), *values, Name(result)))
    for event_type, result in _bare_types(sample):
        sides = [_NO_ARGUMENTS if event_type in side.types else "" for side in (sample.gold, sample.predicted)]
        cells = [part for text in sides for part in (text, "")[: 1 + several]]
        rows.append((Name(event_type), "", *cells, Name(result)))
    return _table(columns, rows, "argument")


def _error_rows(sample: SampleView) -> Iterator[tuple[str, Unit | None, Unit | None]]:
    """Error, predicted and gold unit; a pair, which both sides are blamed for, comes once."""
    named = {
        (stored_unit(error["unit"]), stored_unit(error["paired_with"]))
        for error in sample.record["errors"]
        if error["side"] == "predicted" and error["paired_with"] is not None
    }
    for error in sample.record["errors"]:
        unit = stored_unit(error["unit"])
        partner = None if error["paired_with"] is None else stored_unit(error["paired_with"])
        if error["side"] == "predicted":
            yield error["error"], unit, partner
        elif partner is None or (partner, unit) not in named:
            yield error["error"], partner, unit


def _argument_rows(sample: SampleView) -> Iterator[tuple[str, Unit | None, Unit | None]]:
    """Hits and errors in the order of gold; what only the prediction has, after those of the same type and role."""
    groups: dict[tuple[str, str], list[tuple[str, Unit | None, Unit | None]]] = {}
    place: dict[Unit, int] = {}  # in its group, in the order of gold
    for unit in sample.gold.units:
        group = groups.setdefault(unit[:2], [])
        place[unit] = len(place)
        if unit in sample.predicted.units:
            group.append((RIGHT, unit, unit))
    for pair in _error_rows(sample):
        groups.setdefault((pair[2] or pair[1] or ("", ""))[:2], []).append(pair)  # one of the two is there
    for rows in groups.values():
        yield from sorted(rows, key=lambda row: len(place) if row[2] is None else place[row[2]])


def _bare_types(sample: SampleView) -> Iterator[tuple[str, str]]:
    """Event types of which one side has no argument, and what that comes to."""
    gold, predicted = sample.record["gold"], sample.record["predicted"]
    for event_type in {**gold, **predicted}:
        if gold.get(event_type) or predicted.get(event_type):
            continue
        both = event_type in gold and event_type in predicted
        yield event_type, RIGHT if both else "missing" if event_type in gold else "spurious"


def _unit_cells(unit: Unit | None, side: Side) -> tuple[Cell, Cell]:
    return ("", "") if unit is None else (Name(unit_label(unit)), limit_length(side.text(unit)))


def _name_cells(gold: Unit | None, predicted: Unit | None) -> tuple[Cell, Cell]:
    """The type and the role of gold, and what they were predicted as where that is another."""
    one = gold or predicted
    assert one is not None  # a row is of one of the two
    other = predicted or one
    return tuple(  # type: ignore[return-value]  # two
        Name(here) if here == there else f"{here} (predicted: {there})"
        for here, there in zip(one[:2], other[:2], strict=True)
    )


def _value_cells(unit: Unit | None, side: Side, with_events: bool) -> tuple[Cell, ...]:
    written = side.units.get(unit) if unit is not None else None
    text = "" if unit is None else limit_length(side.text(unit))
    events = ", ".join(map(str, written.events[:9])) if written is not None else ""
    return (text, events) if with_events else (text,)


def _table(columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]], thing: str) -> tuple[Block, ...]:
    table = Table(columns, tuple(rows[:MOST_ROWS]))
    more = len(rows) - MOST_ROWS
    return (table,) if more <= 0 else (table, Paragraph(f"And {count_text(more, f'more {thing}')}."))


READ, REPAIR, LEFT_OUT, THOUGHT = "read", "repair", "left out", "thought"

_PREDICTION_MISSING = "The prediction is not there any more, or has changed since."
_NO_PLACES = "Where each repair was made is not known: the protocol is not there any more, or has changed since."
_READ_DIFFERENTLY = (
    "This version of goldgate reads the answer otherwise than the report did, so repairs are not marked."
)


def answer_blocks(sample: SampleView) -> tuple[Block | MarkedText, ...]:
    """The answer and how it was read."""
    parse = sample.record["parse"]
    if parse is None:
        return (Paragraph("There is no prediction for this sample."),)
    blocks: list[Block | MarkedText] = [_reading_pairs(sample)]
    if not sample.has_prediction:
        return (*blocks, Paragraph(_PREDICTION_MISSING))
    if sample.response is None:
        text = orjson.dumps(sample.events, option=orjson.OPT_INDENT_2).decode()
        return (*blocks, marked_text(text, ()))
    if parse["repairs"] and sample.parsed is None:
        blocks.append(Paragraph(_READ_DIFFERENTLY if sample.read_otherwise else _NO_PLACES))
    notes = ["The response is empty."] if not sample.response else []
    if sample.parsed is not None and len(sample.parsed.places) >= MOST_PLACES:
        notes.append(f"Of the repairs about {MOST_PLACES:,} are marked.")
    blocks.append(marked_text(sample.response, _answer_marks(sample, sample.response), notes))
    if sample.parsed is not None and sample.parsed.places:
        blocks.append(_repair_table(sample.parsed))
    return tuple(blocks)


def _reading_pairs(sample: SampleView) -> LabelList:
    parse = sample.record["parse"]
    rows = [
        LabelRow("read", (f"{parse['status']}: {STATUS_MEANINGS.get(parse['status'], '')}",)),
        LabelRow("found", (f"{parse['method']}: {METHOD_MEANINGS.get(parse['method'], '')}",)),
    ]
    if parse["repairs"]:
        rows.append(LabelRow("repairs", tuple(parse["repairs"])))
    reasons = dict.fromkeys(entry["reason"] for entry in parse["left_out"])
    if reasons:
        rows.append(LabelRow("left out", tuple(f"{reason}: {REASON_MEANINGS.get(reason, '')}" for reason in reasons)))
    return LabelList(tuple(rows))


def _answer_marks(sample: SampleView, response: str) -> Iterator[Mark]:
    parse = sample.record["parse"]
    if parse["start"] is not None:
        wrong = "not decoded" if parse["status"] == Status.ERROR else ""
        yield Mark(parse["start"], parse["end"], READ, "read as the answer", wrong)
    for entry in parse["left_out"]:
        yield Mark(entry["start"], entry["end"], LEFT_OUT, entry["reason"])
    if sample.parsed is not None:
        for place in sample.parsed.places:
            yield Mark(place.at, place.at + 1, REPAIR, str(place.step))
    if parse["thought"] != ThoughtState.NONE and sample.reader is not None:
        for start, end in _thought_spans(sample, response):
            yield Mark(start, end, THOUGHT, "thought")


def _thought_spans(sample: SampleView, response: str) -> Iterator[tuple[int, int]]:
    """Where the thoughts stand, without the prefix that the prompt holds."""
    assert sample.reader is not None  # asked before
    prompted = sample.reader.form.prefixed(response)
    before = len(prompted) - len(response)
    thoughts = cut_thoughts(prompted, sample.reader.settings.response.thought_tags)
    tail = () if thoughts.tail is None else ((thoughts.tail, len(prompted)),)
    for start, end in (*thoughts.spans, *tail):
        if end > before and end > start:
            yield max(0, start - before), end - before


def _repair_table(parsed: Parsed) -> Table:
    """Each step with what it means and how often it was done."""
    steps = Counter(place.step for place in parsed.places)
    rows = tuple((Name(str(step)), STEP_MEANINGS[step], MeasuredValue(count)) for step, count in sorted(steps.items()))
    return Table((Column("repair"), Column("what was done"), Column("times")), rows)


_NO_GOLD = "The gold record is not there any more, or has changed since: its text is not shown."
_NO_TEXT = "The gold record has no source text."


def sample_page(record: Mapping[str, Any], given: Mapping[str, Any]) -> UnitPage:
    """Errors first, then the texts that explain them. A paragraph says what is missing now."""
    sample = view_sample(record, given)
    sections = [UnitSection(title, blocks) for title, blocks in _sections(sample) if blocks]
    return UnitPage(record["id"], tuple(sections))


def _sections(sample: SampleView) -> Iterator[tuple[str, tuple[Block | MarkedText, ...]]]:
    record = sample.record
    yield "Result", (Paragraph(sample_summary(record).word or "Nothing went wrong."),)
    unread = record["parse"] is None or record["parse"]["status"] == Status.ERROR
    yield "Answer", answer_blocks(sample) if unread else ()  # it explains all the rest
    yield "Errors", error_table(sample) if record["errors"] else ()
    yield "Source text", (_source_block(sample),)
    yield "Arguments", argument_table(sample) if record["gold"] or record["predicted"] else ()
    yield "Answer", () if unread else answer_blocks(sample)
    yield "Thought", _thought_blocks(sample)
    yield "Unsupported values", _unsupported_blocks(record["hallucination"])
    yield "Not in the expected form", _violation_blocks(record["violations"])


def _source_block(sample: SampleView) -> Block | MarkedText:
    if sample.gold_record is None:
        return Paragraph(_NO_GOLD)
    if not sample.gold_record.text:
        return Paragraph(_NO_TEXT)
    return marked_source(sample, sample.gold_record.text)


def _thought_blocks(sample: SampleView) -> tuple[Block | MarkedText, ...]:
    """The thought with the predicted values that it names, and what was found about it."""
    thought = sample.parsed.thought.strip() if sample.parsed is not None else ""
    blocks: list[Block | MarkedText] = [marked_thought(sample, thought)] if thought else []
    check = sample.record["cot"]
    if check is not None:
        blocks.append(LabelList(tuple(_thought_check_pairs(check))))
    return tuple(blocks)


def _thought_check_pairs(check: Mapping[str, Any]) -> Iterator[LabelRow]:
    yield LabelRow("check", (check["bucket"],))
    if check["mentioned"] is None:
        return
    yield LabelRow("types it names", (*check["mentioned"],) or ("none",))
    yield LabelRow("types as in the answer", ("yes" if check["type_consistent"] else "no",))
    missing = check["missing"]
    first = "" if missing is None else f": the first that it does not name is {' · '.join(missing[:2])} “{missing[2]}”"
    yield LabelRow(
        "arguments as in the answer", (("yes" if check["argument_consistent"] else "no") + limit_length(first),)
    )
    if check["copied"]:
        yield LabelRow("copied", ("the thought is the answer over again",))


def _unsupported_blocks(check: Mapping[str, Any] | None) -> tuple[Block, ...]:
    if check is None or not check["unsupported"]:
        return ()
    columns = (Column("event type"), Column("role"), Column("value"))
    rows = [(Name(event_type), Name(role), limit_length(text)) for event_type, role, text in check["unsupported"]]
    return (Table(columns, tuple(rows[:MOST_ROWS])),)


def _violation_blocks(violations: list[Mapping[str, Any]]) -> tuple[Block, ...]:
    rows = tuple((Name(entry["violation"]), Name(limit_length(entry["path"]))) for entry in violations[:MOST_ROWS])
    return (Table((Column("violation"), Column("path")), rows),) if rows else ()
