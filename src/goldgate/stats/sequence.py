"""Whether a gate is decided before all documents have been asked: a test that may be looked at after every answer.

The documents are asked in a random order, and the question is what the whole data set would give. For a threshold θ
a unit scores x = a - θ b; the rate of the whole reaches θ when Σx ≥ 0. Someone who bets on each next x, knowing what
remains to come if Σx were exactly 0, has a fortune that grows on average only if that is wrong: with 1 to begin with
it ever reaches 1/α with a chance of at most α (Ville 1939; for sampling without replacement Waudby-Smith and Ramdas
2020). One better bets on a pass, one on a fail. Only one of the two can be wrong, so a decision is wrong with a
chance of at most α.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

BOLDNESS = 0.75  # the largest share of the fortune that one answer can cost


class Decision(Enum):
    REACHED = "reached"
    MISSED = "missed"
    OPEN = "open"


class GateSequence:
    """Takes the units' counts one by one, and says whether the whole data set's rate reaches the threshold.

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
        expected = -self._sum / self._left  # of the next one, if Σx is 0 in the end
        stake = self._stake(expected)
        sides = ((Decision.REACHED, 1, expected - self._low), (Decision.MISSED, -1, self._high - expected))
        for side, sign, worst in sides:
            # No bet where the worst that can come costs nothing: then what remains is certain, and `_certain` says so.
            wager = min(max(0.0, sign * stake), BOLDNESS / worst) if worst > 0 else 0.0
            self._fortunes[side] *= 1 + wager * sign * (x - expected)
            if self._fortunes[side] >= self._enough and self.decision is Decision.OPEN:
                self.decision = side

    def _stake(self, expected: float) -> float:
        """As much as would have been best so far: the mean of x - expected over its mean square (Kelly).

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
