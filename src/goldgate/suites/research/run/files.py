"""The files of one run directory: read once within limits, then decoded from JSON or JSON Lines.

A file that cannot be read is listed with the reason; a bad line costs only that line.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any, NamedTuple

from orjson import JSONDecodeError, dumps, loads

from goldgate.files import parsing
from goldgate.files.address import is_url
from goldgate.files.reading import is_outside
from goldgate.files.remote import RemoteEntry, scan_remote
from goldgate.files.writing import escape_name
from goldgate.readers.records import decode_json as decode_slowly
from goldgate.suites.research.contracts import RUN_LIES_DEEPER

OUTPUT, EVENTS, CHUNKS = "research_output.json", "events.jsonl", "chunks.jsonl"
MANIFESTS, MANIFEST_LINES = "manifests", "manifests.jsonl"
ARTIFACTS = "artifacts"
IMPORT_NOTES = "import.json"  # what `goldgate import-runs` did not find in a trace: for people, not judged
RUN_FILES = frozenset({OUTPUT, EVENTS, MANIFEST_LINES, MANIFESTS, CHUNKS, ARTIFACTS})

_MAX_FOLDERS = 1_000  # of a directory that is not a run, in search of one

FolderEntry = os.DirEntry[str] | RemoteEntry
_BOM = b"\xef\xbb\xbf"
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


class ReadLimits(NamedTuple):
    """How many bytes may be read: of one file, and of one run together, for all of it is in memory at once."""

    file: int = 64_000_000
    run: int = 256_000_000


# Bytes that a decoder takes for each, roughly: an object, a list, a value of either, a line.
_DECODED_BYTES = {b"{": 180, b"[": 64, b",": 32, b":": 32}
_DECODED_LINE = 16
_DECODED_TIMES = 3  # the limit of a run, for all that is decoded of it
# To the end of the line where it has no end: a string that cannot be closed must not be looked at again and again.
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*+"?')
_FEW_STRINGS = 64  # bytes for each quotation mark of its own, in a file that is looked at without its strings


class Artifact(NamedTuple):
    """A stored source: its bytes, and the hash that they really have."""

    data: bytes
    sha256: str

    @property
    def text(self) -> str | None:
        """The bytes as text; None if they are not plain UTF-8: a PDF, UTF-16, an image."""
        if self.data.startswith(b"%PDF-") or b"\0" in self.data:
            return None
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None


class UnreadFile(NamedTuple):
    """A file of the run that is there and was not read. Any of them breaks the run."""

    file: str
    code: str
    message: str


@dataclass(slots=True)
class RunFiles:
    """The bytes of a run, by role. None is a file that is not there or could not be read."""

    output: bytes | None = None
    events: bytes | None = None
    chunks: bytes | None = None
    manifests: list[tuple[str, bytes]] = field(default_factory=list)  # a file each
    manifest_lines: bytes | None = None
    artifacts: dict[str, Artifact] = field(default_factory=dict)
    unread: list[UnreadFile] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)  # file, reason
    read: int = 0
    bytes_read: int = 0
    digest: bytes = b""  # of all names and bytes: two runs with the same are copies


def read_run(root: str, name: str, limits: ReadLimits) -> RunFiles | None:
    """The files of the run directory `name` under `root`, a real path; None if it has none of a run's files."""
    return _Reader(root, limits).read(os.path.join(root, name))


def ignored_reason(root: str, path: str, reason: str) -> str:
    """Why a folder of the outputs is not read: because of a run under it, which is named, or for this reason.

    A run that was moved into another folder would be missed by nothing else. Only names are read.
    """
    folders = [] if is_url(root) else [path]
    for folder in folders:  # the list grows on the way, up to its limit
        try:
            with os.scandir(folder) as listing:
                entries = {entry.name: entry.is_dir(follow_symlinks=False) for entry in listing}
        except OSError:
            continue
        if not entries.keys().isdisjoint((OUTPUT, EVENTS)):
            return f"{RUN_LIES_DEEPER}{escape_name(os.path.relpath(folder, root))}"
        inside = [os.path.join(folder, name) for name in sorted(entries) if entries[name]]
        folders += inside[: _MAX_FOLDERS - len(folders)]
    return reason


