"""Asking several endpoints as one: the least loaded gets more, one that is down costs nothing, no key goes astray."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import ConfigError
from goldgate.files.address import redact_arguments
from goldgate.generation.answerer import RunCallbacks
from goldgate.generation.fleet import MAX_ENDPOINT_PAUSE, EndpointLimits, Fleet, FleetMember
from goldgate.generation.openai import OpenAIAnswerer
from goldgate.generation.request import ModelAnswer, NoAnswer
from goldgate.generation.run import GenerationOptions, GenerationResult, generate, given_up_error, open_journal, prepare
from goldgate.generation.secret import Secret
from goldgate.generation.transport import EndpointOptions
from goldgate.protocol import GenerationSettings
from goldgate.suites.extraction.settings import ExtractionSettings
from goldgate.suites.extraction.task import TaskOptions, load_task
from tests.generation.conftest import Data
from tests.generation.server import Behaviour, Running
from tests.generation.test_generation_commands import KEY, _wait_for, run, stored

Serve = Callable[[Behaviour], Running]


def ask(
    data: Data,
    urls: list[str],
    limits: EndpointLimits | None = None,
    say: Callable[[str], None] | None = None,
    **changes: Any,
) -> tuple[GenerationResult, list[str]]:
    """Ask several endpoints in this process; what came of it, and what was said."""
    said: list[str] = []

    def hear(line: str) -> None:
        said.append(line)
        if say is not None:
            say(line)

    limits = limits or EndpointLimits(concurrency=4, attempts=4)
    members = tuple(EndpointOptions(url, limits, changes.pop("timeout", 5.0), secret=Secret(None)) for url in urls)
    options = GenerationOptions(data.out, "m", **changes)
    task = TaskOptions([str(data.gold)], str(data.schema))
    response = ExtractionSettings().response
    prepared = prepare(
        options, OpenAIAnswerer(members), GenerationSettings(), lambda: load_task(task, (None,), response)
    )
    try:
        with open_journal(prepared) as journal:
            return generate(prepared, journal, RunCallbacks(hear)), said
    finally:
        prepared.task.close()


def answers_by_endpoint(data: Data) -> Counter[str]:
    """As far as the journal goes: its last line may be half written."""
    whole = (data.out / "journal.jsonl").read_bytes().rpartition(b"\n")[0].splitlines()
    return Counter(line["endpoint"] for line in map(json.loads, whole) if line["kind"] == "answer")


def answered_once(data: Data, documents: int, *servers: Running) -> None:
    keys = [line["key"] for line in data.journal("answer")]
    assert len(keys) == len(set(keys)) == documents
    assert sum(server.seen.answered.total() for server in servers) == documents


# --- who is asked


def test_all_are_asked_and_each_keeps_to_its_own_concurrency(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(60)
    servers = [serve(data.behaviour(latency=0.03)) for _ in range(3)]
    outcome, said = ask(data, [server.url for server in servers])
    assert outcome.summaries[0].complete
    assert [server.seen.most_at_once for server in servers] == [4, 4, 4]
    answered_once(data, 60, *servers)
    by_endpoint = answers_by_endpoint(data)
    assert by_endpoint == {server.url: server.seen.requests for server in servers}
    stored_by_endpoint = outcome.summary["seeds"][0]["endpoints"]
    assert stored_by_endpoint == {url: {"m-0001": number} for url, number in by_endpoint.items()}
    assert any(line.startswith(f"{servers[0].url}: ") for line in said)


def test_a_slow_endpoint_gets_fewer(make_data: Callable[[int], Data], serve: Serve) -> None:
    """One takes a hundred times as long as the other, and each has two requests at a time."""
    data = make_data(60)
    quick, slow = serve(data.behaviour(latency=0.01)), serve(data.behaviour(latency=1.0))
    outcome, _ = ask(data, [slow.url, quick.url], EndpointLimits(concurrency=2))
    assert outcome.summaries[0].complete
    assert slow.seen.requests < 15 < 45 < quick.seen.requests
    answered_once(data, 60, quick, slow)


def test_one_that_is_never_there_costs_nothing_but_a_few_tries(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(60)
    with Running(Behaviour()) as gone:
        dead = gone.url
    server = serve(data.behaviour(latency=0.02))
    outcome, _ = ask(data, [dead, server.url])
    assert outcome.summaries[0].complete
    assert answers_by_endpoint(data) == {server.url: 60}
    tried = [line for line in data.journal("asked") if line["endpoint"] == dead]
    assert 0 < len(tried) < 20
    assert not data.journal("failure")


def test_one_that_is_killed_in_the_middle_loses_nothing(make_data: Callable[[int], Data], serve: Serve) -> None:
    """A process that is killed with requests in flight."""
    data = make_data(120)
    server = serve(data.behaviour(latency=0.05))
    program = [sys.executable, str(Path(__file__).parent / "server.py"), "--gold", str(data.gold), "--latency", "0.05"]
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        dying = process.stdout.readline().strip()

        def kill() -> None:
            _wait_for(lambda: data.out.exists() and answers_by_endpoint(data)[dying] >= 10)
            process.kill()

        killer = threading.Thread(target=kill, daemon=True)
        killer.start()
        try:
            outcome, _ = ask(data, [dying, server.url])
            killer.join(60)
        finally:
            process.kill()
    assert outcome.summaries[0].complete
    assert not data.journal("failure")
    by_endpoint = answers_by_endpoint(data)
    assert 10 <= by_endpoint[dying] < 110
    assert by_endpoint.total() == len({line["key"] for line in data.journal("answer")}) == 120
    # what broke off goes to the other one under the same id: nobody knows what became of it
    broken = {line["key"] for line in data.journal("unanswered") if line["cause"] == "reset"}
    assert broken
    for key in broken:
        ids = [line["request_id"] for line in data.journal("asked") if line["key"] == key]
        assert len(ids) > 1
        assert len(set(ids)) == 1


def test_one_that_is_busy_is_left_alone_and_its_questions_go_elsewhere(
    make_data: Callable[[int], Data], serve: Serve
) -> None:
    data = make_data(80)
    busy, server = serve(data.behaviour(busy=1.0, retry_after="60")), serve(data.behaviour(latency=0.01))
    outcome, _ = ask(data, [busy.url, server.url])
    assert outcome.summaries[0].complete
    assert busy.seen.requests <= 4  # what was in flight when it said so
    answered_once(data, 80, server)


def test_one_with_a_wrong_key_is_named_and_left_alone(data: Data, serve: Serve) -> None:
    refusing, server = serve(data.behaviour(key="another")), serve(data.behaviour(latency=0.01))
    outcome, said = ask(data, [refusing.url, server.url])
    assert outcome.summaries[0].complete
    assert not data.journal("failure")
    start = f"{refusing.url} is not asked for a while"
    assert any(line.startswith(start) and "the key is refused" in line for line in said)


def test_one_that_refuses_everything_loses_no_document(data: Data, serve: Serve) -> None:
    """A server that never answered, and says 400 to all: its refusals are not taken for the documents' fault."""
    wrong = serve(data.behaviour(status=400, message="max_tokens is too much for this deployment"))
    server = serve(data.behaviour(latency=0.01))
    outcome, _ = ask(data, [wrong.url, server.url], response_format="text")
    assert outcome.summaries[0].complete
    assert not data.journal("failure")


