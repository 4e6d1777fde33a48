"""The whole line: files and memory give the same, gates decide the status, mistakes stop it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.core.gate import Gate
from goldgate.errors import InputError
from tests.cases import cases

from .helpers import SCHEMA, Json, answer, event, gate, gold, judge, protocol, scorer

GOLDS = [
    gold(event("质押", ("质押方", "甲公司"), ("数量", "100")), text="甲公司质押100股", identity="a"),
    gold(event("Sue", ("plaintiff", "Bob")), text="Bob sues", identity="b"),
    gold(text="nothing", identity="c"),
    gold(event("质押", ("质押方", "乙")), identity="d"),
]
PREDICTIONS: list[Json] = [
    {
        "id": "a",
        "response": f"<think>质押</think>```json\n{answer(event('质押', ('质押方', '甲'), ('数量', 100)))}\n```",
    },
    {"id": "b", "events": [event("Sue", ("plaintiff", "bob"), ("date", "today"))]},
    {"id": "c", "response": "[]"},
]


def write(path: Path, records: list[Json]) -> Path:
    path.write_text("".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records), encoding="utf-8")
    return path


def test_numbers_of_a_small_evaluation_by_hand() -> None:
    evaluation = judge(GOLDS, PREDICTIONS, SCHEMA, schema_mode="schema_strict")
    main = {
        name: (metric["numerator"], metric["denominator"]) if "numerator" in metric else metric["value"]
        for name, metric in evaluation.report["metrics"]["main"].items()
    }
    assert main == {
        # P: a 甲, 100; b bob, today = 4. G: a 甲公司, 100; b bob; d 乙 = 4. TP: 100, bob
        "strict_precision": (2, 4),
        "strict_recall": (2, 4),
        "strict_f1": (4, 8),
        # and 甲 in 甲公司
        "relaxed_precision": (3, 4),
        "relaxed_recall": (3, 4),
        "relaxed_f1": (6, 8),
        # types predicted: a 1, b 1; gold: a 1, b 1, d 1
        "type_precision": (2, 2),
        "type_recall": (2, 3),
        "type_f1": (4, 5),
        "total_samples": 4,
        "missing_predictions": 1,
        "parse_raw_success": 3,
        "parse_repair_success": 0,
        "parse_errors": 1,
        "parse_extraction_failures": 0,
        "said_none": 0,
        # a has a number, d did not parse
        "schema_compliance_rate": (2, 4),
        # a: 甲, 100; b: bob, today (not in the text). c has a text, too; d has none
        "hallucination_rate": (1, 3),
        "hallucination_entity_rate": (1, 4),
        "hallucination_unchecked": 1,
    }


def test_files_and_memory_give_the_same_report_but_for_the_inputs(tmp_path: Path) -> None:
    paths = write(tmp_path / "g.jsonl", GOLDS), write(tmp_path / "p.jsonl", PREDICTIONS)
    from_files = goldgate.evaluate_files(*paths, None, protocol()).report
    in_memory = judge(GOLDS, PREDICTIONS).report
    assert from_files.pop("inputs") != in_memory.pop("inputs")
    assert from_files == in_memory


@cases(
    ("gates", "status", "exit_status"),
    [
        ({}, "NO_GATES", 0),
        ({"strict_f1": gate(min="0.5")}, "PASS", 0),
        ({"strict_f1": gate(min="0.50001")}, "FAIL", 1),
        ({"parse_errors": gate(max="0")}, "FAIL", 1),
        ({"cot_faithfulness": gate(min="0")}, "FAIL", 1),
    ],
)
def test_gates_decide_the_status(gates: dict[str, Gate], status: str, exit_status: int) -> None:
    evaluation = judge(GOLDS, PREDICTIONS, gates=gates)
    assert (evaluation.status, evaluation.exit_status, evaluation.passed) == (status, exit_status, status == "PASS")
    assert [entry["metric"] for entry in evaluation.report["gates"]] == list(gates)


def test_mistakes_in_memory_name_the_record() -> None:
    def refused(golds: list[Any], predictions: list[Any]) -> tuple[str, str | None]:
        with pytest.raises(InputError) as caught:
            judge(golds, predictions)
        return caught.value.code, caught.value.place.file

    one = gold(identity="a")
    assert refused([one, one], []) == ("gold.duplicate_id", "gold record 2")
    assert refused([{"events": []}], []) == ("gold.bad_id", "gold record 1")
    assert refused(["x"], []) == ("gold.bad_id", "gold record 1")
    answered = {"id": "a", "response": "[]"}
    assert refused([one], [answered, answered]) == ("predictions.duplicate_id", "predictions record 2")
    assert refused([], [answered]) == ("predictions.unknown_id", "predictions record 1")


@cases("line", [1, 2, 700])  # of the second shard
def test_malformed_record_in_a_file_has_its_line(tmp_path: Path, line: int) -> None:
    golds: list[Json] = [gold(identity=str(number)) for number in range(1, 801)]
    answers: list[Json] = [{"id": str(number), "response": "[]"} for number in range(800, 0, -1)]
    for name, records, key, value, field in (
        ("g", golds, "events", [event("")], "events[0].event_type"),
        ("p", answers, "response", 5, "response"),
    ):
        paths = {each: write(tmp_path / f"{each}.jsonl", kept) for each, kept in (("g", golds), ("p", answers))}
        changed = [{**record, key: value} if number == line else record for number, record in enumerate(records, 1)]
        write(paths[name], changed)
        with pytest.raises(InputError) as caught:
            goldgate.evaluate_files(paths["g"], paths["p"], None, protocol())
        place = caught.value.place
        assert (place.file, place.line, place.field) == (str(paths[name]), line, field)


def test_progress_counts_up_to_all_samples(tmp_path: Path) -> None:
    golds = [gold(identity=str(number)) for number in range(1_234)]
    steps: list[tuple[int, int]] = []
    progress = lambda done, total: steps.append((done, total))  # noqa: E731
    path = write(tmp_path / "g.jsonl", golds)
    evaluation = goldgate.evaluate_files(path, [], None, protocol(), allow_empty=True, progress=progress)
    assert evaluation["missing_predictions"] == 1_234
    assert steps[-1] == (1_234, 1_234)
    assert [done for done, _ in steps] == sorted({done for done, _ in steps})


def test_numbers_in_files_keep_their_text_on_both_sides(tmp_path: Path) -> None:
    gold_path, predicted_path = tmp_path / "g.jsonl", tmp_path / "p.jsonl"
    events = '[{"event_type": "T", "arguments": [{"role": "r", "argument": 1.10}]}]'
    gold_path.write_text(f'{{"id": "a", "events": {events}}}', encoding="utf-8")
    predicted_path.write_text(f'{{"id": "a", "events": {events}}}', encoding="utf-8")
    records = io.BytesIO()
    evaluation = goldgate.evaluate_files(gold_path, predicted_path, None, protocol(), records=records)
    assert evaluation["strict_f1"] == 1
    assert json.loads(records.getvalue())["predicted"] == {"T": [["r", "1.10"]]}


def test_scorer_for_one_response_gives_the_same_as_an_evaluation() -> None:
    one = scorer().score(PREDICTIONS[0]["response"], GOLDS[0])
    whole = judge(GOLDS[:1], PREDICTIONS[:1])
    assert {name: metric.as_json() for name, metric in one.metrics.items()} == {
        name: metric.as_json() for name, metric in whole.metrics.items()
    }


def test_sample_record_traces_the_numbers() -> None:
    response = PREDICTIONS[0]["response"]
    record = scorer(SCHEMA, schema_mode="schema_strict").score(response, GOLDS[0]).record
    # strict hits, relaxed hits, predicted, gold
    assert record.pop("parts") == [
        [["matching", "质押"], [1, 2, 2, 2]],
        [["matching", "质押", "数量"], [1, 1, 1, 1]],
        [["matching", "质押", "质押方"], [0, 1, 1, 1]],
    ]
    units, short, whole = record.pop("units"), ("质押", "质押方", "甲"), ("质押", "质押方", "甲公司")
    assert (units["matching"], units["type"], units["schema"]) == ([1, 2, 2, 2], [1, 1, 1], [0, 1])
    assert record == {
        "id": "a",
        "parse": {
            "status": "raw",
            "method": "fenced",
            "repairs": [],
            "thought": "closed",
            "start": response.index("[{"),
            "end": response.index("}]}]") + len("}]}]"),
            "left_out": [],
        },
        "gold": {"质押": [("质押方", "甲公司"), ("数量", "100")]},
        "predicted": {"质押": [("质押方", "甲"), ("数量", "100")]},
        "relaxed_pairs": [{"predicted": short, "gold": whole}],
        "errors": [
            {"error": "boundary", "side": "predicted", "unit": short, "paired_with": whole},
            {"error": "boundary", "side": "gold", "unit": whole, "paired_with": short},
        ],
        "violations": [{"violation": "value_number", "path": "$[0].arguments[1].argument"}],
        "hallucination": {"checked": 2, "unsupported": []},
        "cot": None,
    }


def test_sample_record_says_what_was_left_out_and_why() -> None:
    answer = '[{"event_type": "A", "arguments": []}]'
    record = scorer().score(f"{answer}\n{answer.replace('A', 'B')}", GOLDS[0]).record
    assert record["parse"]["left_out"] == [{"start": 0, "end": 38, "reason": "replaced"}]
    assert (record["parse"]["start"], record["parse"]["end"]) == (39, 77)


def test_decoded_answers_of_every_shape_can_be_scored() -> None:
    events = [{"event_type": "T", "arguments": [{"role": "r", "argument": "x"}]}]
    gold = {"text": "x", "events": events}
    for shape in (events, {"events": events}, events[0], json.dumps(events)):
        assert scorer().score(shape, gold)["strict_f1"] == 1
    with pytest.raises(TypeError, match="bytes"):
        scorer().score(b"[]", gold)  # type: ignore[arg-type]  # what a caller may try
