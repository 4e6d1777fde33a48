"""Gates decided before all documents have been asked, in a random order, by a test that may be looked at after each.

For a threshold θ a unit scores x = a - θ b; the rate of the whole data set reaches θ when Σx ≥ 0. A bettor on each
next x, who knows what remains to come if Σx were exactly 0, has a fortune that grows on average only if that is
wrong: starting at 1 it ever reaches 1/α with a chance of at most α (Ville 1939; for sampling without replacement
Waudby-Smith and Ramdas 2020). One bettor bets on a pass, one on a fail; only one can be wrong. Every bound of
every gate has its share of `ERROR_RATE`.

A document that was not asked may turn out to be anything. What the gold alone decides (recall), and what is at
most one in a document (shares of documents), is bounded; what a model may predict needs a limit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Any, Literal

from goldgate.core.gate import Gate
from goldgate.core.measure import UNITS_COLUMN, RatioMeasure
from goldgate.core.suite import Plan
from goldgate.core.sums import Counts, RatioForm
from goldgate.errors import ConfigError, did_you_mean

BOLDNESS = 0.75  # the largest share of the fortune that one answer can cost


class Decision(Enum):
    REACHED = "reached"
    MISSED = "missed"
    OPEN = "open"


class GateSequence:
    """Decides from one unit after another whether the rate of the whole data set reaches the threshold.

    `largest` must hold for every unit's b, asked or not: no later answer may have more to divide by. Known from the
    gold for recall and for shares of documents; for precision and F1 it takes a limit on how much a model may
    predict.
    """

    def __init__(self, threshold: Fraction, units: int, largest: int, alpha: float = 0.05) -> None:
        if not 0 <= threshold <= 1 or largest < 1 or units < 1 or not 0 < alpha < 1:
            raise ValueError(
                "a threshold from 0 to 1, at least one unit, a bound of at least 1 and 0 < alpha < 1 are needed"
            )
        self.threshold = threshold
        self.decision = Decision.OPEN
        self._enough = 1 / alpha
        self._largest = largest
        self._left = units
        self._seen = 0
        # x in integers: times the threshold's denominator, which changes no bet.
        self._scale, self._cost = threshold.denominator, threshold.numerator
        self._low, self._high = -self._cost * largest, (self._scale - self._cost) * largest
        self._sum = self._squares = 0
        self._fortunes = {Decision.REACHED: 1.0, Decision.MISSED: 1.0}

    def add(self, a: int, b: int) -> Decision:
        """The next unit's counts, 0 ≤ a ≤ b ≤ largest. Once decided, it stays so."""
        if not 0 <= a <= b <= self._largest:
            raise ValueError(f"a unit with {a}/{b} does not fit: no unit divides by more than {self._largest}")
        if self._left == 0:
            raise ValueError("all units have been seen")
        x = a * self._scale - b * self._cost
        if self.decision is Decision.OPEN:
            self._bet(x)
        self._left -= 1
        self._seen += 1
        self._sum += x
        self._squares += x * x
        if self.decision is Decision.OPEN:
            self.decision = self._certain()
        return self.decision

    def _bet(self, x: int) -> None:
        expected = -self._sum / self._left  # the next value, if Σx is 0 in the end
        stake = self._stake(expected)
        sides = ((Decision.REACHED, 1, expected - self._low), (Decision.MISSED, -1, self._high - expected))
        for side, sign, worst in sides:
            # No bet where the worst that can come costs nothing: then what remains is certain, and `_certain` says so.
            wager = min(max(0.0, sign * stake), BOLDNESS / worst) if worst > 0 else 0.0
            self._fortunes[side] *= 1 + wager * sign * (x - expected)
            if self._fortunes[side] >= self._enough and self.decision is Decision.OPEN:
                self.decision = side

    def _stake(self, expected: float) -> float:
        """The stake that would have been best so far: the mean of x - expected over its mean square (Kelly).

        To begin with there is one unit as far off as half the width of the bounds.
        """
        count = self._seen + 1
        mean = self._sum / count
        begun = self._high - self._low
        square = (self._squares + begun * begun / 4) / count - 2 * expected * mean + expected * expected
        return (mean - expected) / square if square > 0 else 0.0

    def _certain(self) -> Decision:
        """Decided whatever comes: the rest cannot turn the sign of Σx any more."""
        if self._sum + self._left * self._low >= 0:
            return Decision.REACHED
        if self._sum + self._left * self._high < 0:
            return Decision.MISSED
        return Decision.OPEN


ERROR_RATE = 0.05


@dataclass(frozen=True, slots=True)
class EarlyBound:
    """A bound on a rate of all documents; on a plain count it is on its share of the documents.

    `largest` is the most that the rate divides by in one document, whatever the answer is.
    """

    metric: str
    side: Literal["min", "max"]
    threshold: Decimal
    table: str
    form: RatioForm
    largest: int
    is_count: bool = False


class GateWatch:
    """Decides bounds from one document after another. `decided_after` is the number of documents that decided all."""

    def __init__(self, bounds: Sequence[EarlyBound], documents: int, error_rate: float = ERROR_RATE) -> None:
        self.bounds = bounds
        self.documents = documents
        self.seen = 0
        self.decided_after: int | None = None
        self.exceeded: str | None = None  # a metric with a document beyond its bound: then nothing is decided early
        self._watches = [_Watch(bound, documents, error_rate / len(bounds)) for bound in bounds]

    def add(self, counts: Mapping[str, Counts | None]) -> bool:
        """The next document's counts by table; whether every bound is decided, now or before."""
        if self.decided_after is not None or self.exceeded is not None:
            return self.decided_after is not None
        self.seen += 1
        for watch in self._watches:
            if not watch.add_document(counts.get(watch.bound.table)):
                self.exceeded = watch.bound.metric
                return False
        if all(watch.is_decided for watch in self._watches):
            self.decided_after = self.seen
        return self.decided_after is not None

    def decisions(self) -> list[tuple[EarlyBound, bool]]:
        """Each decided bound, and whether all documents keep it."""
        return [(watch.bound, watch.decision is Decision.REACHED) for watch in self._watches]


