"""Small text files: each way in which one cannot be read is an error of its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from goldgate.errors import InputError
from goldgate.files.reading import MAX_BYTES, read_text_file
from goldgate.readers.records import open_records


def refusal(path: Path) -> InputError:
    with pytest.raises(InputError) as caught:
        read_text_file(path, "schema")
    assert caught.value.place.file == str(path)
    return caught.value


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    stored = "\ufeff质押".encode()
    path.write_bytes(stored)
    read = read_text_file(path, "schema")
    assert read.text == "质押"
    assert read.sha256 == hashlib.sha256(stored).hexdigest()  # of the file, as `sha256sum` would say


def test_missing_file(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none").code == "schema.missing"


def test_directory_instead_of_a_file(tmp_path: Path) -> None:
    assert refusal(tmp_path).code == "schema.is_a_directory"


def test_file_of_another_kind_is_told_by_its_size(tmp_path: Path) -> None:
    path = tmp_path / "big"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    assert refusal(path).code == "schema.too_large"


def test_file_that_is_not_utf8_names_byte_and_line(tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_bytes(b"a\nb\n\xe9")
    error = refusal(path)
    assert (error.code, error.place.line, error.found) == ("schema.not_utf8", 3, "the byte 0xe9")


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    error = refusal(tmp_path / "a\0b")
    assert (error.code, error.found) == ("schema.unreadable", "embedded null byte")
    assert refusal(tmp_path / ("a" * 300)).code == "schema.unreadable"
    with pytest.raises(InputError) as caught:
        open_records(tmp_path / "a\0b", "gold")
    assert caught.value.code == "gold.unreadable"
