"""Recompute a stored result or comparison from its inputs, and report where each file differs first."""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Literal, cast

from goldgate.comparison import Comparison, compare_systems
from goldgate.core.evaluation import Evaluation, render_json
from goldgate.core.suite import Input, Plan, parse_signature
from goldgate.core.unit_page import InputLookup
from goldgate.errors import ConfigError, GoldgateError, Place
from goldgate.files.reading import pipe_opener, read_bytes, read_failure
from goldgate.pipeline import evaluate_suite
from goldgate.readers.stored_result import MAX_REPORT_BYTES, StoredResult
from goldgate.report import describe_report, name_files, render, render_page
from goldgate.report.html import render_html
from goldgate.report.html.units import UnitSelection, worst_units
from goldgate.report.svg import comparison_page
from goldgate.runs.sources import COMPARISON, RunOrigin, SystemSource, load_comparison, load_origin, origin_of
from goldgate.suites.worst_units import WorstUnits
from goldgate.verification.differences import (
    ABSENT,
    ChangedSetting,
    FileDifference,
    Verification,
    compare_json,
    compare_records,
    compare_text,
)
from goldgate.verification.inputs import PROTOCOL, InputPaths, changed_files, find_path, used_inputs

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorValue, SuiteReport
    from goldgate.runs.contracts import ComparisonReport

REPORT_HTML = "report.html"
RENDERED: dict[str, Literal["markdown", "junit"]] = {"report.md": "markdown", "junit.xml": "junit"}
_RUN = "run.json: its times and places cannot be recomputed"
_GENERATION = "/generation of report.json: it comes from the journal of the answers, not from the predictions"
_REPORT_ONLY = "files beside the report: only the report was named"


def verify_result(result: StoredResult, paths: InputPaths, workers: int = 1) -> Verification:
    """Make the result again from these inputs, and compare every file of it.

    Where that fails and an input has changed, the change is the answer; where none has, the error is raised.
    """
    protocol = next(iter(paths["protocol"]), None)
    inputs = {kind: files for kind, files in paths.items() if kind != "protocol"}
    with tempfile.TemporaryFile() as records:
        selections: list[UnitSelection] = []

        def read(offset: int, length: int) -> bytes:
            records.seek(offset)
            return records.read(length)

        def look(evaluation: Evaluation, plan: Plan, lookup: InputLookup, worst: WorstUnits) -> None:
            selections.append(worst_units(result.suite, plan, evaluation, worst, read, lookup))

        try:
            again = evaluate_suite(
                result.suite, inputs, protocol,
                workers=workers, written=[str(result.folder)], records=records, finished=look,
            )  # fmt: skip
        except GoldgateError as error:
            changed = changed_files(result.suite, result.report["inputs"], paths)
            if not changed:
                raise
            return Verification(
                "report", result.suite.name, (), inputs=changed, error=cast("ErrorValue", error.as_json())
            )
        report = _with_stored_generation(again.report, result.report)
        records.seek(0)
        return _compare_files(result, report, records, selections[0], paths)


def _compare_files(
    result: StoredResult, report: SuiteReport, records: IO[bytes], selection: UnitSelection, paths: InputPaths
) -> Verification:
    origin = origin_of(result)
    alone = origin.run is None and not result.records.exists()
    differences = [compare_json(result.file.name, result.data, render_json(report), last="inputs")]
    compared = [result.file.name]
    if not alone:
        names = paths if origin.run is None else {kind: origin.input_paths(kind) for kind in paths}
        page = render_html(name_files(describe_report(report), names), selection).encode()
        differences += [*_compare_rendered(result, report), _compare_records(result, records)]
        differences.append(_compare_text(result, REPORT_HTML, page))
        compared += [*RENDERED, result.suite.records, REPORT_HTML]
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


def _compare_rendered(result: StoredResult, report: SuiteReport) -> Iterator[FileDifference | None]:
    for name, format in RENDERED.items():
        yield _compare_text(result, name, render(report, format).encode("utf-8", "backslashreplace"))


