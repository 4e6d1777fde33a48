from __future__ import annotations

import pickle
from fractions import Fraction

import pytest

from goldgate.core.sums import RatioForm, RatioSums, UnitSums, pair_sums

RATIOS = {
    "precision": RatioForm((1, 0, 0), (0, 1, 0)),
    "f1": RatioForm((2, 0, 0), (0, 1, 1)),
}


def units() -> UnitSums:
    return UnitSums(RATIOS)


def test_sums_of_two_documents_by_hand() -> None:
    summed = units()
    summed.add((1, 2, 4))
    summed.add((3, 3, 3))
    assert summed.sums() == {
        # a, b: 1, 2 and 3, 3
        "precision": RatioSums(2, 1 + 3, 2 + 3, 1 + 9, 2 + 9, 4 + 9),
        # a, b: 2, 6 and 6, 6
        "f1": RatioSums(2, 2 + 6, 6 + 6, 4 + 36, 12 + 36, 36 + 36),
    }


def test_a_unit_without_counts_is_none_of_that_rate() -> None:
    summed = units()
    summed.add((0, 0, 4))
    assert summed.sums()["precision"] == RatioSums()
    assert summed.sums()["f1"].units == 1


def test_documents_of_one_group_are_one_unit_also_over_shards() -> None:
    one, other, together = units(), units(), units()
    one.add((1, 2, 4), group="report 7")
    other.add((3, 3, 3), group="report 7")
    one += other
    together.add((4, 5, 7))
    assert one.sums() == together.sums()


def test_many_different_vectors_are_squared_on_the_way_and_give_the_same() -> None:
    summed, pairs = units(), {}
    for number in range(10_000):
        summed.add((number, 2 * number + 1, 1))
        pairs[number, 2 * number + 1] = 1
    assert len(summed.vectors) < 5_000  # memory is bounded
    assert summed.sums()["precision"] == pair_sums(pairs)


def test_sums_go_through_pickle() -> None:
    summed = units()
    summed.add((1, 2, 4))
    summed.add((1, 2, 4), group="g")
    assert pickle.loads(pickle.dumps(summed)) == summed


def test_sums_of_other_counts_do_not_add_up() -> None:
    summed = units()
    with pytest.raises(ValueError, match="do not add up"):
        summed += UnitSums({})


def test_variance_by_hand() -> None:
    # 1/2 and 3/4: R = 4/6; residuals 1 - 2·2/3 = -1/3 and 3 - 4·2/3 = 1/3; 2/1 · (2/9) / 36 = 1/81
    assert pair_sums({(1, 2): 1, (3, 4): 1}).variance == Fraction(1, 81)
    assert pair_sums({(1, 2): 1}).variance is None
