"""What is kept of a folder: outside of it, for as long as it is the same, and never trusted blindly."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import pytest

from goldgate.errors import InputError
from goldgate.viewer import folder as cache
from goldgate.viewer.folder import load_index
from tests.cases import error_from

from .stored import loaded


@pytest.fixture
def folder(stored: Path, tmp_path: Path) -> Path:
    shutil.copytree(stored / "b", tmp_path / "result")
    return tmp_path / "result"


def snapshot(folder: Path) -> dict[str, tuple[bytes, int]]:
    return {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}


def test_the_folder_itself_is_only_read(folder: Path, cache_home: Path) -> None:
    before = snapshot(folder)
    load_index(loaded(folder))
    assert snapshot(folder) == before
    assert len([*cache_home.iterdir()]) == 1


@pytest.mark.parametrize("name", ["samples.jsonl", "report.json"])
def test_another_file_is_another_index(name: str, folder: Path, cache_home: Path) -> None:
    before = load_index(loaded(folder))
    file = folder / name
    lines = file.read_bytes().splitlines(keepends=True)
    if name == "samples.jsonl":
        file.write_bytes(b"".join(lines[:-1]))
    else:
        os.utime(file, ns=(1, 1))
    after = load_index(loaded(folder))
    assert len(after) == len(before) - (name == "samples.jsonl")
    assert len([*cache_home.iterdir()]) == 1  # it took the place of the old one


def test_a_damaged_file_is_as_good_as_none(folder: Path, cache_home: Path) -> None:
    made = load_index(loaded(folder))
    [file] = cache_home.iterdir()
    whole = file.read_bytes()
    damaged = [b"", b"x", whole[:-1], whole[: len(whole) // 2], whole + b"x", bytes(len(whole))]
    damaged += [whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :] for at in range(0, len(whole), len(whole) // 12)]
    for content in damaged:
        file.write_bytes(content)
        assert load_index(loaded(folder)) == made
        assert file.read_bytes() == whole  # and is replaced


def test_without_a_place_to_keep_it_everything_works(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = load_index(loaded(folder))
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert load_index(loaded(folder)) == made


def test_nobody_else_can_read_what_is_kept(folder: Path, cache_home: Path) -> None:
    load_index(loaded(folder))
    [file] = cache_home.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(cache_home.stat().st_mode) == 0o700


def test_a_folder_without_records_is_an_error_with_a_way_out(folder: Path) -> None:
    (folder / "samples.jsonl").unlink()
    assert error_from(InputError, load_index, loaded(folder)).code == "records.missing"


def test_what_others_could_have_written_is_not_used(folder: Path, cache_home: Path, tmp_path: Path) -> None:
    made = load_index(loaded(folder))
    [file] = cache_home.iterdir()
    of = cache.cache_identity((folder / "samples.jsonl", folder / "report.json"))
    assert cache.load_cached("index", of, lambda stored: stored) is not None
    file.chmod(0o666)
    assert cache.load_cached("index", of, lambda stored: stored) is None
    file.chmod(0o600)
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    assert cache.load_cached("index", of, lambda stored: stored) is None
    file.unlink()
    os.mkfifo(file)
    assert cache.load_cached("index", of, lambda stored: stored) is None  # and nobody is waited for
    file.unlink()
    cache_home.chmod(0o777)
    assert load_index(loaded(folder)) == made
    assert not [*cache_home.iterdir()]
