"""Files that are not simply opened: named pipes without a writer, and what a folder of others only seems to hold."""

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


def leaves(root: str, path: str) -> bool:
    """Whether a link leads out of the folder `root`, which is a real path."""
    real = os.path.realpath(path)
    return not (real == root or real.startswith(root if root.endswith(os.sep) else root + os.sep))


def foreign_files(folder: str, endings: tuple[str, ...]) -> list[tuple[str, str | None]]:
    """The paths in a folder that others wrote, sorted, each with the reason why it must not be read, if there is one.

    Not read are links that leave the folder, and what is not a regular file: opening a pipe could wait for ever.
    OSError if the folder cannot be listed.
    """
    root = os.path.realpath(folder)

    def refusal(path: str) -> str | None:
        if os.path.islink(path) and (leaves(root, path) or not os.path.exists(path)):
            return "a link that leaves the folder, or leads nowhere"
        return None if os.path.isfile(path) else "not a regular file"

    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(endings)]
    return [(path, refusal(path)) for path in paths]


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
