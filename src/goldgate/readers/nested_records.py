"""Records inside a larger JSON value: pretty-printed, in a list under a key, or by id.

A list is read where it is, everything else from a copy with one record per line. One record at a time is in memory.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile
from typing import Any, NamedTuple

from goldgate.files.reading import BLOCK
from goldgate.readers.dialects import all_dialects
from goldgate.readers.guess import RESPONSE_NAMES, likely_id_key
from goldgate.readers.records import (
    LINE_ENDS_TO_BLANKS,
    RecordFile,
    copy_records,
    decode_json,
    decode_record,
    decode_value,
    scan_tokens,
    too_large_error,
    with_leading_id,
)

# Lists of records are under these names, whatever else there is beside them.
_LIST_KEYS = frozenset(
    "documents docs data records samples examples items instances rows entries gold predictions results outputs "
    "responses".split()
)
_ANSWER_KEYS = frozenset({"events", "event_list", "response", "messages", "choices"})
_OWN_KEYS = _ANSWER_KEYS | {"id", "text", "tokens", "sentence"}  # dialects name theirs
_QUESTION_KEYS = ("prompt", "label", "input", "instruction", "question")
_EVENT_KEYS = frozenset({"event_type", "type", "arguments"})
_MAX_KEYS = 1_000  # keys of a value that are remembered beside the usual ones: ids may be millions
_MAX_DEPTH = 1_100  # brackets within each other: no decoder reads a record of more than 1,024
_VALUE = re.compile(rb"\s*+:\s*+")


def extract_records(file: RecordFile, names: Collection[str] = ()) -> RecordFile:
    """The file with one record per line, or an array; the file itself if it is one of these, or not JSON.

    `names` are keys of records beside the usual ones.
    """
    if file.is_array or not _is_one_value(file):
        return file
    try:
        keys = _OWN_KEYS.union(names, *(dialect.keys for dialect in all_dialects()))
        return _choose_records(file, _outline(file, keys), keys)
    except ValueError:  # the error with its place comes from reading the lines
        return file


def _choose_records(file: RecordFile, outline: _Outline, record_keys: Collection[str]) -> RecordFile:
    """The records of a file with this outline: in a list, by id, or the values themselves."""
    is_record = bool(_ANSWER_KEYS & outline.names) or any(
        dialect.keys and outline.names.issuperset(dialect.keys) for dialect in all_dialects()
    )
    lists = _LIST_KEYS & outline.lists.keys()
    if len(lists) == 1 and not is_record:
        return _list_in(file, outline.lists[min(lists)])
    has_record_key = not outline.names.isdisjoint(record_keys) or likely_id_key(dict.fromkeys(outline.names))
    if outline.values == 1 and not has_record_key:
        if _is_by_id(file, outline, record_keys):
            return _copy_values(file, (part for part in _parts(file) if part.key is not None))
        if len(outline.lists) == 1:
            return _list_in(file, *outline.lists.values())
    if outline.values == 1 and b"\n" not in file.plain.read_some(file.start, BLOCK).strip():
        return file
    return _copy_values(file, (part for part in _parts(file) if part.key is None))


class _Part(NamedTuple):
    """A value in a file, from byte to byte; with a key, it is a member of the first value."""

    key: bytes | None
    start: int
    end: int


@dataclass(slots=True)
class _Outline:
    """The values of a file, and the keys and members of the first one."""

    values: int = 0
    names: set[str] = field(default_factory=set)  # keys of the first value, of very many the first and the usual ones
    lists: dict[str, _Part] = field(default_factory=dict)  # its lists of objects: two, and those with a usual name
    kinds: set[bytes] = field(default_factory=set)  # the first characters of its members
    first: _Part | None = None  # its first member that is not empty


def _is_one_value(file: RecordFile) -> bool:
    """Whether the file is one JSON value: its first object is not one of several lines."""
    head = file.plain.read_some(file.start, BLOCK)
    line, end, rest = head.lstrip().partition(b"\n")
    if not line.startswith(b"{"):
        return False
    if not end and len(head) == BLOCK:  # a long first line: does another one follow?
        with file.plain.stream(file.start + len(head)) as stream:
            while (block := stream.read(BLOCK)) and not end:
                _, end, rest = block.partition(b"\n")
            return not (rest + block).strip()
    try:
        decode_json(line)
    except ValueError:
        return line.rstrip().endswith((b"{", b"[", b","))  # pretty-printed
    return not rest.strip()


def _outline(file: RecordFile, record_keys: Collection[str]) -> _Outline:
    """The keys and lists of the first value; ValueError if brackets do not match, or text is between two values."""
    outline = _Outline()
    for part in _parts(file):
        if part.key is None:
            outline.values += 1
            continue
        name = decode_json(part.key)
        head = file.plain.read_some(part.start, 64)[: part.end - part.start]
        if len(outline.names) < _MAX_KEYS or name in _LIST_KEYS or name in record_keys:
            outline.names.add(name)
        outline.kinds.add(head[:1])
        is_list = head[:1] == b"[" and head[1:].lstrip()[:1] == b"{"
        if is_list and (len(outline.lists) < 2 or name in _LIST_KEYS):
            outline.lists[name] = part
        if outline.first is None and head[1:].strip() not in (b"]", b"}", b"ull"):
            outline.first = part
    return outline


def _is_by_id(file: RecordFile, outline: _Outline, names: Collection[str]) -> bool:
    """Whether the keys of the one value are ids: of records, of lists of events, or of responses."""
    kinds = outline.kinds - {b"n"}  # null
    first = outline.first
    if first is None or len(kinds) != 1:
        return False
    if kinds == {b'"'}:
        is_answer = re.search(rb"[\[{]", _read(file, first)) is not None
        return (
            file.kind == "predictions" and is_answer and not outline.names & {*names, *RESPONSE_NAMES, *_QUESTION_KEYS}
        )
    if kinds == {b"{"}:
        return not decode_record(file, first.start, _read(file, first)).value.keys().isdisjoint(names)
    return kinds == {b"["} and not _EVENT_KEYS.isdisjoint(_first_keys(file, first))


def _first_keys(file: RecordFile, array: _Part) -> Collection[str]:
    """The keys of the first object in a list."""
    inner = RecordFile(file.stored, file.plain, start=array.start + 1)
    return {decode_json(part.key) for part in takewhile(lambda part: part.key is not None, _parts(inner)) if part.key}


def _parts(file: RecordFile) -> Iterator[_Part]:
    """The members of the first value, then every value."""
    key, closing, begin, key_end, depth, values, after = None, b"", 0, 0, 0, 0, file.start
    for at, mark in scan_tokens(file):
        if mark == b'"':
            raise ValueError("a string is not closed, or too long")
        if mark in (b"{", b"["):
            if not depth:
                _require_blank(file, after, at)
                begin, closing = at, b"}" if mark == b"{" else b"]"
            depth += 1
        elif depth == 1 and not values and mark in (b",", b"}", b"]"):
            if key is not None:
                yield _member(file, key, key_end, at)
            key = None
        elif depth == 1 and not values and key is None:
            key, key_end = mark, at + len(mark)
        if mark in (b"}", b"]"):
            depth -= 1
            if not depth:
                if mark != closing:
                    raise ValueError("brackets do not match")
                values, after = values + 1, at + 1
                yield _Part(None, begin, after)
        if depth > _MAX_DEPTH:
            raise ValueError("nested too deeply")
        if depth < 0 or (not depth and mark not in (b"}", b"]")):
            raise ValueError("there is text between two values")
    _require_blank(file, after, file.plain.size())
    if depth:
        raise ValueError("the last value is not closed")


def _require_blank(file: RecordFile, begin: int, end: int) -> None:
    if end - begin > BLOCK or file.plain.read(begin, end - begin).strip():
        raise ValueError("there is text between two values")


def _member(file: RecordFile, key: bytes, key_end: int, end: int) -> _Part:
    colon = _VALUE.match(file.plain.read_some(key_end, min(64, end - key_end)))
    if colon is None:
        raise ValueError("a key without a value")
    return _Part(key, key_end + colon.end(), end)


def _list_in(file: RecordFile, part: _Part) -> RecordFile:
    """The file with the records of a list in it, which are read where they are."""
    return replace(file, is_array=True, start=part.start, end=part.end)


def _copy_values(file: RecordFile, parts: Iterator[_Part]) -> RecordFile:
    """The records that these parts are, each on its line."""

    def records() -> Iterator[tuple[int, bytes]]:
        line, counted = 1, 0
        for part in parts:
            data = _read(file, part)
            value = decode_value(file, part.start, data)
            line += file.newlines(counted, part.start)
            counted = part.start
            yield line, _record_line(file.kind, part.key, value, data.strip().translate(LINE_ENDS_TO_BLANKS))

    return copy_records(file, records())


def _read(file: RecordFile, part: _Part) -> bytes:
    """The bytes of a record; too many of them are an error, for they are held in memory."""
    size = part.end - part.start
    if size > file.limit:
        raise too_large_error(file.kind, file.place(part.start), f"an object of {size:,} bytes", file.limit)
    return file.plain.read(part.start, size)


def _record_line(kind: str, key: bytes | None, value: Any, data: bytes) -> bytes:
    if key is None or (isinstance(value, dict) and "id" in value):
        return data
    if not isinstance(value, dict):
        name = b"events" if isinstance(value, list) or kind != "predictions" else b"response"
        data = b'{"' + name + b'":' + data + b"}"
    return with_leading_id(data, decode_json(key))
