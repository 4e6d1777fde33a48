"""How an evaluation is to be carried out: a suite's settings and gates, and the protocol that they come from."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
