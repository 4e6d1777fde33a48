"""Python's search for objects that refer to each other, made rarer while records are counted.

Counting makes many small objects that are freed at once and refer to nothing of their kind; looking through them every
700 took a tenth of the time.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

OBJECTS = 100_000  # new ones before the next search: 10 to 20 MB


@contextmanager
def rare_collections() -> Iterator[None]:
    """Inside, the search waits for more objects; outside, all is as it was."""
    before = gc.get_threshold()
    if 0 < before[0] < OBJECTS:  # 0: somebody turned it off
        gc.set_threshold(OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
