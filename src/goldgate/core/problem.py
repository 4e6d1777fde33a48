"""A place in a stored value where it is not what it should be."""

from __future__ import annotations

from typing import NamedTuple


class Problem(NamedTuple):
    """Where, what was expected there, and what was found."""

    pointer: str  # RFC 6901; empty for the whole value
    expected: str
    found: str

    @property
    def message(self) -> str:
        return f"expected {self.expected}, found {self.found}"


def below(pointer: str, key: str | int) -> str:
    """The pointer of what an object or a list has under a key."""
    return f"{pointer}/{str(key).replace('~', '~0').replace('/', '~1')}"
