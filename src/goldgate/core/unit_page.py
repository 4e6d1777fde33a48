"""One unit as something to look at: its texts with what is marked in them, and what went wrong. No layout.

Nothing here is escaped: whatever comes from data is made safe where it is laid out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from goldgate.core.page import Block


class Mark(NamedTuple):
    """A part of a text, by its characters, at least one; and what is said of it.

    `kind` says whose it is: gold, predicted, both; in an answer read, repair, left out, thought; quote in a source;
    cut where the text stands for what was left out. A suite may have others.
    """

    start: int
    end: int
    kind: str
    label: str  # an event type and role, a repair
    wrong: str = ""  # the name of the error, where it is one


class MarkedText(NamedTuple):
    """A text with marks that may overlap. They are in the order of their start; the longer of two comes first."""

    text: str
    marks: tuple[Mark, ...] = ()
    note: str = ""  # what the text does not show: values that are not in it, how much was left out


class UnitSection(NamedTuple):
    """Blocks under a title: the source text, the answer, the thought, the errors."""

    title: str
    blocks: tuple[Block | MarkedText, ...]


class UnitPage(NamedTuple):
    """A unit with all that explains its result."""

    id: str
    sections: tuple[UnitSection, ...]


@dataclass(frozen=True, slots=True)
class UnitSummary:
    """A unit in a list: what went wrong in few words, how much, and by what it can be found."""

    id: str
    word: str = ""  # empty where nothing went wrong
    weight: int = 0  # how much went wrong: the largest is looked at first
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # such as error, event type, role, read


class Given(Protocol):
    """The opened inputs of an evaluation, for looking up what a unit's record was made from."""

    def of(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        """By the name of the input, the unit's part of it; without those that are not there, or have changed."""


class NothingGiven:
    """Of inputs that nobody can look up."""

    def of(self, record: Mapping[str, Any]) -> Mapping[str, Any]:
        return {}
