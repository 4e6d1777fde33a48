"""One line that names every setting that can change a number, to stand beside the number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# What no count depends on: a protocol's settings stand one by one. Two systems may be stored in different layouts.
NO_MATTER = ("goldgate", "protocol", "interval", "layout", "id_field", "response_field", "joined")


class OtherPart(NamedTuple):
    """A part of a signature that two do not have in common."""

    name: str
    mine: str
    theirs: str


def signature(settings: Mapping[str, object]) -> str:
    """`name:value` for each setting, in the order given, joined by `|`."""
    return "|".join(f"{name}:{_word(value)}" for name, value in settings.items())


def signed(signature: str) -> dict[str, str]:
    """The parts of a signature by name."""
    return dict(part.partition(":")[::2] for part in signature.split("|"))


def unlike(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[OtherPart]:
    """In what two signatures differ, of what counts can depend on."""
    parts = [OtherPart(name, mine.get(name, "none"), theirs.get(name, "none")) for name in {**mine, **theirs}]
    return [part for part in parts if part.name not in NO_MATTER and part.mine != part.theirs]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "/").replace("\n", " ")
