"""Properties of the tolerant reader: it stays within its limits, and every mark of a turn is found."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from goldgate.response.parsed import JsonForm
from goldgate.response.repair import repair_value
from goldgate.response.repeated_keys import join_repeated_keys
from goldgate.response.selection import END_TOKENS, TURN_NAMES, TURN_TOKENS, next_turn_mark
from goldgate.response.strings import StepBudget
from goldgate.response.structure import BRACKETS
from tests.examples import examples

from .strategies import any_text, composed, mutated, odd_events

# Other marks in place of those of JSON: all of one kind, or one of them.
DIALECTS = [
    ('"', "'"),
    ('"', "“"),
    ('"', "「"),
    ('"', '\\"'),
    ('"', '""'),
    ('"', "`"),
    ('": ', "”: "),
    ('":', '"：'),
    ('":', '" ='),
    ('",', '"，'),
    ('"role"', "role"),
    ('"role"', "role "),
    ('"argument"', "argument"),
    (": ", ":: "),
    (": ", ":\n\\n"),
    ("},", "}，"),
    ("}, {", "},\n{\n\\n"),
    ("}, {", "}, {\u3000"),
    ("}, {", ", {"),
    ("}, {", "} {"),
    ("}", ",}"),
    ("null", "None"),
    (", ", ",\n"),
    (", ", " // next\n, "),
    ('"argument": "', '"argument": ":'),
    ('"argument"', '"role"'),
    ("[", "【"),
]


@st.composite
def dialects(draw: st.DrawFn) -> str:
    """An answer in other marks, cut off or with something in it that does not belong there."""
    value: list[Any] = draw(odd_events)
    text = json.dumps(value, ensure_ascii=False, indent=draw(st.sampled_from([None, 1])))
    for old, new in draw(st.lists(st.sampled_from(DIALECTS), max_size=3)):
        text = text.replace(old, new, draw(st.sampled_from([-1, -1, 1, 3])))
    at = draw(st.integers(0, len(text)))
    return draw(st.sampled_from([text, text, text[:at], text[:at] + text[at + 1 :], f'{text[:at]}"{text[at:]}']))


@examples(500)
@given(st.one_of(dialects(), dialects(), composed, mutated(), any_text), st.booleans())
@example('[{"a": "1"},\n{\n\\n"b": "2"}]', False)
@example("{role: \":x\", argument: 'y'}", False)
@example("{'a': 'x', 'a': 'y', 'b': 1,}", False)
def test_the_tolerant_reader_stays_within_its_limits(text: str, unopened: bool) -> None:
    starts = [at for at, character in enumerate(text) if character in ('"' if unopened else BRACKETS)]
    for start in starts[:8]:
        for limit in {len(text), (start + 1 + len(text)) // 2} - {start}:
            reading = repair_value(text, start, limit, StepBudget(10_000), unopened=unopened)
            assert start <= reading.end <= limit
            assert all(start <= at <= limit for _, at in reading.places)


@examples(500)
@given(
    st.recursive(
        st.sampled_from(["1", "null", '"a"', '":"', '"\\u003a"', '"\\": "', "[]", "{}"]),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]"),
            st.lists(st.tuples(st.sampled_from(['"a"', '"b" ', '"\\u003a"', '":"']), inner), max_size=3).map(
                lambda pairs: "{" + ",".join(f"{key}: {value}" for key, value in pairs) + "}"
            ),
        ),
    )
)
def test_keys_that_come_twice_are_found_in_any_json(text: str) -> None:
    repeats: list[str] = []

    def check(pairs: list[tuple[str, Any]]) -> None:
        repeats.extend(key for at, (key, _) in enumerate(pairs) if key in dict(pairs[:at]))

    json.loads(text, object_pairs_hook=check)
    joined = join_repeated_keys(text, json.loads(text), JsonForm())
    assert (joined is not None) == bool(repeats)


def test_places_of_repairs_are_bounded() -> None:
    # 1,000 places are kept, and of what comes later the first of each name.
    text = "[" + ", ".join("{'a': 'x', 'b': 'y'}" for _ in range(300)) + ', {a: "x"，"b"：“y“}, {c: 1}]'
    reading = repair_value(text, 0, len(text), StepBudget(10_000))
    assert len(reading.places) == 1_000 + 3


def test_every_mark_of_another_turn_is_found() -> None:
    for mark in [*TURN_TOKENS, *END_TOKENS, *(f"{name}:" for name in TURN_NAMES), *TURN_NAMES[:2]]:
        text = f"[]\n{mark}\nmore"
        assert next_turn_mark(text, 2, len(text)) == 3
    assert next_turn_mark("[]\nmore", 2, 7) == -1
