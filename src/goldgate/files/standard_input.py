"""Standard input as a file: it goes by the name `-`, and can be read once."""

from __future__ import annotations

import sys
from typing import IO
from weakref import WeakSet

from goldgate.errors import InputError, Place

STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "standard input"

_spent: WeakSet[object] = WeakSet()


def standard_input(kind: str) -> IO[bytes]:
    """What comes in, for the first who asks."""
    stream = sys.stdin
    if stream is None:  # closed by whoever started us
        raise InputError(f"{kind}.unreadable", "standard input is closed", place=Place(STANDARD_INPUT_NAME))
    if stream in _spent:
        raise InputError(
            f"{kind}.standard_input_twice",
            "standard input can be read only once",
            place=Place(STANDARD_INPUT),
            expected=f"{STANDARD_INPUT} for one input at most",
            advice="store one of them in a file",
        )
    _spent.add(stream)
    return stream.buffer
