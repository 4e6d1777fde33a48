"""Writing one file: whole, or not at all."""

from __future__ import annotations

import os
from contextlib import suppress

from goldgate.errors import ConfigError, Place


def write_whole(path: str, content: bytes, option: str, *, make_folder: bool = True) -> None:
    """Write under another name and rename; a failure is an error with its place, and leaves nothing behind."""
    unfinished = f"{path}.unfinished"
    try:
        folder = os.path.dirname(path)
        if folder and make_folder:
            os.makedirs(folder, exist_ok=True)
        with open(unfinished, "wb") as stream:
            stream.write(content)
        os.replace(unfinished, path)
    except OSError as problem:
        with suppress(OSError):
            os.unlink(unfinished)
        raise ConfigError(
            "out.unwritable",
            "a result cannot be written",
            place=Place(path),
            found=problem.strerror or type(problem).__name__,
            advice=f"name with {option} a file that can be written to",
        ) from None
