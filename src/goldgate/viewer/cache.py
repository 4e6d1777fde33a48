"""Where what was worked out of a result folder is kept: in the user's cache, never in the folder itself.

A file that does not belong to the folder as it is now, or that is damaged, is as good as none: it is made again.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from goldgate import __version__
from goldgate.errors import GoldgateError
from goldgate.files.atomic_write import whole_file

MOST_BYTES = 2 << 30  # of all files together; the ones used longest ago are removed
_MAGIC = b"goldgate view 1\n"  # with another number when the format changes
_ENDING = ".view"
_LENGTH = 8  # bytes of the length of the head

Identity = list[Any]


def identity(files: Iterable[Path]) -> Identity:
    """What tells whether files are still the same: path, size, time and inode of each, and our version."""
    found: Identity = [__version__]
    for file in files:
        status = os.stat(file)
        found.append([os.path.realpath(file), status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev])
    return found


class Stored:
    """A kept value: its head, decoded, and the bytes behind it."""

    def __init__(self, head: dict[str, Any], body: memoryview) -> None:
        self.head = head
        self._body = body
        self._at = 0

    def take(self, length: int) -> memoryview:
        """The next bytes of the body; ValueError where there are fewer."""
        part = self._body[self._at : self._at + length]
        if len(part) != length:
            raise ValueError("too short")
        self._at += length
        return part


def load(kind: str, of: Identity) -> Stored | None:
    """What is kept of these files; None where there is nothing that can be used."""
    file = _file(kind, of)
    try:
        data = file.read_bytes()
        start = len(_MAGIC) + _LENGTH
        length = int.from_bytes(data[len(_MAGIC) : start], "little")
        if not data.startswith(_MAGIC) or zlib.crc32(memoryview(data)[:-4]) != int.from_bytes(data[-4:], "little"):
            return None
        head = orjson.loads(data[start : start + length])
        if head["of"] != orjson.loads(orjson.dumps([str(part) for part in of])):
            return None
        with suppress(OSError):
            os.utime(file)  # the ones used longest ago are removed first
        return Stored(head, memoryview(data)[start + length : -4])
    except (OSError, ValueError, LookupError, TypeError):
        return None


def keep(kind: str, of: Identity, head: dict[str, Any], body: Iterable[bytes]) -> bool:
    """Keep a value for the next time; False where it cannot be written: then it is made again each time."""
    file = _file(kind, of)
    shown = orjson.dumps({**head, "of": [str(part) for part in of]})
    check = 0
    try:
        os.makedirs(file.parent, mode=0o700, exist_ok=True)  # it has names of samples in it: for nobody else
        with whole_file(file, "", make_folder=False) as stream:
            os.fchmod(stream.fileno(), 0o600)
            for part in (_MAGIC, len(shown).to_bytes(_LENGTH, "little"), shown, *body):
                check = zlib.crc32(part, check)
                stream.write(part)
            stream.write(check.to_bytes(4, "little"))
        _make_room(file)
    except (OSError, GoldgateError):
        return False
    return True


def folder() -> Path:
    """goldgate's part of the user's cache, as the XDG rules have it."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(named) if os.path.isabs(named) else Path(os.path.expanduser("~"), ".cache")
    return root / "goldgate"


def _file(kind: str, of: Identity) -> Path:
    """One name for the same paths: a folder that was written again replaces its old index."""
    paths = [part[0] for part in of if isinstance(part, list)]
    digest = sha256("\0".join([kind, *paths]).encode("utf-8", "surrogateescape")).hexdigest()[:32]
    return folder() / f"{kind}-{digest}{_ENDING}"


def _make_room(newest: Path) -> None:
    found = []
    for file in newest.parent.glob(f"*{_ENDING}"):
        with suppress(OSError):
            status = file.stat()
            found.append((file == newest, status.st_mtime_ns, status.st_size, file))
    left = MOST_BYTES
    for is_newest, _, size, file in sorted(found, reverse=True):
        left -= size
        if left < 0 and not is_newest:
            with suppress(OSError):
                file.unlink()
