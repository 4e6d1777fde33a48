"""Many needles are found in one pass over the text; what is looked at is counted."""

from __future__ import annotations

import pytest

from goldgate.suites.extraction.events import occurrences
from goldgate.suites.extraction.events.occurrences import Automaton, automata, contained, contained_one_by_one


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
    assert contained(needles, text) == {needle for needle in needles if int(needle[1:-1]) % 3 == 0}
    assert steps[0] <= len(text) + sum(map(len, needles))


def test_needles_within_needles_are_not_looked_at_again(steps: list[int]) -> None:
    needles = {"a" * length for length in range(1, 600)}
    assert Automaton(needles).found_in("a" * 50_000) == needles
    assert steps[0] <= 50_000 + 600


def test_memory_is_for_a_bounded_part_of_the_needles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "TOGETHER", 20)
    needles = [f"{number:04d}" for number in range(30)] + ["x" * 50, ""]
    assert len(list(automata(needles, 100))) == 7
    text = "0003 0007 " + "x" * 60
    assert occurrences.contained_at_once(needles, text) == contained_one_by_one(needles, text)


@pytest.mark.parametrize(
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
