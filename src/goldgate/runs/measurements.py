"""The numbers of a comparison: rates of each system, differences from the reference, and the units that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import Any

from goldgate.core.plan import signature_differences
from goldgate.core.sums import Counts, pair_sums
from goldgate.core.tally import TableKey
from goldgate.errors import InputError, Place
from goldgate.readers.stored_result import StoredResult
from goldgate.runs.differences import (
    BENJAMINI_HOCHBERG,
    HOLM,
    ComparedRate,
    Difference,
    MacroAverages,
    adjust_p_values,
    rate_difference,
)
from goldgate.runs.join import Joint, JointUnits
from goldgate.stats.interval import Interval, NoInterval, metric_with_interval, ratio_interval, share_interval
from goldgate.stats.multiple_testing import Runs, summarize_runs

_SAME_SETTINGS = "a comparison is of the same suite, gold and settings"


def require_comparable_runs(runs: Sequence[StoredResult], *, other_gold: bool = False) -> None:
    """Every run like the first; an InputError names all that differs. `other_gold` allows for another gold."""
    first = runs[0]
    for run in runs[1:]:
        if run.suite.name != first.suite.name:
            raise InputError(
                "compare.other_suite",
                _SAME_SETTINGS,
                place=Place(run.named),
                expected=f"a result of the {first.suite.name} suite, like {first.named}",
                found=f"one of the {run.suite.name} suite",
            )
        settings = signature_differences(first.settings, run.settings)
        if other_gold:  # a digest of it may stand in the signature
            settings = [part for part in settings if part.name not in first.digests(judged=False)]
        if settings:
            raise InputError(
                "compare.other_settings",
                "these were not scored alike",
                place=Place(run.named),
                expected=", ".join(f"{name} {mine}" for name, mine, _ in settings) + f", like {first.named}",
                found=", ".join(f"{name} {theirs}" for name, _, theirs in settings),
                advice="score both with the same protocol, event schema and version",
            )
        if not other_gold:
            _require_same_gold(first, run)


def gold_differs(runs: Sequence[StoredResult]) -> bool:
    """Whether the systems were asked for different things."""
    return any(run.digests(judged=False) != runs[0].digests(judged=False) for run in runs)


def _require_same_gold(first: StoredResult, run: StoredResult) -> None:
    mine, theirs = first.digests(judged=False), run.digests(judged=False)
    for name, digests in mine.items():
        if digests != theirs.get(name):
            raise InputError(
                "compare.other_gold",
                f"these were judged by a different {name}",
                place=Place(run.named),
                expected=f"{name} with the sha256 {_short_digests(digests)}, like {first.named}",
                found=f"{name} with the sha256 {_short_digests(theirs.get(name, []))}",
                advice="score both with the same gold; --common compares what both have",
            )


def _short_digests(digests: Sequence[str]) -> str:
    return ", ".join(digest[:12] for digest in digests) or "none"


@dataclass(frozen=True, slots=True)
class ComparedSystems:
    """Runs in one list, which of them are whose, and what the others are compared with."""

    runs: tuple[StoredResult, ...]
    places: Mapping[str, tuple[int, ...]]
    against: str

    def made_the_same(self, one: str, other: str) -> bool:
        """Whether two systems made the same bytes, run by run: then there is no difference, not even one unseen."""
        mine, theirs = ([self.runs[place].digests(judged=True) for place in self.places[name]] for name in (one, other))
        return mine == theirs and all(any(made.values()) for made in mine)


SIGNIFICANCE = 0.05  # an adjusted p-value below this, against every other system, marks the best


class Measurements:
    """Everything that is said of these systems, as plain values."""

    def __init__(
        self,
        rates: Mapping[str, ComparedRate],
        averages: Mapping[str, ComparedRate],
        headline: Sequence[str],
        joined: JointUnits,
        systems: ComparedSystems,
        unit: str,
    ) -> None:
        self.rates = rates
        self.averages = averages
        self.headline = headline
        self.joined = joined
        self.places = systems.places
        self.against = systems.against
        self._same = systems.made_the_same
        self._unit = unit
        self._averages = MacroAverages(joined)
        self._known: dict[tuple[str, TableKey, str, str], Difference] = {}
        self.others = [name for name in self.places if name != self.against]

    def systems(self, origins: Mapping[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
        """Each system with its rates, and the main ones in which it is the best beyond doubt."""
        values = {
            name: {
                **{metric: self._rate(metric, self.places[name]) for metric in self.rates},
                **{metric: self._average(metric, self.places[name]) for metric in self.averages},
            }
            for name in self.places
        }
        best = self._best(values)
        return [
            {
                "name": name,
                "runs": origins[name],
                "best_in": [metric for metric in self.headline if best.get(metric) == name],
                "metrics": found,
            }
            for name, found in values.items()
        ]

    def comparisons(self) -> list[dict[str, Any]]:
        """Every rate of every other system against the reference; the main ones adjusted by Holm, the others apart."""
        found = [
            {"family": "main" if metric in self.headline else "other", **self._entry(metric, (), name)}
            for name in self.others
            for metric in (*self.rates, *self.averages)
        ]
        adjust_p_values([entry for entry in found if entry["family"] == "main"], HOLM)
        adjust_p_values([entry for entry in found if entry["family"] == "other"], BENJAMINI_HOCHBERG)
        return found

    def parts(self) -> list[dict[str, Any]]:
        """The main rates by part, such as event type and role: for exploring, so Benjamini-Hochberg."""
        keys = sorted(key for key in self.joined.tables if len(key) > 1)
        found = [
            {**self._entry(metric, key[1:], name), **self._values(metric, key, name)}
            for name in self.others
            for metric in self.headline
            for key in keys
            if key[0] == self.rates[metric].table
        ]
        adjust_p_values(found, BENJAMINI_HOCHBERG)
        return found

    def _entry(self, metric: str, part: TableKey, name: str) -> dict[str, Any]:
        rate = self.rates.get(metric) or self.averages[metric]
        found = self._difference(metric, (rate.table, *part), name, self.against)
        named: dict[str, Any] = {"metric": metric, "system": name, "against": self.against}
        return {**named, **({"part": list(part)} if part else {}), **found.as_json(planning=not part)}

    def _difference(self, metric: str, key: TableKey, first: str, second: str) -> Difference:
        """Each is worked out once, whether for its own sake or for the best; exchanged, only its sign differs."""
        wanted, mirrored = (metric, key, first, second), (metric, key, second, first)
        if mirrored in self._known:
            return self._known[mirrored].mirrored()
        if wanted not in self._known:
            places, same = (self.places[first], self.places[second]), self._same(first, second)
            if metric in self.averages:
                self._known[wanted] = self._averages.difference(self.averages[metric], *places, same=same)
            else:
                share = self.rates[metric].share
                self._known[wanted] = rate_difference(self._pairs(metric, key), *places, share, same=same)
        return self._known[wanted]

    def _values(self, metric: str, key: TableKey, name: str) -> dict[str, Any]:
        """The rates of both, where a part has them."""
        pairs = self._pairs(metric, key)
        return {"values": {one: _mean_rate(pairs, self.places[one]) for one in (self.against, name)}}

    def _pairs(self, metric: str, key: TableKey) -> Mapping[Runs, int]:
        return self.joined.pairs(key, self.rates[metric].form)

    def _rate(self, metric: str, places: tuple[int, ...]) -> dict[str, Any]:
        rate = self.rates[metric]
        pairs = self._pairs(metric, (rate.table,))
        if len(places) > 1:
            return summarize_places(pairs, places, rate.share, self._unit)
        counted: dict[tuple[int, int], int] = {}
        for runs, times in pairs.items():
            pair = runs[places[0]]
            counted[pair] = counted.get(pair, 0) + times
        sums = pair_sums(counted)
        interval = (share_interval if rate.share else ratio_interval)(sums)
        counts = {"numerator": sums.a, "denominator": sums.b}
        if not sums.b:
            return {"value": None, **counts, "reason": rate.undefined, **_interval_json(interval, self._unit)}
        return {"value": sums.a / sums.b, **counts, **_interval_json(interval, self._unit)}

    def _average(self, metric: str, places: tuple[int, ...]) -> dict[str, Any]:
        return metric_with_interval(self._averages.of(self.averages[metric], places), self._unit)

    def _best(self, values: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> dict[str, str]:
        """The system that leads in a main rate, if it is better than every other beyond doubt."""
        tested: list[dict[str, Any]] = []
        for metric in self.headline:
            known = {name: found[metric]["value"] for name, found in values.items()}
            if None in known.values():
                continue
            leader = max(known, key=lambda name: known[name])
            for name in known:
                if name != leader:
                    found = self._difference(metric, (self.rates[metric].table,), leader, name)
                    tested.append({"metric": metric, "leader": leader, "value": found.value, "p": found.p})
        adjust_p_values(tested, HOLM)
        best: dict[str, str] = {}
        for metric in self.headline:
            own = [entry for entry in tested if entry["metric"] == metric]
            if own and all(entry["p_adjusted"] is not None and entry["p_adjusted"] < SIGNIFICANCE for entry in own):
                best[metric] = own[0]["leader"]
        return best


def summarize_places(pairs: Mapping[Runs, int], places: Sequence[int], share: bool, unit: str) -> dict[str, Any]:
    """Mean of several runs, with the spread between runs and between units."""
    own: dict[Runs, int] = {}
    for runs, times in pairs.items():
        key = tuple(runs[n] for n in places)
        if any(a or b for a, b in key):
            own[key] = own.get(key, 0) + times
    found = summarize_runs(own, share=share)
    if isinstance(found, NoInterval):
        return {"value": None, "reason": found.reason, "interval": None, "interval_reason": found.reason}
    return {
        "value": float(found.mean),
        "by_run": [float(rate) for rate in found.rates],
        "between_runs": found.between_runs,
        "se_runs": found.se_runs,
        "se_units": found.se_units,
        **_interval_json(found.interval, unit),
    }


def _mean_rate(pairs: Mapping[Runs, int], places: Sequence[int]) -> float | None:
    """The mean of the runs' rates; None where one is undefined."""
    rates = []
    for place in places:
        a, b = (sum(runs[place][n] * times for runs, times in pairs.items()) for n in (0, 1))
        if not b:
            return None
        rates.append(Fraction(a, b))
    return float(sum(rates, Fraction(0)) / len(rates))


def _interval_json(interval: Interval | NoInterval, unit: str) -> dict[str, Any]:
    if isinstance(interval, NoInterval):
        return {"interval": None, "interval_reason": interval.reason}
    return {"interval": interval.as_json(unit)}


_CountsOfBoth = tuple[Counts, Counts]  # of the reference, of the system, each the sum of its runs


@dataclass(frozen=True, slots=True)
class UnitChanges:
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

    def _changed(self, name: str) -> Iterator[tuple[_CountsOfBoth, list[str]]]:
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

    def _change(self, name: str, both: _CountsOfBoth, totals: Sequence[int]) -> float | None:
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
