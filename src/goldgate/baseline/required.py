"""What a baseline record is needed for: gates below their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from goldgate.core.gate import Gate
from goldgate.errors import ConfigError, Place, as_yaml

ADVICE = (
    "collect reports of representative runs, then: goldgate baseline REPORT... --out baseline.json, "
    "and name the file in the protocol: baseline: baseline.json"
)


class Baseline(NamedTuple):
    """What a gate needs of a record: the proposed threshold of each metric, as it is written there."""

    proposals: dict[str, Decimal]
    sha256: str


def require_baseline(
    gates: Mapping[str, Gate], defaults: Mapping[str, Gate], baseline: Baseline | None, places: Mapping[str, Place]
) -> None:
    """Refuse a gate below its default that no baseline record speaks for.

    One that only warns is below it, and so is one that lets pass what is not decided.
    """
    for name, default in defaults.items():
        gate = gates.get(name, default)
        if not gate.is_weaker_than(default):
            continue
        least, shown = gate.least, gate.bounds()
        if gate.severity == "warn":
            shown += ", severity warn: it cannot fail the evaluation"
        elif gate.on_inconclusive != "fail":
            shown += f", on_inconclusive {gate.on_inconclusive}: it holds while it is not refuted"
        if baseline is None:
            raise ConfigError(
                "protocol.lowered_without_baseline",
                f"the gate on {name} is weaker than its default",
                place=places.get(name),
                expected=f"{default.bounds()}, or a record of stored reports: {as_yaml('baseline', 'FILE')}",
                found=shown,
                advice=ADVICE,
            )
        proposed = baseline.proposals.get(name)
        if proposed is None or least is None or least < proposed:  # a record proposes lower bounds only
            raise ConfigError(
                "protocol.below_baseline",
                f"the gate on {name} is weaker than its baseline record proposes",
                place=places.get(name),
                expected="a record that proposes a threshold: this one has too few trials of it"
                if proposed is None
                else f"≥ {proposed}",
                found=shown,
                advice=ADVICE,
            )
