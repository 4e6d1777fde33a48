"""What bounds the asking, without a network: waiting, breaking off, budgets; and what a person sees of it."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from email.utils import format_datetime

import pytest

from goldgate.generation.answerer import GenerationProgress, ProgressCounts, progress_text
from goldgate.generation.limits import BUSY_SECONDS, CircuitBreaker, RateLimit, backoff
from goldgate.generation.reply import LONGEST_RETRY_AFTER, retry_after_header
from goldgate.generation.request import NoAnswer, RequestBudget, Usage, compute_cost, find_price
from goldgate.protocol import GenerationSettings, Price
from tests.cases import cases

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@cases(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": format_datetime(NOW + timedelta(seconds=9), usegmt=True)}, 9.0),
        ({"Retry-After": format_datetime(NOW - timedelta(seconds=9), usegmt=True)}, 0.0),
        ({"retry-after-ms": "250", "Retry-After": "7"}, 0.25),
        ({"Retry-After": "86400"}, LONGEST_RETRY_AFTER),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_us_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_header(headers, NOW) == seconds


@pytest.fixture
def _short_pauses() -> None:
    """Not here: how long they are is what is tested."""


def test_pauses_grow_and_never_undercut_what_was_asked() -> None:
    rng = random.Random(0)
    for attempt in range(1, 30):
        grown = min(60.0, 0.5 * 2 ** (attempt - 1))
        assert grown / 2 <= backoff(attempt, None, rng) <= grown
        assert 3.0 <= backoff(attempt, 3.0, rng) <= max(4.0, grown)
    assert backoff(10, 0.0, rng) <= 0.05
    assert backoff(11 + 7, 0.0, rng) >= 30.0  # "in 0 seconds", again and again


def test_a_pace_never_bursts() -> None:
    limit = RateLimit(per_minute=60)
    assert [limit.reserve(0.0) for _ in range(4)] == [0.0, 1.0, 2.0, 3.0]
    assert limit.reserve(100.0) == 0.0  # nothing was saved up in the meantime:
    assert limit.reserve(100.0) == 1.0
    limit.correct(-1)
    assert limit.reserve(100.0) == 1.0


DEAD = NoAnswer("again", "unreachable", "nobody there")


def test_an_endpoint_that_gives_no_answer_ends_the_run_after_a_time() -> None:
    breaker = CircuitBreaker(concurrency=64, started=0.0)
    assert [breaker.no_answer(DEAD, 0.1) for _ in range(64)] == [None] * 64  # all at once is one moment
    assert "nobody there" in str(breaker.no_answer(DEAD, 3.0))
    for trouble, patience in (
        (DEAD, (BUSY_SECONDS, 2 * BUSY_SECONDS)),  # silent for very long: it is tried twice
        (NoAnswer("busy", "http_429"), (BUSY_SECONDS - 1, BUSY_SECONDS)),  # nothing but busy
    ):
        breaker = CircuitBreaker(concurrency=64, started=0.0)
        assert [bool(breaker.no_answer(trouble, seconds)) for seconds in patience] == [False, True]


def test_an_endpoint_that_answered_before_gets_more_patience() -> None:
    breaker = CircuitBreaker(concurrency=4, started=0.0)
    breaker.answer(10.0)
    assert not any(breaker.no_answer(DEAD, 100.0) for _ in range(50))
    assert breaker.no_answer(DEAD, 131.0)
    breaker.answer(132.0)
    assert breaker.no_answer(DEAD, 133.0) is None


def test_refusals_of_single_requests_end_nothing_unless_they_are_all_there_is() -> None:
    breaker = CircuitBreaker(concurrency=4, started=0.0)
    refused = NoAnswer("final", "http_400")
    for _ in range(100):
        assert breaker.no_answer(refused, 1.0) is None
        breaker.answer(1.0)
    assert not any(breaker.no_answer(refused, 1.0) for _ in range(100))  # they may all be too long
    assert not any(breaker.no_answer(NoAnswer("hopeless", "http_403"), 1.0) for _ in range(100))
    fresh = CircuitBreaker(concurrency=4, started=0.0)
    assert [fresh.no_answer(refused, 1.0) for _ in range(19)] == [None] * 19
    assert fresh.no_answer(refused, 1.0)


def test_a_key_that_runs_out_ends_the_run() -> None:
    breaker = CircuitBreaker(concurrency=4, started=0.0)
    breaker.answer(0.5)
    told = [breaker.no_answer(NoAnswer("hopeless", "http_401"), 1.0) for _ in range(5)]
    assert told[:4] == [None] * 4
    assert "5 requests in a row" in str(told[4])


def test_a_cap_counts_what_is_in_flight() -> None:
    # 1 + 2 for a million tokens: 100 in and 50 out cost 0.0002
    budget = RequestBudget(Price(Decimal(1), Decimal(2)), max_cost=Decimal("0.0005"))
    one = Usage(100, 50)
    budget.reserve(one)
    assert budget.exceeded(one) is None
    budget.reserve(one)
    assert budget.exceeded(one) == "--max-cost 0.0005"  # 3 x 0.0002 > 0.0005
    budget.settle(one, Usage(50, 0))  # it cost 0.00005 only
    assert budget.exceeded(one) is None  # 0.00005 + 2 x 0.0002
    budget.settle(one, None)
    assert budget.spent == Usage(50, 0)


def test_estimates_learn_from_the_endpoint() -> None:
    budget = RequestBudget(max_tokens=1000)
    expected = budget.expected(100, 10)
    budget.reserve(expected)
    budget.settle(expected, Usage(150, 5), estimate=100)
    assert budget.expected(100, 10) == Usage(150, 10)


def test_a_model_without_a_price_of_its_own_has_that_of_all_others() -> None:
    settings = GenerationSettings(prices={"m": Price(Decimal("2.5"), Decimal(10)), "default": Price()})
    assert compute_cost(Usage(1_000_000, 100_000), find_price(settings, "m", needed=True)) == Decimal("3.5")
    assert find_price(settings, "n", needed=True) == Price()


def test_a_line_has_everything_a_person_wants_to_know() -> None:
    counts = ProgressCounts(2000, 100, 396, 4, 7, 32, Usage(81_200, 9_871), Decimal("0.31"))
    # 400 of the 1,900 that were to be asked in 10 s: 40 a second, 1,500 left
    assert progress_text(counts, 10.0, "USD") == (
        "500/2,000 (25 %), 40.0/s, 0:38 left, 81,200 + 9,871 tokens, 0.3100 USD, 7 retries, 4 failed"
    )


def test_the_line_names_what_it_waits_for_and_what_it_does_not_know() -> None:
    assert progress_text(ProgressCounts(5, waits_for="--rpm 60"), 1.0).endswith("0 failed, waiting for --rpm 60")
    assert "left" not in progress_text(ProgressCounts(5, 5), 1.0)
    assert "time left unknown" in progress_text(ProgressCounts(5), 0.0)


def test_plain_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    line = GenerationProgress(quiet=False)
    for done in range(100):
        line(ProgressCounts(100, answered=done))
    line(ProgressCounts(100, answered=100))
    line.print_message("finished")
    told = capsys.readouterr().err
    assert "\r" not in told
    assert told.splitlines()[0].startswith("100/100 (100 %)")
    assert told.splitlines()[1:] == ["finished"]


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    line = GenerationProgress(quiet=True)
    line(ProgressCounts(1, answered=1))
    line.print_message("finished")
    assert capsys.readouterr().err == ""
