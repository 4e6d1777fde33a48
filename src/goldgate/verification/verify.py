"""Verify what is stored at a path: a result, the sums of its records, a comparison or a baseline.

A result or comparison is recomputed from its inputs, a baseline from its reports; then each stored file is compared
with what came out. Pages only repeat a report: their bytes must have the digests that run.json has.
"""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from goldgate.comparison import compare_systems
from goldgate.core.evaluation import render_json
from goldgate.core.metric import Metric, floor_quotient, metric_sections
from goldgate.core.suite import Input, parse_signature
from goldgate.core.sums import UnitSums
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.reading import pipe_opener, read_bytes, read_failure
from goldgate.pipeline import evaluate_suite
from goldgate.readers.stored_result import (
    MAX_REPORT_BYTES,
    REPORT,
    StoredResult,
    contradictions,
    describe_path,
    load_result,
    missing_result,
    parse_report,
    require_local,
    require_type,
)
from goldgate.readers.unit_records import UnitTable
from goldgate.runs.baseline import BASELINE_KIND as BASELINE
from goldgate.runs.baseline import load_baseline, make_baseline
from goldgate.runs.contracts import BaselineFolderRecord, BaselineRecord
from goldgate.runs.reference import (
    BASELINE_FILE,
    MAX_UNITS_BYTES,
    UNITS_FILE,
    make_baseline_and_units,
    require_report_or_baseline,
)
from goldgate.runs.sources import (
    COMPARISON,
    COMPARISON_FILE,
    RunOrigin,
    SystemSource,
    load_comparison,
    load_json,
    load_origin,
    origin_of,
)
from goldgate.runs.units import metrics_from_sums, ratio_measures, sum_records, unpack_units
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.suites import all_suites
from goldgate.verification import (
    ABSENT,
    ChangedSetting,
    FileDifference,
    Verification,
    compare_json,
    compare_records,
    compare_values,
)
from goldgate.verification.gates import gate_differences, numbers_of
from goldgate.verification.inputs import (
    PROTOCOL,
    InputPaths,
    UsedInput,
    changed_files,
    find_path,
    locate_inputs,
    original_plan,
    used_inputs,
)

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorValue, MetricValue, SuiteReport
    from goldgate.runs.contracts import ComparisonReport

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
    value = parse_report(read_bytes(file, "report", most=MAX_REPORT_BYTES), str(file))
    kind = value.get("kind") if isinstance(value, dict) else None
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
    if not os.path.isdir(path):  # a path has a method for it, which fails where a right is missing
        missing = missing_result(path, str(path))
        if missing is not None:
            raise missing
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


REPORT_PAGES = ("report.md", "report.html", "junit.xml")
_RUN = "run.json: it cannot be made again, and the pages are only held against the digests in it"
_GENERATION = "/generation of report.json: it comes from the journal of the answers, not from the predictions"
_REPORT_ONLY = "files beside the report: only the report was named"


def verify_result(result: StoredResult, paths: InputPaths, workers: int = 1) -> Verification:
    """Make the result again from these inputs, and compare every file of it.

    Where that fails and an input has changed, the change is the answer; where none has, the error is raised.
    """
    protocol = next(iter(paths["protocol"]), None)
    inputs = {kind: files for kind, files in paths.items() if kind != "protocol"}
    with tempfile.TemporaryFile() as records:
        try:
            again = evaluate_suite(
                result.suite, inputs, protocol, workers=workers, written=[str(result.folder)], records=records
            )
        except GoldgateError as error:
            changed = changed_files(result.suite, result.report["inputs"], paths)
            if not changed:
                raise
            return Verification(
                "report", result.suite.name, (), inputs=changed, error=cast("ErrorValue", error.as_json())
            )
        report = _with_stored_generation(again.report, result.report)
        records.seek(0)
        return _compare_files(result, report, records, paths)


def _compare_files(result: StoredResult, report: SuiteReport, records: IO[bytes], paths: InputPaths) -> Verification:
    origin = origin_of(result)
    alone = origin.run is None and not result.records.exists()
    differences = [compare_json(result.file.name, result.report, render_json(report), last="inputs")]
    compared = [result.file.name]
    if not alone:
        differences.append(_record_difference(result.records, records))
        differences += _page_differences(origin, REPORT_PAGES)
        compared += [result.suite.records, *REPORT_PAGES]
    not_compared = [_REPORT_ONLY] if alone else [_RUN]
    if "generation" in result.report:
        not_compared.append(_GENERATION)
    return Verification(
        of="report",
        subject=result.suite.name,
        compared=compared,
        differences=[difference for difference in differences if difference is not None],
        inputs=used_inputs(result.report["inputs"], report["inputs"], paths),
        settings=[*_changed_settings(result, report, origin)],
        not_compared=not_compared,
    )


