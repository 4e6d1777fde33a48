"""Work on the nodes of a Ray cluster, or on a Ray of this machine's own.

The results are those of any other engine, and come in the order of the shards. What Ray itself needs goes on in
another process, see `ray_driver`.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from itertools import islice
from typing import IO, Any, Self, TypeVar

from goldgate.core.process import block_signals
from goldgate.engines import ray_driver, worker
from goldgate.engines.parts import SharedParts
from goldgate.engines.processes import ChildProcess
from goldgate.engines.ray_task import PIECE, pack_work
from goldgate.errors import ConfigError, MachineError, missing_extra
from goldgate.files.address import public_url
from goldgate.files.reading import LocalFile

S = TypeVar("S")
R = TypeVar("R")

ADDRESS = "RAY_ADDRESS"  # the environment variable that Ray itself takes it from
CLIENT = "ray://"
PATIENCE = 300.0  # seconds: some clusters start their nodes when there is work
LONGEST_FOLDER = 40  # characters: the sockets that Ray puts there have names of 60, and 107 in all are allowed
DEBUG = "GOLDGATE_DEBUG"


class RayEngine:
    """An engine whose workers are the processors of a cluster, or at most `workers` of them."""

    def __init__(self, address: str | None = None, workers: int | None = None, patience: float = PATIENCE) -> None:
        _check_address(address)
        address = address or os.environ.get(ADDRESS) or None
        if find_spec("ray") is None:
            raise missing_extra("ray", "--engine ray")
        self._sent: list[tuple[int, int]] = []  # the copies that are there already
        self._parts: list[SharedParts] = []
        self._mapping = 0
        self._under_way = False
        self._workers: int | None = None
        self._folder = _short_folder() if address is None else None
        self._alive, self._alive_here = os.pipe()  # nothing is ever written: its end is the message
        options = ray_driver.Options(address, workers, patience, self._folder)
        with block_signals():
            self._child = ChildProcess(
                ray_driver.__name__,
                json.dumps(options._asdict()),
                self._alive,
                stderr=None if os.environ.get(DEBUG) else subprocess.DEVNULL,
            )
        self._connection = self._child.connection

    def map(self, work: Callable[[S], R], shards: Iterable[S]) -> Iterator[R]:
        """Work on the shards wherever there is room; results, and the first error, come in the shards' order.

        One map at a time: another one that begins ends this one.
        """
        rest = iter(shards)
        waiting, ended = 0, False
        try:
            self._stop_earlier()
            self._mapping, self._under_way = self._mapping + 1, True
            this = self._mapping
            self._send_work(work)
            while waiting or not ended:
                if this != self._mapping:
                    raise RuntimeError("another map began before this one had ended")
                kind, data, _ = worker.receive(self._connection)
                if kind == ray_driver.NEXT:
                    some = [pickle.dumps(shard, pickle.HIGHEST_PROTOCOL) for shard in islice(rest, int(data))]
                    worker.send(self._connection, worker.SHARD, pickle.dumps(some))
                    waiting, ended = waiting + len(some), not some
                elif kind == worker.RESULT:
                    waiting -= 1
                    yield pickle.loads(data)
                else:
                    self._under_way = False
                    raise worker.unpack_error(data)
            self._under_way = False
        except (EOFError, ConnectionError):
            raise self._died() from None

    def _stop_earlier(self) -> None:
        """End an earlier map that was left before its end, so that the other process listens."""
        if self._under_way:
            worker.send(self._connection, ray_driver.STOP, b"")
            while worker.receive(self._connection)[0] != ray_driver.STOP:
                pass
            self._under_way = False

    @property
    def workers(self) -> int:
        """The processors of the cluster when it was first asked for them."""
        if self._workers is None:
            try:
                self._stop_earlier()
                worker.send(self._connection, ray_driver.PROCESSORS, b"")
                kind, data, _ = worker.receive(self._connection)
            except (EOFError, ConnectionError):
                raise self._died() from None
            if kind == worker.ERROR:
                raise worker.unpack_error(data)
            self._workers = int(data)
        return self._workers

    def parts(self, stream: IO[bytes]) -> SharedParts:
        self._parts.append(SharedParts(stream))
        return self._parts[-1]

    def _send_work(self, work: Any) -> None:
        packed = pack_work(work)
        numbers = [self._send_copy(copy) for copy in packed.copies]
        worker.send(self._connection, worker.WORK, pickle.dumps((packed.data, numbers)))

    def _send_copy(self, copy: LocalFile) -> int:
        """The number of a copy, which is sent once."""
        status = os.fstat(copy.file.fileno())
        identity = status.st_dev, status.st_ino
        if identity not in self._sent:
            for offset in range(0, status.st_size, PIECE):
                piece = copy.read(offset, min(PIECE, status.st_size - offset))
                worker.send(self._connection, ray_driver.PIECE, piece)
            worker.send(self._connection, ray_driver.COPY, b"")
            self._sent.append(identity)
        return self._sent.index(identity)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End what was started; the cluster notices, and drops what it still had to do."""
        with block_signals():
            self._connection.close()
            with suppress(subprocess.TimeoutExpired):
                self._child.process.wait(timeout=ray_driver.DISCONNECT_SECONDS)
            self._child.process.kill()
            self._child.process.wait()
            for end in (self._alive, self._alive_here):
                with suppress(OSError):
                    os.close(end)
            for parts in self._parts:
                parts.close()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _died(self) -> MachineError:
        end = self._child.describe_end()
        return MachineError(
            "ray.lost",
            "the connection to the Ray cluster was lost",
            found=end and f"the process that speaks with it {end}",
            advice="is its head, or the node on this machine, still there? ray status says so",
        )


def _short_folder() -> str | None:
    """A folder for the files of a Ray of our own; None where its name would be too long, and Ray's own is taken."""
    folder = tempfile.mkdtemp(prefix="goldgate-")
    if len(os.fsencode(folder)) <= LONGEST_FOLDER:
        return folder
    os.rmdir(folder)
    return None


def _check_address(option: str | None) -> None:
    """A ConfigError for an address that is empty, as of a variable that is not set, or one of a Ray client server."""
    expected = "the address of the head as host:port, usually with the port 6379, or auto"
    if option is not None and not option.strip():
        raise ConfigError(
            "ray.no_address",
            "--ray-address is empty",
            expected=expected,
            advice="leave it out for a Ray of this machine's own",
        )
    address = option or os.environ.get(ADDRESS, "")
    if address.startswith(CLIENT):
        raise ConfigError(
            "ray.client_address",
            "--ray-address names a Ray client server, which cannot be used",
            expected=expected,
            found=public_url(address),
            advice="run goldgate on a node of the cluster; docs/scale.md shows how",
        )
