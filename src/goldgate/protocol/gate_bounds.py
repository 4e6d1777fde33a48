"""What the settings of one gate must be, so that it says what its author meant."""

from __future__ import annotations

from decimal import Decimal

from goldgate.core.gate import Gate
from goldgate.errors import ConfigError, Place

LEAST_CONFIDENCE = Decimal("0.8")  # with less, a gate says next to nothing: at 0.5 the value alone decides
MOST_CONFIDENCE = Decimal("0.9999")  # beyond, nothing is ever refuted, and no interval was tried so far out


def contradiction(name: str, gate: Gate) -> ConfigError | None:
    """What is wrong with a gate; the place is the setting inside it."""
    drops = gate.max_drop is not None or gate.max_rise is not None
    if gate.min is None and gate.max is None and gate.equals is None and not drops:
        return ConfigError(
            "protocol.gate_without_bound",
            f"the gate on {name} has no bound",
            expected="min, max or equals, or max_drop with against",
            advice=f"write, for example, {name}: {{min: 0.5}}",
        )
    if drops and gate.against is None:
        return _wrong(
            "max_drop" if gate.max_drop is not None else "max_rise",
            "a drop or a rise is one from a stored run",
            "against: a folder with results, or a baseline folder",
            "no against",
            f"write, for example, {name}: {{max_drop: 0.01, against: main/, confidence: 0.95}}",
        )
    if gate.against is not None and not drops:
        return _wrong("against", "nothing is said of the difference", "max_drop or max_rise", "neither")
    for word, bound in (("max_drop", gate.max_drop), ("max_rise", gate.max_rise)):
        if bound is not None and not 0 <= bound < 1:
            return _wrong(word, "this difference is not allowed", "a number from 0 to below 1", str(bound))
    return _of_confidence(gate)


def _of_confidence(gate: Gate) -> ConfigError | None:
    if gate.confidence is None:
        if gate.on_inconclusive != "fail":
            return _wrong(
                "on_inconclusive", "a gate without a confidence is never inconclusive", "confidence", "no confidence"
            )
        return None
    if not LEAST_CONFIDENCE <= gate.confidence <= MOST_CONFIDENCE:
        return _wrong(
            "confidence",
            "this confidence is not allowed",
            f"a number from {LEAST_CONFIDENCE} to {MOST_CONFIDENCE}, such as 0.95",
            str(gate.confidence),
            "write 95 % as 0.95; a gate without a confidence is decided by the value alone",
        )
    if gate.equals is not None:
        return _wrong("equals", "no interval is one number", "min or max beside confidence", f"equals {gate.equals}")
    return None


def _wrong(setting: str, message: str, expected: str, found: str, advice: str | None = None) -> ConfigError:
    return ConfigError(
        "protocol.wrong_value",
        message,
        place=Place(field=f".{setting}"),
        expected=expected,
        found=found,
        advice=advice,
    )