def _with_stored_generation(report: SuiteReport, stored: SuiteReport) -> SuiteReport:
    """A report of generated answers also says how they came about: that part is taken as it is stored."""
    if "generation" not in stored:
        return report
    generation = stored["generation"]
    return {**report, "signature": f"{report['signature']}|{generation['signature']}", "generation": generation}


def _record_difference(file: Path, recomputed: Iterable[bytes]) -> FileDifference | None:
    """The first difference of stored records to what was recomputed."""
    if not file.exists():
        return FileDifference(file.name, ABSENT, "a file")
    try:
        with open(file, "rb", opener=pipe_opener) as stored:
            return compare_records(file.name, stored, recomputed)
    except OSError as problem:
        raise read_failure(str(file), "records", problem) from None


def _page_differences(origin: RunOrigin, names: Iterable[str]) -> Iterator[FileDifference]:
    """Pages that are missing, or not those that were written with run.json."""
    for name in names:
        file, written = origin.folder / name, origin.page_digest(name)
        digest = sha256(read_bytes(file, "page", most=MAX_REPORT_BYTES)).hexdigest() if file.exists() else None
        if digest is None or digest != written:
            expected = f"sha256 {written}, as in run.json" if written else "a file with its digest in run.json"
            yield FileDifference(name, ABSENT if digest is None else f"sha256 {digest}", expected)


def _changed_settings(result: StoredResult, report: SuiteReport, origin: RunOrigin) -> Iterator[ChangedSetting]:
    """What the signatures tell apart: versions of goldgate, its metrics and its parser, and settings; and Unicode's."""
    stored, now = parse_signature(result.report["signature"]), parse_signature(report["signature"])
    for name in {**stored, **now}:
        if stored.get(name) != now.get(name):
            yield ChangedSetting(name, stored.get(name), now.get(name))
    versions = (origin.run or {}).get("versions")
    recorded = versions.get("unicode") if isinstance(versions, dict) else None
    if type(recorded) is str and recorded != unicodedata.unidata_version:
        yield ChangedSetting("unicode", recorded, unicodedata.unidata_version)


MARKDOWN, HTML, CHANGED = "comparison.md", "comparison.html", "changed.jsonl"
SYSTEMS = Input("systems", "The systems that are compared.", metavar="DIR", many=True)
_COMPARISON_INPUTS = (SYSTEMS, Input("gold", "The gold.", many=True), Input("schema", "The event schema."), PROTOCOL)
_RESULTS_NOTE = "the results that it compares (verify each of them)"


def verify_comparison(file: Path, input_paths: InputPaths, root: str | None = None, workers: int = 1) -> Verification:
    """Compare the same systems again, and the files that come of it with those that are stored."""
    stored = load_comparison(file)
    origin = load_origin(file.parent)
    paths = {
        each.name: [*input_paths.get(each.name, ())]
        or [find_path(origin, each, p, root) for p in origin.input_paths(each.name)]
        for each in _COMPARISON_INPUTS
    }
    sources = _sources(stored, paths[SYSTEMS.name], file)
    again = compare_systems(
        sources,
        gold=paths["gold"],
        schema=paths["schema"],
        protocol=next(iter(paths[PROTOCOL.name]), None),
        suite=stored["suite"],
        against=stored["against"],
        common=bool(stored["left_out"]) or not stored["same_gold"],
        workers=workers,
    )
    report = again.report
    differences = [
        compare_json(file.name, stored, again.to_json().encode(), last="systems"),
        _record_difference(file.parent / CHANGED, again.changed_lines()),
        *_page_differences(origin, (MARKDOWN, HTML)),
    ]
    files = {**paths, **{f"system {source.name}": source.paths for source in sources}}
    return Verification(
        of="comparison",
        subject=str(report["suite"]),
        compared=[file.name, MARKDOWN, HTML, CHANGED],
        differences=[difference for difference in differences if difference is not None],
        inputs=used_inputs(_digests(stored), _digests(report), files),
        not_compared=[_RUN] if paths["gold"] else [_RUN, _RESULTS_NOTE],
    )


def _sources(stored: ComparisonReport, paths: Sequence[str], file: Path) -> list[SystemSource]:
    """Every system with as many of the paths as it has runs."""
    count = sum(len(system["runs"]) for system in stored["systems"])
    if count != len(paths):
        raise ConfigError(
            "verify.input_unknown",
            "the places of the systems of this comparison are not known",
            place=Place(str(file)),
            expected=f"{count} folders or files, in the order of the comparison",
            found=str(len(paths)),
            advice="add --systems DIR...",
        )
    rest = iter(paths)
    return [SystemSource(system["name"], tuple(islice(rest, len(system["runs"])))) for system in stored["systems"]]


def _digests(report: ComparisonReport) -> dict[str, list[str]]:
    """What a comparison says of its inputs: the gold, and what each system made."""
    made = {
        f"system {system['name']}": [
            digest for run in system["runs"] for each in run["inputs"].values() for digest in each
        ]
        for system in report["systems"]
    }
    return {**report["gold"], **made}


