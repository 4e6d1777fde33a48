"""The journal: nothing that was written is lost, and two can't write at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.generation.journal import Journal, read_contents, read_lines, usage_of
from goldgate.generation.plan import Request
from goldgate.generation.reply import Answer, Trouble, Usage


def request(key: str) -> Request:
    return Request(key, f"id-{key}", None, [], b"", 0)


def fill(path: Path, *keys: str) -> bytes:
    with Journal(path) as journal:
        for key in keys:
            journal.answer(request(key), "plan", Answer(f"said {key}", Usage(3, 4, 1)), 1, 0.5)
    return path.read_bytes()


def test_answers_are_found_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "journal.jsonl"
    fill(path, "a", "b")
    contents = read_contents(path)
    assert [record["response"] for record in read_lines(path, list(contents.answers.values()))] == ["said a", "said b"]
    assert usage_of(next(read_lines(path, [contents.answers["a"]]))) == Usage(3, 4, 1)


def test_an_answer_is_on_disk_before_the_next_thing_happens(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.answer(request("a"), "plan", Answer("x"), 1, 0.1)
        assert "a" in read_contents(tmp_path / "journal.jsonl").answers


def test_a_torn_last_line_is_dropped_wherever_it_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    whole = fill(path, "a", "b")
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        with Journal(path) as journal:
            assert "a" in journal
            assert ("b" in journal) == (length == len(whole) - 1)  # all of it but the end of the line: kept
            journal.answer(request("c"), "plan", Answer("after"), 1, 0.1)
        contents = read_contents(path)
        assert {"a", "c"} <= set(contents.answers)
        assert not contents.torn


def test_a_damaged_line_in_the_middle_is_an_error_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = fill(path, "a", "b", "c").splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1][:20] + b"\n" + lines[2])
    with pytest.raises(InputError) as caught:
        Journal(path)
    assert caught.value.place.line == 2
    assert path.read_bytes().endswith(lines[2])


@pytest.mark.parametrize("content", [b'{"id": "x", "response": "y"}\n', b"[1]\n", b'{"kind": "answer"}\n'])
def test_another_file_is_not_taken_for_a_journal(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match="journal"):
        Journal(path)
    assert path.read_bytes() == content


def test_two_cannot_write_one_journal(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path), pytest.raises(ConfigError, match="another process"):
        Journal(path)
    Journal(path).close()


def test_an_answer_takes_the_place_of_a_failure_and_never_the_other_way(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.failure(request("a"), "plan", Trouble("final", "http_400", "no"), 1)
        assert "a" in journal.contents.failures
        journal.answer(request("a"), "plan", Answer("yes"), 1, 0.1)
        journal.failure(request("a"), "plan", Trouble("final", "http_400", "no"), 1)
    contents = read_contents(path)
    assert set(contents.answers) == {"a"}
    assert not contents.failures


def test_half_a_surrogate_pair_can_be_stored(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.answer(request("a"), "plan", Answer("x\ud83d"), 1, 0.1)
    assert next(read_lines(path, [read_contents(path).answers["a"]]))["response"] == "x?"


def test_a_full_disk_is_an_error_with_a_place() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full")
    journal = object.__new__(Journal)
    import os

    journal.path, journal._file = Path("/dev/full"), os.open("/dev/full", os.O_WRONLY)
    with pytest.raises(ConfigError, match="cannot be stored"):
        journal._write(b"x")
    os.close(journal._file)
