"""Matching many arguments takes few steps: what is looked at is counted, not timed."""

from __future__ import annotations

import random
from collections.abc import Callable, Container, Iterator

import pytest

from goldgate.core.bitset import set_bits
from goldgate.shape import Share
from goldgate.suites.extraction.events import relaxed_matching
from goldgate.suites.extraction.events.relaxed_matching import (
    RelaxedRule,
    Values,
    candidate_rows,
    indexed_rows,
    largest_matching,
    slow_row,
)
from goldgate.suites.extraction.settings import RelaxedSettings

HALF = Share("0.5")
OVERLAP = relaxed_matching.RelaxedRule(RelaxedSettings("include_or_char_overlap", HALF, HALF))
IOU = relaxed_matching.RelaxedRule(RelaxedSettings("span_iou", HALF, HALF))


class Counted:
    """How often a row was asked for, and how often a pair was looked at by itself."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.asked = self.pairs = 0
        monkeypatch.setattr(relaxed_matching, "shares_substring", self.counting(relaxed_matching.shares_substring))
        monkeypatch.setattr(relaxed_matching, "set_bits", self.counting_each(set_bits))

    def counting(self, function: Callable[..., bool]) -> Callable[..., bool]:
        def counted(*arguments: object) -> bool:
            self.pairs += 1
            return function(*arguments)

        return counted

    def counting_each(self, function: Callable[[int], Iterator[int]]) -> Callable[[int], list[int]]:
        def counted(bits: int) -> list[int]:
            found = list(function(bits))
            self.pairs += len(found)
            return found

        return counted

    def matched(self, lefts: list[str], rights: list[str], rule: RelaxedRule) -> int:
        lefts, rights = sorted(lefts), sorted(rights)
        row = candidate_rows(Values(lefts, [()] * len(lefts)), Values(rights, [()] * len(rights)), rule)

        def asked(number: int) -> int:
            self.asked += 1
            return row(number)

        return len(largest_matching(len(lefts), len(rights), asked, {}))


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    return Counted(monkeypatch)


@pytest.mark.parametrize("rule", [OVERLAP, IOU], ids=["overlap", "iou"])
def test_400_that_compete_for_200(counted: Counted, rule: RelaxedRule) -> None:
    # Each of 400 fits the same 200 and none of the others: 200 searches are in vain, and each reached all, once.
    lefts = [f"甲乙丙丁戊庚辛{number:03d}" for number in range(400)]
    rights = [f"甲乙丙丁戊庚辛己{number:03d}" for number in range(200)]
    rights += ["".join(chr(0x5000 + 9 * number + place) for place in range(9)) for number in range(200)]
    assert counted.matched(lefts, rights, rule) == 200
    assert counted.asked <= 3 * 400
    assert counted.pairs <= 2 * 400 * 400  # rows that are asked for again are not made again


def test_30_against_20_000(counted: Counted) -> None:
    draw = random.Random(1)
    lefts = ["".join(draw.choices("甲乙丙丁戊己庚辛壬癸", k=4)) + "x" for _ in range(30)]
    rights = [str(1_000_000 + 7 * number) for number in range(20_000)]
    assert counted.matched(lefts, rights, OVERLAP) == 0
    assert counted.asked <= 2 * 30
    assert counted.pairs == 0


def test_5_000_numbers_against_5_000(counted: Counted) -> None:
    lefts = [str(1_000_000 + 7_919 * number % 9_999_991) for number in range(5_000)]
    rights = [str(1_000_000 + 104_729 * number % 9_999_991) for number in range(5_000)]
    assert counted.matched(lefts, rights, OVERLAP) == 5_000
    assert counted.asked <= 3 * 5_000
    assert counted.pairs <= 20 * 5_000


def crossing(size: int) -> list[int]:
    """Rows in which every left fits all rights up to its own: each search but the first must move all pairs."""
    return [(1 << (size - number)) - 1 for number in range(size)]


def test_long_paths_that_cross_are_followed() -> None:
    size, asked = 600, 0
    made = crossing(size)

    def row(number: int) -> int:
        nonlocal asked
        asked += 1
        return made[number]

    assert len(largest_matching(size, size, row, {})) == size
    assert asked <= size * size


def test_roles_and_types_are_each_looked_through_once() -> None:
    # Ten thousand roles with one wrong argument each: grouped once, not once for each role.
    from goldgate.suites.extraction.events import EventList, Events, Value, read_events
    from goldgate.suites.extraction.events.match import match_units

    class Counting(Events):
        passes = 0

        def values(self, without: Container[str] = ()) -> Iterator[Value]:
            Counting.passes += 1
            return super().values(without)

    def events(word: str) -> Events:
        listed = [
            {
                "event_type": f"T{number % 50}",
                "arguments": [{"role": f"r{number}", "argument": f"long enough {number:03d}{word}"}],
            }
            for number in range(500)
        ]
        read = read_events(EventList(listed, "$[*]"), None)
        return Counting(read.units, read.columns, read.violations, read.bad_offsets)

    assert len(match_units(events("ab"), events("abc"), IOU).pairs) == 500
    assert Counting.passes <= 2


@pytest.mark.parametrize("threshold", ["0", "0.01", "0.3333", "0.5", "0.9", "1"])
def test_indexed_rows_are_those_of_the_rule(threshold: str) -> None:
    share = Share(threshold)
    rule = relaxed_matching.RelaxedRule(RelaxedSettings("include_or_char_overlap", share, share))
    draw = random.Random(threshold)
    lefts, rights = (
        sorted({"".join(draw.choices("abcdef甲", k=draw.randint(1, 9))) for _ in range(60)}) for _ in range(2)
    )
    sides = Values(lefts), Values(rights)
    row = indexed_rows(lefts, rights, rule)
    for number in range(len(lefts)):
        assert row(number) == slow_row(number, *sides, rule)
