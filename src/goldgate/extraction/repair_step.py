"""The names of what repair does to an answer."""

from __future__ import annotations

from enum import StrEnum


class Step(StrEnum):
    """What was mended, by the name that stands in a sample's record and in the report."""

    CLOSED_BRACKETS = "closed_brackets"
    COMMENTS = "comments"
    CONTROL_CHARACTERS = "control_characters"
    CUT_AT_ERROR = "cut_at_error"
    DROPPED_TRUNCATED_VALUE = "dropped_truncated_value"
    ELLIPSIS = "ellipsis"
    ESCAPED_QUOTES = "escaped_quotes"
    EXTRA_COMMAS = "extra_commas"
    FULLWIDTH_PUNCTUATION = "fullwidth_punctuation"
    INVALID_ESCAPES = "invalid_escapes"
    JOINED_OBJECTS = "joined_objects"
    LENIENT_SYNTAX = "lenient_syntax"
    LONE_SURROGATES = "lone_surrogates"
    MISSING_COMMAS = "missing_commas"
    MISSING_VALUES = "missing_values"
    NON_FINITE_NUMBERS = "non_finite_numbers"
    PYTHON_LITERALS = "python_literals"
    REPEATED_KEYS = "repeated_keys"
    SEMICOLONS = "semicolons"
    SINGLE_QUOTES = "single_quotes"
    SKIPPED_TEXT = "skipped_text"
    SMART_QUOTES = "smart_quotes"
    STRAY_BRACKETS = "stray_brackets"
    TRAILING_COMMA = "trailing_comma"
    UNQUOTED_KEYS = "unquoted_keys"
    UNESCAPED_QUOTES = "unescaped_quotes"
    UNQUOTED_VALUES = "unquoted_values"
    UNWRAPPED_STRING = "unwrapped_string"
