"""Every quick way obeys the rule: it says the same, or that it does not know.

`fast(x) is None or fast(x) == slow(x)`, on random text and on what such code gets wrong: letters that
grow when their case is folded, marks that join, line ends of every kind, halves of surrogate pairs.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from copy import deepcopy
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goldgate import Protocol, load_scorer
from goldgate.comparison.unit_entries import LEFT_OUT, Entries
from goldgate.core.counted_unit import CountedUnit
from goldgate.core.suite import Pairing
from goldgate.readers.noted import id_at_head
from goldgate.readers.recorded_units import counts_of, read_line, read_quickly
from goldgate.readers.records import decode
from goldgate.readers.stored_result import StoredResult
from goldgate.readers.unit_records import with_units
from goldgate.report.escape import alone, apart, is_plain, written_out
from goldgate.suites.extraction.events import match
from goldgate.suites.extraction.events.event import (
    EventList,
    Events,
    event_list,
    read_any_events,
)
from goldgate.suites.extraction.events.form import CANONICAL
from goldgate.suites.extraction.events.match import compare
from goldgate.suites.extraction.events.normalize import (
    Haystack,
    normalize_all_at_once,
    normalize_plainly,
    normalize_quickly,
)
from goldgate.suites.extraction.events.occurrences import (
    contained_at_once,
    contained_by_beginning,
    contained_one_by_one,
)
from goldgate.suites.extraction.events.read_events import read_events
from goldgate.suites.extraction.events.relaxed_rule import relaxed_rule, shares_stretch_by_hash, shares_stretch_plainly
from goldgate.suites.extraction.events.usual_events import read_usual_events
from goldgate.suites.extraction.hints import are_of_values, hints_in
from goldgate.suites.extraction.look.summary import summary
from goldgate.suites.extraction.look.weight import weight_of
from goldgate.suites.extraction.measures.hallucination import (
    count_distinct,
    count_where_none_is_repeated,
    distinct_values,
    unsupported_normalized,
    unsupported_normalized_plainly,
    unsupported_quickly,
)
from goldgate.suites.extraction.measures.matched import PackedParts
from goldgate.suites.extraction.settings import RelaxedSettings
from goldgate.suites.extraction.suite import SUITE as EXTRACTION
from goldgate.suites.extraction.thought.named_in_thought import (
    Look,
    first_missing,
    first_missing_at_once,
    first_missing_plainly,
    first_missing_quickly,
)

from .strategies import ROLES, SCHEMA, TYPES, odd_events, protocols, samples

MANY = settings(max_examples=500)

HOSTILE = (
    "abAB甲乙公司 \n\t\u3000\r\x0b\x1c\u2028\u0085"
    "e\u0301\u0308\u0327\u0345\u093c\u3099\u1100\u1161\u11a8한ｶﾞﾊﾟ"
    "ßẞİıſΣςﬁŉǰΐ①㈱㎡…″¨ＡＢ１（），：！"
    "。、“”‘’《》【】—·\u200b\ufeff\u00ad\u00a0\0:-\"'"
)
hostile = st.text(alphabet=HOSTILE, max_size=10)
texts = st.one_of(hostile, st.text(max_size=10))
short = st.text(alphabet="abA甲乙 ß1\n", min_size=1, max_size=4)


# --- normalization and containment


@MANY
@given(st.one_of(texts, st.tuples(texts, texts, texts).map(lambda parts: "公司。".join(parts) * 12)))
def test_quick_normal_form(text: str) -> None:
    assert normalize_quickly(text) in (None, normalize_plainly(text))


@MANY
@given(st.lists(st.one_of(texts, st.sampled_from(["甲公司", "Acme Corp", "", " ", "\0"])), max_size=5))
def test_quick_normal_forms(values: list[str]) -> None:
    assert normalize_all_at_once(values) in (None, [normalize_plainly(value) for value in values])


# --- what is shown


@MANY
@given(st.one_of(texts, st.text(alphabet="aо甲А\\xu:#\u034f\u2800 \u0301", max_size=6)), st.booleans())
def test_nothing_of_a_plain_text_is_written_out(text: str, commands: bool) -> None:
    if is_plain(text, commands=commands):
        assert written_out(text, commands=commands) == text


@given(st.one_of(texts, st.text(min_size=20, max_size=90)), st.integers(8, 60))
def test_a_name_alone_is_shown_as_the_only_one_of_several(text: str, columns: int) -> None:
    assert {text: alone(text, columns)} == apart([text], columns)


@MANY
@given(texts, texts, texts)
def test_quick_containment(before: str, value: str, after: str) -> None:
    for text in (before + value + after, before):
        haystack = Haystack(text)
        assert haystack.stands_in(value) in (None, haystack.contains_plainly(value))
        assert haystack.contains(value) is (normalize_plainly(value) in normalize_plainly(text))


@MANY
@given(st.lists(short, max_size=12), st.lists(short, max_size=12))
@example(["a", "aa", "ba", ""], ["a", "aab"])
def test_needles_found_at_once(needles: list[str], parts: list[str]) -> None:
    text = "".join(parts)
    plain = contained_one_by_one(needles, text)
    assert contained_at_once(needles, text) == plain
    assert contained_by_beginning(needles, text) in (None, plain)
    assert contained_by_beginning(needles, text, most=10**9) == plain
    assert contained_by_beginning(needles, text, most=2) in (None, plain)


@MANY
@given(st.text(alphabet="ab", max_size=14), st.text(alphabet="ab", max_size=14), st.integers(1, 9))
def test_stretches_compared_by_hash(a: str, b: str, length: int) -> None:
    assert shares_stretch_by_hash(a, b, length) is shares_stretch_plainly(a, b, length)


# --- events


def told(events: Events) -> tuple[object, ...]:
    """All that events say; the columns of no offsets may be None or a list of Nones."""
    units = {event_type: [*pairs] for event_type, pairs in events.units.items()}
    return units, [*events.values()], events.violations, events.bad_offsets


@MANY
@given(odd_events, st.booleans(), st.booleans())
def test_quick_events(listed: list[Any], with_schema: bool, with_blanks: bool) -> None:
    if with_blanks:
        listed = json.loads(json.dumps(listed).replace('"plaintiff"', '" plaintiff "').replace('"Sue"', '"Sue\\n"'))
    roles = {name: frozenset(entry["roles"]) for name, entry in SCHEMA["event_types"].items()} if with_schema else None
    events = EventList(listed, "$[*]")
    for source in (None, json.dumps(listed), json.dumps(listed, ensure_ascii=False).encode()):
        quick, plain = read_usual_events(events, source, roles), read_any_events(events, source, roles)
        assert quick is None or told(quick) == told(plain)
        assert told(read_events(events, source, roles)) == told(plain)


@MANY
@given(
    st.lists(st.sampled_from(["\\ud83d", "\\ude00", "\\ud83d\\ude00", "\\\\", "\\u4e00", "x", "\\uDBFF"]), max_size=5),
    st.sampled_from(["1.10", "-0", "1e30", "12345678901234567890123", "7"]),
)
def test_numbers_keep_their_text_whatever_is_escaped_beside_them(escapes: list[str], number: str) -> None:
    beside = "".join(escapes)
    arguments = f'{{"role": "r", "argument": {number}}}, {{"role": "s", "argument": "v{beside}"}}'
    source = f'[{{"event_type": "T", "arguments": [{arguments}]}}]'
    listed = event_list(decode(source.encode()))
    assert listed is not None
    values = [value.text for value in read_events(listed, source.encode()).values()]
    assert values == [number, decode(f'"v{beside}"'.encode())]
    assert values == [value.text for value in read_events(listed, source).values()]


class Text(str):
    """Behaves like a string, and is none to the rule."""


@MANY
@given(odd_events, st.sampled_from(["event", "argument", "type", "role", "value"]))
def test_quick_events_of_values_that_were_not_decoded(listed: list[Any], where: str) -> None:
    """A caller can hand over anything: an object that is no plain dict, a text that is no plain string."""
    listed = deepcopy(listed)  # what is drawn is drawn again elsewhere
    for event in [event for event in listed if isinstance(event, dict)]:
        arguments = [argument for argument in event.get("arguments", []) if isinstance(argument, dict)]
        if where == "type":
            event["event_type"] = Text(event.get("event_type", ""))
        for argument in arguments:
            key = {"role": "role", "value": "argument"}.get(where)
            if key is not None and isinstance(argument.get(key), str):
                argument[key] = Text(argument[key])
        if where == "argument" and arguments:
            event["arguments"] = [OrderedDict(argument) for argument in arguments]
    events = EventList([OrderedDict(e) if where == "event" and isinstance(e, dict) else e for e in listed], "$[*]")
    quick, plain = read_usual_events(events), read_any_events(events, None)
    assert quick is None or told(quick) == told(plain)


NUMBERS = [
    "1.10",
    "1.1",
    "-0",
    "0",
    "-0.0",
    "0.0",
    "1e30",
    "1E30",
    "12345678901234567890123",
    "7",
    "7.0",
    "1.1.1",
    "1e400",
    "12.5",
    "12.50",
    "-12.5",
    "112.5",
    "12.5000000000000000000001",
    "12.49999999999999999999999",
    "0.99999999999999999999999",
    "1.0",
    "125e-1",
    "0.5",
    "-0.50",
]


@MANY
@given(
    st.sampled_from(NUMBERS),
    st.lists(st.sampled_from([*NUMBERS, '"1.1"', '"1.10, -0"', '"012.5"', '"3-12.5"', '"12.5-3"', "null"]), max_size=3),
)
def test_quick_spelling_of_numbers(number: str, others: list[str]) -> None:
    values = [f'{{"role": "r", "argument": {value}}}' for value in (number, *others)]
    source = f'[{{"event_type": "T", "arguments": [{", ".join(values)}]}}]'
    try:
        events = EventList(orjson.loads(source), "$[*]")
    except orjson.JSONDecodeError:
        return
    for text in (source, source.encode()):
        quick, plain = read_usual_events(events, text), read_any_events(events, text)
        assert quick is None or told(quick) == told(plain)


def test_spelling_is_not_told_where_brackets_nest_too_deep_to_be_decoded_again() -> None:
    deep = "[" * 1000 + "]" * 1000
    source = f'[{{"event_type": "T", "x": {deep}, "arguments": [{{"role": "r", "argument": 1.50}}]}}]'
    events = EventList(orjson.loads(source), "$[*]")
    quick, plain = read_usual_events(events, source), read_any_events(events, source)
    assert quick is None or told(quick) == told(plain)


# --- matching


@MANY
@given(st.data(), st.sampled_from(["include_or_char_overlap", "span_iou"]))
def test_quick_matching_of_roles_with_one_argument(data: st.DataObject, mode: Any) -> None:
    rule = relaxed_rule(RelaxedSettings(mode))
    sides = data.draw(answers()), data.draw(answers())
    quick = compare(*sides, rule)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(match, "ONE_EACH", -1)
        assert compare(*sides, rule) == quick


# --- hallucination


@st.composite
def answers(draw: st.DrawFn) -> Events:
    """Events whose values repeat, with and without offsets."""
    listed = []
    for _ in range(draw(st.integers(0, 3))):
        arguments: list[dict[str, Any]] = []
        for _ in range(draw(st.integers(0, 4))):
            made: dict[str, Any] = {"role": draw(st.sampled_from([*ROLES, "ort", "ß"])), "argument": draw(short)}
            if draw(st.integers(0, 3)) == 0:
                made |= {"start": (start := draw(st.integers(0, 3))), "end": start + 1}
            arguments.append(made)
        listed.append({"event_type": draw(st.sampled_from(TYPES)), "arguments": arguments})
    return read_events(EventList(listed, "$[*]"), None)


@MANY
@given(answers(), st.one_of(texts, st.lists(short, max_size=8).map("".join)))
def test_quick_hallucination(events: Events, text: str) -> None:
    plain = unsupported_normalized_plainly(events, Haystack(text))
    assert unsupported_quickly(events, Haystack(text)) in (None, plain)
    assert unsupported_normalized(events, Haystack(text)) == plain
    expected = [
        value for value in distinct_values(events) if normalize_plainly(value.text) not in normalize_plainly(text)
    ]
    assert plain == expected


@MANY
@given(answers())
def test_quick_count_of_values(events: Events) -> None:
    distinct = {(*value.unit[:2], value.text, value.span) for value in events.values()}
    assert count_where_none_is_repeated(events) in (None, len(distinct))
    assert count_distinct(events) == len(distinct)


# --- thoughts


PIECES = [
    *ROLES,
    "ort",
    "Schloßort: ",
    "Schlossort: ",
    "ß",
    "SS",
    "İ",
    "ſ",
    "ŉ",
    "Ort ",
    ": ",
    "\n",
    " ",
    "\u2028",
    "\r",
]


@st.composite
def thoughts_of(draw: st.DrawFn, events: Events) -> str:
    """Text that often names roles and values, on one line or on two, with doubtful edges."""
    said = [part for value in events.values() for part in (value.unit[1], ": ", value.text, "\n")]
    parts = draw(st.lists(st.one_of(st.sampled_from([*PIECES, *said]), hostile), max_size=10))
    return "".join([*parts, *(said if draw(st.booleans()) else [])])


@settings(max_examples=2_000)
@given(st.data())
def test_quick_and_joint_looks_at_a_thought(data: st.DataObject) -> None:
    events = data.draw(answers())
    thought = data.draw(thoughts_of(events))
    for by_line in (True, False):
        plain = first_missing_plainly(events, thought, by_line)
        if by_line:
            assert first_missing_quickly(events, thought) in (None, Look(plain))
        assert first_missing_at_once(events, thought, by_line) == plain
        assert first_missing(events, thought, by_line) == plain


def test_letter_that_grows_when_its_case_is_folded_is_part_of_the_word() -> None:
    events = read_events(
        EventList([{"event_type": "T", "arguments": [{"role": "ort", "argument": "Paris"}]}], "$"), None
    )
    for thought in ("Schloßort: Paris", "Schlossort: Paris"):
        assert first_missing(events, thought, True) == first_missing_plainly(events, thought, True) is not None
    assert first_missing(events, "Der Ort: Paris", True) is None


# --- ids at the head of a line


@MANY
@given(st.one_of(texts, st.sampled_from(["1", "a b", "\\u0041", 'x"y', "\\"])), st.integers(0, 5))
def test_quick_ids(identity: str, form: int) -> None:
    record: dict[str, Any] = {"id": identity, "text": "x"} if form % 2 else {"text": "x", "id": identity}
    text = json.dumps(record, ensure_ascii=form % 3 == 0)
    if form == 5:
        text = "  " + text.replace('"id": ', '"id" :\t')
    data = text.encode()
    assert id_at_head(data) in (None, decode(data)["id"].encode())


names = st.one_of(texts, st.sampled_from(["a]],[[b", '"],[1]],[["', ',"units":{', "\\", "]]]}", 'x","y']))
counted = st.dictionaries(st.sampled_from(["m", "n"]), st.lists(st.integers(0, 3), min_size=2, max_size=2), max_size=2)
parts = st.lists(st.tuples(st.tuples(st.just("m"), names), st.tuples(st.integers(0, 3), st.integers(0, 3))), max_size=4)
records = st.builds(
    lambda identity, more, units, part, group: _record(identity, more, units, part, group),
    *(names, names, counted, parts, st.none() | names),
)


def _record(identity: str, more: str, units: Any, part: Any, group: str | None) -> bytes:
    """A line as the pipeline writes it, with hostile text in all its places."""
    unit = CountedUnit(group)
    unit.counts = {**{(name,): tuple(counts) for name, counts in units.items()}, **dict(part)}
    facts = {"id": identity, "said": [more, {more: more}], "units": more}
    return with_units(json.dumps(facts, ensure_ascii=True).replace(", ", ",").replace(": ", ":").encode() + b"\n", unit)


@MANY
@given(st.data(), names)
def test_parts_that_are_kept_packed_are_written_as_plain_ones(data: st.DataObject, more: str) -> None:
    sides = data.draw(answers()), data.draw(answers())
    parts = PackedParts(compare(*sides, relaxed_rule(RelaxedSettings())).counts)
    packed, plain = CountedUnit(), CountedUnit()
    packed.counts, packed.parts = {("m",): (1, 2)}, parts
    plain.counts = {("m",): (1, 2), **dict(parts.items())}
    line = orjson.dumps({"id": more}, option=orjson.OPT_APPEND_NEWLINE) if more.isprintable() else b'{"id":""}\n'
    assert with_units(line, packed) == with_units(line, plain)
    assert {key: packed.counted(key) for key in plain.counts} == plain.counts
    assert packed.counted(("matching", "no such type")) is None
    packed.counts["n", "part"] = plain.counts["n", "part"] = (3, 4)
    assert with_units(line, packed) == with_units(line, plain)


@MANY
@given(records)
def test_a_record_read_quickly_is_the_same_as_read_whole(line: bytes) -> None:
    quick, whole = read_quickly(line, 1), read_line(line, 1, Pairing())
    if quick is not None:
        assert (quick.identity, quick.group, quick.times) == (whole.identity, whole.group, whole.times)
        assert (json.loads(quick.units), json.loads(quick.parts)) == (json.loads(whole.units), json.loads(whole.parts))


@MANY
@given(st.lists(records, min_size=1, max_size=6))
def test_counts_that_were_seen_before_are_the_same_counts(lines: list[bytes]) -> None:
    """Whatever the names are, the numbers of a line stand for what the line says."""
    result = StoredResult("stored", Path("stored"), b"", {}, EXTRACTION, is_folder=True)
    entries = Entries({"m": 2}, "m", "m")
    for line in [*lines, *lines]:
        unit = read_quickly(line, 1) or read_line(line, 1, Pairing())
        found = [number for number in entries.read(unit, result) if number != LEFT_OUT]
        told = {key: counts for key, counts in counts_of(unit, result).items() if key[0] == "m"}
        assert {entries.keys[entries.tables[number]]: entries.values[number] for number in found} == told
        assert len(found) == len(told)


# --- hints


@MANY
@given(odd_events, st.sampled_from(["list", "events", "event_list", "one", "other"]), st.booleans())
def test_no_hints_are_missed_where_only_values_are_wrong(listed: list[Any], layout: str, with_schema: bool) -> None:
    roles = {name: frozenset(entry["roles"]) for name, entry in SCHEMA["event_types"].items()} if with_schema else None
    value: Any = {"list": listed, "one": listed[0] if listed else {}, "other": {"items": listed}}.get(layout)
    found = event_list({layout: listed} if value is None else value)
    if found is None:
        return
    violations = read_any_events(found, None, roles).violations
    if violations and are_of_values(violations, CANONICAL):
        assert not [*hints_in({layout: listed} if value is None else value, CANONICAL)]


# --- what a page shows


@MANY
@given(samples(), protocols())
def test_the_weight_of_a_sample_is_that_of_its_record(files: tuple[list[Any], list[Any]], protocol: Protocol) -> None:
    scorer = load_scorer(SCHEMA, protocol)
    stored = {prediction["id"]: prediction for prediction in files[1]}
    for gold in files[0]:
        prediction = stored.get(gold["id"], {})
        score = scorer.score(prediction.get("response", prediction.get("events")), gold)
        assert weight_of(score.facts) == summary(json.loads(json.dumps(score.record))).weight
