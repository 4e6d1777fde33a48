from __future__ import annotations

import pytest

from goldgate.stats.interval import Interval, share_interval
from tests.unit.stats.macro import MacroSums, macro_interval


def test_one_class_is_its_own_interval() -> None:
    sums = MacroSums()
    for a in (1, 2, 3, 3, 0, 2):
        sums.add({"Attack": (a, 3)})
    alone = share_interval(sums.sums()["Attack"])
    found = macro_interval(sums)
    assert isinstance(alone, Interval)
    assert isinstance(found, Interval)
    assert found.low == pytest.approx(alone.low, abs=2e-9)
    assert found.high == pytest.approx(alone.high, abs=2e-9)


def test_classes_that_rise_and_fall_together_widen() -> None:
    together, apart = MacroSums(), MacroSums()
    for right in (0, 1) * 20:
        together.add({"A": (right, 1), "B": (right, 1)})
        apart.add({"A": (right, 1), "B": (1 - right, 1)})
    one, other = macro_interval(together), macro_interval(apart)
    assert isinstance(one, Interval)
    assert isinstance(other, Interval)
    assert one.high - one.low > 5 * (other.high - other.low)


def test_a_class_with_one_document_is_uncertain() -> None:
    sums = MacroSums()
    for _ in range(100):
        sums.add({"A": (5, 5)})
    sums.add({"B": (5, 5)})
    found = macro_interval(sums)
    assert isinstance(found, Interval)
    assert found.low < 0.51  # B alone may be anything, and is half of the mean
    assert found.units == 101
