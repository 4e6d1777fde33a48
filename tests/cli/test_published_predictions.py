"""Predictions in a published format of gold score by that gold; a text that is not the gold's is an error."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.errors import GoldgateError
from tests.unit.readers.dialect_samples import DOCEE, ONEIE, SAMPLES

Json = dict[str, Any]


def score(gold: Path, predictions: Path, **metrics: Any) -> Any:
    protocol = {"metrics": {"schema": {"mode": "syntax_only"}, **metrics}}
    return goldgate.evaluate_files(gold, predictions, None, protocol).report


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


# What TextEE's prediction scripts write: windows in the form of its data, arguments by their tokens.
NAMES: Json = {
    "doc_id": "CNN_made_up",
    "wnd_id": "CNN_made_up_0",
    "tokens": ["O", "'", "Neil", "died", "in", "Rome", "."],
}
TRIGGER: Json = {"text": "died", "start": 3, "end": 4}
VICTIM, PLACE = {"text": "O'Neil", "start": 0, "end": 3}, {"text": "Rome", "start": 5, "end": 6}
ARGUMENTS = [{"entity_id": "e1", "role": "Victim", **VICTIM}, {"entity_id": "e2", "role": "Place", **PLACE}]
WINDOW: Json = {
    **NAMES,
    "text": "O'Neil died in Rome.",
    "entity_mentions": [{"id": "e1", "entity_type": "PER", **VICTIM}, {"id": "e2", "entity_type": "GPE", **PLACE}],
    "event_mentions": [{"id": "v1", "event_type": "Life:Die", "trigger": TRIGGER, "arguments": ARGUMENTS}],
    "lang": "en",
}
SAID = [{"role": "Victim", "start": 0, "end": 3, "text": "O ' Neil"}]
PREDICTED: Json = {**NAMES, "event_mentions": [{"event_type": "Life:Die", "trigger": TRIGGER, "arguments": SAID}]}


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"maven"}))  # which has no arguments
def test_gold_as_predictions_is_all_right(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / "gold.jsonl", SAMPLES[name][0])
    report = score(path, write(tmp_path / "predictions.jsonl", SAMPLES[name][0]))
    main = report["metrics"]["main"]
    assert main["strict_f1"]["value"] == main["schema_compliance_rate"]["value"] == 1.0
    if not name.startswith("duee"):
        assert f"|layout:{name}|" in report["signature"]


@pytest.mark.parametrize("text", [None, WINDOW["text"]])
def test_predictions_of_textee(tmp_path: Path, text: str | None) -> None:
    gold = write(tmp_path / "test.json", WINDOW)
    predicted = PREDICTED if text is None else {**PREDICTED, "text": text}
    report = score(gold, write(tmp_path / "pred.json", predicted), profile="textee")
    assert report["inputs"]["predictions"][0]["form"] == "oneie"
    # The places of the tokens are those in the gold's text, though the prediction has none: 1 of 1, of 2.
    found = report["metrics"]["papers"]
    assert [found[f"textee_ac_plus_{name}"]["value"] for name in ("precision", "recall")] == [1.0, 0.5]
    assert found["textee_tc_f1"]["value"] == 1.0
    assert (found["textee_by_offsets"]["value"], found["textee_by_text"]["value"]) == (1, 0)


def test_another_text_is_an_error_and_so_is_damage(tmp_path: Path) -> None:
    gold = write(tmp_path / "test.json", WINDOW)
    other = {**PREDICTED, "tokens": ["He", *WINDOW["tokens"][1:]]}
    for record, code, field in (
        ({**PREDICTED, "text": "O ' Neil died in Rome ."}, "predictions.other_text", "text"),
        (other, "predictions.other_text", "text"),
        ({**PREDICTED, "event_mentions": [{}]}, "predictions.not_in_dialect", "event_mentions[0].trigger"),
    ):
        with pytest.raises(GoldgateError) as refused:
            score(gold, write(tmp_path / "pred.json", record))
        assert (refused.value.code, refused.value.place.line, refused.value.place.field) == (code, 1, field)


def test_a_record_with_a_response_of_its_own_is_no_published_one(tmp_path: Path) -> None:
    gold = write(tmp_path / "gold.jsonl", ONEIE)
    answered = {**copy.deepcopy(ONEIE), "response": "[]"}
    with pytest.raises(GoldgateError) as refused:
        score(gold, write(tmp_path / "pred.jsonl", answered))
    assert refused.value.code == "predictions.bad_id"


def test_predictions_without_ids_are_joined_by_order(tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps([DOCEE, DOCEE]))
    report = score(gold, write(tmp_path / "pred.jsonl", DOCEE, [*DOCEE[:3], []]))
    assert report["metrics"]["main"]["strict_recall"]["value"] == 0.5
    assert "|joined:by_order|" in report["signature"]


@pytest.mark.parametrize(
    ("gold", "predicted", "f1"),
    [
        # of the two relations one is swapped: 2 × 1 of 2 + 2
        (
            {"text": "Ann met Bob.", "triples": [["Ann", "met", "Bob"], ["Bob", "saw", "Ann"]]},
            {"triples": [{"head": "Ann", "relation": "met", "tail": "Bob"}, ["Ann", "saw", "Bob"]]},
            (2, 4),
        ),
        (
            {"tokens": ["Ann", "Lee", "met", "Bob"], "tags": ["B-PER", "I-PER", "O", "B-PER"]},
            {"tokens": ["Ann", "Lee", "met", "Bob"], "tags": ["B-PER", "B-PER", "O", "B-PER"]},
            (2, 5),  # Ann and Lee for Ann Lee
        ),
    ],
)
def test_predictions_may_be_triples_or_tags(
    tmp_path: Path, gold: dict[str, Any], predicted: dict[str, Any], f1: tuple[int, int]
) -> None:
    for name, record in (("gold", gold), ("answers", predicted)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps({"id": "1", **record}))
    evaluation = goldgate.evaluate_files(tmp_path / "gold.jsonl", tmp_path / "answers.jsonl", allow_empty=True)
    metric = evaluation.report["metrics"]["companions"]["event_f1"]
    assert (metric["numerator"], metric["denominator"]) == f1
