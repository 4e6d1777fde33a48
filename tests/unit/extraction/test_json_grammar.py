"""Every list and object that RFC 8259 allows is read as it stands, and nothing that it forbids raises."""

from __future__ import annotations

import json

import pytest

from goldgate import parse_response
from goldgate.suites.extraction.events.answer_form import CANONICAL, Form
from tests.cases import cases

DEEP = 200  # levels; a reader may set a limit (RFC 8259, section 9)

VALID = [
    # containers and blanks
    "[]",
    "{}",
    "[ ]",
    "{ }",
    " [1] ",
    "\t[1]\r\n",
    "\n\r\t [ \n\r\t ] \n\r\t ",
    "[[]]",
    "[[],[]]",
    "[{}]",
    "[{},{}]",
    '{"a":[]}',
    '{"a":{}}',
    '{"a":{"b":{"c":[{"d":[]}]}}}',
    "[" * DEEP + "]" * DEEP,
    '{"a":' * DEEP + "1" + "}" * DEEP,
    "[" + "1," * 2_000 + "1]",
    # literals
    "[true]",
    "[false]",
    "[null]",
    "[null,1,true,[],{}]",
    '{"a":null}',
    # numbers
    "[0]",
    "[-0]",
    "[-0.0]",
    "[1]",
    "[-1]",
    "[123456789012345678901234567890]",
    "[-123123123123123123123123123123]",
    "[0.5]",
    "[1.000000000000000000000000000005]",
    "[1e5]",
    "[1E5]",
    "[1e+5]",
    "[1e-5]",
    "[0e1]",
    "[0e+1]",
    "[1.5E-10]",
    "[1e400]",
    "[-1e400]",
    "[1e-400]",
    "[123.456e78]",
    "[4 ]",
    '{"min":-1.0e+28,"max":1.0e+28}',
    # strings
    '[""]',
    '["a"]',
    '[" "]',
    r'["\"\\\/\b\f\n\r\t"]',
    r'["\u0061"]',
    r'["\u00e9\u4e2d"]',
    r'["\uD83D\uDE00"]',
    r'["\ud83d\ude00\ud83d\udc4d"]',
    r'["\u0000"]',
    r'["\u0012\u001f"]',
    r'["\u2028\u2029"]',
    r'["\u0022"]',
    r'["\u005C"]',
    r'["\\u0061"]',
    r'["\\n"]',
    r'["\\"]',
    r'["\uFFFE\uFFFF"]',
    r'["\uDBFF\uDFFF"]',
    '["\u2028\u2029"]',
    '["\x7f"]',
    '["é中😀"]',
    '["\ufeff"]',
    '["\u200b"]',
    '["a/*b*/c//d#e"]',
    '["[{", "}]", ",", ":"]',
    '["```", "~~~", "<b>"]',
    '["\'", "“”", "，："]',
    '["assistant", "corrected", "user:"]',
    # objects
    '{"":0}',
    '{"a":1}',
    '{"a":1,"b":2}',
    '{"a" : 1 , "b" : 2}',
    '{"a":\n1}',
    r'{"a\"b":1}',
    r'{"\u0000":1}',
    '{"a b/c":"d"}',
    '{"它":"值"}',
    '{"a":"b","a":"c"}',
    '{"a":1,"a":1}',
    '{"x":[{"id":"xxxxxxxxxxxxxxxxxxxx"}],"id":"xxxxxxxxxxxxxxxxxxxx"}',
    '[{"event_type": "A", "arguments": []}]',
    '{"events": [{"event_type": "A", "arguments": [{"role": "r", "argument": 1.10}]}]}',
]

