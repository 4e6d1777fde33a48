"""What journals hold: the fields of each kind of line, an index of all answers, and which answer counts for a question.

asked       a request is about to be sent, under this request id
answer      the answer to it
unanswered  it came back without an answer (the cause, and the tokens if it may have been charged)
failure     a question was given up
plan        what is asked from here on
step_down   a response format was refused: for the whole plan, or (with a key) for one question

`FormatLadder` orders the response formats of a plan from the most to the least demanding. With `auto`, a run starts
with the first and steps down when the endpoint does not support it. An answer counts in whichever format it came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import orjson

from goldgate.core.task import ANSWER_FORMATS, AnswerFormat, Question
from goldgate.errors import InputError, Place, describe_value
from goldgate.generation.request import MAX_ANSWER_TOKENS, RequestBuilder, RequestPlan, Usage, encode_chat
from goldgate.shape import AtLeast
from goldgate.shape.validation import expected_text, type_test

JOURNAL_VERSION = 2  # 1 had no lines `asked` and `unanswered`
READABLE_VERSIONS = (1, 2)
CUT_OFF = "cut_off"  # the cause of a request that a kill cut off
MAX_ATTEMPTS = 1_000_000

_Count = Annotated[int, AtLeast(0)]
FIELD_TYPES: dict[str, Any] = {
    **dict.fromkeys(("key", "plan", "base", "format", "request_id", "id", "response", "cause", "from", "to"), str),
    "settings": dict[str, object],
    "estimate": int,
    "usage": tuple[_Count, _Count, _Count, bool] | None,
    "attempts": int | None,
    "seed": int | None,
    **dict.fromkeys(("finish_reason", "model", "reasoning", "detail"), str | None),
    "endpoint": str | None,  # where several are asked: the plan names none
}
_FIELD_TESTS = {name: type_test(kind) for name, kind in FIELD_TYPES.items()}
REQUIRED_FIELDS = {
    "plan": ("plan", "base", "format", "settings"),
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

QuestionPosition = tuple[int, int | None]  # position of a document in its task, and the seed of its question
LineRef = tuple[int, int, int]  # number of the file, offset and length of a line


class InFlightRequest(NamedTuple):
    """A request that was sent, and of which nothing more is known."""

    request_id: str
    estimate: int  # of its tokens


@dataclass(slots=True)
class JournalContents:
    """What a journal holds: the place of each answer by its request's key, and the rest in short.

    Several journals can be read into one, the one that is written to as the last.
    """

    files: list[Path] = field(default_factory=list)
    answers: dict[str, LineRef] = field(default_factory=dict)
    failures: dict[str, LineRef] = field(default_factory=dict)  # the last one, where there is no answer
    in_flight: dict[str, InFlightRequest] = field(default_factory=dict)
    unanswered: dict[str, list[Usage]] = field(default_factory=dict)  # usage of requests that may have been charged
    plans: dict[str, dict[str, Any]] = field(default_factory=dict)  # by the plan's identity
    answered: dict[str, int] = field(default_factory=dict)  # answers by the plan's identity
    answered_in: dict[int, set[str]] = field(default_factory=dict)  # the plans with answers, by the number of the file
    step_downs: list[dict[str, Any]] = field(default_factory=list)  # step-downs of whole plans
    lowered: set[str] = field(default_factory=set)  # keys in a lower format than the plan's, refused in the higher one
    twice: dict[str, tuple[int, int]] = field(default_factory=dict)  # keys answered in two files
    taken_over: dict[str, int] = field(default_factory=dict)  # request ids of cut-off requests, by who asked again
    torn: int = 0  # bytes of a torn last line of the last file
    size: int = 0  # of everything before it
    _cut_off: set[str] = field(default_factory=set)  # keys whose next request takes over a cut-off one

    def format_for(self, base: str, first: AnswerFormat) -> AnswerFormat:
        """The response format that a plan has stepped down to, or its first."""
        reached = [step["to"] for step in self.step_downs if step["base"] == base and step["to"] in ANSWER_FORMATS]
        return max([first, *reached], key=ANSWER_FORMATS.index)

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
                    self.unanswered.setdefault(record["key"], []).append(line_usage(record))
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
        self.in_flight[key] = InFlightRequest(request_id, record["estimate"])

    def _note_answer(self, record: dict[str, Any], place: LineRef) -> None:
        key = record["key"]
        self.answered_in.setdefault(place[0], set()).add(record["plan"])
        self.in_flight.pop(key, None)
        self.failures.pop(key, None)
        if key in self.answers:  # two journals put together: the first answer counts, and both were paid for
            self.unanswered.setdefault(key, []).append(line_usage(record))
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
    if record.get("format_version", JOURNAL_VERSION) not in READABLE_VERSIONS:
        raise InputError("journal.other_version", "a newer goldgate wrote this journal", place=place)
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
    """Whether a last line without its end is the beginning of one of ours: only that may be removed.

    A few bytes are taken for ours after other lines of ours, but not in a file that has nothing else in it.
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
        "not a line of a journal; the file is left as it is",
        place=place,
        found=found,
        advice="choose another folder for --out",
    )


