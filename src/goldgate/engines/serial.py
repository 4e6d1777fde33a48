"""Everything in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import IO, Self, TypeVar

from goldgate.engines.parts import InHand

S = TypeVar("S")
R = TypeVar("R")


class Serial:
    """Works on one shard after the other."""

    workers = 1

    def map(self, work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        return map(work, shards)

    def parts(self, stream: IO[bytes]) -> InHand:
        return InHand(stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was started."""
