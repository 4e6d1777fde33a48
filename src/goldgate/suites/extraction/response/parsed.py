"""The result of reading a response: the answer, its place, repairs, what was left out, and what these names mean."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, NamedTuple

from goldgate.suites.extraction.response.thoughts import ThoughtState


class Step(StrEnum):
    """What was mended, by the name that stands in a sample's record and in the report."""

    CLOSED_BRACKETS = "closed_brackets"
    COMMENTS = "comments"
    CONTROL_CHARACTERS = "control_characters"
    CUT_AT_ERROR = "cut_at_error"
    DOUBLED_QUOTES = "doubled_quotes"
    DROPPED_TRUNCATED_VALUE = "dropped_truncated_value"
    ELLIPSIS = "ellipsis"
    EQUALS_SIGNS = "equals_signs"
    ESCAPED_QUOTES = "escaped_quotes"
    EXTRA_COMMAS = "extra_commas"
    FLATTENED_LIST = "flattened_list"
    FULLWIDTH_PUNCTUATION = "fullwidth_punctuation"
    INVALID_ESCAPES = "invalid_escapes"
    JOINED_OBJECTS = "joined_objects"
    LEFT_OUT_OBJECTS = "left_out_objects"
    LENIENT_SYNTAX = "lenient_syntax"
    LONE_SURROGATES = "lone_surrogates"
    MISSING_COLONS = "missing_colons"
    MISSING_COMMAS = "missing_commas"
    MISSING_QUOTES = "missing_quotes"
    MISSING_VALUES = "missing_values"
    NON_FINITE_NUMBERS = "non_finite_numbers"
    OPENED_BRACKETS = "opened_brackets"
    PYTHON_LITERALS = "python_literals"
    REPEATED_KEYS = "repeated_keys"
    SEMICOLONS = "semicolons"
    SINGLE_QUOTES = "single_quotes"
    SKIPPED_TEXT = "skipped_text"
    SMART_QUOTES = "smart_quotes"
    STRAY_BRACKETS = "stray_brackets"
    TRAILING_COMMA = "trailing_comma"
    TUPLES = "tuples"
    UNESCAPED_QUOTES = "unescaped_quotes"
    UNQUOTED_KEYS = "unquoted_keys"
    UNQUOTED_VALUES = "unquoted_values"
    UNWRAPPED_CALL = "unwrapped_call"
    UNWRAPPED_STRING = "unwrapped_string"


class Status:
    """How the answer was decoded."""

    # Plain strings here, in Method and in ThoughtState, not enumerations: they are dictionary keys
    # and JSON in the inner loop.
    RAW = "raw"
    REPAIRED = "repaired"
    ERROR = "error"


class Method:
    """Where the answer was found."""

    WHOLE = "whole"
    FENCED = "fenced"
    EMBEDDED = "embedded"
    STRUCTURED = "structured"  # the prediction came as events, not as text
    NO_JSON_FOUND = "no_json_found"


METHODS = (Method.WHOLE, Method.FENCED, Method.EMBEDDED, Method.STRUCTURED, Method.NO_JSON_FOUND)


class Reason:
    """Why something that looks like an answer was left out."""

    REPLACED = "replaced"  # a later answer took its place
    CUT = "cut"  # it breaks off, and a complete answer stands beside it
    TEMPLATE = "template"  # it shows the form of an answer: its type or all of its values are placeholders
    ASIDE = "aside"  # an object after a whole answer, or an empty list in passing: it replaces nothing
    CODE = "code"  # it stands in a block of a programming language, and an answer stands elsewhere
    ANOTHER_TURN = "another_turn"  # written after the mark of another turn of the chat

    LIMIT = "limit"  # not read: what stands before it took more steps than a text of this length may take


REASONS = (Reason.REPLACED, Reason.CUT, Reason.TEMPLATE, Reason.ASIDE, Reason.CODE, Reason.ANOTHER_TURN, Reason.LIMIT)


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
        """The same with a thought that was stored beside the response, before those inside it."""
        state = ThoughtState.CLOSED if self.thought_state == ThoughtState.NONE else self.thought_state
        return replace(self, thought_state=state, thought="\n".join(filter(None, (thought, self.thought))))


STATUS_MEANINGS = {
    Status.RAW: "it decoded as it stood",
    Status.REPAIRED: "it decoded after repair",
    Status.ERROR: "it did not decode",
}

