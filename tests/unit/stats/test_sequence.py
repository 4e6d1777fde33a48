from __future__ import annotations

import random
from fractions import Fraction

import pytest

from goldgate.stats.early_stopping import Decision, GateSequence
from tests.cases import cases

HALF = Fraction(1, 2)


def test_a_clear_pass_is_decided_early() -> None:
    gate = GateSequence(HALF, units=10_000, largest=1)
    asked = next(count for count in range(1, 10_001) if gate.add(1, 1) is not Decision.OPEN)
    assert gate.decision is Decision.REACHED
    assert asked < 20


def test_a_clear_fail_is_decided_early() -> None:
    gate = GateSequence(HALF, units=10_000, largest=1)
    asked = next(count for count in range(1, 10_001) if gate.add(0, 1) is not Decision.OPEN)
    assert gate.decision is Decision.MISSED
    assert asked < 20


@cases(("right", "decision"), [(50, Decision.REACHED), (49, Decision.MISSED)])
def test_the_end_decides_exactly(right: int, decision: Decision) -> None:
    gate = GateSequence(HALF, units=100, largest=1, alpha=1e-9)
    answers = [1] * right + [0] * (100 - right)
    random.Random(1).shuffle(answers)
    for answer in answers:
        gate.add(answer, 1)
    assert gate.decision is decision


def test_a_decision_stays() -> None:
    gate = GateSequence(HALF, units=1_000, largest=1)
    while gate.add(1, 1) is Decision.OPEN:
        pass
    for _ in range(500):
        assert gate.add(0, 1) is Decision.REACHED


def test_wrong_decisions_are_rare() -> None:
    # The whole misses the threshold by one document: a pass before the end is an error, with a chance of at most 5 %.
    answers = [1] * 149 + [0] * 151
    wrong = 0
    for seed in range(200):
        random.Random(seed).shuffle(answers)
        gate = GateSequence(HALF, units=300, largest=1)
        for answer in answers:
            gate.add(answer, 1)
        wrong += gate.decision is Decision.REACHED
    assert wrong <= 16  # of 200 at 5 %: more has a chance of 2 %


@cases(("a", "b"), [(3, 3), (2, 1), (-1, 1)])
def test_counts_beyond_the_bound_are_refused(a: int, b: int) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        GateSequence(HALF, units=10, largest=2).add(a, b)


def test_nonsense_is_refused() -> None:
    with pytest.raises(ValueError, match="threshold"):
        GateSequence(Fraction(3, 2), units=10, largest=2)
