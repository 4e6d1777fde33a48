"""What commands do with gold: check it against its text and event schema, convert it into our form, derive its schema.

Of what `goldgate check` finds, an `error` makes scores wrong or stops an evaluation; a `note` may be meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import IO, Any

import orjson

from goldgate.core.page import count_text
from goldgate.core.suite import CheckResult, Options
from goldgate.core.value_text import Haystack, normalize
from goldgate.errors import InputError, Place, describe_value, did_you_mean
from goldgate.readers.dialects import OWN_FORM
from goldgate.readers.gold_files import (
    GoldOpener,
    GoldProblem,
    RecordCheck,
    check_gold_files,
    load_clusters,
    offset_flaws,
    record_flaws,
)
from goldgate.readers.guess import SWAPPED_ADVICE
from goldgate.readers.id_index import open_store
from goldgate.readers.records import LocatedRecord, RecordStore, require_unchanged_files
from goldgate.report.escape import losses_text
from goldgate.suites.extraction.events import Span, is_span, stated_offsets, value_as_written
from goldgate.suites.extraction.events.answer_form import NOT_ROLES
from goldgate.suites.extraction.events.event_schema import (
    EventSchema,
    derive_from_events,
    load_event_schema,
    obtain_event_schema,
)
from goldgate.suites.extraction.records import (
    Gold,
    GoldEvents,
    events_key,
    gold_error,
    gold_not_in_text_message,
    gold_problems,
    parse_gold,
    read_gold,
    source_text,
    with_own_event_form,
    without_empty_texts,
)

ENOUGH_SPANS = 5  # spans without a single-token one are suspicious: in RAMS most triggers are
_LINKED = ("rams", "oee-cfc")  # links name an event by the tokens of its trigger


class EventCheck(RecordCheck):
    """Gold against an event schema and its text; without a schema, types and roles are not checked."""

    def __init__(self, schema: EventSchema | None) -> None:
        self._schema = schema
        self._spans = Counter[int]()
        self.without_events = 0
        self.values = 0  # beside a text

    def record(self, record: dict[str, Any], data: bytes, form: str | None) -> Iterator[GoldProblem]:
        self.without_events += record.get(events_key(record), []) == []
        read = read_gold(record, data, self._schema)
        if source_text(record):
            self.values += sum(len(columns[3]) for columns in read.events.columns)
        yield from _check_record(record, read, self._schema)
        if form in _LINKED:
            self._spans.update(_span_lengths(record))
            yield from _check_links(record)

    def file(self, form: str | None) -> Iterator[GoldProblem]:
        spans, self._spans = self._spans, Counter()
        if form == "rams" and spans.total() >= ENOUGH_SPANS and not spans[1]:
            message = (
                f"none of its {spans.total()} spans is a single token: its ends seem to be exclusive, and each span"
                " has a token too many; --dialect oee-cfc reads them as exclusive"
            )
            yield GoldProblem("ends_exclusive", message, "evt_triggers")


def _span_lengths(record: dict[str, Any]) -> Iterator[int]:
    """How many tokens each trigger and argument has."""
    for event in _as_list(record.get("events")):
        for part in (event, *event["arguments"]):
            yield part["token_end"] - part["token_start"]


def _check_links(record: dict[str, Any]) -> Iterator[GoldProblem]:
    """Events that have the arguments of each other, for links name only the tokens of the trigger."""
    first: dict[tuple[int, int], str] = {}
    for number, event in enumerate(_as_list(record.get("events"))):
        path, place = f"events[{number}]", (event["token_start"], event["token_end"])
        if place in first and event["arguments"]:
            message = f"{first[place]} has this trigger too: links name only the trigger, so each event has all of them"
            yield GoldProblem("shared_links", message, path, "note")
        first.setdefault(place, path)


def _check_record(record: dict[str, Any], read: GoldEvents, schema: EventSchema | None) -> Iterator[GoldProblem]:
    """Problems of one record, without those of its id: first of its form, then of its content."""
    for what, path in gold_problems(record, read.events):
        error = gold_error(what, path, record, schema)
        words = "check reads gold; for answers: goldgate read FILE" if error.advice == SWAPPED_ADVICE else error.advice
        advice = f"; {words}" if words else ""
        yield GoldProblem(what, f"expected {error.expected}, found {error.found}{advice}", error.place.field)
    text = source_text(record)
    if type(text) is not str and text is not None:
        yield GoldProblem("wrong_type", f"expected a string, found {describe_value(text)}", "text")
    elif not text:
        yield GoldProblem("no_text", "there is no source text: hallucination cannot be checked", "text", "note")
    haystack = Haystack(text) if type(text) is str and text else None
    for problem in _check_events(read, "events" if read.shapes else events_key(record), schema, haystack):
        yield problem._replace(field=read.field(problem.field or ""))


def _check_events(
    read: GoldEvents, key: str, schema: EventSchema | None, text: Haystack | None
) -> Iterator[GoldProblem]:
    """Problems of well-formed events; malformed ones were reported before."""
    units: dict[tuple[str, str, str], str] = {}
    for number, event in enumerate(read.renamed):
        event_type = _name(event, "event_type")
        if event_type is None:
            continue
        path = f"{key}[{number}]"
        roles = None if schema is None else schema.roles.get(event_type)
        if schema is not None and roles is None:
            advice = _name_advice(event_type, schema.event_types)
            yield GoldProblem(
                "unknown_event_type", f"{_quoted(event_type)} is not in the event schema{advice}", f"{path}.event_type"
            )
        yield from _check_trigger(event, path, text)
        if "flat" in read.shapes and roles:
            yield from _check_keys(event, event_type, path, sorted(roles))
        for place, argument in enumerate(_as_list(event.get("arguments"))):
            role = _name(argument, "role")
            if role is None:
                continue
            inner = f"{path}.arguments[{place}]"
            if schema is not None and roles is not None and role not in roles:
                advice = _name_advice(role, schema.role_order[event_type])
                message = f"{_quoted(role)} is not a role of {_quoted(event_type)}{advice}"
                yield GoldProblem("unknown_role", message, f"{inner}.role")
            if read.shapes:
                argument = without_empty_texts(argument) or {}  # an object has a place for every role
            yield from _check_argument(argument, inner, text)
            for value in _texts(argument):
                unit = (event_type, role, normalize(value))
                if unit[2] and unit in units:
                    message = f"{_quoted(value)} is already at {read.field(units[unit])}: it counts once"
                    yield GoldProblem("duplicate_unit", message, f"{inner}.argument", "note")
                units.setdefault(unit, inner)


def _check_keys(event: dict[str, Any], event_type: str, path: str, roles: list[str]) -> Iterator[GoldProblem]:
    """Keys of an event that may be meant as roles."""
    for key in sorted(event.keys() - NOT_ROLES):
        advice = _name_advice(key, tuple(roles))
        message = f"{_quoted(key)} is not a role of {_quoted(event_type)} in the event schema: it is not read{advice}"
        yield GoldProblem("unread_key", message, path, "note")


def _check_trigger(event: dict[str, Any], path: str, text: Haystack | None) -> Iterator[GoldProblem]:
    """Offsets of a trigger that are invalid, or point at other words."""
    trigger, start, end = (event.get(name) for name in ("trigger", "start", "end"))
    own = {key: value for key, value in event.items() if key != "arguments"}
    bad = [flaw._replace(field=f"{path}.{flaw.field}") for flaw in offset_flaws(own)]
    yield from bad
    if bad:
        return
    if text is not None and type(trigger) is str and trigger and type(start) is int and type(end) is int:
        yield from _check_offsets(trigger, (start, end), path, text)


def _check_argument(argument: dict[str, Any], path: str, text: Haystack | None) -> Iterator[GoldProblem]:
    texts = _texts(argument)
    if argument.get("argument", ...) is None or any(not normalize(value) for value in texts):
        yield GoldProblem("empty_argument", "this argument is empty: it is not counted", f"{path}.argument", "note")
    if text is None:
        return
    texts = [value for value in texts if normalize(value)]
    offsets = stated_offsets(argument) if len(texts) == 1 else None
    if offsets is not None and is_span(*offsets):
        yield from _check_offsets(texts[0], offsets, path, text)
    for value in texts:
        if not text.contains(value):
            yield GoldProblem("argument_not_in_text", f"{_quoted(value)} is not in the text", f"{path}.argument")


def _check_offsets(value: str, span: Span, path: str, text: Haystack) -> Iterator[GoldProblem]:
    start, end = span
    if end > len(text.text):
        message = f"[{start}, {end}) reaches beyond the text, which has {len(text.text)} characters"
        yield GoldProblem("offsets_out_of_range", message + _nearest_place(value, start, text), path)
        return
    there = text.text[start:end]
    if there == value:
        return
    if normalize(there) == normalize(value):
        message = f"the text has it as {_quoted(there)}, the argument is {_quoted(value)}"
        yield GoldProblem("other_form", message, f"{path}.argument", "note")
        return
    message = f"at [{start}, {end}) the text has {_quoted(there)}, not {_quoted(value)}"
    yield GoldProblem("wrong_offsets", message + _nearest_place(value, start, text), path)


def _nearest_place(value: str, start: int, text: Haystack) -> str:
    """Where the value is, nearest to where it should be."""
    before, after = text.text.rfind(value, 0, start + len(value)), text.text.find(value, start)
    places = [at for at in (before, after) if at >= 0]
    if not places:
        return ""
    at = min(places, key=lambda at: abs(at - start))
    return f"; that is at [{at}, {at + len(value)})"


def _texts(argument: dict[str, Any]) -> list[str]:
    value = argument.get("argument")
    items = value if type(value) is list else [value]
    # A number's text may differ from what `str` gives (1.10), so only integers are looked for.
    return [str(item) for item in items if type(item) is str or type(item) is int]


def _name(part: Any, key: str) -> str | None:
    value = part.get(key) if type(part) is dict else None
    return value.strip() or None if type(value) is str else None


def _as_list(value: Any) -> list[Any]:
    return value if type(value) is list else []


def _quoted(text: str) -> str:
    return describe_value(text).removeprefix("the string ")


@cache  # a wrong name seldom comes alone
def _name_advice(name: str, names: tuple[str, ...]) -> str:
    advice = did_you_mean(name, names)
    return f"; {advice}" if advice else ""


def run_check(paths: Sequence[str], options: Options) -> CheckResult:
    """`goldgate check` of gold."""
    schema = options.get("schema")
    check = EventCheck(None if schema is None else load_event_schema(schema))
    result = check_gold_files(paths, GoldOpener(options.get("dialect"), id_field=options.get("id_field")), check)
    counts = {"records_without_events": check.without_events, "values": check.values}
    report = result.as_json({"types_checked": schema is not None}, counts)
    not_in_text = gold_not_in_text_message(report["counts"].get("gold.argument_not_in_text", 0), check.values)
    remarks = (None if schema is not None else _NO_SCHEMA, not_in_text and f"{not_in_text}; {_MEASURES_GOLD}")
    return CheckResult(report, _summary(report), tuple(filter(None, remarks)))


_MEASURES_GOLD = "a hallucination rate by this gold measures the gold"
_NO_SCHEMA = "event types and roles were not checked: no event schema was given (--schema)"


def _summary(report: Mapping[str, Any]) -> str:
    forms = "".join(f" of {form}" for form in sorted({each["form"] for each in report["inputs"] if "form" in each}))
    read = f"{count_text(report['records'], 'record')}{forms}, {report['records_without_events']} without events"
    return f"{read}; {count_text(report['errors'], 'error')}, {count_text(report['notes'], 'note')}"


@dataclass(slots=True)
class Conversion:
    """How much was converted, and from what."""

    dialects: list[str] = field(default_factory=list)
    records: int = 0
    events: int = 0
    mentions: int = 0  # of events: each counts at least once
    arguments: int = 0
    lost: list[str] = field(default_factory=list)  # lines on what is not written as it was stored


def convert_gold(
    paths: Sequence[str | Path],
    out: IO[bytes],
    dialect: str | None = None,
    coref: Sequence[str | Path] = (),
    id_field: str | None = None,
    schema: EventSchema | None = None,
) -> Conversion:
    """Write every record of some gold files in our form, one a line; a record that cannot be one is an InputError.

    `coref` are WikiEvents' files of coreference, `id_field` is a dotted path to the id of records that have no `id`;
    flat events are read by the roles of `schema`.
    """
    clusters = {name: each for path in coref for name, each in load_clusters(path).items()}
    opener = GoldOpener(dialect, clusters=clusters, id_field=id_field, keep_flaws=True)
    conversion = Conversion()
    names: set[str] = set()
    with closing(open_store(paths, "gold", opener)) as store, require_unchanged_files([store]):
        conversion.lost += [_loss(file.name, *flaw) for file in store.files for flaw in file.flaws]
        for record, gold in parse_records(store.records(), schema):
            data, form = record.data, record.file.form
            names.update([form] if form is not None else gold.shapes or [OWN_FORM], gold.shapes)
            conversion.records += 1
            conversion.events += len(gold.event_list)
            conversion.mentions += sum(max(1, len(event.get("mentions") or ())) for event in gold.event_list)
            conversion.arguments += sum(len(event["arguments"]) for event in gold.event_list)
            # A record in our own form, on one line, is written as it is stored.
            is_kept = not gold.shapes and b"\n" not in data.strip()
            if form is None and not is_kept:
                line = 1 + record.file.newlines(0, record.offset)
                conversion.lost += [_loss(record.file.name, line, flaw) for flaw in record_flaws(data)]
            out.write((data.strip() if is_kept else _rewritten(data, schema)) + b"\n")
    conversion.dialects = sorted(names)
    return conversion


def derive_event_schema(paths: Sequence[str | Path], dialect: str | None = None) -> EventSchema:
    """The event schema that some gold files follow."""
    try:
        with closing(open_store(paths, "gold", GoldOpener(dialect))) as store, require_unchanged_files([store]):
            return derive_from_store(store)
    except InputError as error:
        if error.code == "gold.no_events":
            error.place = Place(", ".join(map(str, paths)))
        if error.code == "gold.arguments_not_list" and "--schema" in (error.advice or ""):
            error.advice = (
                "are its roles keys of the event? which keys are roles cannot be derived from such gold: write the "
                'event schema yourself, {"event_types": {"Type": {"roles": ["Role"]}}}'
            )
        raise


def derive_from_store(store: RecordStore) -> EventSchema:
    """The event schema that the gold in open files follows."""
    return derive_from_events(gold.events for _, gold in parse_records(store.records(), None, with_ids=False))


def _loss(file: str, line: int, flaw: GoldProblem) -> str:
    return f"{file}:{line}: {flaw.field or ''}: {flaw.message}"


def parse_records(
    records: Iterable[LocatedRecord], schema: EventSchema | None, *, with_ids: bool = True
) -> Iterator[tuple[LocatedRecord, Gold]]:
    """Every record of gold, as it is stored and parsed; without ids, they are neither needed nor read."""
    for record in records:
        identity = record.require_id() if with_ids else ""
        with record.locate_errors():
            gold = parse_gold(record.value, identity, record.data, schema)
        yield record, gold


def _rewritten(data: bytes, schema: EventSchema | None) -> bytes:
    """The record in our own form, on one line; numbers keep their digits."""
    record = with_own_event_form(value_as_written(data), schema)
    as_written = orjson.OPT_PASSTHROUGH_DATACLASS  # a number is one
    return orjson.dumps(record, default=lambda number: orjson.Fragment(number.text), option=as_written)


def run_convert(paths: Sequence[str], out: IO[bytes], options: Options) -> tuple[str, str]:
    """`goldgate convert`: what was written, and lines on what is not written as it was stored."""
    schema = obtain_event_schema(options.get("schema"))
    dialect, coref, id_field = options.get("dialect"), options.get("coref", ()), options.get("id_field")
    conversion = convert_gold(paths, out, dialect, coref, id_field, schema)
    events = count_text(conversion.events, "event")
    if conversion.mentions > conversion.events:
        events += f" with {conversion.mentions} mentions"
    sizes = (count_text(conversion.records, "record"), events, count_text(conversion.arguments, "argument"))
    dialects = " and ".join(conversion.dialects) or OWN_FORM
    return f"{dialects}: {', '.join(sizes)}", losses_text("not written as stored", conversion.lost)


def run_schema(paths: Sequence[str], options: Options) -> tuple[dict[str, Any], str]:
    """`goldgate schema`: an event schema, and how much is in it."""
    schema = derive_event_schema(paths, options.get("dialect"))
    roles = schema.role_order
    size = f"{count_text(len(roles), 'event type')}, {count_text(sum(map(len, roles.values())), 'role')}"
    return {"event_types": {name: {"roles": [*roles[name]]} for name in roles}}, size
