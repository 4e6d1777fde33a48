"""Record files: JSON Lines or a JSON array, plain or gzipped, read at any place, never held in memory.

A record is known by its location (file number and byte offset in one integer) and its
length. Lines are counted only when an error needs one.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import shutil
import tempfile
import zlib
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any, NamedTuple

import orjson

from goldgate.errors import InputError, Place, describe
from goldgate.readers.text_file import cannot_read

OFFSET_BITS = 48
_OFFSET = (1 << OFFSET_BITS) - 1
_BLOCK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_GAP = 16  # bytes between two records that lie side by side: an end of line, a comma, some blanks


class Digest(NamedTuple):
    """What a report says of an input."""

    sha256: str
    samples: int


@dataclass(slots=True)
class RecordFile:
    """One file of records."""

    name: str  # as the user gave it
    kind: str  # gold, predictions
    stored: str  # where its bytes are: under its name or, if it was a pipe, in a copy
    path: str  # where its plain bytes are: the same or, if it is packed, in a copy
    is_array: bool = False
    start: int = 0
    records: int = 0
    copies: list[Any] = field(default_factory=list, repr=False)  # temporary files, there until they are closed

    def close(self) -> None:
        """Remove the copies."""
        for copy in self.copies:
            copy.close()

    def sha256(self) -> str:
        """The digest of the stored bytes, packed or not."""
        with open(self.stored, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()


class RecordStore:
    """Several record files as one: gives the bytes of a record by its location."""

    def __init__(self, files: Sequence[RecordFile]) -> None:
        self.files = list(files)
        self._descriptors: dict[int, int] = {}

    def read(self, location: int, length: int) -> bytes:
        number = location >> OFFSET_BITS
        descriptor = self._descriptors.get(number)
        if descriptor is None:
            descriptor = self._descriptors[number] = os.open(self.files[number].path, os.O_RDONLY)
        data = os.pread(descriptor, length, location & _OFFSET)
        if len(data) != length:
            raise InputError(
                f"{self.files[number].kind}.changed",
                "the file changed while it was being read",
                place=Place(self.files[number].name),
            )
        return data

    def read_many(self, locations: array[int], lengths: array[int]) -> list[bytes]:
        """The bytes of several records; one read where they lie side by side. Length 0 gives b""."""
        if not any(lengths):
            return [b""] * len(lengths)
        first, end = min(locations), max(map(int.__add__, locations, lengths))
        if end - first <= sum(lengths) + len(lengths) * _GAP:
            block = self.read(first, end - first)
            return [block[at - first : at - first + length] for at, length in zip(locations, lengths, strict=True)]
        return [self.read(at, length) if length else b"" for at, length in zip(locations, lengths, strict=True)]

    def at(self, error: InputError, location: int) -> InputError:
        """The error, with the file and line of the record that it was found in."""
        error.place = self.place(location, error.place.field)
        return error

    def place(self, location: int, fieldname: str | None = None) -> Place:
        """The file and line of a record: counted now, because only an error asks."""
        file = self.files[location >> OFFSET_BITS]
        remaining = location & _OFFSET
        line = 1
        with open(file.path, "rb") as stream:
            while remaining > 0 and (block := stream.read(min(_BLOCK, remaining))):
                line += block.count(b"\n")
                remaining -= len(block)
        return Place(file.name, line, fieldname)

    def decode(self, location: int, data: bytes) -> dict[str, Any]:
        """The record as an object; anything else is an error with its line."""
        kind = self.files[location >> OFFSET_BITS].kind
        try:
            value = decode(data)
        except ValueError as problem:
            raise self._not_json(kind, location, data, str(problem)) from None
        if type(value) is not dict:
            raise InputError(
                f"{kind}.not_an_object",
                f"a {kind} record is an object",
                place=self.place(location),
                expected="an object with an id",
                found=describe(value),
            )
        return value

    def sha256s(self) -> list[str]:
        return [file.sha256() for file in self.files]

    def close(self) -> None:
        for descriptor in self._descriptors.values():
            os.close(descriptor)
        self._descriptors.clear()
        for file in self.files:
            file.close()

    def __getstate__(self) -> list[RecordFile]:
        return [RecordFile(f.name, f.kind, f.stored, f.path, f.is_array, f.start, f.records) for f in self.files]

    def __setstate__(self, files: list[RecordFile]) -> None:
        self.__init__(files)  # type: ignore[misc]  # a worker process opens its own descriptors

    def _not_json(self, kind: str, location: int, data: bytes, problem: str) -> InputError:
        try:
            data.decode()
        except UnicodeDecodeError as not_text:
            return InputError(
                f"{kind}.not_utf8",
                "this is not UTF-8 text",
                place=self.place(location),
                found=f"the byte 0x{data[not_text.start]:02x}",
                advice="save the file as UTF-8",
            )
        advice = "each line must hold one whole JSON object"
        if self.files[location >> OFFSET_BITS].is_array:
            advice = "each element of the array must be a JSON object, with a comma between two"
        elif data.strip() == b"{":
            advice += ", or the file one array: is it pretty-printed?"
        elif data.lstrip()[:1] == b"{" and data.rstrip()[-1:] != b"}":
            advice += "; this one seems cut off"
        return InputError(
            f"{kind}.not_json",
            "this record is not JSON",
            place=self.place(location),
            found=problem,
            advice=advice,
        )


_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def decode(data: bytes) -> Any:
    """One JSON value; ValueError if it is not.

    Half of a surrogate pair, which some tokenizers leave behind, becomes U+FFFD.
    """
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        if not _SURROGATE.search(data):
            raise ValueError(str(problem)) from None
    import json

    try:
        text = json.dumps(json.loads(data), ensure_ascii=False)
        return orjson.loads(_HALF_PAIR.sub("\ufffd", text))
    except (ValueError, RecursionError) as problem:
        raise ValueError(str(problem)) from None


def open_records(path: str | Path, kind: str) -> RecordFile:
    """Get a file ready for reading: its form, and plain bytes that can be read at any place."""
    name = str(path)
    file = RecordFile(name, kind, os.path.abspath(path), os.path.abspath(path))
    try:
        with open(path, "rb") as given:
            stream: IO[bytes] = given
            if not S_ISREG(os.fstat(given.fileno()).st_mode):  # a pipe: records must be found again by offset
                stream = _copy(given, file)
                file.stored = file.path = stream.name
            if stream.read(2) == _GZIP:
                stream.seek(0)
                with gzip.GzipFile(fileobj=stream) as packed:
                    file.path = _copy(packed, file).name
        _sniff(file)
        return file
    except (EOFError, zlib.error, gzip.BadGzipFile) as problem:
        file.close()
        raise InputError(
            f"{kind}.bad_gzip", "the compressed file is damaged", place=Place(name), found=str(problem)
        ) from None
    except OSError as problem:
        file.close()
        raise cannot_read(name, kind, problem) from None


def iterate(file: RecordFile) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each record, in order. Blank lines are no records."""
    return _elements(file) if file.is_array else _lines(file)


