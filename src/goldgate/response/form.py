"""What the reader of responses asks about a decoded value: is it an answer, a part of one, or neither?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class AnswerForm(Protocol):
    """How the answers of one task are laid out. It may have parts that also stand alone, such as events."""

    @property
    def prefix(self) -> str:
        """What the prompt already held of every response."""

    @property
    def flat(self) -> bool:
        """Whether an answer is one object, of which the first that says something counts."""

    @property
    def keys(self) -> frozenset[str]:
        """Keys by which an answer that breaks off is recognized."""

    @property
    def list_keys(self) -> tuple[str, ...]:
        """Keys under which an object may have the list of parts."""

    @property
    def part_keys(self) -> tuple[str, ...]:
        """Keys of a part by which one is recognized that lacks its opening bracket."""

    def prefixed(self, response: str) -> str:
        """The response after the prefix, unless the model wrote that itself."""

    def is_answer(self, value: Any) -> bool:
        """Whether a decoded value is meant as a whole answer."""

    def is_event(self, value: Any) -> bool:
        """Whether a decoded value is meant as one part of an answer; parts that stand alone are joined."""

    def events_key(self, value: dict[str, Any]) -> str | None:
        """The key under which an object has its list of parts."""

    def flattens(self) -> bool:
        """Whether a list of lists is read as one list of parts."""

    def says_something(self, value: Any) -> bool:
        """Whether an answer has any content."""

    def is_template(self, value: Any) -> bool:
        """Whether a value only shows the form of an answer."""

    def is_empty_template(self, value: Any) -> bool:
        """Whether a template has not even placeholders."""


@dataclass(frozen=True, slots=True)
class JsonForm:
    """Any JSON object or array is an answer, as the root of the expected value has it.

    Where an array is expected, objects that stand alone are its items; where an object is expected, a list without an
    object in it is prose, such as a footnote mark, unless there is nothing else.
    """

    is_list: bool = False
    keys: frozenset[str] = frozenset()  # keys of the root object
    prefix: str = ""
    flat: bool = False
    list_keys: tuple[str, ...] = ()
    part_keys: tuple[str, ...] = ()

    def prefixed(self, response: str) -> str:
        return response

    def is_answer(self, value: Any) -> bool:
        if isinstance(value, dict):
            return not self.is_list
        return isinstance(value, list) and (self.is_list or any(isinstance(item, dict) for item in value))

    def is_event(self, value: Any) -> bool:
        return self.is_list and isinstance(value, dict)

    def events_key(self, value: dict[str, Any]) -> str | None:
        return None

    def flattens(self) -> bool:
        return False

    def says_something(self, value: Any) -> bool:
        return bool(value)

    def is_template(self, value: Any) -> bool:
        return False

    def is_empty_template(self, value: Any) -> bool:
        return False
