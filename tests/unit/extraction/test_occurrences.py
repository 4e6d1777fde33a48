"""Many needles are found in one pass over the text; what is looked at is counted."""

from __future__ import annotations

import pytest

from goldgate.core import value_text
from goldgate.core.value_text import (
    Automaton,
    automata,
    contained_values,
    needle_batches,
    slow_contained,
)
from tests.cases import cases


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    taken = [0]
    step = Automaton._step

    def counting(self: Automaton, node: int, code: int) -> int:
        taken[0] += 1
        return step(self, node, code)

    monkeypatch.setattr(Automaton, "_step", counting)
    return taken


def test_20_000_needles_in_a_long_text(steps: list[int]) -> None:
    needles = [f"<{number}>" for number in range(20_000)]
    text = "".join(f"<{number}>" for number in range(0, 40_000, 3))
    assert contained_values(needles, text) == {needle for needle in needles if int(needle[1:-1]) % 3 == 0}
    assert steps[0] <= len(text) + sum(map(len, needles))


def test_needles_within_needles_are_not_looked_at_again(steps: list[int]) -> None:
    needles = {"a" * length for length in range(1, 600)}
    assert Automaton(needles).found_in("a" * 50_000) == needles
    assert steps[0] <= 50_000 + 600


def test_memory_is_for_a_bounded_part_of_the_needles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(value_text, "NEEDLES_PER_BATCH", 20)
    needles = [f"{number:04d}" for number in range(30)] + ["x" * 50, ""]
    assert len(list(automata(needles, 100))) == 7
    text = "0003 0007 " + "x" * 60
    assert value_text.contained_by_automaton(needles, text) == slow_contained(needles, text)


@cases(
    ("needle", "text", "found"),
    [
        pytest.param("sue", "they sue him", True, id="word"),
        pytest.param("sue", "an issue", False, id="end-of-a-word"),
        pytest.param("sue", "suede", False, id="beginning-of-a-word"),
        pytest.param("sue", "issue, sue", True, id="second-occurrence"),
        pytest.param("质押", "解除质押方", True, id="chinese-has-no-edges"),
        pytest.param("甲x", "乙甲x", True, id="edge-of-one-side"),
        pytest.param("甲x", "甲xy", False, id="other-edge"),
    ],
)
def test_words_are_found_as_words(needle: str, text: str, found: bool) -> None:
    assert Automaton([needle, "ue", "x"]).found_in(text, as_words=True) >= ({needle} if found else set())
    assert (needle in Automaton([needle, "ue", "x"]).found_in(text, as_words=True)) is found


@cases("values", [10, 1_000])
def test_values_that_begin_alike_are_found(values: int) -> None:
    needles = [f"华远股份有限公司第{number}号" for number in range(values)]
    text = "华远股份有限公司第" * 1_500 + "7号"
    assert value_text.contained_by_automaton(needles, text) == {needles[7]}


@pytest.mark.parametrize("characters", [100, 10_000, 1_000_000])
def test_passes_over_a_text_grow_with_the_sum_of_needles_and_text(
    characters: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(value_text, "NEEDLES_PER_BATCH", 100)
    needles = [f"needle {number:05}" for number in range(20_000)]  # 240,000 characters
    passes = len([*needle_batches(needles, characters)])
    if characters >= 1_000_000:
        assert passes == 2  # an eighth of the text holds 125,000 of them
    needed = sum(map(len, needles))
    assert (passes - 1) * (max(100, characters // value_text.BATCH_SHARE) - 12) <= needed
    assert passes * characters <= characters + 2 * value_text.BATCH_SHARE * needed + 2 * needed
