"""Gold files read to find every mistake in them, not only the first: what each suite's check shares.

An `error` makes scores wrong or stops an evaluation; a `note` may be meant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

from goldgate.core.finding import record_id
from goldgate.core.gate import Verdict
from goldgate.errors import InputError, Place, describe_value
from goldgate.files.reading import BLOCK
from goldgate.readers.gold_files import ConversionFailure, GoldOpener, LineFlaw, record_flaws
from goldgate.readers.guess import id_problem, is_other_file
from goldgate.readers.records import (
    OFFSET_BITS,
    RecordFile,
    RecordStore,
    decode_json,
    iterate_records,
    json_problem,
    require_unchanged_files,
)

FORMAT_VERSION = 1  # of the JSON form
Severity = Literal["error", "note"]


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


class GoldProblem(NamedTuple):
    """A finding without its place."""

    code: str
    message: str
    field: str | None = None
    severity: Severity = "error"


@dataclass(slots=True)
class GoldCheck:
    """What was read and what was found."""

    records: int = 0
    inputs: list[dict[str, Any]] = field(default_factory=list)
    findings: list[GoldFinding] = field(default_factory=list)

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

    def file(self, file: RecordFile) -> Iterable[GoldFinding]:
        return ()


def check_gold_files(paths: Sequence[str | Path], opener: GoldOpener, check: RecordCheck) -> GoldCheck:
    """Read gold files and check every record. A file that cannot be read at all is an InputError."""
    result, store = GoldCheck(), RecordStore([])
    seen: dict[str, int] = {}  # id → file and line where it was first
    try:
        unconverted: list[list[ConversionFailure]] = []
        flaws: list[list[LineFlaw]] = []
        for path in paths:
            unconverted.append([])
            flaws.append([])
            opener.unconverted, opener.flaws = unconverted[-1], flaws[-1]
            store.files.append(opener(path, "gold"))
        with require_unchanged_files([store]):
            for number, file in enumerate(store.files):
                _report_unconverted(file, unconverted[number], result)
                for line, flaw in flaws[number]:
                    code = f"gold.{flaw.code}"
                    result.findings.append(GoldFinding(code, "error", file.name, line, None, flaw.field, flaw.message))
                _check_file(file, store, number, check, seen, result)
                form = {} if file.form is None else {"form": file.form}
                result.inputs.append({"file": file.name, "records": file.records, **form})
        if not result.records:
            raise InputError("gold.empty", "there are no gold records", place=Place(", ".join(map(str, paths))))
    finally:
        store.close()
    return result


def _report_unconverted(file: RecordFile, unconverted: list[ConversionFailure], result: GoldCheck) -> None:
    """Add the records that are not what their dialect says."""
    for line, error in unconverted:
        file.records += 1
        expected = "" if error.expected is None else f"expected {error.expected}, "
        message = f"{error.message}: {expected}found {error.found}"
        result.findings.append(GoldFinding(error.code, "error", file.name, line, None, error.place.field, message))


def _check_file(
    file: RecordFile, store: RecordStore, number: int, check: RecordCheck, seen: dict[str, int], result: GoldCheck
) -> None:
    base = number << OFFSET_BITS
    _require_records(file, store, base)
    lines = _LineCounter(file)
    try:
        for offset, data in iterate_records(file):
            line = lines.line_of(offset, data)
            file.records += 1
            record, problems = _decoded(data)
            if file.form is None:
                problems += [GoldProblem(code, message, path) for code, path, message in record_flaws(data)]
            identity = None if record is None else record_id(record)
            if record is not None:
                problems += _check_id(record, identity, base + line, seen, store)
                problems += check.record(record, data, file.form)
            result.findings += [
                GoldFinding(f"gold.{code}", severity, file.name, line, identity, path, message)
                for code, message, path, severity in problems
            ]
    except InputError as error:  # an array that is never closed, a record that is too large: the records before count
        if not file.records:
            raise
        parts = (error.message, error.found, error.advice, "what follows is not checked")
        message = "; ".join(filter(None, parts))
        result.findings.append(GoldFinding(error.code, "error", file.name, error.place.line or 1, None, None, message))
    result.records += file.records
    result.findings += check.file(file)


def _require_records(file: RecordFile, store: RecordStore, base: int) -> None:
    """Refuse a file that is something else as a whole, where every line would be a mistake."""
    if file.is_array:
        return
    for offset, data in iterate_records(file):
        record, _ = _decoded(data)
        if record is None and is_other_file(file.name, file.plain.read_some(offset, BLOCK)):
            store.decode(base + offset, data)  # the error that says what it is
        return


class _LineCounter:
    """The line of each record in turn; asking the store would count from the start every time."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file
        self._counted = 0  # bytes
        self._line = 1

    def line_of(self, offset: int, data: bytes) -> int:
        self._line += self._file.newlines(self._counted, offset)
        blank = data[: len(data) - len(data.lstrip())].count(b"\n")  # before an element of an array
        line = self._line + blank
        self._line += data.count(b"\n")
        self._counted = offset + len(data)
        return line


def _decoded(data: bytes) -> tuple[dict[str, Any] | None, list[GoldProblem]]:
    try:
        value = decode_json(data)
    except ValueError:
        problem = json_problem(data)
        where = f"column {problem.column}" + (f" of its line {problem.line}" if problem.line > 1 else "")
        return None, [GoldProblem("not_json", f"this record is not JSON: {problem.message} at {where}")]
    if type(value) is not dict:
        return None, [GoldProblem("not_an_object", f"expected an object with an id, found {describe_value(value)}")]
    return value, []


def _check_id(
    record: Mapping[str, Any], identity: str | None, line: int, seen: dict[str, int], store: RecordStore
) -> Iterator[GoldProblem]:
    """A bad id, or one that an earlier record has. `line` is the number of the file and the line in it, packed."""
    if identity is None:
        expected, actual, advice = id_problem(record)
        yield GoldProblem("bad_id", f"expected {expected}, found {actual}" + (f"; {advice}" if advice else ""), "id")
    elif (first := seen.setdefault(identity, line)) != line:
        place = f"{store.files[first >> OFFSET_BITS].name}:{first & ((1 << OFFSET_BITS) - 1)}"
        yield GoldProblem("duplicate_id", f"duplicate id, already at {place}", "id")
