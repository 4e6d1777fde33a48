"""A sample of fingerprints is a sum: any order and any split give the same, the smallest of all."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core import tally
from goldgate.core.tally import MAX_KEPT, FingerprintSample


def of(numbers: list[int]) -> FingerprintSample:
    made = FingerprintSample()
    for number in numbers:
        made.add(number)
    return made


@given(st.lists(st.integers(0, 40), max_size=120), st.integers(0, 120), st.randoms())
def test_any_split_and_order_is_the_same(numbers: list[int], cut: int, random: Random) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tally, "MAX_KEPT", 5)
        shuffled = random.sample(numbers, len(numbers))
        parts = of(shuffled[:cut])
        parts += of(shuffled[cut:])
        assert parts == of(numbers)
        assert parts.kept == {*sorted({*numbers})[:5]}


def test_few_are_all_kept_and_many_are_not() -> None:
    assert of([*range(MAX_KEPT), 7]).kept == {*range(MAX_KEPT)}
    assert of([*range(10 * MAX_KEPT)]).kept == {*range(MAX_KEPT)}
    assert of([1]) != of([2])
