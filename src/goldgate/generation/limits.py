"""When the next request to an endpoint may be sent, and when the endpoint is given up.

Pauses between attempts grow exponentially, with jitter; limits per minute are kept evenly.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import NamedTuple

from goldgate.generation.request import NoAnswer

FIRST_PAUSE = 0.5  # seconds
LONGEST_PAUSE = 60.0
MAX_UNCHANGED_PAUSES = 10  # times that a pause of the server's own is taken as it is; after that ours grows too


def backoff(attempt: int, asked: float | None, rng: random.Random) -> float:
    """The pause before the next attempt: doubled each time, up to half of it by chance; never less than was asked."""
    if asked is None:
        return _exponential(attempt) * rng.uniform(0.5, 1.0)
    later = asked + rng.uniform(0, min(1.0, 0.05 + 0.1 * asked))  # so that not all come back in the same moment
    if attempt <= MAX_UNCHANGED_PAUSES:
        return later
    # A server that keeps saying "in 0 seconds" does not say when.
    return max(later, _exponential(attempt - MAX_UNCHANGED_PAUSES) * rng.uniform(0.5, 1.0))


@dataclass(slots=True)
class RateLimit:
    """At most `per_minute` a minute, spread evenly: unused time is not saved up, so there is never a burst."""

    per_minute: float
    free_at: float = 0.0

    def reserve(self, now: float, amount: float = 1.0) -> float:
        """Reserve the first free time for `amount`, and return the seconds until then."""
        start = max(now, self.free_at)
        self.free_at = start + amount * 60.0 / self.per_minute
        return start - now

    def correct(self, difference: float) -> None:
        """Add to an earlier reservation what was used beyond it; negative if less was used."""
        self.free_at += difference * 60.0 / self.per_minute


def _exponential(attempt: int) -> float:
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(attempt - 1, 20))


@dataclass(frozen=True, slots=True)
class EndpointLimits:
    """Limits on requests that a user sets."""

    concurrency: int = 32
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 8


class SendTime(NamedTuple):
    """When a request may be sent, and which limit it waits for until then."""

    at: float
    limit: str


BUSY_ENDPOINT = "the endpoint, busy or failing"


class RateLimits:
    """The limits per minute of an endpoint, and its pauses: they decide when a request may be sent."""

    def __init__(self, limits: EndpointLimits) -> None:
        self._pause_ends = 0.0
        per_minute = {"--rpm": limits.requests_per_minute, "--tpm": limits.tokens_per_minute}
        self._limits = {option: RateLimit(limit) for option, limit in per_minute.items() if limit}

    def next_send_time(self, now: float) -> SendTime:
        """When the next request may be sent; nothing is reserved."""
        times = (SendTime(limit.free_at, f"{option} {limit.per_minute:g}") for option, limit in self._limits.items())
        return max((SendTime(now, ""), SendTime(self._pause_ends, BUSY_ENDPOINT), *times))

    def pause(self, until: float) -> None:
        """Send nothing before this moment."""
        self._pause_ends = max(self._pause_ends, until)

    def end_pause(self) -> None:
        self._pause_ends = 0.0

    def reserve_send_time(self, now: float, tokens: int) -> SendTime:
        """Reserve one request of `tokens` in every limit, and return when it may be sent."""
        send_time = self.next_send_time(now)
        for option, limit in self._limits.items():
            limit.reserve(now, tokens if option == "--tpm" else 1)
        return send_time

    def correct(self, tokens: int) -> None:
        """Count `tokens` that a request took beyond its reservation; negative for fewer."""
        if "--tpm" in self._limits:
            self._limits["--tpm"].correct(tokens)


FIRST_FAILURES = 5  # in a row, before anything was ever answered
FIRST_SECONDS = 3.0
LATER_FAILURES = 20  # in a row, after there were answers; or twice what is in flight, if that is more
LATER_SECONDS = 120.0
BUSY_SECONDS = 600.0  # nothing but "too many requests"
HOPELESS_IN_A_ROW = 5  # after there were answers
REFUSED_IN_A_ROW = 20  # before there were any; or what is in flight, if that is more


@dataclass(slots=True)
class CircuitBreaker:
    """Records every reply and decides when to stop and why. Times are seconds of any clock."""

    concurrency: int
    started: float
    answered: bool = False
    last_answer: float = 0.0
    failures: int = 0
    refused: int = 0
    busy: int = 0

    def answer(self, now: float) -> None:
        self.answered, self.last_answer = True, now
        self.failures = self.refused = self.busy = 0

    def no_answer(self, why: NoAnswer, now: float) -> str | None:
        """The reason to stop, if this is one."""
        silent = now - (self.last_answer if self.answered else self.started)
        last = f"{why.cause}: {why.detail}" if why.detail else why.cause
        if why.means == "busy":
            self.busy += 1
            if silent >= BUSY_SECONDS:
                return f"the endpoint was busy for {int(silent)} seconds; last: {last}"
            return None
        if why.means in ("hopeless", "final", "unclear", "format"):
            return self._refused(why, last)
        self.failures += 1
        few, long = (LATER_FAILURES, LATER_SECONDS) if self.answered else (FIRST_FAILURES, FIRST_SECONDS)
        if self.answered:
            few = max(few, 2 * self.concurrency)
        if (self.failures >= few and silent >= long) or (self.failures > 1 and silent >= max(long, BUSY_SECONDS)):
            return f"{self.failures} requests in a row failed, over {int(silent)} seconds; last: {last}"
        return None

    def _refused(self, why: NoAnswer, last: str) -> str | None:
        self.refused += 1
        # An endpoint that answers others may refuse single documents (403 from a moderator, 400 for one too long).
        single = why.means != "hopeless" or why.cause == "http_403"
        if self.answered:
            stop = not single and self.refused >= HOPELESS_IN_A_ROW
        else:
            few = HOPELESS_IN_A_ROW if why.means == "format" else max(REFUSED_IN_A_ROW, self.concurrency)
            stop = why.means == "hopeless" or self.refused >= few
        if not stop:
            return None
        if self.refused == 1:
            return f"the endpoint refuses: {last}"
        return f"the endpoint refused {self.refused} requests in a row; last: {last}"
