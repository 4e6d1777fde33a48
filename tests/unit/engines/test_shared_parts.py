"""Records that other machines put into a folder, or send along where they do not see it, become one file."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

from goldgate.engines.parts import FOLDER, PartLocation, SharedParts, part_file
from goldgate.errors import MachineError
from tests.cases import error_from


def sent(value: object) -> object:
    return pickle.loads(pickle.dumps(value))


def test_parts_become_the_file_in_the_order_in_which_they_are_taken(tmp_path: Path) -> None:
    target = tmp_path / "samples.jsonl.unfinished"
    folder = tmp_path / f"samples.jsonl{FOLDER}"
    with open(target, "xb") as stream:
        parts = SharedParts(stream)
        writers = [parts.new_writer() for _ in range(3)]
        last = writers[2].write(b"three\n")
        part_file.finish()  # another task
        first, second = sent(writers[0]).write(b"one\n"), writers[1].write(b"two\n")  # type: ignore[attr-defined]
        part_file.finish()
        assert isinstance(last, PartLocation)
        assert len(list(folder.iterdir())) == 3  # two parts, and what the folder is known by
        for location in (first, second, last):
            parts.append_part(location)
        assert len(list(folder.iterdir())) == 2  # one is taken whole, and gone
        parts.close()
    assert target.read_bytes() == b"one\ntwo\nthree\n"
    assert not folder.exists()


def test_records_travel_where_the_folder_is_not_seen(tmp_path: Path) -> None:
    with open(tmp_path / "samples.jsonl.unfinished", "xb") as stream:
        parts = SharedParts(stream)
        writer = parts.new_writer()
        (tmp_path / f"samples.jsonl{FOLDER}" / "token").write_text("that of another folder")
        assert writer.write(b"one\n") == b"one\n"
        parts.append_part(b"one\n")
        parts.close()
    assert (tmp_path / "samples.jsonl.unfinished").read_bytes() == b"one\n"


def test_records_for_what_is_in_memory_travel() -> None:
    stream = io.BytesIO()
    parts = SharedParts(stream)
    parts.append_part(parts.new_writer().write(b"one\n"))
    parts.close()
    assert stream.getvalue() == b"one\n"


def test_part_that_is_lost_is_an_error(tmp_path: Path) -> None:
    with open(tmp_path / "samples.jsonl.unfinished", "xb") as stream:
        parts = SharedParts(stream)
        location = parts.new_writer().write(b"one\n")
        part_file.finish()
        assert isinstance(location, PartLocation)
        for lost in (location._replace(length=5), location._replace(name="gone")):
            assert error_from(MachineError, parts.append_part, lost).code == "ray.part_lost"
        parts.close()
