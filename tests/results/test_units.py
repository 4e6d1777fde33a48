"""The units of a stored result, to look at."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from goldgate.core.unit_page import EmptyInputLookup
from goldgate.errors import InputError
from goldgate.readers.stored_result import load_result
from goldgate.suites import SUITES, all_suites
from goldgate.viewer.index import describe_record

from .made import arguments, make


@pytest.fixture(params=["extraction", "research", "qa"])
def folder(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setitem(SUITES, "qa", "tests.toy.suite:SUITE")
    monkeypatch.chdir(tmp_path)
    make(request.param, *arguments(request.param, tmp_path))
    return tmp_path / "out"


def test_every_record_can_be_looked_at(folder: Path) -> None:
    result = load_result(folder, all_suites())
    for line in result.records.read_bytes().splitlines():
        record = json.loads(line)
        assert describe_record(result.suite.unit_page, record, EmptyInputLookup()).id == result.suite.summary(record).id


def test_one_that_somebody_changed_is_an_error(folder: Path) -> None:
    with pytest.raises(InputError):
        describe_record(load_result(folder, all_suites()).suite.unit_page, {"run": "x"}, EmptyInputLookup())
