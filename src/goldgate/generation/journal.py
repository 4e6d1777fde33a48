"""The journal of a run: each request is written before it is sent, each answer before the next step.

A journal is only appended to. A killed process leaves at most one torn line at the end, which the next one removes;
only the beginning of a journal line is ever removed. `JournalContents` is an index of what it holds. Its lines:

asked       a request is about to be sent, under this request id
answer      the answer to it
unanswered  it came back without an answer (the cause, and the tokens if it may have been charged)
failure     a question was given up
plan        what is asked from here on
step_down   a response format was refused, and the first question was answered in a lower one
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Annotated, Any, NamedTuple

import orjson

from goldgate.core.task import AnswerFormat
from goldgate.errors import ConfigError, InputError, Place, describe_value, system_reason
from goldgate.files.writing import flush_to_disk, map_texts, replace_surrogates
from goldgate.generation.request import MAX_ANSWER_TOKENS, ModelAnswer, ModelRequest, NoAnswer, RequestBuilder, Usage
from goldgate.shape import AtLeast
from goldgate.shape.validation import expected_text, type_test

JOURNAL_VERSION = 3
CUT_OFF = "cut_off"  # the cause of a request that a kill cut off
MAX_ATTEMPTS = 1_000_000

JOURNAL_FILE = "journal.jsonl"

_Count = Annotated[int, AtLeast(0)]
FIELD_TYPES: dict[str, Any] = {
    **dict.fromkeys(("key", "plan", "base", "format", "request_id", "id", "response", "cause", "from", "to"), str),
    "settings": dict[str, object],
    **dict.fromkeys(("format_version", "estimate"), int),
    "usage": tuple[_Count, _Count, _Count, bool] | None,
    "attempts": int | None,
    "seed": int | None,
    **dict.fromkeys(("finish_reason", "model", "reasoning", "detail"), str | None),
}
_FIELD_TESTS = {name: type_test(kind) for name, kind in FIELD_TYPES.items()}
REQUIRED_FIELDS = {
    "plan": ("format_version", "plan", "base", "format", "settings"),
    "asked": ("key", "plan", "request_id", "estimate"),
    "answer": ("key", "plan", "id", "response"),
    "unanswered": ("key", "plan", "cause"),
    "failure": ("key", "plan", "id", "cause"),
    "step_down": ("base", "from", "to"),
}
_LARGEST = {"attempts": MAX_ATTEMPTS, "estimate": MAX_ANSWER_TOKENS}
_EXPECTED = {
    "usage": "three counts of tokens, and true or false",
    **{name: f"a number from 0 to {most:,}" for name, most in _LARGEST.items()},
}
_REMOVE_LINE = "remove the line; what it held is then asked again"
_LINE_STARTS = tuple(f'{{"kind":"{kind}",'.encode() for kind in REQUIRED_FIELDS)

LineRef = tuple[int, int]  # offset and length of a line


class InFlightRequest(NamedTuple):
    """A request that was sent, and of which nothing more is known."""

    request_id: str
    estimate: int  # of its tokens


@dataclass(slots=True)
class JournalContents:
    """What a journal holds: the place of each answer by its request's key, and the rest in short."""

    path: Path
    answers: dict[str, LineRef] = field(default_factory=dict)
    failures: dict[str, LineRef] = field(default_factory=dict)  # the last one, where there is no answer
    in_flight: dict[str, InFlightRequest] = field(default_factory=dict)
    unanswered: dict[str, list[Usage]] = field(default_factory=dict)  # usage of requests that may have been charged
    plans: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the plan's identity
    answered_plans: set[str] = field(default_factory=set)  # identities of the plans of the answers
    step_downs: list[dict[str, Any]] = field(default_factory=list)
    torn: int = 0  # bytes of a torn last line
    size: int = 0  # of everything before it

    def format_for(self, base: str, formats: Sequence[AnswerFormat]) -> AnswerFormat:
        """The one of these response formats, highest first, that a plan has stepped down to; or else the first."""
        reached = [step["to"] for step in self.step_downs if step["base"] == base and step["to"] in formats]
        return max([formats[0], *reached], key=formats.index)

    def note(self, record: dict[str, Any], length: int) -> None:
        """Add a line, `length` bytes long, which is (or is about to be) at the end of the file."""
        place = self.size, length
        self.size += length
        match record["kind"]:
            case "plan":
                self.plans[record["plan"]] = record
            case "step_down":
                self.step_downs.append(record)
            case "asked":
                self.in_flight[record["key"]] = InFlightRequest(record["request_id"], record["estimate"])
            case "unanswered":
                self.in_flight.pop(record["key"], None)
                if record.get("usage"):
                    self.unanswered.setdefault(record["key"], []).append(line_usage(record))
            case "failure":
                if record["key"] not in self.answers:
                    self.failures[record["key"]] = place
            case "answer":
                self.in_flight.pop(record["key"], None)
                self.failures.pop(record["key"], None)
                self.answers.setdefault(record["key"], place)
                self.answered_plans.add(record["plan"])


