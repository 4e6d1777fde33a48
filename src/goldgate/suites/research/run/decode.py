"""Run files as values: one JSON value, or JSON Lines in which a bad line costs that line and is named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from io import BytesIO
from typing import Any

from orjson import JSONDecodeError, dumps, loads

from goldgate.files import strict_json
from goldgate.readers.records import decode as decode_slowly

MOST_BAD_LINES = 100_000  # of one file; each takes as long as a hundred lines that are right
_COLON_AS_ESCAPE = b"\\u003"


class BadLine(str):
    """Why a line of JSON Lines could not be decoded."""

    __slots__ = ()


class Ambiguous(BadLine):
    """The same of a line that can be read in two ways: a key is there twice, or may be, in the depths of the line."""

    __slots__ = ()


class Unread(Ambiguous):
    """Why the rest of a file is not read."""

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


def same(one: object, other: object) -> bool:
    """Whether two decoded values are equal; two that are nested too deeply to compare are not."""
    try:
        return one == other
    except RecursionError:
        return False


def repeated_key(data: bytes, value: Any) -> str | None:
    """A key that stands twice in one object of the file, where there is one: the value holds the last of the two.

    ValueError if the file is nested too deeply to look.
    """
    if keeps_keys(data, value):
        return None
    try:
        return strict_json.repeated_key(data)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None


def keeps_keys(data: bytes, value: Any) -> bool:
    """Whether no key of the file was lost when it was decoded, fast; False is no answer."""
    try:
        written = dumps(value)
    except TypeError:  # too deep, or half a surrogate pair
        return False
    return written == data or _has_colons_of(data, written)


def keeps_keys_of_lines(data: bytes, values: list[Any]) -> bool:
    """The same of JSON Lines and the values of all lines."""
    try:
        written = dumps(values)
    except TypeError:
        return False
    # As a list without blanks the file has a comma for each end of line.
    end = len(data) - data.endswith(b"\n")
    alike = len(written) - len(b"[]") == end
    return (alike and written[1:-1] == data[:end].replace(b"\n", b",")) or _has_colons_of(data, written)


def _has_colons_of(data: bytes, written: bytes) -> bool:
    """Whether the values, written again, have as many colons as the file, as they have unless a key was lost.

    Those in strings are the same, where none is written as an escape.
    """
    if b"\\" in data and _COLON_AS_ESCAPE in data:  # a single byte is found in no time
        return False
    return _colons(data) == _colons(written)


def _colons(data: bytes) -> int:
    """How many there are: taking them out is three times as fast as `count`, which looks at byte after byte."""
    return len(data) - len(data.replace(b":", b""))


def decode_lines(data: bytes) -> Iterable[tuple[int, Any]]:
    """Line number and value of each line that is not blank; a BadLine stands for what is no JSON or ambiguous."""
    values = decode_plain_lines(data)
    if values is not None:
        return enumerate(values, 1)
    return decode_each_line(data)


def decode_plain_lines(data: bytes) -> list[Any] | None:
    """The values of all lines, where every line is right, as nearly always; None is no answer."""
    try:
        values = [*map(loads, BytesIO(data))]  # which looks for the ends of lines faster than `split`
    except JSONDecodeError:
        return None
    return values if keeps_keys_of_lines(data, values) else None


def decode_once(data: bytes) -> Any:
    """One JSON value, or a BadLine: for what counts only if it can be read in one way."""
    try:
        value = decode(data)
    except ValueError as problem:
        return BadLine(problem)
    try:
        twice = repeated_key(data, value)
    except ValueError as problem:
        return Ambiguous(problem)
    if twice is not None:
        return Ambiguous(f"duplicate key {twice!r}: it is not clear which of the two counts")
    return value


def decode_each_line(data: bytes) -> Iterator[tuple[int, Any]]:
    """The rule of `decode_lines`, line by line."""
    bad = 0
    for number, line in enumerate(BytesIO(data), 1):
        if line.isspace():
            continue
        value = decode_once(line.removesuffix(b"\n"))
        if isinstance(value, BadLine):
            bad += 1
            if bad > MOST_BAD_LINES:
                yield number, Unread(f"more than {MOST_BAD_LINES:,} lines cannot be read: the rest is left unread")
                return
            if type(value) is BadLine and not line.endswith(b"\n"):  # only the last line can be torn
                value = TornLine(value)
        yield number, value


def _words(problem: JSONDecodeError, data: bytes) -> str:
    if not data.strip():
        return "the file is empty"
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return f"not UTF-8 text: the byte 0x{data[wrong.start]:02x} at offset {wrong.start}"
    return f"not JSON: {problem.msg} at line {problem.lineno} column {problem.colno}"
