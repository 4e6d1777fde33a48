"""`goldgate power` for labels of people: how many a length of the interval or a gate needs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.main import goldgate
from goldgate.stats.corrected_rate import LabelSums
from goldgate.stats.label_counts import ExpectedLabels, LabelGoal, ones_needed

from .labelling import write_lines


def binary_sums(cells: tuple[int, int, int, int], others: int, judge_others: int) -> LabelSums:
    """Sums of labels 0 and 1: both 1, only people 1, only the judge 1, both 0."""
    both, human, judge, _ = cells
    h, j = Fraction(both + human), Fraction(both + judge)
    return LabelSums(sum(cells), others, h, j, Fraction(judge_others), h, Fraction(both), j, Fraction(judge_others))


def expected(sums: LabelSums) -> ExpectedLabels:
    return ExpectedLabels(sums, sums)


def test_a_lower_bound_of_nine_tenths_needs_26_labels_that_are_all_1() -> None:
    # n labels of 1 and the pretended 1 and 0: v = 1/(n+2)², p(1-p) = (n+1)/(n+2)², so n_e = n + 1, and the lower end is
    # n_e / (n_e + t²): 27 / (27 + 1.708²) = 0.9025 with 26 labels, 26 / (26 + 1.711²) = 0.8988 with 25.
    assert ones_needed(Fraction(9, 10), 0.95) == 26
    assert ones_needed(Fraction(1), 0.95) is None


def test_people_alone_need_94_labels_for_a_length_of_a_fifth_at_one_half() -> None:
    # With h̄ = 1/2: v = 1/(4(n+1)), n_e = n + 1, and the length is t / √(n_e + t²). At most 0.2: n + 1 ≥ 24 t².
    # n = 94: 24 · 1.9858² = 94.64 ≤ 95. n = 93: 24 · 1.9861² = 94.67 > 94.
    labels = expected(binary_sums((0, 10, 0, 10), 980, 0))
    assert labels.needed(LabelGoal("length", "0.2"), correct=False) == 94


def test_a_good_judge_saves_labels_and_a_useless_one_costs_none() -> None:
    good, coin = binary_sums((35, 2, 1, 12), 1950, 1400), binary_sums((20, 17, 7, 6), 1950, 1050)
    goal = LabelGoal("length", "0.1")
    with_judge, alone = (expected(good).needed(goal, correct=correct) for correct in (True, False))
    assert with_judge is not None
    assert alone is not None
    assert with_judge < alone / 2
    with_judge, alone = (expected(coin).needed(goal, correct=correct) for correct in (True, False))
    assert with_judge is not None
    assert alone is not None
    assert abs(with_judge - alone) <= alone / 20


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """600 items, 80 % right by the judge; people labelled 60 of them, and differ from the judge on six."""
    folder = tmp_path_factory.mktemp("labels")
    items = [{"id": f"i{number}", "text": "…"} for number in range(600)]
    judge = [
        {"id": item["id"], "label": number % 5 > 0, "by": "m", "kind": "judge"} for number, item in enumerate(items)
    ]
    write_lines(folder / "items.jsonl", items)
    write_lines(folder / "judge.jsonl", judge)
    drawn = folder / "drawn.jsonl"
    assert run("sample", "--from", folder / "items.jsonl", "--n", "60", "--out", drawn).exit_code == 0
    by_id = {label["id"]: label["label"] for label in judge}
    ids = [json.loads(line)["id"] for line in drawn.read_text().splitlines()[1:]]
    people = [{"id": name, "label": by_id[name] != (place % 10 == 0), "by": "p", "kind": "human"}
              for place, name in enumerate(ids)]  # fmt: skip
    write_lines(folder / "people.jsonl", people)
    (folder / "protocol.yaml").write_text("gates: {rate: {min: 0.6}}\n")
    labels = ("--labels", folder / "people.jsonl", folder / "judge.jsonl")
    more = ("--items", folder / "items.jsonl", "--draw", drawn, "--protocol", folder / "protocol.yaml")
    judged = run("judged", *labels, *more, "--out", folder / "out")
    assert judged.exit_code in (0, 1), judged.output
    return folder / "out"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(goldgate, [str(argument) for argument in arguments])


def test_power_of_a_judged_result_plans_labels(result: Path) -> None:
    printed = run("power", result, "--width", "0.12", "--sizes", "60", "200")
    assert printed.exit_code == 0, printed.output
    assert "60 of 600" in printed.output
    assert "length ≤ 0.12" in printed.output
    assert "rate ≥ 0.6" in printed.output
    plan = json.loads(run("power", result, "--width", "0.12", "--sizes", "60", "200", "--format", "json").output)
    (question,) = plan["questions"]
    assert [each["labels"] for each in question["lengths"]] == [60, 200]
    length, gate = question["targets"]
    assert length["needed"] < length["needed_without_judge"]
    assert gate["needed"] < 60  # it passes already
    report = json.loads((result / "report.json").read_bytes())
    interval = report["metrics"]["main"]["rate"]["interval"]
    length_now = interval["high"] - interval["low"]  # rounded outwards
    assert question["lengths"][0]["length"] == pytest.approx(length_now, abs=1e-8)


def test_a_threshold_above_the_rate_is_not_reached_by_more_labels(result: Path) -> None:
    plan = json.loads(run("power", result, "--threshold", "0.9", "--format", "json").output)
    gate = plan["questions"][0]["targets"][1]
    assert gate["needed"] is None
    assert gate["reason"] == "the rate is not above it: more labels would not pass the gate"
    assert gate["needed_if_all_are_1"] == 26


def test_width_is_for_labels_only(tmp_path: Path) -> None:
    examples = Path(__file__).parents[2] / "examples/fields"
    files = ("--gold", examples / "gold.jsonl", "--predictions", examples / "model-a.jsonl")
    run("fields", *files, "--out", tmp_path / "out")
    refused = run("power", tmp_path / "out", "--width", "0.1")
    assert refused.exit_code == 2
    assert "--width is for labels of people" in refused.output
    assert "goldgate sample --items" in refused.output
    assert run("power", tmp_path / "out", "--width", "2").exit_code == 2
