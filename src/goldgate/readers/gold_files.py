"""Gold files in any dialect, converted to goldgate's own form in a copy; digests are those of the original file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import orjson

from goldgate.errors import InputError, Place
from goldgate.files.address import STANDARD_INPUT
from goldgate.files.parsing import decode_strictly
from goldgate.files.writing import escape_surrogates
from goldgate.readers.dialects import find_dialect, recognize_dialect_of
from goldgate.readers.dialects.dialect import Dialect
from goldgate.readers.layouts import table
from goldgate.readers.layouts.layout import has_path, value_at
from goldgate.readers.nested_records import extract_records
from goldgate.readers.records import (
    LINE_ENDS_TO_BLANKS,
    RecordFile,
    copy_records,
    decode_json,
    decode_record,
    iterate_records,
    open_records,
    read_records,
    records_with_lines,
    replace_surrogate_escapes,
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

    def __call__(self, path: str | Path, kind: str) -> RecordFile:
        file = open_records(path, kind)
        if kind == "predictions":
            return file
        try:
            file = table.gold_rows(file) if table.TABLE.recognizes(file) else extract_records(file)
            dialect = self._dialect if self._is_dialect_set else recognize_dialect_of(_decoded_records(file))
            if dialect is None:
                return self._with_ids(file)
            return rewrite_records(
                file, dialect.name, self._rewrite(dialect), skip=self.skip_unconverted, keep_flaws=self.keep_flaws
            )
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

    def _rewrite(self, dialect: Dialect) -> Callable[[bytes], bytes]:
        def rewrite(data: bytes) -> bytes:
            self._records += 1
            published = decode_published(data)
            if self._clusters and isinstance(published, dict):
                published["clusters"] = self._clusters.get(str(published.get("doc_id")))
            record = dialect.convert(published)
            if "id" not in record:
                record = {"id": str(self._records), **record}
                self.numbered = True
            return orjson.dumps(record)

        return rewrite


def _conversion_flaws(data: bytes, form: str | None) -> Iterator[GoldProblem]:
    """What of a record of a dialect is not carried over as it stands. DuEE's offsets are."""
    yield from record_flaws(data)
    if form not in ("duee", "duee-fin"):
        with suppress(ValueError):
            yield from offset_flaws(decode_published(data))


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
    with suppress(InputError, ValueError):
        for _, data in iterate_records(file):
            yield decode_published(data)


def rewrite_records(
    file: RecordFile,
    form: str | None,
    rewrite: Callable[[bytes], bytes],
    *,
    skip: bool = False,
    keep_flaws: bool = False,
) -> RecordFile:
    """The file with every record rewritten, in a copy; a record keeps its line, unless several share one.

    A record that is not JSON, or that `rewrite` refuses with a ValueError, is an error with its place in the file;
    with `skip`, the copy lists it and goes on.
    """
    flaws: list[tuple[int, GoldProblem]] = []
    unconverted: list[tuple[int, InputError]] = []

    def rewritten() -> Iterator[tuple[int, bytes]]:
        for line, offset, data in records_with_lines(file):
            if keep_flaws:
                flaws.extend((line, flaw) for flaw in _conversion_flaws(data, form))
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
    """A record on one line, with the id that is chosen for it at its head and everything else as it is written.

    ValueError if it is not an object in JSON, in which alone every line end is outside of strings and means nothing.
    """
    record = decode_json(data)
    if type(record) is not dict:
        raise ValueError("not an object")
    inner = data.strip().translate(LINE_ENDS_TO_BLANKS)[1:].lstrip()
    head = b'{"id":' + orjson.dumps(choose(record))
    return head + inner if inner.startswith(b"}") else head + b"," + inner


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