def list_folder(folder: str) -> list[FolderEntry]:
    """What lies in a folder; OSError if it cannot be listed, an InputError if it is elsewhere."""
    if is_url(folder):
        return list(scan_remote(folder, "outputs"))
    with os.scandir(folder) as listing:
        return list(listing)


class _RefusedError(Exception):
    """A file that must not be read: code and message."""


class _Reader:
    def __init__(self, root: str, limits: ReadLimits) -> None:
        self.root = root
        self.limits = limits
        self.files = RunFiles()
        self.hash = hashlib.sha256()
        self.decoded = 0  # bytes, estimated
        self.unweighed: list[tuple[bytes, bool]] = []  # files for which they are not estimated yet, and if of lines

    def read(self, folder: str) -> RunFiles | None:
        """Read the files in this order: large sources must not use up the limit of a run before its log was read."""
        files = self.files
        try:
            entries = {entry.name: entry for entry in list_folder(folder)}
        except OSError as problem:
            files.unread.append(UnreadFile("", "unreadable", f"the directory cannot be listed: {problem.strerror}"))
            return files
        if RUN_FILES.isdisjoint(entries):
            return None
        files.output = self._file(entries, OUTPUT)
        files.events = self._file(entries, EVENTS)
        files.manifest_lines = self._file(entries, MANIFEST_LINES)
        for path, entry in self._folder(entries, MANIFESTS, ".json"):
            if (data := self._content(entry, path)) is not None:
                files.manifests.append((path, data))
        files.chunks = self._file(entries, CHUNKS)
        for path, entry in self._folder(entries, ARTIFACTS, ""):
            if (data := self._content(entry, path, stored=True)) is not None:
                sha256 = hashlib.sha256(data).hexdigest()
                self.hash.update(f"{path}\0{sha256}\0".encode())
                files.artifacts[entry.name] = Artifact(data, sha256)
        for name in sorted(entries.keys() - RUN_FILES):
            reason = "notes of an import, not judged" if name == IMPORT_NOTES else "not a file of a run"
            if entries[name].is_dir() and not entries[name].is_symlink():
                reason = ignored_reason(self.root, os.path.join(folder, name), reason)
            files.ignored.append((escape_name(name), reason))
        files.digest = self.hash.digest()
        return files

    def _file(self, entries: dict[str, FolderEntry], name: str) -> bytes | None:
        return self._content(entries[name], name) if name in entries else None

    def _folder(self, entries: dict[str, FolderEntry], name: str, suffix: str) -> Iterator[tuple[str, FolderEntry]]:
        """The files of a folder in the order of their names; another kind of file in it is listed as ignored."""
        if name not in entries:
            return
        folder = entries[name]
        if folder.is_symlink() and is_outside(self.root, folder.path):
            self._refuse(name, "link_leaves_outputs", "a link that leaves the outputs directory")
            return
        try:
            inside = sorted(list_folder(folder.path), key=lambda entry: entry.name)
        except OSError as problem:
            self._refuse(name, "unreadable", f"it should be a directory: {problem.strerror}")
            return
        for entry in inside:
            path = f"{name}/{escape_name(entry.name)}"
            if entry.name.endswith(suffix):
                yield path, entry
            else:
                self.files.ignored.append((path, f"not a {suffix} file"))

    def _content(self, entry: FolderEntry, path: str, *, stored: bool = False) -> bytes | None:
        """The bytes of a regular file inside the outputs that is not too large; else None, and it is noted.

        Without a byte order mark, unless `stored` asks for the bytes as they are; then the caller hashes them.
        """
        try:
            data = self._bytes(entry)
            self.files.read += 1
            if stored:
                return data
            self._require_memory(data, lines=path.endswith(".jsonl"))
        except _RefusedError as refusal:
            self._refuse(path, *refusal.args)
            return None
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or type(problem).__name__
            self._refuse(path, "unreadable", f"the file cannot be read: {reason}")
            return None
        self.hash.update(f"{path}\0{len(data)}\0".encode())
        self.hash.update(data)
        return data.removeprefix(_BOM)

    def _bytes(self, entry: FolderEntry) -> bytes:
        if entry.is_symlink() and is_outside(self.root, entry.path):
            raise _RefusedError("link_leaves_outputs", "a link that leaves the outputs directory, or leads nowhere")
        if not entry.is_file():  # a directory, a pipe, a socket: opening one could wait for ever
            raise _RefusedError("not_a_file", "it should be a regular file")
        if isinstance(entry, RemoteEntry):
            self._require_room(entry.size)
            self.files.bytes_read += entry.size
            return entry.read()
        descriptor = os.open(entry.path, _FLAGS)
        try:
            size = os.fstat(descriptor).st_size
            self._require_room(size)
            data = os.read(descriptor, size + 1)
            if len(data) != size:
                data = _read_rest(descriptor, data, self.limits.file)
                self._require_room(len(data))
            self.files.bytes_read += len(data)
            return data
        finally:
            os.close(descriptor)

    def _require_room(self, size: int) -> None:
        """Refuse a file that is too large by itself, or together with what was read of this run before."""
        if size > self.limits.file:
            limit = f"the limit is {self.limits.file:,} (research.max_file_megabytes)"
            raise _RefusedError("too_large", f"the file has {size:,} bytes; {limit}")
        if self.files.bytes_read + size > self.limits.run:
            limit = f"the limit of a run is {self.limits.run:,} (research.max_run_megabytes)"
            raise _RefusedError("too_large", f"with this file of {size:,} bytes the run is too large; {limit}")

    def _require_memory(self, data: bytes, *, lines: bool) -> None:
        """Refuse a file with too many small values: decoding it takes far more memory than its bytes.

        Files are weighed only when nothing but braces in them would be too much: weighing takes 8 % of judging a run.
        """
        limit = _DECODED_TIMES * self.limits.run
        self.unweighed.append((data, lines))
        if self.decoded + sum(len(data) for data, _ in self.unweighed) * (1 + _DECODED_BYTES[b"{"]) > limit:
            waiting, self.unweighed = self.unweighed, []
            for data, lines in waiting:
                self._weigh(data, lines, limit)

    def _weigh(self, data: bytes, lines: bool, limit: int) -> None:
        size = decoded_size(data, lines=lines)
        marks = data.count(b'"') - data.count(b'\\"') if self.decoded + size > limit else len(data)
        if marks * _FEW_STRINGS < len(data):
            size = decoded_size(_STRING.sub(b"", data), lines=lines) + len(data)
        if self.decoded + size > limit:
            words = f"with this file some {(self.decoded + size) // 1_000_000:,} MB of values would be decoded"
            most = f"the limit is {limit // 1_000_000:,} MB, three times research.max_run_megabytes"
            raise _RefusedError("too_large", f"{words}; {most}")
        self.decoded += size

    def _refuse(self, path: str, code: str, message: str) -> None:
        self.files.unread.append(UnreadFile(path, code, message))


