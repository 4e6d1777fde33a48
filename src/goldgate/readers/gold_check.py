"""Gold files read to find every mistake in them, not only the first: what each suite's check shares.

An `error` makes scores wrong or stops an evaluation; a `note` may be meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from goldgate.core.finding import record_id
from goldgate.core.gate import Verdict
from goldgate.errors import InputError, Place, describe_value
from goldgate.files.reading import BLOCK
from goldgate.readers.gold_files import GoldOpener, GoldProblem, Severity, record_flaws
from goldgate.readers.guess import id_problem, is_other_file
from goldgate.readers.id_index import open_store
from goldgate.readers.records import (
    OFFSET_BITS,
    RecordFile,
    decode_json,
    decode_record,
    json_problem,
    records_with_lines,
    require_unchanged_files,
)

FORMAT_VERSION = 1  # of the JSON form


@dataclass(frozen=True, slots=True)
class GoldFinding:
    """One thing that is wrong, or odd, with the gold."""

    code: str
    severity: Severity
    file: str
    line: int
    id: str | None
    field: str | None
    message: str


@dataclass(slots=True)
class GoldCheck:
    """What was read and what was found."""

    records: int = 0
    inputs: list[dict[str, Any]] = field(default_factory=list)
    findings: list[GoldFinding] = field(default_factory=list)

    def add(self, file: RecordFile, line: int, identity: str | None, problem: GoldProblem) -> None:
        code, message, path, severity = problem
        self.findings.append(GoldFinding(f"gold.{code}", severity, file.name, line, identity, path, message))

    @property
    def errors(self) -> int:
        return sum(finding.severity == "error" for finding in self.findings)

    @property
    def passed(self) -> bool:
        return not self.errors

    def counts(self) -> dict[str, int]:
        """How often each code was found, by code."""
        return dict(sorted(Counter(finding.code for finding in self.findings).items()))

    def as_json(self, read: Mapping[str, Any], records: Mapping[str, Any]) -> dict[str, Any]:
        """The check as a report; `read` is what a suite says of the inputs, `records` of what is in them."""
        return {
            "format_version": FORMAT_VERSION,
            "suite": "check-gold",
            "status": Verdict.PASS if self.passed else Verdict.FAIL,
            "inputs": self.inputs,
            **read,
            "records": self.records,
            **records,
            "errors": self.errors,
            "notes": len(self.findings) - self.errors,
            "counts": self.counts(),
            "findings": [asdict(finding) for finding in self.findings],
            "error": None,
        }


class RecordCheck:
    """What a suite finds in one record, and in a file when all of its records were seen. Without more: nothing."""

    def record(self, record: dict[str, Any], data: bytes, form: str | None) -> Iterable[GoldProblem]:
        """Everything about one record but its id."""
        return ()

    def file(self, form: str | None) -> Iterable[GoldProblem]:
        return ()


def check_gold_files(paths: Sequence[str | Path], opener: GoldOpener, check: RecordCheck) -> GoldCheck:
    """Read gold files and check every record. A file that cannot be read at all is an InputError."""
    result = GoldCheck()
    seen: dict[str, int] = {}  # id → file and line where it was first
    opener.keep_flaws = opener.skip_unconverted = True
    with closing(open_store(paths, "gold", opener)) as store, require_unchanged_files([store]):
        for number, file in enumerate(store.files):
            for line, error in file.unconverted:
                file.records += 1
                expected = "" if error.expected is None else f"expected {error.expected}, "
                message = f"{error.message}: {expected}found {error.found}"
                result.add(file, line, None, GoldProblem(error.code.removeprefix("gold."), message, error.place.field))
            for line, flaw in file.flaws:
                result.add(file, line, None, flaw)
            _check_records(store.files, number, check, seen, result)
            result.records += file.records
            for problem in check.file(file.form):
                result.add(file, 1, None, problem)
            form = {} if file.form is None else {"form": file.form}
            result.inputs.append({"file": file.name, "records": file.records, **form})
        if not result.records:
            raise InputError("gold.empty", "there are no gold records", place=Place(", ".join(map(str, paths))))
    return result


def _check_records(
    files: Sequence[RecordFile], number: int, check: RecordCheck, seen: dict[str, int], result: GoldCheck
) -> None:
    file, base = files[number], number << OFFSET_BITS
    try:
        for line, offset, data in records_with_lines(file):
            record, problems = _decoded(data)
            if record is None and not file.records and not file.is_array:
                _require_record_file(file, offset, data)
            file.records += 1
            if file.form is None:
                problems += record_flaws(data)
            identity = None if record is None else record_id(record)
            if record is not None and identity is None:
                problems.append(_bad_id(record))
            elif identity is not None and (first := seen.setdefault(identity, base + line)) != base + line:
                place = f"{files[first >> OFFSET_BITS].name}:{first & ((1 << OFFSET_BITS) - 1)}"
                problems.append(GoldProblem("duplicate_id", f"duplicate id, already at {place}", "id"))
            if record is not None:
                problems += check.record(record, data, file.form)
            for problem in problems:
                result.add(file, line, identity, problem)
    except InputError as error:  # an array that is never closed, a record that is too large: the records before count
        if not file.records:
            raise
        parts = (error.message, error.found, error.advice, "what follows is not checked")
        problem = GoldProblem(error.code.removeprefix("gold."), "; ".join(filter(None, parts)))
        result.add(file, error.place.line or 1, None, problem)


def _require_record_file(file: RecordFile, offset: int, data: bytes) -> None:
    """Refuse a file that is something else as a whole, where every line would be a mistake."""
    if is_other_file(file.name, file.plain.read_some(offset, BLOCK)):
        decode_record(file, offset, data)  # the error that says what it is


def _decoded(data: bytes) -> tuple[dict[str, Any] | None, list[GoldProblem]]:
    try:
        value = decode_json(data)
    except ValueError:
        problem, line, column = json_problem(data)
        where = f"column {column}" + (f" of its line {line}" if line > 1 else "")
        return None, [GoldProblem("not_json", f"this record is not JSON: {problem} at {where}")]
    if type(value) is not dict:
        return None, [GoldProblem("not_an_object", f"expected an object with an id, found {describe_value(value)}")]
    return value, []


def _bad_id(record: Mapping[str, Any]) -> GoldProblem:
    expected, actual, advice = id_problem(record)
    return GoldProblem("bad_id", f"expected {expected}, found {actual}" + (f"; {advice}" if advice else ""), "id")
