"""The result of reading a response, what its names mean, and rates of how answers were read.

A result has the answer, its place, repairs and what was left out. The rates say how many answers were read as they
stand, after repairs, or not at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from goldgate.core.finding import Finding
from goldgate.core.measure import UNITS_COLUMN, RatioMeasure, count_names
from goldgate.core.metric import Count, Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally

if TYPE_CHECKING:
    from goldgate.core.contracts import ParseCounts

MAX_PLACES = 1_000  # repairs whose places are kept; every name is, whatever the number


class Step(StrEnum):
    """A repair: the name that samples and reports have for it, and what it means."""

    meaning: str

    def __new__(cls, name: str, meaning: str) -> Step:
        step = str.__new__(cls, name)
        step._value_ = name
        step.meaning = meaning
        return step

    CLOSED_BRACKETS = "closed_brackets", "brackets that were left open are closed"
    COMMENTS = "comments", "comments (//, #, /* */) are skipped"
    CONTROL_CHARACTERS = "control_characters", "line breaks and other control characters inside a string are kept"
    CUT_AT_ERROR = "cut_at_error", "reading ended at something unreadable; what was complete is kept"
    DOUBLED_QUOTES = "doubled_quotes", 'quotation marks doubled by a CSV export, ""key"", are read as one'
    DROPPED_TRUNCATED_VALUE = (
        "dropped_truncated_value",
        "a key or a value broke off, and is dropped with what depends on it",
    )
    ELLIPSIS = "ellipsis", "... or … in place of a value is skipped"
    EQUALS_SIGNS = "equals_signs", "= or => between a key and its value is read as a colon"
    ESCAPED_QUOTES = "escaped_quotes", 'marks that were escaped outside strings, \\", are read as "'
    EXTRA_COMMAS = "extra_commas", "commas with nothing between them are skipped"
    FLATTENED_LIST = "flattened_list", "a list of lists of events is made one list"
    FULLWIDTH_PUNCTUATION = "fullwidth_punctuation", "｛｝［］【】：，、； are read as structure, outside strings"
    INVALID_ESCAPES = "invalid_escapes", "an escape that JSON does not know is kept as it is written (\\' is ')"
    JOINED_OBJECTS = "joined_objects", "several event objects are made one list"
    LEFT_OUT_OBJECTS = "left_out_objects", "an event object beside a whole answer is left out"
    LENIENT_SYNTAX = "lenient_syntax", "other syntax that JSON does not have, such as a no-break space"
    LONE_SURROGATES = "lone_surrogates", "half of a surrogate pair becomes U+FFFD"
    MISSING_COLONS = "missing_colons", "a colon is read where a value follows its key without one"
    MISSING_COMMAS = "missing_commas", "a comma is read where two values follow each other"
    MISSING_QUOTES = "missing_quotes", "a string that lacks its first or last mark ends where structure says so"
    MISSING_VALUES = "missing_values", "a key without a value gets null"
    NON_FINITE_NUMBERS = "non_finite_numbers", "NaN, Infinity and the like become null"
    OPENED_BRACKETS = "opened_brackets", "a bracket that is missing before its first key or item is put in"
    PYTHON_LITERALS = "python_literals", "True, False, None, and other words for null (NULL, nil, N/A, undefined)"
    REPEATED_KEYS = "repeated_keys", "a duplicate key: the last one counts"
    SEMICOLONS = "semicolons", "; between values is read as a comma"
    SINGLE_QUOTES = "single_quotes", "strings in '…'"
    SKIPPED_TEXT = "skipped_text", "words between values, or something unreadable up to the next structure, are skipped"
    SMART_QUOTES = "smart_quotes", "strings in “…”, ‘…’ and other typographic marks"
    STRAY_BRACKETS = "stray_brackets", "a bracket that is one too many is skipped"
    TRAILING_COMMA = "trailing_comma", "a comma before a closing bracket is skipped"
    TUPLES = "tuples", "(…) in place of a list is read as one"
    UNESCAPED_QUOTES = "unescaped_quotes", "a quotation mark inside a string is kept as text"
    UNQUOTED_KEYS = "unquoted_keys", "keys without quotation marks"
    UNQUOTED_VALUES = (
        "unquoted_values",
        "a value after a key without quotation marks, such as 12% or 1,200, is its text",
    )
    UNWRAPPED_CALL = "unwrapped_call", "the answer is taken out of the tool call that it was given to"
    UNWRAPPED_STRING = "unwrapped_string", "an answer that was encoded twice is decoded twice"


STEP_MEANINGS = {step: step.meaning for step in Step}


# Statuses, methods, thought states and reasons are plain strings, not enumerations: they are dictionary keys and JSON
# in the inner loop.
class Status:
    """How the answer was decoded."""

    RAW = "raw"
    REPAIRED = "repaired"
    ERROR = "error"


STATUS_MEANINGS = {
    Status.RAW: "readable as JSON",
    Status.REPAIRED: "readable after repair",
    Status.ERROR: "not readable as JSON",
}


class Method:
    """Where the answer was found."""

    WHOLE = "whole"
    FENCED = "fenced"
    EMBEDDED = "embedded"
    STRUCTURED = "structured"
    NO_JSON_FOUND = "no_json_found"


METHOD_MEANINGS = {
    Method.WHOLE: "nothing but the answer, outside thoughts",
    Method.FENCED: "in a fenced block",
    Method.EMBEDDED: "in prose",
    Method.STRUCTURED: "the prediction came as events, not as text",
    Method.NO_JSON_FOUND: "nothing in it looks like an answer",
}
METHODS = tuple(METHOD_MEANINGS)


class ThoughtState:
    """Whether the response has a thought block."""

    NONE = "none"
    CLOSED = "closed"
    UNCLOSED = "unclosed"


THOUGHT_MEANINGS = {
    ThoughtState.NONE: "no thought block",
    ThoughtState.CLOSED: "cut out",
    ThoughtState.UNCLOSED: "never closed",
}
THOUGHT_STATES = tuple(THOUGHT_MEANINGS)


class Reason:
    """Why something that looks like an answer was left out."""

    REPLACED = "replaced"
    CUT = "cut"
    TEMPLATE = "template"
    ASIDE = "aside"
    CODE = "code"
    ANOTHER_TURN = "another_turn"
    LIMIT = "limit"


REASON_MEANINGS = {
    Reason.REPLACED: "replaced by a later answer",
    Reason.CUT: "incomplete, and there is a complete answer",
    Reason.TEMPLATE: "only a template of an answer",
    Reason.ASIDE: "there is a whole answer, and nothing says that this replaces it",
    Reason.CODE: "in a block of code, and there is an answer elsewhere",
    Reason.ANOTHER_TURN: "written after the end of the chat turn",
    Reason.LIMIT: "not read: the text before it is too broken for its length",
}


class LeftOutText(NamedTuple):
    """A stretch of the response that looks like an answer and is not part of it."""

    start: int
    end: int
    reason: str


class RepairPlace(NamedTuple):
    """A repair and where in the response it was made."""

    step: Step
    at: int


@dataclass(slots=True)
class TolerantReading:
    """What could be read from one opening bracket on."""

    value: Any  # a list, a dict, or None where nothing was complete
    end: int  # where reading stopped; the caller goes on from here
    places: list[tuple[Step, int]]
    complete: bool  # the outermost bracket was closed

    @property
    def steps(self) -> set[Step]:
        """What was mended, each name once."""
        return {step for step, _ in self.places}


@dataclass(slots=True)
class Parsed:
    """An answer as it was read. `value` is the decoded JSON, or None where nothing decoded.

    `start` and `end` say where in the response it stands: from its first bracket to its last.
    """

    status: str
    method: str
    value: Any = None
    source: str | None = None  # the text that decoded as it stands: numbers can be read again from it
    repairs: tuple[Step, ...] = ()  # each name once, sorted
    thought_state: str = ThoughtState.NONE
    thought: str = ""  # the text of the thought blocks
    preamble: str = ""  # what stands before the answer, outside thoughts, if it has words
    start: int | None = None
    end: int | None = None
    left_out: tuple[LeftOutText, ...] = ()
    places: tuple[RepairPlace, ...] = ()  # every repair, in the order of the text

    def after_thought(self, thought: str) -> Parsed:
        """This reading with a thought that was stored beside the response, before those inside it."""
        state = ThoughtState.CLOSED if self.thought_state == ThoughtState.NONE else self.thought_state
        return replace(self, thought_state=state, thought="\n".join(filter(None, (thought, self.thought))))


class ParsedFacts(Protocol):
    """Facts of a unit whose answer was read; None where there is no prediction."""

    @property
    def parsed(self) -> Parsed | None: ...


_METRIC_OF = {
    Status.RAW: "parse_raw_success",
    Status.REPAIRED: "parse_repair_success",
    Status.ERROR: "parse_errors",
}
_PARSE_COUNTS: dict[tuple[str, bool], Counts] = {  # by status, and whether there is no JSON at all
    (status, no_json): (0, *(int(status == other) for other in _METRIC_OF), int(no_json), 1)
    for status in _METRIC_OF
    for no_json in (False, True)
}
_MISSING_PREDICTION = (1, *_PARSE_COUNTS[Status.ERROR, False][1:])  # an error, for nothing was parsed


class ParseRates(RatioMeasure[ParsedFacts]):
    """raw + repaired + errors = all samples; a missing prediction is an error, for nothing was parsed."""

    table = "parse"
    columns = ("missing_predictions", *_METRIC_OF.values(), "parse_extraction_failures", UNITS_COLUMN)
    at_most_one = frozenset(columns)
    counted = {name: name for name in columns[:-1]}

    def row(self, facts: ParsedFacts) -> Counts:
        parsed = facts.parsed
        if parsed is None:
            return _MISSING_PREDICTION
        return _PARSE_COUNTS[parsed.status, parsed.method == Method.NO_JSON_FOUND]

    def totals(self, facts: ParsedFacts) -> Mapping[str, int]:
        parsed = facts.parsed
        if parsed is None:
            return {"total_samples": 1}
        totals = {"total_samples": 1, "method." + parsed.method: 1, "thought." + parsed.thought_state: 1}
        if parsed.status == Status.REPAIRED:
            totals |= count_names([f"repair.{step}" for step in parsed.repairs])
        return totals

    def metrics(self, tally: Tally) -> Metrics:
        return {"total_samples": Count(tally.counts["total_samples"]), **super().metrics(tally)}


def answer_findings(parsed: Parsed | None, identity: str) -> Iterator[Finding]:
    """What a reader of the report must know of an answer: that it is missing, or could not be read."""
    if parsed is None:
        yield answer_finding("missing_prediction", identity, "no prediction: everything in its gold counts as missed")
    elif parsed.status == Status.ERROR:
        yield answer_finding("unreadable_answer", identity, f"the answer cannot be read: {parsed.method}")


def answer_finding(code: str, identity: str, message: str) -> Finding:
    """A finding on the answer with this id."""
    return Finding(code, "error", "predictions", None, "", message, identity)


def parse_section(tally: Tally) -> ParseCounts:
    """How often answers were found by each method, with a thought in each state, and mended by each step."""
    counts = tally.counts
    return {
        "methods": {method: counts[f"method.{method}"] for method in METHODS},
        "thoughts": {state: counts[f"thought.{state}"] for state in THOUGHT_STATES},
        "repairs": {step.value: counts[f"repair.{step}"] for step in Step if counts[f"repair.{step}"]},
    }
