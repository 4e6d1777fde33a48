"""The lines of a journal: what each kind must have, and what all of them come to.

asked       a request is about to be sent, under this request id
answer      the answer to it
unanswered  it came back without one (the cause, and the tokens if it may have been charged)
failure     a question was given up
plan        what is asked from here on
step_down   a response format was refused: for the whole plan, or (with a key) for one question
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate.core.task import FORMATS, Format
from goldgate.errors import InputError, Place, describe
from goldgate.generation.outcome import MOST_TOKENS, Usage

FORMAT_VERSION = 2  # 1 had no lines `asked` and `unanswered`
READ_VERSIONS = (1, 2)
CUT_OFF = "cut_off"  # the cause of a request that a kill cut off
MOST_ATTEMPTS = 1_000_000

_TEXT, _MAYBE_TEXT = (str,), (str, type(None))
_QUESTION = {"key": _TEXT, "plan": _TEXT}
NEEDED: dict[str, dict[str, tuple[type, ...]]] = {
    "plan": {"plan": _TEXT, "base": _TEXT, "format": _TEXT, "settings": (dict,)},
    "asked": {**_QUESTION, "request_id": _TEXT, "estimate": (int,)},
    "answer": {**_QUESTION, "id": _TEXT, "response": _TEXT},
    "unanswered": {**_QUESTION, "cause": _TEXT},
    "failure": {**_QUESTION, "id": _TEXT, "cause": _TEXT},
    "step_down": {"base": _TEXT, "from": _TEXT, "to": _TEXT},
}
_OPTIONAL: dict[str, tuple[type, ...]] = {
    "key": _TEXT,
    "usage": (list, type(None)),
    "attempts": (int, type(None)),
    "seed": (int, type(None)),
    "finish_reason": _MAYBE_TEXT,
    "model": _MAYBE_TEXT,
    "reasoning": _MAYBE_TEXT,
    "detail": _MAYBE_TEXT,
    "endpoint": _MAYBE_TEXT,  # where several are asked: the plan names none
}
_OURS = tuple(f'{{"kind":"{kind}",'.encode() for kind in NEEDED)

Span = tuple[int, int, int]  # of a line: the number of its file, offset and length


class InFlight(NamedTuple):
    """A request that was sent, and of which nothing more is known."""

    request_id: str
    estimate: int  # of its tokens


@dataclass(slots=True)
class Unanswered:
    """Requests for one question that gave no answer and may have been charged all the same."""

    requests: int = 0
    input: int = 0
    output: int = 0

    def add(self, usage: Usage) -> None:
        self.requests += 1
        self.input += usage.input
        self.output += usage.output

    def join(self, other: Unanswered) -> None:
        self.requests += other.requests
        self.input += other.input
        self.output += other.output


@dataclass(slots=True)
class Contents:
    """What a journal holds: the place of each answer by its request's key, and the rest in short.

    Several journals can be read into one, the one that is written to as the last.
    """

    files: list[Path] = field(default_factory=list)
    answers: dict[str, Span] = field(default_factory=dict)
    failures: dict[str, Span] = field(default_factory=dict)  # the last one, where there is no answer
    in_flight: dict[str, InFlight] = field(default_factory=dict)
    unanswered: dict[str, Unanswered] = field(default_factory=dict)
    plans: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the plan's identity
    answered: dict[str, int] = field(default_factory=dict)  # answers by the plan's identity
    answered_in: dict[int, set[str]] = field(default_factory=dict)  # the plans with answers, by the number of the file
    step_downs: list[dict[str, Any]] = field(default_factory=list)  # of whole plans
    lowered: set[str] = field(default_factory=set)  # keys in a lower format than the plan's, refused in the higher one
    twice: dict[str, tuple[int, int]] = field(default_factory=dict)  # keys answered in two files
    taken_over: dict[str, int] = field(default_factory=dict)  # request ids of cut-off requests, by who asked again
    torn: int = 0  # bytes of a torn last line of the last file
    size: int = 0  # of everything before it
    _cut_off: set[str] = field(default_factory=set)  # keys whose next request takes over a cut-off one

    def format_for(self, base: str, first: Format) -> Format:
        """The response format that a plan has stepped down to, or its first."""
        reached = [step["to"] for step in self.step_downs if step["base"] == base and step["to"] in FORMATS]
        return max([first, *reached], key=FORMATS.index)

    def open(self, path: Path) -> None:
        """What is noted from here on is in this file."""
        self.files.append(path)
        self.size = self.torn = 0

    def endpoint_of(self, identity: str) -> str | None:
        """The endpoint that a plan names, if it names one."""
        name = self.plans[identity]["settings"].get("endpoint") if identity in self.plans else None
        return name if isinstance(name, str) else None

    def note(self, record: dict[str, Any], length: int) -> None:
        """Take in a line that stands (or will stand) at the end."""
        place = len(self.files) - 1, self.size, length
        self.size += length
        match record["kind"]:
            case "plan":
                self.plans[record["plan"]] = record
            case "step_down" if "key" in record:
                self.lowered.add(record["key"])
            case "step_down":
                self.step_downs.append(record)
            case "asked":
                self._note_asked(record, place[0])
            case "unanswered":
                if record["cause"] == CUT_OFF:
                    self._cut_off.add(record["key"])
                self.in_flight.pop(record["key"], None)
                if record.get("usage"):
                    self.unanswered.setdefault(record["key"], Unanswered()).add(usage_of(record))
            case "failure":
                if record["key"] not in self.answers:
                    self.failures[record["key"]] = place
            case "answer":
                self._note_answer(record, place)

    def _note_asked(self, record: dict[str, Any], file: int) -> None:
        key, request_id = record["key"], record["request_id"]
        if self.taken_over.get(request_id, file) != file:
            return  # cut off, and asked again by the process whose journal was read before this one: counted there
        if key in self._cut_off:
            self._cut_off.discard(key)
            self.taken_over[request_id] = file
        self.in_flight[key] = InFlight(request_id, record["estimate"])

    def _note_answer(self, record: dict[str, Any], place: Span) -> None:
        key = record["key"]
        self.answered_in.setdefault(place[0], set()).add(record["plan"])
        self.in_flight.pop(key, None)
        self.failures.pop(key, None)
        if key in self.answers:  # two journals put together: the first answer counts, and both were paid for
            self.unanswered.setdefault(key, Unanswered()).add(usage_of(record))
            if self.answers[key][0] != place[0]:
                self.twice[key] = self.answers[key][0], place[0]
        else:
            self.answers[key] = place
            self.answered[record["plan"]] = self.answered.get(record["plan"], 0) + 1


def parse_line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """A line of a journal, its fields of the right types; InputError for any other."""
    place = Place(str(path), number)
    try:
        record = orjson.loads(line)
    except ValueError:
        if number == 1 and not line.startswith(_OURS):  # after lines of ours, as a power cut can leave it, it is one
            raise _foreign(place, "text that is not JSON") from None
        raise InputError(
            "journal.damaged",
            "this line of the journal is damaged",
            place=place,
            advice="remove the line; what it held is then asked again",
        ) from None
    kind = record.get("kind") if isinstance(record, dict) else None
    if not isinstance(kind, str) or kind not in NEEDED or not all(name in record for name in NEEDED[kind]):
        raise _foreign(place, describe(kind if isinstance(record, dict) else record))
    assert isinstance(record, dict)
    if record.get("format_version", FORMAT_VERSION) not in READ_VERSIONS:
        raise InputError("journal.other_version", "a newer goldgate wrote this journal", place=place)
    for name, types in {**NEEDED[kind], **_OPTIONAL}.items():
        value = record.get(name)
        if name in record and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
            raise _wrong(place, name, describe(value))
    _check_numbers(record, place)
    return record


def is_torn(line: bytes, *, first: bool) -> bool:
    """Whether a last line without its end is the beginning of one of ours: only that may be removed.

    A few bytes are taken for ours after other lines of ours, but not in a file that has nothing else in it.
    """
    return any(line.startswith(start) or (not first and start.startswith(line)) for start in _OURS)


def usage_of(record: dict[str, Any]) -> Usage:
    """The tokens of a line; what cannot be a count of tokens was not counted."""
    usage = record.get("usage")
    if not usage or max(usage[:3]) > MOST_TOKENS:
        return Usage(estimated=True)
    return Usage(*usage)


def _check_numbers(record: dict[str, Any], place: Place) -> None:
    usage = record.get("usage")
    if usage is not None:
        counts = [value for value in usage[:3] if type(value) is int and value >= 0]
        if len(usage) != 4 or len(counts) != 3 or not isinstance(usage[3], bool):
            raise _wrong(place, "usage", "a list of something else", "three counts of tokens, and true or false")
    for name, most in (("attempts", MOST_ATTEMPTS), ("estimate", MOST_TOKENS)):
        value = record.get(name)
        if value is not None and not 0 <= value <= most:
            raise _wrong(place, name, describe(value), f"a number from 0 to {most:,}")


def _wrong(place: Place, name: str, found: str, expected: str | None = None) -> InputError:
    return InputError(
        "journal.wrong_field",
        "this line of the journal has a field that goldgate did not write",
        place=Place(place.file, place.line, name),
        found=found,
        expected=expected,
        advice="remove the line; what it held is then asked again",
    )


def _foreign(place: Place, found: str) -> InputError:
    return InputError(
        "journal.not_a_journal",
        "not a line of a journal; the file is left as it is",
        place=place,
        found=found,
        advice="choose another folder for --out",
    )
