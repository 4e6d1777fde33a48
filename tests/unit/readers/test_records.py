"""Record files in every form they come in: lines or an array, packed or plain, a file or a pipe."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate import Evaluation
from goldgate.errors import InputError
from tests.cases import error_from

from ..helpers import protocol

Json = dict[str, Any]


class Run:
    """An evaluation of files, and its samples' records."""

    def __init__(self, gold: Path | list[Path], predictions: Path | list[Path] = Path(os.devnull)) -> None:
        stream = io.BytesIO()
        self.evaluation: Evaluation = goldgate.evaluate_files(
            gold,
            predictions,
            None,
            protocol(),
            allow_empty=True,
            records=stream,
        )
        self.samples: list[Json] = [json.loads(line) for line in stream.getvalue().splitlines()]

    @property
    def ids(self) -> list[str]:
        return [sample["id"] for sample in self.samples]


def refused(gold: Path, predictions: Path = Path(os.devnull)) -> InputError:
    return error_from(InputError, Run, gold, predictions)


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return tmp_path / "gold.jsonl"


A, B = b'{"id": "a", "events": []}', b'{"id": "b", "events": []}'
BOM = b"\xef\xbb\xbf"
MANY_BLANKS = b" " * 3_000_000


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(A + b"\n" + B + b"\n", id="lines"),
        pytest.param(A + b"\n" + B, id="no-end-of-line-at-the-end"),
        pytest.param(A + b"\r\n" + B + b"\r\n", id="crlf"),
        pytest.param(b"\n\n" + A + b"\n \t\n\r\n" + B + b"\n\n", id="blank-lines"),
        pytest.param(BOM + A + b"\n" + B, id="byte-order-mark"),
        pytest.param(b"  " + A + b"  \n\t" + B, id="indented-lines"),
        pytest.param(b"[" + A + b"," + B + b"]", id="array-on-one-line"),
        pytest.param(b"[\n  " + A + b",\n  " + B + b"\n]\n", id="pretty-array"),
        pytest.param(b"\n \n[" + A + b" ,\r\n" + B + b"]", id="array-after-blank-lines"),
        pytest.param(BOM + b"[" + A + b"," + B + b"]", id="array-with-byte-order-mark"),
        pytest.param(b"[" + A + b"," + MANY_BLANKS + B + b"]", id="array-with-a-gap-of-megabytes"),
        pytest.param(json.dumps([json.loads(A), json.loads(B)], indent=4).encode(), id="indented-array"),
    ],
)
@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
def test_records_are_read_whatever_the_form(gold: Path, content: bytes, packed: bool) -> None:
    stored = gzip.compress(content) if packed else content
    gold.write_bytes(stored)
    run = Run(gold)
    assert run.ids == ["a", "b"]
    assert run.evaluation.report["inputs"]["gold"] == [{"sha256": hashlib.sha256(stored).hexdigest(), "samples": 2}]


@pytest.mark.parametrize("content", [b"", b"\n\n", b"[]", b" [ ]\n"], ids=["empty", "blank", "array", "spaced-array"])
def test_gold_without_records_is_an_error(gold: Path, content: bytes) -> None:
    gold.write_bytes(content)
    assert error_from(InputError, Run, gold).code == "gold.empty"


@pytest.mark.parametrize("name", ["gold.json", "gold.jsonl", "gold.txt", "gold"])
def test_form_is_told_by_the_content_not_by_the_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"[" + A + b"]")
    assert Run(path).ids == ["a"]


@pytest.mark.parametrize(
    "size", [(1 << 20) - 40, (1 << 20) + 1, 3 * (1 << 20) + 7], ids=["just-fits", "over", "far-over"]
)
@pytest.mark.parametrize("filling", ['"', "\\", "[", "甲", "x"], ids=["quote", "backslash", "bracket", "chinese", "x"])
def test_element_larger_than_a_block_is_read_whole(gold: Path, size: int, filling: str) -> None:
    text = filling * (size // len(filling.encode()))
    gold.write_text(
        json.dumps([{"id": "a", "events": []}, {"id": "b", "text": text, "events": []}, {"id": "c", "events": []}]),
        encoding="utf-8",
    )
    run = Run(gold)
    assert run.ids == ["a", "b", "c"]
    assert run.samples[1]["hallucination"] == {"checked": 0, "unsupported": []}  # it has its text


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        pytest.param(A + b"\n{oops\n", "gold.not_json", 2, id="line-not-json"),
        pytest.param(A + b'\n\n{"id": "b", "events": [', "gold.not_json", 3, id="line-cut-off"),
        pytest.param(A + b"\n[1]\n", "gold.not_an_object", 2, id="line-no-object"),
        pytest.param(A + b"\nnull\n", "gold.not_an_object", 2, id="null"),
        pytest.param(b"[\n" + A + b",\n" + B, "gold.not_json", 3, id="array-never-closed"),
        pytest.param(b"[\n" + A + b",\n" + B[:10], "gold.not_json", 3, id="array-cut-in-an-element"),
        pytest.param(b"[\n" + A + b"\n]\nx", "gold.not_json", 3, id="junk-after-the-array"),
        pytest.param(b"[" + A + b"]\n" + B, "gold.not_json", 1, id="lines-after-the-array"),
        pytest.param(b"[\n" + A + b"\n" + B + b"]", "gold.not_json", 3, id="comma-left-out"),
        pytest.param(b"[\n" + A + b",\n,\n" + B + b"]", "gold.not_json", 3, id="comma-too-many"),
        pytest.param(b"[\n" + A + b",\n\n  5]", "gold.not_an_object", 4, id="element-no-object"),
        pytest.param(b"[" + A + b"}]", "gold.not_json", 1, id="bracket-too-many"),
        pytest.param(A + b'\n{"id": "b", "events": [], "x": "\xff"}', "gold.not_utf8", 2, id="not-utf8"),
        pytest.param("[]".encode("utf-16"), "gold.not_utf8", 1, id="utf-16"),
    ],
)
def test_damaged_file_is_an_error_with_its_line(gold: Path, content: bytes, code: str, line: int) -> None:
    gold.write_bytes(content)
    error = refused(gold)
    assert (error.code, error.place.line) == (code, line)
    assert error.place.file == str(gold)


