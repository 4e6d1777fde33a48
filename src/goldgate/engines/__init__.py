"""How shards are mapped: in this process, in several, or on a cluster. The results come in the order of the shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import IO, Literal, Protocol, TypeVar

from goldgate.engines.parts import Parts
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

    def parts(self, stream: IO[bytes]) -> Parts:
        """How the records of shards come into this file, in the order of the shards."""


def start_engine(
    workers: int | None, preload: str, name: EngineName = "processes", ray_address: str | None = None
) -> AbstractContextManager[Engine]:
    """An engine of so many workers: without a number one process, or the whole cluster.

    `preload` names the module that holds the work. Started early, worker processes import that module while this one
    is still reading ids.
    """
    if name == "ray":
        from goldgate.engines.on_ray import OnRay

        return OnRay(ray_address, workers)
    if ray_address is not None:
        raise ConfigError(
            "ray.not_chosen",
            "--ray-address goes with --engine ray",
            advice="add --engine ray, or leave out the address",
        )
    if workers is None or workers <= 1:
        from goldgate.engines.serial import Serial

        return Serial()
    from goldgate.engines.processes import Processes

    return Processes(workers, preload)
