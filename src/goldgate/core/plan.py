"""The plan of an evaluation: a suite's settings and gates, and the signature that names every setting in one line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from goldgate.core.gate import Gate
from goldgate.errors import Place


@dataclass(frozen=True, slots=True)
class ProtocolInfo:
    """The version and name of a protocol."""

    version: str = "1.0"
    name: str = "default"


@dataclass(frozen=True, slots=True)
class Plan:
    """Settings and gates of one suite; gates of the protocol replace the suite's own."""

    settings: Any  # an instance of `Suite.settings`
    gates: dict[str, Gate] = field(default_factory=dict)
    protocol: ProtocolInfo = ProtocolInfo()
    file: str | None = None  # path of the protocol, as in the command
    sha256: str | None = None
    lines: dict[str, int] = field(default_factory=dict)  # line of each setting in the protocol
    baseline_sha256: str | None = None

    def place(self, setting: str) -> Place:
        """File and line of a setting."""
        return Place(self.file, self.lines.get(setting), setting)


# No count depends on these: a protocol's settings are listed one by one, and layouts of two systems may differ.
IGNORED_SETTINGS = ("goldgate", "protocol", "interval", "layout", "id_field", "response_field", "joined")


class SignatureDifference(NamedTuple):
    """A setting in which two signatures differ."""

    name: str
    mine: str
    theirs: str


def signature(settings: Mapping[str, object]) -> str:
    """`name:value` for each setting, in the order given, joined by `|`."""
    return "|".join(f"{name}:{_escape_value(value)}" for name, value in settings.items())


def parse_signature(signature: str) -> dict[str, str]:
    """The parts of a signature by name."""
    return dict(part.partition(":")[::2] for part in signature.split("|"))


def signature_differences(mine: Mapping[str, str], theirs: Mapping[str, str]) -> list[SignatureDifference]:
    """The settings in which two signatures differ, without those that no count depends on."""
    parts = [SignatureDifference(name, mine.get(name, "none"), theirs.get(name, "none")) for name in {**mine, **theirs}]
    return [part for part in parts if part.name not in IGNORED_SETTINGS and part.mine != part.theirs]


def _escape_value(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).replace("|", "/").replace("\n", " ")
