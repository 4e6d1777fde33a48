"""Asking an endpoint that misbehaves: nothing is lost, nothing is asked twice, and a hopeless one ends the run."""

from __future__ import annotations

import json
import shutil
import ssl
import subprocess
import time
from decimal import Decimal
from email.utils import formatdate
from typing import Any

import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.generation.limits import EndpointLimits
from tests.generation.conftest import Ask, Data, Serve
from tests.generation.server import Running


def test_every_document_is_asked_about_once_and_stored_in_the_order_of_the_gold(ask: Ask) -> None:
    asked = ask(latency=0.01)
    assert (asked.outcome.ending.reason, asked.requests, asked.summary.complete) == ("done", 12, True)
    predictions = (asked.data.out / "predictions.jsonl").read_bytes().splitlines()
    assert [json.loads(line)["id"] for line in predictions] == [f"d{number}" for number in range(12)]
    before = (asked.data.out / "journal.jsonl").read_bytes()
    again = asked.again()  # all is there
    assert (again.requests, again.said) == (12, ["12 of 12 answers are in the journal; asking for 0"])
    assert (asked.data.out / "journal.jsonl").read_bytes() == before


def test_only_what_is_missing_is_asked_after_a_torn_line(ask: Ask) -> None:
    asked = ask(limits=EndpointLimits(concurrency=1))
    journal = asked.data.out / "journal.jsonl"
    whole = (asked.data.out / "predictions.jsonl").read_bytes()
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:12]) + lines[12][:40])  # the plan, 5 questions and answers, and a torn one
    again = asked.again()
    assert again.requests == 12 + 7
    assert "torn" in again.said[0]
    assert again.said[1] == "5 of 12 answers are in the journal; asking for 7"
    assert (asked.data.out / "predictions.jsonl").read_bytes() == whole


@pytest.mark.parametrize("change", [{"model": "n"}, {"prompt": "zh"}, {"parameters": {"temperature": 1.0}}])
def test_another_question_is_another_key_and_says_so(ask: Ask, change: dict[str, Any]) -> None:
    again = ask().again(**change)
    assert again.requests == 24
    assert f"what differs: {next(iter(change))}" in again.said[0]


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
def test_none_lost(ask: Ask, faults: dict[str, Any]) -> None:
    asked = ask(40, limits=EndpointLimits(concurrency=16, attempts=12), **faults)
    assert asked.summary.complete
    answers = asked.data.journal("answer")
    assert len({line["key"] for line in answers}) == len(answers) == 40
    assert asked.summary.usage.input > 0


def test_concurrency_is_kept(ask: Ask) -> None:
    assert ask(40, latency=0.02, limits=EndpointLimits(concurrency=5)).server.seen.most_at_once == 5


def test_requests_and_tokens_a_minute_are_kept(data: Data, serve: Serve) -> None:
    server, began = serve(data.behaviour()), time.monotonic()
    data.generate(server.url, limits=EndpointLimits(concurrency=8, requests_per_minute=1200))
    assert time.monotonic() - began >= 11 * 60 / 1200  # 12 requests, 50 ms apart
    (data.out / "journal.jsonl").unlink()
    began = time.monotonic()
    data.generate(server.url, limits=EndpointLimits(8, tokens_per_minute=120_000), parameters={"max_tokens": 100})
    spent = sum(line["usage"][0] + line["usage"][1] for line in data.journal("answer"))
    assert time.monotonic() - began >= spent * 11 / 12 * 60 / 120_000 * 0.9


def test_a_request_that_finally_fails_is_recorded_and_asked_again_next_time(ask: Ask) -> None:
    asked = ask(refuse_text="Town 3 ", latency=0.01)
    assert (asked.summary.answered, dict(asked.summary.missing)) == (11, {"http_400": 1})
    failure = asked.data.journal("failure")[0]
    assert (failure["id"], failure["cause"], "policy" in failure["detail"]) == ("d3", "http_400", True)
    asked.server.behaviour.refuse_text = None
    again = asked.again()
    assert (again.summary.complete, again.requests) == (True, 13)


def test_timeouts_are_retried_and_then_recorded(ask: Ask) -> None:
    asked = ask(slow_body=1.0, timeout=0.1, limits=EndpointLimits(concurrency=12, attempts=2))
    assert dict(asked.summary.missing) == {"timeout": 12}
    assert {line["attempts"] for line in asked.data.journal("failure")} == {2}


def test_refusals_of_everything_end_the_run_early(ask: Ask) -> None:
    asked = ask(300, status=422, message="temperature is not known here", response_format="text")
    assert asked.outcome.ending.reason == "stopped"
    assert "temperature is not known here" in asked.outcome.ending.message
    assert asked.requests < 60


