"""Gold checked against its own event schema and text: every mistake in it, not only the first.

An `error` makes scores wrong or stops an evaluation; a `note` may be meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from goldgate.core.finding import record_id
from goldgate.core.gate import Verdict
from goldgate.core.page import count_text
from goldgate.core.suite import CheckResult, Options
from goldgate.errors import InputError, Place, describe_value, did_you_mean
from goldgate.files.random_access import BLOCK
from goldgate.readers.gold_files import ConversionFailure, GoldOpener, LineFlaw, offset_flaws, record_flaws
from goldgate.readers.guess import id_problem, is_other_file
from goldgate.readers.records import (
    OFFSET_BITS,
    RecordFile,
    RecordStore,
    decode_json,
    iterate_records,
    json_problem,
    require_unchanged_files,
)
from goldgate.suites.extraction.events.answer_form import NOT_ROLES
from goldgate.suites.extraction.events.argument_text import Haystack, normalize
from goldgate.suites.extraction.events.event import Span, is_span, stated_offsets
from goldgate.suites.extraction.events.event_schema import EventSchema, load_event_schema
from goldgate.suites.extraction.records import (
    GoldEvents,
    events_key,
    gold_error,
    gold_problems,
    read_gold,
    source_text,
    without_empty_texts,
)

FORMAT_VERSION = 1  # of the JSON form
SUITE = "check-gold"
ENOUGH_SPANS = 5  # of which none is a single token: in RAMS most triggers are
_LINKED = ("rams", "oee-cfc")  # links name an event by the tokens of its trigger

Severity = Literal["error", "note"]


@dataclass(frozen=True, slots=True)
class GoldFinding:
    """One thing that is wrong, or odd, with the gold."""

    code: str
    severity: Severity
    file: str
    line: int
    id: str | None
    field: str | None
    message: str


@dataclass(slots=True)
class GoldCheck:
    """What was read and what was found."""

    types_checked: bool = True  # against an event schema
    records: int = 0
    without_events: int = 0
    inputs: list[dict[str, Any]] = field(default_factory=list)
    findings: list[GoldFinding] = field(default_factory=list)

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def passed(self) -> bool:
        return not self.errors

    def counts(self) -> dict[str, int]:
        """How often each code was found, by code."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    def as_json(self) -> dict[str, Any]:
        return {
            "format_version": FORMAT_VERSION,
            "suite": SUITE,
            "status": Verdict.PASS if self.passed else Verdict.FAIL,
            "inputs": self.inputs,
            "types_checked": self.types_checked,
            "records": self.records,
            "records_without_events": self.without_events,
            "errors": self.errors,
            "notes": len(self.findings) - self.errors,
            "counts": self.counts(),
            "findings": [asdict(finding) for finding in self.findings],
            "error": None,
        }


def check_gold(
    paths: Sequence[str | Path],
    schema: EventSchema | None,
    dialect: str | None = None,
    id_field: str | None = None,
) -> GoldCheck:
    """Read gold files and check every record. A file that cannot be read at all is an InputError.

    Without an event schema, types and roles are not checked. `id_field` is a dotted path to the id of records that have
    no `id`.
    """
    result = GoldCheck(types_checked=schema is not None)
    store, opener = RecordStore([]), GoldOpener(dialect, id_field=id_field)
    seen: dict[str, int] = {}  # id → file and line where it was first
    try:
        unconverted: list[list[ConversionFailure]] = []
        flaws: list[list[LineFlaw]] = []
        for path in paths:
            unconverted.append([])
            flaws.append([])
            opener.unconverted, opener.flaws = unconverted[-1], flaws[-1]
            store.files.append(opener(path, "gold"))
        with require_unchanged_files([store]):
            for number, file in enumerate(store.files):
                _report_unconverted(file, unconverted[number], result)
                for line, flaw in flaws[number]:
                    code = f"gold.{flaw.code}"
                    result.findings.append(GoldFinding(code, "error", file.name, line, None, flaw.field, flaw.message))
                _check_file(file, store, number, schema, seen, result)
                form = {} if file.form is None else {"form": file.form}
                result.inputs.append({"file": file.name, "records": file.records, **form})
        if not result.records:
            raise InputError("gold.empty", "there are no gold records", place=Place(", ".join(map(str, paths))))
    finally:
        store.close()
    return result


