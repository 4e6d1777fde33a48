"""The index of a file of records says what reading all of them says."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import orjson
import pytest

from goldgate.core.unit_page import UnitSummary
from goldgate.errors import InputError
from goldgate.suites import load_suite
from goldgate.viewer import index as module
from goldgate.viewer.folder import explained_gates
from goldgate.viewer.index import Order, UnitIndex, build_index
from tests.cases import error_from
from tests.contract.inputs import HOSTILE, NAMES

from .stored import bitset_places, loaded, store_made_up

ORDERS: tuple[Order, ...] = ("weight", "file")


def summaries(path: Path) -> list[UnitSummary]:
    result = loaded(path)
    return [result.suite.summary(orjson.loads(line)) for line in result.records.read_bytes().splitlines()]


def index_of(path: Path) -> UnitIndex:
    result = loaded(path)
    return build_index(result.suite, result.records, explained_gates(result))


@pytest.mark.parametrize("few", [1, 10**9], ids=["lists", "bits"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("word", ["", HOSTILE], ids=["plain", "hostile"])
def test_index_agrees_with_the_records(
    name: str, word: str, few: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FEW_UNITS", few)
    path = store_made_up(tmp_path / "it", name, word)
    known, index = summaries(path), index_of(path)
    assert len(index) == len(known)
    assert index.wrong == sum(summary.weight > 0 for summary in known)
    assert [*index.by_weight] == sorted(range(len(known)), key=lambda number: (-known[number].weight, number))
    facets = {facet for summary in known for facet in summary.facets}
    assert {*index.facets} - {"gate"} == facets
    for order in ORDERS:
        for facet in facets:
            expected = Counter(value for summary in known for value in {*summary.facets.get(facet, ())})
            assert index.counts(facet, index.selected({}, order), order) == expected
            for value in expected:
                found = [index.number(place, order) for place in bitset_places(index.having(facet, value, order))]
                assert sorted(found) == [n for n, each in enumerate(known) if value in each.facets.get(facet, ())]


@pytest.mark.parametrize("line", [b"{}\n", b"not JSON\n", b"[]\n", b'{"id": "x"}\n', b"\xff\n", b"\n"])
def test_a_line_that_is_no_record_is_named(line: bytes, stored: Path, tmp_path: Path) -> None:
    file = tmp_path / "samples.jsonl"
    file.write_bytes((stored / "b" / "samples.jsonl").read_bytes().splitlines(keepends=True)[0] + line)
    error = error_from(InputError, build_index, load_suite("extraction"), file)
    assert (error.code, error.place.line) == ("records.malformed", 2)


@pytest.mark.parametrize(
    ("suite", "folder", "change"),
    [
        ("extraction", "b", {"id": 5}),
        ("extraction", "b", {"id": None}),
        ("extraction", "b", {"id": ["x"]}),
        ("extraction", "b", {"parse": {"status": 7, "method": "x", "repairs": []}}),
        ("extraction", "b", {"parse": {"status": "ok", "method": "x", "repairs": [None]}}),
        ("research", "failing", {"failures": {"x": 10**30}}),
        ("research", "failing", {"failures": {"x": 1.5}}),
        ("research", "failing", {"stop_reason": 3}),
    ],
)
def test_a_record_whose_names_are_no_texts_is_named(
    suite: str, folder: str, change: dict[str, object], stored: Path, tmp_path: Path
) -> None:
    records = [json.loads(line) for line in loaded(stored / folder).records.read_bytes().splitlines()]
    first = next(record for record in records if record.get("run", record.get("id")) is not None)
    (tmp_path / "records").write_text(json.dumps({**first, **change}), encoding="utf-8")
    error = error_from(InputError, build_index, load_suite(suite), tmp_path / "records")
    assert (error.code, error.place.line) == ("records.malformed", 1)
