"""Every quick way obeys the rule: it says the same, or that it does not know.

`fast(x) is None or fast(x) == slow(x)`, on random text and on what such code gets wrong: letters that
grow when their case is folded, marks that join, line ends of every kind, halves of surrogate pairs.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goldgate.core.value_text import (
    Haystack,
    contained_by_automaton,
    normalize_all,
    slow_contained,
    slow_normalize,
)
from goldgate.readers.records import decode_json
from goldgate.suites.extraction import chain_of_thought
from goldgate.suites.extraction.chain_of_thought import (
    NEGATION,
    first_missing,
    first_missing_by_automaton,
    is_whole_word,
    positions_of,
    slow_first_missing,
    without_copies,
    without_negations,
)
from goldgate.suites.extraction.events import (
    EventList,
    Events,
    Unit,
    event_list,
    fast_events,
    read_events,
    slow_events,
)
from goldgate.suites.extraction.measures import normalized_support
from tests.examples import examples

from .strategies import MANY, ROLES, SCHEMA, answers, hostile, odd_events, short, texts

# --- normalization and containment


@MANY
@given(st.lists(short, max_size=12), st.lists(short, max_size=12))
@example(["a", "aa", "ba", ""], ["a", "aab"])
def test_needles_found_at_once(needles: list[str], parts: list[str]) -> None:
    text = "".join(parts)
    plain = slow_contained(needles, text)
    assert contained_by_automaton(needles, text) == plain


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
        quick, plain = fast_events(events, source, roles), slow_events(events, source, roles)
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
    listed = event_list(decode_json(source.encode()))
    assert listed is not None
    values = [value.text for value in read_events(listed, source.encode()).values()]
    assert values == [number, decode_json(f'"v{beside}"'.encode())]
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
    quick, plain = fast_events(events), slow_events(events, None)
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
        quick, plain = fast_events(events, text), slow_events(events, text)
        assert quick is None or told(quick) == told(plain)


# --- hallucination


@MANY
@given(answers(), st.one_of(texts, st.lists(short, max_size=8).map("".join)))
def test_quick_hallucination(events: Events, text: str) -> None:
    first = {value.unit: value for value in reversed([*events.values()])}
    wrong = {unit for unit, value in first.items() if slow_normalize(value.text) not in slow_normalize(text)}
    checked, unsupported, units, _ = normalized_support(events, events, Haystack(text))
    assert (checked, {*units}) == (len(first), wrong)
    assert {value.unit: value for value in unsupported} == {unit: first[unit] for unit in wrong}
    assert len(unsupported) == len(wrong)


# --- thoughts


PIECES = [
    *ROLES,
    "ort",
    "Schloßort: ",
    "Schlossort: ",
    " is not ",
    "不是",
    ", ",
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


def first_missing_by_definition(events: Events, thought: str, lines: Sequence[str], by_line: bool) -> Unit | None:
    """Word for word: normalized, the value is in the thought, or on a line that names its role in whatever case."""
    written = thought.split("\n")
    for unit, value, _ in events.values():
        places = [line for line, text in zip(lines, written, strict=True) if names(text, unit[1])]
        if not any(slow_normalize(value) in line for line in (places if by_line else ["".join(lines)])):
            return unit
    return None


def names(line: str, role: str) -> bool:
    folded, wanted = line.casefold(), role.casefold()
    return any(is_whole_word(folded, at, wanted) for at in positions_of(folded, wanted))


@examples(2_000)
@given(st.data())
def test_joint_look_at_a_thought(data: st.DataObject) -> None:
    events = data.draw(answers())
    thought = data.draw(thoughts_of(events))
    affirmed, source = without_negations(events, thought), slow_normalize(thought[::2] + thought)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(chain_of_thought, "COPIED", 2)
        for text in (thought, affirmed):
            lines = normalize_all(text.split("\n"))
            assert lines == [slow_normalize(line) for line in text.split("\n")]
            for counted in (lines, without_copies(events, lines, source)):
                for by_line in (True, False):
                    plain = first_missing_by_definition(events, thought, counted, by_line)
                    assert first_missing(events, thought, counted, by_line) == plain
                plain = first_missing_by_definition(events, thought, counted, True)
                assert slow_first_missing(events, thought, counted) == plain
                assert first_missing_by_automaton(events, thought, counted) == plain


NEGATING = "not never neither nor none without cannot no n't n’t 不是 并未 no. neıther wİthout".split()


@MANY
@given(st.lists(st.one_of(st.sampled_from(NEGATING), st.sampled_from([*" \n.5aN_é，"])), max_size=6), st.booleans())
def test_negations_are_found_in_any_case(parts: list[str], upper: bool) -> None:
    text = "".join(parts).upper() if upper else "".join(parts)
    rule = re.compile(
        r"\b(?:not|never|neither|nor|none|without|cannot|no(?!\.\s*\d))\b|n['’]t\b|不是|并未", re.IGNORECASE
    )
    assert [*map(str, NEGATION.finditer(text))] == [*map(str, rule.finditer(text))]


def test_letter_that_grows_when_its_case_is_folded_is_part_of_the_word() -> None:
    events = read_events(
        EventList([{"event_type": "T", "arguments": [{"role": "ort", "argument": "Paris"}]}], "$"), None
    )
    for thought in ("Schloßort: Paris", "Schlossort: Paris"):
        assert slow_first_missing(events, thought, normalize_all([thought])) is not None
        assert first_missing_by_automaton(events, thought, normalize_all([thought])) is not None
    assert first_missing(events, "Der Ort: Paris", ["derort:paris"], True) is None


def test_a_value_is_not_where_a_character_joins_it_or_is_joined_by_it() -> None:
    for value, text in (("cafe", "cafe\u0301"), ("\u0301x", "cafe\u0301x")):
        events = read_events(
            EventList([{"event_type": "T", "arguments": [{"role": "r", "argument": value}]}], "$"), None
        )
        assert len(normalized_support(events, events, Haystack(text)).unsupported) == 1
        assert slow_first_missing(events, f"r: {text}", normalize_all([f"r: {text}"])) is not None
