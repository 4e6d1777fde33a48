"""Matching many arguments takes few steps: what is looked at is counted, not timed."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import SupportsIndex

from goldgate.shape import Share
from goldgate.suites.extraction.events import EventList, Events, Value, read_events
from goldgate.suites.extraction.events.match import match_units
from goldgate.suites.extraction.events.relaxed_matching import RelaxedRule, largest_matching
from goldgate.suites.extraction.settings import RelaxedSettings

HALF = Share("0.5")
IOU = RelaxedRule(RelaxedSettings("span_iou", HALF, HALF))


class Counted(list[int]):
    """Rows that count how often they are asked for."""

    asked = 0

    def __getitem__(self, number: SupportsIndex) -> int:  # type: ignore[override]  # no slices
        self.asked += 1
        return super().__getitem__(number)


def test_400_that_compete_for_200() -> None:
    # Each of 400 fits the same 200: 200 searches are in vain, and together they reach each row once.
    rows = Counted([(1 << 200) - 1] * 400)
    assert len(largest_matching(rows, {})) == 200
    assert rows.asked <= 3 * 400


def test_long_paths_that_cross_are_followed() -> None:
    # Every left fits all rights up to its own: each search but the first must move all pairs.
    size = 600
    rows = Counted([(1 << (size - number)) - 1 for number in range(size)])
    assert len(largest_matching(rows, {})) == size
    assert rows.asked <= size * size


def test_roles_and_types_are_each_looked_through_once() -> None:
    # Ten thousand roles with one wrong argument each: grouped once, not once for each role.
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