def _report_unconverted(file: RecordFile, unconverted: list[ConversionFailure], result: GoldCheck) -> None:
    """Add the records that are not what their dialect says."""
    for line, error in unconverted:
        file.records += 1
        expected = "" if error.expected is None else f"expected {error.expected}, "
        message = f"{error.message}: {expected}found {error.found}"
        result.findings.append(GoldFinding(error.code, "error", file.name, line, None, error.place.field, message))


class _Problem(NamedTuple):
    """A finding without its place."""

    code: str
    message: str
    field: str | None = None
    severity: Severity = "error"


def _check_file(
    file: RecordFile,
    store: RecordStore,
    number: int,
    schema: EventSchema | None,
    seen: dict[str, int],
    result: GoldCheck,
) -> None:
    base = number << OFFSET_BITS
    _require_records(file, store, base)
    lines, spans = _LineCounter(file), Counter[int]()
    try:
        for offset, data in iterate_records(file):
            line = lines.line_of(offset, data)
            file.records += 1
            record, problems = _decoded(data)
            if file.form is None:
                problems += [_Problem(code, message, path) for code, path, message in record_flaws(data)]
            identity = None if record is None else record_id(record)
            if record is not None:
                result.without_events += record.get(events_key(record), []) == []
                problems += _check_id(record, identity, base + line, seen, store)
                problems += _check(record, data, schema)
                if file.form in _LINKED:
                    spans.update(_span_lengths(record))
                    problems += _check_links(record)
            result.findings += [
                GoldFinding(f"gold.{code}", severity, file.name, line, identity, path, message)
                for code, message, path, severity in problems
            ]
    except InputError as error:  # an array that is never closed, a record that is too large: the records before count
        parts = (error.message, error.found, error.advice, "what follows is not checked")
        message = "; ".join(filter(None, parts))
        result.findings.append(GoldFinding(error.code, "error", file.name, error.place.line or 1, None, None, message))
    result.records += file.records
    if file.form == "rams" and spans.total() >= ENOUGH_SPANS and not spans[1]:
        result.findings.append(_exclusive_ends(file, spans.total()))


def _exclusive_ends(file: RecordFile, spans: int) -> GoldFinding:
    message = (
        f"none of its {spans} spans is a single token: its ends seem to be exclusive, and each span has a"
        " token too many; --dialect oee-cfc reads them as exclusive"
    )
    return GoldFinding("gold.ends_exclusive", "error", file.name, 1, None, "evt_triggers", message)


def _span_lengths(record: dict[str, Any]) -> Iterator[int]:
    """How many tokens each trigger and argument has."""
    for event in _as_list(record.get("events")):
        for part in (event, *event["arguments"]):
            yield part["token_end"] - part["token_start"]


def _check_links(record: dict[str, Any]) -> Iterator[_Problem]:
    """Events that have the arguments of each other, for links name only the tokens of the trigger."""
    first: dict[tuple[int, int], str] = {}
    for number, event in enumerate(_as_list(record.get("events"))):
        path, place = f"events[{number}]", (event["token_start"], event["token_end"])
        if place in first and event["arguments"]:
            message = f"{first[place]} has this trigger too: links name only the trigger, so each event has all of them"
            yield _Problem("shared_links", message, path, "note")
        first.setdefault(place, path)