def decoded_size(data: bytes, *, lines: bool) -> int:
    """About how many bytes JSON takes in memory, without decoding it: signs within strings count as well."""
    size = len(data) + sum(weight * data.count(sign) for sign, weight in _DECODED_BYTES.items())
    return size + _DECODED_LINE * data.count(b"\n") if lines else size


def _read_rest(descriptor: int, data: bytes, max_bytes: int) -> bytes:
    """What one read did not give: it returns at most some 2 GB, and a file may grow under our hands."""
    parts = [data]
    while data and sum(map(len, parts)) <= max_bytes:
        data = os.read(descriptor, 1 << 20)
        parts.append(data)
    return b"".join(parts)


MAX_BAD_LINES = 100_000  # of one file; each takes as long as a hundred lines that are right
_COLON_AS_ESCAPE = b"\\u003"


class BadLine(str):
    """Why a line of JSON Lines could not be decoded."""


class AmbiguousLine(BadLine):
    """Why a line can be read in two ways: a key is there twice, or may be, too deep to look."""


class UnreadRest(AmbiguousLine):
    """Why the rest of a file is not read."""


class TornLine(BadLine):
    """Why a last line without a line end could not be decoded: it was not written to its end."""


def decode_run_json(data: bytes) -> Any:
    """One JSON value; ValueError, with words for a reader, if it is not."""
    try:
        return loads(data)
    except JSONDecodeError as problem:
        try:
            return decode_slowly(data)  # half a surrogate pair
        except ValueError:
            raise ValueError(_decode_error(problem, data)) from None


