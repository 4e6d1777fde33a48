"""Tallies are sums: zero is the same as not counted."""

from __future__ import annotations

from goldgate.core.tally import Tally, total


def tally(**counts: int) -> Tally:
    made = Tally()
    made.counts.update(counts)
    return made


def test_sum_adds_counts_and_rows() -> None:
    first, second = tally(a=1, b=2), tally(b=3)
    first.rows.update({"x": 1})
    second.rows.update({"x": 2, "y": 1})
    summed = total([first, second])
    assert dict(summed.counts) == {"a": 1, "b": 5}
    assert dict(summed.rows) == {"x": 3, "y": 1}


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
