"""Small text files (protocol, event schema, a response) read whole, with errors that name the file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import IO, NamedTuple

from goldgate.errors import InputError, Place, did_you_mean
from goldgate.files.pipe import NoWriterError, opener
from goldgate.files.standard_input import STANDARD_INPUT, STANDARD_INPUT_NAME, standard_input
from goldgate.files.url import is_url, shown_url

MAX_BYTES = 16 * 1024 * 1024  # a protocol, an event schema or a response of this size is some other file

SHOWN_FILES = 3  # of a directory that was given in place of a file


class TextFile(NamedTuple):
    """A file's text, and the digest of its bytes."""

    text: str
    sha256: str


def read_text(path: str | Path, kind: str) -> TextFile:
    """The file's text; missing, unreadable, too large and not UTF-8 are errors of their own."""
    file = str(path)
    if is_url(file):
        data = _read_url(file, kind, MAX_BYTES)
        return TextFile(decode_text(data, shown_url(file), kind), hashlib.sha256(data).hexdigest())
    try:
        if file == STANDARD_INPUT:
            return read_stream(standard_input(kind), STANDARD_INPUT_NAME, kind)
        with open(path, "rb", opener=opener) as stream:
            return read_stream(stream, file, kind)
    except (OSError, ValueError) as problem:  # a name with the character NUL is a ValueError
        raise cannot_read(file, kind, problem) from None


def read_stream(stream: IO[bytes], file: str, kind: str) -> TextFile:
    """The same of a file that is open already; `file` is its name in errors."""
    data = _read_at_most(stream, file, kind, MAX_BYTES)
    return TextFile(decode_text(data, file, kind), hashlib.sha256(data).hexdigest())


def read_bytes(path: str | Path, kind: str, named: str | None = None, most: int = MAX_BYTES) -> bytes:
    """A whole file as it is; `named` is its name in errors, if not its path."""
    file = str(path) if named is None else named
    if is_url(path):
        return _read_url(str(path), kind, most)
    try:
        with open(path, "rb", opener=opener) as stream:
            return _read_at_most(stream, file, kind, most)
    except (OSError, ValueError) as problem:
        raise cannot_read(file, kind, problem) from None


def _read_url(url: str, kind: str, most: int) -> bytes:
    from goldgate.files.remote.open_remote import open_remote  # which needs this module

    file = open_remote(url, kind, most)
    try:
        with file.stream() as stream:
            data = _read_at_most(stream, file.name, kind, most)
        file.require_unchanged()
        return data
    finally:
        file.close()


def _read_at_most(stream: IO[bytes], file: str, kind: str, most: int) -> bytes:
    data = stream.read(most + 1)
    if len(data) > most:
        raise InputError(f"{kind}.too_large", f"this {kind} is over {most:,} bytes", place=Place(file))
    return data


def decode_text(data: bytes, file: str, kind: str) -> str:
    """The text of a file's bytes."""
    try:
        return data.decode("utf-8-sig")
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
        return InputError(
            f"{kind}.missing",
            f"the {kind} file does not exist",
            place=Place(file),
            found="no such file",
            advice=_similar_file(file) or "check the name, and the folder that it is named from",
        )
    if isinstance(problem, IsADirectoryError):
        return _is_a_directory(file, kind)
    if isinstance(problem, NoWriterError):
        return InputError(
            f"{kind}.no_writer",
            f"the {kind} file cannot be read",
            place=Place(file),
            found=problem.strerror,
            expected="a file, or a pipe that another process writes to",
            advice="start the process that writes first, or let the shell do it: <(zcat FILE)",
        )
    reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
    return InputError(f"{kind}.unreadable", f"the {kind} file cannot be read", place=Place(file), found=reason)


def _similar_file(file: str) -> str | None:
    """A file of the same folder that may be meant; a folder, too, where the name has no ending."""
    folder, name = os.path.split(file)
    any_kind = not os.path.splitext(name)[1]
    try:
        there = sorted(entry.name for entry in os.scandir(folder or ".") if any_kind or entry.is_file())
    except OSError:
        return None
    # An ending that both have makes no two names alike: who wrote missing.jsonl did not mean gold.jsonl.
    return did_you_mean(name, [each for each in there if did_you_mean(_stem(name), [_stem(each)])])


def _stem(name: str) -> str:
    return name.partition(".")[0] or name


def _is_a_directory(file: str, kind: str) -> InputError:
    """The error names a few files of the directory: one of them may be meant."""
    try:
        inside = sorted(entry.name for entry in os.scandir(file) if entry.is_file())
    except OSError:
        inside = []
    shown = ", ".join(inside[:SHOWN_FILES]) + (", …" if len(inside) > SHOWN_FILES else "")
    return InputError(
        f"{kind}.is_a_directory",
        f"this is a directory, not a {kind} file",
        place=Place(file),
        expected="a file",
        found=f"a directory with {shown}" if inside else "a directory without files",
        advice="name the file in it" if inside else None,
    )
