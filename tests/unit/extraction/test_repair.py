"""Repair names what it mended, leaves text inside strings alone, and never invents an argument."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest

from goldgate import parse_response
from goldgate.core.value_text import NumberText, normalize
from goldgate.response.parsed import Step
from goldgate.suites.extraction.events.answer_form import Form
from goldgate.suites.extraction.settings import KeySettings
from tests.cases import cases

from ..helpers import answer, event, predicted_units

A, B = event("质押", ("质押方", "甲")), event("Sue", ("plaintiff", "乙"))
ONE_A, ONE_B = answer(A)[1:-1], answer(B)[1:-1]
NOTHING = event("质押")


def with_value(written: str) -> str:
    """An answer of one event whose one argument is written like this."""
    return '[{"event_type": "质押", "arguments": [{"role": "质押方", "argument": ' + written + "}]}]"


def read(value: Any) -> list[Any]:
    return [event("质押", ("质押方", value))]


# One row a step at least: text, the value that is read, all steps that are recorded.
MENDED = [
    pytest.param(f"[{ONE_A},]", [A], {"trailing_comma"}, id="trailing-comma-in-a-list"),
    pytest.param(
        '{"event_type": "质押", "arguments": [],}', NOTHING, {"trailing_comma"}, id="trailing-comma-in-object"
    ),
    pytest.param(repr([A]), [A], {"single_quotes"}, id="single-quotes"),
    pytest.param(with_value("None"), read(None), {"python_literals"}, id="python-none"),
    pytest.param(with_value("[True, False]"), read([True, False]), {"python_literals"}, id="python-booleans"),
    pytest.param(with_value("undefined"), read(None), {"python_literals"}, id="javascript-undefined"),
    pytest.param(with_value("NaN"), read(None), {"non_finite_numbers"}, id="not-a-number"),
    pytest.param(with_value("-Infinity"), read(None), {"non_finite_numbers"}, id="infinity"),
    pytest.param(f"[{ONE_A} // the first\n]", [A], {"comments"}, id="line-comment"),
    pytest.param(f"[{ONE_A} # the first\n]", [A], {"comments"}, id="hash-comment"),
    pytest.param(f"[/* one\n or two */ {ONE_A}]", [A], {"comments"}, id="block-comment"),
    pytest.param(
        '［｛"event_type"："质押"，"arguments"：［］｝］',
        [NOTHING],
        {"fullwidth_punctuation"},
        id="fullwidth-punctuation",
    ),
    pytest.param(f"【{ONE_A}、{ONE_B}】", [A, B], {"fullwidth_punctuation"}, id="chinese-brackets-and-comma"),
    pytest.param(f"[{ONE_A}", [A], {"closed_brackets"}, id="list-never-closed"),
    pytest.param(ONE_A[:-1], A, {"closed_brackets"}, id="object-never-closed"),
    pytest.param(
        '[{"event_type": "质押", "arguments": [{"role": "质押方", "argument": "甲"]}]',
        [A],
        {"closed_brackets"},
        id="brace-left-out",
    ),
    pytest.param(f"{ONE_A}\n{ONE_B}", [A, B], {"joined_objects"}, id="joined-objects"),
    pytest.param(f"[{ONE_A}}}, {ONE_B}]", [A, B], {"stray_brackets"}, id="stray-bracket"),
    pytest.param(f"[{ONE_A}\n{ONE_B}]", [A, B], {"missing_commas"}, id="missing-comma-between-objects"),
    pytest.param(
        '{"event_type": "质押" "arguments": []}', NOTHING, {"missing_commas"}, id="missing-comma-between-keys"
    ),
    pytest.param(f"[{ONE_A},, {ONE_B}]", [A, B], {"extra_commas"}, id="extra-comma"),
    pytest.param(with_value(""), read(None), {"missing_values"}, id="missing-value"),
    pytest.param(
        '{"event_type": "质押", "trigger":, "arguments": []}',
        {"event_type": "质押", "trigger": None, "arguments": []},
        {"missing_values"},
        id="missing-value-before-comma",
    ),
    pytest.param(f"[{ONE_A}, ...]", [A], {"ellipsis"}, id="dots"),
    pytest.param(f"[{ONE_A}, …]", [A], {"ellipsis"}, id="ellipsis-character"),
    pytest.param('{event_type: "质押", arguments: []}', NOTHING, {"unquoted_keys"}, id="unquoted-keys"),
    pytest.param("[{“event_type”: “质押”, “arguments”: []}]", [NOTHING], {"smart_quotes"}, id="smart-double-quotes"),
    pytest.param("[{‘event_type’: ‘质押’, ‘arguments’: []}]", [NOTHING], {"smart_quotes"}, id="smart-single-quotes"),
    pytest.param(answer(A).replace('"', '\\"'), [A], {"escaped_quotes"}, id="escaped-quotes"),
    pytest.param(with_value('"the "big" one"'), read('the "big" one'), {"unescaped_quotes"}, id="unescaped-quotes"),
    pytest.param(with_value('"a\nb\tc"'), read("a\nb\tc"), {"control_characters"}, id="control-characters"),
    pytest.param(with_value(r'"5\% of \alpha"'), read(r"5\% of \alpha"), {"invalid_escapes"}, id="invalid-escapes"),
    pytest.param(with_value('"\\ud83d!\n"'), read("\ufffd!\n"), {"control_characters", "lone_surrogates"}, id="lone"),
    pytest.param(f"[\u3000{ONE_A}]", [A], {"lenient_syntax"}, id="space-that-json-does-not-know"),
    pytest.param(json.dumps(answer(A)), [A], {"unwrapped_string"}, id="encoded-twice"),
    pytest.param(with_value("甲公司 5%"), read("甲公司 5%"), {"unquoted_values"}, id="unquoted-value"),
    pytest.param('{"event_type": "质押"; "arguments": []}', NOTHING, {"semicolons"}, id="semicolon"),
    pytest.param(with_value('"甲公司" (sic)'), read("甲公司"), {"skipped_text"}, id="words-after-a-value"),
    pytest.param(
        '{"event_type": "x", "arguments": [1], "event_type": "质押", "arguments": [],}',
        [{"event_type": "x", "arguments": [1]}, NOTHING],
        {"repeated_keys", "trailing_comma"},
        id="keys-again",
    ),
    pytest.param(f"[{ONE_A[:-1]}, {ONE_B}]", [A, B], {"closed_brackets"}, id="brace-left-out-before-the-next-object"),
    pytest.param(with_value('"甲'), [{"event_type": "质押", "arguments": [{"role": "质押方"}]}], None, id="truncated"),
    pytest.param(
        '[{"event_type": "质押", "arguments": [], oops\n\nand so on',
        [NOTHING],
        {"closed_brackets", "cut_at_error"},
        id="cut-at-error",
    ),
    pytest.param('[{""event_type"": ""质押"", ""arguments"": []}]', [NOTHING], {"doubled_quotes"}, id="doubled-quotes"),
    pytest.param('{"event_type" = "质押", "arguments" = []}', NOTHING, {"equals_signs"}, id="equals-signs"),
    pytest.param(f"[[{ONE_A}], [{ONE_B}]]", [A, B], {"flattened_list"}, id="list-of-lists"),
    pytest.param(f"[{ONE_A}]\nor {ONE_B}", [A], {"left_out_objects"}, id="object-after-a-whole-answer"),
    pytest.param('{"event_type" "质押", "arguments": []}', NOTHING, {"missing_colons"}, id="missing-colon"),
    pytest.param('{"event_type": "质押, "arguments": []}', NOTHING, {"missing_quotes"}, id="missing-quote"),
    pytest.param('["event_type": "质押", "arguments": []}]', [NOTHING], {"opened_brackets"}, id="brace-never-opened"),
    pytest.param(with_value('("甲", "乙")'), read(["甲", "乙"]), {"tuples"}, id="tuple"),
    pytest.param(f'{{"name": "f", "arguments": [{ONE_A}]}}', [A], {"unwrapped_call"}, id="tool-call"),
    pytest.param(
        f"// all\n[{ONE_A}, {{'event_type': 'Sue', 'arguments': [],}},]",
        [A, event("Sue")],
        {"single_quotes", "trailing_comma"},
        id="several-at-once",
    ),
]


@cases(("text", "value", "steps"), MENDED)
def test_each_kind_of_damage_is_mended_and_named(text: str, value: Any, steps: set[str] | None) -> None:
    parsed = parse_response(text)
    assert parsed.status == "repaired"
    assert parsed.value == value
    assert set(parsed.repairs) == (steps or {"closed_brackets", "dropped_truncated_value"})
    assert list(parsed.repairs) == sorted(parsed.repairs)


def test_every_step_has_its_row() -> None:
    rows: list[Any] = [row.values[2] for row in MENDED]
    named = {"closed_brackets", "dropped_truncated_value", "said_none"}.union(*(steps or () for steps in rows))
    assert named == {step.value for step in Step}


def test_sound_json_is_not_repaired() -> None:
    for text in (answer(A), f"```json\n{answer(A, B)}\n```", f"So: {answer(A)}.", json.dumps([A], indent=2)):
        assert (parse_response(text).status, parse_response(text).repairs) == ("raw", ())


HARD_STRINGS = [
    pytest.param("a, b: [c] {d}", id="structure"),
    pytest.param("x // y # z /* w */", id="comment-marks"),
    pytest.param("True None NaN ...", id="literals"),
    pytest.param("，：、【】｛｝", id="full-width"),
    pytest.param("“smart” ‘quotes’", id="smart-quotes"),
    pytest.param("it's", id="apostrophe"),
    pytest.param('say "no"', id="quotation-marks"),
    pytest.param("back\\slash \\n \\", id="backslashes"),
    pytest.param("new\nline\ttab", id="control-characters"),
    pytest.param("  blanks  ", id="blanks"),
    pytest.param("a ``` b", id="fence-marks"),
    pytest.param(",]", id="trailing-comma"),
    pytest.param("😀 é \u0301", id="beyond-ascii"),
]
DAMAGE = [
    pytest.param(lambda text: text[:-1] + ",]", id="trailing-comma"),
    pytest.param(lambda text: text[:-1], id="never-closed"),
    pytest.param(lambda text: text.replace('"event_type": ', '"event_type"：'), id="full-width"),
    pytest.param(lambda text: text.replace('"arguments"', "/* ' */ arguments"), id="comment-and-key"),
    pytest.param(lambda text: text.replace(', "arguments"', ' "arguments"'), id="missing-comma"),
    pytest.param(lambda text: repr(json.loads(text)), id="python"),
]


@pytest.mark.parametrize("inside", HARD_STRINGS)
@pytest.mark.parametrize("damage", DAMAGE)
def test_text_inside_a_string_is_never_changed(damage: Any, inside: str) -> None:
    sound = [event("质押", ("质押方", inside), ("数量", "1"))]
    parsed = parse_response(damage(answer(*sound)))
    assert parsed.status == "repaired"
    assert parsed.value == sound


# A value of every kind, with structure inside strings, and keys in another order.
SAMPLE = [
    {
        "event_type": "质押",
        "trigger": "质押",
        "arguments": [
            {"role": "质押方", "argument": '甲"公司", \\n]}'},
            {"role": "数量", "argument": 1200.50},
            {"role": "日期", "argument": ["2020年1月", "it's, 'x': y", 12345678901234567890123]},
            {"role": "质权方", "argument": None},
            {"role": "备注", "argument": True},
        ],
    },
    {
        "event_type": "Sue",
        "arguments": [
            {"argument": "a, b: [c] {d} // e # f /* g */", "role": "plaintiff"},
            {"role": "amount", "argument": -1.5e10, "start": 3, "end": 9},
        ],
    },
]
PLAIN = json.dumps(SAMPLE, ensure_ascii=False)
FORMS = [
    pytest.param(PLAIN, id="json"),
    pytest.param(json.dumps(SAMPLE), id="ascii"),
    pytest.param(json.dumps(SAMPLE, ensure_ascii=False, indent=2), id="pretty"),
    pytest.param('{"events": ' + PLAIN + "}", id="wrapped"),
    pytest.param(f"Here it is:\n```json\n{PLAIN}\n```\nDone.", id="fence"),
    pytest.param(f"The events are {PLAIN}.", id="prose"),
    pytest.param(f"<think>no [] here</think>\n{PLAIN}", id="thought"),
    pytest.param(repr(SAMPLE), id="python"),
    pytest.param(PLAIN.replace("}]", "},]"), id="trailing-commas"),
    pytest.param(PLAIN.replace('": ', '"：').replace("}, {", "}，{"), id="full-width"),
    pytest.param(json.dumps(SAMPLE, ensure_ascii=False, indent=1).replace(",\n", ', // "x": 1\n'), id="comments"),
    pytest.param("\n".join(json.dumps(one, ensure_ascii=False) for one in SAMPLE), id="rows"),
    pytest.param(json.dumps(PLAIN, ensure_ascii=False), id="encoded-twice"),
]


@pytest.mark.parametrize("step", [24, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("text", FORMS)
def test_answer_cut_off_anywhere_never_invents_an_argument(text: str, step: int) -> None:
    whole = predicted_units(text)
    # 1 + 1 + 3 + 0 (null) + 0 (boolean) of the first event, 1 + 1 of the second
    assert len(whole) == 7
    for length in range(len(text) % step, len(text), step):
        cut = predicted_units(text[:length])
        assert cut <= whole, text[max(0, length - 40) : length]


@pytest.mark.parametrize("step", [4, pytest.param(1, marks=pytest.mark.slow)])
def test_longer_answer_never_has_fewer_units(step: int) -> None:
    units = [predicted_units(PLAIN[:length]) for length in range(0, len(PLAIN) + 1, step)]
    assert all(shorter <= longer for shorter, longer in pairwise(units))


@cases(
    "text",
    [
        '{"a":',
        '{"a": ',
        '{"a"',
        '{"',
        "{",
        "[",
        "[{",
        '[{"event_type":',
        '[{"event_type": "质',
        '```json\n[{"event_type": "质押',
    ],
)
def test_beginning_without_a_complete_value_gives_nothing(text: str) -> None:
    parsed = parse_response(text)
    assert (parsed.status, parsed.value) == ("error", None)


@cases(
    "written",
    [
        pytest.param("1", id="integer"),
        pytest.param("12.", id="dot"),
        pytest.param("12.5", id="fraction"),
        pytest.param("1e", id="exponent"),
        pytest.param("-", id="minus"),
        pytest.param("tru", id="literal"),
        pytest.param('"甲', id="string"),
        pytest.param('"甲\\', id="backslash"),
        pytest.param('"甲\\"', id="escaped-quote"),
        pytest.param('"甲\\u4e', id="half-an-escape"),
        pytest.param('["甲', id="first-item"),
    ],
)
def test_truncated_last_value_is_dropped_not_guessed(written: str) -> None:
    text = '[{"event_type": "质押", "arguments": [{"role": "质押方", "argument": ' + written
    parsed = parse_response(text)
    assert parsed.value == [{"event_type": "质押", "arguments": [{"role": "质押方"}]}]
    assert parsed.repairs == ("closed_brackets", "cut_at_error") or "dropped_truncated_value" in parsed.repairs
    assert predicted_units(text) == set()


@cases(
    "written",
    [
        pytest.param("1,200", id="thousands"),
        pytest.param("12万", id="chinese-unit"),
        pytest.param("2020-01-02", id="date"),
        pytest.param("2020年1月", id="chinese-date"),
        pytest.param("10:30", id="time"),
        pytest.param("甲, 乙", id="list"),
        pytest.param('"the "big", "bad" one"', id="quotes-and-commas"),
        pytest.param('"他说"好"，然后走了"', id="chinese-comma-after-a-quote"),
        pytest.param("50%", id="percent"),
        pytest.param("0123", id="leading-zero"),
        pytest.param("3.5.1", id="version"),
        pytest.param("甲公司", id="word"),
        pytest.param("two words", id="words"),
        pytest.param("+1", id="plus"),
        pytest.param("5 shares", id="number-and-word"),
        pytest.param("Truely", id="word-that-begins-like-a-literal"),
    ],
)
def test_value_that_is_no_json_is_read_whole_or_not_at_all(written: str) -> None:
    text = with_value(written).replace("}]}]", '}, {"role": "数量", "argument": "1"}]}]')
    whole = normalize(written.strip('"'))
    assert predicted_units(text) <= {("质押", "质押方", whole), ("质押", "数量", "1")}


@pytest.mark.parametrize(
    "written", ['"x" (approx)', '"x"。', "'x' or null"], ids=["remark", "full-stop", "alternative"]
)
def test_words_behind_a_string_are_skipped_and_not_taken_into_it(written: str) -> None:
    text = with_value(written).replace("}]}]", '}, {"role": "数量", "argument": "1"}]}]')
    assert predicted_units(text) == {("质押", "质押方", "x"), ("质押", "数量", "1")}
    assert "skipped_text" in parse_response(text).repairs


def test_missing_comma_between_two_strings_of_a_list_does_not_join_them() -> None:
    assert predicted_units(with_value('["甲" "乙"]')) <= {("质押", "质押方", "甲"), ("质押", "质押方", "乙")}


def test_cut_between_two_keys_of_the_same_name_does_not_mix_them() -> None:
    text = (
        '[{"event_type": "质押", "arguments": [{"role": "质押方", "argument": "甲", "role": "数量", "argument": "5"}]}]'
    )
    for length in range(len(text)):
        assert ("质押", "数量", "甲") not in predicted_units(text[:length])


@cases(
    ("written", "text"),
    [
        pytest.param(r'"\u7532"', "甲", id="code-point"),
        pytest.param(r'"\ud83d\ude00"', "😀", id="surrogate-pair"),
        pytest.param(r'"a\/b\\c\"d"', 'a/b\\c"d', id="simple-escapes"),
        pytest.param(r'"tab\tnew\nline"', "tab\tnew\nline", id="control-escapes"),
    ],
)
def test_escapes_mean_the_same_in_a_repaired_answer(written: str, text: str) -> None:
    assert parse_response(with_value(written)).value == read(text)
    assert parse_response(with_value(written)[:-1] + ",]").value == read(text)


def test_half_a_surrogate_pair_in_a_sound_part_becomes_the_replacement_character() -> None:
    sound_part = with_value(r'"\ud83d"')[:-1] + ",]"
    parsed = parse_response(sound_part)
    assert parsed.value == read("\ufffd")
    assert "lone_surrogates" in parsed.repairs


@pytest.mark.parametrize("depth", [400, 600, 2_000, 10_000, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("opening", ["[", '{"a":', "｛"], ids=["list", "object", "full-width"])
def test_deep_nesting_is_survived(opening: str, depth: int) -> None:
    assert parse_response(opening * depth).status == "error"


@pytest.mark.parametrize("depth", [100, 330, 500, 990, 1_030, 3_000, pytest.param(20_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("opening", "inside", "closing"),
    [
        pytest.param("[", "", "]", id="lists"),
        pytest.param('{"events": [', ONE_A, "]}", id="events-in-events"),
        pytest.param('{"name": "f", "arguments": ', ONE_A, "}", id="calls-in-calls"),
        pytest.param("[", f"{ONE_A},", "]", id="lists-in-need-of-repair"),
        pytest.param('[{"a": ', ONE_A, "}]", id="lists-of-objects"),
    ],
)
def test_deep_nesting_that_is_closed_is_survived(opening: str, inside: str, closing: str, depth: int) -> None:
    deep = opening * depth + inside + closing * depth
    for text in (deep, f"So: {deep} and {ONE_B}", f"{ONE_B}\n{deep}"):
        assert parse_response(text).status in ("raw", "repaired", "error")


def hired(*arguments: tuple[str, Any]) -> list[Any]:
    return [event("Hire", *arguments)]


HIRE = '[{"event_type":"Hire","arguments":'
ANN = '{"role":"Person","argument":"Ann"'
FIRE = '{"event_type":"Fire","arguments":[{"role":"Person","argument":"Bob"}]}'


def with_roles(**said: Any) -> list[Any]:
    return [{"event_type": "Hire", "arguments": said}]


@cases(
    ("text", "value"),
    [
        # Where the key of a type or role comes again, a new event or argument begins there.
        (
            '[{"event_type":"Hire","arguments":[],"event_type":"Fire","trigger":"met"}]',
            [event("Hire"), {"event_type": "Fire", "trigger": "met"}],
        ),
        (
            '{"event_type":"Hire","arguments":[],"event_type":"Fire","arguments":[]}',
            [event("Hire"), event("Fire")],
        ),
        (
            HIRE + '[{"role":"Person","argument":"Ann","role":"Place","argument":"Oslo"}]}]',
            hired(("Person", "Ann"), ("Place", "Oslo")),
        ),
        (
            HIRE + '{"role":"Person","argument":"Ann","role":"Place","argument":"Oslo"}}]',
            hired(("Person", "Ann"), ("Place", "Oslo")),
        ),
        (
            HIRE + '[{"role":"Person","argument":"Ann","argument":"Bob","role":"Place","argument":"Oslo"}]}]',
            hired(("Person", ["Ann", "Bob"]), ("Place", "Oslo")),
        ),
        # The role may be the second key: what comes again shows that an argument has ended.
        (
            '[{"arguments":[{"argument":"Ann","role":"Person","argument":"Oslo","role":"Place"}],"event_type":"Hire"}]',
            [
                {
                    "arguments": [{"argument": "Ann", "role": "Person"}, {"argument": "Oslo", "role": "Place"}],
                    "event_type": "Hire",
                }
            ],
        ),
        # Elsewhere lists, objects and values of roles are joined; of other scalars the last one wins.
        (HIRE + '{"Person":"Ann","Person":"Bob"}}]', with_roles(Person=["Ann", "Bob"])),
        (
            HIRE + '{"Person":"Ann","Person":["Bob"]}}]',
            with_roles(Person=["Ann", "Bob"]),
        ),
        (HIRE + '{"Person":"Ann","Person":null}}]', with_roles(Person="Ann")),
        (
            HIRE + '{"Person":"Ann"},"arguments":{"Place":"Oslo"}}]',
            with_roles(Person="Ann", Place="Oslo"),
        ),
        (
            HIRE + '[{"role":"Person","argument":"Ann"}],"arguments":[{"role":"Place","argument":"Oslo"}]}]',
            hired(("Person", "Ann"), ("Place", "Oslo")),
        ),
        ('[{"event_type":"Hire","trigger":"a","trigger":"b"}]', [{"event_type": "Hire", "trigger": "b"}]),
        (
            '[{"event_type":"Hire","\\u003a":1,"trigger":"a","trigger":"b"}]',
            [{"event_type": "Hire", ":": 1, "trigger": "b"}],
        ),
        ('{"a":["x"],"a":["x"],"a":"y"}', {"a": ["x", "x", "y"]}),
        ('{"a":[1.50],"a":[1e400]}', {"a": [NumberText("1.50"), NumberText("1e400")]}),
    ],
)
@pytest.mark.parametrize("wrapping", ["{}", "Here: {} That is all.", "```json\n{}\n```", "{},"])
def test_keys_that_come_twice_lose_nothing_in_json_that_decodes(text: str, value: Any, wrapping: str) -> None:
    parsed = parse_response(wrapping.replace("{}", text))
    assert (parsed.value, parsed.status) == (value, "repaired")
    assert "repeated_keys" in parsed.repairs


def test_names_of_keys_that_are_declared_begin_an_event_or_argument() -> None:
    keys = KeySettings(event_type=("type",), role=("name",), argument=("text",))
    arguments = '[{"name": "Person", "text": "Ann", "name": "Place", "text": "Oslo"}]'
    text = f'[{{"type": "Hire", "arguments": {arguments}, "type": "Fire"}}]'
    assert parse_response(text, form=Form(names=keys)).value == [
        {"type": "Hire", "arguments": [{"name": "Person", "text": "Ann"}, {"name": "Place", "text": "Oslo"}]},
        {"type": "Fire"},
    ]


@cases(
    ("text", "value"),
    [
        (
            HIRE + '[{"argument":"GE arm","role":"target","rea...: "AIG","role":"acquirer"}]}]',
            [{"event_type": "Hire", "arguments": [{"argument": "GE arm", "role": "target"}]}],
        ),
        (
            HIRE + "[" + ANN + ',"note...}]},' + FIRE + "]",
            [event("Hire", ("Person", "Ann")), event("Fire", ("Person", "Bob"))],
        ),
        # The brackets between two events are among what is left out: the second event is none of the first.
        (
            HIRE + "[" + ANN + ',"no...' + FIRE + "]",
            [event("Fire", ("Person", "Bob")), event("Hire", ("Person", "Ann"))],
        ),
        # An argument behind dots may be another event's.
        (
            HIRE + '[{"role":"Person","argument":"Ann"}, ..., {"role":"Place","argument":"Oslo"}]}]',
            hired(("Person", "Ann")),
        ),
        # Without dots, a key that comes again after damage begins a new item, and nothing is lost behind it.
        (
            HIRE + '[{"role":"Person","argument":"Ann" "role":"Place","argument":"Oslo"}]}]',
            hired(("Person", "Ann"), ("Place", "Oslo")),
        ),
        (
            HIRE + '[{"role":"role":"Person","argument":"Ann"}]}]',
            hired(("Person", "Ann")),
        ),
        ('{"a":["x"],"b":["y","a":["z"]}', {"a": ["x", "z"], "b": ["y"]}),
        ('{"a": ["x"\n",\n"y"\n",\n"z"]}', {"a": ["x", "y", "z"]}),
        ('{"a": ["x" ", "y"], "b": "z"}', {"a": ["x", "y"], "b": "z"}),
        ('{"a": "x", "b": oops ["y", "z"]}', {"a": "x", "b": ["y", "z"]}),
    ],
)
def test_no_value_moves_to_another_role_or_event(text: str, value: Any) -> None:
    assert parse_response(text).value == value
