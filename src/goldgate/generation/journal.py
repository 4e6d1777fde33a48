"""The journal file of a run: each request is written before it is sent, each answer before the next step.

A journal is only appended to. A killed process leaves at most one torn line at the end, which the next one removes;
only the beginning of a journal line is ever removed. With `--shard I/N`, each process has a journal of its own; a
document's shard is a hash of its id, so it depends neither on the other documents nor on their order.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from goldgate.core.task import AnswerFormat
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.writing import map_texts, replace_surrogates
from goldgate.generation.journal_contents import JOURNAL_VERSION, JournalContents, LineRef, is_torn, parse_line
from goldgate.generation.request import ModelAnswer, ModelRequest, NoAnswer, Usage

_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


MAX_OPEN_FILES = 200  # files at once: a system often allows a process no more than 256


def read_contents(path: Path, others: Sequence[Path] = ()) -> JournalContents:
    """Read a journal and, before it, `others` whose answers count too. A missing file is an empty journal.

    InputError for an invalid line.
    """
    contents = JournalContents()
    for file in (*others, path):
        contents.open(file)
        _read_into(contents, file)
    return contents


def _read_into(contents: JournalContents, path: Path) -> None:
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            raise _unusable_error(path, "not a file that can be read twice")
        with open(path, "rb") as stream:
            for number, line in enumerate(stream, 1):
                if not line.endswith(b"\n") and is_torn(line, first=number == 1) and not _is_complete(line):
                    contents.torn = len(line)
                    break
                contents.note(parse_line(line, path, number), len(line))
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise _unusable_error(path, _reason(problem)) from None


def journal_in_use(path: Path) -> bool:
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

    def __init__(self, path: Path, others: Callable[[], Sequence[Path]] = tuple) -> None:
        """Lock the file, remove a torn last line, read the journal and other journals whose answers count too.

        `others` is called when the file is locked, so that of two processes at least one sees the other.
        """
        self.path = path
        self.full: str | None = None  # why nothing more should be asked: what is written now goes into the reserve
        self._reserve: IO[bytes] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
            self._file = os.open(path, flags, 0o644)
        except OSError as problem:
            raise _unusable_error(path, _reason(problem)) from None
        try:
            _lock(self._file, path)
            self.contents = read_contents(path, others())
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
        """Reserve `size` bytes of disk space, so that answers in flight can be stored when the disk becomes full.

        The file has no name: it is gone when the process is, however that ends.
        """
        try:
            self._reserve = tempfile.TemporaryFile(dir=self.path.parent)  # noqa: SIM115  # held until it is needed
            if hasattr(os, "posix_fallocate"):  # not on macOS: then there is no reserve
                os.posix_fallocate(self._reserve.fileno(), 0, max(size, 1))
        except OSError as problem:
            self._release_reserve()
            if problem.errno in _DISK_FULL:
                raise _unusable_error(self.path, _reason(problem), "there is no room for the answers") from None

    def begin(self, identity: str, base: str, form: AnswerFormat, settings: dict[str, Any]) -> None:
        """Write the plan of the requests that follow, unless the journal has it already."""
        if identity not in self.contents.plans:
            line = {"plan": identity, "base": base, "format": form, "settings": settings}
            self._append("plan", {"format_version": JOURNAL_VERSION, **line})

    def record_request(self, request: ModelRequest, request_id: str, endpoint: str | None = None) -> None:
        """Write a request that is about to be sent; `endpoint` says where, if the plan does not."""
        fields = {"request_id": request_id, "estimate": request.estimate}
        self._append_about("asked", request, fields, endpoint)

    def record_no_answer(
        self, request: ModelRequest, cause: str, usage: Usage | None, endpoint: str | None = None
    ) -> None:
        """Write that a request got no answer; `usage` is what it may have cost, None for nothing."""
        fields = {"cause": cause, "usage": _usage_list(usage)}
        self._append_about("unanswered", request, fields, endpoint)

    def answer(
        self,
        request: ModelRequest,
        answer: ModelAnswer,
        attempts: int,
        seconds: float,
        endpoint: str | None = None,
    ) -> None:
        fields = {
            "seed": request.seed,
            "response": answer.response,
            "finish_reason": answer.finish_reason,
            "usage": _usage_list(answer.usage),
            "model": answer.model,
            "attempts": attempts,
            "seconds": round(seconds, 3),
            **({} if answer.reasoning is None else {"reasoning": answer.reasoning}),
        }
        self._append_about("answer", request, fields, endpoint)

    def failure(self, request: ModelRequest, failure: NoAnswer, attempts: int, endpoint: str | None = None) -> None:
        fields = {"seed": request.seed, "cause": failure.cause, "detail": failure.detail, "attempts": attempts}
        self._append_about("failure", request, fields, endpoint)

    def step_down(
        self, base: str, refused: AnswerFormat, to: AnswerFormat, detail: str, key: str | None = None
    ) -> None:
        """Write that a format was refused: for the whole plan, or for one question, by its key in the lower format."""
        one = {} if key is None else {"key": key}
        self._append("step_down", {"base": base, "from": refused, "to": to, "detail": detail, **one})

    def close(self) -> None:
        if self._file >= 0:
            self._release_reserve()
            with suppress(OSError):  # what can go wrong here went wrong in sync() already
                os.close(self._file)  # which also unlocks it
            self._file = -1

    def sync(self) -> None:
        """Flush the journal to disk."""
        try:
            os.fsync(self._file)
        except OSError as problem:
            if problem.errno not in (errno.EINVAL, errno.EROFS):
                raise _unusable_error(self.path, _reason(problem), "the journal cannot be stored") from None

    def _append_about(self, kind: str, request: ModelRequest, fields: dict[str, Any], endpoint: str | None) -> None:
        where = {} if endpoint is None else {"endpoint": endpoint}
        self._append(kind, {"key": request.key, "id": request.id, "plan": request.plan, **fields, **where})

    def _append(self, kind: str, fields: dict[str, Any]) -> None:
        record = {"kind": kind, **fields, "at": datetime.now(UTC).isoformat(timespec="seconds")}
        try:
            line = orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
        except orjson.JSONEncodeError:  # half of a surrogate pair in a text
            line = orjson.dumps(map_texts(record, replace_surrogates), option=orjson.OPT_APPEND_NEWLINE)
        self._write(line)
        self.contents.note(record, len(line))

    def _write(self, data: bytes) -> None:
        try:
            self._put(data)
        except OSError as problem:
            if self._reserve is None or problem.errno not in _DISK_FULL:
                raise _unusable_error(self.path, _reason(problem), "the answer cannot be stored") from None
            self.full = _reason(problem)
            self._release_reserve()
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

    def _release_reserve(self) -> None:
        if self._reserve is not None:
            self._reserve.close()
            self._reserve = None


def read_lines(files: Sequence[Path], places: Sequence[LineRef]) -> Iterator[dict[str, Any]]:
    """The records at `places` of the journals."""
    opened: dict[int, IO[bytes]] = {}
    try:
        for number, offset, length in places:
            if number not in opened:
                if len(opened) >= MAX_OPEN_FILES:
                    opened.pop(next(iter(opened))).close()
                opened[number] = open(files[number], "rb")  # noqa: SIM115  # closed below
            opened[number].seek(offset)
            try:
                yield orjson.loads(opened[number].read(length))
            except ValueError:
                place = Place(str(files[number]))
                raise InputError("journal.changed", "the journal was changed meanwhile", place=place) from None
    finally:
        for stream in opened.values():
            stream.close()


def disk_full_error(path: Path, reason: str) -> ConfigError:
    """The error for a run that ended because the disk is full; nothing that arrived is lost."""
    return _unusable_error(path, reason, "there is no more room for answers; everything that was answered is stored")


def _usage_list(usage: Usage | None) -> list[int | bool] | None:
    return None if usage is None else [usage.input, usage.output, usage.reasoning, usage.estimated]


def _is_complete(line: bytes) -> bool:
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
            found=_lock_holder(file),
            advice="wait for it to end, or choose another folder for --out",
        ) from None
    except OSError as problem:
        raise _unusable_error(path, _reason(problem), "the journal cannot be locked") from None


def _lock_holder(file: int) -> str | None:
    """Who holds the lock, where the system tells (Linux)."""
    status = os.fstat(file)
    name = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"
    with suppress(OSError), open("/proc/locks") as locks:
        for line in locks:
            words = line.split()
            if len(words) > 5 and words[1] == "FLOCK" and words[5] == name and words[4] != "0":
                return f"process {words[4]}"
    return None


def _reason(problem: OSError) -> str:
    return problem.strerror or type(problem).__name__


def _unusable_error(path: Path, reason: str, message: str = "the journal cannot be used") -> ConfigError:
    full = reason in map(os.strerror, _DISK_FULL)
    advice = "free some space and run the same command again" if full else None
    return ConfigError("journal.unusable", message, place=Place(str(path)), found=reason, advice=advice)


SHARDS_FOLDER = "shards"  # in --out; has a folder for each shard
MAX_SHARDS = 10_000
JOURNAL_FILE = "journal.jsonl"

_SHARD_NAME = re.compile(r"([0-9]{1,5})-of-([0-9]{1,5})")
_BITS = 64


class DocumentShard(NamedTuple):
    """Shard `number` of `total`, counted from 1."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    @property
    def folder(self) -> str:
        """`03-of-16`: padded with zeros, so that names sort in order."""
        width = max(2, len(str(self.total)))
        return f"{self.number:0{width}}-of-{self.total:0{width}}"

    def holds(self, document_id: str) -> bool:
        return shard_of(document_id, self.total) == self.number


