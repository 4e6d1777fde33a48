"""Asking only until every gate is decided: fewer requests, the same verdict, whatever the order of the answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from goldgate.core.sums import RatioForm
from goldgate.generation.answerer import EarlyStopping, StopRule
from goldgate.stats.early_stopping import EarlyBound, GateWatch
from tests.generation.conftest import Data
from tests.generation.server import Behaviour, Running
from tests.generation.test_generation_commands import run, stored
from tests.results.made import verified

Serve = Callable[[Behaviour], Running]
DOCUMENTS = 240


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path, DOCUMENTS)


def protocol(data: Data, gates: str) -> tuple[str, str]:
    file = data.folder / "protocol.yaml"
    file.write_text(f"gates: {gates}\n")
    return "--protocol", str(file)


def asked(data: Data) -> list[str]:
    return [json.loads(line)["id"] for line in (data.out / "asked.jsonl").read_text().splitlines()]


# --- the command


@pytest.mark.parametrize(
    ("gates", "status"), [("{strict_recall: {min: 0.5}}", 0), ("{strict_recall: {min: 0.999}}", 1)]
)
def test_a_gate_that_is_clear_is_decided_early(data: Data, serve: Serve, gates: str, status: int) -> None:
    server = serve(data.behaviour())
    done = run(data, server.url, *protocol(data, gates), "--stop-when-decided", "--concurrency", "4")
    assert done.returncode == status, done.stderr
    assert server.seen.requests < DOCUMENTS
    report = stored(data, "report.json")
    stopped = report["generation"]["stopped"]
    assert stopped["decided_after"] <= server.seen.requests == stopped["answered"]
    assert stopped["saved"]["documents"] == DOCUMENTS - server.seen.requests
    assert stopped["saved"]["tokens"]["input"] > 0
    [gate] = stopped["gates"]
    assert gate["kept_by_all"] == (status == 0)
    # The report is over the documents that decided it, and none of them is missing.
    assert report["metrics"]["main"]["total_samples"]["value"] == stopped["decided_after"] == len(asked(data))
    assert report["metrics"]["main"]["missing_predictions"]["value"] == 0
    assert (report["findings"], report["generation"]["missing"]) == ([], {})
    assert "every gate was decided after" in done.stderr
    assert "hold for all 240" in " ".join(done.stdout.split())


def test_who_answers_first_changes_nothing(data: Data, serve: Serve) -> None:
    """The same documents decide it, and the report has the same bytes, one at a time or 32 at once."""
    server = serve(data.behaviour())
    reports = []
    for concurrency in ("1", "32"):
        data.out = data.folder / f"out-{concurrency}"
        run(data, server.url, *protocol(data, "{strict_recall: {min: 0.5}}"), "--stop-when-decided", "--concurrency", concurrency)  # fmt: skip # noqa: E501
        report = stored(data, "report.json")
        generation = report.pop("generation")
        reports.append((report, generation["stopped"]["decided_after"], asked(data)))
    assert reports[0] == reports[1]


def test_the_same_command_again_asks_nothing_and_the_plain_one_asks_the_rest(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    gates = protocol(data, "{strict_recall: {min: 0.5}}")
    run(data, server.url, *gates, "--stop-when-decided")
    first, requests = (data.out / "report.json").read_bytes(), server.seen.requests
    again = run(data, server.url, *gates, "--stop-when-decided")
    assert (again.returncode, server.seen.requests) == (0, requests)
    assert (data.out / "report.json").read_bytes() == first
    whole = run(data, server.url, *gates)
    assert (whole.returncode, server.seen.requests) == (0, DOCUMENTS)
    assert stored(data, "report.json")["metrics"]["main"]["total_samples"]["value"] == DOCUMENTS
    assert not (data.out / "asked.jsonl").exists()


def test_a_gate_that_stays_open_is_asked_to_the_end_and_ends_as_ever(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    run(data, server.url)
    recall = stored(data, "report.json")["metrics"]["main"]["strict_recall"]
    gates = protocol(data, f"{{strict_recall: {{min: {recall['value']:.6f}}}}}")
    plain = run(data, server.url, *gates)
    expected = (data.out / "report.json").read_bytes()
    data.out = data.folder / "other"
    stopped = run(data, server.url, *gates, "--stop-when-decided")
    assert stopped.returncode == plain.returncode
    assert (data.out / "report.json").read_bytes() == expected
    assert not (data.out / "asked.jsonl").exists()


def test_a_stopped_result_is_verified(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    run(data, server.url, *protocol(data, "{strict_recall: {min: 0.5}}"), "--stop-when-decided")
    status, found = verified(str(data.out))
    assert (status, found["status"]) == (0, "verified")
    assert any("/generation" in words for words in found["not_compared"])
    assert verified(str(data.out), "--records")[0] == 0


def test_f1_needs_a_limit_on_predictions(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour())
    gates = protocol(data, "{strict_f1: {min: 0.5}}")
    refused = run(data, server.url, *gates, "--stop-when-decided")
    assert (refused.returncode, server.seen.requests) == (2, 0)
    text = " ".join(refused.stderr.split())
    assert "stop.unbounded" in text
    assert "--most-predictions N, or gates only on strict_recall, relaxed_recall, type_recall" in text
    limited = run(data, server.url, *gates, "--stop-when-decided", "--most-predictions", "4")
    assert limited.returncode == 0, limited.stderr
    assert server.seen.requests < DOCUMENTS
    assert "if no answer predicts more than 4" in " ".join(limited.stdout.split())


def test_an_answer_beyond_the_limit_makes_it_go_on_to_the_end(data: Data, serve: Serve) -> None:
    """The answers have two arguments, and nobody believed in more than one."""
    server = serve(data.behaviour())
    done = run(data, server.url, *protocol(data, "{strict_f1: {min: 0.5}}"), "--stop-when-decided", "--most-predictions", "1")  # fmt: skip # noqa: E501
    assert (done.returncode, server.seen.requests) == (0, DOCUMENTS)
    assert "stopped" not in stored(data, "report.json")["generation"]


def test_a_document_without_an_answer_leaves_it_open_unless_that_is_allowed(data: Data, serve: Serve) -> None:
    server = serve(data.behaviour(refuse_text="Union 7 "))
    gates = protocol(data, "{strict_recall: {min: 0.5}}")
    options = (*gates, "--stop-when-decided", "--response-format", "text")
    order = EarlyStopping(StopRule(watch(1), lambda *_: {}), [f"d{n}" for n in range(DOCUMENTS)]).order
    before = order.index(7)
    done = run(data, server.url, *options, "--order-seed", "0")
    decided = done.returncode == 0
    assert decided == (stored(data, "report.json").get("generation", {}).get("stopped", {}).get("decided_after", 999) <= before)  # fmt: skip # noqa: E501
    data.out = data.folder / "other"
    allowed = run(data, server.url, *options, "--allow-missing")
    assert allowed.returncode == 0
    assert "stopped" in stored(data, "report.json")["generation"]


@pytest.mark.parametrize(
    ("gates", "more", "code"),
    [
        ("{}", (), "stop.no_gates"),
        ("{strict_recall: {equals: 1}}", (), "stop.not_watchable"),
        ("{relaxed_excess: {max: 0.5}}", (), "stop.not_watchable"),
        ("{parse_errors: {min: 1}}", (), "stop.not_watchable"),
        ("{strict_recall: {min: 0.5}}", ("--seeds", "1,2"), "stop.several_seeds"),
    ],
)
def test_what_cannot_be_decided_early_is_said_before_anything_is_asked(
    data: Data, serve: Serve, gates: str, more: tuple[str, ...], code: str
) -> None:
    server = serve(data.behaviour())
    done = run(data, server.url, *protocol(data, gates), "--stop-when-decided", *more)
    assert (done.returncode, server.seen.requests) == (2, 0)
    assert code in done.stderr


# --- its parts


def watch(documents: int, *bounds: EarlyBound) -> GateWatch:
    recall = EarlyBound("recall", "min", Decimal("0.5"), "t", RatioForm((1, 0), (0, 1)), 1)
    return GateWatch(bounds or [recall], documents)


def test_answers_are_heard_in_the_order_of_the_draw() -> None:
    heard: list[int] = []

    def count(position: int, response: str | None) -> dict[str, Any]:
        return {"t": (position, 1)}

    class Watch(GateWatch):
        def add(self, counts: Any) -> bool:
            heard.append(counts["t"][0])
            return False

    rule = StopRule(Watch(watch(1).bounds, 50), count)
    stopping = EarlyStopping(rule, [f"d{number}" for number in range(50)])
    for position in range(50):
        stopping.record_answer(position, "")
    assert heard == stopping.order != sorted(stopping.order)
    assert EarlyStopping(rule, [f"d{number}" for number in reversed(range(50))]).order == [
        49 - n for n in stopping.order
    ]


def test_a_bound_on_a_count_is_one_on_its_share() -> None:
    """At most 50 of 1,000: no failure in the first hundred or two says so."""
    at_most = EarlyBound("errors", "max", Decimal(50), "t", RatioForm((1, 0), (0, 1)), 1, is_count=True)
    watched = watch(1000, at_most)
    while not watched.add({"t": (0, 1)}):
        pass
    assert watched.decided_after is not None
    assert 50 < watched.decided_after < 300
    assert [kept for _, kept in watched.decisions()] == [True]


def test_a_count_beyond_its_bound_fails_for_certain() -> None:
    at_most = EarlyBound("errors", "max", Decimal(2), "t", RatioForm((1, 0), (0, 1)), 1, is_count=True)
    watched = watch(1000, at_most)
    added = [watched.add({"t": (1, 1)}) for _ in range(3)]
    assert added == [False, False, True]
    assert [kept for _, kept in watched.decisions()] == [False]


def test_all_gates_must_be_decided() -> None:
    form = RatioForm((1, 0), (0, 1))
    clear = EarlyBound("clear", "min", Decimal("0.1"), "t", form, 1)
    close = EarlyBound("close", "min", Decimal("0.9"), "t", form, 1)
    one, both = watch(1000, clear), watch(1000, clear, close)
    for number in range(1000):
        counts = {"t": (int(number % 10 > 0), 1)}  # nine of ten
        one.add(counts)
        both.add(counts)
    assert one.decided_after is not None
    assert one.decided_after < 50
    assert both.decided_after is None or both.decided_after > 900


def test_a_document_beyond_the_bound_ends_the_watch() -> None:
    watched = watch(10)
    assert not watched.add({"t": (0, 2)})
    assert watched.exceeded == "recall"
    assert not any(watched.add({"t": (1, 1)}) for _ in range(9))
