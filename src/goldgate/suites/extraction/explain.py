"""A sample of a stored report, explained: its record, what it was made from, and its answer read once more.

`sample_page` shows it with text, answer and errors; here are the sample itself, its summary in a list, its boundary
errors for people to judge, and answers read without gold, for `goldgate read`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar, cast

import orjson

from goldgate.core.page import confusion_label, count_text
from goldgate.core.suite import Options, Plan
from goldgate.core.unit_page import UnitSummary
from goldgate.core.value_text import Blanks
from goldgate.errors import InputError, Place
from goldgate.report.answers_text import SHOWN_ITEMS, AnswerReader, ShownAnswer, short_name, value_lines
from goldgate.report.escape import display_width, shorten, visible
from goldgate.report.text import DEFAULT_COLUMNS, INDENT, more_line
from goldgate.response import Parsed
from goldgate.response.parsed import Method, ThoughtState
from goldgate.response.reading_report import AnswerView, answer_facets, describe_unread, thought_spans
from goldgate.suites.extraction.events import Events, Span, Unit, Violation, empty_events, event_list
from goldgate.suites.extraction.events.answer_form import NO_EVENT
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.match import Mistake
from goldgate.suites.extraction.measures import confused_bare_types
from goldgate.suites.extraction.page import CONFUSED
from goldgate.suites.extraction.records import Facts, Gold, Sample, StoredAnswer, parse_gold, parse_prediction
from goldgate.suites.extraction.scorer import Score, Scorer, count_bare_types
from goldgate.suites.extraction.settings import ExtractionSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import ParseRecord, RoleArgument, SampleRecord

Parts = TypeVar("Parts")


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
    """What a page shows. `gold_record` is None where it is not known any more."""

    record: SampleRecord
    gold_record: Gold | None
    answer: AnswerView
    gold: SideUnits
    predicted: SideUnits
    wrong: Mapping[tuple[str, Unit], str]  # side and unit → error
    triggers: Mapping[str, dict[tuple[str, str], None]]  # side → type and trigger of events whose type has no arguments
    blanks: Blanks = "remove"


def make_reader(settings: ExtractionSettings, schema: EventSchema | None = None) -> Scorer:
    """What reads an answer once more. The schema has no part in that, only in reading flat gold."""
    plain = replace(
        settings, schema=replace(settings.schema, mode="syntax_only"), cot=replace(settings.cot, enabled=False)
    )
    return Scorer(plain, schema)


def view_sample(record: SampleRecord, inputs: Mapping[str, Any]) -> SampleView:
    """The sample of a record. Whatever cannot be read any more is not there."""
    reader: Scorer | None = inputs.get("protocol")
    parse = partial(parse_gold, schema=None if reader is None else reader.schema)
    gold = _unless_changed(parse, inputs.get("gold"))
    if gold is not None and reader is not None:
        gold = reader.normalized(gold)
    answer = _unless_changed(parse_prediction, inputs.get("predictions"))
    facts: Facts | None = None
    if answer is not None and reader is not None:
        types = Events({name: {} for name in record["gold"]}, [], [], [])  # no more of gold has a part in reading
        facts = reader.facts(Sample(Gold("", None, types), *answer))
    changed = facts is not None and facts.parsed is not None and not _reads_as_before(facts.parsed, record["parse"])
    return _make_view(record, gold, answer, None if changed else facts, reader, parse_changed=changed)


def view_score(score: Score) -> SampleView:
    """The sample of a score, which knows all that it was made from."""
    sample, facts = score.facts.sample, score.facts
    answer = None if facts.parsed is None else StoredAnswer(sample.response, sample.events, sample.key)
    return _make_view(cast("SampleRecord", score.record), sample.gold, answer, facts, score.scorer)


def _make_view(
    record: SampleRecord,
    gold: Gold | None,
    answer: StoredAnswer | None,
    facts: Facts | None,
    reader: Scorer | None,
    *,
    parse_changed: bool = False,
) -> SampleView:
    """A view; `facts` are those of the answer, None where it is not read as it was when it was scored."""
    response, events, _ = answer or StoredAnswer()
    parsed, parse = None if facts is None else facts.parsed, record["parse"]
    thoughts: list[tuple[int, int]] = []
    if parse is not None and parse["thought"] != ThoughtState.NONE and reader is not None and response is not None:
        thoughts = thought_spans(response, reader.form.prefixed(response), reader.settings.response.thought_tags)
    left_out = [] if parse is None else [(part["start"], part["end"], part["reason"]) for part in parse["left_out"]]
    return SampleView(
        record,
        gold,
        AnswerView(parse, left_out, answer is not None, response, events, parsed, thoughts, parse_changed),
        _make_side(record["gold"], None if gold is None else gold.events),
        _make_side(record["predicted"], None if facts is None else facts.predicted),
        {(error["side"], stored_unit(error["unit"])): error["error"] for error in record["errors"]},
        {
            "gold": _triggers(record["gold"], None if gold is None else [*gold.event_list]),
            "predicted": _triggers(record["predicted"], events if parsed is None else parsed.value),
        },
        "remove" if reader is None else reader.settings.blanks,
    )


def stored_unit(stored: Sequence[str]) -> Unit:
    """A unit as a record has it, which is a list."""
    event_type, role, argument = stored
    return event_type, role, argument


def _unless_changed(parse: Callable[[Any], Parts], record: Any) -> Parts | None:
    """A record, parsed; None where it is gone, or was changed after scoring so that it cannot be read."""
    try:
        return None if record is None else parse(record)
    except InputError:
        return None


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
            written = units.get(value.unit)
            if written is None:
                continue
            if written.text is None:
                written.text = value.text
            if written.events[-1:] != [number]:
                written.events.append(number)
            if value.span is not None:
                written.spans.append(value.span)
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


def sample_summary(record: SampleRecord) -> UnitSummary:
    """Its weight is the number of errors, and one more for each of: no answer, violations, unsupported values."""
    parse, errors = record["parse"], record["errors"]
    violations = {entry["violation"] for entry in record["violations"]}
    unsupported = [] if record["hallucination"] is None else record["hallucination"]["unsupported"]
    names = _error_counts(record)
    facets, words, weight = answer_facets(parse), [], len(errors) + values_beyond_limits(record)
    if unread := describe_unread(parse):
        words.append(unread)
        weight += 1
        violations.discard(Violation.NOT_PARSED)  # it says the same
    if names:
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
        words += [] if names else [count_text(violation_count(record), "violation")]
    if unsupported:
        facets["unsupported values"] = ("yes",)
        weight += 1
        words += [] if names else [count_text(len(unsupported), "unsupported value")]
    hits, *events = cast("Mapping[str, Any]", record).get("units", {}).get("event", (0,))
    if not words and events and hits < max(events):
        words.append("every value is right, but not how they are grouped into events")
    _add_filter_names(facets, record)
    return UnitSummary(record["id"], "; ".join(words), weight, facets)


def values_beyond_limits(record: SampleRecord) -> int:
    """Values of an answer that are counted and not listed."""
    return record["beyond_limits"]["values"] if "beyond_limits" in record else 0


def violation_count(record: SampleRecord) -> int:
    """The number of violations, listed or not."""
    return sum(record["violation_counts"].values()) if "violation_counts" in record else len(record["violations"])


def _error_counts(record: SampleRecord) -> dict[str, int]:
    """How often each error was made: a pair of a predicted and a gold unit is one error."""
    predicted: dict[str, int] = {}
    gold: dict[str, int] = {}
    for error in record["errors"]:
        side, name = predicted if error["side"] == "predicted" else gold, error["error"]
        side[name] = side.get(name, 0) + 1
    for name, count in gold.items():
        if count > predicted.get(name, 0):
            predicted[name] = count
    if beyond := values_beyond_limits(record):
        predicted[Mistake.SPURIOUS] = predicted.get(Mistake.SPURIOUS, 0) + beyond
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
    if bare_types := confused_bare_types(record["gold"], record["predicted"]):
        yield confusion_label(*bare_types)


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
    if view.gold_record is None or view.answer.parse_changed:
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


def open_answer_reader(plan: Plan, options: Options) -> AnswerReader:
    """`goldgate read`: answers read as the scorer does, by the settings for responses; no others have a part in it."""
    return AnswerReader(_parse_answer, partial(_read_answer, make_reader(plan.settings)))


def _parse_answer(record: Any, data: bytes) -> Sample:
    response, events, key = parse_prediction(record)
    nothing = response is None and events is None  # stored as null
    return Sample(Gold("", None, empty_events()), "" if nothing else response, events, key, data or None)


def _read_answer(scorer: Scorer, identity: str | None, answer: Sample) -> ShownAnswer:
    facts = scorer.facts(answer)
    parsed = facts.parsed
    assert parsed is not None  # there is an answer
    type_from_gold = scorer.form.flat and scorer.form.event_type is None
    events: list[dict[str, Any]] = [
        {
            "event_type": None if type_from_gold and event_type == NO_EVENT else event_type,
            "arguments": [{"role": role, "argument": text} for role, text in zip(roles, texts, strict=True)],
        }
        for event_type, roles, texts, _, _ in facts.predicted.columns
    ]
    violations = facts.predicted.violations
    is_list = all(entry.violation != Violation.NOT_AN_EVENT_LIST for entry in violations)
    response = answer.response or ""
    return ShownAnswer(
        identity,
        response,
        parsed,
        (count_text(len(events), "event"), count_text(sum(len(event["arguments"]) for event in events), "argument")),
        partial(_event_lines, events) if is_list else partial(value_lines, response, parsed),
        # The status says it where an answer was not read at all.
        [(str(entry.violation), entry.path) for entry in violations if entry.violation != Violation.NOT_PARSED],
        {"events": events},
    )


def _event_lines(events: Sequence[dict[str, Any]]) -> list[str]:
    """Each event with its roles and values as they were written; the type is None where gold has it."""
    lines = ["Events"]
    for event in events[:SHOWN_ITEMS]:
        name = event["event_type"] or "one object; its event type is taken from gold"
        lines.append(shorten(f"{INDENT}{visible(name)}", DEFAULT_COLUMNS))
        roles = [short_name(argument["role"]) for argument in event["arguments"]]
        longest = max(map(display_width, roles), default=0)
        for role, argument in list(zip(roles, event["arguments"], strict=True))[:SHOWN_ITEMS]:
            start = f"    {role}{' ' * (longest - display_width(role))} = "
            lines.append(start + shorten(visible(argument["argument"]), DEFAULT_COLUMNS - display_width(start)))
        lines += more_line(len(roles) - SHOWN_ITEMS, INDENT * 2)
    if not events:
        lines.append(f"{INDENT}none")
    return [*lines, *more_line(len(events) - SHOWN_ITEMS, INDENT * 2)]
