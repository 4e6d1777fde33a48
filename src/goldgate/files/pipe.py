"""Opening what may be a named pipe: one that nobody writes to is an error, not a wait without end."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from stat import S_ISFIFO

WRITER_SECONDS = 10.0  # in which a process that is being started begins to write
_UNNAMED = ("/proc/", "/dev/fd/")  # where `<(zcat …)` and standard input are: these are open already


class NoWriterError(OSError):
    """The file is a pipe, and nobody opened it to write."""

    def __init__(self) -> None:
        super().__init__(f"a pipe that nobody writes to: nothing came in {WRITER_SECONDS:g} seconds")
        self.strerror = self.args[0]


def opener(path: str, flags: int) -> int:
    """For `open(…, opener=opener)`: as ever, but a named pipe is waited for with a limit."""
    try:
        named_pipe = S_ISFIFO(os.stat(path).st_mode) and not os.path.realpath(path).startswith(_UNNAMED)
    except (OSError, ValueError):
        named_pipe = False  # opening it says what is wrong
    return _open_pipe(path, flags) if named_pipe else os.open(path, flags, 0o666)


def _open_pipe(path: str, flags: int) -> int:
    """Opening blocks until somebody writes, so a thread does it; after the limit we are the writer that ends it."""
    opened: list[int] = []
    problems: list[OSError] = []

    def wait() -> None:
        try:
            opened.append(os.open(path, flags))
        except OSError as problem:
            problems.append(problem)

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    thread.join(WRITER_SECONDS)
    if thread.is_alive():
        with suppress(OSError):
            os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        thread.join()
        for descriptor in opened:
            os.close(descriptor)
        raise NoWriterError
    if problems:
        raise problems[0]
    return opened[0]
