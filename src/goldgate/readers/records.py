"""Record files: JSON Lines or a JSON array, plain or gzipped, read at any offset, never held in memory.

A record is found again by its file, its offset and its length. Lines are counted only when an error needs one.
What is in another form is read from a copy with one record per line.
"""

from __future__ import annotations

import gzip
import os
import re
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import orjson

from goldgate.core.finding import record_id
from goldgate.errors import ConfigError, InputError, Place, describe_value
from goldgate.files.address import STANDARD_INPUT, STANDARD_INPUT_NAME, is_url, open_standard_input
from goldgate.files.reading import BLOCK, RandomAccess, copy_to_temporary, open_local, read_failure, utf8_advice
from goldgate.readers.guess import EXPECTED_ID, bad_id_error, binary_advice, binary_format, field_error, guess_format

if TYPE_CHECKING:
    from goldgate.readers.gold_files import GoldProblem

OFFSET_BITS = 48
_OFFSET = (1 << OFFSET_BITS) - 1
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_ARRAY = re.compile(rb"\s*+\[(?!\s*+(?:\"|NaN))")
_LIST_ADVICE = "lists that are read: DocEE's of title, text, event type and arguments, ChFinAnn's of id and document"
LIMIT_VARIABLE = "GOLDGATE_MAX_RECORD_MEGABYTES"
DEFAULT_MEGABYTES = 64
STORED_RECORDS = 4  # a record of a result, with gold, answer and counts, may have 4 times the size of one of them
_MEGABYTE = 1_000_000
UNCHECKED_BYTES = _MEGABYTE  # bytes of a record that is under every limit
_VALUES_RECORDS = 4  # decoded values of a record may take 4 times the memory of its bytes
_VALUE_BYTES = 64  # of a value in memory
_VALUE_MARKS = (b"[", b"{", b",")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_UNLIMITED = 1 << 62
_ADVICE = 'write {"id": …, "response": …} for each answer'
_LEADING_ID = re.compile(rb'\s*\{\s*"id"\s*:\s*"([^"\\]*)"')  # the usual place: saves decoding the line twice
LINE_ENDS_TO_BLANKS = bytes.maketrans(b"\r\n", b"  ")
_GAP = 16  # bytes between two records that lie side by side: an end of line, a comma, some blanks


_ORJSON_INFINITY = "number is infinity"  # orjson's words
_PROBLEM = re.compile(r"(.*): line (\d+) column (\d+) \(char (\d+)\)", re.DOTALL)
_NOT_JSON = {"'": "single quotes are not JSON: write it with json.dumps", "NaN": "NaN is not JSON: write null"}


def json_problem(data: bytes) -> tuple[str, int, int, str | None]:
    """Why `decode_json` refuses these bytes, the line and column in them, from 1, and advice."""
    try:
        decode_json(data.rstrip())
    except ValueError as problem:
        parts = _PROBLEM.fullmatch(str(problem))
        if parts is not None:
            rest = data.decode(errors="replace")[int(parts[4]) :]
            advice = next((text for start, text in _NOT_JSON.items() if rest.startswith(start)), None)
            return parts[1], int(parts[2]), int(parts[3]), advice
        return str(problem), 1, 1, None
    return "not JSON", 1, 1, None


