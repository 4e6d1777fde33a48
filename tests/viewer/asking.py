"""A viewer that runs, as a process of its own, and requests to it byte by byte."""

from __future__ import annotations

import os
import re
import select
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

SECONDS = 60.0  # for what takes a moment: a machine may be busy
_ADDRESS = re.compile(r"http://([^/]+)/\?token=([\w-]+)")


class Reply(NamedTuple):
    """What came back; of several headers of a name, the last."""

    status: int
    headers: dict[str, str]
    body: bytes


class Viewer:
    """`goldgate view --no-browser`, or another command that serves pages, with these arguments."""

    def __init__(self, *arguments: object, cache: Path, command: str = "view") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "goldgate", command, *map(str, arguments), "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_CACHE_HOME": str(cache)},
            start_new_session=True,
        )
        line = self._line()
        found = _ADDRESS.search(line)
        if found is None:
            raise AssertionError(line + self.ended()[1])
        self.host, self.token = found[1], found[2]
        name, _, port = self.host.rpartition(":")
        self.address = name.strip("[]"), int(port)
        self.cookie = ""

    def _line(self) -> str:
        stream = self.process.stdout
        assert stream is not None
        ready, _, _ = select.select([stream], [], [], SECONDS)
        return stream.readline() if ready else ""

    def send(self, *parts: bytes) -> bytes:
        """Everything that comes back for these bytes, until the server closes."""
        with socket.create_connection(self.address, SECONDS) as connection:
            try:
                for part in parts:
                    connection.sendall(part)
            except (BrokenPipeError, ConnectionResetError):
                pass  # it has heard enough
            return received(connection)

    def ask(self, target: str = "/", method: str = "GET", body: bytes = b"", **headers: str) -> Reply:
        """A request with the right headers, unless others are given; an empty one is left out."""
        given = {"Host": self.host, "Cookie": self.cookie}
        given |= {name.replace("_", "-"): value for name, value in headers.items()}
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value)]
        return parsed(self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body))

    def enter(self) -> None:
        """Get the cookie."""
        self.cookie = self.ask(f"/?token={self.token}").headers["set-cookie"].split(";")[0]

    def interrupt(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)

    def ended(self) -> tuple[int, str]:
        """The exit status and what stands on stderr."""
        try:
            _, errors = self.process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()
            raise
        return self.process.returncode, errors

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()


def received(connection: socket.socket) -> bytes:
    found = []
    try:
        while data := connection.recv(1 << 16):
            found.append(data)
    except ConnectionResetError:
        pass
    return b"".join(found)


def parsed(data: bytes) -> Reply:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    return Reply(int(first.split(" ")[1]), {name.lower(): value for name, value in headers.items()}, body)
