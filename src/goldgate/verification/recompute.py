"""Recompute a stored result or comparison from its inputs, and report where each file differs first."""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from goldgate.comparison import Comparison, compare_systems
from goldgate.core.evaluation import Evaluation, render_json
from goldgate.core.plan import Plan, parse_signature
from goldgate.core.suite import Input, Report
from goldgate.core.unit_page import InputLookup
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.reading import pipe_opener, read_bytes, read_failure
from goldgate.pipeline import evaluate_suite
from goldgate.readers.stored_result import MAX_REPORT_BYTES, StoredResult
from goldgate.report import describe_report, render, render_page
from goldgate.report.html import render_html
from goldgate.report.html.units import UnitSelection, worst_units
from goldgate.report.plot import comparison_page
from goldgate.runs.sources import COMPARISON, RunOrigin, SystemSource, load_json, load_origin, origin_of
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

REPORT_HTML = "report.html"
RENDERED: dict[str, Literal["markdown", "junit"]] = {"report.md": "markdown", "junit.xml": "junit"}
_RUN = "run.json: it says when and where, which nobody can work out again"
_GENERATION = "/generation of report.json: it comes from the journal of the answers, not from the predictions"
_REPORT_ONLY = "only the report was named, so nothing beside it was looked at"


def verify_result(result: StoredResult, paths: InputPaths, workers: int = 1) -> Verification:
    """Make the result again from these inputs, and compare every file of it.

    Where that fails and an input has changed, the change is the answer; where none has, the error is raised.
    """
    protocol = next(iter(paths["protocol"]), None)
    inputs = {kind: files for kind, files in paths.items() if kind != "protocol"}
    with tempfile.TemporaryFile() as records:
        shown: list[UnitSelection] = []

        def read(offset: int, length: int) -> bytes:
            records.seek(offset)
            return records.read(length)

        def look(evaluation: Evaluation, plan: Plan, given: InputLookup, worst: WorstUnits) -> None:
            shown.append(worst_units(result.suite, plan, evaluation, worst, read, given))

        try:
            again = evaluate_suite(
                result.suite, inputs, protocol,
                workers=workers, written=[str(result.folder)], records=records, finished=look,
            )  # fmt: skip
        except GoldgateError as error:
            changed = changed_files(result.suite, result.report["inputs"], paths)
            if not changed:
                raise
            return Verification("report", result.suite.name, (), inputs=changed, error=error.as_json())
        report = _with_stored_generation(again.report, result.report)
        records.seek(0)
        return _compare_files(result, report, records, shown[0], paths)


def _compare_files(
    result: StoredResult, report: Report, records: IO[bytes], looked: UnitSelection, paths: InputPaths
) -> Verification:
    origin = origin_of(result)
    alone = origin.run is None and not result.records.exists()
    found = [compare_json(result.file.name, result.data, render_json(report), last="inputs")]
    compared = [result.file.name]
    if not alone:
        page = render_html(describe_report(report), looked).encode()
        found += [*_compare_rendered(result, report), _compare_records(result, records)]
        found.append(_compare_text(result, REPORT_HTML, page))
        compared += [*RENDERED, result.suite.records, REPORT_HTML]
    not_compared = [_REPORT_ONLY] if alone else [_RUN]
    if "generation" in result.report:
        not_compared.append(_GENERATION)
    return Verification(
        of="report",
        subject=result.suite.name,
        compared=compared,
        differences=[difference for difference in found if difference is not None],
        inputs=used_inputs(result.report["inputs"], report["inputs"], paths),
        settings=[*_changed_settings(result, report, origin)],
        not_compared=not_compared,
    )


def _with_stored_generation(report: Report, stored: Report) -> Report:
    """A report of generated answers also says how they came about: that part is taken as it is stored."""
    generation = stored.get("generation")
    if not isinstance(generation, dict):
        return report
    return {**report, "signature": f"{report['signature']}|{generation.get('signature')}", "generation": generation}


def _compare_rendered(result: StoredResult, report: Report) -> Iterator[FileDifference | None]:
    for name, format in RENDERED.items():
        yield _compare_text(result, name, render(report, format).encode("utf-8", "backslashreplace"))


def _compare_text(result: StoredResult, name: str, wanted: bytes) -> FileDifference | None:
    file = result.folder / name
    if not file.exists():
        return FileDifference(name, ABSENT, "a file")
    return compare_text(name, read_bytes(file, "report", most=MAX_REPORT_BYTES), wanted)


def _compare_records(result: StoredResult, records: IO[bytes]) -> FileDifference | None:
    name = result.suite.records
    if not result.records.exists():
        return FileDifference(name, ABSENT, "a file")
    try:
        with open(result.records, "rb", opener=pipe_opener) as stored:
            return compare_records(name, stored, records)
    except OSError as problem:
        raise read_failure(str(result.records), "records", problem) from None


