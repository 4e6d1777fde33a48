"""What stands out in a report: signs that a number is not what it seems. It changes none.

Each entry has a stable `code`, a `message` for people and the `counts` behind it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from goldgate.core.metric import shorten

MUCH_LONGER = Fraction(3, 2)  # times gold's length
MUCH_SHORTER = Fraction(1, 3)  # of gold's length is missing
COPIED = Fraction(1, 10)  # of the checked thoughts
VARIANTS = Fraction(3, 2)  # writings for each unit

Entry = dict[str, Any]


def stands_out(report: dict[str, Any]) -> list[Entry]:
    """The entries of a report, in this order; empty if nothing stands out."""
    found = (_excess(report), _shortfall(report), _copied(report), _variants(report))
    return [entry for entry in found if entry is not None]


def _excess(report: dict[str, Any]) -> Entry | None:
    metric = report["metrics"]["diagnostics"]["relaxed_excess"]
    length, gold = metric["numerator"], metric["denominator"]
    if not gold or Fraction(length, gold) < MUCH_LONGER:
        return None
    return {
        "code": "relaxed_excess",
        "message": f"matched arguments are {shorten(length, gold, 2)} times as long as gold's: "
        "relaxed_f1 forgives padding, strict_f1 does not",
        "counts": {"matched_length": length, "gold_length": gold},
    }


def _shortfall(report: dict[str, Any]) -> Entry | None:
    metric = report["metrics"]["diagnostics"]["relaxed_shortfall"]
    missing, gold = metric["numerator"], metric["denominator"]
    if not gold or Fraction(missing, gold) < MUCH_SHORTER:
        return None
    return {
        "code": "relaxed_shortfall",
        "message": f"matched arguments lack {missing} of gold's {gold} characters: "
        "relaxed_f1 forgives cutting, strict_f1 does not",
        "counts": {"missing_length": missing, "gold_length": gold},
    }


def _copied(report: dict[str, Any]) -> Entry | None:
    metric = report["metrics"]["diagnostics"]["cot_copied_rate"]
    copied, checked = metric["numerator"], metric["denominator"]
    if not checked or Fraction(copied, checked) < COPIED:
        return None
    return {
        "code": "copied_thought",
        "message": f"{copied} of {checked} thoughts are the answer over again: "
        "cot_faithfulness counts them, and they show no reasoning",
        "counts": {"copied": copied, "checked": checked},
    }


def _variants(report: dict[str, Any]) -> Entry | None:
    said = report["reading"]["values"]
    values, units = said["distinct"], said["units"]
    if not units or Fraction(values, units) < VARIANTS:
        return None
    return {
        "code": "value_variants",
        "message": f"{values} values were checked for {units} units: one argument written in many ways "
        "makes hallucination_entity_rate smaller",
        "counts": {"values": values, "units": units},
    }
