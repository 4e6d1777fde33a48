"""A sample of a stored report, explained: its record, what it was made from, and its answer read once more.

`page` shows it with text, answer and errors; here are the sample itself and its summary in a list.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, cast

import orjson

from goldgate.core.page import confusion_label, count_text
from goldgate.core.suite import Options
from goldgate.core.unit_page import UnitSummary
from goldgate.errors import InputError, Place
from goldgate.response import Parsed
from goldgate.response.answer_page import answer_facets, describe_unread
from goldgate.response.parsed import Method
from goldgate.suites.extraction.events.event import Events, Span, Unit, Value, Violation, event_list
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.match import Mistake
from goldgate.suites.extraction.page import CONFUSED
from goldgate.suites.extraction.records import parse_gold, parse_prediction
from goldgate.suites.extraction.sample import Gold, Sample
from goldgate.suites.extraction.scorer import Score, Scorer, count_bare_types
from goldgate.suites.extraction.settings import ExtractionSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import NamedError, ParseRecord, RoleArgument, SampleRecord


@dataclass(slots=True)
class WrittenUnit:
    """A unit as one side wrote it first, the numbers of the events that have it, within its type, and its offsets."""

    text: str | None = None
    events: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)


class SideUnits(NamedTuple):
    """The units of gold or of the answer as they were scored, with how they were written as far as that is known."""

    units: dict[Unit, WrittenUnit]
    types: tuple[str, ...]
    events: Mapping[str, int]  # how many of each type

    def text(self, unit: Unit) -> str:
        """The value as it was written, or else in its comparable form."""
        written = self.units.get(unit)
        return unit[2] if written is None or written.text is None else written.text


class SampleView(NamedTuple):
    """What a page shows. `gold_record` and `parsed` are None where they are not known any more."""

    record: SampleRecord
    gold_record: Gold | None
    has_prediction: bool  # whether it is known; the record says whether there was one
    response: str | None
    events: list[Any] | None  # of a structured prediction
    parsed: Parsed | None
    reader: Scorer | None  # what reads answers as the protocol says
    gold: SideUnits
    predicted: SideUnits
    wrong: Mapping[tuple[str, Unit], str]  # side and unit → error
    triggers: Mapping[str, dict[tuple[str, str], None]]  # side → type and trigger of events whose type has no arguments
    parse_changed: bool = False  # the answer is not read as it was when it was scored


def make_reader(settings: ExtractionSettings, schema: EventSchema | None = None) -> Scorer:
    """What reads an answer once more. The schema has no part in that, only in reading flat gold."""
    plain = replace(
        settings, schema=replace(settings.schema, mode="syntax_only"), cot=replace(settings.cot, enabled=False)
    )
    return Scorer(plain, schema)


def view_sample(record: SampleRecord, inputs: Mapping[str, Any]) -> SampleView:
    """The sample of a record. Whatever cannot be read any more is not there."""
    reader: Scorer | None = inputs.get("protocol")
    gold = _gold(inputs.get("gold"), None if reader is None else reader.schema)
    answer = _answer(inputs.get("predictions"))
    parsed: Parsed | None = None
    predicted: Events | None = None
    if answer is not None and reader is not None:
        parsed, predicted = _read_again(record, reader, *answer)
    otherwise = parsed is not None and not _reads_as_before(parsed, record["parse"])
    if otherwise:
        parsed = predicted = None
    return _make_view(record, gold, answer, parsed, predicted, reader, otherwise)


def view_score(score: Score) -> SampleView:
    """The sample of a score, which knows all that it was made from."""
    sample, facts = score.facts.sample, score.facts
    answer = None if facts.parsed is None else (sample.response, sample.events)
    return _make_view(
        cast("SampleRecord", score.record), sample.gold, answer, facts.parsed, facts.predicted, score.scorer
    )


def _make_view(
    record: SampleRecord,
    gold: Gold | None,
    answer: tuple[str | None, list[Any] | None] | None,
    parsed: Parsed | None,
    predicted: Events | None,
    reader: Scorer | None,
    otherwise: bool = False,
) -> SampleView:
    response, events = answer or (None, None)
    return SampleView(
        record,
        gold,
        answer is not None,
        response,
        events,
        parsed,
        reader,
        _make_side(record["gold"], gold.events if gold is not None else None),
        _make_side(record["predicted"], predicted),
        {(error["side"], stored_unit(error["unit"])): error["error"] for error in record["errors"]},
        {
            "gold": _triggers(record["gold"], None if gold is None else [*gold.event_list]),
            "predicted": _triggers(record["predicted"], events if parsed is None else parsed.value),
        },
        otherwise,
    )


def stored_unit(stored: Sequence[str]) -> Unit:
    """A unit as a record has it, which is a list."""
    event_type, role, argument = stored
    return event_type, role, argument


def _gold(record: Any, schema: EventSchema | None) -> Gold | None:
    try:
        return None if record is None else parse_gold(record, schema=schema)
    except InputError:  # then the record was changed after scoring
        return None


def _answer(record: Any) -> tuple[str | None, list[Any] | None] | None:
    try:
        return None if record is None else parse_prediction(record)
    except InputError:
        return None


def _read_again(
    record: SampleRecord, reader: Scorer, response: str | None, events: list[Any] | None
) -> tuple[Parsed | None, Events]:
    """How the answer is read, and its events. Of gold only the types have a part in it."""
    types = Events({name: {} for name in record["gold"]}, [], [], [])
    facts = reader.facts(Sample(Gold("", None, types), response, events))
    return facts.parsed, facts.predicted


def _reads_as_before(parsed: Parsed, stored: ParseRecord | None) -> bool:
    if stored is None:
        return False
    if parsed.method == Method.STRUCTURED:
        return stored["method"] == Method.STRUCTURED
    place = (stored["start"], stored["end"], stored["status"], [*stored["repairs"]])
    return (parsed.start, parsed.end, parsed.status, [*map(str, parsed.repairs)]) == place


def _make_side(stored: Mapping[str, Sequence[RoleArgument]], events: Events | None) -> SideUnits:
    """The units of a record, in its order, with what the events say of them."""
    units = {(event_type, *pair): WrittenUnit() for event_type, pairs in stored.items() for pair in pairs}
    counted: dict[str, int] = {}
    for columns in events.columns if events is not None else ():
        event_type = columns[0]
        number = counted[event_type] = counted.get(event_type, 0) + 1
        for value in Events({}, [columns], [], []).values():
            _add_writing(units, value, number)
    return SideUnits(units, tuple(stored), counted)


def _triggers(stored: Mapping[str, Sequence[RoleArgument]], value: Any) -> dict[tuple[str, str], None]:
    """Where a type has no arguments, all that can be shown of its events is the words that name them."""
    events = event_list(value)
    triggers: dict[tuple[str, str], None] = {}
    for event in events.items if events is not None else ():
        if isinstance(event, dict):
            event_type, trigger = event.get("event_type"), event.get("trigger")
            if isinstance(event_type, str) and isinstance(trigger, str) and stored.get(event_type.strip()) == []:
                triggers[event_type.strip(), trigger] = None
    return triggers


def _add_writing(units: Mapping[Unit, WrittenUnit], value: Value, number: int) -> None:
    written = units.get(value.unit)
    if written is None:
        return
    if written.text is None:
        written.text = value.text
    if written.events[-1:] != [number]:
        written.events.append(number)
    if value.span is not None:
        written.spans.append(value.span)


def sample_summary(record: SampleRecord) -> UnitSummary:
    """Its weight is the number of errors, and one more for each of: no answer, violations, unsupported values."""
    parse, errors = record["parse"], record["errors"]
    violations = {entry["violation"] for entry in record["violations"]}
    unsupported = [] if record["hallucination"] is None else record["hallucination"]["unsupported"]
    facets, words, weight = answer_facets(parse), [], len(errors)
    if unread := describe_unread(parse):
        words.append(unread)
        weight += 1
        violations.discard(Violation.NOT_PARSED)  # it says the same
    if errors:
        names = _error_counts(errors)
        words.append(", ".join([f"{name} {count}" for name, count in names.items()]))
        facets["error"] = (*names,)
    confused = (*dict.fromkeys(_confusions(record)),)
    if confused:
        facets[CONFUSED] = confused
    spurious = count_bare_types(record["predicted"], record["gold"])
    missing = count_bare_types(record["gold"], record["predicted"])
    if spurious or missing:
        counts = (("spurious", spurious), ("missing", missing))
        words.append(", ".join([f"event type {word} {count}" for word, count in counts if count]))
        weight += spurious + missing
    if violations:
        facets["violation"] = (*sorted(violations),)
        weight += 1
        words += [] if errors else [count_text(len(record["violations"]), "violation")]
    if unsupported:
        facets["unsupported values"] = ("yes",)
        weight += 1
        words += [] if errors else [count_text(len(unsupported), "unsupported value")]
    _add_filter_names(facets, record)
    return UnitSummary(record["id"], "; ".join(words), weight, facets)


def _error_counts(errors: list[NamedError]) -> dict[str, int]:
    """How often each error was made: a pair of a predicted and a gold unit is one error."""
    predicted: dict[str, int] = {}
    gold: dict[str, int] = {}
    for error in errors:
        side, name = predicted if error["side"] == "predicted" else gold, error["error"]
        side[name] = side.get(name, 0) + 1
    for name, count in gold.items():
        if count > predicted.get(name, 0):
            predicted[name] = count
    return predicted


def _confusions(record: SampleRecord) -> Iterator[str]:
    """What was taken for what, as the report's confusions have it."""
    for error in record["errors"]:
        if error["side"] == "predicted" and error["paired_with"] is not None:
            (predicted_type, predicted_role, _), (gold_type, gold_role, _) = error["unit"], error["paired_with"]
            if error["error"] == Mistake.WRONG_TYPE:
                yield confusion_label(gold_type, predicted_type)
            elif error["error"] == Mistake.WRONG_ROLE:
                yield confusion_label(gold_role, predicted_role, gold_type)
    gold, predicted = record["gold"], record["predicted"]
    missing = [name for name, pairs in gold.items() if not pairs and name not in predicted]
    extra = [name for name, pairs in predicted.items() if not pairs and name not in gold]
    if len(missing) == len(extra) == 1:
        yield confusion_label(missing[0], extra[0])


