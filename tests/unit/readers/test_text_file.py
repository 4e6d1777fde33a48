"""Small text files: each way in which one cannot be read is an error of its own."""

from __future__ import annotations

import hashlib
from pathlib import Path

from goldgate.errors import InputError
from goldgate.files.reading import MAX_BYTES, read_text_file
from goldgate.readers.records import open_records
from tests.cases import error_from


def refusal(path: Path) -> InputError:
    error = error_from(InputError, read_text_file, path, "schema")
    assert error.place.file == str(path)
    return error


def test_text_is_read_without_its_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a"
    stored = "\ufeff质押".encode()
    path.write_bytes(stored)
    read = read_text_file(path, "schema")
    assert read.text == "质押"
    assert read.sha256 == hashlib.sha256(stored).hexdigest()  # of the file, as `sha256sum` would say


def test_each_way_in_which_a_file_cannot_be_read_has_a_code(tmp_path: Path) -> None:
    with (tmp_path / "big").open("wb") as stream:
        stream.truncate(MAX_BYTES + 1)
    codes = {"none": "missing", "": "is_a_directory", "big": "too_large", "a" * 300: "unreadable"}
    assert {name: refusal(tmp_path / name).code for name in codes} == {n: f"schema.{c}" for n, c in codes.items()}


def test_file_that_is_not_utf8_names_byte_and_line(tmp_path: Path) -> None:
    path = tmp_path / "latin"
    path.write_bytes(b"a\nb\n\xe9")
    error = refusal(path)
    assert (error.code, error.place.line, error.found) == ("schema.not_utf8", 3, "the byte 0xe9")


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    error = refusal(tmp_path / "a\0b")
    assert (error.code, error.found) == ("schema.unreadable", "embedded null byte")
    assert error_from(InputError, open_records, tmp_path / "a\0b", "gold").code == "gold.unreadable"
