"""The journal: nothing that was written is lost, and two can't write at once."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from goldgate.errors import ConfigError, InputError
from goldgate.generation.journal import InFlightRequest, Journal, JournalContents, line_usage, read_contents, read_lines
from goldgate.generation.request import MAX_ANSWER_TOKENS, ModelAnswer, ModelRequest, NoAnswer, Usage


def request(key: str) -> ModelRequest:
    return ModelRequest(key, f"id-{key}", None, [], b"", 0, "plan")


def fill(path: Path, *keys: str) -> bytes:
    with Journal(path) as journal:
        for key in keys:
            journal.answer(request(key), ModelAnswer(f"said {key}", Usage(3, 4, 1)), 1, 0.5)
    return path.read_bytes()


def test_an_answer_is_on_disk_before_the_next_thing_happens(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.jsonl") as journal:
        journal.answer(request("a"), ModelAnswer("x"), 1, 0.1)
        assert "a" in read_contents(tmp_path / "journal.jsonl").answers


def test_a_torn_last_line_is_dropped_wherever_it_is_torn(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    whole = fill(path, "a", "b")
    first = whole.index(b"\n") + 1
    for length in range(first, len(whole)):
        path.write_bytes(whole[:length])
        with Journal(path) as journal:
            answers = journal.contents.answers
            assert "a" in answers
            assert ("b" in answers) == (length == len(whole) - 1)  # all of it but the end of the line: kept
            journal.answer(request("c"), ModelAnswer("after"), 1, 0.1)
        contents = read_contents(path)
        assert {"a", "c"} <= set(contents.answers)
        assert not contents.torn


def test_a_damaged_line_in_the_middle_is_an_error_with_its_place(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    lines = fill(path, "a", "b", "c").splitlines(keepends=True)
    for damaged, field in (
        (lines[1][:20] + b"\n", None),
        (lines[1].replace(b'"attempts":', b'"attempts":"x","y":'), "attempts"),
    ):
        path.write_bytes(lines[0] + damaged + lines[2])
        with pytest.raises(InputError) as caught:
            Journal(path)
        assert (caught.value.place.line, caught.value.place.field) == (2, field)
        assert path.read_bytes() == lines[0] + damaged + lines[2]


def test_an_answer_takes_the_place_of_a_failure_and_never_the_other_way(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.failure(request("a"), NoAnswer("final", "http_400", "no"), 1)
        assert "a" in journal.contents.failures
        journal.answer(request("a"), ModelAnswer("yes"), 1, 0.1)
        journal.failure(request("a"), NoAnswer("final", "http_400", "no"), 1)
    contents = read_contents(path)
    assert set(contents.answers) == {"a"}
    assert not contents.failures


class FullDisk:
    """os.write on a disk that takes half a line and then nothing, until `room` is made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.room: Callable[[], bool] = lambda: False
        self.write = os.write
        monkeypatch.setattr(os, "write", self)

    def __call__(self, file: int, data: bytes) -> int:
        if self.room():
            return self.write(file, data)
        if len(data) > 40:
            return self.write(file, data[:40])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_full_disk_is_named_and_leaves_no_half_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "journal.jsonl"
    before = fill(path, "a")
    with Journal(path) as journal:
        disk = FullDisk(monkeypatch)
        with pytest.raises(ConfigError, match="cannot be stored") as caught:
            journal.answer(request("b"), ModelAnswer("y"), 1, 0.1)
        assert caught.value.found == "No space left on device"
        assert path.read_bytes() == before
        disk.room = lambda: True
        journal.answer(request("c"), ModelAnswer("z"), 1, 0.1)  # room again: the journal is as good as before
    assert set(read_contents(path).answers) == {"a", "c"}


