"""What can be read at any place: an open file of this machine, or an object elsewhere."""

from __future__ import annotations

import hashlib
import io
import os
from abc import ABC, abstractmethod
from collections.abc import Sequence

from goldgate.errors import InputError, Place

BLOCK = 1 << 20
LARGEST_READ = 1 << 30  # the system gives at most 2 GiB at a time


class RandomAccess(ABC):
    """Bytes that stay as they are, with the name and kind for messages. It can be sent to a worker."""

    __slots__ = ("kind", "name")

    def __init__(self, name: str, kind: str) -> None:
        self.name = name  # as the user gave it
        self.kind = kind

    @abstractmethod
    def read_some(self, offset: int, length: int) -> bytes:
        """At most so many bytes; none at the end of the file."""

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
        data = self.read_some(offset, min(length, LARGEST_READ))
        if len(data) == length:
            return data
        parts = [data]
        while length - len(data) > 0 and parts[-1]:
            offset, length = offset + len(data), length - len(data)
            data = self.read_some(offset, min(length, LARGEST_READ))
            parts.append(data)
        if len(data) != length:
            raise self.changed("it is shorter than it was")
        return b"".join(parts)

    def read_each(self, offsets: Sequence[int], lengths: Sequence[int]) -> list[bytes]:
        """The bytes at several places, which need not lie side by side."""
        return [self.read(offset, length) for offset, length in zip(offsets, lengths, strict=True)]

    def stream(self, offset: int = 0) -> io.BufferedReader:
        """The bytes from there on, to be read in order. Several streams of one file do not disturb each other."""
        return io.BufferedReader(_From(self, offset), BLOCK)

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


class _From(io.RawIOBase):
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