class _Watch(GateSequence):
    """One bound. An upper bound on a rate is a lower bound on what is left of 1."""

    def __init__(self, bound: EarlyBound, documents: int, alpha: float) -> None:
        self.bound = bound
        self._a = self._b = 0
        threshold = Fraction(bound.threshold)
        if bound.is_count:
            threshold = min(Fraction(1), threshold / documents)
        reached = threshold if bound.side == "min" else 1 - threshold
        super().__init__(reached, documents, max(1, bound.largest), alpha)

    def add_document(self, counts: Counts | None) -> bool:
        """False where a document has more to divide by than was thought possible."""
        a, b = (0, 0) if counts is None else self.bound.form.of(counts)
        self._a, self._b = self._a + a, self._b + b
        if not 0 <= a <= b <= self.bound.largest:
            return False
        self.add(a if self.bound.side == "min" else b - a, b)
        return True

    @property
    def is_decided(self) -> bool:
        """Decided, and what was asked so far says the same: a report over it has the verdict that is meant."""
        if self.decision is Decision.OPEN or not self._b:
            return False
        value = Fraction(self._a) if self.bound.is_count else Fraction(self._a, self._b)
        threshold = Fraction(self.bound.threshold)
        is_kept = value >= threshold if self.bound.side == "min" else value <= threshold
        return is_kept == (self.decision is Decision.REACHED)


_PLAIN = ("min", "max", "on_not_evaluable", "severity")
_SIDES: tuple[Literal["min", "max"], ...] = ("min", "max")


def early_bounds(
    plan: Plan,
    measures: Sequence[Any],
    unanswered: Iterable[Mapping[str, Counts | None]],
    most_predictions: int | None = None,
) -> list[EarlyBound]:
    """The bounds of all gates. `unanswered` are the counts of every document where nothing was answered.

    A gate that cannot be decided early is a ConfigError that names those that can.
    """
    rates = {name: measure for measure in measures if isinstance(measure, RatioMeasure) for name in measure.forms}
    if not plan.gates:
        raise ConfigError(
            "stop.no_gates",
            "--stop-when-decided needs gates that can be decided",
            expected="gates in the protocol, such as strict_recall: {min: 0.8}",
        )
    for name, gate in plan.gates.items():
        _require_watchable(plan, name, gate, rates, most_predictions)
    largest = dict.fromkeys(plan.gates, 0)
    for counts in unanswered:
        for name in largest:
            largest[name] = max(largest[name], _largest_divisor(rates[name], name, counts, most_predictions) or 0)
    return [
        EarlyBound(name, side, threshold, each.table, each.forms[name], largest[name], name in each.counted)
        for name, gate in plan.gates.items()
        for each in (rates[name],)
        for side in _SIDES
        if (threshold := getattr(gate, side)) is not None
    ]


def _require_watchable(
    plan: Plan, name: str, gate: Gate, rates: Mapping[str, RatioMeasure[Any]], most_predictions: int | None
) -> None:
    measure = rates.get(name)
    others = [
        field.name
        for field in dataclasses.fields(gate)
        if field.name not in _PLAIN and getattr(gate, field.name) != field.default
    ]
    why = None
    if others:
        why = f"it has {', '.join(others)}, and only min and max are decided before the end"
    elif measure is None or (name in measure.ratios and not measure.ratios[name].share):
        why = "it is not a share of anything that documents count"
    elif name in measure.counted and gate.min is not None:
        why = "a count grows with every document, so a lower bound is decided at the end"
    elif _largest_divisor(measure, name, {}, most_predictions) is None:
        raise ConfigError(
            "stop.unbounded",
            f"the gate on {name} cannot be decided early: answers still to come may predict any number",
            place=plan.place(f"gates.{name}"),
            expected=f"--most-predictions N, or gates only on {', '.join(_bounded_metrics(rates))}",
            advice="set N to more than any answer has had; after an answer beyond it, all documents are asked",
        )
    if why is not None:
        raise ConfigError(
            "stop.not_watchable",
            f"the gate on {name} cannot be decided early: {why}",
            place=plan.place(f"gates.{name}"),
            expected=f"gates with min or max on {', '.join(_bounded_metrics(rates))}",
            advice=did_you_mean(name, _bounded_metrics(rates)) if measure is None else "leave out --stop-when-decided",
        )


def _bounded_metrics(rates: Mapping[str, RatioMeasure[Any]]) -> list[str]:
    return [
        name
        for name, measure in rates.items()
        if _largest_divisor(measure, name, {}) is not None and (name in measure.counted or measure.ratios[name].share)
    ]


def _largest_divisor(
    measure: RatioMeasure[Any], name: str, counts: Mapping[str, Counts | None], most_predictions: int | None = None
) -> int | None:
    """The most that a metric can divide by in one document; None where an answer may make it as large as it likes."""
    columns = counts.get(measure.table) or (0,) * len(measure.columns)
    largest = 0
    for column, weight, count in zip(measure.columns, measure.forms[name].denominator, columns, strict=True):
        bounded = column in measure.at_most_one or column == UNITS_COLUMN
        most = count if column in measure.fixed else 1 if bounded else most_predictions
        if weight and most is None:
            return None
        largest += weight * (most or 0)
    return largest
