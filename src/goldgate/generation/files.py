"""Files that are there whole or not at all; what the system refuses is an error with a place and its own reason."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from goldgate.errors import ConfigError, Place

_UNFINISHED = ".unfinished"


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file to write into. It takes the place of an older one when it is complete, and leaves nothing otherwise."""
    unfinished = path.with_name(path.name + _UNFINISHED)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)  # left by a kill; or a link, through which nothing must be written
        with open(unfinished, "xb") as out:
            yield out
        os.replace(unfinished, path)
    except OSError as problem:
        raise _unwritable(path, problem) from None
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> None:
    """Write a file in one go."""
    with whole_file(path) as out:
        out.write(content)


def remove_file(path: Path) -> None:
    """See that there is no such file."""
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise _unwritable(path, problem) from None


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="goldgate-", ignore_cleanup_errors=True)
    except OSError as problem:
        raise _unwritable(Path(tempfile.gettempdir()), problem) from None
    with folder as name:
        yield Path(name)


def _unwritable(path: Path, problem: OSError) -> ConfigError:
    return ConfigError(
        "out.unwritable",
        "a result cannot be written",
        place=Place(str(path)),
        found=problem.strerror or type(problem).__name__,
        advice="everything that was answered is in the journal; the same command goes on from there",
    )
