"""Work on the nodes of a Ray cluster, or on a Ray of this machine's own.

The results are those of any other engine, and come in the order of the shards. A process of its own talks to Ray on
behalf of the process that evaluates, because Ray prints to the terminal, takes over signals, and ends the process when
it loses its node. Here that is harmless: the process that evaluates reports the lost work.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import islice
from typing import IO, Any, NamedTuple, Self, TypeVar

from goldgate.core.process import block_signals
from goldgate.engines.parts import SharedParts
from goldgate.engines.processes import (
    ERROR,
    RESULT,
    SHARD,
    WORK,
    ChildProcess,
    follow_parent,
    packed_error,
    receive,
    send,
    unpack_error,
)
from goldgate.engines.ray_task import PIECE, pack_work, this_build
from goldgate.errors import ConfigError, MachineError, require_extra
from goldgate.files.address import hide_secrets, public_url
from goldgate.files.reading import LocalFile

S = TypeVar("S")
R = TypeVar("R")

ADDRESS = "RAY_ADDRESS"  # the environment variable that Ray itself takes it from
CLIENT = "ray://"
PATIENCE = 300.0  # seconds: some clusters start their nodes when there is work
LONGEST_FOLDER = 40  # characters: the sockets that Ray puts there have names of 60, and 107 in all are allowed
DEBUG = "GOLDGATE_DEBUG"

# Codes of messages, from this process and to it.
NEXT = b"n"  # from: send this number of shards
COPY_PIECE = b"p"  # to: a piece of a copy
COPY = b"c"  # to: the copy is complete
PROCESSORS = b"q"  # to: how many processors are there? from: their number
STOP = b"x"  # to: the rest of a map is not needed; from: the next map may begin
NO_GOLDGATE = b"g"  # from a node: goldgate cannot be imported

RETRIES = 4  # of a task whose worker or node died: five deaths over one piece of work are not chance
OOM_RETRIES = "RAY_task_oom_retries"
USAGE = "RAY_USAGE_STATS_ENABLED"  # no usage statistics are sent
AUTH_MODE, AUTH_TOKEN = "RAY_AUTH_MODE", "RAY_AUTH_TOKEN"
CONNECT_RETRIES = "RAY_NUM_REDIS_GET_RETRIES"  # each takes up to ten seconds
TASKS_AHEAD = 2  # tasks given out for a processor: the next one waits beside the one that is worked on
MAX_UNORDERED_TASKS = 16  # per processor, done before the first one is: a slow node does not stop the others
TASK_SECONDS = 1.0  # about how long a task takes; shorter tasks would cost more than they do
MAX_SHARDS = 64  # in a task: what a node that dies takes with it
CONNECT_SECONDS = 10.0
DISCONNECT_SECONDS = 5.0  # to disconnect from the cluster; then this process ends in any case
MAX_MESSAGE_LENGTH = 300  # characters of a message of Ray
POLL_SECONDS = 2.0  # between two requests for the number of processors


class Options(NamedTuple):
    """How to reach the cluster."""

    address: str | None  # None: a Ray of this machine's own
    workers: int | None  # maximum number of tasks at a time; None: as many as the cluster has processors
    patience: float  # seconds to wait for a processor where the cluster has none
    folder: str | None  # for the files of a Ray of our own


class RayEngine:
    """An engine whose workers are the processors of a cluster, or at most `workers` of them."""

    def __init__(self, address: str | None = None, workers: int | None = None, patience: float = PATIENCE) -> None:
        _check_address(address)
        address = address or os.environ.get(ADDRESS) or None
        require_extra("ray", "--engine ray", "ray")
        self._sent: list[tuple[int, int]] = []  # the copies that are there already
        self._parts: list[SharedParts] = []
        self._mapping = 0
        self._under_way = False
        self._workers: int | None = None
        self._folder = _short_folder() if address is None else None
        self._alive, self._alive_here = os.pipe()  # nothing is ever written: its end is the message
        options = Options(address, workers, patience, self._folder)
        with block_signals():
            self._child = ChildProcess(
                __name__,
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
                kind, data, _ = receive(self._connection)
                if kind == NEXT:
                    some = [pickle.dumps(shard, pickle.HIGHEST_PROTOCOL) for shard in islice(rest, int(data))]
                    send(self._connection, SHARD, pickle.dumps(some))
                    waiting, ended = waiting + len(some), not some
                elif kind == RESULT:
                    waiting -= 1
                    yield pickle.loads(data)
                else:
                    self._under_way = False
                    raise unpack_error(data)
            self._under_way = False
        except (EOFError, ConnectionError):
            raise self._lost_cluster_error() from None

    def _stop_earlier(self) -> None:
        """End an earlier map that was left before its end, so that the other process listens."""
        if self._under_way:
            send(self._connection, STOP, b"")
            while receive(self._connection)[0] != STOP:
                pass
            self._under_way = False

    @property
    def workers(self) -> int:
        """The number of processors that the cluster had when it was first asked."""
        if self._workers is None:
            try:
                self._stop_earlier()
                send(self._connection, PROCESSORS, b"")
                kind, data, _ = receive(self._connection)
            except (EOFError, ConnectionError):
                raise self._lost_cluster_error() from None
            if kind == ERROR:
                raise unpack_error(data)
            self._workers = int(data)
        return self._workers

    def parts(self, stream: IO[bytes]) -> SharedParts:
        self._parts.append(SharedParts(stream))
        return self._parts[-1]

    def _send_work(self, work: Any) -> None:
        packed = pack_work(work)
        numbers = [self._send_copy(copy) for copy in packed.copies]
        send(self._connection, WORK, pickle.dumps((packed.data, numbers)))

    def _send_copy(self, copy: LocalFile) -> int:
        """The number of a copy, which is sent once."""
        status = os.fstat(copy.file.fileno())
        identity = status.st_dev, status.st_ino
        if identity not in self._sent:
            for offset in range(0, status.st_size, PIECE):
                piece = copy.read(offset, min(PIECE, status.st_size - offset))
                send(self._connection, COPY_PIECE, piece)
            send(self._connection, COPY, b"")
            self._sent.append(identity)
        return self._sent.index(identity)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End what was started; the cluster notices, and drops what it still had to do."""
        with block_signals():
            self._connection.close()
            with suppress(subprocess.TimeoutExpired):
                self._child.process.wait(timeout=DISCONNECT_SECONDS)
            self._child.process.kill()
            self._child.process.wait()
            for end in (self._alive, self._alive_here):
                with suppress(OSError):
                    os.close(end)
            for parts in self._parts:
                parts.close()
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)

    def _lost_cluster_error(self) -> MachineError:
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


