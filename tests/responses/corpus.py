"""The corpus of responses as typed values: `load_corpus()` gives every case of every manner, in order.

What a file may hold is checked here, so that a slip in a file is an error with its place and not a case
that passes unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from goldgate.response.parsed import Step

FOLDER = Path(__file__).parent

STATUSES = frozenset({"raw", "repaired", "error"})
METHODS = frozenset({"whole", "fenced", "embedded", "no_json_found"})
THOUGHTS = frozenset({"none", "closed", "unclosed"})
REASONS = frozenset({"replaced", "cut", "template", "another_turn", "next_example"})

# An event as it is scored: its type, and each (role, value as written) in order.
ReadEvent = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(frozen=True)
class Expected:
    """How a response must be read. None is "not said", except for `events`: there it is "nothing reads as events"."""

    events: tuple[ReadEvent, ...] | None
    status: str | None
    method: str | None
    thought: str | None
    repairs: frozenset[str]  # these must be among the named steps
    left_out: tuple[str, ...] | None
    has_value: bool
    value: Any  # the decoded value, where it is no event list and `has_value`


@dataclass(frozen=True)
class Case:
    """A response, how it must be read, and why."""

    manner: str  # the name of the file
    name: str
    why: str
    judgement: bool  # the rules leave it open: what a careful person would say
    response: str
    expect: Expected


@dataclass(frozen=True)
class Manner:
    """One file: a way of answering, and its cases."""

    name: str
    text: str
    cases: tuple[Case, ...]


class CorpusError(Exception):
    """A file of the corpus is not as it should be; says which, where, and what was expected."""


@cache
def load_corpus() -> tuple[Case, ...]:
    """Every case, file by file in the order of their names."""
    return tuple(case for path in sorted(FOLDER.glob("*.yaml")) for case in load_manner(path).cases)


@cache
def one_of_each_manner() -> tuple[Case, ...]:
    """The first case of every manner: enough for what only displays what the reader made of a response."""
    return tuple({case.manner: case for case in reversed(load_corpus())}.values())


def load_manner(path: Path) -> Manner:
    """One file, checked."""
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    fields = _fields(content, path.name, {"manner": _text, "cases": _list}, {})
    cases = tuple(_case(path.stem, item, f"{path.name}: cases[{n}]") for n, item in enumerate(fields["cases"]))
    return Manner(path.stem, fields["manner"], cases)


def _case(manner: str, content: Any, where: str) -> Case:
    if isinstance(content, dict) and isinstance(content.get("name"), str):
        where = f"{where} ({content['name']})"
    needed: _Readers = {"name": _text, "why": _text, "response": _any_text, "expect": _same}
    fields = _fields(content, where, needed, {"judgement": _true})
    expect = _expected(fields["expect"], f"{where}: expect")
    judgement = fields.get("judgement", False)
    return Case(manner, fields["name"], fields["why"], judgement, fields["response"], expect)


def _expected(content: Any, where: str) -> Expected:
    optional: _Readers = {
        "status": _one_of(STATUSES),
        "method": _one_of(METHODS),
        "thought": _one_of(THOUGHTS),
        "repairs": _each(_one_of(frozenset(map(str, Step)))),
        "left_out": _each(_one_of(REASONS)),
        "value": _same,
    }
    fields = _fields(content, where, {"events": _events}, optional)
    if "value" in fields and fields["events"] is not None:
        raise CorpusError(f"{where}: `value` is only for what is no event list; leave it out or let `events` be null")
    return Expected(
        events=fields["events"],
        status=fields.get("status"),
        method=fields.get("method"),
        thought=fields.get("thought"),
        repairs=frozenset(fields.get("repairs", ())),
        left_out=fields.get("left_out"),
        has_value="value" in fields,
        value=fields.get("value"),
    )


_Read = Callable[[Any, str], Any]
_Readers = Mapping[str, _Read]


def _fields(content: Any, where: str, needed: _Readers, optional: _Readers) -> dict[str, Any]:
    if not isinstance(content, dict):
        raise CorpusError(f"{where}: expected a mapping, found {content!r}")
    if missing := [key for key in needed if key not in content]:
        raise CorpusError(f"{where}: {missing[0]} is missing")
    readers = {**needed, **optional}
    if unknown := [key for key in content if key not in readers]:
        raise CorpusError(f"{where}: {unknown[0]} is no field; expected {', '.join(readers)}")
    return {key: readers[key](item, f"{where}: {key}") for key, item in content.items()}


def _events(content: Any, where: str) -> tuple[ReadEvent, ...] | None:
    """`[{TYPE: [[role, value], …]}, …]`, or null."""
    return (
        None
        if content is None
        else tuple(_event(item, f"{where}[{n}]") for n, item in enumerate(_list(content, where)))
    )


def _event(content: Any, where: str) -> ReadEvent:
    if not isinstance(content, dict) or len(content) != 1:
        raise CorpusError(f"{where}: expected {{TYPE: [[role, value], …]}}, found {content!r}")
    ((event_type, pairs),) = content.items()
    read = []
    for number, pair in enumerate(_list(pairs, where)):
        if not isinstance(pair, list) or len(pair) != 2:
            raise CorpusError(f"{where}[{number}]: expected [role, value], found {pair!r}")
        read.append((_text(pair[0], f"{where}[{number}]"), _text(pair[1], f"{where}[{number}]")))
    return _text(event_type, where), tuple(read)


def _each(reader: _Read) -> _Read:
    return lambda content, where: tuple(reader(item, f"{where}[{n}]") for n, item in enumerate(_list(content, where)))


def _one_of(allowed: frozenset[str]) -> _Read:
    def read(content: Any, where: str) -> str:
        if content not in allowed:
            raise CorpusError(f"{where}: expected one of {', '.join(sorted(allowed))}, found {content!r}")
        return str(content)

    return read


def _any_text(content: Any, where: str) -> str:
    if not isinstance(content, str):
        raise CorpusError(f"{where}: expected text, found {content!r}; put it between quotation marks")
    return content


def _text(content: Any, where: str) -> str:
    if not _any_text(content, where).strip():
        raise CorpusError(f"{where}: expected text, found nothing")
    return str(content)


def _list(content: Any, where: str) -> list[Any]:
    if not isinstance(content, list):
        raise CorpusError(f"{where}: expected a list, found {content!r}")
    return content


def _true(content: Any, where: str) -> bool:
    if content is not True:
        raise CorpusError(f"{where}: expected true, or leave it out; found {content!r}")
    return True


def _same(content: Any, where: str) -> Any:
    return content
