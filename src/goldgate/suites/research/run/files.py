"""The files of one run directory, read once; what cannot be read is named, and never waited for."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from goldgate.files.pipe import leaves
from goldgate.files.remote.listing import RemoteEntry, scan
from goldgate.files.storable import storable_name
from goldgate.files.url import is_url

OUTPUT, EVENTS, CHUNKS = "research_output.json", "events.jsonl", "chunks.jsonl"
MANIFESTS, MANIFEST_LINES = "manifests", "manifests.jsonl"
ARTIFACTS = "artifacts"
IMPORT = "import.json"  # what `goldgate import-runs` did not find in a trace: for people, not judged
RUN_FILES = frozenset({OUTPUT, EVENTS, MANIFEST_LINES, MANIFESTS, CHUNKS, ARTIFACTS})

Entry = os.DirEntry[str] | RemoteEntry
_BOM = b"\xef\xbb\xbf"
_SHA256 = re.compile(r"[0-9a-f]{64}")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0)


class Limits(NamedTuple):
    """How many bytes may be read: of one file, and of one run together, for all of it is in memory at once."""

    file: int = 64_000_000
    run: int = 256_000_000


# Bytes that a decoder takes for each, roughly: an object, a list, a value of either, a line.
_DECODED = {b"{": 180, b"[": 64, b",": 32, b":": 32}
_DECODED_LINE = 16
_DECODED_TIMES = 3  # the limit of a run, for all that is decoded of it
# To the end of the line where it has no end: a string that cannot be closed must not be looked at again and again.
_STRING = re.compile(rb'"(?:[^"\\\n]|\\.)*+"?')
_FEW_STRINGS = 64  # bytes for each quotation mark of its own, in a file that is looked at without its strings


class Artifact(NamedTuple):
    """A stored source: its bytes, and the hash that they really have."""

    data: bytes
    sha256: str


class Unread(NamedTuple):
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
    unread: list[Unread] = field(default_factory=list)
    ignored: list[tuple[str, str]] = field(default_factory=list)  # file, reason
    read: int = 0
    bytes_read: int = 0
    digest: bytes = b""  # of all names and bytes: two runs with the same are copies


def read_run(root: str, name: str, limits: Limits) -> RunFiles | None:
    """The files of the run directory `name` under `root`, a real path; None if it has none of a run's files."""
    return _Reader(root, limits).read(os.path.join(root, name))


def _scan(folder: str) -> list[Entry]:
    """What lies in a folder; OSError if it cannot be listed, an InputError if it is elsewhere."""
    if is_url(folder):
        return list(scan(folder, "outputs"))
    with os.scandir(folder) as listing:
        return list(listing)


class _RefusedError(Exception):
    """A file that must not be read: code and message."""


