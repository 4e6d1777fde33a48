"""What a protocol file holds, whichever suite it is for. Every suite adds a section with its own settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, make_dataclass
from decimal import Decimal
from typing import Any, TypeVar

from goldgate.core.gate import Gate
from goldgate.core.plan import ProtocolInfo

T = TypeVar("T")

GENERATION = "generation"


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost. Reasoning tokens are billed as output."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """What asking a model costs: prices by the model's name, `default` for all others. No score depends on it."""

    currency: str = "USD"
    prices: dict[str, Price] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Protocol:
    """A whole protocol: settings by the name of their section, and gates. What it leaves out has its default."""

    protocol: ProtocolInfo = field(default_factory=ProtocolInfo)
    sections: Mapping[str, Any] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    baseline: str | None = None  # a file, named from the protocol's own folder

    def section(self, name: str, kind: type[T]) -> T:
        """The settings of a section."""
        found = self.sections.get(name, None)
        return kind() if found is None else found

    @property
    def generation(self) -> GenerationSettings:
        return self.section(GENERATION, GenerationSettings)

    def as_file(self) -> dict[str, Any]:
        """Plain values, laid out as in the file."""
        return {
            "protocol": asdict(self.protocol),
            **{name: asdict(settings) for name, settings in self.sections.items()},
            "gates": {name: asdict(gate) for name, gate in self.gates.items()},
            "baseline": self.baseline,
        }


def file_kind(sections: Mapping[str, type]) -> type:
    """The type of a protocol file that may have these sections."""
    return make_dataclass(
        "Protocol",
        [
            ("protocol", ProtocolInfo, field(default_factory=ProtocolInfo)),
            *((name, kind, field(default_factory=kind)) for name, kind in sections.items()),
            ("gates", dict[str, Gate], field(default_factory=dict)),
            (GENERATION, GenerationSettings, field(default_factory=GenerationSettings)),
            ("baseline", str | None, None),
        ],
        namespace={"__doc__": "A whole protocol file."},
        frozen=True,
    )
