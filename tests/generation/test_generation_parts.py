"""The parts without a network: keys of requests, replies, secrets."""

from __future__ import annotations

import json
from typing import Any, cast

import orjson
import pytest

from goldgate.core.task import AnswerFormat
from goldgate.errors import ConfigError
from goldgate.generation.gold_task import Documents
from goldgate.generation.prompt import parse_template
from goldgate.generation.reply import read_reply
from goldgate.generation.request import ModelAnswer, NoAnswer, RequestBuilder, RequestPlan, Usage, answer_formats
from goldgate.generation.secret import Secret, check_address, read_secret, redact_address
from goldgate.generation.transport import EndpointOptions, find_proxy
from goldgate.suites.extraction.events import empty_events
from goldgate.suites.extraction.events.event_schema import parse_event_schema
from goldgate.suites.extraction.records import Gold
from goldgate.suites.extraction.settings import ResponseSettings
from goldgate.suites.extraction.task import (
    ExtractionTask,
    TaskOptions,
    load_task,
    load_template,
)
from tests.cases import cases
from tests.generation.conftest import SCHEMA, Data

KEY = "sk-live-abcdefghij0123456789XYZ"
DOCUMENT = Gold("d1", "A text.", empty_events())


def task(document: Gold = DOCUMENT, **changes: Any) -> ExtractionTask:
    usual: dict[str, Any] = {
        "schema": parse_event_schema(SCHEMA),
        "template": load_template("en"),
        "examples": dict.fromkeys((None, 7), ()),
    }
    return ExtractionTask(cast("Documents[Gold]", [document]), **{**usual, **changes})


def plan(of: ExtractionTask | None = None, **changes: Any) -> RequestPlan:
    usual: dict[str, Any] = {
        "source": {"endpoint": "http://a/v1"},
        "model": "m",
        "parameters": {"temperature": 0.0, "max_tokens": 64},
        "seeds": (None, 7),
    }
    asked, response_format = of or task(), changes.pop("response_format", "auto")
    formats = answer_formats(asked, response_format, takes_formats=changes.pop("takes_formats", True))
    return RequestPlan(asked, formats=formats, **{**usual, **changes})


def key(of: RequestPlan, seed: int | None = None, form: AnswerFormat | None = None) -> str:
    return RequestBuilder(of, form or of.formats[0]).make(of.task.question(0, seed), seed).key


def test_the_same_questions_have_the_same_keys_in_every_version() -> None:
    """Another key would ask, and pay for, everything again that is in the journals of earlier versions."""
    assert plan().base() == "1addc6eca5ae92f0215d63eabe11b45e"
    shots = plan(task(options=TaskOptions((), few_shot=1), train="ab"))
    assert [
        key(plan()),
        key(plan(), seed=7),
        key(plan(task(template=load_template("en-thought")))),
        key(plan(response_format="text")),
        key(shots, 7, "json_object"),
        key(plan(source={"checkpoint": "cd"}, takes_formats=False)),
    ] == [
        "6affb190bba61909dfeeae3a15c39d29",
        "2013059e02a146fbd2a2557ac023857f",
        "0c80274eadb3d5e719caa4155132a36a",
        "0eb01ba3fb4f7fd22bc13c619af831db",
        "ea223d1684fbc67c437628611095f1e0",
        "3985d9ee21ac486d94b10f2675f7195c",
    ]


def test_structured_output_is_not_demanded_beside_another_form_of_answers(data: Data) -> None:
    assert plan().formats == ("json_schema", "json_object", "text")
    assert plan(task(other_form=True)).formats == ("text",)
    assert plan(task(other_form=True), response_format="json_object").formats == ("json_object",)
    response = ResponseSettings(arguments="mapping")
    with pytest.raises(ConfigError) as caught:
        load_task(TaskOptions([str(data.gold)], str(data.schema)), (None,), response, "json_schema")
    assert caught.value.code == "response_format.other_form"


@pytest.mark.parametrize(
    ("response", "first"),
    [
        ({}, "json_schema"),
        ({"null_words": ["none"]}, "json_schema"),
        ({"flat": {"event_type": "Sue"}}, "text"),
        ({"arguments": "mapping"}, "text"),
        ({"keys": {"role": ["name"]}}, "text"),
        ({"prefix": "["}, "text"),
    ],
)
def test_the_protocol_says_whether_answers_have_another_form(response: Any, first: str, data: Data) -> None:
    prepared = data.prepare("http://127.0.0.1:1/v1", protocol={"metrics": {"response": response}})
    assert prepared.plan.formats[0] == first
    prepared.task.close()


