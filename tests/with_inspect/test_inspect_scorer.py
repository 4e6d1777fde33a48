"""Goldgate as a scorer of Inspect, in the installed version of it; skipped where that is not installed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import goldgate

pytest.importorskip("inspect_ai", reason="needs inspect-ai: make test-inspect")

from inspect_ai import Epochs, Task, eval  # only where it is installed
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ModelOutput, ModelUsage, get_model

from goldgate.errors import InputError
from goldgate.inspect_scorer import evaluate_log, event_scorer

EXAMPLES = Path(__file__).parents[2] / "examples" / "extraction"
SCHEMA = str(EXAMPLES / "schema.json")
GOLD = [json.loads(line) for line in (EXAMPLES / "gold.jsonl").read_text(encoding="utf-8").splitlines()][:12]
IDS = [record["id"] for record in GOLD]


def answers(model: str) -> dict[str, str]:
    lines = (EXAMPLES / model).read_text(encoding="utf-8").splitlines()
    return {record["id"]: record["response"] for record in map(json.loads, lines)}


def run(folder: Path, given: list[str], *, in_target: bool = False, epochs: int = 1) -> EvalLog:
    samples = [
        Sample(
            id=record["id"],
            input=record["text"],
            target=json.dumps(record["events"], ensure_ascii=False) if in_target else "",
            metadata={"text": record["text"]} | ({} if in_target else {"events": record["events"]}),
        )
        for record in GOLD
    ]
    outputs = [ModelOutput.from_content("mockllm", text) for text in given]
    for output in outputs:
        output.usage = ModelUsage()  # without it, tokens are counted, and for that a file is downloaded
    model = get_model("mockllm/model", custom_outputs=outputs)
    task = Task(dataset=samples, scorer=event_scorer(schema=SCHEMA), epochs=Epochs(epochs))
    (log,) = eval(
        task, model=model, log_dir=str(folder), display="none", max_samples=1, max_connections=1, log_level="error"
    )
    assert log.status == "success", log.error
    return log


def metrics(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    (score,) = log.results.scores
    return {name.rpartition("/")[2]: float(found.value) for name, found in score.metrics.items()}


def expected(gold: list[dict[str, Any]], given: dict[str, str]) -> goldgate.Evaluation:
    predictions = [{"id": record["id"], "response": given[record["id"]]} for record in gold]
    return goldgate.evaluate(gold, predictions, SCHEMA)


@pytest.mark.parametrize("in_target", [False, True])
def test_the_numbers_are_those_of_goldgate(tmp_path: Path, in_target: bool) -> None:
    given = answers("model-a.jsonl")
    log = run(tmp_path, [given[each] for each in IDS], in_target=in_target)
    wanted, found = expected(GOLD, given), metrics(log)
    for name in ("strict_precision", "strict_recall", "strict_f1", "relaxed_f1", "type_f1", "hallucination_rate"):
        assert found[name] == pytest.approx(wanted[name], abs=1e-12)
    assert log.samples is not None
    (score,) = (log.samples[0].scores or {}).values()
    assert "strict_f1" in str(score.explanation)


def test_gates_over_a_log(tmp_path: Path) -> None:
    given = answers("model-a.jsonl")
    log = run(tmp_path, [given[each] for each in IDS])
    protocol = {"gates": {"strict_f1": {"min": 0.99}, "parse_errors": {"max": 5}}}
    for source in (log, log.location):
        evaluation = evaluate_log(source, SCHEMA, protocol)
        assert evaluation.status == "FAIL"
        assert evaluation.metrics["strict_f1"].exact == expected(GOLD, given).metrics["strict_f1"].exact
        assert [gate.verdict for gate in evaluation.gates] == ["FAIL", "PASS"]


def test_epochs_are_pooled_and_count_as_one_document(tmp_path: Path) -> None:
    """The counts of two epochs are averaged by Inspect: the ratio of averages is the ratio of sums."""
    good, bad = answers("model-a.jsonl"), dict.fromkeys(IDS, "I cannot tell.")
    log = run(tmp_path, [text for each in IDS for text in (good[each], bad[each])], epochs=2)
    evaluation = evaluate_log(log, SCHEMA)
    assert evaluation["total_samples"] == 2 * len(GOLD)
    assert metrics(log)["strict_f1"] == pytest.approx(evaluation["strict_f1"], abs=1e-12)
    assert evaluation.report["metrics"]["main"]["strict_f1"]["interval"]["unit"] == "group"


def test_whatever_a_model_writes_is_scored(tmp_path: Path) -> None:
    log = run(tmp_path, ["", "[", "\u202e", "null", "{}", "[[]]", *["?"] * 6])
    assert metrics(log)["strict_recall"] == 0.0


@pytest.mark.parametrize("kept", [0, 5])
def test_a_log_that_broke_off_is_refused(tmp_path: Path, kept: int) -> None:
    """The samples that it has may all be right."""
    given = answers("model-a.jsonl")
    log = run(tmp_path, [given[each] for each in IDS])
    assert log.samples is not None
    log.samples = log.samples[:kept]
    with pytest.raises(InputError, match="12 samples") as caught:
        evaluate_log(log, SCHEMA, {"gates": {"parse_errors": {"max": 5}}})
    assert caught.value.code == "log.incomplete"


def test_a_log_that_is_not_there_is_said(tmp_path: Path) -> None:
    for name in ("missing.eval", "missing.txt"):
        with pytest.raises(InputError, match="cannot be read"):
            evaluate_log(tmp_path / name, SCHEMA)
