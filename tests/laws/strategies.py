"""What the properties are tried on: small worlds in which collisions, near misses and damage are frequent."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from goldgate import Protocol
from goldgate.shape import Share
from goldgate.suites.extraction.events import EventList, Events, read_events
from goldgate.suites.extraction.settings import CotSettings, ExtractionSettings, RelaxedSettings, SchemaSettings
from tests.examples import examples

Json = dict[str, Any]

TYPES = ["质押", "解除质押", "Sue"]
ROLES = ["质押方", "数量", "plaintiff"]
SCHEMA: Json = {"event_types": {name: {"roles": ROLES[:2] if name != "Sue" else ROLES} for name in TYPES}}

# Few characters, so that arguments repeat, contain one another and overlap.
arguments = st.text(alphabet="ab甲乙 ＡÀ“", min_size=0, max_size=5)
values = st.one_of(
    arguments,
    arguments,
    st.integers(-5, 10**20),
    st.none(),
    st.booleans(),
    st.lists(st.one_of(arguments, st.integers(0, 9)), max_size=3),
)


@st.composite
def argument(draw: st.DrawFn, any_value: bool = True) -> Json:
    made: Json = {"role": draw(st.sampled_from(ROLES)), "argument": draw(values if any_value else arguments)}
    if draw(st.integers(0, 3)) == 0:
        start = draw(st.integers(0, 6))
        made |= {"start": start, "end": start + draw(st.integers(1, 6))}
    return made


@st.composite
def event(draw: st.DrawFn, any_value: bool = True) -> Json:
    return {
        "event_type": draw(st.sampled_from(TYPES)),
        "arguments": draw(st.lists(argument(any_value), max_size=5)),
    }


good_events = st.lists(event(any_value=False), max_size=3)
events = st.lists(event(), max_size=3)
# An event list in which anything may be malformed.
odd_events = st.lists(
    st.one_of(
        event(),
        event(),
        st.sampled_from(
            [1, "x", None, {}, {"event_type": ""}, {"event_type": "质押"}, {"event_type": "新", "arguments": []}]
        ),
        st.fixed_dictionaries(
            {"event_type": st.just("质押"), "arguments": st.lists(st.sampled_from([1, {}, {"role": "x"}]), max_size=2)}
        ),
    ),
    max_size=3,
)

thoughts = st.one_of(
    st.just(""),
    st.lists(st.sampled_from([*TYPES, *ROLES, "a", "甲", "ab", "\n", " ", "issue"]), max_size=8).map("".join),
)


@st.composite
def responses(draw: st.DrawFn) -> str:
    """What a model might write: mostly an answer in some form, sometimes damaged, sometimes nothing."""
    text = json.dumps(draw(odd_events), ensure_ascii=False, indent=draw(st.sampled_from([None, 1])))
    text = draw(
        st.sampled_from(
            [
                text,
                f"```json\n{text}\n```",
                f"The answer: {text} Done.",
                f'{{"events": {text}}}',
                f"{text[:-1]},]",
                text[: len(text) // 2],
                text.replace('"', "'"),
                "nothing",
                "",
                '{"a": 1}',
            ]
        )
    )
    thought = draw(thoughts)
    return draw(
        st.sampled_from([text, f"<think>{thought}</think>{text}", f"{thought}\n{text}", f"<think>{thought}{text}"])
    )


@st.composite
def samples(draw: st.DrawFn, max_size: int = 6) -> tuple[list[Json], list[Json]]:
    """Gold records and predictions, some missing, some structured."""
    golds: list[Json] = []
    predictions: list[Json] = []
    for number in range(draw(st.integers(0, max_size))):
        record: Json = {"id": f"s{number}", "events": draw(good_events)}
        if draw(st.booleans()):
            record["text"] = draw(st.text(alphabet='ab甲乙 AÀ"“', max_size=12))
        group = draw(st.sampled_from([None, None, "g", "h", 7]))
        if group is not None:
            record["group"] = group
        golds.append(record)
        kind = draw(st.integers(0, 5))
        if kind == 0:
            continue
        answer: Json = {"events": draw(odd_events)} if kind == 1 else {"response": draw(responses())}
        predictions.append({"id": f"s{number}", **answer})
    return golds, predictions


@st.composite
def protocols(draw: st.DrawFn) -> Protocol:
    """Settings of every kind."""
    threshold = Share(draw(st.sampled_from(["0", "0.25", "0.3333", "0.5", "0.75", "1"])))
    relaxed = draw(st.sampled_from(["include_or_char_overlap", "span_iou"]))
    schema_mode = draw(st.sampled_from(["syntax_only", "schema_strict"]))
    cot_mode = draw(st.sampled_from(["strict_span", "weak_mention"]))
    return Protocol(
        sections={
            "metrics": ExtractionSettings(
                blanks=draw(st.sampled_from(["remove", "keep"])),
                relaxed=RelaxedSettings(relaxed, threshold, threshold),  # type: ignore[arg-type]  # drawn from the two
                schema=SchemaSettings(schema_mode),  # type: ignore[arg-type]
                cot=CotSettings(draw(st.booleans()), draw(st.booleans()), cot_mode),  # type: ignore[arg-type]
            )
        }
    )


# --- text for the parser

FRAGMENTS = [
    *"[]{}\"',:：，、【】｛｝［］“”‘’\\/#*.…- \n\t<>`~",
    "```",
    "```json\n",
    "```python\n",
    "\n```\n",
    "~~~\n",
    "<think>",
    "</think>",
    "<thought>",
    "</THOUGHT >",
    '"event_type"',
    '"arguments"',
    '"role"',
    '"argument"',
    "event_type",
    '{"event_type": "质押", "arguments": [{"role": "质押方", "argument": "甲"}]}',
    '[{"event_type": "Sue", "arguments": []}]',
    '{"events": [',
    '{"a": ',
    "[{x",
    '\\"',
    "\\u",
    "\\u4e00",
    "/*",
    "*/",
    "//",
    "...",
    "None",
    "True",
    "NaN",
    "nul",
    "1",
    "12.50",
    "1e",
    "-",
    "[1]",
    "甲公司",
    "word",
    "\x00",
    "\x1f",
    "\ufeff",
    "\u200b",
    "\u2028",
    "\u3000",
]
composed = st.lists(st.sampled_from(FRAGMENTS), max_size=40).map("".join)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A response with some characters removed, replaced or put in."""
    text = draw(responses())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(["", *FRAGMENTS])) + text[at + draw(st.integers(0, 3)) :]
    return text


any_text = st.one_of(st.text(max_size=60), composed, mutated())


# --- what quick ways get wrong

MANY = examples(500)

HOSTILE = (
    "abAB甲乙公司 \n\t\u3000\r\x0b\x1c\u2028\u0085"
    "e\u0301\u0308\u0327\u0345\u093c\u3099\u1100\u1161\u11a8한ｶﾞﾊﾟ"
    "ßẞİıſΣςﬁŉǰΐ①㈱㎡…″¨ＡＢ１（），：！"
    "。、“”‘’《》【】—·\u200b\ufeff\u00ad\u00a0\0:-\"'"
)
hostile = st.text(alphabet=HOSTILE, max_size=10)
texts = st.one_of(hostile, st.text(max_size=10))
short = st.text(alphabet="abA甲乙 ß1\n", min_size=1, max_size=4)


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
