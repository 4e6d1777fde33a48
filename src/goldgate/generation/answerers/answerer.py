"""The seam between what is asked and who answers: an answerer gets questions, and puts answers into the journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from goldgate.core.task import Question
from goldgate.generation.budget import Budget
from goldgate.generation.counts import Counts, Listener
from goldgate.generation.journal import Journal
from goldgate.generation.ladder import Ladder
from goldgate.generation.stopping import Stopping

Position = tuple[int, int | None]  # of a document in its task, and the seed that it is asked with
Reason = Literal["done", "decided", "interrupted", "budget", "stopped", "full"]


@dataclass(frozen=True, slots=True)
class Ending:
    """How asking ended: `done`, or why before everything was asked."""

    reason: Reason
    message: str = ""
    signal: int | None = None  # that interrupted it


@dataclass(frozen=True, slots=True)
class Assignment:
    """What is to be asked, in which formats, and where everything goes that comes of it."""

    ladder: Ladder
    pending: Sequence[Position]
    journal: Journal
    budget: Budget
    counts: Counts
    listener: Listener
    stopping: Stopping | None = None  # where asking ends once every gate is decided

    def question(self, position: int, seed: int | None) -> Question:
        return self.ladder.plan.task.question(position, seed)

    def is_enough(self, position: int, response: str | None) -> bool:
        """Told of an answer, or that there is none: whether no more need be asked."""
        return self.stopping is not None and self.stopping.hear(position, response)


class Answerer(Protocol):
    """Whoever answers: an endpoint, a checkpoint on disk. It is chosen once, and nobody else asks which one it is."""

    @property
    def takes_formats(self) -> bool:
        """Whether it can be asked for JSON, or for an answer that fits a JSON Schema."""

    def identify(self) -> Mapping[str, str]:
        """Check that it can be used at all; what is stored of it. Another value is another source of answers."""

    def also(self) -> Sequence[Mapping[str, str]]:
        """Other sources, in the words of `identify`, whose answers to the same questions count as its own."""

    def get_ready(self) -> None:
        """What it needs to be asked (a key) is there; ConfigError if not. Nothing has been written until now."""

    def answer(self, assignment: Assignment) -> Ending:
        """Ask everything that is pending. What is answered is in the journal, however this ends."""

    def advice(self, message: str) -> str | None:
        """What a user can do after asking was given up with this message, if there is more than to ask again."""
