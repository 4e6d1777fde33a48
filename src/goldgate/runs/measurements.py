"""The numbers of a comparison: rates of each system, differences from the reference, and the units that changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from math import lcm
from typing import TYPE_CHECKING, Any, cast

from goldgate.core.metric import Rate
from goldgate.core.suite import signature_differences
from goldgate.core.sums import Counts
from goldgate.core.tally import TableKey
from goldgate.errors import InputError, Place
from goldgate.readers.stored_result import StoredResult, answer_digests
from goldgate.runs.differences import (
    BENJAMINI_HOCHBERG,
    HOLM,
    SEVERAL_ESTIMATES,
    ComparedEstimates,
    ComparedRate,
    Difference,
    Estimates,
    MacroAverages,
    adjust_p_values,
    rate_difference,
    undefined_difference,
    why_not_compared,
)
from goldgate.runs.paired_units import Joint, JointUnits
from goldgate.runs.sources import short_digests
from goldgate.stats.interval import NoInterval, interval_entry, metric_with_interval, ratio_interval, share_interval
from goldgate.stats.multiple_testing import Runs, summarize_runs

if TYPE_CHECKING:
    from goldgate.core.contracts import ComparedValue
    from goldgate.runs.contracts import ChangedUnit, ComparedMetric, ComparedPart, ComparedRun, ComparedSystem


def require_comparable_runs(runs: Sequence[StoredResult], *, other_gold: bool = False) -> None:
    """Every run like the first; an InputError names all that differs. `other_gold` allows for another gold."""
    first = runs[0]
    for run in runs[1:]:
        if run.suite.name != first.suite.name:
            raise InputError(
                "compare.other_suite",
                "a comparison is of the same suite, gold and settings",
                place=Place(run.label),
                expected=f"a result of the {first.suite.name} suite, like {first.label}",
                found=f"one of the {run.suite.name} suite",
            )
        settings = signature_differences(first.settings, run.settings)
        if other_gold:  # a digest of it may stand in the signature
            settings = [part for part in settings if part.name not in first.digests(judged=False)]
        if settings:
            raise InputError(
                "compare.other_settings",
                "these were scored with different settings",
                place=Place(run.label),
                expected=", ".join(f"{name} {mine}" for name, mine, _ in settings) + f", like {first.label}",
                found=", ".join(f"{name} {theirs}" for name, _, theirs in settings),
                advice="score both with the same protocol, event schema and version",
            )
        mine, theirs = first.digests(judged=False), run.digests(judged=False)
        for name in mine if not other_gold else ():
            if mine[name] != theirs.get(name):
                raise InputError(
                    "compare.other_gold",
                    f"these were judged by a different {name}",
                    place=Place(run.label),
                    expected=f"{name} with the sha256 {short_digests(mine[name])}, like {first.label}",
                    found=f"{name} with the sha256 {short_digests(theirs.get(name, []))}",
                    advice="score both with the same gold; --common compares what both have",
                )


@dataclass(frozen=True, slots=True)
class ComparedSystems:
    """Runs in one list, which of them are whose, and what the others are compared with."""

    runs: tuple[StoredResult, ...]
    places: Mapping[str, tuple[int, ...]]
    against: str

    @property
    def others(self) -> list[str]:
        return [name for name in self.places if name != self.against]

    def made_the_same(self, one: str, other: str) -> bool:
        """Whether two systems gave the same answers, run by run: their difference is then exactly 0."""
        runs = ([self.runs[place] for place in self.places[name]] for name in (one, other))
        digests = ([answer_digests(run.suite, run.report["inputs"]) for run in each] for each in runs)
        mine, theirs = (sorted(each, key=repr) for each in digests)  # whatever the order of the runs
        return mine == theirs and all(any(made.values()) for made in mine)


SIGNIFICANCE = 0.05  # an adjusted p-value below this, against every other system, marks the best


class Measurements:
    """Everything that is said of these systems, as plain values."""

    def __init__(
        self,
        rates: Mapping[str, ComparedRate],
        averages: Mapping[str, ComparedRate],
        estimates: Estimates,
        headline: Sequence[str],
        joined: JointUnits,
        systems: ComparedSystems,
        unit: str,
    ) -> None:
        self.rates = rates
        self.averages = averages
        self.estimates = estimates
        self.headline = headline
        self.joined = joined
        self._systems = systems
        self._unit = unit
        self._averages = MacroAverages(joined)
        self._estimates = ComparedEstimates(joined)
        self._differences: dict[tuple[str, TableKey, str, str], Difference] = {}

    def systems(self, origins: Mapping[str, list[ComparedRun]]) -> list[ComparedSystem]:
        """Each system with its rates, and the main ones in which it is the best beyond doubt."""
        values = {
            name: {
                **{metric: self._estimate(metric, places) for metric in self.estimates},
                **{metric: self._rate(metric, places) for metric in self.rates},
                **{
                    metric: cast("ComparedValue", metric_with_interval(self._averages.of(rate, places), self._unit))
                    for metric, rate in self.averages.items()
                },
            }
            for name, places in self._systems.places.items()
        }
        best = self._best(values)
        return [
            {
                "name": name,
                "runs": origins[name],
                "best_in": [metric for metric in self.headline if best.get(metric) == name],
                "metrics": metrics,
            }
            for name, metrics in values.items()
        ]

    def comparisons(self) -> list[ComparedMetric]:
        """Every rate of every other system against the reference; the main ones adjusted by Holm, the others apart."""
        entries = [
            {"family": "main" if metric in self.headline else "other", **self._entry(metric, (), name)}
            for name in self._systems.others
            for metric in (*self.estimates, *self.rates, *self.averages)
        ]
        adjust_p_values([entry for entry in entries if entry["family"] == "main"], HOLM)
        adjust_p_values([entry for entry in entries if entry["family"] == "other"], BENJAMINI_HOCHBERG)
        return cast("list[ComparedMetric]", entries)

    def parts(self) -> list[ComparedPart]:
        """The main rates by part, such as event type and role: for exploring, so Benjamini-Hochberg."""
        keys = sorted(key for key in self.joined.tables if len(key) > 1)
        entries = [
            {
                **self._entry(metric, key[1:], name),
                "values": {one: self._part_value(metric, key, one) for one in (self._systems.against, name)},
            }
            for name in self._systems.others
            for metric in self.headline
            for key in keys
            if key[0] == self._table(metric) and (metric in self.rates or len(key) == 2)
        ]
        adjust_p_values(entries, BENJAMINI_HOCHBERG)
        return cast("list[ComparedPart]", entries)

    def _entry(self, metric: str, part: TableKey, name: str) -> dict[str, Any]:
        against = self._systems.against
        difference = self._difference(metric, (self._table(metric), *part), name, against)
        names: dict[str, Any] = {"metric": metric, "system": name, "against": against}
        return {**names, **({"part": list(part)} if part else {}), **difference.as_json(planning=not part)}

    def _difference(self, metric: str, key: TableKey, first: str, second: str) -> Difference:
        """Each is worked out once, whether for its own sake or for the best; exchanged, only its sign differs."""
        mirrored = self._differences.get((metric, key, second, first))
        if mirrored is not None:
            return mirrored.mirrored()
        if (metric, key, first, second) not in self._differences:
            self._differences[metric, key, first, second] = self._new_difference(metric, key, first, second)
        return self._differences[metric, key, first, second]

    def _new_difference(self, metric: str, key: TableKey, first: str, second: str) -> Difference:
        places = self._systems.places[first], self._systems.places[second]
        if metric in self.estimates:
            return self._estimates.difference(metric, self.estimates[metric], key, places)
        same = self._systems.made_the_same(first, second)
        if metric in self.averages:
            return self._averages.difference(self.averages[metric], *places, same=same)
        rate = self.rates[metric]
        why = why_not_compared(self.joined, key, rate.columns, rate.equality, [*places[0], *places[1]])
        if why is not None:
            return undefined_difference(why, self.joined.units)
        return rate_difference(self.joined.pairs(key, rate.form), *places, rate.share, same=same)

    def _part_value(self, metric: str, key: TableKey, name: str) -> float | None:
        places = self._systems.places[name]
        if metric in self.estimates:
            measure = self.estimates[metric]
            return self._estimates.of(metric, measure, key, places[0]).value if len(places) == 1 else None
        sums = [self.joined.run_sums(key, self.rates[metric].form, place) for place in places]
        rates = [Fraction(run.a, run.b) for run in sums if run.b]
        return float(sum(rates, Fraction(0)) / len(rates)) if len(rates) == len(sums) else None

    def _table(self, metric: str) -> str:
        rate = self.rates.get(metric) or self.averages.get(metric)
        return self.estimates[metric].table if rate is None else rate.table

    def _estimate(self, metric: str, places: tuple[int, ...]) -> ComparedValue:
        measure = self.estimates[metric]
        if len(places) > 1:
            return {"value": None, "reason": SEVERAL_ESTIMATES, "interval": None, "interval_reason": SEVERAL_ESTIMATES}
        estimate = self._estimates.of(metric, measure, measure.key, places[0])
        return cast("ComparedValue", metric_with_interval(estimate, self._unit))

    def _rate(self, metric: str, places: tuple[int, ...]) -> ComparedValue:
        rate = self.rates[metric]
        if len(places) > 1:
            return summarize_places(self.joined.pairs((rate.table,), rate.form), places, rate.share, self._unit)
        sums = self.joined.run_sums((rate.table,), rate.form, places[0])
        interval = (share_interval if rate.share else ratio_interval)(sums)
        value = Rate(sums.a, sums.b, rate.undefined).as_json()
        return cast("ComparedValue", {**value, **interval_entry(interval, self._unit)})

    def _best(self, values: Mapping[str, Mapping[str, ComparedValue]]) -> dict[str, str]:
        """The system that leads in a main rate, if it is better than every other beyond doubt."""
        tested: list[dict[str, Any]] = []
        for metric in self.headline:
            defined = {name: value for name in values if (value := values[name][metric]["value"]) is not None}
            if len(defined) < len(values):
                continue
            leader = max(defined, key=lambda name: defined[name])
            for name in defined:
                if name != leader:
                    difference = self._difference(metric, (self._table(metric),), leader, name)
                    tested.append({"metric": metric, "leader": leader, "p": difference.p})
        adjust_p_values(tested, HOLM)
        doubtful = {
            entry["metric"] for entry in tested if entry["p_adjusted"] is None or entry["p_adjusted"] >= SIGNIFICANCE
        }
        return {entry["metric"]: entry["leader"] for entry in tested if entry["metric"] not in doubtful}


def summarize_places(pairs: Mapping[Runs, int], places: Sequence[int], share: bool, unit: str) -> ComparedValue:
    """Mean of several runs, with the spread between runs and between units."""
    own: Counter[Runs] = Counter()
    for runs, times in pairs.items():
        key = tuple(runs[n] for n in places)
        if any(a or b for a, b in key):
            own[key] += times
    summary = summarize_runs(own, share=share)
    if isinstance(summary, NoInterval):
        return {"value": None, "reason": summary.reason, "interval": None, "interval_reason": summary.reason}
    spread = {
        "value": float(summary.mean),
        "by_run": [float(rate) for rate in summary.rates],
        "between_runs": summary.between_runs,
        "se_runs": summary.se_runs,
        "se_units": summary.se_units,
    }
    return cast("ComparedValue", {**spread, **interval_entry(summary.interval, unit)})


_CountsOfBoth = tuple[Counts, Counts]  # counts of the reference and the system, each summed over runs


@dataclass(frozen=True, slots=True)
class UnitChanges:
    """The units whose counts differ: those of one table, for each system against the reference."""

    rate: ComparedRate
    joined: JointUnits
    systems: ComparedSystems

    def counts(self) -> dict[str, int]:
        """How many units changed, for each system."""
        return {name: sum(len(ids) for _, ids in self._changed(name)) for name in self.systems.others}

    def lines(self) -> Iterator[ChangedUnit]:
        """The lines of changed.jsonl: the largest change first, then in the order of systems and ids."""
        against, columns = self.systems.against, self.rate.columns
        alike = []
        for order, name in enumerate(self.systems.others):
            totals = self._totals(name)
            for both, identities in self._changed(name):
                change = self._change(name, both, totals)
                alike.append((-abs(change or 0), order, change, name, both, identities))
        alike.sort(key=lambda entry: entry[:2])
        for _, same in groupby(alike, key=lambda entry: entry[:2]):
            lines = [
                (identity, change, name, both) for *_, change, name, both, identities in same for identity in identities
            ]
            for identity, change, name, (mine, theirs) in sorted(lines, key=lambda line: line[0]):
                sides = (against, mine), (name, theirs)
                counts = {side: dict(zip(columns, own, strict=True)) for side, own in sides}
                yield {
                    "id": identity,
                    "system": name,
                    "against": against,
                    "metric": self.rate.metric,
                    "change": change,
                    "counts": counts,
                }

    def _changed(self, name: str) -> Iterator[tuple[_CountsOfBoth, list[str]]]:
        one, other = self._weights(name)
        for joint, identities in self.joined.changed.items():
            mine, theirs = self._summed(joint, self.systems.against), self._summed(joint, name)
            if any(x * one != y * other for x, y in zip(mine, theirs, strict=True)):
                yield (mine, theirs), identities

    def _totals(self, name: str) -> list[int]:
        """Σa and Σb of the reference, then of the system, weighted so that both have as many runs."""
        totals = []
        for side, weight in zip((self.systems.against, name), self._weights(name), strict=True):
            places = self.systems.places[side]
            runs = [self.joined.run_sums((self.rate.table,), self.rate.form, place) for place in places]
            totals += [sum(sums.a for sums in runs) * weight, sum(sums.b for sums in runs) * weight]
        return totals

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
        mine, theirs = len(self.systems.places[self.systems.against]), len(self.systems.places[name])
        runs = lcm(mine, theirs)
        return runs // mine, runs // theirs

    def _summed(self, joint: Joint, name: str) -> Counts:
        counts, nothing = self.joined.tables[self.rate.table,].counts(joint), (0,) * len(self.rate.columns)
        return tuple(map(sum, zip(*[counts[place] or nothing for place in self.systems.places[name]], strict=True)))
