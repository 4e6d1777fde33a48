"""Units to look at, for every suite: a summary and a page from any record, with its inputs and without them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from goldgate.core.suite import Suite
from goldgate.core.unit_page import MarkedText, UnitPage
from goldgate.pipeline import evaluate_suite
from goldgate.suites import SUITES, load_suite
from goldgate.suites.plan import load_plan

from .inputs import HOSTILE, NAMES, TOY, given, write_inputs

every_suite = pytest.mark.parametrize("name", NAMES)
every_word = pytest.mark.parametrize("word", ["", HOSTILE], ids=["plain", "hostile"])


@pytest.fixture(autouse=True)
def _with_the_toy_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, place in TOY.items():
        monkeypatch.setitem(SUITES, name, place)


def records_of(suite: Suite, inputs: dict[str, list[str]]) -> list[dict[str, Any]]:
    records = io.BytesIO()
    evaluate_suite(suite, inputs, records=records)
    lines = records.getvalue().splitlines()
    return [json.loads(line) for line in [*lines[:40], *lines[-40:]]]  # the last ones have no prediction


def texts(page: UnitPage) -> list[MarkedText]:
    return [block for section in page.sections for block in section.blocks if isinstance(block, MarkedText)]


@every_suite
@every_word
def test_every_record_has_a_summary_and_a_page(name: str, word: str, tmp_path: Path) -> None:
    suite, plan = load_suite(name), load_plan(load_suite(name), None)
    inputs = given(write_inputs(name, tmp_path, word))
    with suite.open_inputs(inputs, plan) as opened:
        for record in records_of(suite, inputs):
            summary = suite.summary(record)
            assert summary.id
            assert (summary.weight > 0) is bool(summary.word)
            assert all(type(value) is str for values in summary.facets.values() for value in values)
            for found in ({}, opened.for_unit(record)):
                page = suite.unit_page(record, found)
                assert page.id == summary.id
                assert page.sections
                for text in texts(page):
                    assert [*text.marks] == sorted(text.marks, key=lambda mark: (mark.start, -mark.end))
                    assert all(0 <= mark.start < mark.end <= len(text.text) for mark in text.marks)


def test_a_page_of_a_plain_suite_does_not_grow_with_its_texts(tmp_path: Path) -> None:
    page = load_suite("qa").unit_page({"id": "1"}, {"gold": {"id": "1", "question": "why " * 300_000}})
    assert all(len(text.text) < 50_000 for text in texts(page))
    assert "characters are left out" in texts(page)[0].note


@every_suite
def test_the_inputs_of_a_unit_are_looked_up_in_files_and_in_an_evaluation(name: str, tmp_path: Path) -> None:
    suite, plan = load_suite(name), load_plan(load_suite(name), None)
    inputs = given(write_inputs(name, tmp_path))
    records = records_of(suite, inputs)
    names = {each.name for each in suite.inputs if each.required}
    with suite.open_inputs(inputs, plan) as opened, suite.open_inputs({}, None) as nothing:
        assert names <= {*opened.for_unit(records[0])}
        assert not names & {*nothing.for_unit(records[0])}
        with suite.open(inputs, plan) as source:
            for record in records:
                page = suite.unit_page(record, source.lookup().for_unit(record))
                assert page == suite.unit_page(record, opened.for_unit(record))
