"""Timing of requests: retry times that servers ask for, exponential backoff with jitter, and limits per minute."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

FIRST_PAUSE = 0.5  # seconds
LONGEST_PAUSE = 60.0
LONGEST_RETRY_AFTER = 120.0  # servers have been seen to ask for hours
MAX_UNCHANGED_PAUSES = 10  # times that a pause of the server's own is taken as it is; after that ours grows too

_UNITS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_IN_WORDS = re.compile(
    rf"(?:try|retry[_ -]?delay|retry[_ -]?after|wait|resets?|available)\b[^0-9]{{0,40}}?((?:{_TIME}(?:\s|,|and)*)+)",
    re.IGNORECASE,
)
_BARE = re.compile(r"retry[_ -]?after[_ -]?(ms|seconds|secs?)?\W{1,4}(\d{1,9}(?:\.\d{1,9})?)\b", re.IGNORECASE)


def retry_after_header(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a reply asks us to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _capped(milliseconds / 1000)
    value = headers.get("Retry-After") or headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return _capped(seconds)
    if not value:
        return None
    try:
        when = parsedate_to_datetime(value)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return _capped((when - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):  # no date, or one that no calendar has
        return None


def retry_after_text(text: str) -> float | None:
    """The seconds that an error's text asks us to wait: `retry in 1.2s`, `try again in 6m0s`, `"retryDelay": "34s"`."""
    if match := _IN_WORDS.search(text):
        parts = re.findall(_TIME, match[1], re.IGNORECASE)
        return _capped(sum(float(number) * _unit(unit.lower()) for number, unit in parts))
    if match := _BARE.search(text):
        return _capped(float(match[2]) * _unit((match[1] or "s").lower()))
    return None


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
class Pace:
    """At most so much a minute, evenly: nothing is saved up, so there is never a burst."""

    per_minute: float
    free_at: float = 0.0

    def reserve(self, now: float, amount: float = 1.0) -> float:
        """Take the next free moment for `amount`; the seconds until then."""
        start = max(now, self.free_at)
        self.free_at = start + amount * 60.0 / self.per_minute
        return start - now

    def correct(self, difference: float) -> None:
        """What was reserved turned out to be so much more (or less)."""
        self.free_at += difference * 60.0 / self.per_minute


def _exponential(attempt: int) -> float:
    return min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(attempt - 1, 20))


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and number == number else None


def _unit(name: str) -> float:
    return _UNITS.get(name) or _UNITS["mil" if name.startswith("mil") else name[0]]


def _capped(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


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
    """Hands out the moments at which requests may be sent."""

    def __init__(self, limits: EndpointLimits) -> None:
        per_minute = {"--rpm": limits.requests_per_minute, "--tpm": limits.tokens_per_minute}
        self._paces = {option: Pace(limit) for option, limit in per_minute.items() if limit}

    def next_turn(self, now: float) -> SendTime:
        """The moment from which on a request may be sent; nothing is reserved."""
        turns = (SendTime(pace.free_at, f"{option} {pace.per_minute:g}") for option, pace in self._paces.items())
        return max((SendTime(now, ""), *turns))

    def reserve(self, now: float, tokens: int) -> SendTime:
        """The next moment at which a request of `tokens` may be sent."""
        turn = self.next_turn(now)
        for option, pace in self._paces.items():
            pace.reserve(now, tokens if option == "--tpm" else 1)
        return turn

    def correct(self, tokens: int) -> None:
        """Count `tokens` that a request took beyond its reservation; negative for fewer."""
        if "--tpm" in self._paces:
            self._paces["--tpm"].correct(tokens)
