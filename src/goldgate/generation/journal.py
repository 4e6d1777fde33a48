"""The journal: every answer on a line of its own, on disk before the next thing happens.

It is only ever appended to. Kinds of lines: `plan` (what a run asked), `answer`, `failure` (a
request that was given up, with its cause) and `step_down` (a response format was refused). A
process that is killed leaves at most one torn line at the end, which the next one removes.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson

from goldgate.errors import ConfigError, InputError, Place, describe
from goldgate.generation.plan import FORMATS, Format, Request
from goldgate.generation.reply import Answer, Trouble, Usage

FORMAT_VERSION = 1
KINDS = ("plan", "answer", "failure", "step_down")


@dataclass(slots=True)
class Contents:
    """What a journal holds: the place of each answer by its request's key, and the rest in short."""

    answers: dict[str, tuple[int, int]] = field(default_factory=dict)  # offset and length of the line
    failures: dict[str, tuple[int, int]] = field(default_factory=dict)  # the last one, where there is no answer
    plans: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the plan's identity
    answered: dict[str, int] = field(default_factory=dict)  # answers by the plan's identity
    step_downs: list[dict[str, Any]] = field(default_factory=list)
    torn: int = 0  # bytes of a torn last line
    size: int = 0  # of everything before it

    def format_for(self, base: str, first: Format) -> Format:
        """The response format that a plan has stepped down to, or its first."""
        reached = [step["to"] for step in self.step_downs if step["base"] == base and step["to"] in FORMATS]
        return max([first, *reached], key=FORMATS.index)