def _copy(source: IO[bytes] | gzip.GzipFile, file: RecordFile) -> IO[bytes]:
    copy = tempfile.NamedTemporaryFile(prefix="goldgate-")  # noqa: SIM115  # lives as long as its RecordFile
    file.copies.append(copy)
    shutil.copyfileobj(source, copy, _BLOCK)
    copy.flush()
    copy.seek(0)
    return copy


def _sniff(file: RecordFile) -> None:
    """Whether the first character opens an array; published .json files are often JSON Lines."""
    with open(file.path, "rb") as stream:
        head = stream.read(_BLOCK)
    file.start = len(_BOM) if head.startswith(_BOM) else 0
    file.is_array = head[file.start :].lstrip()[:1] == b"["


def _lines(file: RecordFile) -> Iterator[tuple[int, bytes]]:
    with open(file.path, "rb", buffering=_BLOCK) as stream:
        stream.seek(file.start)
        offset = file.start
        for line in stream:
            if not line.isspace():
                yield offset, line
            offset += len(line)


# A string, a piece of structure, or the quotation mark of a string that the buffer does not hold whole.
_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*"|[\[\]{},"]', re.DOTALL)


def _elements(file: RecordFile) -> Iterator[tuple[int, bytes]]:
    """The elements of a JSON array, found by their brackets; each is decoded by whoever reads it."""
    with open(file.path, "rb") as stream:
        stream.seek(file.start)
        buffer = stream.read(_BLOCK)
        base = file.start  # offset of the buffer's first byte
        element = buffer.index(b"[") + 1  # in the buffer
        scanned, depth, want = element, 0, _BLOCK
        while True:
            ended = False
            for token in _TOKEN.finditer(buffer, scanned):
                mark = token.group()
                if mark == b'"':
                    break
                scanned = token.end()
                if mark in (b"[", b"{"):
                    depth += 1
                elif depth == 0 and mark in (b",", b"]"):
                    data = buffer[element : token.start()]
                    blanks = len(data) - len(data.lstrip())  # the record begins, and has its line, after them
                    if blanks < len(data) or mark == b",":
                        yield base + element + blanks, data[blanks:]
                    element = token.end()
                    ended = mark == b"]"
                    if ended:
                        break
                elif mark in (b"]", b"}"):
                    depth -= 1
            if ended:
                if (buffer[scanned:] + stream.read(_BLOCK)).strip():
                    raise _bad_array(file, base + scanned, "something follows the end of the array")
                return
            more = stream.read(want)
            if not more:
                raise _bad_array(file, base + len(buffer), "the array is never closed")
            want = max(_BLOCK, len(buffer) - element)  # a giant element is read in growing steps: linear
            buffer, base, scanned, element = buffer[element:] + more, base + element, scanned - element, 0


def _bad_array(file: RecordFile, offset: int, message: str) -> InputError:
    place = RecordStore([file]).place(offset)
    return InputError(f"{file.kind}.not_json", message, place=place, expected="one JSON array and nothing else")
