"""Shards: with `--shard I/N` each process asks a part of the documents.

Each process has a journal of its own. A document's shard is a hash of its id, so it depends neither on the other
documents nor on their order.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from goldgate.errors import ConfigError, Place
from goldgate.files.writing import FolderLock, write_errors
from goldgate.generation.journal import JOURNAL_FILE, journal_in_use

SHARDS_FOLDER = "shards"  # in --out; has a folder for each shard
MAX_SHARDS = 10_000

_SHARD_NAME = re.compile(r"([0-9]{1,5})-of-([0-9]{1,5})")
_BITS = 64


class DocumentShard(NamedTuple):
    """Shard `number` of `total`, counted from 1."""

    number: int
    total: int

    def __str__(self) -> str:
        return f"{self.number}/{self.total}"

    @property
    def folder(self) -> str:
        """`03-of-16`: padded with zeros, so that names sort in order."""
        width = max(2, len(str(self.total)))
        return f"{self.number:0{width}}-of-{self.total:0{width}}"

    def holds(self, document_id: str) -> bool:
        return shard_of(document_id, self.total) == self.number


def shard_of(document_id: str, total: int) -> int:
    """The number of a document's shard, from 1 to `total`."""
    digest = hashlib.blake2b(document_id.encode("utf-8", "surrogatepass"), digest_size=_BITS // 8).digest()
    return (int.from_bytes(digest, "big") * total >> _BITS) + 1


def parse_shard_folder(name: str) -> DocumentShard | None:
    """The shard that a folder name such as `03-of-16` means; None for other names."""
    match = _SHARD_NAME.fullmatch(name)
    return DocumentShard(int(match[1]), int(match[2])) if match else None


def shard_journals(out: Path) -> list[Path]:
    """The journals of all shards, whatever their folders are called."""
    return sorted(path for path in (out / SHARDS_FOLDER).glob(f"*/{JOURNAL_FILE}"))


def other_journals(out: Path, shard: DocumentShard | None) -> list[Path]:
    """The journals of other processes that may hold answers to this one's questions.

    Shards of one number have no document in common; those of another number, and a run without shards, have.
    """
    if shard is None:
        return shard_journals(out)
    main = [out / JOURNAL_FILE] if (out / JOURNAL_FILE).exists() else []
    return [*(path for path in shard_journals(out) if not _is_sibling(path, shard)), *main]


def require_idle(paths: list[Path]) -> list[Path]:
    """The paths themselves; a ConfigError if another process is writing one of these journals."""
    for path in paths:
        if journal_in_use(path):
            raise ConfigError(
                "shards.in_use",
                "another process is already asking some of these documents",
                place=Place(str(path)),
                advice="wait for it to end; --merge reports what there is meanwhile",
            )
    return paths


def missing_shards(journals: list[Path]) -> Iterator[DocumentShard]:
    """The shards without a journal, where all that have one are of the same number."""
    shards = [parse_shard_folder(path.parent.name) for path in journals]
    numbers = {shard.total for shard in shards if shard is not None}
    if len(numbers) == 1 and None not in shards:
        total = numbers.pop()
        yield from (shard for number in range(1, total + 1) if (shard := DocumentShard(number, total)) not in shards)


def _is_sibling(path: Path, shard: DocumentShard) -> bool:
    other = parse_shard_folder(path.parent.name)
    return other is not None and other.total == shard.total


def lock_shards(out: Path) -> FolderLock | None:
    """Lock the shards of a folder, if it has some: no other process merges them or asks for what they lack."""
    if not (out / SHARDS_FOLDER).is_dir():
        return None
    advice = "the folder of the shards must be one that can be written to"
    with write_errors(out / SHARDS_FOLDER, advice, "the folder of the shards cannot be locked"):
        return FolderLock(out / SHARDS_FOLDER)
