"""What comes of a question: an answer with what it cost, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MOST_TOKENS = 1_000_000_000  # of one answer; an endpoint that says more does not count

# What can be done about it:
# busy      ask again later, as often as it takes
# again     ask again, a limited number of times
# format    the response format is not supported
# unclear   this request is refused, perhaps for its response format
# final     this request will never be answered
# hopeless  no request will be answered: wrong key, unknown model, no money left
Means = Literal["busy", "again", "format", "unclear", "final", "hopeless"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as whoever answered counted them. Reasoning tokens are part of the output."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    estimated: bool = False  # nobody said, and these are our own guess

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said."""

    response: str
    usage: Usage | None = None
    finish_reason: str | None = None
    reasoning: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class NoAnswer:
    """Why there is no answer. `billed` is True where the endpoint may have worked, and charged, all the same.

    `undecided` is True where nobody knows what became of the request: it is asked again under the same id.
    """

    means: Means
    cause: str
    detail: str = ""
    retry_after: float | None = field(default=None, compare=False)
    billed: bool = False
    undecided: bool = False
    usage: Usage | None = None  # where the reply said what it cost
