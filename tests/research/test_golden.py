"""Golden queries: what is refused, with all its problems; what is merged; how objectives are matched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldgate.errors import EXIT_SYSTEM_ERROR, InputError
from goldgate.suites.research.golden import GoldenError, load_golden
from tests.cases import error_from

from .judged import codes, counts, finding, judged, judged_run
from .trees import evidence, output, query, write_golden, write_run

RIGHT = query()


def refused(folder: Path, content: str | bytes) -> InputError:
    path = folder / "golden.json"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    error = error_from(InputError, load_golden, path)
    assert error.exit_status == EXIT_SYSTEM_ERROR
    return error


@pytest.mark.parametrize(
    ("content", "pointer", "found"),
    [
        ("", "", "an empty file"),
        ('[{"objective": "a"', "", "at line 1 column 19"),
        ("[" * 100_000, "", "nested too deeply"),
        ('[{"a":' + "[" * 500 + "]" * 500 + "}]", "/0/a/0", "nested too deeply"),
        ("[]", "", "an empty list"),
        ('{"schema_version": 1, "queries": []}', "/queries", "an empty list"),
        ('{"schema_version": "7", "queries": [' + json.dumps(RIGHT) + "]}", "/schema_version", '"7"'),
        ('"golden"', "", "the string"),
        (json.dumps([{**RIGHT, "evidence_sufficient": "true"}]), "/0/evidence_sufficient", 'the string "true"'),
        (json.dumps([{**RIGHT, "evidence_sufficient": 1}]), "/0/evidence_sufficient", "the number 1"),
        (json.dumps([{**RIGHT, "objective": " "}]), "/0/objective", "string"),
        (json.dumps([{**RIGHT, "required_evidence_ids": "e1"}]), "/0/required_evidence_ids", "string"),
        (json.dumps([{**RIGHT, "required_evidence_ids": [""]}]), "/0/required_evidence_ids/0", "an empty string"),
        (json.dumps([{**RIGHT, "required_evidence_ids": ["e1 "]}]), "/0/required_evidence_ids/0", '"e1 "'),
        (json.dumps([{**RIGHT, "required_evidence_ids": ["e1\n"]}]), "/0/required_evidence_ids/0", "e1"),
        ('[{"objective": "a", "required_evidence_ids": []}]', "/0/evidence_sufficient", "missing"),
        (json.dumps([RIGHT])[:-2] + ', "objective": "b"}]', "/0/objective", "twice"),
        (json.dumps([RIGHT])[:-2] + ', "notes": NaN}]', "/0/notes", "NaN"),
        (json.dumps([RIGHT])[:-2] + ', "extra": -Infinity}]', "/0/extra", "-Infinity"),
        (json.dumps([RIGHT])[:-2] + ', "extra": 1e999}]', "/0/extra", "inf"),
        (json.dumps([RIGHT])[:-2] + ', "extra": "\\ud800"}]', "/0/extra", "surrogate"),
        (json.dumps([{**RIGHT, "id": "q"}, {**query("other"), "id": "q"}]), "/1/id", "again"),
        (json.dumps([RIGHT, {**RIGHT, "evidence_sufficient": False}]), "/1/evidence_sufficient", "false"),
        (json.dumps([RIGHT, {**RIGHT, "required_evidence_ids": []}]), "/1/required_evidence_ids", "other ids"),
    ],
)
def test_malformed_golden_names_the_requirement(tmp_path: Path, content: str, pointer: str, found: str) -> None:
    error = refused(tmp_path, content)
    assert isinstance(error, GoldenError)
    match = [problem for problem in error.problems if found in problem.found]
    assert match, error.problems
    assert match[0].pointer.startswith(pointer)
    assert match[0].expected
    assert error.as_json()["file"] == "golden.json"


def test_all_problems_are_listed_and_not_only_the_first(tmp_path: Path) -> None:
    wrong: list[Any] = [{"objective": ""}, RIGHT, 7, {**RIGHT, "evidence_sufficient": False}]
    error = refused(tmp_path, json.dumps(wrong))
    assert isinstance(error, GoldenError)
    assert [problem.pointer for problem in error.problems] == [
        "/0/objective",
        "/0/required_evidence_ids",
        "/0/evidence_sufficient",
        "/2",
        "/3/evidence_sufficient",  # contradicts /1
    ]


def test_golden_that_cannot_be_read_at_all(tmp_path: Path) -> None:
    with pytest.raises(InputError) as missing:
        load_golden(tmp_path / "nowhere.json")
    assert missing.value.code == "golden.missing"
    assert "required_evidence_ids" in str(missing.value.expected)
    assert error_from(InputError, load_golden, tmp_path).code == "golden.is_a_directory"
    assert refused(tmp_path, b'[{"objective": "\xff"}]').code == "golden.not_utf8"


def test_the_same_objective_with_the_same_content_is_merged(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, query(), query("When  did the harbour freeze? "))
    assert finding(evaluation, "golden.merged")["pointer"] == "/1"
    assert counts(evaluation, "golden_recall") == (1, 1)


def test_the_same_id_twice_counts_once_in_a_query_and_once_for_each_of_two(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, query(ids=("e1", "e1", "e2")), query("Other?", ("e1",)))
    assert "golden.repeated_id" in codes(evaluation)
    assert counts(evaluation, "golden_recall") == (1, 3)  # e1 and e2 of the first, e1 of the second, which has no run


@pytest.mark.parametrize(
    ("objective", "matches"),
    [
        ("When did  the harbour\nfreeze?", True),
        (" When did the harbour freeze?", True),
        ("when did the harbour freeze?", False),
        ("When did the harbour freeze？", False),  # a full-width question mark: a compatibility form
    ],
)
def test_objectives_match_after_nfc_and_white_space_only(tmp_path: Path, objective: str, matches: bool) -> None:
    evaluation = judged_run(tmp_path, out=output(objective=objective))
    assert counts(evaluation, "golden_recall") == ((1, 1) if matches else (0, 1))
    assert ("near_miss" in codes(evaluation)) is not matches


def test_composed_and_decomposed_letters_are_the_same_objective(tmp_path: Path) -> None:
    assert counts(
        judged_run(tmp_path, query("Où est le caf\u00e9?"), out=output(objective="Où est le cafe\u0301?")),
        "golden_recall",
    ) == (1, 1)


def test_pins_must_equal_what_the_runs_record(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), pins={"index_id": "i1"})
    write_run(tmp_path / "outputs", "right", output(index_id="i1"))
    write_run(tmp_path / "outputs", "other", output("r2", index_id="i2"))
    write_run(tmp_path / "outputs", "silent", output("r3"))
    evaluation = judged(tmp_path)
    broken = {run["run"]: run["reason"] for run in evaluation.report["runs"]}
    assert broken == {"right": None, "other": "pin_mismatch", "silent": "pin_mismatch"}
    assert counts(evaluation, "golden_recall") == (1, 3)


def test_ids_are_compared_byte_for_byte(tmp_path: Path) -> None:
    assert counts(
        judged_run(
            tmp_path, query(ids=("E1", "caf\u00e9")), out=output(evidence=[evidence("e1"), evidence("cafe\u0301")])
        ),
        "golden_recall",
    ) == (0, 2)


@pytest.mark.parametrize("sign", ["\u200b", "\ufeff", "\u3164", "\u2800", "\u2060\u00ad"])
def test_texts_that_nobody_can_see_are_blank(tmp_path: Path, sign: str) -> None:
    write_golden(tmp_path, query(sign, ("e1", sign)))
    error = error_from(GoldenError, load_golden, tmp_path / "golden.json")
    assert [problem.pointer for problem in error.problems] == ["/0/objective", "/0/required_evidence_ids/1"]