def equal_values(one: object, other: object) -> bool:
    """Whether two decoded values are equal; two that are nested too deeply to compare are not."""
    try:
        return one == other
    except RecursionError:
        return False


def duplicate_key(data: bytes, value: Any) -> str | None:
    """A key that stands twice in one object of the file, where there is one: the value holds the last of the two.

    ValueError if the file is nested too deeply to look.
    """
    if has_all_keys(data, value):
        return None
    try:
        return parsing.find_repeated_key(data)
    except RecursionError:
        raise ValueError("nested too deeply to be read") from None


def has_all_keys(data: bytes, value: Any) -> bool:
    """True if no key was lost when JSON, or all lines of JSON Lines, were decoded; False says nothing.

    The values, written again, have as many colons as the file, unless a key was lost: those in strings are the same,
    where none is written as an escape.
    """
    if b"\\" in data and _COLON_AS_ESCAPE in data:  # a single byte is found in no time
        return False
    try:
        return _count_colons(data) == _count_colons(dumps(value))
    except TypeError:  # too deep, or half a surrogate pair
        return False


def _count_colons(data: bytes) -> int:
    """Taking colons out is three times as fast as `count`, which looks at byte after byte."""
    return len(data) - len(data.replace(b":", b""))


def decode_unambiguous(data: bytes) -> Any:
    """One JSON value, or a BadLine: for what counts only if it can be read in one way."""
    try:
        value = decode_run_json(data)
    except ValueError as problem:
        return BadLine(problem)
    try:
        repeated = duplicate_key(data, value)
    except ValueError as problem:
        return AmbiguousLine(problem)
    if repeated is not None:
        return AmbiguousLine(f"duplicate key {repeated!r}: it is not clear which of the two counts")
    return value


def decode_lines(data: bytes) -> Iterator[tuple[int, Any]]:
    """Line number and value of each line that is not blank; a BadLine in place of one that is not JSON or ambiguous."""
    bad = 0
    for number, line in enumerate(BytesIO(data), 1):
        if line.isspace():
            continue
        value = decode_unambiguous(line.removesuffix(b"\n"))
        if isinstance(value, BadLine):
            bad += 1
            if bad > MAX_BAD_LINES:
                yield number, UnreadRest(f"more than {MAX_BAD_LINES:,} lines cannot be read: the rest is left unread")
                return
            if type(value) is BadLine and not line.endswith(b"\n"):  # only the last line can be torn
                value = TornLine(value)
        yield number, value


def _decode_error(problem: JSONDecodeError, data: bytes) -> str:
    if not data.strip():
        return "the file is empty"
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        return f"not UTF-8 text: the byte 0x{data[wrong.start]:02x} at offset {wrong.start}"
    return f"not JSON: {problem.msg} at line {problem.lineno} column {problem.colno}"
