"""The journal: every request before it is sent, and every answer on a line of its own before the next thing happens.

It is only ever appended to. A process that is killed leaves at most one torn line at the end, which the
next one removes; nothing that is not the beginning of a journal's line is ever removed.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import orjson

from goldgate.core.task import Format
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.storable import all_storable, whole_text
from goldgate.generation.journal_lines import FORMAT_VERSION, Contents, Span, is_torn, parse_line
from goldgate.generation.outcome import Answer, NoAnswer, Usage
from goldgate.generation.plan import Request

_FULL = (errno.ENOSPC, errno.EDQUOT)


MOST_OPEN = 200  # files at once: a system often allows a process no more than 256


def read_contents(path: Path, beside: Sequence[Path] = ()) -> Contents:
    """Read a journal; a line that is none of a journal is an InputError. A missing file is an empty journal.

    `beside` are other journals, read before it: what they hold counts too.
    """
    contents = Contents()
    for file in (*beside, path):
        contents.open(file)
        _read(contents, file)
    return contents


def _read(contents: Contents, path: Path) -> None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise _unusable(path, "not a file that can be read twice")
        with open(path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n") and is_torn(line, first=number == 1) and not _whole(line):
                    contents.torn = len(line)
                    break
                contents.note(parse_line(line, path, number), len(line))
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise _unusable(path, _reason(problem)) from None


def in_use(path: Path) -> bool:
    """Whether another process holds this journal, and with it the folder."""
    import fcntl

    try:
        with open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False


class Journal:
    """A journal that this process alone may append to, from when it is made until it is closed."""

    def __init__(self, path: Path, beside: Callable[[], Sequence[Path]] = tuple) -> None:
        """Lock the file, remove a torn last line, and read what is there, and in other journals that count too.

        `beside` finds these when the file is locked: whoever begins later sees it, whoever began before is found.
        """
        self.path = path
        self.full: str | None = None  # why nothing more should be asked: what is written now goes into the reserve
        self._reserve: IO[bytes] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
            self._file = os.open(path, flags, 0o644)
        except OSError as problem:
            raise _unusable(path, _reason(problem)) from None
        try:
            _lock(self._file, path)
            self.contents = read_contents(path, beside())
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

    def reserve(self, size: int) -> None:
        """Keep so many bytes of the disk, so that what is in flight when it becomes full can still be stored.

        The file has no name: it is gone when the process is, however that ends.
        """
        try:
            self._reserve = tempfile.TemporaryFile(dir=self.path.parent)  # noqa: SIM115  # held until it is needed
            if hasattr(os, "posix_fallocate"):  # not on macOS: then there is no reserve
                os.posix_fallocate(self._reserve.fileno(), 0, max(size, 1))
        except OSError as problem:
            self._free()
            if problem.errno in _FULL:
                raise _unusable(self.path, _reason(problem), "there is no room for the answers") from None

    def begin(self, identity: str, base: str, form: Format, settings: dict[str, Any]) -> None:
        """Say what is asked from here on, once for each plan."""
        if identity not in self.contents.plans:
            line = {"plan": identity, "base": base, "format": form, "settings": settings}
            self._append("plan", {"format_version": FORMAT_VERSION, **line})

    def asked(self, request: Request, identity: str, request_id: str, endpoint: str | None = None) -> None:
        """A request is about to be sent; `endpoint` says where, if the plan does not."""
        line = {"key": request.key, "id": request.id, "plan": identity, "request_id": request_id}
        self._append("asked", {**line, "estimate": request.estimate, **_at(endpoint)})

    def unanswered(
        self, request: Request, identity: str, cause: str, usage: Usage | None, endpoint: str | None = None
    ) -> None:
        """It came back without an answer; `usage` is what it may have cost, None for nothing."""
        line = {"key": request.key, "id": request.id, "plan": identity, "cause": cause}
        self._append("unanswered", {**line, "usage": _listed(usage), **_at(endpoint)})

    def answer(
        self,
        request: Request,
        identity: str,
        answer: Answer,
        attempts: int,
        seconds: float,
        endpoint: str | None = None,
    ) -> None:
        line: dict[str, Any] = {
            "key": request.key,
            "id": request.id,
            "seed": request.seed,
            "plan": identity,
            "response": answer.response,
            "finish_reason": answer.finish_reason,
            "usage": _listed(answer.usage),
            "model": answer.model,
            "attempts": attempts,
            "seconds": round(seconds, 3),
            **_at(endpoint),
        }
        if answer.reasoning is not None:
            line["reasoning"] = answer.reasoning
        self._append("answer", line)

    def failure(
        self, request: Request, identity: str, failure: NoAnswer, attempts: int, endpoint: str | None = None
    ) -> None:
        line = {"key": request.key, "id": request.id, "seed": request.seed, "plan": identity}
        why = {"cause": failure.cause, "detail": failure.detail, "attempts": attempts}
        self._append("failure", {**line, **why, **_at(endpoint)})

    def step_down(self, base: str, refused: Format, to: Format, detail: str, key: str | None = None) -> None:
        """A format was refused: for the whole plan, or for the one question with this key in the lower format."""
        one = {} if key is None else {"key": key}
        self._append("step_down", {"base": base, "from": refused, "to": to, "detail": detail, **one})

    def close(self) -> None:
        if self._file >= 0:
            self._free()
            with suppress(OSError):  # what can go wrong here went wrong in sync() already
                os.close(self._file)  # which also unlocks it
            self._file = -1

    def sync(self) -> None:
        """Have the system put everything on the disk."""
        try:
            os.fsync(self._file)
        except OSError as problem:
            if problem.errno not in (errno.EINVAL, errno.EROFS):
                raise _unusable(self.path, _reason(problem), "the journal cannot be stored") from None

    def _append(self, kind: str, fields: dict[str, Any]) -> None:
        record = {"kind": kind, **fields, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:  # half of a surrogate pair in a text
            line = orjson.dumps(all_storable(record, whole_text), option=orjson.OPT_APPEND_NEWLINE)
        self._write(line)
        self.contents.note(record, len(line))

    def _write(self, data: bytes) -> None:
        try:
            self._put(data)
        except OSError as problem:
            if self._reserve is None or problem.errno not in _FULL:
                raise _unusable(self.path, _reason(problem), "the answer cannot be stored") from None
            self.full = _reason(problem)
            self._free()
            self._write(data)

    def _put(self, data: bytes) -> None:
        """Write all of it or nothing: half a line would damage the one that follows."""
        try:
            written = os.write(self._file, data)
            while written < len(data):  # a disk that is nearly full takes part of it
                written += os.write(self._file, data[written:])
        except OSError:
            with suppress(OSError):
                os.ftruncate(self._file, self.contents.size)
            raise

    def _free(self) -> None:
        if self._reserve is not None:
            self._reserve.close()
            self._reserve = None


def read_lines(files: Sequence[Path], places: Sequence[Span]) -> Iterator[dict[str, Any]]:
    """The records at some places of the journals."""
    opened: dict[int, IO[bytes]] = {}
    try:
        for number, offset, length in places:
            if number not in opened:
                if len(opened) >= MOST_OPEN:
                    opened.pop(next(iter(opened))).close()
                opened[number] = open(files[number], "rb")  # noqa: SIM115  # closed below
            opened[number].seek(offset)
            try:
                yield orjson.loads(opened[number].read(length))
            except ValueError:
                raise _changed(files[number]) from None
    finally:
        for stream in opened.values():
            stream.close()


def _changed(path: Path) -> InputError:
    return InputError("journal.changed", "the journal was changed meanwhile", place=Place(str(path)))


def full_error(path: Path, reason: str) -> ConfigError:
    """The run was ended because the disk is full; nothing that arrived is lost."""
    return _unusable(path, reason, "there is no more room for answers; everything that was answered is stored")


def _at(endpoint: str | None) -> dict[str, str]:
    return {} if endpoint is None else {"endpoint": endpoint}


def _listed(usage: Usage | None) -> list[int | bool] | None:
    return None if usage is None else [usage.input, usage.output, usage.reasoning, usage.estimated]


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
            found=_holder(file),
            advice="wait for it to end, or choose another folder for --out",
        ) from None
    except OSError as problem:
        raise _unusable(path, _reason(problem), "the journal cannot be locked") from None


def _holder(file: int) -> str | None:
    """Who holds the lock, where the system tells (Linux)."""
    found = os.fstat(file)
    name = f"{os.major(found.st_dev):02x}:{os.minor(found.st_dev):02x}:{found.st_ino}"
    with suppress(OSError), open("/proc/locks") as locks:
        for line in locks:
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[5] == name and words[4] != "0":
                return f"process {words[4]}"
    return None


def _reason(problem: OSError) -> str:
    return problem.strerror or type(problem).__name__


def _unusable(path: Path, reason: str, message: str = "the journal cannot be used") -> ConfigError:
    full = reason in map(os.strerror, _FULL)
    advice = "free some space and run the same command again" if full else None
    return ConfigError("journal.unusable", message, place=Place(str(path)), found=reason, advice=advice)
