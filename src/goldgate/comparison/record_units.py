"""What each unit counted, read from a file of records line by line; nothing but the line at hand is kept."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate.core.suite import Pairing
from goldgate.errors import InputError, Place
from goldgate.files.pipe import opener
from goldgate.files.text_file import cannot_read
from goldgate.readers.unit_records import GROUP, PARTS, UNITS

_HEAD, _UNITS, _PARTS = b'{"id":"', b',"units":{', b',"parts":['
_ID = "id"
_NO_PARTS = b"[]"


class UnitLine(NamedTuple):
    """A record's identity, its group, and as JSON its counts by table and by part of one: most are decoded once.

    Without an identity it is work that nobody asked for.
    """

    identity: str | None
    group: str | None
    units: bytes
    parts: bytes
    times: int = 1


def read_units(path: Path, name: str, pairing: Pairing) -> Iterator[UnitLine]:
    """The units of a file of records, in its order; `name` is the file's in errors."""
    number = 0
    by_id = pairing.field == _ID
    try:
        with open(path, "rb", buffering=1 << 20, opener=opener) as stream:
            for line in stream:
                number += 1
                quick = read_quickly(line) if by_id else None
                yield quick if quick is not None else read_line(line, pairing)
    except (orjson.JSONDecodeError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as problem:
        raise InputError(
            "records.malformed",
            "this record does not say what its unit counted",
            place=Place(name, number),
            expected=f"a record with {pairing.field} and {UNITS}, as goldgate writes it",
            found=f"no {problem}" if isinstance(problem, KeyError) else "something else",
            advice="score it again with this version, with --out",
        ) from None
    except OSError as problem:
        raise cannot_read(name, "records", problem) from None


def read_line(line: bytes, pairing: Pairing) -> UnitLine:
    """The rule: a whole record, decoded."""
    record: dict[str, Any] = orjson.loads(line)
    identity, group = record[pairing.field], record.get(GROUP)
    times = record.get(pairing.times, 1) if pairing.times is not None else 1
    units, parts = orjson.dumps(record[UNITS]), orjson.dumps(record.get(PARTS, []))
    return UnitLine(
        None if identity is None else str(identity), None if group is None else str(group), units, parts, times
    )


def read_quickly(line: bytes) -> UnitLine | None:
    """The same of a record as goldgate writes it, or None: `id` comes first, and what was counted last.

    A quotation mark inside a string has a backslash before it, so `,"units":{` cannot be part of one; and behind the
    last one come only lists and the name of a group. The rest of a record, most of it, is never decoded.
    """
    at = line.rfind(_UNITS)
    end = line.find(b'"', 7)
    if at < 0 or end < 0 or not line.startswith(_HEAD):
        return None
    identity = line[7:end]
    if b"\\" in identity:
        return None
    parts = line.find(_PARTS, at)
    if parts >= 0 and line.endswith(b"]]]}\n"):
        return UnitLine(identity.decode(), None, line[at + 9 : parts], line[parts + 9 : -2])
    if line.endswith(b"]}}\n") and parts < 0:
        return UnitLine(identity.decode(), None, line[at + 9 : -2], _NO_PARTS)
    return None  # it has a group
