"""Simulation: how often the interval of a difference holds the true one where only some documents differ."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from goldgate.stats.interval import Interval
from goldgate.stats.paired import UnitPair, difference_interval, paired_sums


class Changes(NamedTuple):
    """Documents of some decisions each; a share of them differs between two systems."""

    decisions: int
    documents: int
    share: float
    both_ways: bool
    lost: str  # in a document that differs: one decision, all of them, or some

    @property
    def difference(self) -> float:
        """The true one."""
        average = {"one": 1.0, "all": float(self.decisions), "some": (1 + self.decisions) / 2}[self.lost]
        return 0.0 if self.both_ways else self.share * average / self.decisions

    def draw(self, rng: random.Random) -> dict[UnitPair, int]:
        drawn: Counter[UnitPair] = Counter()
        size = self.decisions
        for _ in range(self.documents):
            if rng.random() >= self.share:
                hits = sum(rng.random() < 0.8 for _ in range(size))
                drawn[hits, size, hits, size] += 1
                continue
            lost = {"one": 1, "all": size, "some": rng.randint(1, size)}[self.lost]
            sides = (size, size - lost) if not self.both_ways or rng.random() < 0.5 else (size - lost, size)
            drawn[sides[0], size, sides[1], size] += 1
        return dict(drawn)


def all_changes() -> Iterator[Changes]:
    """The settings of documents, shares and ways; of one decision there is nothing else to lose."""
    shares, ways = (0.02, 0.05, 0.1, 0.2, 0.3), (False, True)
    for decisions, documents, share, both in product((1, 3, 10), (20, 50, 200), shares, ways):
        for lost in ("all",) if decisions == 1 else ("one", "all", "some"):
            yield Changes(decisions, documents, share, both, lost)


def coverage(changes: Changes, data_sets: int) -> float:
    """The share of data sets whose 95 % interval holds the true difference."""
    rng, held = random.Random(f"changes {changes}"), 0
    for _ in range(data_sets):
        interval = difference_interval(paired_sums(changes.draw(rng)))
        assert isinstance(interval, Interval)
        held += interval.low <= changes.difference <= interval.high
    return held / data_sets
