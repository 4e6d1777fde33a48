"""The plan of an evaluation: a suite's settings and gates, and the signature that names every setting in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from goldgate.core.gate import Gate
from goldgate.errors import Place


@dataclass(frozen=True, slots=True)
class ProtocolInfo:
    """Which protocol this is."""

    version: str = "1.0"
    name: str = "default"


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings of one suite, and the gates that are judged: its own, those of the protocol in their place."""

    settings: Any  # of the type that the suite declares
    gates: dict[str, Gate] = field(default_factory=dict)
    protocol: ProtocolInfo = ProtocolInfo()
    file: str | None = None  # of the protocol, as it was given
    sha256: str | None = None
    lines: dict[str, int] = field(default_factory=dict)  # of the protocol's settings
    baseline_sha256: str | None = None

    def place(self, setting: str) -> Place:
        """Where the protocol says so."""
        return Place(self.file, self.lines.get(setting), setting)


# What no count depends on: a protocol's settings stand one by one. Two systems may be stored in different layouts.
IGNORED_SETTINGS = ("goldgate", "protocol", "interval", "layout", "id_field", "response_field", "joined")


class SignatureDifference(NamedTuple):
    """A part of a signature that two do not have in common."""

    name: str
    mine: str
    theirs: str


def signature(settings: Mapping[str, object]) -> str:
    """`name:value` for each setting, in the order given, joined by `|`."""
    return "|".join(f"{name}:{_word(value)}" for name, value in settings.items())


def parse_signature(signature: str) -> dict[str, str]:
    """The parts of a signature by name."""
    return dict(part.partition(":")[::2] for part in signature.split("|"))


def signature_differences(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[SignatureDifference]:
    """In what two signatures differ, of what counts can depend on."""
    parts = [SignatureDifference(name, mine.get(name, "none"), theirs.get(name, "none")) for name in {**mine, **theirs}]
    return [part for part in parts if part.name not in IGNORED_SETTINGS and part.mine != part.theirs]


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "/").replace("\n", " ")