_CHECKED_BY_RECORDS = ("format_version", "suite", "status", "gates", "gates_together", "metrics", "error")
_PAGES_NOTE = "report.md, report.html, junit.xml and run.json (verify without --records)"
_INPUTS_NOTE = "the records against the inputs (verify without --records)"


def verify_records(result: StoredResult, protocol: str | None = None) -> Verification:
    """Add up the counts of every line, compare metrics and intervals of the report, and decide gates and status again.

    `protocol` is where the protocol is, if it is there: it sets the bounds of gates, and some settings leave a metric
    undefined whatever was counted.
    """
    plan, report = original_plan(result, protocol), result.report
    measures = ratio_measures(result.suite, result.measured_by if plan is None else plan.settings)
    tally, _, contradiction = sum_records(result, measures, parts=True)
    unit = GROUP if tally.is_grouped else result.suite.unit
    sections, stored = metrics_from_sums(tally, measures), metric_sections(report["metrics"])
    unknown: list[str] = []
    differences: list[FileDifference] = []
    for section, names in stored.items():
        for name, metric in names.items():
            recomputed = sections.get(section, {}).get(name)
            if recomputed is None or (plan is None and metric["value"] is None):
                unknown.append(name)
            else:
                differences += _metric_difference(result, metric, recomputed, f"/metrics/{section}/{name}", unit)
    differences += [
        FileDifference(result.file.name, ABSENT, str(metric), f"/metrics/{section}/{name}")
        for section, metrics in sections.items()
        for name, metric in metrics.items()
        if name not in stored.get(section, {})
    ]
    again = {name: metric for metrics in sections.values() for name, metric in metrics.items() if name not in unknown}
    left_out = [f"{', '.join(unknown)}: not known from records alone"] if unknown else []
    differences += gate_differences(result, plan, again, tally, unit, left_out)
    version = report["metrics"]["version"], result.suite.metrics_version
    differences += filter(None, [compare_values(result.file.name, *version, "/metrics/version")])
    differences += [
        FileDifference(result.file.name, wrong.found, wrong.expected, wrong.pointer)
        for wrong in contradictions(report, overrules=result.suite.overrules)
        if not any(str(each.pointer).startswith(wrong.pointer) for each in differences)
    ]
    if contradiction is not None:
        parts = f"line {contradiction[0]}: parts of another whole"
        differences.append(FileDifference(result.suite.records, parts, "parts that add up"))
    rest = ", ".join(name for name in report if name not in _CHECKED_BY_RECORDS)
    left_out.append(f"{rest} of {result.file.name}, and why a metric or an interval is undefined")
    compared = [f"{result.file.name} with {result.suite.records}"]
    not_compared = [*left_out, *([_PAGES_NOTE] if result.is_folder else []), _INPUTS_NOTE]
    return Verification("records", result.suite.name, compared, differences, not_compared=not_compared)


def _metric_difference(
    result: StoredResult, stored: MetricValue, metric: Metric, pointer: str, unit: str
) -> Iterator[FileDifference]:
    recomputed = metric_with_interval(metric, unit)
    difference = compare_values(result.file.name, numbers_of(stored), numbers_of(recomputed), pointer)
    if difference is not None:
        yield difference


_NO_REPORTS_NOTE = "the single reports: none were given (--reports FILE..., or the result folders)"


def verify_baseline(file: Path, reports: Sequence[str]) -> Verification:
    """Verified when its reports give the same record, or, without them, when its proposals follow from its counts.

    A baseline folder also has what each unit counted: the record has the digest of that file.
    """
    value = load_json(file, BASELINE)
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
    rate, suites = _false_alarm_rate(record, file), all_suites()
    if has_units:  # it was made of folders, whatever names them now
        folders = [report if os.path.isdir(report) else os.path.dirname(report) or "." for report in reports]
        again: BaselineRecord = make_baseline_and_units(folders, suites, rate)[0]
    else:
        again = make_baseline(reports, suites, rate)
    difference = compare_json(file.name, record, render_json(again), last="reports")
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
    rates: dict[str, tuple[int, int]] = {}
    for suite in (suite for suite in all_suites() if suite.name == suite_name):
        for measure in ratio_measures(suite, suite.settings()):
            unit_sums = UnitSums(measure.forms)
            for counts in (unit[measure.key] for unit in table.units() if measure.key in unit):
                if len(counts) != len(measure.columns):
                    raise _other_version_error(measure.table, len(measure.columns), len(counts))
                unit_sums.add(counts)
            rates |= {name: (sums.a, sums.b) for name, sums in unit_sums.sums().items()}
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


def _false_alarm_rate(record: BaselineRecord, file: Path) -> Decimal:
    try:
        rate = Decimal(record["false_alarm_rate"])
        if 0 < rate < 1:
            return rate
    except InvalidOperation:
        pass
    raise InputError("baseline.malformed", "this record names no false-alarm rate", place=Place(str(file)))
