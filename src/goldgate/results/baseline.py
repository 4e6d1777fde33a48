"""A baseline record, worked out again: from its reports where they are given, and from its own counts in any case."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from goldgate.baseline.packed import unpack
from goldgate.baseline.record import load_baseline, make_baseline
from goldgate.baseline.reference import MOST_BYTES, UNITS, make_folder
from goldgate.core.evaluation import render_json
from goldgate.core.metric import cut
from goldgate.errors import InputError, Place
from goldgate.files.text_file import read_bytes
from goldgate.readers.recorded_units import UnitTables
from goldgate.results.differences import Difference, compare_json
from goldgate.results.inputs import UsedInput
from goldgate.results.origin import load_json
from goldgate.results.recorded import ratio_measures
from goldgate.results.verification import Verification
from goldgate.suites import all_suites

_NOT_GIVEN = "what the single reports say: none were given (--reports FILE..., or the result folders)"


def verify_baseline(file: Path, reports: Sequence[str]) -> Verification:
    """Verified when its reports give the same record, or, without them, when its proposals follow from its counts.

    A baseline folder also has what each unit counted: the record has the digest of that file.
    """
    data, record = load_json(file, "baseline")
    has_units = isinstance(record, dict) and "units" in record
    compared = [file.name, UNITS] if has_units else [file.name]
    found = [*_other_units(file.parent / UNITS, record)] if has_units else []
    if not reports:
        suite = str(record.get("suite")) if isinstance(record, dict) else ""
        load_baseline(file, str(file), Place(str(file)), suite)  # an error where a proposal does not follow
        found += _other_counts(file.name, record)
        return Verification("baseline", suite, compared, found, not_compared=[_NOT_GIVEN])
    again = _made_again(reports, _rate(record, file))
    difference = compare_json(file.name, data, render_json(again), last="reports")
    stored, now = (tuple(sorted(_sha256s(each))) for each in (record, again))
    return Verification(
        of="baseline",
        subject=str(again["suite"]),
        compared=compared,
        differences=found if difference is None else [difference, *found],
        inputs=[UsedInput("reports", tuple(reports), stored, now)],
    )


def _other_units(file: Path, record: dict[str, Any]) -> Iterator[Difference]:
    """A difference where the file is not the one that the record has the digest of, or not what its rates count."""
    try:
        told = record["units"]
        units = unpack(read_bytes(file, "baseline", most=MOST_BYTES), told["size"], told["sha256"])
        if len(units) != told["count"]:
            raise ValueError(f"{len(units)} units in place of {told['count']}")
        rates = {name: (entry["numerator"], entry["denominator"]) for name, entry in record["metrics"].items()}
        given = {name: found for name, found in _summed(units, record["suite"]).items() if name in rates}
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        yield Difference(UNITS, str(problem), "the content whose digest the record has")
        return
    for name, stated in rates.items():
        if stated != given.get(name):
            yield Difference(UNITS, str(given.get(name)), f"{name} {stated}, as the record says")


def _summed(units: Mapping[bytes, UnitTables], named: str) -> dict[str, tuple[int, int]]:
    """The rates of all units together, numerator and denominator."""
    found = {}
    for suite in (suite for suite in all_suites() if suite.name == named):
        for measure in ratio_measures(suite, suite.settings()):
            key = (measure.table,)
            own = Counter(tables[key] for tables in units.values() if key in tables)
            for counts in own:
                if len(counts) != len(measure.columns):
                    raise _other_version(measure.table, len(measure.columns), len(counts))
            for name in measure.ratios:
                pairs = [(*measure.forms[name].of(counts), times) for counts, times in own.items()]
                found[name] = sum(a * times for a, _, times in pairs), sum(b * times for _, b, times in pairs)
    return found


def _other_version(table: str, expected: int, found: int) -> InputError:
    return InputError(
        "baseline.other_version",
        "the units of this baseline do not count what this version of goldgate counts",
        place=Place(UNITS),
        expected=f"{expected} counts of {table}",
        found=f"{found} counts of {table}",
        advice="score what it was made of again with this version, and make the baseline again",
    )


def _other_counts(name: str, record: dict[str, Any]) -> Iterator[Difference]:
    """Sums that are not those of the reports beside them."""
    for metric, entry in record["metrics"].items():
        hits, trials = (sum(int(counts.split("/")[n]) for counts in entry["by_report"]) for n in (0, 1))
        told = f"{entry.get('numerator')}/{entry.get('denominator')}, {entry.get('observed')}"
        given = f"{hits}/{trials}, {cut(hits, trials, 6) if trials else None}"
        if told != given:
            yield Difference(name, told, given, f"/metrics/{metric}")


def _made_again(reports: Sequence[str], rate: Decimal) -> dict[str, Any]:
    if all(os.path.isdir(report) for report in reports):
        return make_folder(reports, all_suites(), rate)[0]
    return make_baseline(reports, all_suites(), rate)


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
