"""Tallies are sums: zero is the same as not counted."""

from __future__ import annotations

import pickle

from goldgate.core.sums import RatioForm, RatioSums
from goldgate.core.tally import Tally, UnitCounts, total

FORMS = {name: {"rate": RatioForm((1, 0), (0, 1))} for name in ("x", "y")}


def tally(**counts: int) -> Tally:
    made = Tally(FORMS)
    made.counts.update(counts)
    return made


def test_sum_adds_counts_and_tables() -> None:
    first, second = tally(a=1, b=2), tally(b=3)
    first.add({("x",): (1, 2)})
    second.add({("x",): (3, 4)})
    second.add({("y",): (0, 1)}, times=2)
    summed = total([first, second])
    assert dict(summed.counts) == {"a": 1, "b": 5}
    # x: (1, 2) and (3, 4); y: twice (0, 1)
    assert summed.tables["x",].sums()["rate"] == RatioSums(2, 4, 6, 1 + 9, 2 + 12, 4 + 16)
    assert summed.tables["y",].sums()["rate"] == RatioSums(2, 0, 2, 0, 0, 2)


def test_sum_of_nothing_is_empty() -> None:
    assert total([]) == Tally()


def test_sum_leaves_its_parts_alone() -> None:
    first, second = tally(a=1), tally(a=2)
    total([first, second])
    assert (dict(first.counts), dict(second.counts)) == ({"a": 1}, {"a": 2})


def test_zero_equals_not_counted() -> None:
    assert tally(a=0, b=1) == tally(b=1)
    assert tally(a=1) != tally(a=2)
    assert tally() != "a tally"


def test_units_count_the_same_one_by_one_and_together() -> None:
    units: list[UnitCounts] = [{("x",): (n % 3, 4), ("x", "A"): (n % 3, 2), ("x", "B"): (0, 2)} for n in range(2_500)]
    whole, parts = tally(), tally()
    for unit in units:
        whole.add(unit)
        one = tally()
        one.add(unit)
        parts += one
    assert whole.tables["x",].sums()["rate"].units == len(units)
    assert [*whole.products] == [(("x", "A"), ("x", "B"))]
    assert whole == parts
    assert pickle.loads(pickle.dumps(whole)) == whole
