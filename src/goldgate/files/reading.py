"""Files read: small ones whole, by path or URL, from standard input or a pipe; large ones at any offset.

Every failure is an error that names the file. A named pipe without a writer is waited for with a limit.

A file that is read at any offset is opened once: what is hashed, indexed and scored are the same bytes. One that
another process writes to or replaces meanwhile is detected by its stamp: which file it is, its size, and when it was
last changed. What cannot be read at any offset is copied to the temporary folder.
"""

from __future__ import annotations

import hashlib
import io
import os
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from pathlib import Path
from stat import S_ISFIFO
from typing import IO, NamedTuple

from goldgate.errors import InputError, MachineError, Place, did_you_mean
from goldgate.files.address import STANDARD_INPUT, STANDARD_INPUT_NAME, is_url, open_standard_input, public_url
from goldgate.files.writing import temporary_folder_error

WRITER_SECONDS = 10.0  # until a process that is being started begins to write
_UNNAMED = ("/proc/", "/dev/fd/")  # where `<(zcat …)` and standard input are: these are open already


class NoWriterError(OSError):
    """The file is a pipe, and no process opened it to write."""

    def __init__(self) -> None:
        super().__init__(f"a pipe without a writer: nothing came in {WRITER_SECONDS:g} seconds")
        self.strerror = self.args[0]


def is_outside(root: str, path: str) -> bool:
    """Whether a link leads out of the folder `root`, which is a real path."""
    real = os.path.realpath(path)
    return not (real == root or real.startswith(root if root.endswith(os.sep) else root + os.sep))


def list_untrusted(folder: str, endings: tuple[str, ...]) -> list[tuple[str, str | None]]:
    """The paths in a folder that others wrote, sorted, each with the reason why it must not be read, if there is one.

    Not read are links that leave the folder, and what is not a regular file: opening a pipe could wait for ever.
    OSError if the folder cannot be listed.
    """
    root = os.path.realpath(folder)

    def refusal(path: str) -> str | None:
        if os.path.islink(path) and (is_outside(root, path) or not os.path.exists(path)):
            return "a link that leaves the folder, or leads nowhere"
        return None if os.path.isfile(path) else "not a regular file"

    paths = [os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(endings)]
    return [(path, refusal(path)) for path in paths]


def pipe_opener(path: str, flags: int) -> int:
    """For `open(…, opener=pipe_opener)`: opens a file, and waits a limited time for a named pipe's writer."""
    try:
        named_pipe = S_ISFIFO(os.stat(path).st_mode) and not os.path.realpath(path).startswith(_UNNAMED)
    except (OSError, ValueError):
        named_pipe = False  # opening it says what is wrong
    return _open_pipe(path, flags) if named_pipe else os.open(path, flags, 0o666)


def _open_pipe(path: str, flags: int) -> int:
    """Open a named pipe in a thread, which blocks until a process writes; after the limit this process writes."""
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


MAX_BYTES = 16 * 1024 * 1024  # a protocol, an event schema or a response of this size is some other file

MAX_LISTED_FILES = 3  # files of a directory that an error names


class TextFile(NamedTuple):
    """A file's text, and the digest of its bytes."""

    text: str
    sha256: str


def read_text_file(path: str | Path, kind: str) -> TextFile:
    """The file's text; missing, unreadable, too large and not UTF-8 are errors of their own."""
    file = str(path)
    if file != STANDARD_INPUT:
        return _text_file(read_bytes(file, kind), public_url(file), kind)
    try:
        return read_stream(open_standard_input(kind), STANDARD_INPUT_NAME, kind)
    except (OSError, ValueError) as problem:
        raise read_failure(file, kind, problem) from None


def read_stream(stream: IO[bytes], file: str, kind: str) -> TextFile:
    """The text and digest of a file that is open already; `file` is its name in errors."""
    return _text_file(_read_at_most(stream, file, kind, MAX_BYTES), file, kind)


def _text_file(data: bytes, file: str, kind: str) -> TextFile:
    return TextFile(decode_text(data, file, kind), hashlib.sha256(data).hexdigest())


def read_bytes(path: str | Path, kind: str, display_name: str | None = None, most: int = MAX_BYTES) -> bytes:
    """A whole file as it is; `display_name` is its name in errors, if not its path."""
    file = str(path) if display_name is None else display_name
    if is_url(path):
        return _read_url(str(path), kind, most)
    try:
        with open(path, "rb", opener=pipe_opener) as stream:
            return _read_at_most(stream, file, kind, most)
    except (OSError, ValueError) as problem:  # a name with the character NUL is a ValueError
        raise read_failure(file, kind, problem) from None


