"""Engines map work over shards, in this process, in several or on a cluster; results keep the order of the shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Literal, Protocol, Self, TypeVar

from goldgate.engines.parts import RecordParts
from goldgate.errors import ConfigError

S = TypeVar("S")
R = TypeVar("R")

EngineName = Literal["processes", "ray"]


class Engine(Protocol):
    """Maps work over shards. The work must be picklable; it may be called in another process."""

    @property
    def workers(self) -> int:
        """How many shards can be worked on at the same time."""

    def map(self, work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]: ...

    def parts(self, stream: IO[bytes]) -> RecordParts:
        """The parts that join the records of shards into this file, in the order of the shards."""


def start_engine(
    workers: int | None, preload: str, name: EngineName = "processes", ray_address: str | None = None
) -> AbstractContextManager[Engine]:
    """An engine with `workers` workers; None for one process, or the whole cluster.

    `preload` names the module that holds the work. Started early, worker processes import that module while this one
    is still reading ids.
    """
    if name == "ray":
        from goldgate.engines.ray_engine import RayEngine

        return RayEngine(ray_address, workers)
    if ray_address is not None:
        raise ConfigError(
            "ray.not_chosen",
            "--ray-address goes with --engine ray",
            advice="add --engine ray, or leave out the address",
        )
    if workers is None or workers <= 1:
        return SerialEngine()
    from goldgate.engines.processes import ProcessEngine

    return ProcessEngine(workers, preload)


class SerialEngine:
    """Works on one shard after the other."""

    workers = 1

    def map(self, work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        return map(work, shards)

    def parts(self, stream: IO[bytes]) -> DirectParts:
        return DirectParts(stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to stop."""


class DirectParts:
    """Parts of work in this process: the records are handed over as they are."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def new_writer(self) -> DirectParts:
        return self

    def write(self, records: bytes) -> bytes:
        return records

    def append_part(self, records: bytes) -> None:
        self._stream.write(records)
