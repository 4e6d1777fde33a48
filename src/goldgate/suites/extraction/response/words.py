"""What the names of the reader mean, in the words that people are shown."""

from __future__ import annotations

from goldgate.suites.extraction.response.parsed import Method, Reason, Status
from goldgate.suites.extraction.response.step import Step
from goldgate.suites.extraction.response.thoughts import ThoughtState

STATUSES = {
    Status.RAW: "it decoded as it stood",
    Status.REPAIRED: "it decoded after repair",
    Status.ERROR: "it did not decode",
}

METHODS = {
    Method.WHOLE: "nothing but the answer stands outside thoughts",
    Method.FENCED: "it stands in a fenced block",
    Method.EMBEDDED: "it stands in prose",
    Method.STRUCTURED: "the prediction came as events, not as text",
    Method.NO_JSON_FOUND: "nothing in it looks like an answer",
}

THOUGHTS = {
    ThoughtState.NONE: "there is none",
    ThoughtState.CLOSED: "cut out",
    ThoughtState.UNCLOSED: "it is never closed",
}

REASONS = {
    Reason.REPLACED: "a later answer took its place",
    Reason.CUT: "it breaks off, and a complete answer stands beside it",
    Reason.TEMPLATE: "it only shows the form of an answer",
    Reason.ASIDE: "it stands beside a whole answer, and nothing says that it replaces it",
    Reason.CODE: "it stands in a block of code, and an answer stands elsewhere",
    Reason.ANOTHER_TURN: "it was written after the turn of the chat had ended",
    Reason.LIMIT: "it was not read: what stands before it is too broken for its length",
}

STEPS = {
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