def main(alive: int, connection: int, argument: str) -> None:
    """Serve one map after the other until the other end of the connection is closed, or that of the pipe `alive`."""
    options = Options(**json.loads(argument))
    follow_parent(alive, _leave)
    os.set_inheritable(alive, False)
    os.set_inheritable(connection, False)
    os.chdir("/")  # Ray's workers could import from where its driver stands
    sys.argv = ["goldgate"]
    with socket.socket(fileno=connection) as opened:
        connect_error: Exception | None = None
        try:
            _connect(options)
        except Exception as problem:
            connect_error = problem
        try:
            _serve(opened, options, connect_error)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            _disconnect()


def _leave() -> None:
    """Disconnect in a thread of its own, at most for `DISCONNECT_SECONDS`."""
    threading.Thread(target=_disconnect, daemon=True).start()
    time.sleep(DISCONNECT_SECONDS)


_NO_CLUSTER = (
    "there is no connection to the Ray cluster",
    "the address of its head, as host:port, from a machine that is a node of it",
    "ray status --address shows whether it is there; ray start --address makes this machine a node",
)
_NO_RAY = ("Ray cannot be started here", None, "GOLDGATE_DEBUG=1 shows what Ray says")


def _connect(options: Options) -> None:
    _set_environment(own=options.address is None)
    import ray

    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.CRITICAL}
    try:
        if options.address is not None:
            _require_listening(options.address)
            ray.init(address=options.address, **quiet)
        else:
            ray.init(
                address="local", num_cpus=options.workers, include_dashboard=False, _temp_dir=options.folder, **quiet
            )
    except Exception as problem:
        message, expected, advice = _NO_CLUSTER if options.address else _NO_RAY
        raise ConfigError(
            "ray.unreachable", message, expected=expected, found=_first_line(problem), advice=advice
        ) from None
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # Ray has put its own in its place


