"""How much is asked at once, how fast, and how often again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from goldgate.generation.answerers.openai.waiting import Pace


@dataclass(frozen=True, slots=True)
class Limits:
    """What a user allows."""

    concurrency: int = 32
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    attempts: int = 8


class Turn(NamedTuple):
    """When a request may be sent, and which limit it waits for until then."""

    at: float
    limit: str


class RateLimits:
    """Hands out the moments at which requests may be sent."""

    def __init__(self, limits: Limits) -> None:
        requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
        self._requests = Pace(requests) if requests else None
        self._tokens = Pace(tokens) if tokens else None

    def next_turn(self, now: float) -> Turn:
        """The moment from which on a request may be sent; nothing is reserved."""
        turns = [Turn(now, "")]
        if self._requests is not None:
            turns.append(Turn(self._requests.free_at, f"--rpm {self._requests.per_minute:g}"))
        if self._tokens is not None:
            turns.append(Turn(self._tokens.free_at, f"--tpm {self._tokens.per_minute:g}"))
        return max(turns)

    def reserve(self, now: float, tokens: int) -> Turn:
        """The same moment, taken for a request of so many tokens."""
        turn = self.next_turn(now)
        if self._requests is not None:
            self._requests.reserve(now)
        if self._tokens is not None:
            self._tokens.reserve(now, tokens)
        return turn

    def correct(self, tokens: int) -> None:
        """A request took so many more tokens than were reserved (or fewer)."""
        if self._tokens is not None:
            self._tokens.correct(tokens)
