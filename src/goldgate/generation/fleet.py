"""Choose the endpoint for the next request, and decide when an endpoint is paused or given up.

A single endpoint is asked until its circuit breaker opens. Of several, the one with the fewest requests in flight is
asked; one that is busy or keeps failing is paused, longer each time, and then tried with one request until it answers.
Pauses between attempts grow exponentially, with jitter; limits per minute are kept evenly.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from goldgate.generation.request import NoAnswer

if TYPE_CHECKING:
    from goldgate.generation.transport import Send

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
    # "In 0 seconds", again and again, is no time.
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


class RateLimits:
    """The limits per minute of one endpoint: they decide when a request may be sent."""

    def __init__(self, limits: EndpointLimits) -> None:
        per_minute = {"--rpm": limits.requests_per_minute, "--tpm": limits.tokens_per_minute}
        self._limits = {option: RateLimit(limit) for option, limit in per_minute.items() if limit}

    def next_send_time(self, now: float) -> SendTime:
        """When the next request may be sent; nothing is reserved."""
        times = (SendTime(limit.free_at, f"{option} {limit.per_minute:g}") for option, limit in self._limits.items())
        return max((SendTime(now, ""), *times))

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
        if self.failures >= few and silent >= long:
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


BUSY_ENDPOINT = "the endpoint, busy or failing"
PAUSE_AFTER = 3  # failures in a row, where others can be asked instead
MAX_ENDPOINT_PAUSE = 30.0  # seconds, where the endpoint itself does not ask for more


@dataclass(slots=True, eq=False)
class FleetMember:
    """One endpoint: its limits, its counts, and whether it is paused."""

    send: Send
    limits: EndpointLimits
    name: str | None = None  # its address, which is stored with each answer; None where there is no other endpoint
    breaker: CircuitBreaker = field(init=False)
    rates: RateLimits = field(init=False)
    in_flight: int = 0
    asked: int = 0
    answered: int = 0
    not_before: float = 0.0  # nothing is sent before that moment
    pauses: int = 0  # one after the other, without an answer in between
    given_up: str | None = None  # why; an answer takes it back

    def begin(self, now: float, *, answered: bool, alone: bool) -> None:
        """Asking begins; `answered` if the endpoint did in an earlier run."""
        # Beside others one question at a time is tried after a failure, so that fewer failures say as much.
        self.breaker = CircuitBreaker(self.limits.concurrency if alone else 1, now, answered, now)
        self.rates = RateLimits(self.limits)

    @property
    def has_free_slot(self) -> bool:
        return self.in_flight < (1 if self.pauses else self.limits.concurrency)

    def next_send_time(self, now: float) -> SendTime:
        """When the next request may be sent, and which limit it waits for until then."""
        return max(SendTime(self.not_before, BUSY_ENDPOINT), self.rates.next_send_time(now))

    def is_ready(self, now: float) -> bool:
        """Whether a request may be sent now."""
        return self.has_free_slot and self.next_send_time(now).at <= now

    def answer(self, now: float) -> bool:
        """Record an answer; True if the endpoint had been given up."""
        self.breaker.answer(now)
        self.not_before, self.pauses = 0.0, 0
        self.answered += 1
        back, self.given_up = self.given_up is not None, None
        return back

    def pause(self, now: float, asked: float | None, rng: random.Random) -> None:
        """Send nothing to the endpoint for a while. What fails meanwhile was sent before, and adds nothing."""
        self.pauses += now >= self.not_before
        wait = backoff(max(1, self.pauses), asked, rng)
        self.not_before = max(self.not_before, now + (wait if asked is not None else min(wait, MAX_ENDPOINT_PAUSE)))


class Fleet:
    """The endpoints of a run, one or several."""

    def __init__(self, members: Sequence[FleetMember]) -> None:
        self.members = members

    @property
    def single(self) -> FleetMember | None:
        """The only endpoint; None if there are several."""
        return self.members[0] if len(self.members) == 1 else None

    @property
    def concurrency(self) -> int:
        """The number of requests that may be in flight, at all endpoints together."""
        return sum(member.limits.concurrency for member in self.members)

    @property
    def has_answered(self) -> bool:
        return any(member.breaker.answered for member in self.members)

    def begin(self, now: float, *, answered: bool) -> None:
        for member in self.members:
            member.begin(now, answered=answered, alone=self.single is not None)

    def choose(self, now: float, tried: Collection[FleetMember]) -> FleetMember | None:
        """The least loaded endpoint that may be asked now and was not tried yet; None if there is none."""
        ready = [
            member
            for member in self.members
            if member.is_ready(now) and not (member in tried and self.has_other(tried))
        ]
        return min(ready, key=lambda member: (member.in_flight, member.asked), default=None)

    def has_other(self, tried: Collection[FleetMember]) -> bool:
        """Whether there is an endpoint that was not tried and is not given up."""
        return any(member not in tried and member.given_up is None for member in self.members)

    def next_send_time(self, now: float) -> SendTime | None:
        """When the first endpoint with a free slot may be asked again; None if every slot is taken."""
        times = (member.next_send_time(now) for member in self.members if member.has_free_slot)
        return min((time for time in times if time.at > now), default=None)

    def no_answer(self, member: FleetMember, why: NoAnswer, now: float, rng: random.Random) -> str | None:
        """Record that a question was not answered; the reason if the endpoint is given up for it."""
        reason = member.breaker.no_answer(why, now)
        if self.single is None:
            failing = why.means == "busy" or reason is not None or member.breaker.failures >= PAUSE_AFTER
            if failing or member.pauses:
                member.pause(now, why.retry_after if why.means == "busy" else None, rng)
        if reason is None or member.given_up is not None:
            return None
        member.given_up = reason
        return reason

    def stop_reason(self) -> str | None:
        """Why no endpoint can be asked any more; None as long as one can."""
        if any(member.given_up is None for member in self.members):
            return None
        if self.single is not None:
            return self.single.given_up
        return "no endpoint answers. " + ". ".join(f"{member.name}: {member.given_up}" for member in self.members)