def _set_environment(*, own: bool) -> None:
    """Set the variables that Ray reads when it is imported."""
    os.environ[OOM_RETRIES] = str(RETRIES)  # without it a task that needs too much is tried for ever
    if not own:
        os.environ.setdefault(CONNECT_RETRIES, "5")
        return
    os.environ[USAGE] = "0"
    if AUTH_MODE not in os.environ:  # Ray itself would leave a token in the user's home, for all to read
        os.environ |= {AUTH_MODE: "token", AUTH_TOKEN: secrets.token_hex(32)}


def _require_listening(address: str) -> None:
    """OSError where no process listens: Ray itself would try for minutes."""
    host, _, port = address.rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()


def _disconnect() -> None:
    """Disconnect from the cluster; end a Ray of our own with all its processes."""
    with suppress(Exception):
        import ray

        ray.shutdown()
    os._exit(0)  # nothing else of Ray's has to be waited for


def _serve(connection: socket.socket, options: Options, connect_error: Exception | None) -> None:
    copies: list[list[Any]] = [[]]
    numbers = 0
    while True:
        kind, data, _ = receive(connection)
        if kind == STOP:
            send(connection, STOP, b"")
            continue
        if connect_error is not None:
            if kind in (WORK, PROCESSORS):
                send(connection, ERROR, packed_error(connect_error))
            continue
        import ray

        if kind == COPY_PIECE:
            copies[-1].append(ray.put(data))
        elif kind == COPY:
            copies.append([])
        elif kind in (PROCESSORS, WORK):
            numbers += 1
            try:
                if kind == PROCESSORS:
                    send(connection, PROCESSORS, str(Processors(options).capacity()).encode())
                    continue
                packed, numbers_of_copies = pickle.loads(data)
                sent = ray.put((packed, [copies[number] for number in numbers_of_copies]))
                _Map(connection, options, f"{os.getpid()}:{time.time_ns()}:{numbers}", sent).run()
            except (EOFError, BrokenPipeError, ConnectionResetError):  # the first process has ended
                raise
            except StoppedError:
                pass
            except ray.exceptions.RayError as problem:
                send(connection, ERROR, packed_error(_lost_work_error(problem)))
            except Exception as problem:  # whatever else it is, the first process reports it
                send(connection, ERROR, packed_error(problem))


class StoppedError(Exception):
    """The rest of a map is not needed."""


class _Map:
    """One piece of work on all its shards: requests them, distributes them, and returns the answers in order."""

    def __init__(self, connection: socket.socket, options: Options, key: str, sent: Any) -> None:
        import ray

        self._ray = ray
        self._connection = connection
        self._options = options
        self._arguments = tuple(this_build()), key, [sent]
        self._remote = ray.remote(num_cpus=1, max_retries=RETRIES)(_task())
        self._tasks: deque[Any] = deque()  # in order: the first one's answers are the next to be given back
        self._unfinished: list[Any] = []
        self._has_all_shards = False
        self._shards = 1  # in a task
        self._processors = Processors(options)

    def run(self) -> None:
        """Work on all shards; an error, or the first process, may end it earlier."""
        try:
            self._run()
        finally:
            self._cancel_tasks()

    def _run(self) -> None:
        while True:
            self._submit_tasks()
            unfinished = set(self._unfinished)
            if not self._tasks:
                return
            while self._tasks and self._tasks[0] not in unfinished:
                if not self._send_answers(*self._ray.get(self._tasks.popleft())):
                    return
            if unfinished:
                self._wait()

    def _submit_tasks(self) -> None:
        """Ask for shards as long as there are processors for them."""
        capacity = self._processors.capacity()
        while (
            not self._has_all_shards
            and len(self._unfinished) < capacity * TASKS_AHEAD
            and len(self._tasks) < capacity * MAX_UNORDERED_TASKS
        ):
            send(self._connection, NEXT, str(self._shards).encode())
            kind, data, _ = receive(self._connection)
            if kind == STOP:
                send(self._connection, STOP, b"")
                raise StoppedError
            shards = pickle.loads(data)
            self._has_all_shards = not shards
            if shards:
                self._tasks.append(self._remote.remote(*self._arguments, shards))
                self._unfinished.append(self._tasks[-1])

    def _wait(self) -> None:
        """Wait until a task is done, or until the number of processors must be requested again."""
        done, rest = self._ray.wait(self._unfinished, timeout=POLL_SECONDS, fetch_local=False)
        if done and rest:  # those that are done as well: a call takes the longer, the more tasks there are
            _, rest = self._ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)
        self._unfinished = rest

    def _send_answers(self, seconds: float, answers: list[tuple[bytes, bytes]]) -> bool:
        """Send a task's answers to the first process; False after an error, which is the last answer."""
        each = max(seconds, 1e-6) / len(answers)
        self._shards = max(1, min(MAX_SHARDS, round(TASK_SECONDS / each)))
        for kind, data in answers:
            if kind == NO_GOLDGATE:
                raise _no_goldgate(*pickle.loads(data))
            send(self._connection, kind, data)
        return answers[-1][0] != ERROR

    def _cancel_tasks(self) -> None:
        """Cancel the tasks that are not done. One that cannot be cancelled costs time, and nothing else."""
        for reference in self._unfinished:
            with suppress(Exception):
                self._ray.cancel(reference)


