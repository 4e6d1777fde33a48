"""Properties of reading a response: nothing raises, nothing is invented, fast and slow ways agree."""

from __future__ import annotations

import json
from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

import goldgate
from goldgate import parse_response
from goldgate.response import DEFAULT_THOUGHT_TAGS, fast_parse, slow_parse
from goldgate.response.parsed import Step
from goldgate.suites.extraction.events.answer_form import CANONICAL, Form
from tests.examples import examples

from .strategies import SCHEMA, any_text, composed, events, mutated, odd_events, protocols, thoughts

STEPS = {step.value for step in Step}
MANY = examples(600)


@MANY
@given(any_text)
def test_no_text_makes_the_parser_raise(text: str) -> None:
    parsed = parse_response(text)
    assert parsed.status in ("raw", "repaired", "error")
    assert parsed.method in ("whole", "fenced", "embedded", "no_json_found")
    assert parsed.thought_state in ("none", "closed", "unclosed")
    assert set(parsed.repairs) <= STEPS
    if parsed.status == "raw":
        assert parsed.repairs == ()
    elif parsed.status == "repaired":
        assert parsed.repairs
    else:
        assert parsed.value is None
    if parsed.method == "no_json_found":
        assert parsed.status == "error"


@given(any_text, protocols())
def test_no_text_makes_the_scorer_raise_and_its_record_can_be_stored(text: str, protocol: goldgate.Protocol) -> None:
    gold = {"id": "1", "text": "甲公司 ab", "events": [{"event_type": "质押", "arguments": []}]}
    score = goldgate.load_scorer(SCHEMA, protocol).score(text, gold)
    assert orjson.dumps(score.record)


@MANY
@given(st.one_of(composed, mutated()))
def test_what_is_raw_decodes_as_it_stands(text: str) -> None:
    parsed = parse_response(text)
    if parsed.status == "raw":
        assert parsed.source is not None
        assert parsed.thought_state != "none" or parsed.source in text
        assert orjson.loads(parsed.source) == parsed.value


def strings(value: Any) -> set[str]:
    """Every string inside a value, keys too."""
    if isinstance(value, str):
        return {value}
    if isinstance(value, list):
        return set().union(*map(strings, value))
    if isinstance(value, dict):
        return set(value).union(*map(strings, value.values()))
    return set()


@MANY
@given(st.one_of(composed, mutated()).map(lambda text: text.replace("\\", "")))
def test_every_string_of_an_answer_stands_in_the_text(text: str) -> None:
    # Without a backslash there are no escapes: a string is the text between its marks, unchanged.
    parsed = parse_response(text, ())  # no thoughts, for one may be cut out of the middle of a string
    assert all(string in text for string in strings(parsed.value))


@given(odd_events, st.data())
def test_cutting_an_answer_off_never_invents_a_unit(value: list[Any], data: st.DataObject) -> None:
    scorer = goldgate.load_scorer(None, _syntax_only())
    gold = {"id": "1", "events": []}

    def units(response: str) -> set[tuple[str, str, str]]:
        predicted = scorer.score(response, gold).record["predicted"]
        return {(event_type, *pair) for event_type, pairs in predicted.items() for pair in pairs}

    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()), indent=data.draw(st.sampled_from([None, 2])))
    assert units(text[: data.draw(st.integers(0, len(text)))]) <= units(text)


@MANY
@given(st.one_of(any_text, composed, mutated()), st.sampled_from([CANONICAL, Form(flat=True)]))
def test_fast_way_of_reading_says_what_the_slow_way_says(text: str, form: Form) -> None:
    fast = fast_parse(text, DEFAULT_THOUGHT_TAGS, form)
    assert fast is None or fast == slow_parse(text, DEFAULT_THOUGHT_TAGS, form)


