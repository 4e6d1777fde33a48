"""What comes out of reading a response: the answer, where it stood, how it was decoded, what was left out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from goldgate.suites.extraction.response.step import Step
from goldgate.suites.extraction.response.thoughts import ThoughtState


class Status:
    """How the answer was decoded."""

    # Plain strings here, in Method and in ThoughtState, not enumerations: they are dictionary keys
    # and JSON in the inner loop.
    RAW = "raw"
    REPAIRED = "repaired"
    ERROR = "error"


class Method:
    """Where the answer was found."""

    WHOLE = "whole"
    FENCED = "fenced"
    EMBEDDED = "embedded"
    STRUCTURED = "structured"  # the prediction came as events, not as text
    NO_JSON_FOUND = "no_json_found"


METHODS = (Method.WHOLE, Method.FENCED, Method.EMBEDDED, Method.STRUCTURED, Method.NO_JSON_FOUND)


class Reason:
    """Why something that looks like an answer was left out."""

    REPLACED = "replaced"  # a later answer took its place
    CUT = "cut"  # it breaks off, and a complete answer stands beside it
    TEMPLATE = "template"  # it shows the form of an answer: its type or all of its values are placeholders
    ASIDE = "aside"  # an object after a whole answer, or an empty list in passing: it replaces nothing
    CODE = "code"  # it stands in a block of a programming language, and an answer stands elsewhere
    ANOTHER_TURN = "another_turn"  # written after the mark of another turn of the chat

    LIMIT = "limit"  # not read: what stands before it took more steps than a text of this length may take


REASONS = (Reason.REPLACED, Reason.CUT, Reason.TEMPLATE, Reason.ASIDE, Reason.CODE, Reason.ANOTHER_TURN, Reason.LIMIT)


class LeftOut(NamedTuple):
    """A stretch of the response that looks like an answer and is not part of it."""

    start: int
    end: int
    reason: str


class RepairPlace(NamedTuple):
    """A repair and where in the response it was made."""

    step: Step
    at: int


@dataclass(slots=True)
class Reading:
    """What could be read from one opening bracket on."""

    value: Any  # a list, a dict, or None where nothing was complete
    end: int  # where reading stopped; the caller goes on from here
    places: list[tuple[Step, int]]
    complete: bool  # the outermost bracket was closed

    @property
    def steps(self) -> set[Step]:
        """What was mended, each name once."""
        return {step for step, _ in self.places}


@dataclass(slots=True)
class Parsed:
    """An answer as it was read. `value` is the decoded JSON, or None where nothing decoded.

    `start` and `end` say where in the response it stands: from its first bracket to its last.
    """

    status: str
    method: str
    value: Any = None
    source: str | None = None  # the text that decoded as it stands: numbers can be read again from it
    repairs: tuple[Step, ...] = ()  # each name once, sorted
    thought_state: str = ThoughtState.NONE
    thought: str = ""  # the text of the thought blocks
    preamble: str = ""  # what stands before the answer, outside thoughts, if it has words
    start: int | None = None
    end: int | None = None
    left_out: tuple[LeftOut, ...] = ()
    places: tuple[RepairPlace, ...] = ()  # every repair, in the order of the text

    def after_thought(self, thought: str) -> Parsed:
        """The same with a thought that was stored beside the response, before those inside it."""
        state = ThoughtState.CLOSED if self.thought_state == ThoughtState.NONE else self.thought_state
        return replace(self, thought_state=state, thought="\n".join(filter(None, (thought, self.thought))))
