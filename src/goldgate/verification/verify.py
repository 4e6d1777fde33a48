"""Verify what is stored at a path: a result, the sums of its records, a comparison or a baseline."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any, cast

from goldgate.core.contracts import MetricValue
from goldgate.core.evaluation import render_json
from goldgate.core.metric import Metric, Metrics, floor_quotient, metric_sections
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
    require_type,
)
from goldgate.readers.unit_records import CountIndex, UnitTable, parts_add_up, read_unit_tables
from goldgate.runs.against import MAX_UNITS_BYTES, UNITS_FILE, make_baseline_and_units, require_report_or_baseline
from goldgate.runs.baseline import BASELINE_KIND as BASELINE
from goldgate.runs.baseline import load_baseline, make_baseline
from goldgate.runs.contracts import BaselineFolderRecord, BaselineRecord
from goldgate.runs.sources import COMPARISON, COMPARISON_FILE, load_json
from goldgate.runs.units import metrics_from_sums, ratio_measures, sum_records, unpack_units
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.suites import all_suites
from goldgate.verification.differences import FileDifference, Verification, compare_json, first_value_difference
from goldgate.verification.inputs import InputPaths, UsedInput, locate_inputs, original_settings
from goldgate.verification.recompute import verify_comparison, verify_result

_REASON_KEYS = ("reason", "interval_reason")  # why something is undefined; the numbers are what is checked
_INPUTS_NOTE = "the records against the inputs (verify without --records)"


def verify_records(result: StoredResult, protocol: str | None = None) -> Verification:
    """Add up the counts of every line and compare each metric of the report, its interval, and what gates measured.

    `protocol` is where the protocol is, if it is there: some settings leave a metric undefined whatever was counted.
    """
    settings = original_settings(result, protocol)
    measures = ratio_measures(result.suite, result.measured_by if settings is None else settings)
    tally, _ = sum_records(result, measures)
    unit = GROUP if tally.is_grouped else result.suite.unit
    sections = metrics_from_sums(tally, measures)
    stored = metric_sections(result.report["metrics"])
    unknown: list[str] = []
    differences: list[FileDifference] = []
    for section, names in stored.items():
        for name, metric in names.items():
            recomputed = sections.get(section, {}).get(name)
            if recomputed is None or (settings is None and metric["value"] is None):
                unknown.append(name)
            else:
                differences += _metric_difference(result, metric, recomputed, f"/metrics/{section}/{name}", unit)
    differences += _missing_metrics(result, stored, sections)
    metrics_by_name = {name: metric for metrics in sections.values() for name, metric in metrics.items()}
    for number, gate in enumerate(result.report["gates"]):
        name, pointer = gate["metric"], f"/gates/{number}/measured"
        if name in metrics_by_name and name not in unknown:
            differences += _metric_difference(result, gate["measured"], metrics_by_name[name], pointer, unit)
    differences += _part_difference(result)
    left_out = [f"{', '.join(unknown)}: not known from records alone"] if unknown else []
    compared = [f"{result.file.name} with {result.suite.records}"]
    return Verification("records", result.suite.name, compared, differences, not_compared=[*left_out, _INPUTS_NOTE])


def _metric_difference(
    result: StoredResult, stored: MetricValue, metric: Metric, pointer: str, unit: str
) -> Iterator[FileDifference]:
    first = first_value_difference(_numbers(stored), _numbers(metric_with_interval(metric, unit)))
    if first is not None:
        yield FileDifference(result.file.name, first.stored, first.recomputed, pointer + first.pointer)


def _missing_metrics(
    result: StoredResult, stored: Mapping[str, Mapping[str, MetricValue]], sections: Mapping[str, Metrics]
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


def _numbers(metric: MetricValue) -> dict[str, object]:
    return {name: value for name, value in metric.items() if name not in _REASON_KEYS}


_NO_REPORTS_NOTE = "the single reports: none were given (--reports FILE..., or the result folders)"


def verify_baseline(file: Path, reports: Sequence[str]) -> Verification:
    """Verified when its reports give the same record, or, without them, when its proposals follow from its counts.

    A baseline folder also has what each unit counted: the record has the digest of that file.
    """
    data, value = load_json(file, BASELINE)
    has_units = isinstance(value, dict) and "units" in value
    require_type(value, BaselineFolderRecord if has_units else BaselineRecord, BASELINE, str(file))
    record = cast(BaselineRecord, value)
    compared, differences = [file.name], list[FileDifference]()
    if has_units:
        compared.append(UNITS_FILE)
        differences += _unit_differences(file.parent / UNITS_FILE, cast(BaselineFolderRecord, value))
    if not reports:
        suite = record["suite"]
        load_baseline(file, str(file), Place(str(file)), suite)  # an error where a proposal does not follow
        differences += _count_differences(file.name, record)
        return Verification("baseline", suite, compared, differences, not_compared=[_NO_REPORTS_NOTE])
    again = _recompute_baseline(reports, _false_alarm_rate(record, file))
    difference = compare_json(file.name, data, render_json(again), last="reports")
    stored, now = (tuple(sorted(report["sha256"] for report in each["reports"])) for each in (record, again))
    return Verification(
        of="baseline",
        subject=str(again["suite"]),
        compared=compared,
        differences=differences if difference is None else [difference, *differences],
        inputs=[UsedInput("reports", tuple(reports), stored, now)],
    )


def _unit_differences(file: Path, record: BaselineFolderRecord) -> Iterator[FileDifference]:
    """A difference where the file is not the one that the record has the digest of, or not what its rates count."""
    try:
        description = record["units"]
        units = unpack_units(
            read_bytes(file, "baseline", most=MAX_UNITS_BYTES), description["size"], description["sha256"]
        )
        if len(units) != description["count"]:
            raise ValueError(f"{len(units)} units in place of {description['count']}")
        rates = {name: (entry["numerator"], entry["denominator"]) for name, entry in record["metrics"].items()}
        summed = {name: counts for name, counts in _summed_rates(units, record["suite"]).items() if name in rates}
    except (KeyError, TypeError, ValueError) as problem:
        yield FileDifference(UNITS_FILE, str(problem), "the content whose digest the record has")
        return
    for name, stated in rates.items():
        if stated != summed.get(name):
            yield FileDifference(UNITS_FILE, str(summed.get(name)), f"{name} {stated}, as the record says")


def _summed_rates(table: UnitTable, suite_name: str) -> dict[str, tuple[int, int]]:
    """The rates of all units together, numerator and denominator."""
    rates = {}
    for suite in (suite for suite in all_suites() if suite.name == suite_name):
        for measure in ratio_measures(suite, suite.settings()):
            key = (measure.table,)
            own = Counter(unit[key] for unit in table.units() if key in unit)
            for counts in own:
                if len(counts) != len(measure.columns):
                    raise _other_version_error(measure.table, len(measure.columns), len(counts))
            for name in measure.ratios:
                pairs = [(*measure.forms[name].of(counts), times) for counts, times in own.items()]
                rates[name] = sum(a * times for a, _, times in pairs), sum(b * times for _, b, times in pairs)
    return rates


def _other_version_error(table: str, expected: int, found: int) -> InputError:
    return InputError(
        "baseline.other_version",
        "the units of this baseline do not count what this version of goldgate counts",
        place=Place(UNITS_FILE),
        expected=f"{expected} counts of {table}",
        found=f"{found} counts of {table}",
        advice="score what it was made of again with this version, and make the baseline again",
    )


def _count_differences(name: str, record: BaselineRecord) -> Iterator[FileDifference]:
    """Sums that are not those of the reports beside them."""
    for metric, entry in record["metrics"].items():
        hits, trials = (sum(int(counts.split("/")[n]) for counts in entry["by_report"]) for n in (0, 1))
        reported = f"{entry['numerator']}/{entry['denominator']}, {entry['observed']}"
        recomputed = f"{hits}/{trials}, {floor_quotient(hits, trials, 6) if trials else None}"
        if reported != recomputed:
            yield FileDifference(name, reported, recomputed, f"/metrics/{metric}")


def _recompute_baseline(reports: Sequence[str], rate: Decimal) -> BaselineRecord:
    if all(os.path.isdir(report) for report in reports):
        return make_baseline_and_units(reports, all_suites(), rate)[0]
    return make_baseline(reports, all_suites(), rate)


def _false_alarm_rate(record: BaselineRecord, file: Path) -> Decimal:
    try:
        rate = Decimal(record["false_alarm_rate"])
        if 0 < rate < 1:
            return rate
    except InvalidOperation:
        pass
    raise InputError("baseline.malformed", "this record names no false-alarm rate", place=Place(str(file)))


BASELINE_FILE = "baseline.json"
_FILES = (REPORT, COMPARISON_FILE, BASELINE_FILE)


def verify(
    path: str,
    input_paths: InputPaths,
    *,
    root: str | None = None,
    only_records: bool = False,
    reports: Sequence[str] = (),
    workers: int = 1,
) -> Verification:
    """Recompute a stored folder or file. `input_paths` says where inputs are now, `reports` those of a baseline."""
    require_local(path)
    file = _stored_file(Path(path))
    kind = _kind_of_file(file)
    if kind == BASELINE:
        return verify_baseline(file, reports)
    if kind == COMPARISON:
        return verify_comparison(file, input_paths, root, workers)
    result = load_result(path, all_suites())
    _require_inputs_of(result.suite, input_paths)
    if only_records:
        return verify_records(result, next(iter(input_paths.get("protocol", ())), None))
    return verify_result(result, locate_inputs(result, input_paths, root), workers)


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
    actual, advice = describe_path(str(path))
    raise InputError(
        "verify.nothing_there",
        "there is nothing to verify in this folder",
        place=Place(str(path)),
        expected=" or ".join(_FILES),
        found=actual,
        advice=advice,
    )


def _kind_of_file(file: Path) -> str | None:
    value = parse_report(read_bytes(file, "report", most=MAX_REPORT_BYTES), str(file))
    kind = value.get("kind") if isinstance(value, dict) else None
    return kind if type(kind) is str else None


def _require_inputs_of(suite: Any, input_paths: InputPaths) -> None:
    names = {each.name for each in suite.inputs} | {"protocol"}
    for name, paths in input_paths.items():
        if paths and name not in names:
            raise ConfigError(
                "verify.not_an_input",
                f"a report of the {suite.name} suite has no {name}",
                expected=", ".join(f"--{each}" for each in sorted(names)),
                found=f"--{name}",
            )
