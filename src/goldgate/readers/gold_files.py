"""Gold files in any dialect: converted to goldgate's own form in a copy, and checked for every mistake in them.

Digests are those of the original file. Of what a check finds, an `error` makes scores wrong or stops an evaluation; a
`note` may be meant.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import orjson

from goldgate.core.finding import Finding, LimitedFindings, record_id
from goldgate.core.gate import Verdict
from goldgate.errors import InputError, Place, describe_value
from goldgate.files.address import STANDARD_INPUT
from goldgate.files.parsing import decode_strictly
from goldgate.files.reading import BLOCK, utf8_advice
from goldgate.files.writing import escape_surrogates
from goldgate.readers.dialects import find_dialect, recognize_dialect_of
from goldgate.readers.dialects.dialect import Dialect, OffsetReading, PlacedWords, choose_reading
from goldgate.readers.guess import bad_id_error, is_other_file
from goldgate.readers.id_index import no_records_error, open_store
from goldgate.readers.layouts import tables
from goldgate.readers.layouts.layout import has_path, value_at
from goldgate.readers.nested_records import extract_records
from goldgate.readers.records import (
    RecordFile,
    copy_records,
    decode_json,
    decode_record,
    iterate_records,
    json_problem,
    open_records,
    read_records,
    records_with_lines,
    replace_surrogate_escapes,
    require_unchanged_files,
    with_leading_id,
)

Severity = Literal["error", "note"]


class GoldProblem(NamedTuple):
    """Something that is wrong, or odd, in a gold record."""

    code: str
    message: str
    field: str | None = None
    severity: Severity = "error"


def load_clusters(path: str | Path) -> dict[str, Any]:
    """Coreference as WikiEvents publishes it: {doc_key, clusters} a line, by `doc_key`."""
    clusters: dict[str, Any] = {}
    with closing(open_records(path, "coref")) as file:
        for record in read_records(file):
            key, lists = record.value.get("doc_key"), record.value.get("clusters")
            if not isinstance(key, str) or not isinstance(lists, list):
                raise InputError(
                    "coref.wrong_type",
                    "this is not coreference as WikiEvents publishes it",
                    place=record.place(),
                    expected='{"doc_key": …, "clusters": [[an id of a mention, …], …]}',
                    found="the keys " + ", ".join(map(str, record.value)),
                )
            clusters[key] = lists
    return clusters


_FLAWS = {  # of a stored record, and what becomes of them
    "duplicate_key": ("duplicate_key", "this key is there twice in one object: the last one counts"),
    "bad_text": ("lone_surrogate", "half of a surrogate pair is not text: it is read as U+FFFD"),
}
_OFFSETS = frozenset({"start", "end", "offset", "trigger_start_index", "argument_start_index"})
_LARGEST_OFFSET = 1 << 53  # beyond it a number is not exact in every program


def record_flaws(data: bytes) -> list[GoldProblem]:
    """Keys that are there twice and halves of surrogate pairs in a record; none in what is not JSON."""
    return [
        GoldProblem(*_FLAWS[code], _field(problem.pointer))
        for code, problem, _ in decode_strictly(data.decode("utf-8", "replace")).flaws
        if code in _FLAWS
    ]


def offset_flaws(value: Any, path: str = "") -> Iterator[GoldProblem]:
    """Numbers under keys for offsets that are no place in any text, such as -1."""
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield from offset_flaws(item, f"{path}[{number}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            inner = f"{path}.{key}".removeprefix(".")
            numbers = item if isinstance(item, list) else [item]
            bad = next(filter(_is_bad_offset, numbers), None) if key in _OFFSETS else None
            if bad is not None:
                yield GoldProblem("offsets_invalid", f"expected an offset from 0 on, found {bad}", inner)
            yield from offset_flaws(item, inner)


def _is_bad_offset(number: Any) -> bool:
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return is_number and not 0 <= number < _LARGEST_OFFSET


def _field(pointer: str) -> str:
    """A JSON pointer as fields are named in errors: events[0].start."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in escape_surrogates(pointer).split("/")[1:]]
    return "".join(f"[{key}]" if key.isdecimal() else f".{key}" for key in keys).removeprefix(".")


