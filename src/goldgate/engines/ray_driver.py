"""The process that talks to a Ray cluster on behalf of the process that evaluates.

It is a process of its own because Ray prints to the terminal, takes over signals, and ends the process when it
loses its node. Here that is harmless: the process that evaluates reports the lost work.
"""

from __future__ import annotations

import json
import logging
import os
import pickle
import secrets
import signal
import socket
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from goldgate.engines import worker
from goldgate.engines.ray_task import this_build
from goldgate.errors import ConfigError, GoldgateError, MachineError
from goldgate.files.address import hide_secrets

# Codes of messages, from this process and to it.
NEXT = b"n"  # from: send this number of shards
PIECE = b"p"  # to: a piece of a copy
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


def main(alive: int, connection: int, argument: str) -> None:
    """Serve one map after the other until the other end of the connection is closed, or that of the pipe `alive`."""
    options = Options(**json.loads(argument))
    worker.follow_parent(alive, _leave)
    os.set_inheritable(alive, False)
    os.set_inheritable(connection, False)
    os.chdir("/")  # Ray's workers could import from where its driver stands
    sys.argv = ["goldgate"]
    with socket.socket(fileno=connection) as opened:
        try:
            early: Exception | None = None
            try:
                _connect(options)
            except Exception as problem:
                early = problem
            _serve(opened, options, early)
        except (EOFError, BrokenPipeError, ConnectionResetError):
            _disconnect()


def _leave() -> None:
    """Disconnect in a thread of its own, at most for `DISCONNECT_SECONDS`."""
    threading.Thread(target=_disconnect, daemon=True).start()
    time.sleep(DISCONNECT_SECONDS)


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
        raise ConfigError(
            "ray.unreachable",
            "there is no connection to the Ray cluster" if options.address else "Ray cannot be started here",
            expected="the address of its head, as host:port, from a machine that is a node of it"
            if options.address
            else None,
            found=_first_line(problem),
            advice="ray status --address shows whether it is there; ray start --address makes this machine a node"
            if options.address
            else "GOLDGATE_DEBUG=1 shows what Ray says",
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


def _serve(connection: socket.socket, options: Options, early: Exception | None) -> None:
    copies: list[list[Any]] = [[]]
    numbers = 0
    while True:
        kind, data, _ = worker.receive(connection)
        if kind == STOP:
            worker.send(connection, STOP, b"")
            continue
        if early is not None:
            if kind in (worker.WORK, PROCESSORS):
                worker.send(connection, worker.ERROR, worker.packed_error(early))
            continue
        import ray

        if kind == PIECE:
            copies[-1].append(ray.put(data))
        elif kind == COPY:
            copies.append([])
        elif kind == PROCESSORS:
            worker.send(connection, PROCESSORS, str(Processors(options).at_once()).encode())
        elif kind == worker.WORK:
            packed, numbers_of_copies = pickle.loads(data)
            numbers += 1
            sent = ray.put((packed, [copies[number] for number in numbers_of_copies]))
            mapping = _Map(connection, options, f"{os.getpid()}:{time.time_ns()}:{numbers}", sent)
            try:
                mapping.run()
            except ray.exceptions.RayError as problem:
                worker.send(connection, worker.ERROR, worker.packed_error(_lost(problem)))
            except GoldgateError as problem:
                worker.send(connection, worker.ERROR, worker.packed_error(problem))
            except StoppedError:
                pass
            mapping.give_up()


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
        self._all_given = False
        self._shards = 1  # in a task
        self._processors = Processors(options)

    def run(self) -> None:
        unfinished: set[Any] = set()
        while True:
            self._give_out()
            unfinished = set(self._unfinished)
            if not self._tasks:
                return
            while self._tasks and self._tasks[0] not in unfinished:
                if not self._give_back(*self._ray.get(self._tasks.popleft())):
                    return
            if unfinished:
                self._wait()

    def _give_out(self) -> None:
        """Ask for shards as long as there are processors for them."""
        at_once = self._processors.at_once()
        while (
            not self._all_given
            and len(self._unfinished) < at_once * TASKS_AHEAD
            and len(self._tasks) < at_once * MAX_UNORDERED_TASKS
        ):
            worker.send(self._connection, NEXT, str(self._shards).encode())
            kind, data, _ = worker.receive(self._connection)
            if kind == STOP:
                worker.send(self._connection, STOP, b"")
                raise StoppedError
            shards = pickle.loads(data)
            self._all_given = not shards
            if shards:
                self._tasks.append(self._remote.remote(*self._arguments, shards))
                self._unfinished.append(self._tasks[-1])

    def _wait(self) -> None:
        """Wait until a task is done, or until the number of processors must be requested again."""
        done, rest = self._ray.wait(self._unfinished, timeout=POLL_SECONDS, fetch_local=False)
        if done and rest:  # those that are done as well: a call takes the longer, the more tasks there are
            _, rest = self._ray.wait(rest, num_returns=len(rest), timeout=0, fetch_local=False)
        self._unfinished = rest

    def _give_back(self, seconds: float, answers: list[tuple[bytes, bytes]]) -> bool:
        """Send a task's answers back; whether there is more to come."""
        each = max(seconds, 1e-6) / len(answers)
        self._shards = max(1, min(MAX_SHARDS, round(TASK_SECONDS / each)))
        for kind, data in answers:
            if kind == NO_GOLDGATE:
                raise _no_goldgate(*pickle.loads(data))
            worker.send(self._connection, kind, data)
        return answers[-1][0] != worker.ERROR

    def give_up(self) -> None:
        """Cancel the tasks that are not done."""
        for reference in self._unfinished:
            self._ray.cancel(reference)


Done = tuple[float, list[tuple[bytes, bytes]]]  # the seconds that a task took, and its answers


def _task() -> Callable[..., Done]:
    """The function that nodes call. It goes there as it is, so that a node without goldgate can say so."""

    def goldgate(build: tuple[str, ...], *arguments: Any) -> Done:
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

    def at_once(self) -> int:
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


def _lost(problem: Exception) -> MachineError:
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
