"""A report that is written part by part has the bytes of one that is written as a whole."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core import evaluation
from goldgate.core.evaluation import json_parts, render_json
from goldgate.core.finding import Finding, RunFindings, finding_entries

scalars = st.none() | st.booleans() | st.integers(-5, 2**65) | st.floats(allow_nan=False) | st.text(max_size=4)
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=7) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)


@given(st.dictionaries(st.text(max_size=4), values | st.lists(values, min_size=3, max_size=9), min_size=1, max_size=4))
def test_the_parts_are_the_whole(report: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(evaluation, "_PIECE", 2)
        assert b"".join(json_parts(report)) == render_json(report)


def test_a_long_list_is_written_in_pieces() -> None:
    report = {"suite": "toy", "runs": [{"run": number} for number in range(2_500)], "error": None}
    parts = [*json_parts(report)]
    assert b"".join(parts) == render_json(report)
    assert max(map(len, parts)) < len(render_json(report)) / 2


def test_a_count_above_64_bits_is_written_as_ever() -> None:
    report = {"runs": [1] * 2_000, "steps": 2**70}
    assert b"".join(json_parts(report)) == render_json(report)


def test_findings_are_let_go_as_their_entries_are_made() -> None:
    findings = RunFindings("run_1")
    findings.add("fabricated", "error", "events.jsonl", "one")
    findings.add("fabricated", "error", "", "two", "/claims/0", 3)
    listed = findings.to_list()
    expected = [finding.as_json() for finding in listed]
    assert [entry["file"] for entry in expected] == ["run_1/events.jsonl", "run_1"]
    assert finding_entries(listed) == expected
    assert listed == []


def test_an_entry_names_the_record_where_there_is_one() -> None:
    finding = Finding("bad", "error", "f", None, "", "m" * 600, "id")
    assert [*finding.as_json()] == [*Finding._fields]
    assert "id" not in finding._replace(id=None).as_json()
