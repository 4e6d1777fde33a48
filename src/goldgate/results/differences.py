"""Where two files differ first: the place in a JSON value, the line of a text, the record of a file of records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any, NamedTuple

from goldgate.core.problem import below

SHOWN_CHARACTERS = 100  # of a value
NOTHING = "nothing"
_LAID_OUT_OTHERWISE = "the values are the same; the file is laid out otherwise than goldgate writes it"


@dataclass(frozen=True, slots=True)
class Difference:
    """The first difference of a file: where it is, what is stored there, and what there should be."""

    file: str
    stored: str
    recomputed: str
    pointer: str | None = None  # RFC 6901, inside the file's value or the record on this line
    line: int | None = None
    id: str | None = None  # of the record
    note: str | None = None

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class _Missing:
    """In place of a value that is not there."""


_MISSING = _Missing()


class Unlike(NamedTuple):
    """A place where two JSON values differ, and what each has there, in short."""

    pointer: str
    stored: str
    recomputed: str


def first_unlike(stored: Any, recomputed: Any) -> Unlike | None:
    """The first place, in the order of the stored value; None if they are the same but for the order of keys."""
    return next(_unlike(stored, recomputed, ""), None)


def compare_json(file: str, stored: bytes, recomputed: bytes, last: str | None = None) -> Difference | None:
    """The first difference of two JSON files, in the part `last` only if there is none before.

    They must be the same bytes: a key that stands twice can be read in two ways.
    """
    if stored == recomputed:
        return None
    value, again = json.loads(stored), json.loads(recomputed)
    found = first_unlike(_without(value, last), _without(again, last)) or first_unlike(value, again)
    if found is not None:
        return Difference(file, found.stored, found.recomputed, found.pointer)
    where = _first_line(stored, recomputed)
    return Difference(file, where.stored, where.recomputed, line=where.line, note=_LAID_OUT_OTHERWISE)


def compare_text(file: str, stored: bytes, recomputed: bytes) -> Difference | None:
    """The first line that differs."""
    if stored == recomputed:
        return None
    where = _first_line(stored, recomputed)
    return Difference(file, where.stored, where.recomputed, line=where.line)


def compare_records(file: str, stored: Iterable[bytes], recomputed: Iterable[bytes]) -> Difference | None:
    """The first record that differs, line by line, with its id and the place inside it. Neither file is held whole."""
    for number, (mine, again) in enumerate(zip_longest(stored, recomputed), 1):
        if mine == again:
            continue
        value, wanted = _decoded(mine), _decoded(again)
        unlike = first_unlike(value, wanted) if isinstance(value, dict) and isinstance(wanted, dict) else None
        identity = _identity(wanted) or _identity(value)
        if unlike is None:
            return Difference(file, _line(mine), _line(again), line=number, id=identity)
        return Difference(file, unlike.stored, unlike.recomputed, unlike.pointer, number, identity)
    return None


class _Where(NamedTuple):
    line: int
    stored: str
    recomputed: str


def _first_line(stored: bytes, recomputed: bytes) -> _Where:
    lines = zip_longest(stored.split(b"\n"), recomputed.split(b"\n"))
    number, (mine, again) = next((n, pair) for n, pair in enumerate(lines, 1) if pair[0] != pair[1])
    return _Where(number, _line(mine), _line(again))


def _unlike(stored: Any, recomputed: Any, pointer: str) -> Iterator[Unlike]:
    if isinstance(stored, dict) and isinstance(recomputed, dict):
        for key in [*stored, *(key for key in recomputed if key not in stored)]:
            yield from _unlike(stored.get(key, _MISSING), recomputed.get(key, _MISSING), below(pointer, key))
    elif isinstance(stored, list) and isinstance(recomputed, list):
        for number, (mine, again) in enumerate(zip_longest(stored, recomputed, fillvalue=_MISSING)):
            yield from _unlike(mine, again, below(pointer, number))
    elif type(stored) is not type(recomputed) or stored != recomputed:  # 1, 1.0 and true are three values
        yield Unlike(pointer, _shown(stored), _shown(recomputed))


def _without(value: Any, key: str | None) -> Any:
    return {name: part for name, part in value.items() if name != key} if isinstance(value, dict) else value


def _shown(value: Any) -> str:
    return NOTHING if value is _MISSING else _short(json.dumps(value, ensure_ascii=False))


def _line(data: bytes | None) -> str:
    return NOTHING if data is None else _short(data.decode("utf-8", "backslashreplace").rstrip("\n")) or "an empty line"


def _short(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[: SHOWN_CHARACTERS - 1] + "…"


def _decoded(line: bytes | None) -> Any:
    try:
        return None if line is None else json.loads(line)
    except (ValueError, RecursionError):
        return None


def _identity(record: Any) -> str | None:
    """The record's id, whatever its suite calls it."""
    if not isinstance(record, dict):
        return None
    found = next((record[name] for name in ("id", "run") if record.get(name) is not None), None)
    return None if found is None else str(found)