def shard_of(document_id: str, total: int) -> int:
    """The number of a document's shard, from 1 to `total`."""
    digest = hashlib.blake2b(document_id.encode("utf-8", "surrogatepass"), digest_size=_BITS // 8).digest()
    return (int.from_bytes(digest, "big") * total >> _BITS) + 1


def parse_shard_folder(name: str) -> DocumentShard | None:
    """The shard that a folder name such as `03-of-16` means; None for other names."""
    match = _SHARD_NAME.fullmatch(name)
    return DocumentShard(int(match[1]), int(match[2])) if match else None


def shard_journals(out: Path) -> list[Path]:
    """The journals of all shards, whatever their folders are called."""
    return sorted(path for path in (out / SHARDS_FOLDER).glob(f"*/{JOURNAL_FILE}"))


def other_journals(out: Path, shard: DocumentShard | None) -> list[Path]:
    """The journals of other processes that may hold answers to this one's questions.

    Shards of one number have no document in common; those of another number, and a run without shards, have.
    """
    if shard is None:
        return shard_journals(out)
    main = [out / JOURNAL_FILE] if (out / JOURNAL_FILE).exists() else []
    return [*(path for path in shard_journals(out) if not _is_sibling(path, shard)), *main]


def require_idle(paths: list[Path]) -> list[Path]:
    """These journals; ConfigError if another process is asking the same documents at this moment."""
    for path in paths:
        if journal_in_use(path):
            raise ConfigError(
                "shards.in_use",
                "another process is already asking some of these documents",
                place=Place(str(path)),
                advice="wait for it to end; --merge reports what there is meanwhile",
            )
    return paths


def missing_shards(journals: list[Path]) -> Iterator[DocumentShard]:
    """The shards without a journal, where all that have one are of the same number."""
    shards = [parse_shard_folder(path.parent.name) for path in journals]
    numbers = {shard.total for shard in shards if shard is not None}
    if len(numbers) == 1 and None not in shards:
        total = numbers.pop()
        yield from (shard for number in range(1, total + 1) if (shard := DocumentShard(number, total)) not in shards)


def _is_sibling(path: Path, shard: DocumentShard) -> bool:
    other = parse_shard_folder(path.parent.name)
    return other is not None and other.total == shard.total