def _add_filter_names(facets: dict[str, tuple[str, ...]], record: SampleRecord) -> None:
    """The event types and roles of both sides."""
    sides = record["gold"], record["predicted"]
    types = {name: None for side in sides for name in side}
    if types:
        facets["event type"] = (*types,)
    roles = {role: None for side in sides for pairs in side.values() for role, _ in pairs}
    if roles:
        facets["role"] = (*roles,)


class BoundaryItem(TypedDict):
    """A boundary error for people and judges: would they accept what was predicted?"""

    id: str  # sample/digest of both arguments
    group: str  # that of the sample, or the sample
    event_type: str
    role: str
    gold: str
    predicted: str
    text: str | None  # of the sample


def boundary_items(record: SampleRecord, inputs: Mapping[str, Any], options: Options) -> Iterator[BoundaryItem]:
    """The pairs of arguments in a sample that match only if their boundaries need not be the same."""
    pairs: dict[tuple[Unit, Unit], None] = {}  # predicted and gold: each side may list the pair
    for error in record["errors"]:
        if error["error"] == Mistake.BOUNDARY and error["paired_with"] is not None:
            unit, other = stored_unit(error["unit"]), stored_unit(error["paired_with"])
            pairs[(unit, other) if error["side"] == "predicted" else (other, unit)] = None
    if not pairs:
        return
    view = view_sample(record, inputs)
    if view.gold_record is None or view.parse_changed:
        raise InputError(
            "items.no_inputs",
            "the gold or the answer of a sample is gone, or has changed since it was scored",
            place=Place(f"the sample {record['id']}"),
            advice="score it again",
        )
    for predicted, gold in pairs:
        digest = blake2b(orjson.dumps([predicted, gold]), digest_size=6).hexdigest()
        yield {
            "id": f"{record['id']}/{digest}",
            "group": view.gold_record.group or record["id"],
            "event_type": gold[0],
            "role": gold[1],
            "gold": view.gold.text(gold),
            "predicted": view.predicted.text(predicted),
            "text": view.gold_record.text,
        }
