"""A gate compares one metric with a threshold, exactly, and says PASS or FAIL with the reason."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Literal

from goldgate.core.metric import Metric, Metrics, Rate
from goldgate.errors import ConfigError, Place


class Verdict(StrEnum):
    """What a gate, or the whole evaluation, came to."""

    PASS = "PASS"
    FAIL = "FAIL"
    NO_GATES = "NO_GATES"  # of the whole evaluation only: nothing was judged
    SYSTEM_ERROR = "SYSTEM_ERROR"


@dataclass(frozen=True, slots=True)
class Gate:
    """The bounds set for a metric. Thresholds are decimals as written, never floats."""

    min: Decimal | None = None
    max: Decimal | None = None
    equals: Decimal | None = None
    on_not_evaluable: Literal["fail", "pass"] = "fail"
    severity: Literal["error", "warn"] = "error"

    @property
    def least(self) -> Decimal | None:
        """The lowest value that may pass; None where there is no such bound."""
        bounds = [bound for bound in (self.min, self.equals) if bound is not None]
        return max(bounds) if bounds else None

    @property
    def most(self) -> Decimal | None:
        """The highest value that may pass; None where there is no such bound."""
        bounds = [bound for bound in (self.max, self.equals) if bound is not None]
        return min(bounds) if bounds else None

    def is_weaker_than(self, default: Gate) -> bool:
        """Whether a value passes here that the default would have failed.

        What is not evaluable is another matter: it stands out, and there may be good reasons for it.
        """
        return (
            (default.least is not None and (self.least is None or self.least < default.least))
            or (default.max is not None and (self.most is None or self.most > default.max))
            or (self.severity, default.severity) == ("warn", "error")
        )

    def bounds(self) -> str:
        """The bounds in words: `≥ 0.95`."""
        parts = (("≥", self.min), ("≤", self.max), ("=", self.equals))
        return " and ".join(f"{sign} {bound}" for sign, bound in parts if bound is not None)


@dataclass(frozen=True, slots=True)
class GateResult:
    """One gate's verdict."""

    metric: str
    gate: Gate
    measured: Metric
    verdict: Verdict
    reason: str

    def as_json(self) -> dict[str, object]:
        bounds = {name: getattr(self.gate, name) for name in ("min", "max", "equals")}
        return {
            "metric": self.metric,
            "verdict": self.verdict,
            "reason": self.reason,
            "severity": self.gate.severity,
            "on_not_evaluable": self.gate.on_not_evaluable,
            **{name: str(bound) for name, bound in bounds.items() if bound is not None},
            "measured": self.measured.as_json(),
        }


def check_gates(gates: dict[str, Gate], metrics: Metrics) -> list[GateResult]:
    """Every gate's verdict, in the order of the protocol."""
    return [_check(name, gate, metrics) for name, gate in gates.items()]


def require_sensible(gates: dict[str, Gate], rates: frozenset[str], file: str | None, lines: dict[str, int]) -> None:
    """A bound that no value can meet, or none can miss, is a mistake: 5 for 5 % among them."""
    for name, gate in gates.items():
        for word, bound in (("min", gate.min), ("max", gate.max), ("equals", gate.equals)):
            if bound is not None and name in rates and not 0 <= bound <= 1:
                field = f"gates.{name}.{word}"
                raise ConfigError(
                    "protocol.wrong_value",
                    f"{name} is a rate",
                    place=Place(file, lines.get(field), field),
                    expected="a number from 0 to 1",
                    found=str(bound),
                    advice=f"write {bound} % as {bound / 100}" if 1 < bound <= 100 else None,
                )
        if gate.min is not None and gate.max is not None and gate.min > gate.max:
            field = f"gates.{name}"
            raise ConfigError(
                "protocol.wrong_value",
                "no value can pass this gate",
                place=Place(file, lines.get(field), field),
                expected="min <= max",
                found=f"min {gate.min}, max {gate.max}",
            )


def overall(results: list[GateResult]) -> Verdict:
    """FAIL if a gate of severity `error` failed; NO_GATES if there is none that could have."""
    verdicts = [result.verdict for result in results if result.gate.severity == "error"]
    if not verdicts:
        return Verdict.NO_GATES
    return Verdict.FAIL if Verdict.FAIL in verdicts else Verdict.PASS


def _check(name: str, gate: Gate, metrics: Metrics) -> GateResult:
    measured = metrics[name]
    exact = measured.exact
    if exact is None:
        verdict = Verdict.PASS if gate.on_not_evaluable == "pass" else Verdict.FAIL
        return GateResult(name, gate, measured, verdict, f"not_evaluable: {measured.reason}")
    broken = [
        f"{_counts(measured)} is not {sign} {bound}"
        for sign, bound, holds in (
            ("≥", gate.min, gate.min is None or exact >= Fraction(gate.min)),
            ("≤", gate.max, gate.max is None or exact <= Fraction(gate.max)),
            ("=", gate.equals, gate.equals is None or exact == Fraction(gate.equals)),
        )
        if not holds
    ]
    if broken:
        return GateResult(name, gate, measured, Verdict.FAIL, "; ".join(broken))
    return GateResult(name, gate, measured, Verdict.PASS, f"{_counts(measured)} is {gate.bounds()}")


def _counts(measured: Metric) -> str:
    return f"{measured.numerator}/{measured.denominator}" if isinstance(measured, Rate) else str(measured.value)
