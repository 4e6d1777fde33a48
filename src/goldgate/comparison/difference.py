"""The difference of two systems in one rate: from one run each, or from several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from math import lcm, sqrt

from goldgate.stats.interval import LEVEL, Interval, NoInterval
from goldgate.stats.paired import Standing, careful_interval, paired_sums, standing, t_test
from goldgate.stats.power import POWER, detectable_difference, units_needed
from goldgate.stats.several import Runs, compare_runs
from goldgate.stats.student import t_quantile
from goldgate.stats.swap import Pair, Pairs, swap_test

POINT = 0.01  # the difference whose price in units is told
MOST_SWAPPED = 1_000  # units that differ: beyond, Student's t is close, and swaps take a second for each metric


@dataclass(frozen=True, slots=True)
class Difference:
    """System minus reference. Where there is none, `reason` says why."""

    value: Fraction | None
    interval: Interval | NoInterval
    p: float | None
    test: Mapping[str, object] | None
    standing: Standing | None  # of an average there is none: what a unit adds to it is not kept
    se: float
    units: int
    reason: str | None = None
    df: float | None = None  # of the standard error, where runs take part in it

    @property
    def detectable(self) -> float | None:
        """The smallest difference that these units show with 80 % power."""
        if self.df is not None:
            return (t_quantile((1 + LEVEL) / 2, self.df) + t_quantile(POWER, self.df)) * self.se if self.df else None
        return detectable_difference(self.se, self.units) if self.se else None

    @property
    def needed(self) -> int | None:
        """How many units would show a difference of one point; of several runs, more units alone might never."""
        return None if self.df is not None else units_needed(self.se, self.units, POINT)

    def mirrored(self) -> Difference:
        """The same with the systems exchanged: signs change, and nothing else."""
        interval = self.interval
        if isinstance(interval, Interval):
            interval = interval._replace(low=0.0 - interval.high, high=0.0 - interval.low)  # never -0.0
        stands = self.standing and Standing(self.standing.losses, self.standing.ties, self.standing.wins)
        value = None if self.value is None else -self.value
        return replace(self, value=value, interval=interval, standing=stands)

    def as_json(self, *, planning: bool = True) -> dict[str, object]:
        """All but the adjusted p-value, which depends on the other comparisons; with or without what was needed."""
        if self.value is None:
            return {"difference": None, "reason": self.reason, "p": None, "test": None, "units": self.units}
        exact = {"exact": str(self.value)} if self.standing is not None else {}  # of averages it may fill a page
        bounds: dict[str, object] = {"low": None, "high": None}
        if isinstance(self.interval, Interval):
            bounds = {"low": self.interval.low, "high": self.interval.high, "method": self.interval.method}
        else:
            bounds["reason"] = self.interval.reason
        return {
            "difference": {"value": float(self.value), **exact, **bounds},
            "p": self.p,
            "test": self.test,
            **({} if self.standing is None else asdict(self.standing)),
            "units": self.units,
            **({"detectable": self.detectable, "units_for_one_point": self.needed} if planning else {}),
        }


def difference(
    pairs: Mapping[Runs, int],
    first: Sequence[int],
    second: Sequence[int],
    share: bool,
    level: float = LEVEL,
    *,
    same: bool = False,
) -> Difference:
    """Of the runs `first` minus the runs `second`, by their places; `same` where both made the same bytes."""
    if len(first) == len(second) == 1:
        return paired_difference(four_counts(pairs, first, second), share, level, same=same)
    sides: dict[tuple[Runs, Runs], int] = {}
    for runs, times in pairs.items():
        key = tuple(runs[n] for n in first), tuple(runs[n] for n in second)
        sides[key] = sides.get(key, 0) + times
    found = compare_runs(sides, level, share)
    stands = standing(four_counts(pairs, first, second))
    units = sum(times for (one, two), times in sides.items() if any(a or b for a, b in (*one, *two)))
    if isinstance(found, NoInterval):
        return Difference(None, found, None, None, stands, 0.0, units, found.reason)
    return Difference(found.value, found.interval, found.p, {"method": "runs-t"}, stands, found.se, units, df=found.df)


def paired_difference(pairs: Pairs, share: bool = True, level: float = LEVEL, *, same: bool = False) -> Difference:
    """The same of one run each, from the counts of both."""
    sums = paired_sums(pairs)
    interval = careful_interval(sums, level, share, same=same)
    if sums.value is None:
        reason = interval.reason if isinstance(interval, NoInterval) else None
        return Difference(None, interval, None, None, standing(pairs), 0.0, sums.units, reason)
    p = t_test(sums)
    test: dict[str, object] = {"method": "paired-t"}
    if p is None or sums.differing <= MOST_SWAPPED:
        swapped = swap_test(pairs)
        assert swapped is not None  # both rates are defined
        p, test = swapped.p, {"method": "swap", "exact": swapped.exact, "swaps": swapped.swaps}
    return Difference(sums.value, interval, p, test, standing(pairs), sqrt(sums.variance or 0), sums.units)


def four_counts(pairs: Mapping[Runs, int], first: Sequence[int], second: Sequence[int]) -> dict[Pair, int]:
    """The counts of both systems, those of several runs added up, and weighted so that both have as many runs."""
    if len(first) == len(second) == 1:
        (mine,), (theirs,) = first, second
        plain: dict[Pair, int] = {}
        for unit, times in pairs.items():
            pair = (*unit[mine], *unit[theirs])
            plain[pair] = plain.get(pair, 0) + times
        return plain
    runs = lcm(len(first), len(second))
    weights = runs // len(first), runs // len(second)
    found: dict[Pair, int] = {}
    for unit, times in pairs.items():
        four = [
            sum(unit[n][count] for n in side) * weight
            for side, weight in zip((first, second), weights, strict=True)
            for count in (0, 1)
        ]
        key = (four[0], four[1], four[2], four[3])
        found[key] = found.get(key, 0) + times
    return found
