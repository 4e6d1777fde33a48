"""Parse diagnostics: raw, repaired, errors, and what was not found at all."""

from __future__ import annotations

import pytest

from goldgate.report import PAGE_FORMATS, RENDERERS, VERDICT_FORMATS
from tests.cases import cases

from ...helpers import answer, event, gate, gold, judge

A = answer(event("T", ("r", "x")))
NAMES = (
    "total_samples",
    "missing_predictions",
    "parse_raw_success",
    "parse_repair_success",
    "parse_errors",
    "parse_extraction_failures",
)


@cases(
    ("prediction", "expected"),
    [
        pytest.param({"response": A}, (1, 0, 1, 0, 0, 0), id="raw"),
        pytest.param({"response": f"So: {A}"}, (1, 0, 1, 0, 0, 0), id="prose-around-is-no-repair"),
        pytest.param({"response": f"```json\n{A}\n```"}, (1, 0, 1, 0, 0, 0), id="fence-is-no-repair"),
        pytest.param({"response": A[:-1]}, (1, 0, 0, 1, 0, 0), id="repaired"),
        pytest.param({"response": "```json\n{\n```"}, (1, 0, 0, 0, 1, 0), id="located-but-unreadable"),
        pytest.param({"response": "none"}, (1, 0, 0, 0, 1, 1), id="nothing-located"),
        pytest.param({"response": ""}, (1, 0, 0, 0, 1, 1), id="empty"),
        pytest.param({"events": []}, (1, 0, 1, 0, 0, 0), id="structured"),
        pytest.param({"response": "none", "events": [event("T")]}, (1, 0, 0, 0, 1, 1), id="response-is-what-counts"),
        pytest.param({"response": '{"a": 1}'}, (1, 0, 1, 0, 0, 0), id="decoded-but-no-events"),
        pytest.param(None, (1, 1, 0, 0, 1, 0), id="missing-prediction"),
    ],
)
def test_each_sample_is_counted_once(prediction: dict[str, object] | None, expected: tuple[int, ...]) -> None:
    predictions = [] if prediction is None else [{"id": "1", **prediction}]
    evaluation = judge([gold()], predictions)
    assert tuple(evaluation[name] for name in NAMES) == expected


def test_missing_prediction_costs_recall() -> None:
    golds = [gold(event("T", ("r", "x")), identity=name) for name in ("1", "2")]
    evaluation = judge(golds, [{"id": "1", "response": A}])
    assert evaluation["strict_recall"] == 0.5  # 1 of 2
    assert evaluation["strict_precision"] == 1


def test_parse_errors_say_how_many_of_them_are_missing_predictions() -> None:
    golds = [gold(identity=str(number)) for number in range(5)]
    predictions = [{"id": str(number), "response": text} for number, text in enumerate((A, "none", "none", "none"))]
    report = judge(golds, predictions, gates={"parse_errors": gate(max="3")}).report
    errors = report["metrics"]["main"]["parse_errors"]
    assert (errors["value"], errors["missing_predictions"]) == (4, 1)
    assert report["gates"][0]["reason"] == "4 (1 of them missing) is not ≤ 3"
    for name in (*PAGE_FORMATS, *VERDICT_FORMATS):
        assert "1 of them missing" in RENDERERS[name](report), name
    without = judge(golds[:4], predictions).report
    assert without["metrics"]["main"]["parse_errors"]["missing_predictions"] == 0
    assert "of them missing" not in RENDERERS["text"](without)


def test_report_says_how_answers_were_found_and_mended() -> None:
    responses = [A, f"So: {A}", f"```json\n{A}\n```", f"<think>a</think>{A[:-1]}", "none", f"<think>{A}"]
    golds = [gold(identity=str(number)) for number in range(len(responses) + 1)]
    predictions = [{"id": str(number), "response": text} for number, text in enumerate(responses)]
    reading = judge(golds, [*predictions, {"id": "6", "events": []}]).report["reading"]
    # In the last response the thought is the whole text, and the answer in it the whole thought.
    assert reading["methods"] == {"whole": 3, "fenced": 1, "embedded": 1, "structured": 1, "no_json_found": 1}
    assert reading["thoughts"] == {"none": 5, "closed": 1, "unclosed": 1}
    assert reading["repairs"] == {"closed_brackets": 1}
