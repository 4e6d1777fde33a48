"""Everything in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

S = TypeVar("S")
R = TypeVar("R")


def serial(work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
    """Work on one shard after the other."""
    return map(work, shards)
