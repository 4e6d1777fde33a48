"""`goldgate power`: documents needed, from the spread of stored ones; worked out by hand where that can be done."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldgate.comparison import compare
from goldgate.suites import SUITES
from tests.results.made import EXTRACTION, arguments, make, power


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUITES, "qa", "tests.toy.suite:SUITE")
    monkeypatch.chdir(tmp_path)


def questions(right: int, wrong: int, unanswerable: int = 0, out: str = "out") -> None:
    """A result of the toy suite with so many right and wrong answers."""
    gold: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for number in range(right + wrong + unanswerable):
        answerable = number < right + wrong
        identity = {"id": f"q{number}"}
        gold.append({**identity, "question": "?", "answer": "yes" if answerable else None, "sources": ["s"]})
        answer = ("yes" if number < right else "no") if answerable else None
        answers.append({**identity, "answer": answer, "citations": []})
    for name, records in (("gold.jsonl", gold), ("answers.jsonl", answers)):
        Path(name).write_text("".join(json.dumps(record) + "\n" for record in records))
    make("qa", "--gold", "gold.jsonl", "--predictions", "answers.jsonl")
    if out != "out":
        Path("out").rename(out)


def planned(*options: str) -> dict[str, Any]:
    result = power(*options, "--format", "json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_documents_needed_by_hand() -> None:
    """50 of 100 right: the variance of the rate is 0.25/99, of the difference from another 0.5/99.

    With many documents t is normal: (1.959964 + 0.841621)² · 0.5/99 · 100 / 0.01² = 39,641, and a handful more for t.
    """
    questions(50, 50)
    found = planned("out", "--metric", "exact_match")["metrics"]["exact_match"]
    assert found["difference"]["standard_error"] == pytest.approx((0.5 / 99) ** 0.5)
    needed = found["difference"]["records_needed"]
    assert 39_641 <= needed <= 39_641 + 5
    # The smallest difference that as many show is the one that was asked for.
    curve = planned("out", "--metric", "exact_match", "--sizes", str(needed), str(needed - 1))["metrics"]["exact_match"]
    points = {point["records"]: point["detectable"] for point in curve["difference"]["curve"]}
    assert points[needed] <= 0.01 < points[needed - 1]


def test_systems_that_go_together_need_less() -> None:
    """Var = 2 (1 - r) of one: with r = 0.75 a quarter."""
    questions(50, 50)
    alone, together = (
        planned("out", "--metric", "exact_match", *more)["metrics"]["exact_match"]["difference"]["records_needed"]
        for more in ((), ("--correlation", "0.75"))
    )
    assert together == pytest.approx(alone / 4, rel=0.001)


def test_documents_that_do_not_count_are_collected_too() -> None:
    """Half of the questions have no answer and say nothing about exact_match."""
    questions(50, 50)
    whole = planned("out", "--metric", "exact_match")["metrics"]["exact_match"]["difference"]
    questions(50, 50, 100)
    half = planned("out", "--metric", "exact_match")["metrics"]["exact_match"]["difference"]
    assert half["units_needed"] == whole["units_needed"]
    assert half["records_needed"] == 2 * whole["records_needed"]


def test_a_gate_is_decided_by_as_many_as_are_named() -> None:
    questions(80, 20)
    [gate] = planned("out", "--metric", "exact_match", "--threshold", "0.75")["metrics"]["exact_match"]["gates"]
    assert (gate["decided"], gate["tends"]) == (None, "above")
    for size, decided in ((gate["records_needed"] // 5 * 5 + 5, "above"), (gate["records_needed"] // 5 * 5 - 5, None)):
        questions(size * 4 // 5, size // 5)
        [again] = planned("out", "--metric", "exact_match", "--threshold", "0.75")["metrics"]["exact_match"]["gates"]
        assert again["decided"] == decided


def test_the_gates_of_the_report_are_planned_for() -> None:
    questions(80, 20)
    [gate] = planned("out")["metrics"]["exact_match"]["gates"]
    assert (gate["bound"], gate["threshold"], gate["decided"]) == ("min", "0.5", "above")
    assert "exact_match  ≥ 0.5      above it already" in power("out").stdout


def test_against_a_second_result_it_is_what_a_comparison_says() -> None:
    for model in ("model-a", "model-b"):
        options = arguments("extraction", Path.cwd())
        make("extraction", *[str(EXTRACTION / f"{model}.jsonl") if o == "model-b.jsonl" else o for o in options])
        Path("out").rename(model)
    compared = compare("model-a", "model-b")
    plan = planned("model-a", "--against", "model-b")
    assert plan["against"] == {"unit": "sample", "pairs": 80}
    for name, found in plan["metrics"].items():
        assert found["difference"]["detectable"] == compared[name]["detectable"]
        assert found["difference"]["units_needed"] == compared[name]["units_for_one_point"]
        assert 0 < found["difference"]["correlation"] < 1
    assert "correlations: strict_f1 0.27" in " ".join(power("model-a", "--against", "model-b").stdout.split())


def test_against_itself_there_is_no_spread() -> None:
    questions(5, 5)
    found = planned("out", "--against", "out")["metrics"]["exact_match"]["difference"]
    assert "differ alike in every unit" in found["reason"]


def test_against_a_result_of_another_gold_is_refused() -> None:
    questions(5, 5, out="one")
    questions(6, 5)
    result = power("one", "--against", "out", "--format", "json")
    assert (result.exit_code, json.loads(result.stdout)["error"]["code"]) == (2, "compare.other_gold")


def test_a_rate_at_the_threshold_is_never_decided() -> None:
    questions(50, 50)
    [gate] = planned("out")["metrics"]["exact_match"]["gates"]
    assert (gate["decided"], gate["records_needed"]) == (None, None)
    assert "no number of units decides it" in gate["reason"]


def test_units_that_are_all_alike_show_no_spread() -> None:
    questions(20, 0)
    found = planned("out")["metrics"]["exact_match"]
    assert found["difference"] == {"reason": "all units are alike, so they show no spread to plan with"}
    assert found["gates"][0]["decided"] == "above"
    assert "no spread" in " ".join(power("out").stdout.split())


def test_a_rate_without_units() -> None:
    questions(0, 0, 5)
    found = planned("out")["metrics"]["exact_match"]
    assert found["difference"] == {"reason": "no unit counts towards it"}
    assert found["gates"][0]["reason"] == "no question has an answer"
    assert power("out").exit_code == 0


@pytest.mark.parametrize("suite", ["extraction", "research", "qa"])
def test_every_suite_and_format(suite: str) -> None:
    make(suite, *arguments(suite, Path.cwd()))
    assert planned("out")["suite"] == suite
    assert "Smallest difference" in power("out").stdout or suite == "research"
    assert power("out", "--format", "markdown").stdout.startswith("# goldgate power")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("--detect", "0"), "option.wrong_value"),
        (("--detect", "one"), "option.wrong_value"),
        (("--threshold", "90"), "option.wrong_value"),
        (("--metric", "exact_matches"), "power.unknown_metric"),
        (("--against", "out", "--correlation", "0.5"), "option.wrong_value"),
    ],
)
def test_mistakes_in_options(options: tuple[str, ...], code: str) -> None:
    questions(5, 5)
    result = power("out", *options, "--format", "json")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["error"]["code"] == code
    assert "did you mean exact_match?" in result.output or code != "power.unknown_metric"


@pytest.mark.parametrize("option", ["--correlation", "--power"])
def test_what_is_no_number_is_refused(option: str) -> None:
    questions(5, 5)
    found = power("out", option, "nan")
    assert (found.exit_code, "option.wrong_value" in found.output) == (2, True)