class _Reader:
    def __init__(self, root: str, limits: Limits) -> None:
        self.root = root
        self.limits = limits
        self.files = RunFiles()
        self.hash = hashlib.sha256()
        self.decoded = 0  # bytes, estimated

    def read(self, folder: str) -> RunFiles | None:
        """In this order: large sources must not use up the limit of a run before its log was read."""
        files = self.files
        try:
            entries = {entry.name: entry for entry in _scan(folder)}
        except OSError as problem:
            files.unread.append(Unread("", "unreadable", f"the directory cannot be listed: {problem.strerror}"))
            return files
        if RUN_FILES.isdisjoint(entries):
            return None
        if OUTPUT in entries:
            files.output = self._content(entries[OUTPUT], OUTPUT)
        if EVENTS in entries:
            files.events = self._content(entries[EVENTS], EVENTS)
        if MANIFEST_LINES in entries:
            files.manifest_lines = self._content(entries[MANIFEST_LINES], MANIFEST_LINES)
        if MANIFESTS in entries:
            for shown, inner in self._folder(entries[MANIFESTS], MANIFESTS, ".json"):
                data = self._content(inner, shown)
                if data is not None:
                    files.manifests.append((shown, data))
        if CHUNKS in entries:
            files.chunks = self._content(entries[CHUNKS], CHUNKS)
        if ARTIFACTS in entries:
            self._artifacts(entries[ARTIFACTS])
        for name in sorted(entries.keys() - RUN_FILES):
            reason = "notes of an import, not judged" if name == IMPORT else "not a file of a run"
            files.ignored.append((storable_name(name), reason))
        files.digest = self.hash.digest()
        return files

    def _artifacts(self, entry: Entry) -> None:
        for shown, inner in self._folder(entry, ARTIFACTS, ""):
            data = self._content(inner, shown, stored=True)
            if data is not None:
                sha256 = hashlib.sha256(data).hexdigest()
                self.hash.update(f"{shown}\0{sha256}\0".encode())
                self.files.artifacts[inner.name] = Artifact(data, sha256)

    def _folder(self, entry: Entry, name: str, suffix: str) -> Iterator[tuple[str, Entry]]:
        """The files of a folder in the order of their names; another kind of file in it is listed as ignored."""
        if entry.is_symlink() and leaves(self.root, entry.path):
            self._refuse(name, "link_leaves_outputs", "a link that leaves the outputs directory")
            return
        try:
            entries = sorted(_scan(entry.path), key=lambda inner: inner.name)
        except OSError as problem:
            self._refuse(name, "unreadable", f"it should be a directory: {problem.strerror}")
            return
        for inner in entries:
            shown = f"{name}/{storable_name(inner.name)}"
            if inner.name.endswith(suffix):
                yield shown, inner
            else:
                self.files.ignored.append((shown, f"not a {suffix} file"))

    def _content(self, entry: Entry, shown: str, *, stored: bool = False) -> bytes | None:
        """The bytes of a regular file inside the outputs that is not too large; else None, and it is noted.

        Without a byte order mark, unless they are wanted as they are stored; then the caller hashes them.
        """
        try:
            data = self._bytes(entry)
        except _RefusedError as refusal:
            self._refuse(shown, *refusal.args)
            return None
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or type(problem).__name__
            self._refuse(shown, "unreadable", f"the file cannot be read: {reason}")
            return None
        self.files.read += 1
        if stored:
            return data
        try:
            self._require_memory(data, lines=shown.endswith(".jsonl"))
        except _RefusedError as refusal:
            self._refuse(shown, *refusal.args)
            return None
        self.hash.update(f"{shown}\0{len(data)}\0".encode())
        self.hash.update(data)
        return data[len(_BOM) :] if data.startswith(_BOM) else data

    def _bytes(self, entry: Entry) -> bytes:
        if entry.is_symlink() and leaves(self.root, entry.path):
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
                data = _rest(descriptor, data, self.limits.file)
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
        """Refuse a file of so many small values that decoding it takes far more memory than its bytes."""
        limit = _DECODED_TIMES * self.limits.run
        size = decoded_size(data, lines=lines)
        marks = data.count(b'"') - data.count(b'\\"') if self.decoded + size > limit else len(data)
        if marks * _FEW_STRINGS < len(data):
            size = decoded_size(_STRING.sub(b"", data), lines=lines) + len(data)
        if self.decoded + size > limit:
            words = f"with this file some {(self.decoded + size) // 1_000_000:,} MB of values would be decoded"
            most = f"the limit is {limit // 1_000_000:,} MB, three times research.max_run_megabytes"
            raise _RefusedError("too_large", f"{words}; {most}")
        self.decoded += size

    def _refuse(self, shown: str, code: str, message: str) -> None:
        self.files.unread.append(Unread(shown, code, message))


def decoded_size(data: bytes, *, lines: bool) -> int:
    """About how many bytes JSON takes in memory, without decoding it: signs within strings count as well."""
    size = len(data) + sum(weight * data.count(sign) for sign, weight in _DECODED.items())
    return size + _DECODED_LINE * data.count(b"\n") if lines else size


def sha256_of(value: object) -> str | None:
    """The hex digits of a recorded SHA-256, with or without `sha256:` before them; None if it is no such hash."""
    if type(value) is not str:
        return None
    digits = value.strip().lower().removeprefix("sha256:")
    return digits if _SHA256.fullmatch(digits) else None


def _rest(descriptor: int, data: bytes, max_bytes: int) -> bytes:
    """What one read did not give: it returns at most some 2 GB, and a file may grow under our hands."""
    parts = [data]
    while data and sum(map(len, parts)) <= max_bytes:
        data = os.read(descriptor, 1 << 20)
        parts.append(data)
    return b"".join(parts)