# A backslash and what it escapes; the group is half of a surrogate pair that has lost the other.
_ESCAPED = re.compile(
    r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def replace_surrogate_escapes(text: str) -> str:
    """JSON text in which half of a surrogate pair, which some tokenizers leave behind, is U+FFFD."""
    if "\\ud" not in text and "\\uD" not in text:
        return text
    return _ESCAPED.sub(lambda escaped: "\\ufffd" if escaped[1] else escaped[0], text)


def decode_json(data: bytes) -> Any:
    """One JSON value, with whole surrogate pairs; ValueError if it is not."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        mended = replace_surrogate_escapes(data.decode("utf-8", "surrogateescape"))  # which orjson refuses again
        if mended.encode("utf-8", "surrogateescape") == data:
            raise ValueError(str(problem)) from None
    try:
        return orjson.loads(mended)
    except orjson.JSONDecodeError as problem:
        raise ValueError(str(problem)) from None


@dataclass(slots=True)
class RecordFile:
    """One file of records."""

    stored: RandomAccess  # as it is on disk
    plain: RandomAccess  # its plain bytes: the same or, if it is packed or in another form, a copy
    is_array: bool = False
    start: int = 0
    records: int = 0
    form: str | None = None  # how the records are written on disk, where `plain` has them in another form
    limit: int = _UNLIMITED  # bytes of a record; copies that goldgate made have none, because their originals had
    end: int | None = None  # of an array that is part of a larger value
    counted: tuple[int, int, int] = (0, 1, 0)  # a token of an array, its record's position and its depth
    flaws: list[tuple[int, GoldProblem]] = field(default_factory=list)  # what a copy does not have as stored, by line
    unconverted: list[tuple[int, InputError]] = field(default_factory=list)  # records that a copy lacks, by line

    def newlines(self, begin: int, end: int) -> int:
        """How many lines end between two offsets. Memory does not depend on the distance."""
        count = 0
        while begin < end and (block := self.plain.read_some(begin, min(BLOCK, end - begin))):
            count += block.count(b"\n")
            begin += len(block)
        return count

    @property
    def name(self) -> str:
        return self.stored.name

    @property
    def kind(self) -> str:
        return self.stored.kind

    def place(self, offset: int, fieldname: str | None = None) -> Place:
        """The file and line of an offset, and the record of an array: counted now, because only an error asks."""
        record = _array_position(self, offset) if self.is_array else None
        return Place(self.name, 1 + self.newlines(0, offset), fieldname, record)

    def close(self) -> None:
        self.stored.close()
        self.plain.close()


class LocatedRecord(NamedTuple):
    """A decoded record, the bytes that it was decoded from, and where they are."""

    value: dict[str, Any]
    data: bytes
    file: RecordFile
    offset: int

    def place(self, fieldname: str | None = None) -> Place:
        return self.file.place(self.offset, fieldname)

    def at(self, error: InputError) -> InputError:
        """The error, with the file and line of this record."""
        error.place = self.place(error.place.field)
        return error

    @contextmanager
    def locate_errors(self) -> Iterator[None]:
        """Give every InputError of the block the file and line of this record."""
        try:
            yield
        except InputError as error:
            raise self.at(error) from None

    def require_id(self) -> str:
        """The record's id as text; an integer is its own text."""
        identity = record_id(self.value)
        if identity is None:
            raise bad_id_error(self.value, self.file.kind, self.place("id"))
        return identity

    def require_one_id(self) -> str:
        """The id, which must be the one at the head of the record too: that one joins it, the last one is decoded."""
        identity, head = self.require_id(), leading_id(self.data)
        if head is not None and head != identity.encode():
            raise InputError(
                f"{self.file.kind}.duplicate_key",
                'duplicate key "id" in this record',
                place=self.place("id"),
                expected="one id",
                found=f"{describe_value(head.decode(errors='replace'))} and {describe_value(identity)}",
            )
        return identity


def leading_id(data: bytes) -> bytes | None:
    """The id of a line that begins with it, without decoding the line; None if it has to be decoded."""
    match = _LEADING_ID.match(data)
    return (match.group(1) or None) if match is not None else None


def decode_record(file: RecordFile, offset: int, data: bytes) -> LocatedRecord:
    """The record as an object; anything else is an error with its line."""
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        value = decode_value(file, offset, data)  # a second try, or the error
    if type(value) is dict:
        return LocatedRecord(value, data, file, offset)
    advice = {"predictions": _ADVICE, "gold": _LIST_ADVICE if type(value) is list else None}.get(file.kind)
    raise InputError(
        f"{file.kind}.not_an_object",
        f"a {file.kind} record is an object",
        place=file.place(offset),
        expected="an object with an id",
        found=describe_value(value),
        advice=advice,
    )


def decode_value(file: RecordFile, offset: int, data: bytes, decode: Callable[[bytes], Any] = decode_json) -> Any:
    """The record as any value of JSON; what is not JSON is an error with its line."""
    try:
        return decode(data)
    except ValueError:
        raise _not_json_error(file, offset, data) from None


def read_records(file: RecordFile) -> Iterator[LocatedRecord]:
    """Every record of a file, decoded; one that is not an object is an error."""
    return (decode_record(file, offset, data) for offset, data in iterate_records(file))


def _not_json_error(file: RecordFile, offset: int, data: bytes) -> InputError:
    head = file.plain.read_some(file.start, BLOCK) if offset <= file.start + BLOCK else b""
    is_first = head.lstrip().startswith(data.strip())
    try:
        data.decode()
    except UnicodeDecodeError as not_text:
        foreign = binary_format(head) if is_first else None
        advice = binary_advice(file.name, head) or utf8_advice(not_text)
        return InputError(
            f"{file.kind}.not_utf8",
            "this is not UTF-8 text",
            place=file.place(offset),
            found=foreign or f"the byte 0x{data[not_text.start]:02x}",
            advice=advice if foreign is None else "save it as JSON Lines in UTF-8",
        )
    guess = guess_format(file.name, head) if is_first and not file.is_array else None
    problem, line, column, literal = json_problem(data)
    column += _column(file, offset) - 1 if line == 1 else 0
    actual: str | None = f"{problem} at column {column}"
    message, advice = "this record is not JSON", "each line must hold one whole JSON object"
    if guess is not None:
        (message, advice), actual = guess, None
    elif _ORJSON_INFINITY in problem:
        message, advice = "a number in this record is too large", "write it as a string, or leave it out"
    elif literal is not None:
        advice = literal
    elif file.is_array:
        advice = "each element of the array must be a JSON object, with a comma between two"
    elif data.strip() == b"{":
        advice += ", or the file one array: is it pretty-printed? jq -c . FILE writes an object a line"
    elif data.lstrip()[:1] == b"{" and data.rstrip()[-1:] != b"}":
        advice += "; this one seems cut off"
    place = file.place(offset)._replace(line=file.newlines(0, offset) + line)
    return InputError(f"{file.kind}.not_json", message, place=place, found=actual, advice=advice)


def _column(file: RecordFile, offset: int) -> int:
    """The column, from 1, at which a record begins."""
    begin = max(file.start, offset - BLOCK)
    before = file.plain.read_some(begin, offset - begin)
    return len(before[before.rfind(b"\n") + 1 :].decode(errors="replace")) + 1


class RecordStore:
    """Several record files as one: a location is the number of a file and an offset in it, in one integer."""

    def __init__(self, files: Sequence[RecordFile]) -> None:
        self.files = list(files)

    def read(self, location: int, length: int) -> bytes:
        return self.files[location >> OFFSET_BITS].plain.read(location & _OFFSET, length)

    def decode(self, location: int, data: bytes) -> LocatedRecord:
        """The record that has these bytes; one that is not an object is an error with its line."""
        return decode_record(self.files[location >> OFFSET_BITS], location & _OFFSET, data)

    def place(self, location: int) -> Place:
        return self.files[location >> OFFSET_BITS].place(location & _OFFSET)

    @property
    def name(self) -> str:
        """The names of all files, for a message."""
        return ", ".join(file.name for file in self.files)

    def records(self) -> Iterator[LocatedRecord]:
        """Every record of every file, in order."""
        return (record for file in self.files for record in read_records(file))

    def read_many(self, locations: array[int], lengths: array[int]) -> list[bytes]:
        """The bytes of several records; one read where they lie side by side. Length 0 gives b""."""
        if not any(lengths):
            return [b""] * len(lengths)
        first, end = min(locations), max(map(int.__add__, locations, lengths))
        if end - first <= sum(lengths) + len(lengths) * _GAP:
            block = self.read(first, end - first)
            return [block[at - first : at - first + length] for at, length in zip(locations, lengths, strict=True)]
        return self._read_apart(locations, lengths)

    def _read_apart(self, locations: array[int], lengths: array[int]) -> list[bytes]:
        records = [b""] * len(lengths)
        chosen: dict[int, list[int]] = {}
        for at, length in enumerate(lengths):
            if length:
                chosen.setdefault(locations[at] >> OFFSET_BITS, []).append(at)
        for file, places in chosen.items():
            offsets = [locations[at] & _OFFSET for at in places]
            read = self.files[file].plain.read_each(offsets, [lengths[at] for at in places])
            for at, data in zip(places, read, strict=True):
                records[at] = data
        return records

    def sha256s(self) -> list[str]:
        """The digests of the stored bytes, packed or not, of files that did not change meanwhile."""
        digests = [file.stored.sha256() for file in self.files]
        self.require_unchanged()
        return digests

    def require_unchanged(self, within: float = 0.0) -> None:
        for file in self.files:
            file.stored.require_unchanged(within)

    def close(self) -> None:
        for file in self.files:
            file.close()


def open_records(path: str | Path, kind: str) -> RecordFile:
    """Get a file ready for reading: its form, and plain bytes that can be read at any place."""
    limit = record_limit()
    stored = _open_stored(path, kind)
    try:
        plain = _unpack_gzip(stored) if stored.read_some(0, 2) == _GZIP else stored
        head = plain.read_some(0, BLOCK)
    except BaseException:
        stored.close()
        raise
    start = len(_BOM) if head.startswith(_BOM) else 0
    # Whether the first character opens an array of records: published .json files are often JSON Lines, and the lines
    # of some are lists themselves, which begin with a text.
    return RecordFile(stored, plain, _ARRAY.match(head, start) is not None, start, limit=limit)


def record_limit() -> int:
    """The most bytes of a record or line of an input: 64 MB, or what GOLDGATE_MAX_RECORD_MEGABYTES sets.

    It never changes a number: an input with a larger record is an error.
    """
    text = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not text:
        return DEFAULT_MEGABYTES * _MEGABYTE
    if not (text.isascii() and text.isdigit() and len(text) <= 9 and int(text)):
        raise ConfigError(
            "environment.wrong_value",
            f"the environment variable {LIMIT_VARIABLE} is not a number of megabytes",
            expected=f"a whole number from 1 on; without it {DEFAULT_MEGABYTES}",
            found=describe_value(text),
        )
    return int(text) * _MEGABYTE


def check_value_count(data: bytes, kind: str, place: Callable[[], Place], limit: int) -> None:
    """Refuse JSON of many tiny values: 60 MB of `[],[],…` are 1.8 GB when decoded."""
    most = limit * _VALUES_RECORDS // _VALUE_BYTES
    if sum(map(data.count, _VALUE_MARKS)) <= most:
        return
    values = sum(map(_STRING.sub(b"", data).count, _VALUE_MARKS))
    if values > most:
        error = too_large_error(kind, place(), f"a record of {values:,} values", limit)
        error.expected = f"at most {most:,} values"
        raise error


def check_record_size(file: RecordFile, offset: int, data: bytes) -> None:
    """Refuse a record that begins there and would take too much memory. One of up to 1 MB never does."""
    if len(data) > file.limit:
        raise long_line_error(file, offset)
    check_value_count(data, file.kind, lambda: file.place(offset), file.limit)


def too_large_error(kind: str, place: Place, size: str, limit: int) -> InputError:
    """The error for a record or a line that is larger than `record_limit`."""
    return InputError(
        f"{kind}.too_large",
        "a record is larger than the limit",
        place=place,
        expected=f"at most {limit:,} bytes",
        found=size,
        advice=f"if this is right, set the environment variable {LIMIT_VARIABLE} to more than "
        f"{limit // _MEGABYTE}; memory grows with it",
    )


def bounded_lines(stream: IO[bytes], kind: str, name: str, records: int = 1) -> Iterator[bytes]:
    """The lines of an open file; an error for one that is larger than `records` records may be."""
    limit, number = record_limit() * records, 0
    while line := stream.readline(limit + 1):
        number += 1
        if len(line) > limit:
            raise too_large_error(kind, Place(name, number), f"a line of more than {limit:,} bytes", limit)
        yield line


def long_line_error(file: RecordFile, offset: int) -> InputError:
    """The error for a line that begins there and is over the limit of its file. Its size is measured by reading on."""
    end = offset
    while block := file.plain.read_some(end, BLOCK):
        stop = block.find(b"\n")
        end += len(block) if stop < 0 else stop
        if stop >= 0:
            break
    return too_large_error(file.kind, file.place(offset), f"a line of {end - offset:,} bytes", file.limit)


@contextmanager
def require_unchanged_files(stores: Sequence[RecordStore]) -> Iterator[None]:
    """Whatever is made of the files inside is made of what they were when they were opened, or is an error."""
    try:
        yield
    except Exception:
        for store in stores:
            store.require_unchanged()  # the cause of whatever else was found
        raise
    for store in stores:
        store.require_unchanged()


def iterate_records(file: RecordFile, begin: int = 0, end: int = _UNLIMITED) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each record, in order; of lines those that begin between two offsets and are not blank."""
    return _iterate_array(file) if file.is_array else _iterate_lines(file, max(begin, file.start), end)


def _open_stored(path: str | Path, kind: str) -> RandomAccess:
    if not isinstance(path, (str, Path)):
        raise InputError(
            f"{kind}.wrong_type", "a file is given by its path", expected="a path", found=describe_value(path)
        )
    try:
        if str(path) == STANDARD_INPUT:
            return copy_to_temporary(STANDARD_INPUT_NAME, kind, open_standard_input(kind).read)
        if is_url(path):
            from goldgate.files.remote import open_remote

            return open_remote(str(path), kind)
        file = open_local(path, kind)
        if S_ISREG(os.fstat(file.file.fileno()).st_mode):
            return file
        try:  # a pipe: records must be found again by offset
            return copy_to_temporary(str(path), kind, file.file.read)
        finally:
            file.close()
    except (OSError, ValueError) as problem:
        raise read_failure(str(path), kind, problem) from None


def _unpack_gzip(stored: RandomAccess) -> RandomAccess:
    try:
        with gzip.GzipFile(fileobj=stored.stream()) as packed:
            return copy_to_temporary(stored.name, stored.kind, packed.read)
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        raise InputError(
            f"{stored.kind}.bad_gzip", "the compressed file is damaged", place=Place(stored.name), found=str(problem)
        ) from None


def _iterate_lines(file: RecordFile, begin: int, end: int) -> Iterator[tuple[int, bytes]]:
    offset = begin if begin == file.start else begin - 1  # the byte before tells whether a line begins at `begin`
    with file.plain.stream(offset) as stream:
        if offset < begin:
            before = stream.readline(end - offset)
            if not before.endswith(b"\n"):
                return
            offset += len(before)
        while offset < end and (line := stream.readline(file.limit + 1)):
            if len(line) > UNCHECKED_BYTES:
                check_record_size(file, offset, line)
            if not line.isspace():
                yield offset, line
            else:  # blank lines follow each other: millions of them are passed over at once
                ahead = stream.peek()
                line += stream.read(ahead.rfind(b"\n", 0, len(ahead) - len(ahead.lstrip())) + 1)
            offset += len(line)


# A string, a piece of structure, or the quotation mark of a string that the buffer does not hold whole.
# Possessive: what was read as a string is never read another way, and no place in it is kept for going back.
_TOKEN = re.compile(_STRING.pattern + rb'|[\[\]{},"]', re.DOTALL)
# An object without another bracket is one token here, which takes 40 % less time.
_ELEMENT_TOKEN = re.compile(rb'\{[^"{}\[\]]*+(?:%b[^"{}\[\]]*+)*+\}|' % _STRING.pattern + _TOKEN.pattern, re.DOTALL)


def scan_tokens(file: RecordFile, pattern: re.Pattern[bytes] = _TOKEN, begin: int = 0) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each string and piece of structure in JSON, from the start of the file or a token on.

    The last is a single quotation mark where a string has no end, or is longer than a record may be.
    """
    buffer, base = b"", max(begin, file.start)
    with file.plain.stream(base) as stream:
        # A giant string is read in growing steps: linear.
        while more := stream.read(max(BLOCK, min(len(buffer), file.limit - len(buffer)))):
            buffer += more
            scanned = len(buffer)
            for token in pattern.finditer(buffer):
                if token.group() == b'"':
                    scanned = token.start()
                    break
                yield base + token.start(), token.group()
            buffer, base = buffer[scanned:], base + scanned
            if len(buffer) > file.limit:
                break
    if buffer:
        yield base, b'"'


def _iterate_array(file: RecordFile) -> Iterator[tuple[int, bytes]]:
    """The elements of a JSON array, found by their brackets; they may not be JSON themselves."""
    tokens, depth, limit = scan_tokens(file, _ELEMENT_TOKEN), 0, file.limit
    element = next(tokens)[0] + 1
    for offset, mark in tokens:
        size = offset - element
        if size > limit and (not depth or size > limit + BLOCK):  # its size is measured to its end, if that is near
            raise too_large_error(file.kind, file.place(element), f"an element of at least {size:,} bytes", limit)
        if mark in (b"[", b"{"):
            depth += 1
        elif depth == 0 and mark in (b",", b"]"):
            data = file.plain.read(element, size)
            if len(data) > UNCHECKED_BYTES:
                check_record_size(file, element, data)
            blanks = len(data) - len(data.lstrip())  # the record begins, and has its line, after them
            if blanks < len(data) or mark == b",":
                yield element + blanks, data[blanks:]
            element = offset + 1
            if mark == b"]":
                if file.end is None and file.plain.read_some(element, BLOCK).strip():
                    raise _bad_array_error(file, element, "something follows the end of the array")
                return
        elif mark in (b"]", b"}"):
            depth -= 1
    end = file.plain.size()
    size = end - element
    if size > limit:
        raise too_large_error(file.kind, file.place(element), f"an element of at least {size:,} bytes", limit)
    raise _bad_array_error(file, end, "the array is never closed", "it seems cut off: write the file again")


def _array_position(file: RecordFile, offset: int) -> int:
    """The position in its array, from 1, of the record that begins at an offset."""
    begin, position, depth = file.counted if file.counted[0] <= offset else (0, 1, 0)
    for at, mark in scan_tokens(file, _ELEMENT_TOKEN, begin):  # from where the last one was: errors come in order
        if at >= offset:
            break
        file.counted = at, position, depth
        depth += (mark in (b"[", b"{")) - (mark in (b"]", b"}"))
        position += depth == 1 and mark == b","
    return position


def _bad_array_error(file: RecordFile, offset: int, message: str, advice: str | None = None) -> InputError:
    expected = "one JSON array and nothing else"
    return InputError(f"{file.kind}.not_json", message, place=file.place(offset), expected=expected, advice=advice)


def records_with_lines(file: RecordFile) -> Iterator[tuple[int, int, bytes]]:
    """Line, offset and bytes of each record."""
    line, counted = 1, 0
    for offset, data in iterate_records(file):
        line += file.newlines(counted, offset)
        yield line, offset, data
        line, counted = line + data.count(b"\n"), offset + len(data)


def copy_records(file: RecordFile, records: Iterator[tuple[int, bytes]], form: str | None = None) -> RecordFile:
    """The file with these records, each of one line, in a copy.

    Each comes with the line that it keeps there; it gets the next free one where another has that.
    """

    def blocks() -> Iterator[bytes]:
        written = 1
        for line, record in records:
            for begin in range(written, line, BLOCK):
                yield b"\n" * min(BLOCK, line - begin)
            yield record + b"\n"
            written = max(line, written) + 1

    content = blocks()
    plain = copy_to_temporary(file.name, file.kind, lambda _: next(content, b""))
    if file.plain is not file.stored:
        file.plain.close()
    return RecordFile(file.stored, plain, form=form)


def with_leading_id(data: bytes, identity: object) -> bytes:
    """An object in JSON on one line, with this id at its head and everything else as it is written."""
    inner = data.strip().translate(LINE_ENDS_TO_BLANKS)[1:].lstrip()  # a line end in JSON is outside of strings
    head = b'{"id":' + orjson.dumps(identity)
    return head + inner if inner.startswith(b"}") else head + b"," + inner


def record_group(record: Mapping[str, Any]) -> str | None:
    """The group that a record belongs to, an integer as its digits; None if it stands by itself."""
    group = record.get("group")
    if group is None or (type(group) is str and group):
        return group
    if type(group) is int:
        return str(group)
    message, expected = "a group is named by a string", f"{EXPECTED_ID}, or none at all"
    raise field_error("gold.wrong_type", message, "group", expected, group)
