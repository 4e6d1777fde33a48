"""How a number stands in the JSON text that it was decoded from, without decoding the text again."""

from __future__ import annotations

import re
from typing import Any, Final

_NUMBERS: Final = re.compile(r"-?[0-9][0-9.eE+-]*")
_EXPONENT: Final = re.compile(r"[0-9][eE]")
_OF_NUMBERS: Final = frozenset("0123456789.eE+-")
_DEEP: Final = 400  # brackets: where they nest deeper, the rule may not be able to decode the text, and say otherwise


def spelling(value: Any, source: str | bytes | None) -> str | None:
    """The text of a decoded number; None where it cannot be told, or is no number.

    All that looks like a number in the text is looked at, inside of strings too. If what has this value is spelled in
    one way only, the number is spelled so.
    """
    if type(value) is int:
        if value:
            return repr(value)
        return "0" if source is None or not _has_minus_zero(source) else None
    if type(value) is not float:
        return None
    if source is None:
        return repr(value)
    text = source.decode("latin-1") if isinstance(source, bytes) else source  # what numbers are made of is ASCII
    if text.count("[") + text.count("{") > _DEEP:
        return None
    if value.is_integer() or "e" in repr(value) or _EXPONENT.search(text) is not None:
        written = {each for each in _NUMBERS.findall(text) if _is_float(each)}
    else:  # without an exponent, a number with this value begins with its whole part
        written = _beginning_with(repr(value).partition(".")[0] + ".", text)
    found = {each for each in written if _value(each) == value}
    return found.pop() if len(found) == 1 else None


def _beginning_with(head: str, text: str) -> set[str]:
    """What looks like a number and begins with these digits."""
    found: set[str] = set()
    at = text.find(head)
    while at >= 0:
        if at == 0 or text[at - 1] not in _OF_NUMBERS:
            number = _NUMBERS.match(text, at)
            assert number is not None  # for it begins with digits
            found.add(number[0])
        at = text.find(head, at + 1)
    return found


def _has_minus_zero(source: str | bytes) -> bool:
    return (b"-0" in source) if isinstance(source, bytes) else ("-0" in source)


def _is_float(written: str) -> bool:
    """Whether it is decoded as a float: by a mark, or because it is long."""
    return len(written) > 18 or "." in written or "e" in written or "E" in written


def _value(written: str) -> float | None:
    try:
        return float(written)
    except ValueError:
        return None
