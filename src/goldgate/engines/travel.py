"""Work as it travels to another machine, where no open file can follow.

A file is opened there by its path, and must look as it does here; a copy that only this process has (of what was
packed, converted or piped in) goes along in pieces.
"""

from __future__ import annotations

import os
import pickle
import socket
from collections.abc import Callable
from functools import lru_cache, partial
from io import BytesIO
from typing import Any, NamedTuple

from goldgate.errors import InputError, Place
from goldgate.files.opened import LARGEST_READ, Opened, Stamp, open_once

PIECE = 8 << 20  # bytes of a copy that travel at once
PIECES_HELD = 4  # of each copy, by a process that reads in it: shards lie side by side

Fetch = Callable[[int, int], bytes]  # the piece of a copy, by the number of the copy and its own


class Packed(NamedTuple):
    """Work as bytes, and the copies that it needs beside them."""

    data: bytes
    copies: list[Opened]


class Unpacked(NamedTuple):
    """Work that can be carried out here, and the files that it has open."""

    work: Any
    files: list[Opened]


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


def pack(work: Any) -> Packed:
    """The work, without anything that is open."""
    copies: list[Opened] = []

    class Pickler(pickle.Pickler):
        def persistent_id(self, part: Any) -> _File | _Copy | None:
            if not isinstance(part, Opened):
                return None
            if part.stamp is None:
                if part not in copies:
                    copies.append(part)
                return _Copy(part.name, part.kind, copies.index(part), part.size())
            path = os.path.abspath(part.path)
            return _File(part.name, part.kind, path, part.stamp.size, part.stamp.modified)

    stream = BytesIO()
    Pickler(stream, pickle.HIGHEST_PROTOCOL).dump(work)
    return Packed(stream.getvalue(), copies)


def unpack(data: bytes, fetch: Fetch) -> Unpacked:
    """The work, with its files opened on this machine; InputError if one is not there, or is another one."""
    opened: dict[_File | _Copy, Opened] = {}

    class Unpickler(pickle.Unpickler):
        def persistent_load(self, part: Any) -> Opened:
            if part not in opened:
                opened[part] = _SentCopy(part, fetch) if isinstance(part, _Copy) else _open_here(part)
            return opened[part]

    return Unpacked(Unpickler(BytesIO(data)).load(), [*opened.values()])


class _SentCopy(Opened):
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
        return self._piece(piece)[begin : begin + min(length, LARGEST_READ)]

    def size(self) -> int:
        return self._size

    def close(self) -> None:
        self._piece.cache_clear()


def _open_here(wanted: _File) -> Opened:
    """The file under its path, if it has the same size and time: to the second, as some file systems keep no more."""
    try:
        opened = open_once(wanted.path, wanted.kind)
    except OSError as problem:
        raise _not_the_same(wanted, f"{problem.strerror}, on {socket.gethostname()}") from None
    opened.name = wanted.name
    stamp = opened.stamp
    assert stamp is not None
    if (difference := _difference(wanted, stamp)) is not None:
        opened.close()
        raise _not_the_same(wanted, f"{difference}, on {socket.gethostname()}")
    return opened


def _difference(wanted: _File, stamp: Stamp) -> str | None:
    if stamp.size != wanted.size:
        return f"a file of {stamp.size:,} bytes, not {wanted.size:,}"
    if stamp.modified // 10**9 != wanted.modified // 10**9:
        return "a file of the same size that was changed at another time"
    return None


def _not_the_same(wanted: _File, found: str) -> InputError:
    return InputError(
        f"{wanted.kind}.not_on_node",
        "a node of the cluster does not have this file",
        place=Place(wanted.name),
        expected="the same file under the same path on every node",
        found=found,
        advice="put it where all nodes see it, or copy it to each of them with its time (rsync -t)",
    )
