"""Pieces of a file: whoever reads them, and wherever it is cut, the same records are found and the same mistakes."""

from __future__ import annotations

import json
from array import array
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.engines import Engine, start_engine
from goldgate.errors import InputError
from goldgate.readers.id_index import (
    BUCKETS,
    FilePiece,
    IndexPiece,
    PieceIndex,
    index_stores,
    join_indexes,
    open_store,
)
from goldgate.readers.records import RecordStore, iterate_records

LINES = st.sampled_from([b'{"id": "a"}', b'{"id": 7, "events": []}', b"", b" \t", b"\r", b'{"events": [], "id": "b"}'])
SECRET = b"0123456789abcdef"


@given(
    lines=st.lists(LINES, max_size=12),
    head=st.sampled_from([b"", b"\xef\xbb\xbf"]),
    end=st.sampled_from([b"", b"\n"]),
    data=st.data(),
)
def test_a_file_has_the_same_records_wherever_it_is_cut(
    lines: list[bytes], head: bytes, end: bytes, data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "cut.jsonl"
    content = head + b"\n".join(lines) + end
    path.write_bytes(content)
    store = open_store([path], "predictions")
    try:
        start = store.files[0].start
        inner = data.draw(st.sets(st.integers(start, max(start, len(content)))))
        cuts = sorted({start, *inner, len(content) + 3})
        note = IndexPiece([store], SECRET)
        found = [note(FilePiece(0, 0, begin, stop)) for begin, stop in pairwise(cuts)]
        expected = [*iterate_records(store.files[0])]
        assert [place for noted in found for place in noted.locations] == [offset for offset, _ in expected]
        assert [length for noted in found for length in noted.lengths] == [len(line) for _, line in expected]
        for noted in found:
            assert sorted(noted.ids.positions) == [*range(len(noted.locations))]
            assert [*noted.ids.positions] == [at for n in range(BUCKETS) for at in noted.ids.bucket(n)[1]]
        assert sorted(_hashes(found)) == sorted(_hashes([note(FilePiece(0, 0, start, len(content)))]))
    finally:
        store.close()


def _hashes(found: list[PieceIndex]) -> list[bytes]:
    return [noted.ids.hashes[at : at + 8] for noted in found for at in range(0, len(noted.ids.hashes), 8)]


def gold_lines(number: int = 30_000) -> list[str]:
    return [json.dumps({"id": f"id-{each}", "events": [], "text": "x" * 80}) for each in range(number)]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _joined(stores: list[RecordStore], engine: Engine) -> array[int]:
    gold, predictions = index_stores(stores, engine)
    return join_indexes(gold, predictions, engine)


def refused(gold: list[str], predictions: list[str], tmp_path: Path, workers: int) -> tuple[str, str]:
    paths = [write(tmp_path / "gold.jsonl", gold), write(tmp_path / "predictions.jsonl", predictions)]
    stores = [open_store([path], kind) for path, kind in zip(paths, ("gold", "predictions"), strict=True)]
    try:
        with start_engine(workers, "goldgate.readers.id_index") as engine, pytest.raises(InputError) as caught:
            _joined(stores, engine)
        return caught.value.code, str(caught.value)
    finally:
        for store in stores:
            store.close()


SLOW = pytest.mark.slow  # tests/faults/test_bad_input.py has these mistakes, for one process


@pytest.mark.parametrize(
    ("gold", "predictions", "code"),
    [
        pytest.param(
            {29_000: "{", 20_000: '{"events": []}'}, {5: "{"}, "gold.bad_id", id="first-of-two-mistakes", marks=SLOW
        ),
        pytest.param({}, {29_000: "{"}, "predictions.not_json", id="predictions", marks=SLOW),
        pytest.param({}, {15_000: '{"id": "id-3"}'}, "predictions.duplicate_id", id="duplicate-over-pieces"),
        pytest.param({15_000: '{"id": "id-3"}'}, {}, "gold.duplicate_id", id="duplicate-gold", marks=SLOW),
        pytest.param({}, {15_000: '{"id": "new"}', 15_001: '{"id": "newer"}'}, "predictions.unknown_id", id="unknown"),
    ],
)
def test_mistakes_have_the_same_words_and_lines_for_any_number_of_workers(
    gold: dict[int, str], predictions: dict[int, str], code: str, tmp_path: Path
) -> None:
    golds, answers = gold_lines(), gold_lines()
    for lines, mistakes in ((golds, gold), (answers, predictions)):
        for at, line in mistakes.items():
            lines[at] = line
    alone = refused(golds, answers, tmp_path, 1)
    assert alone[0] == code
    assert refused(golds, answers, tmp_path, 2) == alone


def test_empty_gold_comes_before_mistakes_in_predictions(tmp_path: Path) -> None:
    assert refused([""], ["{", *gold_lines()], tmp_path, 2)[0] == "gold.empty"