def _require_records(file: RecordFile, store: RecordStore, base: int) -> None:
    """Refuse a file that is something else as a whole, where every line would be a mistake."""
    if file.is_array:
        return
    for offset, data in iterate_records(file):
        record, _ = _decoded(data)
        if record is None and is_other_file(file.name, file.plain.read_some(offset, BLOCK)):
            store.decode(base + offset, data)  # the error that says what it is
        return


class _LineCounter:
    """The line of each record in turn; asking the store would count from the start every time."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file
        self._counted = 0  # bytes
        self._line = 1

    def line_of(self, offset: int, data: bytes) -> int:
        self._line += self._file.newlines(self._counted, offset)
        blank = data[: len(data) - len(data.lstrip())].count(b"\n")  # before an element of an array
        line = self._line + blank
        self._line += data.count(b"\n")
        self._counted = offset + len(data)
        return line


def _decoded(data: bytes) -> tuple[dict[str, Any] | None, list[_Problem]]:
    try:
        value = decode_json(data)
    except ValueError:
        problem = json_problem(data)
        where = f"column {problem.column}" + (f" of its line {problem.line}" if problem.line > 1 else "")
        return None, [_Problem("not_json", f"this record is not JSON: {problem.message} at {where}")]
    if type(value) is not dict:
        return None, [_Problem("not_an_object", f"expected an object with an id, found {describe_value(value)}")]
    return value, []


def _check_id(
    record: Mapping[str, Any], identity: str | None, line: int, seen: dict[str, int], store: RecordStore
) -> Iterator[_Problem]:
    """A bad id, or one that an earlier record has. `line` is the number of the file and the line in it, packed."""
    if identity is None:
        expected, found, advice = id_problem(record)
        yield _Problem("bad_id", f"expected {expected}, found {found}" + (f"; {advice}" if advice else ""), "id")
    elif (first := seen.setdefault(identity, line)) != line:
        place = f"{store.files[first >> OFFSET_BITS].name}:{first & ((1 << OFFSET_BITS) - 1)}"
        yield _Problem("duplicate_id", f"duplicate id, already at {place}", "id")


def _check(record: dict[str, Any], data: bytes, schema: EventSchema | None) -> Iterator[_Problem]:
    """Everything about one record but its id: its form first, then what it says."""
    read = read_gold(record, data, schema)
    for what, path in gold_problems(record, read.events):
        error = gold_error(what, path, record, schema)
        advice = f"; {error.advice}" if error.advice else ""
        yield _Problem(what, f"expected {error.expected}, found {error.found}{advice}", error.place.field)
    text = source_text(record)
    if type(text) is not str and text is not None:
        yield _Problem("wrong_type", f"expected a string, found {describe_value(text)}", "text")
    elif not text:
        yield _Problem("no_text", "there is no source text: hallucination cannot be checked", "text", "note")
    haystack = Haystack(text) if type(text) is str and text else None
    for problem in _check_events(read, "events" if read.shapes else events_key(record), schema, haystack):
        yield problem._replace(field=read.field(problem.field or ""))


def _check_events(read: GoldEvents, key: str, schema: EventSchema | None, text: Haystack | None) -> Iterator[_Problem]:
    """The well-formed parts: what is malformed was reported with the form."""
    units: dict[tuple[str, str, str], str] = {}
    for number, event in enumerate(read.renamed):
        event_type = _name(event, "event_type")
        if event_type is None:
            continue
        path = f"{key}[{number}]"
        roles = None if schema is None else schema.roles.get(event_type)
        if schema is not None and roles is None:
            advice = _nearest(event_type, schema.event_types)
            yield _Problem(
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
                advice = _nearest(role, schema.role_order[event_type])
                message = f"{_quoted(role)} is not a role of {_quoted(event_type)}{advice}"
                yield _Problem("unknown_role", message, f"{inner}.role")
            if read.shapes:
                argument = without_empty_texts(argument) or {}  # an object has a place for every role
            yield from _check_argument(argument, inner, text)
            for value in _texts(argument):
                unit = (event_type, role, normalize(value))
                if unit[2] and unit in units:
                    message = f"{_quoted(value)} is already at {read.field(units[unit])}: it counts once"
                    yield _Problem("duplicate_unit", message, f"{inner}.argument", "note")
                units.setdefault(unit, inner)


def _check_keys(event: dict[str, Any], event_type: str, path: str, roles: list[str]) -> Iterator[_Problem]:
    """Keys of an event that may be meant as roles."""
    for key in sorted(event.keys() - NOT_ROLES):
        advice = _nearest(key, tuple(roles))
        message = f"{_quoted(key)} is not a role of {_quoted(event_type)} in the event schema: it is not read{advice}"
        yield _Problem("unread_key", message, path, "note")


def _check_trigger(event: dict[str, Any], path: str, text: Haystack | None) -> Iterator[_Problem]:
    """Where a trigger says that it is, it must be."""
    trigger, start, end = (event.get(name) for name in ("trigger", "start", "end"))
    own = {key: value for key, value in event.items() if key != "arguments"}
    bad = [_Problem(code, message, f"{path}.{name}") for code, name, message in offset_flaws(own)]
    yield from bad
    if bad:
        return
    if text is not None and type(trigger) is str and trigger and type(start) is int and type(end) is int:
        yield from _check_offsets(trigger, (start, end), path, text)


def _check_argument(argument: dict[str, Any], path: str, text: Haystack | None) -> Iterator[_Problem]:
    texts = _texts(argument)
    if argument.get("argument", ...) is None or any(not normalize(value) for value in texts):
        yield _Problem("empty_argument", "this argument is empty: it is not counted", f"{path}.argument", "note")
    if text is None:
        return
    texts = [value for value in texts if normalize(value)]
    offsets = stated_offsets(argument) if len(texts) == 1 else None
    if offsets is not None and is_span(*offsets):
        yield from _check_offsets(texts[0], offsets, path, text)
    for value in texts:
        if not text.contains(value):
            yield _Problem("argument_not_in_text", f"{_quoted(value)} is not in the text", f"{path}.argument")


def _check_offsets(value: str, span: Span, path: str, text: Haystack) -> Iterator[_Problem]:
    start, end = span
    if end > len(text.text):
        message = f"[{start}, {end}) reaches beyond the text, which has {len(text.text)} characters"
        yield _Problem("offsets_out_of_range", message + _elsewhere(value, start, text), path)
        return
    there = text.text[start:end]
    if there == value:
        return
    if normalize(there) == normalize(value):
        message = f"the text has it as {_quoted(there)}, the argument is {_quoted(value)}"
        yield _Problem("other_form", message, f"{path}.argument", "note")
        return
    message = f"at [{start}, {end}) the text has {_quoted(there)}, not {_quoted(value)}"
    yield _Problem("wrong_offsets", message + _elsewhere(value, start, text), path)


def _elsewhere(value: str, start: int, text: Haystack) -> str:
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
def _nearest(name: str, names: tuple[str, ...]) -> str:
    advice = did_you_mean(name, names)
    return f"; {advice}" if advice else ""


def run_check(paths: Sequence[str], options: Options) -> CheckResult:
    """`goldgate check` of gold."""
    schema = options.get("schema")
    event_schema = None if schema is None else load_event_schema(schema)
    report = check_gold(paths, event_schema, options.get("dialect"), options.get("id_field")).as_json()
    return CheckResult(report, _summary(report), () if report["types_checked"] else (_NO_SCHEMA,))


_NO_SCHEMA = "event types and roles were not checked: no event schema was given (--schema)"


def _summary(report: Mapping[str, Any]) -> str:
    forms = "".join(f" of {form}" for form in sorted({each["form"] for each in report["inputs"] if "form" in each}))
    read = f"{count_text(report['records'], 'record')}{forms}, {report['records_without_events']} without events"
    return f"{read}; {count_text(report['errors'], 'error')}, {count_text(report['notes'], 'note')}"
