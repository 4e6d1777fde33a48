"""Tasks on nodes of a Ray cluster: work packed for another machine, the same build required there, shards answered.

No open file can be sent to another machine: it is opened there by its path and must look the same; a copy that
only the first process has (of what was unpacked, converted or piped in) is sent in pieces. Errors are answers
too: Ray would wrap them and log them.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import platform
import socket
import time
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, partial
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import orjson

import goldgate
from goldgate.engines.parts import part_file
from goldgate.engines.processes import ERROR, RESULT, packed_error
from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.reading import MAX_READ, LocalFile, open_local

PIECE = 8 << 20  # bytes of a copy that travel at once
PIECES_HELD = 4  # pieces of each copy that a process caches: shards are side by side

Fetch = Callable[[int, int], bytes]  # the piece of a copy, by the number of the copy and its own


class PackedWork(NamedTuple):
    """Work as bytes, and the copies that it needs beside them."""

    data: bytes
    copies: list[LocalFile]


class UnpackedWork(NamedTuple):
    """Work that can be carried out here, and the files that it has open."""

    work: Any
    files: list[LocalFile]


class _File(NamedTuple):
    """A file that every machine has under the same path."""

    name: str  # as the user gave it, for messages
    kind: str
    path: str
    size: int
    modified: int


class _Copy(NamedTuple):
    """A copy that is read by pieces."""

    name: str
    kind: str
    number: int
    size: int


def pack_work(work: Any) -> PackedWork:
    """The work, without anything that is open."""
    copies: list[LocalFile] = []

    class Pickler(pickle.Pickler):
        def persistent_id(self, part: Any) -> _File | _Copy | None:
            if not isinstance(part, LocalFile):
                return None
            if part.stamp is None:
                if part not in copies:
                    copies.append(part)
                return _Copy(part.name, part.kind, copies.index(part), part.size())
            path = os.path.abspath(part.path)
            return _File(part.name, part.kind, path, part.stamp.size, part.stamp.modified)

    stream = BytesIO()
    Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(work)
    return PackedWork(stream.getvalue(), copies)


def unpack_work(data: bytes, fetch: Fetch) -> UnpackedWork:
    """The work, with its files opened on this machine; InputError if one is not there, or is another one."""
    opened: dict[_File | _Copy, LocalFile] = {}

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, part: Any) -> LocalFile:
            if part not in opened:
                opened[part] = _SentCopy(part, fetch) if isinstance(part, _Copy) else _open_here(part)
            return opened[part]

    return UnpackedWork(Unpickler(BytesIO(data)).load(), [*opened.values()])


class _SentCopy(LocalFile):
    """A copy that lies elsewhere."""

    __slots__ = ("_piece", "_size")

    def __init__(self, copy: _Copy, fetch: Fetch) -> None:
        super().__init__(copy.name, copy.kind, None, None)  # type: ignore[arg-type]  # nothing is open
        self._size = copy.size
        self._piece = lru_cache(PIECES_HELD)(partial(fetch, copy.number))

    def read_some(self, offset: int, length: int) -> bytes:
        if offset >= self._size:
            return b""
        piece, begin = divmod(offset, PIECE)
        return self._piece(piece)[begin : begin + min(length, MAX_READ)]

    def size(self) -> int:
        return self._size

    def close(self) -> None:
        self._piece.cache_clear()


def _open_here(expected: _File) -> LocalFile:
    """The file under its path, if it has the same size and time: to the second, as some file systems keep no more."""
    try:
        opened = open_local(expected.path, expected.kind)
    except OSError as problem:
        raise _not_the_same(expected, f"{problem.strerror}, on {socket.gethostname()}") from None
    opened.name = expected.name
    stamp, difference = opened.stamp, None
    assert stamp is not None
    if stamp.size != expected.size:
        difference = f"a file of {stamp.size:,} bytes, not {expected.size:,}"
    elif stamp.modified // 10**9 != expected.modified // 10**9:
        difference = "a file of the same size that was changed at another time"
    if difference is not None:
        opened.close()
        raise _not_the_same(expected, f"{difference}, on {socket.gethostname()}")
    return opened


def _not_the_same(expected_file: _File, found: str) -> InputError:
    return InputError(
        f"{expected_file.kind}.not_on_node",
        "a node of the cluster does not have this file",
        place=Place(expected_file.name),
        expected="the same file under the same path on every node",
        found=found,
        advice="put it where all nodes see it, or copy it to each of them with its time (rsync -t)",
    )


DIGEST_CHARACTERS = 12  # characters: a digest is not read to its end


class Build(NamedTuple):
    """What can change a number, or how it is written, from machine to machine."""

    goldgate: str
    sources: str  # one digest of the package's modules: a checkout may be ahead of its version
    python: str  # without the last part
    unicode: str
    orjson: str


def build_difference(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    """The first thing in which their build differs from ours, with both; None if there is none."""
    for name, here, there in zip_longest(Build._fields, ours, theirs):
        if here != there:
            return f"{name} {str(there)[:DIGEST_CHARACTERS]}, and {str(here)[:DIGEST_CHARACTERS]} here"
    return None


@cache
def this_build() -> Build:
    """The build of this process."""
    python = platform.python_version().rpartition(".")[0]
    return Build(goldgate.__version__, _sources(), python, unicodedata.unidata_version, orjson.__version__)


def _sources() -> str:
    digest, folder = hashlib.sha256(), Path(goldgate.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


TaskAnswer = tuple[bytes, bytes]  # RESULT or ERROR, and it packed

_unpacked: dict[str, UnpackedWork] = {}  # the work that this process has done last, by its key


def run_task(
    build: Sequence[str], key: str, sent: Sequence[Any], shards: Sequence[bytes]
) -> tuple[float, list[TaskAnswer]]:
    """The seconds it took, and the answers of the shards in order, up to the first error.

    `sent` has a reference to the work and those of the pieces of its copies, as `ray_engine` put them.
    """
    began = time.perf_counter()
    try:
        _require_same(build)
        unpacked = _unpacked_once(key, sent)
    except Exception as problem:
        return 0.0, [_error(problem)]
    answers: list[TaskAnswer] = []
    for shard in shards:
        answers.append(_answer(unpacked, shard))
        if answers[-1][0] == ERROR:
            break
    try:
        part_file.finish()
    except OSError as problem:
        answers = [_error(problem)]
    return time.perf_counter() - began, answers


def _answer(unpacked: UnpackedWork, shard: bytes) -> TaskAnswer:
    try:
        try:
            result = pickle.dumps(unpacked.work(pickle.loads(shard)), pickle.HIGHEST_PROTOCOL)
        finally:
            for file in unpacked.files:
                file.require_unchanged()  # if it did change, that is the cause of whatever else was found
    except Exception as problem:
        return _error(problem)
    return RESULT, result


def _error(problem: Exception) -> TaskAnswer:
    return ERROR, packed_error(problem)


def _unpacked_once(key: str, sent: Sequence[Any]) -> UnpackedWork:
    if key not in _unpacked:
        import ray

        packed, pieces = ray.get(sent[0])
        for earlier in _unpacked.values():
            for file in earlier.files:
                file.close()
        _unpacked.clear()
        _unpacked[key] = unpack_work(packed, lambda copy, number: ray.get(pieces[copy][number]))
    return _unpacked[key]


def _require_same(build: Sequence[str]) -> None:
    """Another build may count otherwise, and the report would not be that of one process."""
    difference = build_difference(build, this_build())
    if difference is not None:
        raise ConfigError(
            "ray.other_build",
            "a node of the cluster has another goldgate, or another Python, than this machine",
            expected="the same on every node",
            found=f"{difference}, on {socket.gethostname()}",
            advice="install the same version of goldgate with the same requirements on every node",
        )
