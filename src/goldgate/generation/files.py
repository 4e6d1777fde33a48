"""The files of a generation. What the system refuses is an error that says that no answer is lost."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import IO

from goldgate.files import atomic_write

_ADVICE = "everything that was answered is in the journal; the same command goes on from there"


def whole_file(path: Path) -> AbstractContextManager[IO[bytes]]:
    """A file to write into. It takes the place of an older one when it is complete, and leaves nothing otherwise."""
    return atomic_write.whole_file(path, _ADVICE)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one go."""
    with whole_file(path) as out:
        out.write(content)


def remove_file(path: Path) -> None:
    """See that there is no such file."""
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise atomic_write.unwritable(path, problem, _ADVICE) from None


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="goldgate-", ignore_cleanup_errors=True)
    except OSError as problem:
        raise atomic_write.unwritable(tempfile.gettempdir(), problem, _ADVICE) from None
    with folder as name:
        yield Path(name)