@MANY
@given(
    st.one_of(events, odd_events),
    st.one_of(st.none(), thoughts, any_text),
    st.sampled_from(["", " ", "\n", "\u2028", "\x1c", "\u3000", "\ufeff"]),
    st.sampled_from(
        [
            "```json\n{}\n```",
            "```\n{}```",
            "{}",
            "[{}]",
            "```json\n{}\n```\n",
            "``` \n{}\n```",
            "```json \r\n{}\r``` ",
            '{"events": {}}',
            '```json\n{"event_list": {}}\n```',
            '{"event_type": "Sue", "arguments": {}}',
            "Here it is:\n```json\n{}\n```\nThat is all.",
            "## Answer\n\n```\n{}\n```",
            "Here: ```json\n{}``` (see [1])",
            "Words `a` ~~~\n```json\n{}\n```",
            "\ud800\n```json\n{}\n``` \ud800",
        ]
    ),
)
def test_fast_way_of_reading_says_what_the_slow_way_says_of_usual_forms(
    value: list[Any], thought: str | None, gap: str, form: str
) -> None:
    text = gap + form.replace("{}", json.dumps(value, ensure_ascii=False)) + gap
    if thought is not None:
        text = f"{gap}<think>{thought}</think>{text}"
    for declared in (CANONICAL, Form(flat=True)):
        fast = fast_parse(text, DEFAULT_THOUGHT_TAGS, declared)
        assert fast is None or fast == slow_parse(text, DEFAULT_THOUGHT_TAGS, declared)


PLAIN = st.text(alphabet=st.characters(exclude_characters="<`", exclude_categories=["Cs"]), max_size=20)


@given(st.one_of(events, odd_events), st.one_of(st.none(), thoughts, PLAIN), st.sampled_from([None, 1]))
def test_usual_form_is_read_like_the_same_in_another_writing(
    value: list[Any], thought: str | None, indent: Any
) -> None:
    block = json.dumps(value, ensure_ascii=False, indent=indent)
    usual = f"```json\n{block}\n```"
    # The language in capitals, a blank in the tag, an empty fence before: none has a fast way.
    others = [f"```JSON\n{block}\n```", f"````json\n{block}\n````", f"```\n```\n{usual}", f"{usual}\n\n```\n```"]
    if thought is not None:
        usual = f"<think>{thought}</think>\n{usual}"
        others = [f"<think >{thought}</think>\n{other}" for other in others]
    expected = parse_response(usual)
    for other in others:
        parsed = parse_response(other)
        for name in ("status", "value", "repairs", "thought_state", "thought"):
            assert getattr(parsed, name) == getattr(expected, name)


@given(st.one_of(events, odd_events))
def test_answer_means_the_same_whole_fenced_embedded_or_decoded(value: list[Any]) -> None:
    scorer = goldgate.load_scorer(SCHEMA)
    gold = {"id": "1", "text": "甲 ab", "events": []}
    text = json.dumps(value, ensure_ascii=False)
    expected = scorer.score(text, gold).record
    forms: list[str | list[Any]] = [value, f"```json\n{text}\n```", f'{{"events": {text}}}']
    if value and isinstance(value[0], dict) and isinstance(value[0].get("event_type"), str):  # [1, … is prose
        forms.append(f"The events are {text} as asked.")
    for form in forms:
        record = scorer.score(form, gold).record
        for name in ("predicted", "errors", "hallucination", "relaxed_pairs"):
            assert record[name] == expected[name]
        assert [found["violation"] for found in record["violations"]] == [
            found["violation"] for found in expected["violations"]
        ]


@given(events)
def test_ordinary_events_read_the_same_beside_an_odd_one(value: list[Any]) -> None:
    # One odd event sends the whole list the careful way.
    scorer = goldgate.load_scorer(SCHEMA)
    gold = {"id": "1", "text": "甲 ab", "events": []}
    alone, beside = scorer.score(value, gold).record, scorer.score([*value, "odd"], gold).record
    assert beside["predicted"] == alone["predicted"]
    assert beside["hallucination"] == alone["hallucination"]
    added = {"violation": "event_not_object", "path": f"$[{len(value)}]"}
    assert beside["violations"] == [*alone["violations"], added]


def _syntax_only() -> goldgate.Protocol:
    from goldgate.suites.extraction.settings import ExtractionSettings, SchemaSettings

    return goldgate.Protocol(sections={"metrics": ExtractionSettings(schema=SchemaSettings("syntax_only"))})
