"""Strict JSON: texts and parts of texts that decode as they are, with numbers as their text where that is needed."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import orjson

from goldgate.suites.extraction.events.argument_text import NumberText, number_text


class DecodedValue(NamedTuple):
    """A value, and the text that it can be read from again (None where its numbers are texts already)."""

    value: Any
    source: str | None


def _not_json(constant: str) -> object:
    raise ValueError(constant)


_exact = json.JSONDecoder(parse_float=NumberText, parse_int=number_text, parse_constant=_not_json)
scan_exact = _exact.raw_decode  # one value at a position, and where it ends; numbers keep their text

# No JSON begins so: its first key stands in other marks, or no colon follows it.
_NOT_SOUND = re.compile(r"""(?:\[[ \t\r\n]*+)*+\{[ \t\r\n]*+(?:[^"} \t\r\n]|"[^"\\]*+"[ \t\r\n]*+[^: \t\r\n])""")
_LONGEST_PART = 8_192  # characters; a larger part is read in smaller ones
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode_answer(text: str) -> DecodedValue | None:
    """The value of a JSON text, or None if it is not JSON. Blanks may stand around it."""
    try:
        return DecodedValue(orjson.loads(text), text)
    except orjson.JSONDecodeError as error:
        # JSON that orjson does not read: `1e400` is a number, though no double holds it
        return decode_exactly(text) if str(error).startswith("number is infinity") else None


def decode_exactly(text: str) -> DecodedValue | None:
    """The value of a JSON text with every number as its text, or None if it is not JSON."""
    try:
        value = _exact.decode(text)
    except (ValueError, RecursionError):
        return None
    return None if _has_lone_surrogate(text, value) else DecodedValue(value, None)


def with_number_texts(value: Any, source: str | None) -> Any:
    """The value with every number as its text: what is taken out of it has no source to read them from again."""
    decoded = None if source is None else decode_exactly(source)
    return value if decoded is None else decoded.value


def scan_json(text: str, start: int, limit: int) -> tuple[Any, int] | None:
    """The JSON value that begins at `start`, numbers as their text, and where it ends; None if it is not JSON.

    A failure may look at all of the text (and its error counts the lines): callers bound how many there are.
    """
    try:
        value, end = scan_exact(text, start)
    except (ValueError, RecursionError):
        return None
    return None if end > limit or _has_lone_surrogate(text[start:end], value) else (value, end)


def scan_part(text: str, start: int, limit: int) -> tuple[Any, int] | None:
    """What `scan_json` gives for a container of at most 8,192 characters; a failure looks at no more than these."""
    end = min(limit, start + _LONGEST_PART)
    if _NOT_SOUND.match(text, start, end) is not None:
        return None
    part = scan_json(text[start:end], 0, end - start)
    return None if part is None else (part[0], start + part[1])


def _has_lone_surrogate(text: str, value: Any) -> bool:
    """Whether an escape in the text left half of a surrogate pair in the value: no file can hold it."""
    if _SURROGATE.search(text) is None:
        return False
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return False
