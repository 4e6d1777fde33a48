"""A baseline record, worked out again: from its reports where they are given, and from its own counts in any case."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from goldgate.baseline.record import load_baseline, make_baseline
from goldgate.core.evaluation import render_json
from goldgate.errors import InputError, Place
from goldgate.results.differences import compare_json
from goldgate.results.inputs import UsedInput
from goldgate.results.stored import parse_bytes, read_bytes
from goldgate.results.verification import Verification
from goldgate.suites import all_suites

_NOT_GIVEN = "the counts of the single reports: no reports were given (--reports FILE...)"


def verify_baseline(file: Path, reports: Sequence[str]) -> Verification:
    """Verified when its reports give the same record, or, without them, when its proposals follow from its counts."""
    data = read_bytes(file, "baseline")
    record = parse_bytes(data, file, "baseline")
    suite = record.get("suite") if isinstance(record, dict) else None
    if not reports:
        load_baseline(file, str(file), Place(str(file)), str(suite))  # an error where a proposal does not follow
        return Verification("baseline", str(suite), [file.name], not_compared=[_NOT_GIVEN])
    rate = _rate(record, file)
    again = make_baseline(reports, all_suites(), rate)
    stored, now = (tuple(sorted(_sha256s(each))) for each in (record, again))
    difference = compare_json(file.name, data, render_json(again), last="reports")
    return Verification(
        of="baseline",
        subject=str(again["suite"]),
        compared=[file.name],
        differences=[] if difference is None else [difference],
        inputs=[UsedInput("reports", tuple(reports), stored, now)],
    )


def _rate(record: Any, file: Path) -> Decimal:
    try:
        rate = Decimal(record["false_alarm_rate"])
        if 0 < rate < 1:
            return rate
    except (KeyError, TypeError, ValueError, InvalidOperation):
        pass
    raise InputError("baseline.malformed", "this record names no false-alarm rate", place=Place(str(file)))


def _sha256s(record: Any) -> list[str]:
    reports = record.get("reports") if isinstance(record, dict) else None
    return [str(each.get("sha256")) for each in reports or () if isinstance(each, dict)]