def _read_url(url: str, kind: str, most: int) -> bytes:
    from goldgate.files.remote import open_remote  # which needs this module

    with closing(open_remote(url, kind, most)) as file:
        with file.stream() as stream:
            data = _read_at_most(stream, file.name, kind, most)
        file.require_unchanged()
        return data


def _read_at_most(stream: IO[bytes], file: str, kind: str, most: int) -> bytes:
    data = stream.read(most + 1)
    if len(data) > most:
        raise InputError(f"{kind}.too_large", f"this {kind} is over {most:,} bytes", place=Place(file))
    return data


def read_part(stream: IO[bytes], offset: int, length: int) -> bytes:
    """A part of an open file."""
    stream.seek(offset)
    return stream.read(length)


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
            advice=utf8_advice(problem),
        ) from None


def utf8_advice(problem: UnicodeDecodeError) -> str:
    """What to do about bytes that are not UTF-8, which may be a file that was cut inside a character."""
    if problem.reason == "unexpected end of data":
        return "it ends inside a character: is the file cut off? If not, save it as UTF-8"
    return "save the file as UTF-8"


def missing_file_message(kind: str) -> str:
    return f"the {kind} file does not exist"


def read_failure(file: str, kind: str, problem: OSError | ValueError) -> InputError:
    """The error for a file that cannot be opened or read."""
    if isinstance(problem, FileNotFoundError):
        return InputError(
            f"{kind}.missing",
            missing_file_message(kind),
            place=Place(file),
            found="no such file",
            advice=_similar_file(file) or "check the path",
        )
    if isinstance(problem, IsADirectoryError):
        return _directory_error(file, kind)
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


def _directory_error(file: str, kind: str) -> InputError:
    """The error names a few files of the directory: one of them may be meant."""
    try:
        inside = sorted(entry.name for entry in os.scandir(file) if entry.is_file())
    except OSError:
        inside = []
    names = ", ".join(inside[:MAX_LISTED_FILES]) + (", …" if len(inside) > MAX_LISTED_FILES else "")
    return InputError(
        f"{kind}.is_a_directory",
        f"this is a directory, not a {kind} file",
        place=Place(file),
        expected="a file",
        found=f"a directory with {names}" if inside else "a directory without files",
        advice="name the file in it" if inside else None,
    )


BLOCK = 1 << 20
MAX_READ = 1 << 30  # the system gives at most 2 GiB at a time


class RandomAccess(ABC):
    """Bytes that stay as they are, with the name and kind for messages. It can be sent to a worker."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name  # as the user gave it
        self.kind = kind

    @abstractmethod
    def read_some(self, offset: int, length: int) -> bytes:
        """At most `length` bytes; none at the end of the file."""

    @abstractmethod
    def size(self) -> int: ...

    @abstractmethod
    def require_unchanged(self, within: float = 0.0) -> None:
        """An error if the file was written to, or is no longer the one under its name.

        Where asking costs a request, an answer counts for the seconds `within`.
        """

    @abstractmethod
    def close(self) -> None: ...

    def read(self, offset: int, length: int) -> bytes:
        """The bytes there, all of them: fewer mean that the file changed."""
        data = self.read_some(offset, min(length, MAX_READ))
        if len(data) == length:
            return data
        parts = [data]
        while length - len(data) > 0 and parts[-1]:
            offset, length = offset + len(data), length - len(data)
            data = self.read_some(offset, min(length, MAX_READ))
            parts.append(data)
        if len(data) != length:
            raise self.changed("it is shorter than it was")
        return b"".join(parts)

    def read_each(self, offsets: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        """The bytes at several places, which need not lie side by side."""
        return [self.read(offset, length) for offset, length in zip(offsets, lengths, strict=True)]

    def stream(self, offset: int = 0) -> io.BufferedReader:
        """The bytes from there on, to be read in order. Several streams of one file do not disturb each other."""
        return io.BufferedReader(_OffsetStream(self, offset), BLOCK)

    def sha256(self) -> str:
        digest, offset = hashlib.sha256(), 0
        while block := self.read_some(offset, BLOCK):
            digest.update(block)
            offset += len(block)
        return digest.hexdigest()

    def changed(self, found: str) -> InputError:
        return InputError(
            f"{self.kind}.changed",
            "the file changed while it was being read",
            place=Place(self.name),
            found=found,
            expected="a file that stays as it is until the end",
            advice="is another process still writing it? run the command again when it is done",
        )


class _OffsetStream(io.RawIOBase):
    def __init__(self, file: RandomAccess, offset: int) -> None:
        self._file = file
        self._offset = offset

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # typeshed leaves the buffer open
        data = self._file.read_some(self._offset, len(buffer))
        buffer[: len(data)] = data
        self._offset += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        begin = {os.SEEK_SET: 0, os.SEEK_CUR: self._offset, os.SEEK_END: self._file.size()}[whence]
        self._offset = begin + offset
        return self._offset

    def tell(self) -> int:
        return self._offset


_COPY_REASON = "it is packed, or not in goldgate's own form"
TICK_NS = 20_000_000  # two changes within one tick of the system's clock look alike; 10 ms is the longest in use


class FileStamp(NamedTuple):
    """What the system notes of a file. `changed` cannot be set back, `modified` can."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