METHOD_MEANINGS = {
    Method.WHOLE: "nothing but the answer stands outside thoughts",
    Method.FENCED: "it stands in a fenced block",
    Method.EMBEDDED: "it stands in prose",
    Method.STRUCTURED: "the prediction came as events, not as text",
    Method.NO_JSON_FOUND: "nothing in it looks like an answer",
}

THOUGHT_MEANINGS = {
    ThoughtState.NONE: "there is none",
    ThoughtState.CLOSED: "cut out",
    ThoughtState.UNCLOSED: "it is never closed",
}

REASON_MEANINGS = {
    Reason.REPLACED: "a later answer took its place",
    Reason.CUT: "it breaks off, and a complete answer stands beside it",
    Reason.TEMPLATE: "it only shows the form of an answer",
    Reason.ASIDE: "it stands beside a whole answer, and nothing says that it replaces it",
    Reason.CODE: "it stands in a block of code, and an answer stands elsewhere",
    Reason.ANOTHER_TURN: "it was written after the turn of the chat had ended",
    Reason.LIMIT: "it was not read: what stands before it is too broken for its length",
}

STEP_MEANINGS = {
    Step.CLOSED_BRACKETS: "brackets that were left open are closed",
    Step.COMMENTS: "comments (//, #, /* */) are skipped",
    Step.CONTROL_CHARACTERS: "line breaks and other control characters inside a string are kept",
    Step.CUT_AT_ERROR: "reading ended at something unreadable; what was complete is kept",
    Step.DOUBLED_QUOTES: 'quotation marks doubled by a CSV export, ""key"", are read as one',
    Step.DROPPED_TRUNCATED_VALUE: "a key or a value broke off, and is dropped with what depends on it",
    Step.ELLIPSIS: "... or … in place of a value is skipped",
    Step.EQUALS_SIGNS: "= or => between a key and its value is read as a colon",
    Step.ESCAPED_QUOTES: 'marks that were escaped outside strings, \\", are read as "',
    Step.EXTRA_COMMAS: "commas with nothing between them are skipped",
    Step.FLATTENED_LIST: "a list of lists of events is made one list",
    Step.FULLWIDTH_PUNCTUATION: "｛｝［］【】：，、； are read as structure, outside strings",
    Step.INVALID_ESCAPES: "an escape that JSON does not know is kept as it is written (\\' is ')",
    Step.JOINED_OBJECTS: "several event objects are made one list",
    Step.LEFT_OUT_OBJECTS: "an event object beside a whole answer is left out",
    Step.LENIENT_SYNTAX: "other syntax that JSON does not have, such as a no-break space",
    Step.LONE_SURROGATES: "half of a surrogate pair becomes U+FFFD",
    Step.MISSING_COLONS: "a colon is read where a value follows its key without one",
    Step.MISSING_COMMAS: "a comma is read where two values follow each other",
    Step.MISSING_QUOTES: "a string that lacks its first or last mark ends where structure says so",
    Step.MISSING_VALUES: "a key without a value gets null",
    Step.NON_FINITE_NUMBERS: "NaN, Infinity and the like become null",
    Step.OPENED_BRACKETS: "a bracket that is missing before its first key or item is put in",
    Step.PYTHON_LITERALS: "True, False, None, and other words for null (NULL, nil, N/A, undefined)",
    Step.REPEATED_KEYS: "a key stands twice in an object: the last one counts",
    Step.SEMICOLONS: "; between values is read as a comma",
    Step.SINGLE_QUOTES: "strings in '…'",
    Step.SKIPPED_TEXT: "words between values, or something unreadable up to the next structure, are skipped",
    Step.SMART_QUOTES: "strings in “…”, ‘…’ and other typographic marks",
    Step.STRAY_BRACKETS: "a bracket that is one too many is skipped",
    Step.TRAILING_COMMA: "a comma before a closing bracket is skipped",
    Step.TUPLES: "(…) in place of a list is read as one",
    Step.UNESCAPED_QUOTES: "a quotation mark inside a string is kept as text",
    Step.UNQUOTED_KEYS: "keys without quotation marks",
    Step.UNQUOTED_VALUES: "a value after a key without quotation marks, such as 12% or 1,200, is its text",
    Step.UNWRAPPED_CALL: "the answer is taken out of the tool call that it was given to",
    Step.UNWRAPPED_STRING: "an answer that was encoded twice is decoded twice",
}
