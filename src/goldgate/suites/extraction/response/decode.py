"""JSON as it stands: the strict half of reading."""

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


class ScannedPart(NamedTuple):
    """A container inside a larger value, and where reading goes on; if it is not sound, then inside it."""

    value: Any
    end: int
    sound: bool


def _not_json(constant: str) -> object:
    raise ValueError(constant)


_exact = json.JSONDecoder(parse_float=NumberText, parse_int=number_text, parse_constant=_not_json)
scan_exact = _exact.raw_decode  # one value at a position, and where it ends; numbers keep their text

# No JSON begins so: its first key stands in other marks, or no colon follows it.
_NOT_SOUND = re.compile(r"""(?:\[[ \t\r\n]*+)*+\{[ \t\r\n]*+(?:[^"} \t\r\n]|"[^"\\]*+"[ \t\r\n]*+[^: \t\r\n])""")
_LONGEST_PART = 8_192  # characters; a larger part is read in smaller ones
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def decode_json(text: str) -> DecodedValue | None:
    """The value of a JSON text, or None if it is not JSON. Blanks may stand around it."""
    try:
        return DecodedValue(orjson.loads(text), text)
    except orjson.JSONDecodeError as error:
        # JSON that orjson does not read: `1e400` is a number, though no double holds it
        return decode_exactly(text) if str(error).startswith("number is infinity") else None


def decode_exactly(text: str) -> DecodedValue | None:
    """The same with every number as its text; it reads what orjson does not: `1e400` is JSON."""
    try:
        value = _exact.decode(text)
    except (ValueError, RecursionError):
        return None
    return None if _has_lone_surrogate(text, value) else DecodedValue(value, None)


def with_number_texts(value: Any, source: str | None) -> Any:
    """The value with every number as its text: what is taken out of it has no source to read them from again."""
    decoded = None if source is None else decode_exactly(source)
    return value if decoded is None else decoded.value


def scan_sound(text: str, start: int, limit: int) -> tuple[Any, int] | None:
    """The JSON value that begins at `start`, numbers as their text, and where it ends; None if it is not sound.

    A failure may look at all of the text (and its error counts the lines): callers bound how many there are.
    """
    try:
        value, end = scan_exact(text, start)
    except (ValueError, RecursionError):
        return None
    return None if end > limit or _has_lone_surrogate(text[start:end], value) else (value, end)


def scan_part(text: str, start: int, limit: int) -> ScannedPart | None:
    """The same for a part of a larger value, and of a list that is not sound the containers before the error.

    What a failure looks at is bounded.
    """
    end = min(limit, start + _LONGEST_PART)
    if not can_be_sound(text, start, end):
        return None
    part = text[start:end]
    try:
        value, end = scan_exact(part)
    except json.JSONDecodeError as error:
        return _containers_before(part, error.pos, start) if part[0] == "[" else None
    except (ValueError, RecursionError):
        return None
    return None if _has_lone_surrogate(part[:end], value) else ScannedPart(value, start + end, sound=True)


def _containers_before(part: str, error: int, start: int) -> ScannedPart | None:
    """What a list that breaks in its last object holds before it, if all of that is containers."""
    end = part.rfind("}", 0, error) + 1
    if end == 0 or _SURROGATE.search(part, 0, end) is not None:
        return None
    try:
        items = _exact.decode(part[:end] + "]")
    except (ValueError, RecursionError):
        return None
    return ScannedPart(items, start + end, sound=False) if {*map(type, items)} <= {dict, list} else None


def can_be_sound(text: str, start: int, limit: int) -> bool:
    """Whether the beginning of a container leaves it open that the whole is JSON."""
    return _NOT_SOUND.match(text, start, limit) is None


def _has_lone_surrogate(text: str, value: Any) -> bool:
    """Whether an escape in the text left half of a surrogate pair in the value: no file can hold it."""
    if _SURROGATE.search(text) is None:
        return False
    try:
        json.dumps(value, ensure_ascii=False, default=str).encode()
    except (UnicodeEncodeError, RecursionError):
        return True
    return False
