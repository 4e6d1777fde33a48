"""What a stored unit costs a gate: how far its counts, or those of the gate's part, are from right."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from goldgate.core.gate import Gate, GateResult, Verdict
from goldgate.core.metric import Count, Rate
from goldgate.protocol import Protocol
from goldgate.suites import load_suite
from goldgate.suites.plan import load_plan
from goldgate.suites.worst_units import gate_costs
from tests.cases import cases

SUITE = load_suite("extraction")
PLAN = load_plan(SUITE, Protocol())
LEAST, MOST = Gate(min=Decimal("0.9")), Gate(max=Decimal(0))
RECORD: Any = {  # 3 hits among 5 predicted and 5 gold arguments, and a parse error
    "units": {"matching": [3, 3, 5, 5], "parse": [0, 1, 0, 1, 0, 1]},
    "parts": [[["matching", "S"], [1, 1, 1, 1]], [["matching", "T"], [2, 2, 4, 4]]],
}


@cases(
    ("metric", "gate", "expected"),
    [
        ("strict_f1", LEAST, 4),  # 5 + 5 less 2 · 3
        ("strict_recall", LEAST, 2),
        ("parse_errors", MOST, 1),
        ("strict_f1[T]", LEAST, 4),  # 4 + 4 less 2 · 2
        ("strict_f1[S]", LEAST, 0),
        ("strict_f1[Other]", LEAST, 0),
        ("strict_f1_macro", LEAST, 4),
        ("strict_f1", Gate(max_drop=Decimal("0.01"), against="main"), 4),
        ("hallucination_rate", MOST, 0),  # it was not counted
    ],
)
def test_a_unit_costs_a_gate_what_its_rate_lacks_or_has(metric: str, gate: Gate, expected: int) -> None:
    failed = GateResult(metric, gate, Rate(1, 2) if metric.endswith("f1") else Count(3), Verdict.FAIL, "why")
    assert gate_costs(SUITE, PLAN, [failed])[metric](RECORD) == expected