class GoldOpener:
    """Opens gold files, in the dialect that is named or in the one that the first record of each is written in.

    `id_field` is a dotted path to the id of records that have no `id`. In dialects, records without an id are numbered
    through all files. With `keep_flaws` the file lists what of a record in a dialect is not carried over as it stands;
    with `skip_unconverted` it lists the records that cannot be converted, of which the first is else an error.
    """

    def __init__(
        self,
        dialect: str | None = None,
        clusters: Mapping[str, Any] = MappingProxyType({}),
        id_field: str | None = None,
        *,
        keep_flaws: bool = False,
        skip_unconverted: bool = False,
    ) -> None:
        self._id_field = id_field
        self.used_id_field = False  # some file had its ids there
        self._is_dialect_set = dialect is not None
        self._dialect = None if dialect is None else find_dialect(dialect)
        self.keep_flaws = keep_flaws
        self.skip_unconverted = skip_unconverted
        self._clusters = clusters  # by the document's id, what is published of it in a file of coreference
        self._records = 0
        self.numbered = False  # some record had no id
        self.findings = LimitedFindings()  # mentions that are not at their offsets
        self.dialects: dict[str, Dialect] = {}  # the dialects of the files, as their offsets were read

    def __call__(self, path: str | Path, kind: str) -> RecordFile:
        file = open_records(path, kind)
        try:
            file = tables.gold_rows(file) if tables.TABLE.recognizes(file) else extract_records(file)
            dialect = self._dialect if self._is_dialect_set else recognize_dialect_of(_decoded_records(file))
            if dialect is None:
                return self._with_ids(file)
            reading = choose_reading(dialect, decoded_at(file), file.place)
            self.dialects[dialect.name] = reading.dialect
            convert = partial(self._convert, reading)
            flaws = partial(_conversion_flaws, reading) if self.keep_flaws else None
            return rewrite_records(file, reading.dialect.name, convert, skip=self.skip_unconverted, flaws_of=flaws)
        except BaseException:
            file.close()
            raise

    def _with_ids(self, file: RecordFile) -> RecordFile:
        """The file with the ids that records have under another name, if the first one has it there."""
        path, record = self._id_field, first_record(file)
        if path is None or not isinstance(record, dict) or "id" in record or not has_path(record, path):
            return file
        self.used_id_field = True

        def choose(record: dict[str, Any]) -> Any:
            return record["id"] if "id" in record else value_at(record, path, kind="gold")

        return rewrite_records(file, file.form, lambda data: with_id(data, choose), skip=self.skip_unconverted)

    def _convert(self, reading: OffsetReading, data: bytes) -> bytes:
        self._records += 1
        published = decode_published(data)
        if self._clusters and isinstance(published, dict):
            published["clusters"] = self._clusters.get(str(published.get("doc_id")))
        record = reading.dialect.convert(published)
        if "id" not in record:
            record = {"id": str(self._records), **record}
            self.numbered = True
        self.findings.add(misplaced_findings(reading, published, str(record["id"])))
        return orjson.dumps(record)


def misplaced_findings(reading: OffsetReading, record: Any, identity: str) -> Iterator[Finding]:
    """A warning for each mention of a gold record that was read without its offsets."""
    for mention in reading.misplaced(record):
        yield Finding("wrong_offsets", "warning", "gold", None, mention.path, _misplaced_message(mention), identity)


def _misplaced_message(mention: PlacedWords) -> str:
    return f"the text does not have {mention}: it is read without offsets"


def _conversion_flaws(reading: OffsetReading, data: bytes) -> Iterator[GoldProblem]:
    """What of a record of a dialect is not carried over as it stands. DuEE's offsets are."""
    yield from record_flaws(data)
    with suppress(ValueError, InputError):
        record = decode_published(data)
        if reading.dialect.name not in ("duee", "duee-fin"):
            yield from offset_flaws(record)
        for mention in reading.misplaced(record):
            yield GoldProblem("wrong_offsets", _misplaced_message(mention), mention.path)
        for path, message in reading.dialect.oddities(record):
            yield GoldProblem("odd_tag", message, path, "note")


def decode_published(data: bytes) -> Any:
    """One JSON value in which NaN, as Python writes it, is null; ValueError if it is not. DocEE has such titles."""
    try:
        return decode_json(data)
    except ValueError:
        if b"NaN" not in data:
            raise
    try:
        return json.loads(replace_surrogate_escapes(data.decode()), parse_constant=lambda _: None)
    except RecursionError:
        raise ValueError("too deep") from None


def first_record(file: RecordFile) -> Any:
    """The first record of a file, decoded; None if there is none, or if it is not JSON."""
    return next(_decoded_records(file), None)


def _decoded_records(file: RecordFile) -> Iterator[Any]:
    """The records of a file, decoded, up to one that is not JSON: reading the file names it, with its place."""
    return (record for _, record in decoded_at(file))


def decoded_at(file: RecordFile) -> Iterator[tuple[int, Any]]:
    """The records of a file as far as they are JSON, decoded, each with its offset."""
    with suppress(InputError, ValueError):
        for offset, data in iterate_records(file):
            yield offset, decode_published(data)


