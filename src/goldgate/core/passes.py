"""Bounds on metrics that are checked on the spot, for an assertion in a test: exact, as a gate of a protocol is.

A number alone means "at least", and is taken only of a metric of which more is better beyond doubt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from goldgate.core.gate import Gate, GateResult, Verdict, check_gate, counts_of
from goldgate.core.metric import Count, Metrics, Rate, rounded
from goldgate.core.page import Interval

Number = int | float | str | Decimal
Bound = Number | Mapping[str, Number]

# How the names of rates end of which more is better.
MORE_IS_BETTER = (
    "precision", "recall", "f1", "accuracy", "integrity", "consistency", "faithfulness",
    "compliance_rate", "coverage_rate", "completion_rate",
)  # fmt: skip
_WORDS = ("min", "max", "equals")


@dataclass(frozen=True, slots=True, repr=False)
class Check:
    """Whether bounds hold: true or false in a condition, and its `repr` says why in one line."""

    results: tuple[GateResult, ...]
    intervals: Mapping[str, Interval]

    def __bool__(self) -> bool:
        return not self.failed

    @property
    def failed(self) -> Sequence[GateResult]:
        return [result for result in self.results if result.verdict is not Verdict.PASS]

    def __repr__(self) -> str:
        """Short: pytest cuts what is longer than some 200 characters in the middle."""
        held = len(self.results) - len(self.failed)
        parts = [self._said(result) for result in self.failed or self.results]
        others = [f"{held} other{'s' if held > 1 else ''} held"] if self.failed and held else []
        return f"{'FAIL' if self.failed else 'PASS'}: {'; '.join([*parts, *others])}"

    def _said(self, result: GateResult) -> str:
        measured, gate = result.measured, result.gate
        if measured.exact is None:
            return f"{result.metric} is undefined ({measured.reason}), and should be {gate.bounds()}"
        counts = f" = {counts_of(measured, gate)}" if isinstance(measured, Rate) else ""
        value = str(measured) if isinstance(measured, Count) else rounded(measured.exact, limits=gate.limits())
        interval = self.intervals.get(result.metric)
        ends = "" if interval is None else f" {interval._replace(limits=gate.limits())}"
        verb = "is" if result.verdict is Verdict.PASS else "is not"
        return f"{result.metric} {value}{counts}{ends} {verb} {gate.bounds()}"


def check_bounds(metrics: Metrics, bounds: Mapping[str, Bound], intervals: Mapping[str, Interval]) -> Check:
    """Every bound compared with its metric."""
    if not bounds:
        raise TypeError(
            "passes() needs a bound, such as strict_f1=0.45; `passed` says what the protocol's gates came to"
        )
    results = [check_gate(name, _gate(name, bound, metrics), metrics[name]) for name, bound in bounds.items()]
    return Check(tuple(results), intervals)


def _gate(name: str, bound: Bound, metrics: Metrics) -> Gate:
    metric = metrics[name]
    if isinstance(bound, Mapping):
        if not bound or not set(bound) <= {*_WORDS}:
            raise TypeError(f"{name}: a bound is {{'min': …}}, {{'max': …}} or {{'equals': …}}, not {dict(bound)!r}")
        given = {word: _decimal(name, number) for word, number in bound.items()}
        return Gate(min=given.get("min"), max=given.get("max"), equals=given.get("equals"))
    number = _decimal(name, bound)
    if not isinstance(metric, Rate) or not name.endswith(MORE_IS_BETTER):
        raise TypeError(f"{name}: say whether more or less is better: {{'max': {bound}}} or {{'min': {bound}}}")
    if not 0 <= number <= 1:
        raise ValueError(f"{name} is a rate: a number from 0 to 1, not {bound}")
    return Gate(min=number)


def _decimal(name: str, number: object) -> Decimal:
    """The number as it is written: 0.45 is 45/100, not the nearest float."""
    if isinstance(number, bool) or not isinstance(number, (int, float, str, Decimal)):
        raise TypeError(f"{name}: a bound is a number, not {number!r}")
    try:
        decimal = Decimal(repr(number) if isinstance(number, float) else number)
    except InvalidOperation:
        raise ValueError(f"{name}: a bound is a number, not {number!r}") from None
    if not decimal.is_finite():
        raise ValueError(f"{name}: a bound is a finite number, not {number!r}")
    return decimal
