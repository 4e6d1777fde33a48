"""The interface between a run and the model that answers: an answerer gets an assignment and writes to the journal.

`GenerationProgress` shows how far a run is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from decimal import Decimal
from shutil import get_terminal_size
from typing import Literal, Protocol

from goldgate.core.task import Question
from goldgate.generation.journal import Journal
from goldgate.generation.request import FormatLadder, QuestionPosition, RequestBudget, Usage, compute_cost
from goldgate.report.escape import escape_for_terminal


@dataclass(slots=True)
class ProgressCounts:
    """How far a run is: counts that change as requests come and go. Its summary is made from the journal."""

    total: int = 0
    before: int = 0  # already in the journal
    answered: int = 0
    failed: int = 0
    retries: int = 0
    in_flight: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: Decimal | None = None
    cut_off: int = 0  # in flight when an earlier run was killed
    waits_for: str | None = None  # the limit that holds the next request back right now
    waited: dict[str, float] = field(default_factory=dict)  # seconds that each limit held requests back

    def update_spending(self, budget: RequestBudget) -> None:
        """Copy the tokens and the money that a budget has counted."""
        self.usage = budget.spent
        self.cost = compute_cost(budget.spent, budget.price)

    @property
    def done(self) -> int:
        return self.before + self.answered + self.failed


OnProgress = Callable[[ProgressCounts], None]


@dataclass(slots=True)
class RunCallbacks:
    """Functions that a run calls with its messages and with its progress."""

    on_message: Callable[[str], None] = lambda _: None
    on_progress: OnProgress = lambda _: None
    progress_interval: float = 1.0  # seconds between two reports of progress, at endpoints


TERMINAL_INTERVAL, LOG_INTERVAL = 0.25, 10.0  # seconds between two lines


class GenerationProgress:
    """A line on stderr with the progress of a run: call it with the counts, as often as you like."""

    def __init__(self, *, quiet: bool, currency: str = "") -> None:
        self._quiet = quiet or sys.stderr is None
        self._terminal = not self._quiet and sys.stderr.isatty()
        self._began = time.monotonic()
        self._next = 0.0 if self._terminal else self._began + LOG_INTERVAL
        self._width = 0
        self._currency = currency

    @property
    def interval(self) -> float:
        """Seconds between two updates."""
        return TERMINAL_INTERVAL if self._terminal else 1.0

    def __call__(self, counts: ProgressCounts) -> None:
        now = time.monotonic()
        finished = counts.done >= counts.total
        if self._quiet or (now < self._next and not finished):
            return
        self._next = now + (TERMINAL_INTERVAL if self._terminal else LOG_INTERVAL)
        text = escape_for_terminal(progress_text(counts, now - self._began, self._currency))
        if self._terminal:
            text = text[: max(20, get_terminal_size().columns - 1)]  # a line that wraps cannot be written over
            _write_stderr("\r" + text.ljust(self._width))
            self._width = len(text)
        else:
            _write_stderr(text + "\n")

    def clear(self) -> None:
        """End the line that changes, so that what is printed next stands below it."""
        if self._width:
            _write_stderr("\n")
            self._width = 0

    def print_message(self, text: str) -> None:
        """Print a line of its own, above the one that changes."""
        if not self._quiet:
            self.clear()
            _write_stderr(escape_for_terminal(text) + "\n")


def _write_stderr(text: str) -> None:
    with suppress(OSError):  # stderr was closed (`| head`, a terminal that is gone): the run goes on
        sys.stderr.write(text)
        sys.stderr.flush()


def progress_text(counts: ProgressCounts, seconds: float, currency: str = "") -> str:
    """`120/2,000 (6 %), 58.1/s, 0:32 left, 80,120 + 9,871 tokens, 0.31 USD, 4 retries, 0 failed`."""
    now_done = counts.answered + counts.failed
    rate = now_done / seconds if seconds > 0 else 0.0
    percent = 100 * counts.done // counts.total if counts.total else 100
    parts = [f"{counts.done:,}/{counts.total:,} ({percent} %)", f"{rate:.1f}/s"]
    left = counts.total - counts.done
    if left:
        parts.append(f"{_format_duration(left / rate)} left" if rate else "time left unknown")
    parts.append(f"{counts.usage.input:,} + {counts.usage.output:,} tokens")
    if counts.cost is not None:
        parts.append(f"{counts.cost:.4f} {currency}".rstrip())
    parts.append("1 retry" if counts.retries == 1 else f"{counts.retries:,} retries")
    parts.append(f"{counts.failed:,} failed")
    if counts.waits_for is not None:
        parts.append(f"waiting for {counts.waits_for}")
    return ", ".join(parts)


def _format_duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


EndReason = Literal["done", "interrupted", "budget", "stopped", "full"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How asking ended: `done`, or why before everything was asked."""

    reason: EndReason
    message: str = ""
    signal: int | None = None  # that interrupted it


@dataclass(frozen=True, slots=True)
class Assignment:
    """The questions to ask, their formats, and the journal, budget and counts that take the outcome."""

    ladder: FormatLadder
    pending: Sequence[QuestionPosition]
    journal: Journal
    budget: RequestBudget
    counts: ProgressCounts
    callbacks: RunCallbacks

    def question(self, position: int, seed: int | None) -> Question:
        return self.ladder.plan.task.question(position, seed)


class Answerer(Protocol):
    """A source of answers: endpoints, or a checkpoint on disk."""

    @property
    def takes_formats(self) -> bool:
        """Whether it can be asked for JSON, or for an answer that fits a JSON Schema."""

    def identify(self) -> Mapping[str, str]:
        """Check that it can be used at all; what is stored of it. Another value is another source of answers."""

    def get_ready(self) -> None:
        """Require what it needs, such as a key; a ConfigError otherwise. Called before anything is written."""

    def answer(self, assignment: Assignment) -> Ending:
        """Ask every pending question. The answers are in the journal, however this ends."""

    def advice(self, message: str) -> str | None:
        """What a user can do after a run stopped with this message; None where asking again is all."""