class LocalFile(RandomAccess):
    """An open file, and its stamp when it was opened."""

    __slots__ = ("file", "path", "stamp")

    def __init__(self, name: str, kind: str, file: io.FileIO, stamp: FileStamp | None) -> None:
        super().__init__(name, kind)
        self.path = name  # under which it was opened: on another machine than the user's, a whole one
        self.file = file
        self.stamp = stamp  # None: a copy that only we have

    def read_some(self, offset: int, length: int) -> bytes:
        try:
            return os.pread(self.file.fileno(), length, offset)
        except OSError as problem:
            raise read_failure(self.name, self.kind, problem) from None

    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size

    def require_unchanged(self, within: float = 0.0) -> None:
        if self.stamp is None:
            return
        now = stamp_of(os.fstat(self.file.fileno()))
        if now != self.stamp:
            raise self.changed(_describe_change(self.stamp, now))
        try:
            there = stamp_of(os.stat(self.path))
        except OSError:
            raise self.changed("it was removed") from None
        if there != self.stamp:
            raise self.changed("another file was put in its place")

    def close(self) -> None:
        self.file.close()


class _QuietFile(io.FileIO):
    """A file that is closed without a warning where an error left it open."""

    def __del__(self) -> None:
        self.close()


def open_local(path: str | Path, kind: str) -> LocalFile:
    """Open a file; OSError if that fails. Its stamp is such that every later change is one that can be seen."""
    file = _QuietFile(path, "rb", opener=pipe_opener)
    try:
        stamp = stamp_of(os.fstat(file.fileno()))
        recent = TICK_NS - (time.time_ns() - max(stamp.modified, stamp.changed))
        if 0 < recent <= TICK_NS:
            time.sleep(recent / 1e9)
            stamp = stamp_of(os.fstat(file.fileno()))
        return LocalFile(str(path), kind, file, stamp)
    except BaseException:
        file.close()
        raise


def copy_to_temporary(name: str, kind: str, read: Callable[[int], bytes], why: str = _COPY_REASON) -> LocalFile:
    """The bytes that `read` gives, in a nameless temporary file, which is gone when no process has it open.

    For a URL, a warning says that a copy is made, and why.
    """
    import tempfile  # for this alone: it takes longer to import than a small file to read

    if is_url(name):
        import logging

        logging.getLogger("goldgate").warning("%s: copied to the temporary folder for this run, because %s", name, why)
    try:
        with tempfile.TemporaryFile(prefix="goldgate-") as nameless:
            copy = _QuietFile(os.dup(nameless.fileno()), "r+b")
    except OSError as problem:
        raise _no_room_error(name, kind, problem) from None
    while block := memoryview(read(BLOCK)):
        while block:  # the system may take a part only, and give the reason next time
            try:
                block = block[copy.write(block) :]
            except OSError as problem:
                raise _no_room_error(name, kind, problem) from None
    return LocalFile(name, kind, copy, None)


def stamp_of(status: os.stat_result) -> FileStamp:
    return FileStamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def _describe_change(before: FileStamp, now: FileStamp) -> str:
    if before.size != now.size:
        return f"it had {before.size:,} bytes and now has {now.size:,}"
    return "it was written to, or its time or rights were set"


def _no_room_error(name: str, kind: str, problem: OSError) -> MachineError:
    message = f"the {kind} file cannot be unpacked or copied to the temporary folder"
    return temporary_folder_error(problem, message, Place(name))