def test_formats_that_nobody_knows_are_stepped_down_from_once(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(30)
    servers = [serve(data.behaviour(refuse_formats=("json_schema",), latency=0.01)) for _ in range(3)]
    outcome, _ = ask(data, [server.url for server in servers])
    assert outcome.summaries[0].complete
    assert outcome.ladder.form == "json_object"
    assert [(step["from"], step["to"]) for step in data.journal("step_down")] == [("json_schema", "json_object")]


def test_one_endpoint_that_refuses_everything_lowers_no_format(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(60)
    wrong, server = serve(data.behaviour(status=400, message="bad request")), serve(data.behaviour(latency=0.01))
    outcome, _ = ask(data, [wrong.url, server.url])
    assert outcome.summaries[0].complete
    assert outcome.summaries[0].formats == {"json_schema": 60}
    assert not data.journal("step_down")


def test_a_document_that_is_refused_by_one_that_answers_is_not_asked_again(data: Data, serve: Serve) -> None:
    servers = [serve(data.behaviour(refuse_text="Town 11 ")) for _ in range(2)]
    limits = EndpointLimits(concurrency=1)
    outcome, _ = ask(data, [server.url for server in servers], limits, response_format="text")
    assert outcome.summaries[0].missing == {"http_400": 1}
    assert sum(server.seen.requests for server in servers) == 12


@pytest.mark.usefixtures("impatient")
def test_the_run_ends_when_nobody_answers_and_says_why_for_each(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(100)
    with Running(Behaviour()) as gone:
        dead = gone.url
    refusing = serve(data.behaviour(key="another"))
    outcome, _ = ask(data, [dead, refusing.url])
    assert outcome.ending.reason == "stopped"
    assert f"{dead}: " in outcome.ending.message
    assert "unreachable" in outcome.ending.message
    assert f"{refusing.url}: the endpoint refuses" in outcome.ending.message
    fleet = OpenAIAnswerer(tuple(EndpointOptions(url, secret=Secret(None)) for url in (dead, refusing.url)))
    assert f"is a server running at {dead}?" in str(given_up_error(outcome.ending, fleet))


def test_one_that_comes_back_is_asked_again(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(150)
    sick, server = serve(data.behaviour(key="another")), serve(data.behaviour(latency=0.1))

    def heal(line: str) -> None:
        if "not asked for a while" in line:
            sick.behaviour.key = None

    outcome, said = ask(data, [sick.url, server.url], EndpointLimits(concurrency=2), heal)
    assert outcome.summaries[0].complete
    assert f"{sick.url} answers again" in said
    assert answers_by_endpoint(data)[sick.url] > 10


def test_rates_are_kept_by_each(make_data: Callable[[int], Data], serve: Serve) -> None:
    """One request a minute to each: the first two are sent at once, and the third waits."""
    data = make_data(3)
    servers = [serve(data.behaviour()) for _ in range(2)]
    limits = EndpointLimits(concurrency=4, requests_per_minute=60)
    outcome, said = ask(data, [server.url for server in servers], limits)
    assert outcome.summaries[0].complete
    assert {1, 2} == {server.seen.requests for server in servers}
    assert "--rpm 60" in said[-1] or "--rpm 60" in said[-2]


# --- what is stored, and what counts


def test_endpoints_may_come_and_go(data: Data, serve: Serve) -> None:
    one, two, three = (serve(data.behaviour()) for _ in range(3))
    ask(data, [one.url, two.url], EndpointLimits(concurrency=1), max_total_tokens=3_500)
    before = one.seen.requests + two.seen.requests
    assert 0 < before < 12
    outcome, said = ask(data, [three.url, two.url])  # another one in the place of the first
    assert said[0] == f"{before} of 12 answers are in the journal; asking for {12 - before}"
    assert outcome.summaries[0].complete
    data.generate(two.url)  # one of them alone
    assert one.seen.requests + two.seen.requests + three.seen.requests == 12
    data.generate(two.url, model="n")  # but another model is another question
    assert one.seen.requests + two.seen.requests + three.seen.requests == 24


def test_what_was_begun_with_one_endpoint_goes_on_with_several(data: Data, serve: Serve) -> None:
    one, two = (serve(data.behaviour()) for _ in range(2))
    data.generate(one.url, limits=EndpointLimits(concurrency=1), max_total_tokens=3_500)
    assert 0 < one.seen.requests < 12
    outcome, _ = ask(data, [one.url, two.url])
    assert outcome.summaries[0].complete
    answered_once(data, 12, one, two)
    assert outcome.summary["other_plans_in_journal"] == 0
    by_endpoint = outcome.summary["seeds"][0]["endpoints"]
    assert by_endpoint == {server.url: {"m-0001": server.seen.requests} for server in (one, two)}


def test_what_an_endpoint_was_asked_alone_counts_only_if_it_is_one_of_those_asked(data: Data, serve: Serve) -> None:
    one, two, three = (serve(data.behaviour()) for _ in range(3))
    data.generate(one.url)
    ask(data, [two.url, three.url])
    assert two.seen.requests + three.seen.requests == 12


def test_different_models_are_told(data: Data, serve: Serve) -> None:
    one = serve(data.behaviour(latency=0.02))
    other = serve(data.behaviour(latency=0.02, version="0002"))
    outcome, said = ask(data, [one.url, other.url], EndpointLimits(concurrency=1))
    assert set(outcome.summary["seeds"][0]["models"]) == {"m-0001", "m-0002"}
    warning = next(line for line in said if line.startswith("warning"))
    assert f"{one.url}: m-0001" in warning
    assert f"{other.url}: m-0002" in warning


def test_the_order_of_the_endpoints_changes_no_key_and_one_twice_is_refused(data: Data, serve: Serve) -> None:
    urls = [serve(data.behaviour()).url for _ in range(2)]
    ask(data, urls)
    _, said = ask(data, urls[::-1])
    assert said[0] == "12 of 12 answers are in the journal; asking for 0"
    with pytest.raises(ConfigError) as caught:
        ask(data, [urls[0], urls[0] + "/"])
    assert caught.value.code == "base_url.twice"


def test_a_cap_holds_for_all_endpoints_together(make_data: Callable[[int], Data], serve: Serve) -> None:
    data = make_data(60)
    servers = [serve(data.behaviour(latency=0.01)) for _ in range(3)]
    parameters = {"max_tokens": 100}
    outcome, _ = ask(data, [server.url for server in servers], max_total_tokens=5_000, parameters=parameters)
    assert outcome.ending.reason == "budget"
    assert 0 < outcome.summaries[0].usage.total <= 5_000


# --- the command


def test_the_report_of_several_is_that_of_one(data: Data, serve: Serve) -> None:
    servers = [serve(data.behaviour()) for _ in range(3)]
    urls = [server.url for server in servers]
    more = ("--base-url", urls[1], "--base-url", urls[2], "--api-key-env", "none")
    assert run(data, urls[0], *more).returncode == 0
    assert sum(server.seen.requests for server in servers) == 12
    assert "endpoint" not in stored(data, "generation.json")["settings"]
    several = {name: (data.out / name).read_bytes() for name in ("report.json", "predictions.jsonl", "samples.jsonl")}
    data.out = data.folder / "other"
    assert run(data, urls[0]).returncode == 0
    assert several == {name: (data.out / name).read_bytes() for name in several}


def test_each_endpoint_gets_its_own_key_and_no_other(data: Data, serve: Serve) -> None:
    first, second, third = "sk-first-0123456789abcd", "sk-second-0123456789abc", None
    servers = [serve(data.behaviour(latency=0.05)) for _ in range(3)]
    environment = {"FIRST_KEY": first, "SECOND_KEY": second}
    urls = [server.url for server in servers]
    more = ("--base-url", *urls[1:], "--api-key-env", "FIRST_KEY", "SECOND_KEY", "none", "--concurrency", "1")
    done = run(data, urls[0], *more, environment=environment)
    assert done.returncode == 0, done.stderr
    for server, key in zip(servers, (first, second, third), strict=True):
        assert server.seen.headers
        sent = b"\n".join(server.seen.headers)
        for other in (first, second, KEY):
            assert (other.encode() in sent) == (other == key)
    texts = [done.stdout, done.stderr, *(file.read_text() for file in data.out.iterdir())]
    assert not any(key in text for key in (first, second) for text in texts)


def test_the_usual_key_is_not_sent_to_several_hosts_unasked(data: Data, serve: Serve) -> None:
    urls = [f"http://127.0.0.{number}:9/v1" for number in (1, 2, 3)]
    done = run(data, urls[0], "--base-url", *urls[1:])
    assert done.returncode == 2
    assert "key.several_hosts" in done.stderr
    assert not data.out.exists()
    assert "give one key for all" in run(data, urls[0], "--base-url", *urls[1:], "--api-key-env", "A", "B").stderr


def test_no_query_of_any_address_is_shown() -> None:
    given = ["--base-url", "http://a/v1?code=S", "b/v1?code=S", "http://c", "--model", "m?x"]
    assert redact_arguments(given) == [
        "--base-url",
        "http://a/v1?[hidden]",
        "b/v1?[hidden]",
        "http://c",
        "--model",
        "m?x",
    ]


# --- the parts


async def _send(body: bytes, request_id: str) -> ModelAnswer | NoAnswer:
    raise AssertionError


def _fleet(number: int, concurrency: int = 4) -> Fleet:
    fleet = Fleet(
        [FleetMember(_send, EndpointLimits(concurrency=concurrency), f"http://{place}") for place in range(number)]
    )
    fleet.begin(0.0, answered=False)
    return fleet


def test_the_least_loaded_is_chosen_and_a_full_one_is_not() -> None:
    fleet = _fleet(3, concurrency=2)
    one, two, three = fleet.members
    one.in_flight, two.in_flight, three.in_flight = 1, 0, 2
    assert fleet.choose(0.0, ()) is two
    assert fleet.choose(0.0, {two}) is one
    two.in_flight = 2
    assert fleet.choose(0.0, {one}) is None  # it waits for the third, which is not given up
    three.given_up = two.given_up = "gone"
    assert fleet.choose(0.0, {one}) is one


def test_one_that_fails_is_paused_longer_each_time_and_is_then_tried_with_one_question() -> None:
    fleet, rng = _fleet(2), random.Random(1)
    sick, well = fleet.members
    now, pauses = 10.0, []
    for turn in range(12):
        for _ in range(4 if turn == 0 else 1):  # all that were in flight, later the one that is tried
            fleet.no_answer(sick, NoAnswer("again", "unreachable"), now, rng)
        pauses.append(sick.not_before - now)
        sick.in_flight = well.in_flight = 0
        assert fleet.choose(now, ()) is well
        now = sick.not_before
        well.in_flight = 4
        assert fleet.choose(now, ()) is sick
        sick.in_flight = 1
        assert fleet.choose(now, ()) is None
    assert pauses[0] <= 0.5
    assert max(pauses) <= MAX_ENDPOINT_PAUSE
    assert sick.answer(now)  # it had been given up
    assert fleet.choose(now, ()) is sick


def test_a_single_failure_among_answers_makes_nobody_rest() -> None:
    fleet, rng = _fleet(2), random.Random(1)
    member = fleet.members[0]
    for now in range(50):
        fleet.no_answer(member, NoAnswer("again", "http_500"), float(now), rng)
        fleet.no_answer(member, NoAnswer("again", "http_500"), float(now), rng)
        assert (member.pauses, member.not_before) == (0, 0.0)
        member.answer(float(now))
    assert member.answered == 50


def test_files_of_a_single_endpoint_are_as_they_were(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    data.generate(server.url)
    lines = [json.loads(line) for line in Path(data.out, "journal.jsonl").read_bytes().splitlines()]
    assert not any("endpoint" in line for line in lines)
    assert lines[0]["settings"]["endpoint"] == server.url
