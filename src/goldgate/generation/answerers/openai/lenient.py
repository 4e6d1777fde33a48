"""Reading JSON that is not quite JSON: an answer that was paid for is not thrown away because of its wrapping.

Taken are a byte order mark, UTF-16, half of a surrogate pair, NaN and Infinity, numbers of any length,
bare control characters in strings, bytes that are no UTF-8, and anything after the end of the value.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

_MOST_DIGITS = 18  # fits 64 bits; longer numbers become None, which no field of ours takes


def parse_lenient(body: bytes) -> Any:
    """The value of a body; ValueError if there is none. Of a name that stands twice, the last one counts."""
    try:
        return orjson.loads(body)
    except ValueError:
        return _parse(body, dict)


def parse_first(body: bytes) -> Any:
    """The same, but of a name that stands twice the first one counts; None if there is no value."""
    try:
        return _parse(body, lambda pairs: dict(reversed(pairs)))
    except ValueError:
        return None


def _parse(body: bytes, pairs_hook: Any) -> Any:
    text = body.decode(json.detect_encoding(body), "replace").lstrip("\ufeff \t\r\n")
    decoder = json.JSONDecoder(
        strict=False,
        object_pairs_hook=pairs_hook,
        parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else None,
        parse_constant=lambda _: None,
    )
    try:
        return decoder.raw_decode(text)[0]
    except RecursionError:
        raise ValueError("nested too deeply") from None
