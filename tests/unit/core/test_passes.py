"""Bounds in an assertion: exact, with a message, and never in the wrong direction."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import goldgate
from goldgate.core.evaluation import Evaluation
from goldgate.core.metric import MORE_IS_BETTER, Count, Rate
from goldgate.suites import SUITES, load_suite
from tests.cases import cases, error_from

METRICS = {
    "strict_f1": {"value": 0.3, "interval": {"low": 0.1, "high": 0.5}},
    "type_f1": {"value": None, "interval": None},
    "parse_errors": {"value": 2, "interval": None},
    "hallucination_rate": {"value": 0.5, "interval": None},
}
EVALUATION = Evaluation(
    {"suite": "extraction", "status": "NO_GATES", "metrics": {"main": METRICS}},
    {
        "strict_f1": Rate(3, 10),
        "type_f1": Rate(0, 0, "no types"),
        "parse_errors": Count(2),
        "hallucination_rate": Rate(1, 2),
    },
)


@cases(
    ("bounds", "holds", "said"),
    [
        ({"strict_f1": 0.3}, True, "PASS: strict_f1 0.3000 = 3/10 [0.100, 0.500] is ≥ 0.3"),
        ({"strict_f1": 0.30000000000000004}, False, "FAIL: strict_f1 0.3000 = 3/10 [0.100, 0.500] is not ≥ 0.300"),
        ({"strict_f1": Decimal("0.31")}, False, "is not ≥ 0.31"),
        ({"type_f1": 0}, False, "FAIL: type_f1 is undefined (no types), and should be ≥ 0"),
        ({"parse_errors": {"max": 1}, "strict_f1": 0.1}, False, "FAIL: parse_errors 2 is not ≤ 1; 1 other held"),
        ({"parse_errors": {"max": 2}, "hallucination_rate": {"min": 0, "max": "0.5"}}, True, "PASS"),
    ],
)
def test_bounds(bounds: Any, holds: bool, said: str) -> None:
    check = EVALUATION.passes(**bounds)
    assert bool(check) is holds
    assert said in repr(check)


@cases(
    ("bounds", "error", "said"),
    [
        ({}, TypeError, "needs a bound"),
        ({"strict_f": 0.3}, KeyError, "strict_f1"),
        ({"parse_errors": 0}, TypeError, "whether more or less is better"),
        ({"hallucination_rate": 0.02}, TypeError, "{'max': 0.02}"),
        ({"strict_f1": 45}, ValueError, "from 0 to 1"),
        ({"strict_f1": True}, TypeError, "a number"),
        ({"strict_f1": "much"}, ValueError, "a finite number"),
        ({"strict_f1": float("nan")}, ValueError, "finite"),
        ({"strict_f1": {"confidence": 0.95}}, TypeError, "min"),
        ({"strict_f1": {}}, TypeError, "min"),
    ],
)
def test_what_could_be_meant_otherwise_is_refused(bounds: Any, error: type[Exception], said: str) -> None:
    assert said in str(error_from(error, EVALUATION.passes, **bounds))


def test_more_is_better_of_all_rates_that_take_a_number_alone() -> None:
    """Read by a person: a new rate that ends like one of these is looked at here first."""
    less = ("hallucination", "shortfall", "copied", "false_", "uncited", "excess")
    for name in SUITES:
        suite = load_suite(name)
        for metric in suite.known_metrics(suite.settings()):
            if metric.endswith(MORE_IS_BETTER):
                assert not any(word in metric for word in less)


def test_the_files_of_the_examples() -> None:
    folder = "examples/extraction"
    evaluation = goldgate.evaluate_files(f"{folder}/gold.jsonl", f"{folder}/model-a.jsonl", f"{folder}/schema.json")
    assert evaluation.passes(strict_f1=0.88, parse_errors={"max": 1})
    assert not evaluation.passes(strict_f1=0.89)
