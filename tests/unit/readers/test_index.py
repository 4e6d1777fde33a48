"""Joining by id: order does not matter, what is doubtful stops the evaluation."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

import goldgate
from goldgate.errors import InputError
from tests.cases import error_from

from ..helpers import protocol


def join(tmp_path: Path, gold: list[str], predictions: list[str]) -> dict[str, bool]:
    """Which gold ids have a prediction, from lines of JSON."""
    for name, lines in (("gold", gold), ("predictions", predictions)):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")
    records = io.BytesIO()
    goldgate.evaluate_files(
        tmp_path / "gold.jsonl", tmp_path / "predictions.jsonl", None, protocol(), allow_empty=True, records=records
    )
    samples = [json.loads(line) for line in records.getvalue().splitlines()]
    return {sample["id"]: sample["parse"] is not None for sample in samples}


def refused(tmp_path: Path, gold: list[str], predictions: list[str]) -> InputError:
    return error_from(InputError, join, tmp_path, gold, predictions)


def g(identity: str) -> str:
    return f'{{"id": {identity}, "events": []}}'


def p(identity: str) -> str:
    return f'{{"id": {identity}, "response": "[]"}}'


def test_order_of_the_files_does_not_matter(tmp_path: Path) -> None:
    assert join(tmp_path, [g('"a"'), g('"b"'), g('"c"')], [p('"c"'), p('"a"')]) == {"a": True, "b": False, "c": True}


@pytest.mark.parametrize(
    ("gold_id", "predicted_id", "name"),
    [
        pytest.param("1", '"1"', "1", id="integer-is-its-text"),
        pytest.param("-7", "-7", "-7", id="negative"),
        pytest.param("12345678901234567890", '"12345678901234567890"', "12345678901234567890", id="large"),
        pytest.param('"a\\u0062"', '"ab"', "ab", id="escaped"),
        pytest.param('"\\u8d28\\u62bc"', '"质押"', "质押", id="escaped-chinese"),
        pytest.param('"a\\"b"', '"a\\u0022b"', 'a"b', id="quotation-mark"),
        pytest.param('" a"', '" a"', " a", id="blanks-belong-to-the-id"),
        pytest.param('"😀"', '"\\ud83d\\ude00"', "😀", id="surrogate-pair"),
    ],
)
def test_ids_are_compared_as_text(tmp_path: Path, gold_id: str, predicted_id: str, name: str) -> None:
    assert join(tmp_path, [g(gold_id)], [p(predicted_id)]) == {name: True}
    assert join(tmp_path, [g(predicted_id)], [p(gold_id)]) == {name: True}


@pytest.mark.parametrize(
    "line",
    [
        pytest.param('{"response": "[]", "id": "a"}', id="id-last"),
        pytest.param('{"response": "{\\"id\\": \\"b\\"}", "id": "a"}', id="another-in-a-string"),
        pytest.param('{"meta": {"id": "b"}, "id": "a", "response": "[]"}', id="another-nested"),
        pytest.param('{ "id" : "a" , "response":"[]"}', id="blanks"),
        pytest.param('{"i\\u0064": "a", "response": "[]"}', id="escaped-key"),
        pytest.param('{"response": "[]", "id": "a", "events": [{"id": "b"}]}', id="nested-after"),
    ],
)
def test_id_is_found_wherever_it_stands(tmp_path: Path, line: str) -> None:
    assert join(tmp_path, [g('"a"')], [line]) == {"a": True}


@pytest.mark.parametrize(
    ("identity", "found"),
    [
        pytest.param('""', "an empty string", id="empty"),
        pytest.param("null", "null", id="null"),
        pytest.param("1.5", "the number 1.5", id="fraction"),
        pytest.param("true", "true", id="boolean"),
        pytest.param('["a"]', "a list", id="list"),
    ],
)
def test_id_that_is_none_is_an_error_with_its_line(tmp_path: Path, identity: str, found: str) -> None:
    error = refused(tmp_path, [g('"a"'), g(identity)], [])
    assert (error.code, error.place.line, error.place.field, error.found) == ("gold.bad_id", 2, "id", found)
    error = refused(tmp_path, [g('"a"')], [p(identity)])
    assert (error.code, error.place.line) == ("predictions.bad_id", 1)


@pytest.mark.parametrize("second", ['"a"', '"\\u0061"'], ids=["same-writing", "escaped"])
def test_duplicate_id_names_both_places(tmp_path: Path, second: str) -> None:
    error = refused(tmp_path, [g('"a"'), g('"b"'), "", g(second)], [])
    assert (error.code, error.place.line, error.place.field) == ("gold.duplicate_id", 4, "id")
    assert error.found == 'the string "a", already at gold.jsonl:1'
    error = refused(tmp_path, [g('"a"')], [p('"a"'), p(second)])
    assert (error.code, error.place.line) == ("predictions.duplicate_id", 2)


def test_integer_and_text_of_the_same_id_are_duplicates(tmp_path: Path) -> None:
    assert refused(tmp_path, [g("1"), g('"1"')], []).code == "gold.duplicate_id"


def test_first_of_several_duplicates_is_named(tmp_path: Path) -> None:
    names = [f'"{number}"' for number in range(600)]  # over several buckets
    error = refused(tmp_path, [g(name) for name in [*names, *names[::-1]]], [])
    assert error.place.line == 601


def test_duplicate_over_two_files_is_found(tmp_path: Path) -> None:
    for name in ("1", "2"):
        (tmp_path / f"{name}.jsonl").write_text(g('"a"'), encoding="utf-8")
    error = error_from(
        InputError,
        goldgate.evaluate_files,
        [tmp_path / "1.jsonl", tmp_path / "2.jsonl"],
        tmp_path / "1.jsonl",
        None,
        protocol(),
    )
    assert error.place.file == str(tmp_path / "2.jsonl")


def test_prediction_that_no_gold_record_asks_for_is_an_error(tmp_path: Path) -> None:
    error = refused(tmp_path, [g('"a"')], [p('"a"'), p('"y"'), p('"x"')])
    assert error.code == "predictions.unknown_id"
    assert (error.place.line, error.place.field, error.found) == (2, "id", 'the string "y"')
    assert refused(tmp_path, [g('"a"')], [p("7")]).found == "id 7"


def test_missing_predictions_anywhere_in_a_shard_leave_the_others_alone(tmp_path: Path) -> None:
    names = [f'"{number}"' for number in range(1_200)]  # more than two shards
    answered = {name for number, name in enumerate(names) if number % 3 == 1 and number > 2}
    found = join(tmp_path, [g(name) for name in names], [p(name) for name in names if name in answered])
    assert found == {name.strip('"'): name in answered for name in names}


def test_predictions_in_another_order_are_joined_over_shards(tmp_path: Path) -> None:
    names = [f'"{number}"' for number in range(1_100)]
    found = join(tmp_path, [g(name) for name in names], [p(name) for name in sorted(names)])
    assert all(found.values())
    assert len(found) == 1_100