def test_what_is_in_flight_when_the_disk_becomes_full_goes_into_the_reserve(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "journal.jsonl"
    with Journal(path) as journal:
        journal.reserve(4096)
        assert os.listdir(tmp_path) == ["journal.jsonl"]  # the reserve has no name that a kill could leave
        disk = FullDisk(monkeypatch)
        disk.room = lambda: journal._reserve is None
        journal.answer(request("a"), ModelAnswer("y"), 1, 0.1)
        assert journal.full == "No space left on device"
    assert set(read_contents(path).answers) == {"a"}


FOREIGN = [
    b"my notes", b"my notes\n", b"{", b'{"kind":"pl', b'{"kind": "answer", "key', b'{\n  "kind": "answer"\n}',
    b"\x00" * 64, b"\xff\xfe{}", b'{"kind":"unheard_of","x', b"id,response\n1,2", b'{"id": "x", "response": "y"}\n',
    b"[1]\n", b'{"kind": "answer"}\n',
]  # fmt: skip


@pytest.mark.parametrize("content", FOREIGN)
def test_a_foreign_file_is_never_emptied(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError) as caught:
        Journal(path)
    assert caught.value.code == "journal.not_a_journal"
    assert path.read_bytes() == content


@pytest.mark.parametrize("content", [tail for tail in FOREIGN if tail not in (b"{", b'{"kind":"pl')])
def test_a_foreign_end_of_a_journal_is_never_cut_off(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "journal.jsonl"
    fill(path, "a")
    with open(path, "ab") as file:
        file.write(content)
    before = path.read_bytes()
    with pytest.raises(InputError):
        Journal(path)
    assert path.read_bytes() == before


def test_what_a_power_cut_leaves_at_the_end_is_a_line_to_be_removed(tmp_path: Path) -> None:
    """Another folder would be the wrong advice: the answers before it are paid for."""
    path = tmp_path / "journal.jsonl"
    fill(path, "a")
    with open(path, "ab") as file:
        file.write(b"\x00" * 512)
    with pytest.raises(InputError) as caught:
        Journal(path)
    assert caught.value.code == "journal.damaged"
    assert "remove the line" in str(caught.value.advice)


def test_a_pipe_is_no_journal(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "journal.jsonl")
    with pytest.raises(ConfigError, match="cannot be used"):
        Journal(tmp_path / "journal.jsonl")


WHOLE: dict[str, dict[str, Any]] = {
    "plan": {"format_version": 3, "plan": "p", "base": "b", "format": "text", "settings": {}},
    "asked": {"key": "k", "plan": "p", "request_id": "r", "estimate": 3},
    "answer": {"key": "k", "id": "i", "plan": "p", "response": "x", "usage": [1, 2, 0, False], "attempts": 1},
    "unanswered": {"key": "k", "plan": "p", "cause": "c", "usage": [1, 2, 0, True]},
    "failure": {"key": "k", "id": "i", "plan": "p", "cause": "c", "attempts": 1},
    "step_down": {"base": "b", "from": "json_schema", "to": "text"},
}
WRONG: list[Any] = [None, True, 5, -1, 1.5, 2**63, "x", [], [1, 2, 3], [1, 2, 3, 4], [-1, 2, 0, False], {}, {"a": []}]


@pytest.mark.parametrize("kind", WHOLE)
def test_a_field_of_any_type_is_read_or_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "journal.jsonl"
    fields = [*WHOLE[kind], "usage", "attempts", "seed", "model", "finish_reason", "reasoning", "key", "format_version"]
    for name in fields:
        for value in WRONG:
            path.write_bytes(orjson.dumps({"kind": kind, **WHOLE[kind], name: value}) + b"\n")
            error, contents = _read(path)
            if error is not None:
                assert error.code.startswith("journal."), error
                assert error.place.line == 1
            for record in read_lines(path, [*contents.answers.values(), *contents.failures.values()]):
                assert line_usage(record).total <= 2 * MAX_ANSWER_TOKENS


def _read(path: Path) -> tuple[InputError | None, JournalContents]:
    try:
        return None, read_contents(path)
    except InputError as error:
        return error, JournalContents(path)


def test_what_was_in_flight_is_known_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"
    journal = Journal(path)
    for key in "abcd":
        journal.record_request(request(key), f"id of {key}")
    journal.answer(request("a"), ModelAnswer("x"), 1, 0.1)
    journal.record_no_answer(request("b"), "http_429", None)
    journal.record_no_answer(request("c"), "timeout", Usage(7, 0, estimated=True))
    contents = read_contents(path)  # as the next process reads it, with nothing closed
    assert contents.in_flight == {"d": InFlightRequest("id of d", 0)}
    assert contents.unanswered == {"c": [Usage(7, estimated=True)]}
    journal.close()


@pytest.mark.parametrize("version", [2, 4, "3", None])
def test_a_journal_of_another_version_is_foreign(tmp_path: Path, version: Any) -> None:
    path = tmp_path / "journal.jsonl"
    path.write_bytes(orjson.dumps({"kind": "plan", **WHOLE["plan"], "format_version": version}) + b"\n")
    with pytest.raises(InputError, match="not a line of a journal"):
        read_contents(path)
