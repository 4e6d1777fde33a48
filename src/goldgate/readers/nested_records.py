"""Records in a list under a usual key of one JSON object, as in `{"version": 1, "data": […]}`: read where they are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from goldgate.files.reading import BLOCK
from goldgate.readers.dialects import all_dialects
from goldgate.readers.records import RecordFile, decode_json, scan_tokens

_LIST_KEYS = frozenset(
    "documents docs data records samples examples items instances rows entries gold predictions results outputs "
    "responses".split()
)
_RECORD_KEYS = frozenset({"events", "event_list", "response", "messages", "choices", "value"})
_OBJECTS = re.compile(rb"\[\s*+[\{\]]")  # or none
_MAX_DEPTH = 1_100  # brackets within each other: no decoder reads a record of more than 1,024


def extract_records(file: RecordFile) -> RecordFile:
    """The file as the list of objects that one of the usual keys of its only object has; else the file itself."""
    if file.is_array or not file.plain.read_some(file.start, BLOCK).lstrip().startswith(b"{"):
        return file
    forms = [set(dialect.keys) for dialect in all_dialects() if dialect.keys]
    usual, names, lists = _LIST_KEYS.union(_RECORD_KEYS, *forms), set(), []
    try:
        for key, begin, end in _members(file):
            if (name := decode_json(key)) in usual:
                names.add(name)
                if name in _LIST_KEYS and _OBJECTS.match(file.plain.read_some(begin, BLOCK)):
                    lists.append((begin, end))
    except ValueError:  # the error with its place comes from reading the lines
        return file
    is_record = not names.isdisjoint(_RECORD_KEYS) or any(form <= names for form in forms)
    if is_record or len(lists) != 1:
        return file
    return replace(file, is_array=True, start=lists[0][0], end=lists[0][1])


def _members(file: RecordFile) -> Iterator[tuple[bytes, int, int]]:
    """The keys of a file's one object, and where the list or object under each begins and ends; 0 for other values.

    ValueError if brackets do not match, or something follows.
    """
    key, begin, end, depth = b"", 0, 0, 0
    for at, mark in scan_tokens(file):
        if mark in (b"{", b"["):
            depth += 1
            begin = at if depth == 2 else begin
        elif mark in (b"}", b"]"):
            depth -= 1
            end = at + 1
        elif depth == 1 and mark != b",":
            key = key or mark
        if depth == 0 or (depth == 1 and mark == b","):
            if key:
                yield key, begin, end if begin else 0
            key, begin = b"", 0
        if depth == 0 and mark == b"}" and not file.plain.read_some(at + 1, BLOCK).strip():
            return
        if mark == b'"' or not 0 < depth <= _MAX_DEPTH:
            break
    raise ValueError("this is not one object")
