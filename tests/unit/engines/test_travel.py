"""Work that goes to another machine: files are opened there again and must be the same, copies go along in pieces."""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from goldgate.engines.ray_task import PIECE, pack_work, unpack_work
from goldgate.errors import InputError
from goldgate.readers.id_index import open_store
from goldgate.readers.records import RecordStore
from tests.cases import error_from

LINES = b"".join(b'{"id": "%d"}\n' % number for number in range(1_000_000))  # more than a piece


def nothing(copy: int, piece: int) -> bytes:
    raise AssertionError("there is no copy")


def test_file_is_opened_by_its_path_wherever_the_worker_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gold.jsonl").write_bytes(b'{"id": "a"}\n')
    monkeypatch.chdir(tmp_path)
    packed = pack_work(open_store(["gold.jsonl"], "gold"))
    assert packed.copies == []
    monkeypatch.chdir("/")
    store, files = unpack_work(packed.data, nothing)
    assert isinstance(store, RecordStore)
    assert store.read(0, 11) == b'{"id": "a"}'
    assert [file.name for file in files] == ["gold.jsonl"]  # as the user named it
    files[0].require_unchanged()
    (tmp_path / "gold.jsonl").unlink()
    assert error_from(InputError, files[0].require_unchanged).code == "gold.changed"


@pytest.mark.parametrize(
    ("there", "found"),
    [
        (None, "No such file or directory, on "),
        (b'{"id": "ab"}\n', "a file of 13 bytes, not 12, on "),
        (b'{"id": "b"}\n', "a file of the same size that was changed at another time, on "),
    ],
)
def test_other_file_under_the_path_is_an_error(tmp_path: Path, there: bytes | None, found: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_bytes(b'{"id": "a"}\n')
    os.utime(path, (1, 1))
    packed = pack_work(open_store([path], "gold"))
    path.unlink()
    if there is not None:
        path.write_bytes(there)
    error = error_from(InputError, unpack_work, packed.data, nothing)
    assert error.code == "gold.not_on_node"
    assert str(error.found).startswith(found)


def test_copy_is_read_by_pieces(tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl.gz"
    path.write_bytes(gzip.compress(LINES, 1))
    packed = pack_work(open_store([path], "gold"))
    (copy,) = packed.copies
    fetched = []

    def fetch(number: int, piece: int) -> bytes:
        fetched.append((number, piece))
        return copy.read_some(piece * PIECE, PIECE)

    store, _ = unpack_work(packed.data, fetch)
    plain = store.files[0].plain
    assert plain.size() == len(LINES) > PIECE
    assert plain.read(PIECE - 10, 20) == LINES[PIECE - 10 : PIECE + 10]
    assert plain.stream().read() == LINES
    assert plain.read_some(len(LINES), 5) == b""
    assert fetched == [(0, 0), (0, 1), (0, 2)]  # each once