def test_everything_that_determines_a_request_is_in_its_key() -> None:
    other = parse_template("--- user ---\n{text} {schema}", "other", None)
    keys = [
        key(plan()),
        key(plan(source={"endpoint": "http://b/v1"})),
        key(plan(model="n")),
        key(plan(task(template=other))),
        key(plan(parameters={"temperature": 0.5, "max_tokens": 64})),
        key(plan(parameters={"temperature": 0.0, "max_tokens": 65})),
        key(plan(response_format="text")),
        key(plan(task(Gold("d1", "Another text.", empty_events())))),
        key(plan(task(Gold("d2", "A text.", empty_events())))),
        key(plan(), seed=7),
    ]
    assert len(set(keys)) == len(keys)
    assert key(plan()) == keys[0]
    assert key(plan(response_format="json_schema")) == keys[0]  # what auto tries first is the same request


def test_a_body_is_what_the_endpoint_expects() -> None:
    made = plan(parameters={"temperature": None, "max_tokens": 64, "top_p": 0.5})
    body = orjson.loads(RequestBuilder(made, "json_schema").make(made.task.question(0, 7), 7).body)
    assert body["model"] == "m"
    assert body["seed"] == 7
    assert body["top_p"] == 0.5
    assert "temperature" not in body
    assert body["response_format"]["json_schema"]["strict"] is True
    assert [message["role"] for message in body["messages"]] == ["system", "user"]
    assert "response_format" not in orjson.loads(
        RequestBuilder(made, "text").make(made.task.question(0, None), None).body
    )


def test_strict_output_requires_every_property_it_has() -> None:
    def objects(value: Any) -> list[dict[str, Any]]:
        if isinstance(value, list):
            return [found for item in value for found in objects(item)]
        if not isinstance(value, dict):
            return []
        below = [found for item in value.values() for found in objects(item)]
        return [value, *below] if value.get("type") == "object" else below

    found = objects(parse_event_schema(SCHEMA).json_schema(strict=True))
    assert len(found) == 5  # the root; two event types, each with its argument
    assert all(sorted(entry["properties"]) == sorted(entry["required"]) for entry in found)
    assert all(entry["additionalProperties"] is False for entry in found)


def test_a_thought_and_a_json_format_exclude_each_other(data: Data) -> None:
    assert plan(task(template=load_template("en-thought"))).formats == ("text",)
    with pytest.raises(ConfigError, match="asks for a thought"):
        data.prepare("http://127.0.0.1:1/v1", prompt="en-thought", response_format="json_schema")


@cases(
    ("status", "means"),
    [(s, "again") for s in (408, 409, 425, 500, 502, 503, 504, 529)]
    + [(429, "busy")]
    + [(s, "unclear") for s in (400, 422)]
    + [(s, "final") for s in (410, 413, 451)]
    + [(s, "hopeless") for s in (401, 402, 403, 404)]
    + [(301, "final")],
)
def test_what_a_status_means(status: int, means: str) -> None:
    trouble = read_reply(status, "application/json", b'{"error": {"message": "no"}}', Secret(None))
    assert isinstance(trouble, NoAnswer)
    assert trouble.means == means


def test_an_answer_with_everything() -> None:
    body = {
        "model": "m-2",
        "choices": [{"finish_reason": "length", "message": {"content": "hi", "reasoning_content": "hm"}}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 4}},
    }
    answer = read_reply(200, "application/json", orjson.dumps(body), Secret(None))
    assert answer == ModelAnswer("hi", Usage(5, 9, 4), "length", "hm", "m-2")


@cases("before", [b"", b"\xef\xbb\xbf", b"\n", b": hello\n\n", b"event: message\n"])
def test_a_stream_that_nobody_asked_for_is_put_together_from_its_first_piece_on(before: bytes) -> None:
    pieces = [{"choices": [{"delta": {"content": "[]"}}]}, {"choices": [{"delta": {}, "finish_reason": "stop"}]}]
    body = before + b"".join(b"data: " + orjson.dumps(piece) + b"\n\n" for piece in pieces) + b"data: [DONE]\n"
    assert read_reply(200, "text/event-stream", body, Secret(None)) == ModelAnswer("[]", None, "stop")


CALL = {"function": {"name": "events", "arguments": '{"events": []}'}}