def _changed_settings(result: StoredResult, report: Report, origin: RunOrigin) -> Iterator[ChangedSetting]:
    """What the signatures tell apart: versions of goldgate, its metrics and its parser, and settings; and Unicode's."""
    stored, now = parse_signature(result.report["signature"]), parse_signature(report["signature"])
    for name in [*stored, *(name for name in now if name not in stored)]:
        if stored.get(name) != now.get(name):
            yield ChangedSetting(name, stored.get(name), now.get(name))
    versions = (origin.run or {}).get("versions")
    known = versions.get("unicode") if isinstance(versions, dict) else None
    if type(known) is str and known != unicodedata.unidata_version:
        yield ChangedSetting("unicode", known, unicodedata.unidata_version)


MARKDOWN, HTML, CHANGED = "comparison.md", "comparison.html", "changed.jsonl"
SYSTEMS = Input("systems", "The systems that are compared.", metavar="DIR", many=True)
_COMPARISON_INPUTS = (SYSTEMS, Input("gold", "The gold.", many=True), Input("schema", "The event schema."), PROTOCOL)
_RESULTS_NOTE = "the results that it compares: they are taken as they are (verify each of them)"


def verify_comparison(file: Path, given: InputPaths, root: str | None = None, workers: int = 1) -> Verification:
    """Compare the same systems again, and the files that come of it with those that are stored."""
    data, stored = load_json(file, COMPARISON)
    origin = load_origin(file.parent)
    paths = {
        each.name: [*given.get(each.name, ())] or [find_path(origin, each, p, root) for p in origin.named(each.name)]
        for each in _COMPARISON_INPUTS
    }
    sources = _sources(stored, paths[SYSTEMS.name], file)
    again = compare_systems(
        sources,
        gold=paths["gold"],
        schema=paths["schema"],
        protocol=next(iter(paths[PROTOCOL.name]), None),
        suite=str(stored.get("suite")),
        against=stored.get("against"),
        common=bool(stored.get("left_out")) or stored.get("same_gold") is False,
        workers=workers,
    )
    found = [
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
        differences=[difference for difference in found if difference is not None],
        inputs=used_inputs(dict(_digests(stored)), dict(_digests(report)), _files(sources, paths)),
        not_compared=[_RUN] if paths["gold"] else [_RUN, _RESULTS_NOTE],
    )


def _sources(stored: Any, paths: Sequence[str], file: Path) -> list[SystemSource]:
    """Every system with as many of the paths as it has runs."""
    try:
        runs = [(str(system["name"]), len(system["runs"])) for system in stored["systems"]]
        _ = dict(_digests(stored))
        if not isinstance(stored.get("against"), str):
            raise TypeError("against")
    except (KeyError, TypeError, AttributeError):
        raise InputError("comparison.malformed", "this comparison is not complete", place=Place(str(file))) from None
    if sum(count for _, count in runs) != len(paths):
        raise ConfigError(
            "verify.input_unknown",
            "nobody says where the systems of this comparison are",
            place=Place(str(file)),
            expected=f"{sum(count for _, count in runs)} folders or files, in the order of the comparison",
            found=str(len(paths)),
            advice="add --systems DIR...",
        )
    rest = iter(paths)
    return [SystemSource(name, tuple(next(rest) for _ in range(count))) for name, count in runs]


def _files(sources: Sequence[SystemSource], paths: InputPaths) -> dict[str, Sequence[str]]:
    return {**paths, **{f"system {source.name}": source.paths for source in sources}}


def _digests(report: Any) -> Iterator[tuple[str, list[str]]]:
    """What a comparison says of its inputs: the gold, and what each system made."""
    yield from _items(report.get("gold"))
    for system in report["systems"]:
        made = [digest for run in system["runs"] for _, found in _items(run.get("inputs")) for digest in found]
        yield f"system {system['name']}", made


def _items(digests: Any) -> list[tuple[str, list[str]]]:
    found = digests.items() if isinstance(digests, dict) else ()
    return [(kind, listed) for kind, listed in found if isinstance(listed, list)]


def _compare_page(file: Path, format: str, again: Comparison) -> FileDifference | None:
    if not file.exists():
        return FileDifference(file.name, ABSENT, "a file")
    wanted = render_page(comparison_page(again.report), format).encode("utf-8", "backslashreplace")
    return compare_text(file.name, read_bytes(file, COMPARISON, most=MAX_REPORT_BYTES), wanted)


def _compare_changed(file: Path, again: Comparison) -> FileDifference | None:
    if not file.exists():
        return FileDifference(file.name, ABSENT, "a file")
    try:
        with open(file, "rb", opener=pipe_opener) as stored:
            return compare_records(file.name, stored, again.changed_lines())
    except OSError as problem:
        raise read_failure(str(file), COMPARISON, problem) from None
