"""Parts of a file of records: joined in order, with the same bytes, whatever the file is; and no litter."""

from __future__ import annotations

import gzip
import io
import os
import random
from pathlib import Path
from typing import IO, Any, cast

import pytest

from goldgate.engines.parts import Spool, SpooledParts
from goldgate.errors import ConfigError, MachineError
from tests.cases import error_from

PARTS = [random.Random(number).randbytes(number * 1_001 % 70_000) for number in range(60)]
LARGE = b"0123456789abcdef" * 200_000  # more than the system copies or writes at once, on some
WHOLE = b"head" + b"".join([*PARTS, LARGE]) + b"tail"


@pytest.mark.parametrize(("mode", "buffering"), [("wb", -1), ("ab", -1), ("w+b", -1), ("wb", 0), ("packed", -1)])
def test_parts_are_joined_in_their_order_into_a_file_of_any_kind(mode: str, buffering: int, tmp_path: Path) -> None:
    """The system does not copy into a file that is appended to; a packed one has a name, and a number."""
    path, packed = tmp_path / "samples.jsonl", mode == "packed"
    with gzip.open(path, "wb") if packed else open(path, mode, buffering) as stream:
        _join(cast(IO[bytes], stream))
    assert (gzip.decompress(path.read_bytes()) if packed else path.read_bytes()) == WHOLE
    assert os.listdir(tmp_path) == ["samples.jsonl"]


def test_a_system_without_nameless_files_leaves_nothing_either(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "O_TMPFILE")
    (tmp_path / "samples.jsonl.part.unfinished").write_bytes(b"of a process that was killed")
    with open(tmp_path / "samples.jsonl.unfinished", "wb") as stream:
        _join(stream)
    assert (tmp_path / "samples.jsonl.unfinished").read_bytes() == WHOLE
    assert os.listdir(tmp_path) == ["samples.jsonl.unfinished"]


def test_no_room_for_a_part_is_an_error_that_names_the_result() -> None:
    error = error_from(ConfigError, Spool(io.FileIO("/dev/full", "r+"), "out/samples.jsonl").write, b"{}\n")
    assert error.code == "out.unwritable"
    assert error.place.file == "out/samples.jsonl"
    with pytest.raises(MachineError, match="TMPDIR"):
        Spool(io.FileIO("/dev/full", "r+"), None).write(b"{}\n")


def _join(stream: IO[bytes]) -> None:
    """All parts, a few of them under way at a time, between bytes that are written as usual."""
    parts = SpooledParts(stream)
    stream.write(b"head")
    under_way: list[Any] = []
    for content in [*PARTS, LARGE]:
        under_way.append(_elsewhere(parts.new_writer(), content))
        if len(under_way) == 5:
            parts.append_part(under_way.pop(0))
    for location in under_way:
        parts.append_part(location)
    stream.write(b"tail")
    parts.close()


def _elsewhere(writer: Spool, content: bytes) -> int:
    """Write it as another process does: with a descriptor of its own."""
    return Spool(io.FileIO(os.dup(writer.file.fileno()), "r+"), None).write(content)
