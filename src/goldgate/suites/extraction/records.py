"""Gold and prediction records turned into samples, every mistake with its field; and the facts that measures share.

An error raised here has the field; the caller that read the record adds the file and the line. An answer may also come
as chat messages, as reward functions get them. By the fingerprints of their texts copies of a document are found: they
make every interval narrower than it is.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

from goldgate.core.finding import share_percent
from goldgate.core.tally import MAX_KEPT, Tally
from goldgate.core.value_text import ASCII_SIGNS, Haystack, normalize
from goldgate.errors import InputError, Place, describe_value
from goldgate.readers.dialects import nearest_dialect_advice
from goldgate.readers.guess import SWAPPED_ADVICE, describe_keys, no_answer_error
from goldgate.readers.layouts import chat
from goldgate.readers.layouts.chat import body_text, is_chat, read_chat, read_response
from goldgate.readers.records import record_group
from goldgate.response import Parsed
from goldgate.response.strings import lazy_pattern
from goldgate.suites.extraction.events import (
    EventList,
    Events,
    Value,
    Violation,
    ViolationPlace,
    empty_events,
    read_events,
)
from goldgate.suites.extraction.events.answer_form import CANONICAL, NOT_ROLES, Form, gold_form, gold_shapes
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.match import NamedMistake, UnitMatches

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import CotRecord, TextCounts


@dataclass(slots=True)
class Gold:
    """A gold record: its id, its source text (None if it has none), its events, its group."""

    id: str
    text: str | None
    events: Events
    group: str | None = None  # records that belong together count as one in intervals
    event_list: Sequence[Any] = ()  # the events in our own form: profiles look for triggers in it
    shapes: tuple[str, ...] = ()  # other than our own, in which the record was written


@dataclass(slots=True)
class Sample:
    """Gold and what a model answered. Without a prediction both `response` and `events` are None."""

    gold: Gold
    response: str | None = None
    events: Any = None  # the decoded JSON of a structured prediction
    key: str | None = None  # of the record, if that has these events under a key of its own
    source: bytes | None = None  # the line that a structured prediction was decoded from
    thought: str = ""  # stored beside the response, as chat messages have it


# Text, chat messages, an endpoint's reply, decoded JSON, or None for no answer.
ResponseInput = str | list[Any] | tuple[Any, ...] | Mapping[str, Any] | None


def make_sample(response: ResponseInput, gold: Gold) -> Sample:
    """A sample of an answer as a caller has it, or of a record whose `response` it is; TypeError otherwise."""
    if isinstance(response, Mapping) and "response" in response:
        response = response["response"]
    if isinstance(response, Mapping) and chat.is_chat_record(response):
        if "messages" not in response:  # the whole reply of an endpoint
            return Sample(gold, body_text(response))
        response = response["messages"]
    if response is None or isinstance(response, str):
        return Sample(gold, response)
    if is_chat(response):
        answer = read_chat(response)
        return Sample(gold, answer.response, thought=answer.thought)
    if not isinstance(response, (list, dict)):
        raise TypeError(f"an answer is text, chat messages, decoded JSON or None, not {type(response).__name__}")
    return Sample(gold, None, response)


@dataclass(slots=True)
class Facts:
    """What one sample's answer says, and how it compares with its gold: what every measure counts."""

    sample: Sample
    parsed: Parsed | None  # None where there is no prediction
    predicted: Events
    comparison: UnitMatches
    text: Haystack | None = None  # None where there is no source text
    checked: int = 0  # distinct values that were looked for in the text
    unsupported: Sequence[Value] = ()
    mistakes: Sequence[NamedMistake] = ()
    thought: CotRecord | None = None  # how the thought compares with the answer, where that is checked