INVALID = [
    # containers
    "",
    " ",
    "[",
    "{",
    "]",
    "}",
    "[]]",
    "{}}",
    "[1]x",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[,]",
    "[1,,2]",
    "[1 2]",
    "[1:2]",
    '["a":1]',
    "[1}",
    '{"a":1]',
    "[[1]",
    "[}",
    "{]",
    "[x",
    "[1] [2]",
    "[](",
    "[\x0c]",
    "[\u2060]",
    "[\u00a0]",
    "\ufeff[]",
    "[" * 20_000,
    '[{"":' * 2_000,
    "[" * 5_000 + "]" * 5_000,
    # literals
    "[nul]",
    "[tru]",
    "[fals]",
    "[True]",
    "[None]",
    "[NULL]",
    "[nan]",
    "[NaN]",
    "[Infinity]",
    "[-Infinity]",
    "[undefined]",
    # numbers
    "[01]",
    "[-01]",
    "[+1]",
    "[1.]",
    "[.5]",
    "[-.5]",
    "[1e]",
    "[1e+]",
    "[1eE2]",
    "[0x1F]",
    "[1_000]",
    "[1,000.5.2]",
    "[--1]",
    "[-]",
    "[- 1]",
    "[2.e3]",
    "[１]",
    "[1+2]",
    "[1a]",
    "[-foo]",
    # strings
    '["]',
    '["a]',
    '["a',
    "['a']",
    "[a]",
    '["a" "b"]',
    '["a\nb"]',
    '["a\tb"]',
    '["\x00"]',
    '["\x1f"]',
    r'["\x41"]',
    r'["\a"]',
    r'["\u"]',
    r'["\u12"]',
    r'["\u123"]',
    r'["\u00zz"]',
    '["\\',
    '["\\"]',
    '["\\"',
    '["\\u',
    r'["\uD800"]',
    r'["\uDC00"]',
    r'["\uD800\uD800"]',
    r'["\uD800\u0061"]',
    r'["\uDE00\uD83D"]',
    r'["\'"]',
    '["a\\\nb"]',
    "[“a”]",
    # objects
    '{"a"}',
    '{"a":}',
    '{"a":1,}',
    "{,}",
    '{"a" 1}',
    '{"a"::1}',
    '{"a":1,,"b":2}',
    '{"a":1 "b":2}',
    '{"a":1;"b":2}',
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    "{null:1}",
    "{[]:1}",
    '{"a":"b",c}',
    '{"a":"b"}#',
    '{"a":"b"}//',
    '{"a":/* c */1}',
    '{"a": 1}{"b": 2}',
    '{"a',
    '{"a"',
    '{"a":',
    '{"a":"',
    '{"a":"b"',
    '{"a":"b",',
    '{"a":"b","',
    "{{",
    "{{}}",
    "<null>",
    "[<null>]",
    "[⁰]",
    "*",
    "å",
    "\x00",
    "[\x00]",
]

FORMS = [CANONICAL, Form(mapping=True), Form(flat=True)]


@pytest.mark.parametrize("form", FORMS, ids=["canonical", "mapping", "flat"])
def test_valid_list_or_object_is_raw_and_whole(form: Form) -> None:
    for text in VALID:
        case, expected = text[:40], json.loads(text)
        parsed = parse_response(text, form=form)
        repeats = text in ('{"a":"b","a":"c"}', '{"a":1,"a":1}')  # a key that comes twice is a repair
        status = ("repaired", "whole", ("repeated_keys",)) if repeats else ("raw", "whole", ())
        assert (parsed.status, parsed.method, parsed.repairs) == status, case
        # value: a double for a large integer
        assert parsed.source is None or json.loads(parsed.source) == expected, case
        assert (parsed.start, parsed.end) == (len(text) - len(text.lstrip()), len(text.rstrip())), case


@pytest.mark.parametrize("form", FORMS, ids=["canonical", "mapping", "flat"])
def test_text_that_is_no_json_raises_nothing_and_is_not_raw_as_a_whole(form: Form) -> None:
    for text in INVALID:
        parsed = parse_response(text, form=form)
        assert (parsed.status, parsed.method) != ("raw", "whole"), text[:40]


@cases("text", ["1", '"a"', "true", "null", "-0.5e1", '""'])
def test_value_that_is_no_list_or_object_is_no_answer(text: str) -> None:
    assert parse_response(text).method == "no_json_found"


def test_table_knows_valid_from_invalid() -> None:
    """The oracle is Python's decoder, which is too kind to NaN and halves of pairs, and since 3.12 to deep nesting."""
    for text in VALID:
        json.loads(text)
    for text in INVALID:
        kind = any(part in text for part in ("NaN", "Infinity", "\\uD", "\\uDE00", "[" * 1_000))
        try:
            json.loads(text)
        except (ValueError, RecursionError):
            continue
        assert kind, text
