"""The numbers of a comparison: each system's rates, and the differences of all systems from one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from goldgate.comparison.adjusted import BENJAMINI_HOCHBERG, HOLM, adjust
from goldgate.comparison.averages import Averages
from goldgate.comparison.compared_systems import Systems
from goldgate.comparison.difference import Difference, difference
from goldgate.comparison.joint_units import JointUnits
from goldgate.comparison.rates import ComparedRate
from goldgate.core.counted_unit import Key
from goldgate.core.sums import pair_sums
from goldgate.stats.interval import Interval, NoInterval, ratio_interval, share_interval
from goldgate.stats.reported import with_interval
from goldgate.stats.several import Runs, summarize_runs

BEYOND_DOUBT = 0.05  # an adjusted p-value below this, against every other system, marks the best


class Measurements:
    """Everything that is said of these systems, as plain values."""

    def __init__(
        self,
        rates: Mapping[str, ComparedRate],
        averages: Mapping[str, ComparedRate],
        headline: Sequence[str],
        joined: JointUnits,
        systems: Systems,
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
        self._averages = Averages(joined)
        self._known: dict[tuple[str, Key, str, str], Difference] = {}
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
        adjust([entry for entry in found if entry["family"] == "main"], HOLM)
        adjust([entry for entry in found if entry["family"] == "other"], BENJAMINI_HOCHBERG)
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
        adjust(found, BENJAMINI_HOCHBERG)
        return found

    def _entry(self, metric: str, part: Key, name: str) -> dict[str, Any]:
        rate = self.rates.get(metric) or self.averages[metric]
        found = self._difference(metric, (rate.table, *part), name, self.against)
        named: dict[str, Any] = {"metric": metric, "system": name, "against": self.against}
        return {**named, **({"part": list(part)} if part else {}), **found.as_json(planning=not part)}

    def _difference(self, metric: str, key: Key, first: str, second: str) -> Difference:
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
                self._known[wanted] = difference(self._pairs(metric, key), *places, share, same=same)
        return self._known[wanted]

    def _values(self, metric: str, key: Key, name: str) -> dict[str, Any]:
        """The rates of both, where a part has them."""
        pairs = self._pairs(metric, key)
        return {"values": {one: _mean(pairs, self.places[one]) for one in (self.against, name)}}

    def _pairs(self, metric: str, key: Key) -> Mapping[Runs, int]:
        return self.joined.pairs(key, self.rates[metric].form)

    def _rate(self, metric: str, places: tuple[int, ...]) -> dict[str, Any]:
        rate = self.rates[metric]
        pairs = self._pairs(metric, (rate.table,))
        if len(places) > 1:
            return of_runs(pairs, places, rate.share, self._unit)
        counted: dict[tuple[int, int], int] = {}
        for runs, times in pairs.items():
            pair = runs[places[0]]
            counted[pair] = counted.get(pair, 0) + times
        sums = pair_sums(counted)
        interval = (share_interval if rate.share else ratio_interval)(sums)
        counts = {"numerator": sums.a, "denominator": sums.b}
        if not sums.b:
            return {"value": None, **counts, "reason": rate.undefined, **_bounds(interval, self._unit)}
        return {"value": sums.a / sums.b, **counts, **_bounds(interval, self._unit)}

    def _average(self, metric: str, places: tuple[int, ...]) -> dict[str, Any]:
        return with_interval(self._averages.of(self.averages[metric], places), self._unit)

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
        adjust(tested, HOLM)
        best: dict[str, str] = {}
        for metric in self.headline:
            own = [entry for entry in tested if entry["metric"] == metric]
            if own and all(entry["p_adjusted"] is not None and entry["p_adjusted"] < BEYOND_DOUBT for entry in own):
                best[metric] = own[0]["leader"]
        return best


def of_runs(pairs: Mapping[Runs, int], places: Sequence[int], share: bool, unit: str) -> dict[str, Any]:
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
        **_bounds(found.interval, unit),
    }


def _mean(pairs: Mapping[Runs, int], places: Sequence[int]) -> float | None:
    """The mean of the runs' rates; None where one is undefined."""
    rates = []
    for place in places:
        a, b = (sum(runs[place][n] * times for runs, times in pairs.items()) for n in (0, 1))
        if not b:
            return None
        rates.append(Fraction(a, b))
    return float(sum(rates, Fraction(0)) / len(rates))


def _bounds(interval: Interval | NoInterval, unit: str) -> dict[str, Any]:
    if isinstance(interval, NoInterval):
        return {"interval": None, "interval_reason": interval.reason}
    return {"interval": interval.as_json(unit)}