@pytest.mark.parametrize("vague", [False, True])
@pytest.mark.parametrize(
    ("refused", "reached"), [(("json_schema",), "json_object"), (("json_schema", "json_object"), "text")]
)
def test_auto_steps_down_once_and_remembers(ask: Ask, refused: tuple[str, ...], reached: str, vague: bool) -> None:
    limits = {"limits": EndpointLimits(concurrency=8), "max_total_tokens": 5_000}
    first = ask(30, refuse_formats=refused, vague=vague, latency=0.01, **limits)
    assert (first.outcome.ending.reason, first.outcome.ladder.form) == ("budget", reached)
    asked = [body.get("response_format", {}).get("type", "text") for body in first.server.seen.bodies]
    assert asked[: len(refused) + 1] == [*refused, reached]  # the first question alone, until it is answered
    assert set(asked[len(refused) :]) == {reached}
    assert [(step["from"], step["to"]) for step in first.data.journal("step_down")] == [("json_schema", reached)]
    assert [step["to"] for step in first.outcome.summary["step_downs"]] == [reached]
    assert len([line for line in first.said if "refuses" in line]) == 1
    again = first.again()
    assert again.summary.complete
    assert again.outcome.summary["signature"].endswith(f"|format:{reached}")
    assert again.requests == 30 + len(refused)  # the same format is reached without asking
    assert not [line for line in again.said if "refuses" in line]


def test_auto_does_not_step_down_for_one_bad_document(ask: Ask) -> None:
    asked = ask(30, refuse_text="Town 0 ", latency=0.01)
    assert (asked.outcome.ladder.form, dict(asked.summary.missing)) == ("json_schema", {"http_400": 1})
    assert asked.server.seen.formats == {"json_schema": 30, "json_object": 1, "text": 1}


def test_a_run_that_is_killed_right_after_its_step_down_goes_on_below(ask: Ask) -> None:
    asked = ask(refuse_formats=("json_schema",))
    journal = asked.data.out / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    (end,) = (number for number, line in enumerate(lines) if b'"step_down"' in line)
    journal.write_bytes(b"".join(lines[: end + 1]))
    assert asked.again().summary.complete
    assert asked.server.seen.formats == {"json_schema": 1, "json_object": 24}
    assert len(asked.data.journal("step_down")) == 1


def test_auto_takes_answers_of_a_run_that_was_told_the_format(ask: Ask) -> None:
    again = ask(refuse_formats=("json_schema",), response_format="json_object").again()
    assert (again.summary.complete, again.outcome.ladder.form) == (True, "json_object")
    assert again.server.seen.formats == {"json_object": 12, "json_schema": 1}


@pytest.mark.usefixtures("impatient")
def test_an_endpoint_that_never_answers_the_first_question_ends_the_run(ask: Ask) -> None:
    """It is asked one question at a time until its format is known, so that few of them say as much."""
    asked = ask(slow_body=1.0, timeout=0.1)
    assert asked.outcome.ending.reason == "stopped"
    assert asked.requests < 12


def test_a_chosen_format_does_not_step_down(ask: Ask) -> None:
    asked = ask(refuse_formats=("json_schema",), response_format="json_schema")
    assert (asked.outcome.ending.reason, asked.data.journal("step_down")) == ("stopped", [])


def test_a_cap_on_tokens_stops_before_it_is_exceeded(ask: Ask) -> None:
    cap: dict[str, Any] = {"max_total_tokens": 5_000, "parameters": {"max_tokens": 100}}
    asked = ask(60, latency=0.01, **cap)
    assert asked.outcome.ending.reason == "budget"
    assert 0 < asked.summary.usage.total <= 5_000
    assert asked.summary.missing["not_asked"] > 0
    assert asked.again(**cap).summary.usage.total <= 5_000  # what an earlier run spent counts


def test_a_cap_on_money_needs_a_price(ask: Ask, data: Data) -> None:
    with pytest.raises(ConfigError, match="price"):
        ask(max_cost=Decimal(1))
    protocol = data.folder / "protocol.yaml"
    protocol.write_text("generation: {currency: EUR, prices: {m: {input: 1.5, output: 3}}}\n")
    summary = ask(max_cost=Decimal(1), protocol=str(protocol)).outcome.summary
    seed = summary["seeds"][0]
    expected = Decimal("1.5") * seed["tokens"]["input"] + 3 * seed["tokens"]["output"]
    assert (Decimal(seed["cost"]) * 1_000_000, summary["currency"]) == (expected, "EUR")
    assert seed["tokens"]["reasoning"] == 3 * 12


def test_seeds_share_a_journal_and_have_their_own_predictions(ask: Ask) -> None:
    asked = ask(seeds=(3407, 3408))
    assert [summary.seed for summary in asked.outcome.summaries] == [3407, 3408]
    assert len(asked.data.journal("answer")) == 24
    assert {body["seed"] for body in asked.server.seen.bodies} == {3407, 3408}
    one, two = ((asked.data.out / f"seed-{seed}" / "predictions.jsonl").read_bytes() for seed in (3407, 3408))
    assert one != two
    assert asked.again(seeds=(3407, 3408, 3409)).requests == 36


def test_few_shot_examples_go_into_the_prompt(ask: Ask, data: Data) -> None:
    for body in ask(few_shot=2, train=str(data.gold)).server.seen.bodies:
        users = [message["content"] for message in body["messages"] if message["role"] == "user"]
        assert len(users) == 3
        assert users[2] not in users[:2]


def test_bad_gold_is_found_before_anything_is_paid_for(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    with open(data.gold, "a") as gold:
        gold.write('{"id": "last", "events": []}\n')
    with pytest.raises(InputError, match="text") as caught:
        data.generate(server.url)
    assert (caught.value.place.line, server.seen.requests) == (13, 0)


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
