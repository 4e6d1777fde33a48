"""Small text files (protocol, event schema, a response) read whole, with errors that name the file."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import IO, NamedTuple

from goldgate.errors import InputError, Place

MAX_BYTES = 16 * 1024 * 1024  # a protocol, an event schema or a response of this size is some other file


class TextFile(NamedTuple):
    """A file's text, and the digest of its bytes."""

    text: str
    sha256: str


def read_text(path: str | Path, kind: str) -> TextFile:
    """The file's text; missing, unreadable, too large and not UTF-8 are errors of their own."""
    file = str(path)
    try:
        with open(path, "rb") as stream:
            return read_stream(stream, file, kind)
    except (OSError, ValueError) as problem:  # a name with the character NUL is a ValueError
        raise cannot_read(file, kind, problem) from None


def read_stream(stream: IO[bytes], file: str, kind: str) -> TextFile:
    """The same of a file that is open already; `file` is its name in errors."""
    data = stream.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise InputError(f"{kind}.too_large", f"this {kind} is over {MAX_BYTES:,} bytes", place=Place(file))
    try:
        return TextFile(data.decode("utf-8-sig"), hashlib.sha256(data).hexdigest())
    except UnicodeDecodeError as problem:
        line = data.count(b"\n", 0, problem.start) + 1
        raise InputError(
            f"{kind}.not_utf8",
            "this is not UTF-8 text",
            place=Place(file, line),
            found=f"the byte 0x{data[problem.start]:02x}",
            advice="save the file as UTF-8",
        ) from None


def cannot_read(file: str, kind: str, problem: OSError | ValueError) -> InputError:
    """The error for a file that cannot be opened or read."""
    if isinstance(problem, FileNotFoundError):
        return InputError(f"{kind}.missing", f"the {kind} file does not exist", place=Place(file))
    if isinstance(problem, IsADirectoryError):
        return InputError(f"{kind}.is_a_directory", f"the {kind} is a directory, not a file", place=Place(file))
    reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return InputError(f"{kind}.unreadable", f"the {kind} file cannot be read", place=Place(file), found=reason)
