"""Sets of places."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.bitset import bitset
from goldgate.viewer import index

from .stored import bitset_places

PLACES = st.sets(st.integers(0, 70_000), max_size=60)  # over several chunks


@given(PLACES, st.integers(0, 70), st.integers(1, 20))
def test_a_page_is_a_slice_of_the_sorted_places(places: set[int], first: int, count: int) -> None:
    found = bitset(places, 70_001)
    assert index.nth_places(found, first, count) == sorted(places)[first : first + count]
    assert [*bitset_places(found)] == sorted(places)


@given(PLACES, PLACES)
def test_both_is_and(one: set[int], other: set[int]) -> None:
    found = bitset(one, 70_001) & bitset(other, 70_001)
    assert found.bit_count() == len(one & other)
    assert {*bitset_places(found)} == one & other


@given(PLACES, st.integers(0, 70_000))
def test_how_many_come_before(places: set[int], place: int) -> None:
    assert index.count_below(bitset(places, 70_001), place) == sum(each < place for each in places)


def test_everything() -> None:
    assert [*bitset_places(index.full_bitset(3))] == [0, 1, 2]
    assert index.full_bitset(0) == 0
