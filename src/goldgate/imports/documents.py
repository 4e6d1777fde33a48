"""The JSON values of trace files, one at a time: JSON Lines, arrays, one object over many lines, packed or not."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from goldgate.errors import InputError, Place
from goldgate.files.pipe import foreign_files
from goldgate.files.text_file import cannot_read
from goldgate.imports.span import Broken
from goldgate.readers.records import (
    RecordFile,
    RecordStore,
    check_record,
    decode,
    iterate,
    long_line,
    open_records,
    too_large,
)

KIND = "trace"
_BRACE_LINE = 16  # bytes of a line with a brace and nothing else
_MARK = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[{}]')  # strings, so that braces in them are passed over
_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz")


def files_of(paths: Sequence[str]) -> Iterator[tuple[str, str | None]]:
    """The named files; of a folder, those in it that end as JSON files do, in the order of their names.

    Each comes with the reason why it must not be read, if there is one: see `foreign_files`.
    """
    for path in dict.fromkeys(paths):
        if not os.path.isdir(path):
            yield path, None
            continue
        try:
            files = foreign_files(path, _ENDINGS)
        except OSError as problem:
            raise cannot_read(path, KIND, problem) from None
        if not files:
            raise InputError(
                f"{KIND}.no_files",
                "this folder has no file with traces",
                place=Place(path),
                expected="files that end in " + ", ".join(_ENDINGS),
            )
        yield from files


def documents(path: str) -> Iterator[tuple[Callable[[], int | None], Any]]:
    """Each value of a file and a way to its line: JSON Lines, the items of an array, or one object over many lines."""
    file = open_records(path, KIND)
    try:
        lines = _Lines(file)
        try:
            if not file.is_array and not _is_printed(file) and (whole := _whole(file)) is not None:
                yield partial(lines.at, 0), whole
                return
            for offset, data in _printed(file) if _is_printed(file) else iterate(file):
                yield partial(lines.at, offset), _decoded(data)
        except InputError as problem:  # an array breaks off, a record is too large: the records before it count
            line = problem.place.line
            reason = "; ".join(filter(None, (problem.message, problem.found, problem.advice)))
            yield lambda: line, Broken(f"{reason}; the rest of the file is not read")
    finally:
        file.close()


def _is_printed(file: RecordFile) -> bool:
    """Whether objects are printed over many lines, one behind the other, as the console exporters of SDKs do."""
    with file.plain.stream(file.start) as stream:
        return stream.readline(_BRACE_LINE).strip() == b"{"


def _printed(file: RecordFile) -> Iterator[tuple[int, bytes]]:
    """Offset and bytes of each printed object. A line `{` at the margin begins the next, also where one breaks off."""
    begin = offset = file.start
    lines: list[bytes] = []
    depth = 0
    stream = file.plain.stream(file.start)
    while line := stream.readline(file.limit + 1):
        if len(line) > file.limit:
            raise long_line(file, offset)
        if lines and (depth <= 0 or line.rstrip() == b"{"):
            yield begin, _joined(file, begin, lines)
            lines, depth = [], 0
        if lines or not line.isspace():
            begin = begin if lines else offset
            lines.append(line)
            marks = _MARK.findall(line)
            depth += marks.count(b"{") - marks.count(b"}")
        offset += len(line)
        if offset - begin > file.limit and lines:
            found = f"an object of at least {offset - begin:,} bytes"
            raise too_large(KIND, RecordStore([file]).place(begin), found, file.limit)
    if lines:
        yield begin, _joined(file, begin, lines)


def _joined(file: RecordFile, begin: int, lines: list[bytes]) -> bytes:
    data = b"".join(lines)
    check_record(file, begin, data)
    return data


class _Lines:
    """The lines of a file, counted only where one is asked for, and every byte at most once."""

    def __init__(self, file: RecordFile) -> None:
        self._file = file
        self._offset, self._line = 0, 1

    def at(self, offset: int) -> int:
        self._line += self._file.newlines(self._offset, offset)
        self._offset = max(self._offset, offset)
        return self._line


def _decoded(data: bytes) -> Any:
    try:
        return decode(data)
    except ValueError as problem:
        return Broken(f"not JSON: {problem}")


def _whole(file: RecordFile) -> Any:
    """The object that the file is as a whole; None if its first line is a record, or it is nothing at all."""
    begin, size = file.start, file.plain.size() - file.start
    head = [data for _, data in islice(iterate(file), 2)]
    if len(head) < 2 or (head[0].rstrip()[-1:] in (b"}", b"]") and not isinstance(_decoded(head[0]), Broken)):
        return None
    if size > file.limit:
        if not isinstance(_decoded(head[1]), Broken):
            return None  # JSON Lines of which the first is damaged
        raise too_large(KIND, Place(file.name, 1), f"one object over many lines, of {size:,} bytes", file.limit)
    data = file.plain.read(begin, size)
    check_record(file, begin, data)
    value = _decoded(data)
    return value if isinstance(value, dict) else None
