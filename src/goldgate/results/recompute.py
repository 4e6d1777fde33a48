"""A stored result, made again from its inputs: the same files come out, or it is said where they differ first."""

from __future__ import annotations

import tempfile
import unicodedata
from collections.abc import Iterator
from typing import IO, Literal

from goldgate.core.evaluation import Evaluation, render_json
from goldgate.core.plan import Plan
from goldgate.core.signature import signed
from goldgate.core.suite import Report
from goldgate.core.unit_page import Given
from goldgate.errors import GoldgateError
from goldgate.files.pipe import opener
from goldgate.files.text_file import cannot_read, read_bytes
from goldgate.pipeline import evaluate
from goldgate.readers.stored_result import MOST_BYTES, StoredResult
from goldgate.report import describe, render
from goldgate.report.html.looked import Looked
from goldgate.report.html.page import render_html
from goldgate.report.html.worst import worst_units
from goldgate.results.differences import NOTHING, Difference, compare_json, compare_records, compare_text
from goldgate.results.inputs import Paths, changed_files, used_inputs
from goldgate.results.origin import Origin, origin_of
from goldgate.results.verification import OtherSetting, Verification
from goldgate.suites.worst import WorstUnits

REPORT_HTML = "report.html"
RENDERED: dict[str, Literal["markdown", "junit"]] = {"report.md": "markdown", "junit.xml": "junit"}
_RUN = "run.json: it says when and where, which nobody can work out again"
_GENERATION = "/generation of report.json: it comes from the journal of the answers, not from the predictions"
_ALONE = "only the report was named, so nothing beside it was looked at"


def verify_result(result: StoredResult, paths: Paths, workers: int = 1) -> Verification:
    """Make the result again from these inputs, and compare every file of it.

    Where that fails and an input has changed, the change is the answer; where none has, the error is raised.
    """
    protocol = next(iter(paths["protocol"]), None)
    inputs = {kind: files for kind, files in paths.items() if kind != "protocol"}
    with tempfile.TemporaryFile() as records:
        shown: list[Looked] = []

        def read(offset: int, length: int) -> bytes:
            records.seek(offset)
            return records.read(length)

        def look(evaluation: Evaluation, plan: Plan, given: Given, worst: WorstUnits) -> None:
            shown.append(worst_units(result.suite, plan, evaluation, worst, read, given))

        try:
            again = evaluate(
                result.suite, inputs, protocol,
                workers=workers, written=[str(result.folder)], records=records, finished=look,
            )  # fmt: skip
        except GoldgateError as error:
            changed = changed_files(result.suite, result.report["inputs"], paths)
            if not changed:
                raise
            return Verification("report", result.suite.name, (), inputs=changed, error=error.as_json())
        report = _as_stored(again.report, result.report)
        records.seek(0)
        return _compared(result, report, records, shown[0], paths)


def _compared(result: StoredResult, report: Report, records: IO[bytes], looked: Looked, paths: Paths) -> Verification:
    origin = origin_of(result)
    alone = origin.run is None and not result.records.exists()
    found = [compare_json(result.file.name, result.data, render_json(report), last="inputs")]
    compared = [result.file.name]
    if not alone:
        page = render_html(describe(report), looked).encode()
        found += [*_compare_rendered(result, report), _compare_records(result, records)]
        found.append(_compare_text(result, REPORT_HTML, page))
        compared += [*RENDERED, result.suite.records, REPORT_HTML]
    not_compared = [_ALONE] if alone else [_RUN]
    if "generation" in result.report:
        not_compared.append(_GENERATION)
    return Verification(
        of="report",
        subject=result.suite.name,
        compared=compared,
        differences=[difference for difference in found if difference is not None],
        inputs=used_inputs(result.report["inputs"], report["inputs"], paths),
        settings=[*_other_settings(result, report, origin)],
        not_compared=not_compared,
    )


def _as_stored(report: Report, stored: Report) -> Report:
    """A report of generated answers also says how they came about: that part is taken as it is stored."""
    generation = stored.get("generation")
    if not isinstance(generation, dict):
        return report
    return {**report, "signature": f"{report['signature']}|{generation.get('signature')}", "generation": generation}


def _compare_rendered(result: StoredResult, report: Report) -> Iterator[Difference | None]:
    for name, format in RENDERED.items():
        yield _compare_text(result, name, render(report, format).encode("utf-8", "backslashreplace"))


def _compare_text(result: StoredResult, name: str, wanted: bytes) -> Difference | None:
    file = result.folder / name
    if not file.exists():
        return Difference(name, NOTHING, "a file")
    return compare_text(name, read_bytes(file, "report", most=MOST_BYTES), wanted)


def _compare_records(result: StoredResult, records: IO[bytes]) -> Difference | None:
    name = result.suite.records
    if not result.records.exists():
        return Difference(name, NOTHING, "a file")
    try:
        with open(result.records, "rb", opener=opener) as stored:
            return compare_records(name, stored, records)
    except OSError as problem:
        raise cannot_read(str(result.records), "records", problem) from None


def _other_settings(result: StoredResult, report: Report, origin: Origin) -> Iterator[OtherSetting]:
    """What the signatures tell apart: versions of goldgate, its metrics and its parser, and settings; and Unicode's."""
    stored, now = signed(result.report["signature"]), signed(report["signature"])
    for name in [*stored, *(name for name in now if name not in stored)]:
        if stored.get(name) != now.get(name):
            yield OtherSetting(name, stored.get(name), now.get(name))
    versions = (origin.run or {}).get("versions")
    known = versions.get("unicode") if isinstance(versions, dict) else None
    if type(known) is str and known != unicodedata.unidata_version:
        yield OtherSetting("unicode", known, unicodedata.unidata_version)
