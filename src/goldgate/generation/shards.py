"""A part of the documents for each of several processes: whose part a document belongs to, and where its answers lie.

A document's shard is a hash of its id: whatever else is in the gold, and in whichever order, it stays where it is. The
range of the hash is cut into equal pieces, so that twice as many shards halve each of them.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from goldgate.errors import ConfigError, Place
from goldgate.generation.journal import in_use

SHARDS = "shards"  # the folder of their folders, in --out
MOST_SHARDS = 10_000
JOURNAL = "journal.jsonl"

_NAME = re.compile(r"([0-9]{1,5})-of-([0-9]{1,5})")
_BITS = 64


class Shard(NamedTuple):
    """The `number`th of `of` parts, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    @property
    def folder(self) -> str:
        """`03-of-16`: as long as the others', so that they stand in order."""
        width = max(2, len(str(self.of)))
        return f"{self.number:0{width}}-of-{self.of:0{width}}"

    def holds(self, document_id: str) -> bool:
        return shard_of(document_id, self.of) == self.number


def shard_of(document_id: str, of: int) -> int:
    """The number of the shard that a document belongs to, if there are so many."""
    digest = hashlib.blake2b(document_id.encode("utf-8", "surrogatepass"), digest_size=_BITS // 8).digest()
    return (int.from_bytes(digest, "big") * of >> _BITS) + 1


def parse_folder(name: str) -> Shard | None:
    """The shard whose answers lie in a folder of this name; None if its name is another one."""
    found = _NAME.fullmatch(name)
    return Shard(int(found[1]), int(found[2])) if found else None


def journals(out: Path) -> list[Path]:
    """The journals of all shards, whatever their folders are called."""
    return sorted(path for path in (out / SHARDS).glob(f"*/{JOURNAL}"))


def other_journals(out: Path, shard: Shard | None) -> list[Path]:
    """The journals that may hold answers to what a process asks, beside its own.

    Shards of one number have no document in common; those of another number, and a run without shards, have.
    """
    if shard is None:
        return journals(out)
    main = [out / JOURNAL] if (out / JOURNAL).exists() else []
    return [*(path for path in journals(out) if not _is_sibling(path, shard)), *main]


def require_unused(paths: list[Path]) -> list[Path]:
    """The same journals, if nobody is asking the same documents at this moment; ConfigError if somebody is."""
    for path in paths:
        if in_use(path):
            raise ConfigError(
                "shards.in_use",
                "another process is asking documents that are to be asked here too",
                place=Place(str(path)),
                advice="wait for it to end; --merge reports what there is meanwhile",
            )
    return paths


def missing_shards(found: list[Path]) -> Iterator[Shard]:
    """The shards without a journal, where all that have one are of the same number."""
    known = [parse_folder(path.parent.name) for path in found]
    numbers = {shard.of for shard in known if shard is not None}
    if len(numbers) == 1 and None not in known:
        of = numbers.pop()
        yield from (shard for number in range(1, of + 1) if (shard := Shard(number, of)) not in known)


def _is_sibling(path: Path, shard: Shard) -> bool:
    named = parse_folder(path.parent.name)
    return named is not None and named.of == shard.of