def rewrite_records(
    file: RecordFile,
    form: str | None,
    rewrite: Callable[[bytes], bytes],
    *,
    skip: bool = False,
    flaws_of: Callable[[bytes], Iterable[GoldProblem]] | None = None,
) -> RecordFile:
    """The file with every record rewritten, in a copy; a record keeps its line, unless several share one.

    A record that is not JSON, or that `rewrite` refuses with a ValueError, is an error with its place in the file;
    with `skip`, the copy lists it and goes on.
    """
    flaws: list[tuple[int, GoldProblem]] = []
    unconverted: list[tuple[int, InputError]] = []

    def rewritten() -> Iterator[tuple[int, bytes]]:
        for line, offset, data in records_with_lines(file):
            if flaws_of is not None:
                flaws.extend((line, flaw) for flaw in flaws_of(data))
            try:
                yield line, _rewrite_record(file, offset, data, rewrite)
            except InputError as error:
                if not skip:
                    raise
                unconverted.append((line, error))

    copy = copy_records(file, rewritten(), form)
    copy.flaws, copy.unconverted = flaws, unconverted
    return copy


def _rewrite_record(file: RecordFile, offset: int, data: bytes, rewrite: Callable[[bytes], bytes]) -> bytes:
    try:
        return rewrite(data)
    except InputError as error:
        error.place = file.place(offset, error.place.field)
        raise
    except ValueError:
        decode_record(file, offset, data)  # the error with its place
        raise


def with_id(data: bytes, choose: Callable[[dict[str, Any]], Any]) -> bytes:
    """A record on one line, the id that is chosen for it at its head; ValueError if it is not an object in JSON."""
    record = decode_json(data)
    if type(record) is not dict:
        raise ValueError("not an object")
    return with_leading_id(data, choose(record))


def require_stored_gold(paths: Sequence[str | Path]) -> None:
    """Refuse standard input where gold is read more than once."""
    if STANDARD_INPUT in map(str, paths):
        raise InputError(
            "gold.standard_input",
            "the gold is read more than once here: to ask, and to score the answers",
            place=Place(STANDARD_INPUT),
            expected="a file",
            advice="store it in a file first",
        )


FORMAT_VERSION = 1  # of the JSON form


class GoldFinding(NamedTuple):
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
    """The result of a check of gold: the files, how many records they have, and the findings."""

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
            "suite": "check",
            "status": Verdict.PASS if self.passed else Verdict.FAIL,
            "inputs": self.inputs,
            **read,
            "records": self.records,
            **records,
            "errors": self.errors,
            "notes": len(self.findings) - self.errors,
            "counts": self.counts(),
            "findings": [finding._asdict() for finding in self.findings],
            "error": None,
        }


class RecordCheck:
    """What a suite finds in one record, and in a file when all of its records were seen. By default: nothing."""

    def record(self, record: dict[str, Any], data: bytes, form: str | None) -> Iterable[GoldProblem]:
        """Everything about one record but its id."""
        return ()

    def file(self, form: str | None) -> Iterable[GoldProblem]:
        return ()


def check_gold_files(paths: Sequence[str | Path], opener: GoldOpener, check: RecordCheck) -> GoldCheck:
    """Read gold files and check every record. A file that cannot be read at all is an InputError."""
    result = GoldCheck()
    seen: dict[str, Place] = {}  # id → where it was first
    opener.keep_flaws = opener.skip_unconverted = True
    with closing(open_store(paths, "gold", opener)) as store, require_unchanged_files([store]):
        for file in store.files:
            for line, error in file.unconverted:
                file.records += 1
                expected = "" if error.expected is None else f"expected {error.expected}, "
                message = f"{error.message}: {expected}found {error.found}"
                result.add(file, line, None, GoldProblem(error.code.removeprefix("gold."), message, error.place.field))
            for line, flaw in file.flaws:
                result.add(file, line, None, flaw)
            _check_records(file, check, seen, result)
            result.records += file.records
            for problem in check.file(file.form):
                result.add(file, 1, None, problem)
            form = {} if file.form is None else {"form": file.form}
            result.inputs.append({"file": file.name, "records": file.records, **form})
        if not result.records:
            raise no_records_error("gold", "gold records", store)
    return result


def _check_records(file: RecordFile, check: RecordCheck, seen: dict[str, Place], result: GoldCheck) -> None:
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
            elif identity in seen:
                problems.append(GoldProblem("duplicate_id", f"duplicate id, already at {seen[identity]}", "id"))
            elif identity is not None:
                seen[identity] = Place(file.name, line, record=file.records if file.is_array else None)
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
        try:
            data.decode()
        except UnicodeDecodeError as not_text:
            return None, [GoldProblem("not_utf8", f"this is not UTF-8 text; {utf8_advice(not_text)}")]
        problem, line, column, advice = json_problem(data)
        where = f"column {column}" + (f" of its line {line}" if line > 1 else "") + (f"; {advice}" if advice else "")
        return None, [GoldProblem("not_json", f"this record is not JSON: {problem} at {where}")]
    if type(value) is not dict:
        return None, [GoldProblem("not_an_object", f"expected an object with an id, found {describe_value(value)}")]
    return value, []


def _bad_id(record: Mapping[str, Any]) -> GoldProblem:
    error = bad_id_error(record, "gold", Place())
    advice = f"; {error.advice}" if error.advice else ""
    return GoldProblem("bad_id", f"expected {error.expected}, found {error.found}{advice}", "id")
