"""Asking an endpoint that misbehaves: nothing is lost, nothing is asked twice, and a hopeless one ends the run."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable
from decimal import Decimal
from email.utils import formatdate
from typing import Any

import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.generation.limits import EndpointLimits
from goldgate.generation.openai import OpenAIAnswerer
from goldgate.generation.run import given_up_error
from goldgate.generation.secret import Secret
from goldgate.generation.transport import EndpointOptions
from tests.generation.conftest import Data
from tests.generation.server import Behaviour, Running

Serve = Callable[[Behaviour], Running]
KEY = "sk-test-abcdefghij0123456789"


def predictions(data: Data) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (data.out / "predictions.jsonl").read_bytes().splitlines()]


def test_every_document_is_asked_about_once_and_stored_in_the_order_of_the_gold(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(latency=0.01))
    outcome, _ = data.generate(server.url)
    assert outcome.ending.reason == "done"
    assert server.seen.requests == 12
    assert [line["id"] for line in predictions(data)] == [f"d{number}" for number in range(12)]
    assert outcome.summaries[0].complete


def test_nothing_is_asked_again_when_all_is_there(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    data.generate(server.url)
    before = (data.out / "journal.jsonl").read_bytes()
    _, said = data.generate(server.url)
    assert server.seen.requests == 12
    assert (data.out / "journal.jsonl").read_bytes() == before
    assert said == ["12 of 12 answers are in the journal; asking for 0"]


def test_only_what_is_missing_is_asked_after_a_torn_line(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    data.generate(server.url, limits=EndpointLimits(concurrency=1))
    journal = data.out / "journal.jsonl"
    whole = (data.out / "predictions.jsonl").read_bytes()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:12]) + lines[12][:40])  # the plan, 5 questions and answers, and a torn one
    _, said = data.generate(server.url)
    assert server.seen.requests == 12 + 7
    assert "torn" in said[0]
    assert said[1] == "5 of 12 answers are in the journal; asking for 7"
    assert (data.out / "predictions.jsonl").read_bytes() == whole


@pytest.mark.parametrize("change", [{"model": "n"}, {"prompt": "zh"}, {"parameters": {"temperature": 1.0}}])
def test_another_question_is_another_key_and_says_so(data: Data, serve: Serve, change: dict[str, Any]) -> None:
    server = serve(data.behaviour())
    data.generate(server.url)
    _, said = data.generate(server.url, **change)
    assert server.seen.requests == 24
    assert f"what differs: {next(iter(change))}" in said[0]


@pytest.mark.parametrize(
    "faults",
    [
        {"busy": 0.3},
        {"broken": 0.2},
        {"reset": 0.2},
        {"half": 0.2},
        {"not_json": 0.2},
        {"wrong_type": 0.2},
        {"busy": 0.1, "broken": 0.05, "reset": 0.05, "half": 0.05},
        {"slow_body": 0.05},
        {"busy": 0.3, "retry_after": None, "retry_after_ms": "20"},
        {"busy": 0.3, "retry_after": formatdate(0, usegmt=True)},
        {"without_usage": True},
    ],
)
def test_none_lost(make_data: Callable[[int], Data], serve: Serve, faults: dict[str, Any]) -> None:
    data = make_data(40)
    server = serve(data.behaviour(**faults))
    outcome, _ = data.generate(server.url, limits=EndpointLimits(concurrency=16, attempts=12))
    assert outcome.summaries[0].complete
    assert len({line["key"] for line in data.journal("answer")}) == len(data.journal("answer")) == 40
    assert outcome.summaries[0].usage.input > 0


def test_concurrency_is_kept(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(40)
    server = serve(data.behaviour(latency=0.02))
    data.generate(server.url, limits=EndpointLimits(concurrency=5))
    assert server.seen.most_at_once == 5


def test_requests_a_minute_are_kept(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    began = time.monotonic()
    data.generate(server.url, limits=EndpointLimits(concurrency=8, requests_per_minute=1200))
    assert time.monotonic() - began >= 11 * 60 / 1200  # 12 requests, 50 ms apart


def test_tokens_a_minute_are_kept(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    began = time.monotonic()
    data.generate(server.url, limits=EndpointLimits(8, tokens_per_minute=120_000), parameters={"max_tokens": 100})
    spent = sum(line["usage"][0] + line["usage"][1] for line in data.journal("answer"))
    assert time.monotonic() - began >= spent * 11 / 12 * 60 / 120_000 * 0.9


def test_a_request_that_finally_fails_is_recorded_and_asked_again_next_time(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(refuse_text="Town 3 ", latency=0.01))
    outcome, _ = data.generate(server.url)
    summary = outcome.summaries[0]
    assert (summary.answered, dict(summary.missing)) == (11, {"http_400": 1})
    failure = data.journal("failure")[0]
    assert (failure["id"], failure["cause"]) == ("d3", "http_400")
    assert "policy" in failure["detail"]
    server.behaviour.refuse_text = None
    outcome, _ = data.generate(server.url)
    assert outcome.summaries[0].complete
    assert server.seen.requests == 13


def test_timeouts_are_retried_and_then_recorded(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(slow_body=1.0))
    outcome, _ = data.generate(server.url, timeout=0.1, limits=EndpointLimits(concurrency=12, attempts=2))
    assert dict(outcome.summaries[0].missing) == {"timeout": 12}
    assert {line["attempts"] for line in data.journal("failure")} == {2}


def test_a_wrong_key_ends_the_run_at_once_and_shows_no_key(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(key="another-key-altogether"))
    outcome, said = data.generate(server.url, Secret(KEY), limits=EndpointLimits(concurrency=4))
    assert outcome.ending.reason == "stopped"
    assert server.seen.requests <= 8
    error = str(given_up_error(outcome.ending, OpenAIAnswerer(EndpointOptions(server.url, secret=Secret(KEY)))))
    assert "OPENAI_API_KEY" in error
    stored = b"".join(file.read_bytes() for file in data.out.iterdir()).decode() + error + "".join(said)
    assert all(KEY[at : at + 8] not in stored for at in range(len(KEY) - 7))


def test_the_right_key_is_sent(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(key=KEY))
    outcome, _ = data.generate(server.url, Secret(KEY))
    assert outcome.summaries[0].complete


@pytest.mark.usefixtures("impatient")
def test_a_dead_endpoint_ends_the_run_early(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(300)
    with Running(Behaviour()) as gone:
        url = gone.url
    began = time.monotonic()
    outcome, _ = data.generate(url)
    assert outcome.ending.reason == "stopped"
    assert time.monotonic() - began < 15
    assert "unreachable" in outcome.ending.message
    assert "server running" in str(
        given_up_error(outcome.ending, OpenAIAnswerer(EndpointOptions(url, secret=Secret(None))))
    )
    assert len(data.journal("failure")) < 30


def test_refusals_of_everything_end_the_run_early(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(300)
    server = serve(data.behaviour(status=422, message="temperature is not known here"))
    outcome, _ = data.generate(server.url, response_format="text")
    assert outcome.ending.reason == "stopped"
    assert "temperature is not known here" in outcome.ending.message
    assert server.seen.requests < 60


@pytest.mark.parametrize("vague", [False, True])
@pytest.mark.parametrize(
    ("refused", "reached"), [(("json_schema",), "json_object"), (("json_schema", "json_object"), "text")]
)
def test_auto_steps_down_once_and_remembers(
    make_data: Callable[[int], Data], serve: Serve, refused: tuple[str, ...], reached: str, vague: bool
) -> None:
    data = make_data(30)
    server = serve(data.behaviour(refuse_formats=refused, vague=vague, latency=0.01))
    outcome, said = data.generate(server.url, limits=EndpointLimits(concurrency=8), max_total_tokens=5_000)
    assert outcome.ending.reason == "budget"
    assert outcome.ladder.form == reached
    asked = [body.get("response_format", {}).get("type", "text") for body in server.seen.bodies]
    assert asked[: len(refused) + 1] == [*refused, reached]  # the first question alone, until it is answered
    assert set(asked[len(refused) :]) == {reached}
    assert [(step["from"], step["to"]) for step in data.journal("step_down")] == [("json_schema", reached)]
    assert [step["to"] for step in outcome.summary["step_downs"]] == [reached]
    assert len([line for line in said if "refuses" in line]) == 1
    outcome, said = data.generate(server.url)
    assert outcome.summaries[0].complete
    assert outcome.summary["signature"].endswith(f"|format:{reached}")
    assert server.seen.requests == 30 + len(refused)  # the same format is reached without asking
    assert not [line for line in said if "refuses" in line]


def test_auto_does_not_step_down_for_one_bad_document(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(30)
    server = serve(data.behaviour(refuse_text="Town 0 ", latency=0.01))
    outcome, _ = data.generate(server.url)
    assert outcome.ladder.form == "json_schema"
    assert dict(outcome.summaries[0].missing) == {"http_400": 1}
    assert server.seen.formats == {"json_schema": 30, "json_object": 1, "text": 1}


def test_a_run_that_is_killed_right_after_its_step_down_goes_on_below(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(refuse_formats=("json_schema",)))
    data.generate(server.url)
    journal = data.out / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    (end,) = (number for number, line in enumerate(lines) if b'"step_down"' in line)
    journal.write_bytes(b"".join(lines[: end + 1]))
    outcome, _ = data.generate(server.url)
    assert outcome.summaries[0].complete
    assert server.seen.formats == {"json_schema": 1, "json_object": 24}
    assert len(data.journal("step_down")) == 1


def test_auto_takes_answers_of_a_run_that_was_told_the_format(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(refuse_formats=("json_schema",)))
    data.generate(server.url, response_format="json_object")
    outcome, _ = data.generate(server.url)
    assert outcome.summaries[0].complete
    assert server.seen.formats == {"json_object": 12, "json_schema": 1}
    assert outcome.ladder.form == "json_object"


@pytest.mark.usefixtures("impatient")
def test_an_endpoint_that_never_answers_the_first_question_ends_the_run(data: Data, serve: Serve) -> None:
    """It is asked one question at a time until its format is known, so that few of them say as much."""
    server = serve(data.behaviour(slow_body=1.0))
    outcome, _ = data.generate(server.url, timeout=0.1)
    assert outcome.ending.reason == "stopped"
    assert server.seen.requests < 12


def test_a_chosen_format_does_not_step_down(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(refuse_formats=("json_schema",)))
    outcome, _ = data.generate(server.url, response_format="json_schema")
    assert outcome.ending.reason == "stopped"
    assert not data.journal("step_down")


def test_a_cap_on_tokens_stops_before_it_is_exceeded(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(60)
    server = serve(data.behaviour(latency=0.01))
    cap = 5_000
    outcome, _ = data.generate(server.url, max_total_tokens=cap, parameters={"max_tokens": 100})
    assert outcome.ending.reason == "budget"
    spent = outcome.summaries[0].usage.total
    assert 0 < spent <= cap
    assert outcome.summaries[0].missing["not_asked"] > 0
    again, _ = data.generate(server.url, max_total_tokens=cap, parameters={"max_tokens": 100})
    assert again.summaries[0].usage.total <= cap  # what an earlier run spent counts


def test_a_cap_on_money_needs_a_price(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    with pytest.raises(ConfigError, match="price"):
        data.generate(server.url, max_cost=Decimal(1))
    protocol = data.folder / "protocol.yaml"
    protocol.write_text("generation: {currency: EUR, prices: {m: {input: 1.5, output: 3}}}\n")
    outcome, _ = data.generate(server.url, max_cost=Decimal(1), protocol=str(protocol))
    seed = outcome.summary["seeds"][0]
    expected = Decimal("1.5") * seed["tokens"]["input"] + 3 * seed["tokens"]["output"]
    assert Decimal(seed["cost"]) * 1_000_000 == expected
    assert outcome.summary["currency"] == "EUR"
    assert seed["tokens"]["reasoning"] == 3 * 12


def test_seeds_share_a_journal_and_have_their_own_predictions(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    outcome, _ = data.generate(server.url, seeds=(3407, 3408))
    assert [summary.seed for summary in outcome.summaries] == [3407, 3408]
    assert len(data.journal("answer")) == 24
    assert {body["seed"] for body in server.seen.bodies} == {3407, 3408}
    one, two = ((data.out / f"seed-{seed}" / "predictions.jsonl").read_bytes() for seed in (3407, 3408))
    assert one != two
    data.generate(server.url, seeds=(3407, 3408, 3409))
    assert server.seen.requests == 36


def test_few_shot_examples_go_into_the_prompt(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    data.generate(server.url, few_shot=2, train=str(data.gold))
    for body in server.seen.bodies:
        users = [message["content"] for message in body["messages"] if message["role"] == "user"]
        assert len(users) == 3
        assert users[2] not in users[:2]


def test_bad_gold_is_found_before_anything_is_paid_for(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    with open(data.gold, "a") as gold:
        gold.write('{"id": "last", "events": []}\n')
    with pytest.raises(InputError, match="text") as caught:
        data.generate(server.url)
    assert caught.value.place.line == 13
    assert server.seen.requests == 0


def test_requests_go_through_the_proxy_of_the_environment(
    data: Data, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(data.behaviour())  # it looks at the body only, and so can stand for a proxy
    monkeypatch.setenv("http_proxy", f"http://user:word@127.0.0.1:{server.port}")
    outcome, _ = data.generate("http://model.invalid/v1")
    assert outcome.summaries[0].complete
    assert server.seen.headers[0].startswith(b"POST http://model.invalid/v1/chat/completions ")
    assert b"proxy-authorization: basic dxnlcjp3b3jk" in server.seen.headers[0].lower()
    assert b"word" not in (data.out / "journal.jsonl").read_bytes()


def test_certificates_come_from_the_environment(data: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    key, certificate = data.folder / "key.pem", data.folder / "certificate.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1", "-days", "2"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made, *subject], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with Running(data.behaviour(), context) as server:
        url = server.url.replace("http:", "https:")
        outcome, _ = data.generate(url)
        assert "is not trusted" in outcome.ending.message
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificate))
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        outcome, _ = data.generate(url)
        assert outcome.summaries[0].complete
        monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(data.gold))
        data.out.rename(data.folder / "old")
        with pytest.raises(ConfigError, match="REQUESTS_CA_BUNDLE"):
            data.generate(url)