def read_contents(path: Path) -> Contents:
    """Read a journal; a damaged line that is not the last one is an InputError. A missing file is an empty journal."""
    contents = Contents()
    try:
        with open(path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n") and not _whole(line):
                    contents.torn = len(line)
                    break
                _note(contents, _decoded(line, path, number), contents.size, len(line))
                contents.size += len(line)
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise _unusable(path, problem) from None
    return contents


class Journal:
    """A journal that this process alone may append to."""

    def __init__(self, path: Path) -> None:
        """Lock the file, remove a torn last line, and read what is there."""
        self.path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        except OSError as problem:
            raise _unusable(path, problem) from None
        try:
            _lock(self._file, path)
            self.contents = read_contents(path)
            if self.contents.torn:
                os.ftruncate(self._file, self.contents.size)
            if self.contents.size and os.pread(self._file, 1, self.contents.size - 1) != b"\n":
                self._write(b"\n")  # the last line came whole, but for its end
                self.contents.size += 1
        except BaseException:
            os.close(self._file)
            raise

    def __enter__(self) -> Journal:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __contains__(self, key: str) -> bool:
        return key in self.contents.answers

    def begin(self, identity: str, base: str, form: Format, settings: dict[str, Any]) -> None:
        """Say what is asked from here on, once for each plan."""
        if identity not in self.contents.plans:
            line = {"plan": identity, "base": base, "format": form, "settings": settings}
            self._append("plan", {"format_version": FORMAT_VERSION, **line})

    def answer(self, request: Request, identity: str, answer: Answer, attempts: int, seconds: float) -> None:
        usage = answer.usage
        line: dict[str, Any] = {
            "key": request.key,
            "id": request.id,
            "seed": request.seed,
            "plan": identity,
            "response": answer.response,
            "finish_reason": answer.finish_reason,
            "usage": None if usage is None else [usage.input, usage.output, usage.reasoning, usage.estimated],
            "model": answer.model,
            "attempts": attempts,
            "seconds": round(seconds, 3),
        }
        if answer.reasoning is not None:
            line["reasoning"] = answer.reasoning
        self._append("answer", line)

    def failure(self, request: Request, identity: str, trouble: Trouble, attempts: int) -> None:
        line = {"key": request.key, "id": request.id, "seed": request.seed, "plan": identity}
        self._append("failure", {**line, "cause": trouble.cause, "detail": trouble.detail, "attempts": attempts})

    def step_down(self, base: str, refused: Format, to: Format, detail: str) -> None:
        self._append("step_down", {"base": base, "from": refused, "to": to, "detail": detail})

    def close(self) -> None:
        if self._file >= 0:
            try:
                os.fsync(self._file)
            except OSError as problem:
                if problem.errno not in (errno.EINVAL, errno.EROFS):
                    raise _unusable(self.path, problem) from None
            finally:
                os.close(self._file)  # which also unlocks it
                self._file = -1

    def _append(self, kind: str, fields: dict[str, Any]) -> None:
        record = {"kind": kind, **fields, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:  # half of a surrogate pair in a text
            line = orjson.dumps(_storable(record), option=orjson.OPT_APPEND_NEWLINE)
        self._write(line)
        _note(self.contents, record, self.contents.size, len(line))
        self.contents.size += len(line)

    def _write(self, data: bytes) -> None:
        try:
            written = os.write(self._file, data)
            while written < len(data):  # a disk that is nearly full takes part of it
                written += os.write(self._file, data[written:])
        except OSError as problem:
            raise _unusable(self.path, problem, "the answer cannot be stored") from None


def read_lines(path: Path, places: list[tuple[int, int]]) -> Iterator[dict[str, Any]]:
    """The records at some places of a journal."""
    with open(path, "rb") as stream:
        for offset, length in places:
            stream.seek(offset)
            yield orjson.loads(stream.read(length))


def usage_of(record: dict[str, Any]) -> Usage:
    """The tokens of an answer's line."""
    return Usage(*record["usage"]) if record.get("usage") else Usage(estimated=True)


def _note(contents: Contents, record: dict[str, Any], offset: int, length: int) -> None:
    kind = record["kind"]
    if kind == "answer":
        if record["key"] not in contents.answers:  # two journals put together: the first answer counts
            contents.answers[record["key"]] = offset, length
            contents.answered[record["plan"]] = contents.answered.get(record["plan"], 0) + 1
        contents.failures.pop(record["key"], None)
    elif kind == "failure":
        if record["key"] not in contents.answers:
            contents.failures[record["key"]] = offset, length
    elif kind == "plan":
        contents.plans[record["plan"]] = record
    else:
        contents.step_downs.append(record)


_NEEDED = {
    "plan": ("plan", "base", "format", "settings"),
    "answer": ("key", "id", "plan", "response"),
    "failure": ("key", "id", "plan", "cause"),
    "step_down": ("base", "from", "to"),
}


def _decoded(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        record = orjson.loads(line)
    except ValueError:
        raise InputError(
            "journal.damaged",
            "this line of the journal is damaged",
            place=Place(str(path), number),
            advice="remove the line; what it held is then asked again",
        ) from None
    kind = record.get("kind") if isinstance(record, dict) else None
    if kind not in KINDS or not all(name in record for name in _NEEDED[kind]):
        raise InputError(
            "journal.not_a_journal",
            "this is no line of a journal",
            place=Place(str(path), number),
            found=describe(record) if not isinstance(record, dict) else describe(kind),
            advice="choose another folder for --out",
        )
    if record.get("format_version", FORMAT_VERSION) != FORMAT_VERSION:
        raise InputError("journal.other_version", "a newer goldgate wrote this journal", place=Place(str(path), number))
    assert isinstance(record, dict)
    return record


def _whole(line: bytes) -> bool:
    try:
        return isinstance(orjson.loads(line), dict)
    except ValueError:
        return False


def _lock(file: int, path: Path) -> None:
    try:
        import fcntl
    except ModuleNotFoundError:
        raise ConfigError("journal.no_locks", "generation needs a system with file locks (Linux, macOS)") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise ConfigError(
            "journal.locked",
            "another process is writing this journal",
            place=Place(str(path)),
            advice="wait for it to end, or choose another folder for --out",
        ) from None
    except OSError as problem:
        raise _unusable(path, problem, "the journal cannot be locked") from None


def _unusable(path: Path, problem: OSError, message: str = "the journal cannot be used") -> ConfigError:
    reason = problem.strerror or type(problem).__name__
    return ConfigError("journal.unusable", message, place=Place(str(path)), found=reason)


def _storable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _storable(item) for name, item in value.items()}
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
