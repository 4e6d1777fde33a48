"""The page of one sample: its errors, arguments, source text, answer and thought, with marks that explain them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from goldgate.core.finding import limit_length
from goldgate.core.page import (
    Block,
    Cell,
    Column,
    LabelList,
    LabelRow,
    Name,
    Paragraph,
    Table,
    count_text,
)
from goldgate.core.unit_page import (
    BOTH,
    GOLD,
    PREDICTED,
    RIGHT,
    MarkedText,
    MarkedValue,
    UnitPage,
    UnitSection,
    mark_values,
)
from goldgate.core.value_text import NormalizedText, normalizer
from goldgate.response.parsed import Status
from goldgate.response.reading_report import answer_blocks
from goldgate.suites.extraction.events import Unit
from goldgate.suites.extraction.explain import (
    SampleView,
    SideUnits,
    sample_summary,
    stored_unit,
    view_sample,
    violation_count,
)

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import (
        CotRecord,
        HallucinationRecord,
        SampleRecord,
    )

MAX_ROWS = 500
MAX_THOUGHT = 100_000  # characters in which values are looked for: five times as many as are on a page
_NO_ARGUMENTS = "(without arguments)"


def unit_label(unit: Unit) -> str:
    """An event type and a role, as they are shown together."""
    event_type, role, _ = unit
    return f"{event_type} · {role}"


def marked_source(sample: SampleView, text: str) -> MarkedText:
    """The source text with the values of both sides: at the offsets of gold where they are right, else wherever they
    are in it under the normalization of scoring."""
    normalized = NormalizedText(text, sample.blanks)
    values = [
        value._replace(spans=[span for span in value.spans if normalized.holds(span, value.normalized)])
        for value in _values(sample)
    ]
    return mark_values(normalized, values, named=True)


def marked_thought(sample: SampleView, thought: str) -> MarkedText:
    """A thought with the predicted values that it names."""
    values = [value._replace(spans=()) for value in _values(sample) if value.kind != GOLD]
    return mark_values(NormalizedText(thought, sample.blanks), values, named=False)


def _values(sample: SampleView) -> list[MarkedValue]:
    """The units of both sides, each once, errors first; of event types without arguments, their triggers."""
    gold, predicted, wrong = sample.gold, sample.predicted, sample.wrong
    values = [*_trigger_values(sample)]
    for unit, written in gold.units.items():
        kind = BOTH if unit in predicted.units else GOLD
        error = "" if kind == BOTH else wrong.get((GOLD, unit), "")
        values.append(MarkedValue(unit[2], gold.text(unit), kind, unit_label(unit), error, written.spans))
    for unit, written in predicted.units.items():
        if unit not in gold.units:
            error = wrong.get((PREDICTED, unit), "")
            text = predicted.text(unit)
            values.append(MarkedValue(unit[2], text, PREDICTED, unit_label(unit), error, written.spans))
    return sorted(values, key=lambda value: not value.wrong)


def _trigger_values(sample: SampleView) -> Iterator[MarkedValue]:
    gold, predicted = sample.triggers[GOLD], sample.triggers[PREDICTED]
    for event_type, trigger in {**gold, **predicted}:
        key = event_type, trigger
        kind = PREDICTED if key not in gold else BOTH if key in predicted else GOLD
        wrong = ""
        if kind == GOLD and event_type not in sample.predicted.types:
            wrong = "missing"
        elif kind == PREDICTED and event_type not in sample.gold.types:
            wrong = "spurious"
        if argument := normalizer(sample.blanks)(trigger):
            yield MarkedValue(argument, trigger, kind, unit_label((event_type, "trigger", argument)), wrong)


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
    columns = (*map(Column, ("event type", "role", "gold", "predicted", "result")),)
    rows: list[tuple[Cell, ...]] = []
    for result, predicted, gold in _argument_rows(sample):
        unit = gold or predicted or ("", "", "")  # one of the two is there
        values = _value_text(gold, sample.gold), _value_text(predicted, sample.predicted, unit)
        rows.append((Name(unit[0]), Name(unit[1]), *values, Name(result)))
    for event_type, result in _bare_types(sample):
        sides = [_NO_ARGUMENTS if event_type in side.types else "" for side in (sample.gold, sample.predicted)]
        rows.append((Name(event_type), "", *sides, Name(result)))
    return _table(columns, rows, "argument", shared=3)


def _error_rows(sample: SampleView) -> Iterator[tuple[str, Unit | None, Unit | None]]:
    """Error, predicted and gold unit; a pair, which both sides are blamed for, comes once."""
    pairs = {
        (stored_unit(error["unit"]), stored_unit(error["paired_with"]))
        for error in sample.record["errors"]
        if error["side"] == "predicted" and error["paired_with"] is not None
    }
    for error in sample.record["errors"]:
        unit = stored_unit(error["unit"])
        partner = None if error["paired_with"] is None else stored_unit(error["paired_with"])
        if error["side"] == "predicted":
            yield error["error"], unit, partner
        elif partner is None or (partner, unit) not in pairs:
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


def _unit_cells(unit: Unit | None, side: SideUnits) -> tuple[Cell, Cell]:
    return ("", "") if unit is None else (Name(unit_label(unit)), limit_length(side.text(unit)))


def _value_text(unit: Unit | None, side: SideUnits, row: Unit | None = None) -> str:
    """The value; with its events, where the side has several of the type, and as what it stands in another row."""
    if unit is None:
        return ""
    written = side.units.get(unit)
    events = ", ".join(map(str, written.events[:9])) if written is not None and side.events.get(unit[0], 0) > 1 else ""
    more = [f"as {unit_label(unit)}"] if row is not None and row[:2] != unit[:2] else []
    more += [f"event {events}"] if events else []
    return limit_length(side.text(unit)) + (f" ({', '.join(more)})" if more else "")


def _table(
    columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]], thing: str, shared: int = 0
) -> tuple[Block, ...]:
    table = Table(columns, tuple(rows[:MAX_ROWS]), shared=shared)
    more = len(rows) - MAX_ROWS
    return (table,) if more <= 0 else (table, Paragraph(f"And {count_text(more, f'more {thing}')}."))


_NO_GOLD = "The gold record is gone or has changed; its text is not shown."
_ERRORS = "Errors"  # the table of arguments has them too
_NO_TEXT = "The gold record has no source text."


def sample_page(record: SampleRecord, inputs: Mapping[str, Any]) -> UnitPage:
    """Errors first, then the texts that explain them. A paragraph says what is missing now."""
    return page_of_view(view_sample(record, inputs))


def page_of_view(sample: SampleView) -> UnitPage:
    """The page of a sample that was looked up already."""
    sections = [UnitSection(title, blocks, title != _ERRORS) for title, blocks in _sections(sample) if blocks]
    return UnitPage(sample.record["id"], tuple(sections))


def _sections(sample: SampleView) -> Iterator[tuple[str, tuple[Block | MarkedText, ...]]]:
    record = sample.record
    yield "Result", (Paragraph(sample_summary(record).word or "No errors."),)
    unread = record["parse"] is None or record["parse"]["status"] == Status.ERROR
    yield "Answer", answer_blocks(sample.answer) if unread else ()  # it explains all the rest
    yield _ERRORS, error_table(sample) if record["errors"] else ()
    yield "Source text", (_source_block(sample),)
    yield "Arguments", argument_table(sample) if record["gold"] or record["predicted"] else ()
    yield "Answer", () if unread else answer_blocks(sample.answer)
    yield "Thought", _thought_blocks(sample)
    yield "Unsupported values", _unsupported_blocks(record["hallucination"])
    yield "Not in the expected form", _violation_blocks(record)


def _source_block(sample: SampleView) -> Block | MarkedText:
    if sample.gold_record is None:
        return Paragraph(_NO_GOLD)
    if not sample.gold_record.text:
        return Paragraph(_NO_TEXT)
    return marked_source(sample, sample.gold_record.text)


def _thought_blocks(sample: SampleView) -> tuple[Block | MarkedText, ...]:
    """The thought with the predicted values that it names, and what was found about it."""
    thought = sample.answer.parsed.thought.strip() if sample.answer.parsed is not None else ""
    blocks: list[Block | MarkedText] = [marked_thought(sample, thought[:MAX_THOUGHT])] if thought else []
    if len(thought) > MAX_THOUGHT:
        blocks.append(Paragraph(f"Of the thought, the first {MAX_THOUGHT:,} characters are read here."))
    check = sample.record["cot"]
    if check is not None:
        blocks.append(LabelList(tuple(_thought_check_pairs(check))))
    return tuple(blocks)


def _thought_check_pairs(check: CotRecord) -> Iterator[LabelRow]:
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
        yield LabelRow("copied", ("the thought repeats the answer",))


def _unsupported_blocks(check: HallucinationRecord | None) -> tuple[Block, ...]:
    if check is None or not check["unsupported"]:
        return ()
    columns = (Column("event type"), Column("role"), Column("value"))
    rows = [(Name(event_type), Name(role), limit_length(text)) for event_type, role, text in check["unsupported"]]
    return (Table(columns, tuple(rows[:MAX_ROWS])),)


def _violation_blocks(record: SampleRecord) -> tuple[Block, ...]:
    violations = record["violations"][:MAX_ROWS]
    rows = tuple((Name(entry["violation"]), Name(limit_length(entry["path"]))) for entry in violations)
    more = violation_count(record) - len(rows)
    rest = (Paragraph(f"And {count_text(more, 'more violation')}."),) if more > 0 else ()
    return (Table((Column("violation"), Column("path")), rows), *rest) if rows else ()