_UNIT_BITS = 32
_LEAST_ARGUMENTS = 3  # in gold without a text: documents with fewer may well have the same ones
# Characters that are not seen, although they count as printable: fillers of Hangul, as normalized, the empty pattern of
# Braille, and selectors of variants.
_UNSEEN = lazy_pattern("[\u034f\u115f\u1160\u180b-\u180f\u2800\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SEEN = lazy_pattern(r"[!-~\u4e00-\u9fff]*")  # only these, as most texts have: one look instead of two


def text_fingerprint(facts: Facts) -> int | None:
    """A number for the text of a sample and the unit that has it; None where there is too little to compare.

    Texts are compared by their letters and digits, normalized. Where gold has no text, its arguments are compared.
    Copies in one group are in one unit, and do no harm. The report's `reading.texts` is a sample of these numbers.
    """
    letters = _gold_letters(facts)
    if not letters:
        return None
    gold = facts.sample.gold
    text = crc32(letters) << 32 | len(letters) & 0xFFFFFFFF
    unit = crc32((gold.id if gold.group is None else gold.group).encode("utf-8", "replace"))
    return text << _UNIT_BITS | unit


GOLD_NOT_IN_TEXT = Fraction(1, 20)  # of gold's values: more is a warning


def gold_not_in_text_message(missing: int, values: int) -> str | None:
    """The warning where too many of gold's own values are not in its texts; None where few are missing."""
    if missing <= GOLD_NOT_IN_TEXT * values:
        return None
    share = share_percent(missing, values)
    return f"{missing} of {values} gold arguments ({share}) are not in the text of their record"


def text_counts(tally: Tally) -> TextCounts:
    """Different texts, the units that have them, and what of both is copies; of very many texts those of a sample."""
    pairs = tally.fingerprints.kept
    by_text = Counter(pair >> _UNIT_BITS for pair in pairs)
    copies = [units for units in by_text.values() if units > 1]
    return {
        "distinct": len(by_text),
        "units": len(pairs),
        "repeated": len(copies),
        "repeated_units": sum(copies),
        "is_sample": len(pairs) >= MAX_KEPT,
    }


def _gold_letters(facts: Facts) -> bytes:
    """The part of a sample's gold by which copies of samples are found; empty if it is too short."""
    gold = facts.sample.gold
    if gold.text:
        letters = _letters(normalize(gold.text) if facts.text is None else facts.text.normalized)
        if letters:
            return letters
    arguments = sorted("\0".join((name, *pair)) for name, pairs in gold.events.units.items() for pair in pairs)
    return "\1".join(arguments).encode("utf-8", "replace") if len(arguments) >= _LEAST_ARGUMENTS else b""


def _letters(text: str) -> bytes:
    """A normalized text without marks, which are ASCII by then, and without what is not seen."""
    if not text.isascii() and not _SEEN.fullmatch(text):
        text = "".join(filter(str.isprintable, _UNSEEN.sub("", text)))
    return text.encode("utf-8", "replace").translate(None, ASCII_SIGNS)  # of ASCII, also what is not printable


# Gold may hold numbers and nulls where a prediction should not: they give units, or none.
TOLERATED_IN_GOLD = frozenset({Violation.VALUE_NUMBER, Violation.VALUE_NULL})

_LISTED_KEYS = 8  # of an event, in an error
_ARGUMENT_NAMES = frozenset({"args", "argument", "arg", "roles", "participants", "slots", "entities"})
_ABSENT = object()
_STEP = lazy_pattern(r'\.([^.\[]+)|\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]')  # of a JSON path

_EXPECTED = {
    "events_not_list": "a list of events (empty if there are none)",
    "offsets_invalid": "two integers, 0 <= start < end",
    Violation.EVENT_NOT_OBJECT: "an object",
    Violation.EVENT_TYPE_INVALID: "a string that is not empty",
    Violation.ARGUMENTS_NOT_LIST: "a list (empty if there are no arguments), or an object from roles to values",
    Violation.ARGUMENT_NOT_OBJECT: "an object with role and argument",
    Violation.ROLE_INVALID: "a string that is not empty",
    Violation.VALUE_MISSING: 'the value, under "argument"',
    Violation.VALUE_INVALID: "a string, a number, or a list of these",
}


# What a record in another shape than ours breaks, as it stands.
_LAYOUT = frozenset({Violation.EVENT_TYPE_INVALID, Violation.ARGUMENTS_NOT_LIST})


def parse_gold(
    record: Mapping[str, Any], identity: str = "", source: bytes | None = None, schema: EventSchema | None = None
) -> Gold:
    """A gold record; the first mistake in it is an InputError. Without an `identity`, its own id is taken.

    `source` is the line it was decoded from. Flat events, whose roles are keys of the event itself, are read by the
    roles of `schema`.
    """
    if not isinstance(record, Mapping):
        raise _not_a_record(record)
    identity = identity or str(record.get("id", ""))
    read = read_gold(record, source, schema)
    if read.events.violations or read.events.bad_offsets or type(record.get("events")) is not list:
        problems = gold_problems(record, read.events)
        if problems:
            raise gold_error(*problems[0], record, schema)
    text = record.get("text")
    if "title" in record:
        text = source_text(record)
    if text is not None and type(text) is not str:
        raise InputError(
            "gold.wrong_type",
            "the source text is not text",
            place=Place(field="text"),
            expected="a string",
            found=describe_value(text),
        )
    group = record_group(record) if "group" in record else None
    return Gold(identity, text or None, read.events, group, read.event_list, read.shapes)


def source_text(record: Mapping[str, Any]) -> Any:
    """The text that offsets refer to. In DuEE-Fin files it is the title, a new line, and the text."""
    text = record.get("text")
    title = record.get("title")
    if type(title) is str and type(text) is str:
        return f"{title}\n{text}"
    return text


def events_key(record: Mapping[str, Any]) -> str:
    """The key under which a record has its events: `events`, or `event_list` where that says nothing."""
    if "event_list" in record and record.get("events") is None:
        return "event_list" if "events" not in record or record["event_list"] is not None else "events"
    return "events"


class GoldEvents(NamedTuple):
    """The events of a gold record with whatever is wrong with them, and its list of them under our own names."""

    events: Events
    renamed: list[Any]  # in another shape, a role without a value is an argument with an empty text
    shapes: tuple[str, ...] = ()  # other than our own, in which the record was written: flat, mapping, type
    form: Form = CANONICAL
    record: Mapping[str, Any] | None = None  # of which these are the events, in another shape

    @property
    def event_list(self) -> list[Any]:
        """The events in our own form; a role for which an object has no value is left out."""
        return [_without_empty_roles(event) for event in self.renamed] if self.shapes else self.renamed

    def field(self, path: str) -> str:
        """The path in the stored record for a path in `renamed`, such as events[0].arguments[1].role."""
        return path if self.record is None else self.form.path_in(self.record, f"$.{path}").removeprefix("$.")


def read_gold(record: Mapping[str, Any], source: bytes | None, schema: EventSchema | None = None) -> GoldEvents:
    """The events of a gold record, in our own form or in another shape; errors name paths of the stored record."""
    key = events_key(record)
    items = record.get(key)
    if type(items) is not list:
        return GoldEvents(empty_events(), [])
    events = read_events(EventList(items, f"$.{key}[*]"), source)
    if _LAYOUT.isdisjoint([place.violation for place in events.violations]):
        return GoldEvents(events, items)
    form = gold_form(None if schema is None else schema.roles)
    shapes = {shape for item in items for shape in gold_shapes(item, form)}
    if not shapes:
        return GoldEvents(events, items)

    def to_canonical(value: Any) -> Any:
        return form.to_canonical({key: value[key]}) if isinstance(value, Mapping) else None

    renamed = to_canonical(record)["events"]
    read = GoldEvents(
        read_events(EventList(renamed, "$.events[*]"), source, None, to_canonical),
        renamed,
        tuple(sorted(shapes)),
        form,
        {key: items},
    )
    read.events.violations = [
        ViolationPlace(what, "$." + read.field(path[2:])) for what, path in read.events.violations
    ]
    read.events.bad_offsets = ["$." + read.field(path[2:]) for path in read.events.bad_offsets]
    return read


def with_own_event_form(record: Mapping[str, Any], schema: EventSchema | None) -> Mapping[str, Any]:
    """A gold record with its events in our own form; the record itself where they are."""
    read = read_gold(record, None, schema)
    return {**record, events_key(record): read.event_list} if read.shapes else record


def _without_empty_roles(event: Any) -> Any:
    """An event without the roles for which an object has nothing, which was read as an empty text."""
    if not isinstance(event, dict) or not isinstance(event.get("arguments"), list):
        return event
    arguments = [without_empty_texts(argument) for argument in event["arguments"]]
    return {**event, "arguments": [each for each in arguments if each is not None]}


def without_empty_texts(argument: Any) -> Any:
    """An argument without its empty texts; None if it has no other."""
    value = argument.get("argument") if isinstance(argument, dict) else None
    if isinstance(value, list) and "" in value:
        value = [item for item in value if item != ""]
        return {**argument, "argument": value} if value else None
    return None if value == "" else argument


def gold_problems(record: Mapping[str, Any], events: Events) -> list[tuple[str, str]]:
    """Everything that is wrong with the events of a gold record: what, and its JSON path."""
    problems: list[tuple[str, str]] = []
    key = events_key(record)
    # Published DuEE-Fin files have no list at all for a document without events.
    without_list = key not in record and type(record.get("title")) is str
    if type(record.get(key)) is not list and not without_list:
        problems.append(("events_not_list", f"$.{key}"))
    problems += [(what.value, path) for what, path in events.violations if what not in TOLERATED_IN_GOLD]
    problems += [("offsets_invalid", path) for path in events.bad_offsets]
    return problems


def gold_error(what: str, path: str, record: Mapping[str, Any], schema: EventSchema | None = None) -> InputError:
    """The error for a gold record whose events are not what they must be."""
    is_answer = what == "events_not_list" and "response" in record
    advice = nearest_dialect_advice(record) if what == "events_not_list" else None
    if advice is None and what == "events_not_list" and "value" in record and "events" not in record:
        advice = "gold of the fields suite? goldgate fields"
    if what == Violation.ARGUMENTS_NOT_LIST:
        advice = _advice_on_arguments(_value_at(record, path.rpartition(".")[0]), schema)
    return InputError(
        f"gold.{what}",
        "this gold record is malformed",
        place=Place(field=path.removeprefix("$.")),
        expected=_EXPECTED[what],
        found=("a prediction, which has a response: " if is_answer else "") + _describe_value_at(record, path, what),
        advice=SWAPPED_ADVICE if is_answer else advice,
    )


def _advice_on_arguments(event: Any, schema: EventSchema | None) -> str | None:
    """What to do about an event without a list of arguments."""
    if not isinstance(event, dict) or event.get("arguments") is not None:
        return None
    event_type = event.get("event_type", event.get("type"))
    others = [key for key in event if key not in NOT_ROLES]
    if not others:
        return 'an event without arguments says "arguments": []'
    other = next((key for key in others if key.casefold() in _ARGUMENT_NAMES), None)
    if other is not None:
        return f'is {other} the arguments of the event? then rename it to "arguments"'
    names, key = ", ".join(others[:_LISTED_KEYS]), json.dumps(others[0], ensure_ascii=False)
    as_object = f'or write them as "arguments": {{{key}: …}}'
    if schema is None:
        question = f"are its roles keys of the event ({names})?"
        return f"{question} then name the event schema that has them (--schema), {as_object}"
    if event_type not in schema.roles:
        return f"are {names} its roles? then add {event_type} with these roles to the event schema, {as_object}"
    return f"of its keys ({names}) none is clearly a role of its type in the event schema; correct them, {as_object}"


class StoredAnswer(NamedTuple):
    """What a prediction record has as its answer: text, or JSON that was decoded elsewhere."""

    response: str | None = None
    events: Any = None
    key: str | None = None  # under which the record has a list of events


def parse_prediction(record: Mapping[str, Any]) -> StoredAnswer:
    """The response of a prediction record, as the model wrote it, or what was decoded elsewhere; null is no answer.

    Of chat messages the last one of the assistant is the response, of an endpoint's reply its text.
    """
    response = record.get("response")
    if type(response) is str:
        return StoredAnswer(response)
    if response is not None:
        return StoredAnswer(*read_response(response, _is_decoded, "decoded events"))
    key = events_key(record)
    if key in record:
        events = record[key]
        if events is None or type(events) is list:
            return StoredAnswer(None, events, key)
        raise InputError(
            "predictions.wrong_type",
            "the events of a structured prediction are a list",
            place=Place(field=key),
            expected="a list",
            found=describe_value(events),
        )
    if "response" in record:
        return StoredAnswer()
    raise no_answer_error(record)


def _is_decoded(response: Any) -> bool:
    return isinstance(response, dict) or all(isinstance(event, dict) for event in response)


def _not_a_record(value: object) -> InputError:
    advice = "decode it first: json.loads(line)" if isinstance(value, (str, bytes)) else None
    return InputError(
        "gold.wrong_type",
        "a gold record is an object with events" + (", not text" if isinstance(value, (str, bytes)) else ""),
        expected='a mapping such as {"id": "1", "text": "…", "events": […]}, or what parse_gold gives',
        found=describe_value(value),
        advice=advice,
    )


def _describe_value_at(record: Mapping[str, Any], path: str, what: str) -> str:
    """What is at a JSON path of the form that `read_gold` gives, in words."""
    value = _value_at(record, path)
    if value is _ABSENT:
        head, _, name = path.rpartition(".")
        parent = _value_at(record, head)
        return f"no {name}; {describe_keys(parent)}" if isinstance(parent, Mapping) else "nothing"
    if what == "offsets_invalid" and isinstance(value, Mapping):
        if value.get("start") is None and value.get("end") is None:
            return f"argument_start_index {describe_value(value.get('argument_start_index'))}"
        return f"start {describe_value(value.get('start'))}, end {describe_value(value.get('end'))}"
    return describe_value(value)


def _value_at(record: Mapping[str, Any], path: str) -> Any:
    """What is at a JSON path; `_ABSENT` where that leads nowhere."""
    value: Any = record
    for name, place, quoted in _STEP.findall(path):
        if place:
            value = value[int(place)]
            continue
        key = json.loads(quoted) if quoted else name
        if not isinstance(value, Mapping) or key not in value:
            return _ABSENT
        value = value[key]
    return value