TaskOutcome = tuple[float, list[tuple[bytes, bytes]]]  # the seconds that a task took, and its answers


def _task() -> Callable[..., TaskOutcome]:
    """The function that nodes call. It is sent as code, so that a node without goldgate can answer that it has none."""

    def goldgate(build: tuple[str, ...], *arguments: Any) -> TaskOutcome:
        try:
            from goldgate.engines.ray_task import run_task
        except ImportError as problem:
            import pickle
            import socket

            return 0.0, [(b"g", pickle.dumps((socket.gethostname(), str(problem))))]
        return run_task(build, *arguments)

    return goldgate


class Processors:
    """The number of tasks that a cluster can work on at once, polled because nodes come and go."""

    def __init__(self, options: Options) -> None:
        self._most = options.workers
        self._patience = options.patience
        self._polled = -POLL_SECONDS
        self._count = 0
        self._seen = time.monotonic()  # when there was one

    def capacity(self) -> int:
        """The number of tasks, at least one even without a processor: some clusters grow when they get work."""
        import ray

        now = time.monotonic()
        if now - self._polled >= POLL_SECONDS:
            self._polled = now
            self._count = int(ray.cluster_resources().get("CPU", 0))
        if self._count:
            self._seen = now
        elif now - self._seen > self._patience:
            raise MachineError(
                "ray.no_processors",
                "the cluster has no processor to work on this",
                expected="a node with at least one (ray start --num-cpus)",
                found=f"none in {self._patience:g} seconds",
                advice="ray status shows its nodes",
            )
        return max(1, min(self._count, self._most or self._count))


def _no_goldgate(host: str, found: str) -> ConfigError:
    return ConfigError(
        "ray.no_goldgate",
        "a node of the cluster cannot import goldgate, or has a version without Ray",
        expected="the same goldgate on every node",
        found=f"{found}, on {host}",
        advice="install it on every node, for the Python that ray start was called with",
    )


def _lost_work_error(problem: Exception) -> MachineError:
    """The error for work that Ray could not get done."""
    if type(problem).__name__ == "OutOfMemoryError":
        return MachineError(
            "ray.out_of_memory",
            f"a node of the cluster ran out of memory, {RETRIES + 1} times over the same work",
            advice="give the nodes more memory, or fewer tasks at a time (--workers, ray start --num-cpus)",
        )
    return MachineError(
        "ray.work_lost",
        f"work was lost {RETRIES + 1} times: its worker or its node ended before it was done",
        found=f"{type(problem).__name__}: {_first_line(problem)}",
        advice="a node may be out of memory: try fewer tasks at a time (--workers, ray start --num-cpus)",
    )


def _first_line(problem: Exception) -> str:
    return hide_secrets(next(iter(str(problem).strip().splitlines()), type(problem).__name__))[:MAX_MESSAGE_LENGTH]
