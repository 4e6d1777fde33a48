"""The tree of errors a user can meet; each knows its exit status and where it happened.

    GoldgateError
    ├── InputError      a stored artifact is missing, malformed or contradictory
    ├── ConfigError     a protocol, an event schema or an option asks for what cannot be
    ├── MachineError    the machine lacks something: room on a disk, memory, processes
    └── InternalError   a bug in goldgate

A model's failure is never an error: it is data, and it is counted.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import partial
from pathlib import Path, PurePath
from typing import NamedTuple

import goldgate

EXIT_PASSED = 0
EXIT_GATE_FAILED = 1
EXIT_SYSTEM_ERROR = 2

SHOWN_CHARACTERS = 80
NEAR_WORDS = 3  # that half a name, such as f1, may be part of


class Place(NamedTuple):
    """Where in an artifact: the file as the user named it, its line, the field inside it, the record of an array."""

    file: str | None = None
    line: int | None = None
    field: str | None = None
    record: int | None = None  # its position in a JSON array, from 1: the array may stand on one line

    def __str__(self) -> str:
        where = self.file or ""
        if self.line is not None:
            where += f":{self.line}"
        if self.record is not None:
            where += f", record {self.record}"
        return ": ".join(part for part in (where, self.field) if part)


class GoldgateError(Exception):
    """The evaluation could not be carried out."""

    exit_status = EXIT_SYSTEM_ERROR

    def __init__(
        self,
        code: str,
        message: str,
        *,
        place: Place | None = None,
        expected: str | None = None,
        found: str | None = None,
        advice: str | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.place = place or Place()
        self.expected = expected
        self.found = found
        self.advice = advice

    def __str__(self) -> str:
        where = str(self.place)
        lines = [f"{where}: {self.message}" if where else self.message]
        details = (("expected: ", self.expected), ("found:    ", self.found), ("do:       ", self.advice))
        return "\n".join([*lines, *(f"  {label}{text}" for label, text in details if text is not None)])

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only state: the default would call the constructor with `args` alone,
        # and an error raised in a worker process would lose its place.
        details = {name: getattr(self, name) for name in ("place", "expected", "found", "advice")}
        return partial(type(self), **details), (self.code, self.message)

    def as_json(self) -> dict[str, object]:
        """The `error` object of a report: no absolute path, every field always there."""
        file = self.place.file
        return {
            "code": self.code,
            "message": self.message,
            "file": PurePath(file).name if file is not None and os.path.isabs(file) else file,
            "line": self.place.line,
            "field": self.place.field,
            "expected": self.expected,
            "found": self.found,
            "advice": self.advice,
        }


class InputError(GoldgateError):
    """A stored artifact is missing, malformed or contradictory."""


class ConfigError(GoldgateError):
    """A protocol, an event schema or an option asks for what cannot be."""


class MachineError(GoldgateError):
    """The machine lacks something: room on a disk, memory, open files, processes."""


class InternalError(GoldgateError):
    """A bug in goldgate."""


def describe_value(value: object) -> str:
    """What was found, in JSON's words and short enough for a message: `null`, `a list`, `"yes"`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        excerpt = value if len(value) <= SHOWN_CHARACTERS else value[:SHOWN_CHARACTERS] + "…"
        return f'the string "{excerpt}"' if value else "an empty string"
    if isinstance(value, (list, tuple)):
        return "a list" if value else "an empty list"
    if isinstance(value, Mapping):
        return "an object" if value else "an empty object"
    if isinstance(value, (int, float, Decimal)):
        return f"the number {value}"
    return f"a value of the type {type(value).__name__}"


def system_reason(problem: Exception) -> str:
    """Why the system refused: its own words, or the type of the exception where it has none."""
    return getattr(problem, "strerror", None) or type(problem).__name__


def did_you_mean(name: str, names: Iterable[object]) -> str | None:
    """Advice naming the nearest known word, or the words that have the name as a part; None where nothing is near."""
    import difflib

    words = [str(word) for word in names]
    same = [word for word in words if _folded(word) == _folded(name)][:1]  # strict-f1 and strictF1 are strict_f1
    whole = [word for word in words if f"_{name.casefold()}_" in f"_{word}_"] if name else []  # f1 is part of strict_f1
    near = same or whole[:NEAR_WORDS] or difflib.get_close_matches(name, words, n=1)
    return f"did you mean {' or '.join(near)}?" if near else None


def _folded(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


def as_yaml(key: str, value: str) -> str:
    """A setting as YAML that can be pasted: `metrics.cot.enabled` and `true` give `metrics: {cot: {enabled: true}}`."""
    outermost, *inner = key.split(".")
    return f"{outermost}: " + "".join(f"{{{name}: " for name in inner) + value + "}" * len(inner)


def require_extra(extra: str, purpose: str, *packages: str) -> None:
    """A ConfigError with the command that installs the extra, where one of the packages that it brings is missing."""
    from importlib.util import find_spec  # the help of the commands needs none

    if any(find_spec(package) is None for package in packages):
        raise missing_extra(extra, purpose)


def missing_extra(extra: str, purpose: str) -> ConfigError:
    """`purpose` needs the extra; from a checkout, where evaluate.py may run uninstalled, it stays editable."""
    checkout = (Path(goldgate.__file__).parents[2] / "pyproject.toml").is_file()
    folder = f"in goldgate's folder: pip install {'-e ' if checkout else ''}'.[{extra}]'"
    return ConfigError(
        "extra.missing",
        f"{purpose} needs the extra `{extra}`, which is not installed",
        advice=folder if checkout else f"{folder}; with a wheel: pip install 'goldgate-….whl[{extra}]'",
    )
