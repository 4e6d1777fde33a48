"""The endpoints that are asked: which of them gets the next question, and which are left alone for a while.

A single endpoint is asked until it is given up. Of several, the one with the least in flight is asked; one that is busy
or fails again and again rests, longer each time, and is then tried with one question until it answers.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from goldgate.generation.answerers.openai.breaker import Breaker
from goldgate.generation.answerers.openai.limits import Limits, RateLimits, Turn
from goldgate.generation.answerers.openai.transport import Send
from goldgate.generation.answerers.openai.waiting import pause
from goldgate.generation.outcome import NoAnswer

BUSY = "the endpoint, busy or failing"
REST_AFTER = 3  # failures in a row, where others can be asked instead
LONGEST_REST = 30.0  # seconds, where the endpoint itself does not ask for more


@dataclass(slots=True, eq=False)
class Member:
    """One endpoint, and how it does. `name` is its address where there are several: it is stored with each answer."""

    send: Send
    limits: Limits
    name: str | None = None
    breaker: Breaker = field(init=False)
    rates: RateLimits = field(init=False)
    in_flight: int = 0
    asked: int = 0
    answered: int = 0
    not_before: float = 0.0  # nothing is sent before that moment
    rests: int = 0  # one after the other, without an answer in between
    given_up: str | None = None  # why; an answer takes it back

    def begin(self, now: float, *, answered: bool, alone: bool) -> None:
        """Asking begins; `answered` if the endpoint did in an earlier run."""
        # Beside others one question at a time is tried after a failure, so that fewer failures say as much.
        self.breaker = Breaker(self.limits.concurrency if alone else 1, now, answered, now)
        self.rates = RateLimits(self.limits)

    @property
    def has_place(self) -> bool:
        return self.in_flight < (1 if self.rests else self.limits.concurrency)

    def turn(self, now: float) -> Turn:
        """From when on it may be asked, and what it waits for until then."""
        return max(Turn(self.not_before, BUSY), self.rates.next_turn(now))

    def answer(self, now: float) -> bool:
        """It answered: whether it had been given up."""
        self.breaker.answer(now)
        self.not_before, self.rests = 0.0, 0
        self.answered += 1
        back, self.given_up = self.given_up is not None, None
        return back

    def rest(self, now: float, asked: float | None, rng: random.Random) -> None:
        """Leave it alone for a while. What fails while it rests was sent before, and makes the rest no longer."""
        self.rests += now >= self.not_before
        wait = pause(max(1, self.rests), asked, rng)
        self.not_before = max(self.not_before, now + (wait if asked is not None else min(wait, LONGEST_REST)))


class Fleet:
    """One endpoint or several."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.members = members

    @property
    def alone(self) -> Member | None:
        """The one endpoint, where there are no others."""
        return self.members[0] if len(self.members) == 1 else None

    @property
    def concurrency(self) -> int:
        """How much may be in flight, of all together."""
        return sum(member.limits.concurrency for member in self.members)

    @property
    def has_answered(self) -> bool:
        return any(member.breaker.answered for member in self.members)

    def begin(self, now: float, *, answered: bool) -> None:
        for member in self.members:
            member.begin(now, answered=answered, alone=self.alone is not None)

    def choose(self, now: float, tried: Collection[Member]) -> Member | None:
        """The least loaded endpoint that may be asked now and was not tried yet; None if there is none at present."""
        ready = [
            member
            for member in self.members
            if member.has_place and member.turn(now).at <= now and not (member in tried and self.elsewhere(tried))
        ]
        return min(ready, key=lambda member: (member.in_flight, member.asked), default=None)

    def elsewhere(self, tried: Collection[Member]) -> bool:
        """Whether there is an endpoint that was not tried, and is not given up."""
        return any(member not in tried and member.given_up is None for member in self.members)

    def next_turn(self, now: float) -> Turn | None:
        """When one that has a place may be asked again; None if all places are taken."""
        turns = [turn for member in self.members if member.has_place and (turn := member.turn(now)).at > now]
        return min(turns, default=None)

    def no_answer(self, member: Member, why: NoAnswer, now: float, rng: random.Random) -> str | None:
        """Told that a question was not answered: why the endpoint is given up, if it is now and was not before."""
        reason = member.breaker.no_answer(why, now)
        if self.alone is None:
            failing = why.means == "busy" or reason is not None or member.breaker.failures >= REST_AFTER
            if failing or member.rests:
                member.rest(now, why.retry_after if why.means == "busy" else None, rng)
        if reason is None or member.given_up is not None:
            return None
        member.given_up = reason
        return reason

    def ended(self) -> str | None:
        """Why no endpoint can be asked any more; None as long as one can."""
        if any(member.given_up is None for member in self.members):
            return None
        if self.alone is not None:
            return self.alone.given_up
        return "no endpoint answers. " + ". ".join(f"{member.name}: {member.given_up}" for member in self.members)
