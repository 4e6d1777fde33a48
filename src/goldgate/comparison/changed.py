"""Which units changed from one system to another, the largest change first, with both counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import Any

from goldgate.comparison.joint_units import JointUnits
from goldgate.comparison.meetings import Joint
from goldgate.comparison.rates import ComparedRate
from goldgate.core.sums import Counts

_Both = tuple[Counts, Counts]  # of the reference, of the system, each the sum of its runs


@dataclass(frozen=True, slots=True)
class Changes:
    """The units whose counts differ: those of one table, for each system against the reference."""

    rate: ComparedRate
    joined: JointUnits
    systems: Mapping[str, Sequence[int]]
    against: str

    def counts(self) -> dict[str, int]:
        """How many units changed, for each system."""
        return {
            name: sum(len(identities) for _, identities in self._changed(name))
            for name in self.systems
            if name != self.against
        }

    def listed(self, most: int | None = None) -> Iterator[dict[str, Any]]:
        """The lines of changed.jsonl: the largest change first, then in the order of systems and ids."""
        alike = []
        for order, name in enumerate(self.systems):
            if name != self.against:
                totals = self._totals(name)
                for both, identities in self._changed(name):
                    change = self._change(name, both, totals)
                    alike.append((-abs(change or 0), order, change, name, both, identities))
        alike.sort(key=lambda entry: entry[:2])
        left = most
        for _, same in groupby(alike, key=lambda entry: entry[:2]):
            lines = [
                (identity, change, name, both) for *_, change, name, both, identities in same for identity in identities
            ]
            lines.sort(key=lambda line: line[0])
            for identity, change, name, (mine, theirs) in lines[:left]:
                yield {
                    "id": identity,
                    "system": name,
                    "against": self.against,
                    "metric": self.rate.metric,
                    "change": change,
                    "counts": {self.against: self._named(mine), name: self._named(theirs)},
                }
            if left is not None:
                left -= len(lines[:left])
                if not left:
                    return

    def _changed(self, name: str) -> Iterator[tuple[_Both, list[str]]]:
        one, other = self._weights(name)
        for joint, identities in self.joined.changed.items():
            mine, theirs = self._summed(joint, self.against), self._summed(joint, name)
            if any(x * one != y * other for x, y in zip(mine, theirs, strict=True)):
                yield (mine, theirs), identities

    def _totals(self, name: str) -> list[int]:
        """Σa and Σb of the reference, then of the system, weighted so that both have as many runs."""
        pairs = self.joined.pairs((self.rate.table,), self.rate.form)
        sides = zip((self.against, name), self._weights(name), strict=True)
        return [
            sum(runs[place][n] * times for runs, times in pairs.items() for place in self.systems[side]) * weight
            for side, weight in sides
            for n in (0, 1)
        ]

    def _change(self, name: str, both: _Both, totals: Sequence[int]) -> float | None:
        """The unit's part of the difference: these add up to it. None where one of the rates is undefined."""
        a1, b1, a2, b2 = totals
        if not b1 or not b2:
            return None
        one, other = self._weights(name)
        (ua, ub), (va, vb) = (self.rate.form.of(counts) for counts in both)
        moved = (va * other - ua * one) * (b1 + b2) - (vb * other - ub * one) * (a1 + a2)
        return float(Fraction(2 * moved, (b1 + b2) ** 2 - (b2 - b1) ** 2))

    def _weights(self, name: str) -> tuple[int, int]:
        mine, theirs = len(self.systems[self.against]), len(self.systems[name])
        runs = lcm(mine, theirs)
        return runs // mine, runs // theirs

    def _summed(self, joint: Joint, name: str) -> Counts:
        counts, nothing = self.joined.tables[self.rate.table,].counts(joint), (0,) * len(self.rate.columns)
        runs = [counts[place] or nothing for place in self.systems[name]]
        return runs[0] if len(runs) == 1 else tuple(map(sum, zip(*runs, strict=True)))

    def _named(self, counts: Counts) -> dict[str, int]:
        return dict(zip(self.rate.columns, counts, strict=True))
