"""Run files as values: one JSON value, or JSON Lines in which a bad line costs that line and is named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from orjson import JSONDecodeError, loads

from goldgate.readers.records import decode as decode_slowly


class BadLine(str):
    """Why a line of JSON Lines could not be decoded."""

    __slots__ = ()


class TornLine(BadLine):
    """The same of a last line without an end of line: whoever wrote it did not finish."""

    __slots__ = ()


def decode(data: bytes) -> Any:
    """One JSON value; ValueError, with words for a reader, if it is not."""
    try:
        return loads(data)
    except JSONDecodeError as problem:
        try:
            return decode_slowly(data)  # half a surrogate pair
        except ValueError:
            raise ValueError(_words(problem, data)) from None


def decode_lines(data: bytes) -> Iterator[tuple[int, Any]]:
    """Line number and value of each line that is not blank; a BadLine stands for what is no JSON."""
    lines = data.split(b"\n")
    last = len(lines)
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        try:
            yield number, loads(line)
        except JSONDecodeError:
            if line.isspace():
                continue
            try:
                yield number, decode(line)
            except ValueError as problem:
                yield number, (TornLine if number == last else BadLine)(problem)


def _words(problem: JSONDecodeError, data: bytes) -> str:
    if not data.strip():
        return "the file is empty"
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return f"not UTF-8 text: the byte 0x{data[wrong.start]:02x} at offset {wrong.start}"
    return f"not JSON: {problem.msg} at line {problem.lineno} column {problem.colno}"
