"""Files that are opened once: every change is noticed, and every byte is read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from goldgate.errors import InputError
from goldgate.files.reading import LocalFile, open_local
from tests.cases import error_from

CONTENT = b"0123456789" * 50


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "predictions.jsonl"
    path.write_bytes(CONTENT)
    return path


def opened(path: Path) -> LocalFile:
    return open_local(path, "predictions")


def refused(file: LocalFile) -> InputError:
    error = error_from(InputError, file.require_unchanged)
    assert error.code == "predictions.changed"
    assert error.place.file == file.name
    return error


def rewrite_and_set_the_time_back(path: Path) -> None:
    before = path.stat()
    path.write_bytes(CONTENT[::-1])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace(path: Path, content: bytes = CONTENT[::-1]) -> None:
    """Another file under the same name, with the same time."""
    before = path.stat()
    (path.parent / "new").write_bytes(content)
    os.utime(path.parent / "new", ns=(before.st_atime_ns, before.st_mtime_ns))
    os.replace(path.parent / "new", path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "appended": lambda path: path.write_bytes(CONTENT + b"x"),
    "rewritten": lambda path: path.write_bytes(CONTENT[::-1]),
    "rewritten at the same time": rewrite_and_set_the_time_back,
    "replaced": replace,
    "replaced by the same bytes": lambda path: replace(path, CONTENT),
    "gone": Path.unlink,
}


@pytest.mark.parametrize("change", CHANGES)
def test_change_is_noticed(path: Path, change: str) -> None:
    file = opened(path)
    CHANGES[change](path)
    refused(file)


def test_change_right_after_opening_is_noticed_however_coarse_the_clock_is(path: Path) -> None:
    for number in range(20):
        path.write_bytes(CONTENT)
        file = opened(path)  # in the same tick as the line above, but for the wait
        path.write_bytes(str(number % 10).encode() * len(CONTENT))
        refused(file)


def test_what_was_opened_is_read_even_if_another_file_is_there_now(path: Path) -> None:
    file = opened(path)
    replace(path)
    assert file.sha256() == hashlib.sha256(CONTENT).hexdigest()
    assert b"".join(file.stream()) == CONTENT


def test_cut_file_is_an_error_where_bytes_are_missing(path: Path) -> None:
    file = opened(path)
    os.truncate(path, 20)
    with pytest.raises(InputError, match="changed"):
        file.read(15, 10)


def test_bytes_that_come_in_pieces_are_put_together(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system gives at most 2 GiB at a time; here it gives 7 bytes."""
    whole = os.pread
    monkeypatch.setattr(os, "pread", lambda descriptor, length, offset: whole(descriptor, min(length, 7), offset))
    file = opened(path)
    assert file.read(3, 400) == CONTENT[3:403]
    assert file.sha256() == hashlib.sha256(CONTENT).hexdigest()
    assert b"".join(file.stream(5)) == CONTENT[5:]
    with pytest.raises(InputError, match="changed"):
        file.read(400, 101)
