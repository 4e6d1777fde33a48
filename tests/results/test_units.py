"""The units of a stored result, in a list and to look at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goldgate.core.unit_page import NothingGiven
from goldgate.errors import InputError
from goldgate.readers.stored_result import load_result
from goldgate.results.units import read_units, unit_page
from goldgate.suites import SUITES, all_suites

from .made import arguments, make


@pytest.fixture(params=["extraction", "research", "qa"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(SUITES, "qa", "tests.toy.suite:SUITE")
    monkeypatch.chdir(tmp_path)
    make(request.param, *arguments(request.param, tmp_path))
    return tmp_path / "out"


def test_every_unit_says_where_its_record_is(folder: Path) -> None:
    result = load_result(folder, all_suites())
    data = result.records.read_bytes()
    units = [*read_units(result)]
    assert [unit.line for unit in units] == [*range(1, len(data.splitlines()) + 1)]
    for unit in units:
        record = json.loads(data[unit.offset : unit.offset + unit.length])
        assert unit_page(result.suite, record, NothingGiven()).id == unit.summary.id


@pytest.mark.parametrize("line", ["{}", "7", "not JSON", '{"id": 1, "run": 1, "errors": 3, "parse": []}'])
def test_a_record_that_somebody_changed_is_an_error_with_its_line(folder: Path, line: str) -> None:
    result = load_result(folder, all_suites())
    if result.suite.name == "qa" and '"id"' in line:
        pytest.skip("the toy suite says no more of a record than its id")
    lines = result.records.read_text(encoding="utf-8").splitlines()
    result.records.write_text("\n".join([lines[0], line, *lines[2:]]), encoding="utf-8")
    with pytest.raises(InputError) as caught:
        [*read_units(result)]
    assert caught.value.code == "records.malformed"
    assert caught.value.place.line == 2


def test_a_page_of_such_a_record_is_an_error_too(folder: Path) -> None:
    with pytest.raises(InputError):
        unit_page(load_result(folder, all_suites()).suite, {"run": "x"}, NothingGiven())
