"""What goes into the reader of responses and what comes out: the form of answers, and the result with its names.

A result has the answer, its place, repairs and what was left out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple

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
    REPEATED_KEYS = (
        "repeated_keys",
        "a key comes twice in an object: a new event or argument begins there, or the values are joined",
    )
    SAID_NONE = "said_none", "words that say that there is nothing are read as an empty list"
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
        "a value after a key without quotation marks, such as 12% or 1,200, is its text, "
        "and so is each item of a list without any: [Alice, Bob]",
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
    NEXT_EXAMPLE = "next_example"
    LIMIT = "limit"


REASON_MEANINGS = {
    Reason.REPLACED: "replaced by a later answer",
    Reason.CUT: "incomplete, and there is a complete answer",
    Reason.TEMPLATE: "only a template of an answer",
    Reason.ASIDE: "there is a whole answer, and nothing says that this replaces it",
    Reason.CODE: "in a block of code, and there is an answer elsewhere",
    Reason.ANOTHER_TURN: "written after the end of the chat turn",
    Reason.NEXT_EXAMPLE: "written for the next example of the prompt",
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


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerForm(ABC):
    """How the answers of one task are laid out. It may have parts that also stand alone, such as events.

    What is said here of a form holds for one without prefix, parts and templates.
    """

    prefix: str = ""  # what the prompt already held of every response
    flat: bool = False  # an answer may be one object, of which the first that says something counts
    next_example: tuple[str, ...] = ()  # how lines begin that begin the prompt's next example, beside the usual ones

    keys: frozenset[str] = field(default=frozenset(), compare=False, repr=False)  # that an answer may have as structure
    list_keys: tuple[str, ...] = field(default=(), compare=False, repr=False)  # under which an object has its parts
    part_keys: tuple[str, ...] = field(default=(), compare=False, repr=False)  # that every part has one of
    # Keys that begin a new part where they come again in an object, with the keys that follow.
    part_starts: frozenset[str] = field(default=frozenset(), compare=False, repr=False)

    keeps_equal_parts: ClassVar[bool] = False  # equal parts that stand alone are as many parts
    flattens: ClassVar[bool] = False  # a list of lists is read as one list of parts

    @abstractmethod
    def is_answer(self, value: Any) -> bool:
        """Whether a decoded value is meant as a whole answer."""

    @abstractmethod
    def is_event(self, value: Any) -> bool:
        """Whether a decoded value is meant as one part of an answer; parts that stand alone are joined."""

    def prefixed(self, response: str) -> str:
        """The response after the prefix, unless the model wrote that itself."""
        return response

    def events_key(self, value: dict[str, Any]) -> str | None:
        """The key under which an object has a list, as the list of parts."""
        return next((key for key in self.list_keys if isinstance(value.get(key), list)), None)

    def joins_values(self, key: str) -> bool:
        """Whether the single values of a key that comes twice are all kept, as a list; else the last one counts."""
        return False

    def says_something(self, value: Any) -> bool:
        """Whether an answer has any content."""
        return bool(value)

    def is_template(self, value: Any) -> bool:
        """Whether a value only shows the form of an answer."""
        return False

    def is_empty_template(self, value: Any) -> bool:
        """Whether a template has not even placeholders."""
        return False


@dataclass(frozen=True, slots=True)
class JsonForm(AnswerForm):
    """Any JSON object or array is an answer, as the root of the expected value has it.

    Where an array is expected, objects that stand alone are its items, equal ones too; where an object is expected, a
    list without an object in it is prose, such as a footnote mark, unless there is nothing else.
    """

    is_list: bool = False

    keeps_equal_parts: ClassVar[bool] = True

    def is_answer(self, value: Any) -> bool:
        if isinstance(value, dict):
            return not self.is_list
        return isinstance(value, list) and (self.is_list or any(isinstance(item, dict) for item in value))

    def is_event(self, value: Any) -> bool:
        return self.is_list and isinstance(value, dict)