def _compare_text(result: StoredResult, name: str, recomputed: bytes) -> FileDifference | None:
    file = result.folder / name
    if not file.exists():
        return FileDifference(name, ABSENT, "a file")
    return compare_text(name, read_bytes(file, "report", most=MAX_REPORT_BYTES), recomputed)


def _compare_records(result: StoredResult, records: IO[bytes]) -> FileDifference | None:
    name = result.suite.records
    if not result.records.exists():
        return FileDifference(name, ABSENT, "a file")
    try:
        with open(result.records, "rb", opener=pipe_opener) as stored:
            return compare_records(name, stored, records)
    except OSError as problem:
        raise read_failure(str(result.records), "records", problem) from None


def _changed_settings(result: StoredResult, report: SuiteReport, origin: RunOrigin) -> Iterator[ChangedSetting]:
    """What the signatures tell apart: versions of goldgate, its metrics and its parser, and settings; and Unicode's."""
    stored, now = parse_signature(result.report["signature"]), parse_signature(report["signature"])
    for name in [*stored, *(name for name in now if name not in stored)]:
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
    data, stored = load_comparison(file)
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
    differences = [
        compare_json(file.name, data, again.to_json().encode(), last="systems"),
        _compare_page(file.parent / MARKDOWN, "markdown", again),
        _compare_page(file.parent / HTML, "html", again),
        _compare_changed(file.parent / CHANGED, again),
    ]
    report = again.report
    return Verification(
        of="comparison",
        subject=str(report["suite"]),
        compared=[file.name, MARKDOWN, HTML, CHANGED],
        differences=[difference for difference in differences if difference is not None],
        inputs=used_inputs(_digests(stored), _digests(report), _files(sources, paths)),
        not_compared=[_RUN] if paths["gold"] else [_RUN, _RESULTS_NOTE],
    )


def _sources(stored: ComparisonReport, paths: Sequence[str], file: Path) -> list[SystemSource]:
    """Every system with as many of the paths as it has runs."""
    runs = [(system["name"], len(system["runs"])) for system in stored["systems"]]
    if sum(count for _, count in runs) != len(paths):
        raise ConfigError(
            "verify.input_unknown",
            "the places of the systems of this comparison are not known",
            place=Place(str(file)),
            expected=f"{sum(count for _, count in runs)} folders or files, in the order of the comparison",
            found=str(len(paths)),
            advice="add --systems DIR...",
        )
    rest = iter(paths)
    return [SystemSource(name, tuple(next(rest) for _ in range(count))) for name, count in runs]


def _files(sources: Sequence[SystemSource], paths: InputPaths) -> dict[str, Sequence[str]]:
    return {**paths, **{f"system {source.name}": source.paths for source in sources}}


def _digests(report: ComparisonReport) -> dict[str, list[str]]:
    """What a comparison says of its inputs: the gold, and what each system made."""
    made = {
        f"system {system['name']}": [
            digest for run in system["runs"] for each in run["inputs"].values() for digest in each
        ]
        for system in report["systems"]
    }
    return {**report["gold"], **made}


def _compare_page(file: Path, format: str, again: Comparison) -> FileDifference | None:
    if not file.exists():
        return FileDifference(file.name, ABSENT, "a file")
    recomputed = render_page(comparison_page(again.report), format).encode("utf-8", "backslashreplace")
    return compare_text(file.name, read_bytes(file, COMPARISON, most=MAX_REPORT_BYTES), recomputed)


def _compare_changed(file: Path, again: Comparison) -> FileDifference | None:
    if not file.exists():
        return FileDifference(file.name, ABSENT, "a file")
    try:
        with open(file, "rb", opener=pipe_opener) as stored:
            return compare_records(file.name, stored, again.changed_lines())
    except OSError as problem:
        raise read_failure(str(file), COMPARISON, problem) from None
