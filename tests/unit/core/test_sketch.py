"""A sketch is a sum: any order and any split give the same, and what it keeps is counted whole."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from goldgate.core import sketch
from goldgate.core.sketch import MOST, Sketch


def of(digests: list[int]) -> Sketch:
    made = Sketch()
    for digest in digests:
        made.add(digest)
    return made


def smallest(digests: list[int], most: int) -> dict[int, int]:
    counts = Counter(digests)
    return {digest: counts[digest] for digest in sorted(counts)[:most]}


@given(st.lists(st.integers(0, 40), max_size=120), st.integers(0, 120), st.randoms())
def test_any_split_and_order_is_the_same(digests: list[int], cut: int, random: Random) -> None:
    most, sketch.MOST = sketch.MOST, 5
    try:
        shuffled = random.sample(digests, len(digests))
        parts = of(shuffled[:cut])
        parts += of(shuffled[cut:])
        assert parts == of(digests)
        assert parts.seen == smallest(digests, 5)
    finally:
        sketch.MOST = most


def test_few_are_all_kept_and_many_are_not() -> None:
    assert of([*range(MOST), 7]).seen == {**dict.fromkeys(range(MOST), 1), 7: 2}
    many = [*range(10 * MOST), *range(10 * MOST)]
    assert of(many).seen == dict.fromkeys(range(MOST), 2)
    assert of([1]) != of([1, 1])
