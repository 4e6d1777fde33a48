"""Ray clusters on this machine whose nodes can be killed, spoiled and added to."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
TRIES = 3  # Ray gives a node 30 seconds to start, which a very busy machine may not have
PATIENCE = 120.0  # seconds, for a machine that is very busy
_STORE = 80 << 20  # bytes, the least that Ray takes


class Node(NamedTuple):
    """A node, known by its raylet."""

    raylet: int

    def kill_raylet(self) -> None:
        """Its workers end what they are at, and then themselves."""
        kill(self.raylet)

    def kill(self) -> None:
        """All of it at once, as when a machine loses its power."""
        started = [number for number, parent in parents().items() if parent == self.raylet]
        for number in (self.raylet, *started):
            kill(number)

    def is_alive(self) -> bool:
        return command_of(self.raylet) != ""


class Cluster:
    """A head, and what nodes are added to it."""

    def __init__(self, port: int, processors: int) -> None:
        self.address = f"127.0.0.1:{port}"
        self._folder = tempfile.mkdtemp(prefix="gg", dir="/tmp")  # short, because sockets lie in it
        before = running("gcs_server")
        self.head = self._start("--head", f"--port={port}", f"--temp-dir={self._folder}", processors=processors)
        (self._gcs,) = running("gcs_server") - before
        self.nodes: list[Node] = []

    def add(
        self, environment: Mapping[str, str] | None = None, processors: int = 1, inside: Sequence[str] = ()
    ) -> Node:
        """Start a node; `inside` is a command that it is started with, such as `unshare`."""
        node = self._start(f"--address={self.address}", processors=processors, environment=environment, inside=inside)
        self.nodes.append(node)
        return node

    def drop(self) -> None:
        """Kill the nodes that were added, and wait until the head has noticed."""
        for node in self.nodes:
            node.kill()
        self.nodes.clear()

    def kill_of_head(self, name: str) -> None:
        """One of the processes of the head."""
        kill(self.head.raylet if name == "raylet" else self._gcs)

    def close(self) -> None:
        self.drop()
        self.head.kill()
        kill(self._gcs)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start(
        self, *options: str, processors: int, environment: Mapping[str, str] | None = None, inside: Sequence[str] = ()
    ) -> Node:
        before = running("raylet") | running("gcs_server")
        command = [str(Path(sys.executable).with_name("ray")), "start", *options, f"--num-cpus={processors}"]
        for _ in range(TRIES):
            done = subprocess.run(
                [*inside, *command, "--node-ip-address=127.0.0.1", f"--object-store-memory={_STORE}"]
                + (["--include-dashboard=false", "--disable-usage-stats"] if "--head" in options else []),
                env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode == 0:
                break
            for number in (running("raylet") | running("gcs_server")) - before:
                kill(number)
        assert done.returncode == 0, done.stdout + done.stderr
        (new,) = running("raylet") - before
        return Node(new)


def kill(process: int) -> None:
    """End a process; one that has ended by itself, as a node does whose head is gone, is no error."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


def running(name: str) -> set[int]:
    """The processes of a program of Ray."""
    return {number for number in parents() if command_of(number).endswith(f"/{name}")}


def parents() -> dict[int, int]:
    """The parent of each process."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return found


def command_of(number: int) -> str:
    """The name that a process was started with; empty if it has ended."""
    try:
        return Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")[0].decode()
    except OSError:
        return ""


def wait_for(what: object) -> None:
    """Until it is so: `what` is called again and again."""
    assert callable(what)
    end = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)