@pytest.mark.parametrize(("cut", "is_cut_off"), [(b"\xe4\xb8", True), (b'\xe4"}', False), (b"\xff", False)])
def test_file_that_ends_inside_a_character_seems_cut_off(gold: Path, cut: bytes, is_cut_off: bool) -> None:
    gold.write_bytes(A + b'\n{"id": "b", "text": "' + cut)
    error = refused(gold)
    assert (error.code, error.place.line) == ("gold.not_utf8", 2)
    assert ("cut off" in str(error.advice)) is is_cut_off


@pytest.mark.parametrize("end", [5, -1, -9], ids=["header", "last-byte", "trailer"])
def test_gzip_cut_off_is_an_error(gold: Path, end: int) -> None:
    gold.write_bytes(gzip.compress(A * 100)[:end])
    assert refused(gold).code == "gold.bad_gzip"


def test_gzip_with_a_flipped_byte_is_an_error(gold: Path) -> None:
    packed = bytearray(gzip.compress(A + b"\n" + B))
    packed[len(packed) // 2] ^= 0xFF
    gold.write_bytes(packed)
    assert refused(gold).code == "gold.bad_gzip"


def test_gzip_of_several_members_is_read_whole(gold: Path) -> None:
    gold.write_bytes(gzip.compress(A + b"\n") + gzip.compress(B))
    assert Run(gold).ids == ["a", "b"]


def test_missing_file_and_directory_are_errors(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.jsonl").code == "gold.missing"
    assert refused(tmp_path).code == "gold.is_a_directory"


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gzip"])
@pytest.mark.parametrize("content", [A + b"\n" + B, b"[" + A + b"," + B + b"]"], ids=["lines", "array"])
def test_pipe_is_read_like_a_file(tmp_path: Path, content: bytes, packed: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    stored = gzip.compress(content) if packed else content
    writer = threading.Thread(target=pipe.write_bytes, args=(stored,))
    writer.start()
    try:
        run = Run(pipe)
    finally:
        writer.join()
    assert run.ids == ["a", "b"]
    assert run.evaluation.report["inputs"]["gold"][0]["sha256"] == hashlib.sha256(stored).hexdigest()


def test_several_files_are_one(tmp_path: Path) -> None:
    first, second = tmp_path / "1.jsonl", tmp_path / "2.json.gz"
    first.write_bytes(A)
    second.write_bytes(gzip.compress(b"[" + B + b"]"))
    run = Run([first, second])
    assert run.ids == ["a", "b"]
    assert sorted(entry["samples"] for entry in run.evaluation.report["inputs"]["gold"]) == [1, 1]


def test_answer_with_half_a_surrogate_pair_is_scored(tmp_path: Path, gold: Path) -> None:
    gold.write_bytes(rb'{"id": "a", "text": "x\ud83d", "events": []}')
    predictions = tmp_path / "p.jsonl"
    predictions.write_bytes(rb'{"id": "a", "response": "[] \ud83d"}')
    assert Run(gold, predictions).evaluation["parse_raw_success"] == 1


LONE = rb'{"event_type": "T\ud800", "arguments": [{"role": "r", "argument": "\ud83d"}, {"role": "r", "argument": 1.5}]}'
INSIDE = json.dumps('[{"event_type": "T", "arguments": [{"role": "r", "argument": "\\ud83d"}]},]').encode()


@pytest.mark.parametrize(
    ("gold_line", "prediction"),
    [
        pytest.param(
            rb'{"id": "a", "events": [' + LONE + b"]}",
            b'{"id": "a", "response": "[]"}',
            id="gold-with-a-fraction",
        ),
        pytest.param(
            A,
            rb'{"id": "a", "events": [' + LONE + b"]}",
            id="structured-with-a-fraction",
        ),
        pytest.param(
            A,
            b'{"id": "a", "response": ' + INSIDE + b"}",
            id="sound-part-of-a-repaired-answer",
        ),
    ],
)
def test_no_half_surrogate_pair_reaches_a_report(
    tmp_path: Path, gold: Path, gold_line: bytes, prediction: bytes
) -> None:
    gold.write_bytes(gold_line)
    predictions = tmp_path / "p.jsonl"
    predictions.write_bytes(prediction)
    assert Run(gold, predictions).evaluation.to_json()
