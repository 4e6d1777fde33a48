"""Which units a page shows: the worst, and those that cost a gate most."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import orjson

from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import Gate, GateResult, Verdict
from goldgate.core.metric import Count, Rate
from goldgate.core.unit_page import EmptyInputLookup
from goldgate.protocol import Protocol
from goldgate.report.html.units import worst_units
from goldgate.suites import load_suite
from goldgate.suites.plan import load_plan
from goldgate.suites.worst_units import SHOWN_A_GATE, UnitWeigher, WorstUnits, gate_costs

SUITE = load_suite("extraction")
PLAN = load_plan(SUITE, Protocol())


def failed(metric: str, gate: Gate, verdict: Verdict = Verdict.FAIL) -> GateResult:
    return GateResult(metric, gate, Rate(1, 2) if metric.endswith("f1") else Count(3), verdict, "why")


LEAST, MOST = Gate(min=Decimal("0.9")), Gate(max=Decimal(0))


def record(number: int, hits: int, gold: int, errors: int = 0, parse_errors: int = 0) -> dict[str, Any]:
    """A sample with as many strict hits as that, among `gold` predicted and gold arguments each."""
    parse = {"status": "raw", "method": "whole", "repairs": [], "thought": "none", "start": 0, "end": 1}
    error = {"error": "missing", "side": "gold", "unit": ["T", "R", "a"], "paired_with": None}
    return {
        "id": f"s{number}", "parse": {**parse, "left_out": []},
        "gold": {}, "predicted": {}, "relaxed_pairs": [], "violations": [], "hallucination": None, "cot": None,
        "errors": [error] * errors,
        "units": {"matching": [hits, hits, gold, gold], "parse": [0, 1, 0, parse_errors, 0, 1]},
        "parts": [[["matching", "T"], [hits, hits, gold, gold]]],
    }  # fmt: skip


def cost(metric: str, gate: Gate, of: Any) -> int:
    return gate_costs(SUITE, PLAN, [failed(metric, gate)])[metric](of)


def looked(records: list[dict[str, Any]], *gates: GateResult, shown: int = 5) -> Any:
    """Weighed in parts of any size, as workers do it."""
    lines = [orjson.dumps(each) + b"\n" for each in records]
    plan = replace(PLAN, gates={each.metric: each.gate for each in gates})
    worst, weigh = WorstUnits(), UnitWeigher(SUITE, plan)
    for begin in range(0, len(lines), 5):
        part = weigh.nothing()
        for line in lines[begin : begin + 5]:
            weigh.add(part, line)
        worst += part
    data = b"".join(lines)

    def read(offset: int, length: int) -> bytes:
        return data[offset : offset + length]

    return worst_units(SUITE, PLAN, Evaluation({}, gates=[*gates]), worst, read, EmptyInputLookup(), shown)


def test_the_worst_come_first_and_of_equal_ones_those_that_came_first() -> None:
    records = [record(number, 1, 2, errors=number % 4) for number in range(12)]
    found = looked(records)
    assert [summary.id for summary in found.units] == ["s3", "s7", "s11", "s2", "s6"]
    assert (found.total, found.wrong, found.unit, found.explains) == (12, 9, "sample", {})


def test_what_explains_a_gate_is_shown_though_other_samples_are_worse() -> None:
    records = [record(number, 1, 2, errors=9) for number in range(30)]
    records += [record(30, 2, 2, parse_errors=1), record(31, 2, 2, parse_errors=1)]
    found = looked(records, failed("parse_errors", MOST), failed("strict_f1", LEAST), shown=20)
    ids = [summary.id for summary in found.units]
    assert ids[-2:] == ["s30", "s31"]
    assert len(ids) == 20
    assert found.explains["parse_errors"] == (2, ("s30", "s31"))
    count, named = found.explains["strict_f1"]
    assert count == 30
    assert named[:SHOWN_A_GATE] == tuple(f"s{number}" for number in range(SHOWN_A_GATE))


def test_nothing_wrong_is_nothing_to_show() -> None:
    found = looked([record(number, 2, 2) for number in range(3)], failed("strict_f1", LEAST))
    assert (found.units, found.total, found.wrong, found.explains) == ((), 3, 0, {})