@cases(
    ("message", "response"),
    [
        ({"content": None, "refusal": "I will not."}, "I will not."),
        ({"content": None}, ""),
        ({"content": ""}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": f"You sent {KEY}"}, "You sent [hidden]"),
        ({"content": None, "tool_calls": [CALL]}, '{"events": []}'),
        ({"content": "", "tool_calls": [CALL]}, '{"events": []}'),
        ({"tool_calls": [{"function": {"name": "events", "arguments": {"events": []}}}]}, '{"events": []}'),
        ({"content": " ", "function_call": CALL["function"]}, '{"events": []}'),
        ({"tool_calls": [{"type": "custom", "custom": {"name": "events", "input": "[]"}}]}, "[]"),
        ({"content": None, "tool_calls": [CALL, CALL]}, json.dumps({"tool_calls": [CALL, CALL]})),
        ({"content": "[]", "tool_calls": [CALL]}, "[]"),
        ({"content": None, "tool_calls": []}, ""),
        ({"content": None, "tool_calls": ["x"]}, '{"tool_calls": ["x"]}'),
    ],
)
def test_what_a_message_answers(message: dict[str, Any], response: str) -> None:
    body = orjson.dumps({"choices": [{"finish_reason": "tool_calls", "message": message}]})
    answer = read_reply(200, "application/json", body, Secret(KEY))
    assert isinstance(answer, ModelAnswer)
    assert answer.response == response


def test_arguments_of_streamed_tool_calls_are_put_together() -> None:
    def piece(index: int, **function: str) -> dict[str, Any]:
        return {"choices": [{"delta": {"tool_calls": [{"index": index, "function": function}]}}]}

    one = [piece(0, name="events", arguments=""), piece(0, arguments='{"eve'), piece(0, arguments='nts": []}')]
    two = [piece(1, name="events", arguments="["), piece(1, arguments="]")]
    calls = [{"function": {"name": "events", "arguments": arguments}} for arguments in ('{"events": []}', "[]")]
    legacy = [{"choices": [{"delta": {"function_call": {"arguments": part}}}]} for part in ("[", "]")]
    end = {"choices": [{"delta": {"content": None}, "finish_reason": "tool_calls"}]}
    for pieces, said in ((one, {"events": []}), (legacy, []), ([*one, *two], {"tool_calls": calls})):
        body = b"".join(b"data: " + orjson.dumps(each) + b"\n\n" for each in [*pieces, end])
        answer = read_reply(200, "text/event-stream", body, Secret(None))
        assert isinstance(answer, ModelAnswer)
        assert (orjson.loads(answer.response), answer.usage, answer.finish_reason) == (said, None, "tool_calls")


@cases(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Incorrect API key provided: {KEY[:8]}***********{KEY[-4:]}.",
        f"the header was 'Bearer {KEY}'",
        f"key={KEY[:20]}",
        f"http://user:{KEY}@proxy.example:3128 is down",
    ],
)
def test_no_piece_of_the_key_is_left_in_a_text(text: str) -> None:
    hidden = Secret(KEY).hide(text)
    assert all(KEY[at : at + 8] not in hidden for at in range(len(KEY) - 7))
    assert KEY[-4:] not in hidden
    assert "[hidden]" in hidden


def test_a_secret_does_not_show_itself() -> None:
    assert KEY not in repr(Secret(KEY))
    assert KEY not in repr(EndpointOptions("http://a", secret=Secret(KEY)))


def test_a_key_on_the_command_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setattr("sys.argv", ["evaluate_api.py", f"--base-url=http://a/?key={KEY}"])
    with pytest.raises(ConfigError, match="command line") as caught:
        read_secret(None)
    assert KEY not in str(caught.value)


def test_addresses() -> None:
    assert EndpointOptions("https://h/v1/").completions_url == "https://h/v1/chat/completions"
    queried = EndpointOptions("https://h/v1?api-version=1")
    assert queried.completions_url == "https://h/v1/chat/completions?api-version=1"
    assert redact_address("https://u:p@h:1/v1?k=s") == "https://h:1/v1"


@cases(
    "address",
    ["h/v1", "ftp://h", "http://", "http://u:p@h", "http://h:99999", "http://[::1", "http://h/v1?api_key=1",
     "http://h:65536/v1", "http://h\x00/v1", "http://h /v1", "http://a..b/v1", "http://" + "a" * 70 + "/v1",
     "http://h\n/v1"],
)  # fmt: skip
def test_an_address_that_cannot_be_is_named_before_anything_is_asked(address: str) -> None:
    with pytest.raises(ConfigError) as caught:
        check_address(address)
    has_password = "u:p" in address or "api_key" in address
    assert caught.value.code == ("base_url.has_password" if has_password else "base_url.invalid")


def test_a_proxy_is_found_with_its_password_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "http://user:p%40ss@proxy.example:3128")
    monkeypatch.setenv("no_proxy", "127.0.0.1,inside.example")
    proxy = find_proxy("https://api.example/v1")
    assert proxy is not None
    assert (proxy.address, proxy.user, proxy.password) == ("http://proxy.example:3128", "user", "p@ss")
    assert find_proxy("https://inside.example/v1") is None
    assert find_proxy("http://api.example/v1") is None
    monkeypatch.setenv("all_proxy", "socks5://proxy.example")
    with pytest.raises(ConfigError, match="proxy"):
        find_proxy("http://api.example/v1")
