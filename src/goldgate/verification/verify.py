"""Verify what is stored at a path: a result, the sums of its records, a comparison or a baseline."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from goldgate.core.evaluation import render_json
from goldgate.core.metric import Metric, Metrics, floor_quotient
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.reading import read_bytes
from goldgate.readers.stored_result import (
    MAX_REPORT_BYTES,
    REPORT,
    StoredResult,
    describe_path,
    load_result,
    missing_result,
    parse_report,
    require_local,
    stored_gates,
)
from goldgate.readers.unit_records import CountIndex, UnitTable, parts_add_up, read_unit_tables
from goldgate.runs.against import MAX_UNITS_BYTES, UNITS_FILE, make_baseline_and_units, require_report_or_baseline
from goldgate.runs.baseline import BASELINE_KIND as BASELINE
from goldgate.runs.baseline import load_baseline, make_baseline
from goldgate.runs.sources import COMPARISON, COMPARISON_FILE, load_json
from goldgate.runs.units import metrics_from_sums, ratio_measures, sum_records, unpack_units
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.suites import all_suites
from goldgate.verification.differences import FileDifference, Verification, compare_json, first_value_difference
from goldgate.verification.inputs import InputPaths, UsedInput, locate_inputs, original_settings
from goldgate.verification.recompute import verify_comparison, verify_result

_REASON_KEYS = ("reason", "interval_reason")  # why something is undefined; the numbers are what is checked
_INPUTS_NOTE = "whether the records say what the inputs give: that takes the inputs (verify without --records)"


def verify_records(result: StoredResult, protocol: str | None = None) -> Verification:
    """Add up the counts of every line and compare each metric of the report, its interval, and what gates measured.

    `protocol` is where the protocol is, if it is there: some settings leave a metric undefined whatever was counted.
    """
    settings = original_settings(result, protocol)
    measures = ratio_measures(result.suite, result.measured_by if settings is None else settings)
    tally, _ = sum_records(result, measures)
    unit = GROUP if tally.is_grouped else result.suite.unit
    sections = metrics_from_sums(tally, measures)
    stored = {name: found for name, found in result.report["metrics"].items() if isinstance(found, dict)}
    unknown: list[str] = []
    found: list[FileDifference] = []
    for section, names in stored.items():
        for name, metric in names.items():
            given = sections.get(section, {}).get(name)
            if given is None or (settings is None and _is_undefined(metric)):
                unknown.append(name)
            else:
                found += _metric_difference(result, metric, given, f"/metrics/{section}/{name}", unit)
    found += _missing_metrics(result, stored, sections)
    known = {name: metric for metrics in sections.values() for name, metric in metrics.items()}
    for number, gate in enumerate(stored_gates(result.report)):
        if gate.metric in known and gate.metric not in unknown:
            found += _metric_difference(result, gate.measured, known[gate.metric], f"/gates/{number}/measured", unit)
    found += _part_difference(result)
    left_out = [f"{', '.join(unknown)}: not known from records alone"] if unknown else []
    compared = [f"{result.file.name} with {result.suite.records}"]
    return Verification("records", result.suite.name, compared, found, not_compared=[*left_out, _INPUTS_NOTE])


def _metric_difference(
    result: StoredResult, stored: Any, metric: Metric, pointer: str, unit: str
) -> Iterator[FileDifference]:
    found = first_value_difference(_numbers(stored), _numbers(metric_with_interval(metric, unit)))
    if found is not None:
        yield FileDifference(result.file.name, found.stored, found.recomputed, pointer + found.pointer)


def _missing_metrics(
    result: StoredResult, stored: Mapping[str, Any], sections: Mapping[str, Metrics]
) -> Iterator[FileDifference]:
    """Metrics of the records that the report does not have."""
    for section, metrics in sections.items():
        for name, metric in metrics.items():
            if name not in stored.get(section, {}):
                yield FileDifference(result.file.name, "nothing", str(metric), f"/metrics/{section}/{name}")


def _part_difference(result: StoredResult) -> Iterator[FileDifference]:
    """The first record whose parts, such as event types, are not together what it counted."""
    for table in read_unit_tables(result, CountIndex()):
        for line, unit in enumerate(table.units(), table.first_line):
            if not parts_add_up(unit):
                yield FileDifference(result.suite.records, f"line {line}: parts of another whole", "parts that add up")
                return


def _is_undefined(metric: Any) -> bool:
    return isinstance(metric, Mapping) and metric.get("value") is None


def _numbers(metric: Any) -> Any:
    if not isinstance(metric, Mapping):
        return metric
    return {name: value for name, value in metric.items() if name not in _REASON_KEYS}


_NO_REPORTS_NOTE = "what the single reports say: none were given (--reports FILE..., or the result folders)"


def verify_baseline(file: Path, reports: Sequence[str]) -> Verification:
    """Verified when its reports give the same record, or, without them, when its proposals follow from its counts.

    A baseline folder also has what each unit counted: the record has the digest of that file.
    """
    data, record = load_json(file, "baseline")
    has_units = isinstance(record, dict) and "units" in record
    compared = [file.name, UNITS_FILE] if has_units else [file.name]
    found = [*_unit_differences(file.parent / UNITS_FILE, record)] if has_units else []
    if not reports:
        suite = str(record.get("suite")) if isinstance(record, dict) else ""
        load_baseline(file, str(file), Place(str(file)), suite)  # an error where a proposal does not follow
        found += _count_differences(file.name, record)
        return Verification("baseline", suite, compared, found, not_compared=[_NO_REPORTS_NOTE])
    again = _recompute_baseline(reports, _false_alarm_rate(record, file))
    difference = compare_json(file.name, data, render_json(again), last="reports")
    stored, now = (tuple(sorted(_sha256s(each))) for each in (record, again))
    return Verification(
        of="baseline",
        subject=str(again["suite"]),
        compared=compared,
        differences=found if difference is None else [difference, *found],
        inputs=[UsedInput("reports", tuple(reports), stored, now)],
    )


def _unit_differences(file: Path, record: dict[str, Any]) -> Iterator[FileDifference]:
    """A difference where the file is not the one that the record has the digest of, or not what its rates count."""
    try:
        told = record["units"]
        units = unpack_units(read_bytes(file, "baseline", most=MAX_UNITS_BYTES), told["size"], told["sha256"])
        if len(units) != told["count"]:
            raise ValueError(f"{len(units)} units in place of {told['count']}")
        rates = {name: (entry["numerator"], entry["denominator"]) for name, entry in record["metrics"].items()}
        given = {name: found for name, found in _summed_rates(units, record["suite"]).items() if name in rates}
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        yield FileDifference(UNITS_FILE, str(problem), "the content whose digest the record has")
        return
    for name, stated in rates.items():
        if stated != given.get(name):
            yield FileDifference(UNITS_FILE, str(given.get(name)), f"{name} {stated}, as the record says")


def _summed_rates(table: UnitTable, named: str) -> dict[str, tuple[int, int]]:
    """The rates of all units together, numerator and denominator."""
    found = {}
    for suite in (suite for suite in all_suites() if suite.name == named):
        for measure in ratio_measures(suite, suite.settings()):
            key = (measure.table,)
            own = Counter(unit[key] for unit in table.units() if key in unit)
            for counts in own:
                if len(counts) != len(measure.columns):
                    raise _other_version_error(measure.table, len(measure.columns), len(counts))
            for name in measure.ratios:
                pairs = [(*measure.forms[name].of(counts), times) for counts, times in own.items()]
                found[name] = sum(a * times for a, _, times in pairs), sum(b * times for _, b, times in pairs)
    return found


def _other_version_error(table: str, expected: int, found: int) -> InputError:
    return InputError(
        "baseline.other_version",
        "the units of this baseline do not count what this version of goldgate counts",
        place=Place(UNITS_FILE),
        expected=f"{expected} counts of {table}",
        found=f"{found} counts of {table}",
        advice="score what it was made of again with this version, and make the baseline again",
    )


def _count_differences(name: str, record: dict[str, Any]) -> Iterator[FileDifference]:
    """Sums that are not those of the reports beside them."""
    for metric, entry in record["metrics"].items():
        hits, trials = (sum(int(counts.split("/")[n]) for counts in entry["by_report"]) for n in (0, 1))
        told = f"{entry.get('numerator')}/{entry.get('denominator')}, {entry.get('observed')}"
        given = f"{hits}/{trials}, {floor_quotient(hits, trials, 6) if trials else None}"
        if told != given:
            yield FileDifference(name, told, given, f"/metrics/{metric}")


def _recompute_baseline(reports: Sequence[str], rate: Decimal) -> dict[str, Any]:
    if all(os.path.isdir(report) for report in reports):
        return make_baseline_and_units(reports, all_suites(), rate)[0]
    return make_baseline(reports, all_suites(), rate)


def _false_alarm_rate(record: Any, file: Path) -> Decimal:
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


BASELINE_FILE = "baseline.json"
_FILES = (REPORT, COMPARISON_FILE, BASELINE_FILE)


def verify(
    path: str,
    given: InputPaths,
    *,
    root: str | None = None,
    only_records: bool = False,
    reports: Sequence[str] = (),
    workers: int = 1,
) -> Verification:
    """What is in this folder or file, made again. `given` says where inputs are now, `reports` those of a baseline."""
    require_local(path)
    file = _stored_file(Path(path))
    kind = _kind_of_file(file)
    if kind == BASELINE:
        return verify_baseline(file, reports)
    if kind == COMPARISON:
        return verify_comparison(file, given, root, workers)
    result = load_result(path, all_suites())
    _require_inputs_of(result.suite, given)
    if only_records:
        return verify_records(result, next(iter(given.get("protocol", ())), None))
    return verify_result(result, locate_inputs(result, given, root), workers)


def _stored_file(path: Path) -> Path:
    """The file that says what is stored there."""
    is_folder = os.path.isdir(path)  # a path has a method for it, which fails where a right is missing
    missing = None if is_folder else missing_result(path, str(path))
    if missing is not None:
        raise missing
    if not is_folder:
        return path
    require_report_or_baseline(path, str(path))
    for name in _FILES:
        if os.path.exists(path / name):
            return path / name
    found, advice = describe_path(str(path))
    raise InputError(
        "verify.nothing_there",
        "there is nothing to verify in this folder",
        place=Place(str(path)),
        expected=" or ".join(_FILES),
        found=found,
        advice=advice,
    )


def _kind_of_file(file: Path) -> str | None:
    value = parse_report(read_bytes(file, "report", most=MAX_REPORT_BYTES), str(file))
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if type(kind) is str else None


def _require_inputs_of(suite: Any, given: InputPaths) -> None:
    known = {each.name for each in suite.inputs} | {"protocol"}
    for name, paths in given.items():
        if paths and name not in known:
            raise ConfigError(
                "verify.not_an_input",
                f"a report of the {suite.name} suite has no {name}",
                expected=", ".join(f"--{each}" for each in sorted(known)),
                found=f"--{name}",
            )
