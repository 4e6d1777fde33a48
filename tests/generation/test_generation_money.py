"""What is paid: busy is not bankrupt, a format is given up only for a reason, every token counts, ids outlive kills."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections import Counter
from typing import Any

import pytest

from goldgate.generation.limits import EndpointLimits
from goldgate.generation.reply import LONGEST_RETRY_AFTER, read_reply, retry_after_text
from goldgate.generation.request import NoAnswer
from goldgate.generation.secret import Secret
from tests.cases import cases
from tests.generation.conftest import Ask, MakeData
from tests.generation.raw import Raw, Reply, completion, http
from tests.generation.test_generation_commands import ENVIRONMENT, _wait_for, command, run

PLAN_AND_BILLING = "You exceeded your current quota, please check your plan and billing details."
A_VENDOR = [
    {
        "error": {
            "code": 429,
            "message": PLAN_AND_BILLING + " " + "See our pages. " * 40 + "\nPlease retry in 1.2s.",
            "status": "RESOURCE_EXHAUSTED",
            "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1s"}],
        }
    }
]


@cases(
    ("text", "seconds"),
    [
        ("Please retry in 1.2s.", 1.2),
        ("Please try again in 20s. Contact us", 20.0),
        ("Please try again in 250ms.", 0.25),
        ("try again in 1m30s", 90.0),
        ("Please try again in 7m59.88s.", LONGEST_RETRY_AFTER),
        ("Please retry after 55 seconds.", 55.0),
        ("Rate limit reached, retry your request after 3 seconds", 3.0),
        ("please wait 30 seconds", 30.0),
        ('"retryDelay": "34.07s"', 34.07),
        ('{"retry_after": 1.5}', 1.5),
        ('{"retry_after_ms": 500}', 0.5),
        ("try again in 1 minute and 5 seconds", 65.0),
        ("try again in 999999999 days", LONGEST_RETRY_AFTER),
        ("Try again later.", None),
        ("Limit 20 requests, used 20. Model gpt-4", None),
        ("retry " + "9" * 100_000, None),
        ("", None),
    ],
)
def test_a_retry_time_in_words(text: str, seconds: float | None) -> None:
    found = retry_after_text(text)
    assert found == (pytest.approx(seconds) if seconds is not None else None)


@cases(
    ("body", "asked", "means"),
    [
        (A_VENDOR, None, "busy"),
        ({"error": {"message": PLAN_AND_BILLING, "code": "insufficient_quota"}}, None, "hopeless"),
        ({"error": {"message": PLAN_AND_BILLING, "code": "insufficient_quota"}}, 2.0, "busy"),
        ({"error": {"message": f"{PLAN_AND_BILLING} Try again in 20s.", "type": "insufficient_quota"}}, None, "busy"),
        ({"error": {"message": "no", "type": "insufficient_quota"}}, None, "hopeless"),
        ({"error": {"message": "Your credit balance is too low"}}, None, "hopeless"),
        ({"error": {"message": "Too many requests for your plan and billing tier"}}, None, "busy"),
        ({"error": {"message": "slow down"}}, None, "busy"),
        ({}, None, "busy"),
    ],
)
def test_whoever_names_a_time_is_busy_and_not_bankrupt(body: Any, asked: float | None, means: str) -> None:
    trouble = read_reply(429, "application/json", json.dumps(body).encode(), Secret(None), asked)
    assert isinstance(trouble, NoAnswer)
    assert trouble.means == means


def test_a_busy_vendor_that_speaks_of_bills_ends_nothing(make_data: MakeData, monkeypatch: Any) -> None:
    monkeypatch.setattr("goldgate.generation.reply.LONGEST_RETRY_AFTER", 0.01)
    data = make_data(4)
    busy = http(json.dumps(A_VENDOR).encode(), status="429 Too Many Requests")
    with Raw(lambda number, *_: busy if number % 3 != 2 else http(completion())) as server:
        outcome, _ = data.generate(server.url)
    assert outcome.ending.reason == "done"
    assert outcome.summaries[0].complete


TOO_LONG = [
    "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8500 in the messages, "
    "500 in the response_format). Please reduce the length of the messages.",
    "json_schema: the prompt is too long: invalid request",
    "Input exceeds the context window; response_format is not supported beyond it",
]


@pytest.mark.parametrize("refusal", [*TOO_LONG, "bad request"])
def test_refusals_of_some_documents_change_nothing_for_the_others(ask: Ask, refusal: str) -> None:
    limits = EndpointLimits(concurrency=16)
    asked = ask(40, refuse_text="Town 1", refusal=refusal, latency=0.02, limits=limits)  # 1, and 10 to 19
    assert asked.outcome.ladder.form == "json_schema"
    assert (asked.summary.answered, dict(asked.summary.missing)) == (29, {"http_400": 11})
    assert set(asked.server.seen.answered.values()) == {1}
    if refusal in TOO_LONG:
        assert not asked.data.journal("step_down")
        assert asked.requests == 40


@cases(
    ("status", "message", "means"),
    [
        (400, "response_format json_schema is not supported", "format"),
        (400, "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", "format"),
        (400, "response_format.type: Input should be 'text' or 'json_object'", "format"),
        (400, "Invalid schema for response_format 'events': 'required' must be supplied", "format"),
        (400, "json_schema is too complex: the schema is too large", "format"),
        (422, "extra fields not permitted: response_format", "format"),
        (500, "guided decoding is not available", "format"),
        (501, "structured output is not implemented", "format"),
        (400, "Failed to generate JSON. Please adjust your prompt.", "unclear"),
        (400, "bad request", "unclear"),
        (400, "the document breaks our rules", "unclear"),
        (413, "Request too large", "final"),
        *((400, message, "final") for message in TOO_LONG),
    ],
)
def test_what_says_that_a_format_is_not_supported(status: int, message: str, means: str) -> None:
    body = json.dumps({"error": {"message": message}}).encode()
    trouble = read_reply(status, "application/json", body, Secret(None))
    assert isinstance(trouble, NoAnswer)
    assert trouble.means == means


def asked_about(body: bytes) -> str:
    found = re.search(r"Union (\d+) went", json.loads(body)["messages"][-1]["content"])
    assert found is not None
    return found[1]


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize(("refused", "form"), [(0, "json_object"), (1, "json_schema")])
def test_nothing_is_paid_twice_where_some_backends_know_the_format_and_others_do_not(
    make_data: MakeData, concurrency: int, refused: int, form: str
) -> None:
    """The first request decides the format; another that comes to the wrong backend is sent again."""
    data = make_data(30)
    answered: Counter[str] = Counter()

    def reply(number: int, head: bytes, body: bytes) -> Reply:
        if json.loads(body)["response_format"]["type"] == "json_schema" and number % 3 == refused:
            return http(b'{"error": {"message": "response_format json_schema is not supported"}}', status="400 No")
        answered[asked_about(body)] += 1
        return http(completion())

    with Raw(reply) as server:
        outcome, _ = data.generate(server.url, limits=EndpointLimits(concurrency=concurrency))
        asked = len(server.heads)
        again, _ = data.generate(server.url, limits=EndpointLimits(concurrency=concurrency))
        assert len(server.heads) == asked
    assert outcome.summaries[0].complete
    assert again.summaries[0].complete
    assert set(answered.values()) == {1}
    assert outcome.summary["signature"].endswith(f"|format:{form}")
    # 30 answers, 5 + 2 tokens each, and nothing else
    assert outcome.summaries[0].usage.total == 30 * 7


def test_a_format_that_an_endpoint_no_longer_knows_is_not_stepped_down_from(ask: Ask) -> None:
    asked = ask(limits=EndpointLimits(concurrency=1), max_total_tokens=3_500)
    asked.server.behaviour.refuse_formats = ("json_schema",)
    again = asked.again(limits=EndpointLimits(attempts=2))
    assert again.outcome.ladder.form == "json_schema"
    assert 0 < again.summary.answered < 12
    assert set(again.summary.missing) == {"http_400"}


def test_answers_in_a_chosen_format_are_no_answers_for_auto(ask: Ask) -> None:
    assert ask(response_format="text").again().server.seen.formats == {"text": 12, "json_schema": 12}


def test_tokens_of_replies_without_an_answer_are_counted(make_data: MakeData) -> None:
    data = make_data(2)
    useless = {"usage": {"prompt_tokens": 100, "completion_tokens": 30}, "choices": []}
    replies = [http(json.dumps(useless).encode()), http(completion()), http(completion())]
    with Raw(lambda number, *_: replies[number]) as server:
        outcome, _ = data.generate(server.url, limits=EndpointLimits(concurrency=1))
    tokens = outcome.summary["seeds"][0]["tokens"]
    assert (tokens["input"], tokens["output"]) == (100 + 5 + 5, 30 + 2 + 2)
    assert tokens["without_answer"] == {"requests": 1, "input": 100, "output": 30}
    again, _ = data.generate(server.url)  # nobody is there any more: from the journal alone
    assert again.summary["seeds"][0]["tokens"] == tokens


def test_a_cap_counts_what_earlier_runs_lost(make_data: MakeData) -> None:
    data = make_data(1)
    useless = {"usage": {"prompt_tokens": 9_000, "completion_tokens": 0}, "choices": []}
    with Raw(lambda *_: http(json.dumps(useless).encode())) as server:
        data.generate(server.url, limits=EndpointLimits(attempts=1), parameters={"max_tokens": 1000})
        outcome, _ = data.generate(server.url, max_total_tokens=10_000, parameters={"max_tokens": 1000})
        assert len(server.heads) == 1
    assert outcome.ending.reason == "budget"


def ids(server: Raw) -> list[bytes]:
    found = [re.search(rb"Idempotency-Key: (\S+)\r\nX-Client-Request-Id: (\S+)", head) for head in server.heads]
    assert all(match is not None and match[1] == match[2] for match in found)
    return [match[1] for match in found if match is not None]


@pytest.mark.parametrize(
    ("trouble", "same"),
    [
        (b"", True),  # cut off
        (http(completion())[:-40], True),  # in the middle of the answer
        (http(b"", "Retry-After: 0", status="429 Busy"), True),
        (http(b"", "Retry-After: 0", status="409 Conflict"), True),  # the first one is still being worked on
        (http(b"", "Retry-After: 0", status="502 Bad Gateway"), True),
        (http(b"", "Retry-After: 0", status="500 Broken"), False),
        (http(b"{}", "Retry-After: 0"), False),
    ],
)
def test_a_request_whose_end_is_unknown_keeps_its_id(make_data: MakeData, trouble: bytes, same: bool) -> None:
    data = make_data(1)
    with Raw(lambda number, *_: trouble if number == 0 else http(completion())) as server:
        outcome, _ = data.generate(server.url)
        first, second = ids(server)
    assert outcome.summaries[0].complete
    assert (first == second) == same
    assert [line["request_id"].encode() for line in data.journal("asked")] == [first, second]


def test_after_a_kill_exactly_what_was_in_flight_is_asked_again_under_the_same_ids(
    make_data: MakeData,
) -> None:
    data = make_data(20)
    stored: dict[bytes, bytes] = {}
    charged: Counter[bytes] = Counter()

    def reply(number: int, head: bytes, body: bytes) -> Reply:
        """An endpoint that keeps answers by request id; from the ninth on it does the work and does not say so."""
        name = head.partition(b"Idempotency-Key: ")[2].split(b"\r\n", 1)[0]
        if name not in stored:
            stored[name] = completion(f"the answer to {asked_about(body)}")
            charged[body] += 1
        return http(stored[name]) if number < 8 or number >= 12 else [http(stored[name])[:30], b""] * 1000

    with Raw(reply, pause=0.01) as server:
        process = subprocess.Popen(
            command(data, server.url, "--concurrency", "4", "--quiet", program="generate"), env=ENVIRONMENT
        )
        _wait_for(lambda: len(server.heads) == 12)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = ids(server)
        assert len(data.journal("answer")) == 8
        done = run(data, server.url, "--concurrency", "4", program="generate")
        assert done.returncode == 0, done.stderr
        after = ids(server)[12:]
    assert "4 of them were in flight when an earlier run was cut off" in done.stderr
    assert len(after) == 12
    assert set(before[8:]) == set(before) & set(after)
    assert set(charged.values()) == {1}  # nothing was charged twice
    assert [line["cause"] for line in data.journal("unanswered")] == ["cut_off"] * 4
    tokens = json.loads((data.out / "generation.json").read_bytes())["seeds"][0]["tokens"]
    assert tokens["without_answer"]["requests"] == 4  # they may have been: they count
