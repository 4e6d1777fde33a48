"""What can stand out in any report."""

from __future__ import annotations

from decimal import Decimal

from goldgate.core.finding import lowered_gates_remarks
from goldgate.core.gate import Gate

DEFAULTS = {"recall": Gate(min=Decimal("0.80")), "integrity": Gate(equals=Decimal("1.00"))}


def test_lowered_gates_stand_out_with_their_defaults() -> None:
    lowered = {"recall": Gate(min=Decimal("0.5")), "integrity": Gate(equals=Decimal("1.00"))}
    (found,) = lowered_gates_remarks(lowered, DEFAULTS)
    assert (found["code"], found["message"]) == (
        "lowered_gates",
        "gates weaker than their defaults: recall ≥ 0.5 (default ≥ 0.80)",
    )


def test_default_and_higher_gates_do_not() -> None:
    assert list(lowered_gates_remarks(DEFAULTS, DEFAULTS)) == []
    assert list(lowered_gates_remarks({**DEFAULTS, "recall": Gate(min=Decimal("0.9"))}, DEFAULTS)) == []