def parse_line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """A line of a journal, its fields of the right types; InputError for any other."""
    place = Place(str(path), number)
    try:
        record = orjson.loads(line)
    except ValueError:
        # After lines of ours it is one of ours, as a power cut can leave it.
        if number == 1 and not line.startswith(_LINE_STARTS):
            raise _foreign_line_error(place, "text that is not JSON") from None
        raise InputError(
            "journal.damaged",
            "this line of the journal is damaged",
            place=place,
            advice=_REMOVE_LINE,
        ) from None
    if not isinstance(record, dict):
        raise _foreign_line_error(place, describe_value(record))
    kind = record.get("kind")
    if not isinstance(kind, str) or not record.keys() >= {*REQUIRED_FIELDS.get(kind, (None,))}:
        raise _foreign_line_error(place, describe_value(kind))
    if record.get("format_version", JOURNAL_VERSION) != JOURNAL_VERSION:
        raise _foreign_line_error(place, f"format_version {describe_value(record['format_version'])}")
    for name, value in record.items():
        test = _FIELD_TESTS.get(name)
        if test is None:
            continue
        if not test(value) or (value is not None and name in _LARGEST and not 0 <= value <= _LARGEST[name]):
            raise InputError(
                "journal.wrong_field",
                "this line of the journal has a field that goldgate did not write",
                place=Place(place.file, place.line, name),
                found=describe_value(value),
                expected=_EXPECTED.get(name, expected_text(FIELD_TYPES[name])),
                advice=_REMOVE_LINE,
            )
    return record


def is_torn(line: bytes, *, first: bool) -> bool:
    """Whether a line without its end is the beginning of a line of a journal: only that may be removed.

    A few bytes count as one after other lines of a journal, but not as the first line of a file.
    """
    return any(line.startswith(start) or (not first and start.startswith(line)) for start in _LINE_STARTS)


def line_usage(record: dict[str, Any]) -> Usage:
    """The tokens of a line; what cannot be a count of tokens was not counted."""
    usage = record.get("usage")
    if not usage or max(usage[:3]) > MAX_ANSWER_TOKENS:
        return Usage(estimated=True)
    return Usage(*usage)


def _foreign_line_error(place: Place, found: str) -> InputError:
    return InputError(
        "journal.not_a_journal",
        "not a line of a journal as this version of goldgate writes it; the file is left as it is",
        place=place,
        found=found,
        advice="choose another folder for --out",
    )


_DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def read_contents(path: Path) -> JournalContents:
    """Read a journal. A missing file is an empty journal.

    InputError for an invalid line.
    """
    contents = JournalContents(path)
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
        raise _unusable_error(path, system_reason(problem)) from None
    return contents


def journal_in_use(path: Path) -> bool:
    """Whether another process holds this journal, and with it the folder."""
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

    def __init__(self, path: Path) -> None:
        """Lock the file, remove a torn last line and read the journal."""
        self.path = path
        self.full: str | None = None  # why nothing more should be asked: what is written now goes into the reserve
        self._reserve: IO[bytes] | None = None
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
            self._file = os.open(path, flags, 0o644)
        except OSError as problem:
            raise _unusable_error(path, system_reason(problem)) from None
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
                raise _unusable_error(self.path, system_reason(problem), "there is no room for the answers") from None

    def begin(self, requests: RequestBuilder) -> None:
        """Write the plan of the requests that follow, unless the journal has it already."""
        if requests.identity not in self.contents.plans:
            plan, form = requests.plan, requests.form
            line = {"plan": requests.identity, "base": plan.base(), "format": form, "settings": plan.settings()}
            self._append("plan", {"format_version": JOURNAL_VERSION, **line})

    def record_request(self, request: ModelRequest, request_id: str) -> None:
        """Write a request that is about to be sent."""
        self._append_about("asked", request, {"request_id": request_id, "estimate": request.estimate})

    def record_no_answer(self, request: ModelRequest, cause: str, usage: Usage | None) -> None:
        """Write that a request got no answer; `usage` is what it may have cost, None for nothing."""
        self._append_about("unanswered", request, {"cause": cause, "usage": _usage_list(usage)})

    def answer(self, request: ModelRequest, answer: ModelAnswer, attempts: int, seconds: float) -> None:
        """Write the answer to a request, the number of attempts, and how long the last one took."""
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
        self._append_about("answer", request, fields)

    def failure(self, request: ModelRequest, failure: NoAnswer, attempts: int) -> None:
        """Write that a question was given up, and the reason of the last attempt."""
        fields = {"seed": request.seed, "cause": failure.cause, "detail": failure.detail, "attempts": attempts}
        self._append_about("failure", request, fields)

    def step_down(self, base: str, refused: AnswerFormat, to: AnswerFormat, detail: str) -> None:
        """Write that a format was refused, and what is asked for instead."""
        self._append("step_down", {"base": base, "from": refused, "to": to, "detail": detail})

    def close(self) -> None:
        if self._file >= 0:
            self._release_reserve()
            with suppress(OSError):  # what can go wrong here went wrong in sync() already
                os.close(self._file)  # which also unlocks it
            self._file = -1

    def sync(self) -> None:
        """Flush the journal to disk."""
        try:
            flush_to_disk(self._file)
        except OSError as problem:
            raise _unusable_error(self.path, system_reason(problem), "the journal cannot be stored") from None

    def _append_about(self, kind: str, request: ModelRequest, fields: dict[str, Any]) -> None:
        self._append(kind, {"key": request.key, "id": request.id, "plan": request.plan, **fields})

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
                raise _unusable_error(self.path, system_reason(problem), "the answer cannot be stored") from None
            self.full = system_reason(problem)
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


def read_lines(path: Path, places: Sequence[LineRef]) -> Iterator[dict[str, Any]]:
    """The records at `places` of a journal."""
    if not places:
        return
    with open(path, "rb") as stream:
        for offset, length in places:
            stream.seek(offset)
            try:
                yield orjson.loads(stream.read(length))
            except ValueError:
                message = "the journal was changed meanwhile"
                raise InputError("journal.changed", message, place=Place(str(path))) from None


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
        raise _unusable_error(path, system_reason(problem), "the journal cannot be locked") from None


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


def _unusable_error(path: Path, reason: str, message: str = "the journal cannot be used") -> ConfigError:
    full = reason in map(os.strerror, _DISK_FULL)
    advice = "free some space and run the same command again" if full else None
    return ConfigError("journal.unusable", message, place=Place(str(path)), found=reason, advice=advice)