REFUSALS_NEEDED = 3  # questions refused in a format without a reason and answered in a lower one: it is the format


class StoredQuestion(NamedTuple):
    """What a journal has of one question."""

    keys: list[str]  # keys of the question in every format and from every source
    form: AnswerFormat | None = None  # the format of the answer that counts; None if there is no answer
    key: str = ""  # of that answer
    place: LineRef | None = None

    def without_answer(self, contents: JournalContents) -> list[Usage]:
        """Usage of each request for this question that may have been charged and gave no answer."""
        cut_off = [contents.in_flight[key].estimate for key in self.keys if key in contents.in_flight]
        usages = [usage for key in self.keys for usage in contents.unanswered.get(key, ())]
        return usages + [Usage(estimate, estimated=True) for estimate in cut_off]

    def unused(self, contents: JournalContents) -> list[LineRef]:
        """Further answers to this question, in other formats: paid for, and not counted as answers."""
        return [contents.answers[key] for key in self.keys if key != self.key and key in contents.answers]


class FormatLadder:
    """The requests of a plan in each of its formats; `form` is the one that new questions are asked in."""

    def __init__(self, plan: RequestPlan, contents: JournalContents) -> None:
        self.plan = plan
        self._steps = {form: RequestBuilder(plan, form) for form in plan.formats}
        self.form = _current_format(plan, contents)
        self._others = [other for source in plan.others() for other in _stored_requests(source, contents)]
        self._answered_in = {form for form, step in self._steps.items() if contents.answered.get(step.identity)}
        self._evidence: dict[AnswerFormat, int] = {}

    def __getitem__(self, form: AnswerFormat) -> RequestBuilder:
        return self._steps[form]

    @property
    def current(self) -> RequestBuilder:
        return self._steps[self.form]

    @property
    def bases(self) -> set[str]:
        """The base of the plan, and those of other sources whose answers count too."""
        return {self.plan.base(), *(step.plan.base() for step, _ in self._others)}

    def find_all(
        self, contents: JournalContents, positions: Iterable[QuestionPosition]
    ) -> Iterator[tuple[QuestionPosition, Question, StoredQuestion]]:
        """Each question with what the journals have of it."""
        for position, seed in positions:
            question = self.plan.task.question(position, seed)
            yield (position, seed), question, self.find(contents, question, seed)

    def find(self, contents: JournalContents, question: Question, seed: int | None) -> StoredQuestion:
        """The answer to a question: in the present format, in one above it, or in one that it was lowered to."""
        encoded = encode_chat(question.messages)
        own = [
            (self.current, self.form),
            *((step, self.form) for form, step in self._steps.items() if form != self.form),
        ]
        keys = [(step.key(question.id, seed, encoded), step.form, reached) for step, reached in (*own, *self._others)]
        every = [key for key, _, _ in keys]
        for key, form, reached in keys:
            is_below = ANSWER_FORMATS.index(form) > ANSWER_FORMATS.index(reached)
            if key in contents.answers and (not is_below or key in contents.lowered):
                return StoredQuestion(every, form, key, contents.answers[key])
        return StoredQuestion(every)

    def below(self, form: AnswerFormat) -> AnswerFormat | None:
        """The format to try instead of one that was refused; None if there is none."""
        forms = list(self._steps)
        place = max(forms.index(form) + 1, forms.index(self.form))
        return forms[place] if place < len(forms) else None

    def settled(self, form: AnswerFormat) -> bool:
        """Whether the endpoint has answered in this format: then a refusal is about the one request."""
        return form in self._answered_in

    def answered(self, form: AnswerFormat) -> None:
        self._answered_in.add(form)

    def is_higher(self, form: AnswerFormat) -> bool:
        """Whether new questions are asked in a format above this one."""
        return ANSWER_FORMATS.index(self.form) < ANSWER_FORMATS.index(form)

    def answered_below(self, form: AnswerFormat) -> bool:
        """Record that a question was refused above and answered in `form`; True once that is evidence enough."""
        self._evidence[form] = self._evidence.get(form, 0) + 1
        return self._evidence[form] >= REFUSALS_NEEDED and not self.settled(self.form)


def _current_format(plan: RequestPlan, contents: JournalContents) -> AnswerFormat:
    first = plan.formats[0]
    return contents.format_for(plan.base(), first) if len(plan.formats) > 1 else first


def _stored_requests(plan: RequestPlan, contents: JournalContents) -> list[tuple[RequestBuilder, AnswerFormat]]:
    """What was asked of another source, in each format, and the format that it had stepped down to."""
    steps = (RequestBuilder(plan, form) for form in plan.formats)
    return [(step, _current_format(plan, contents)) for step in steps if step.identity in contents.plans]
