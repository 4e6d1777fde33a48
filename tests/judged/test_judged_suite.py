"""`goldgate judged` from files: what is read, what is refused, what is reported, and what gates and comparisons do."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldgate.cli.main import goldgate
from goldgate.comparison import compare
from goldgate.core.evaluation import Evaluation
from goldgate.errors import ConfigError, GoldgateError, InputError
from goldgate.pipeline import evaluate_suite
from goldgate.suites import load_suite
from tests.cases import error_from

Rows = Sequence[Mapping[str, Any]]


def lines(path: Path, rows: Rows) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def human(identity: object, label: object, by: str = "ann", **more: Any) -> dict[str, Any]:
    return {"id": identity, "label": label, "by": by, "kind": "human", **more}


def judge(identity: object, label: object, by: str = "model", **more: Any) -> dict[str, Any]:
    return {"id": identity, "label": label, "by": by, "kind": "judge", **more}


def label_files(folder: Path, labels: Rows, name: str = "labels") -> list[str]:
    """Labels of people and of judges in files of their own."""
    judges = [row for row in labels if isinstance(row, dict) and row.get("kind") == "judge"]
    people = [row for row in labels if row not in judges]
    files: dict[str, Rows] = {f"{name}.jsonl": people, f"{name}-judge.jsonl": judges}
    return [lines(folder / file, rows) for file, rows in files.items() if rows]


def evaluate(folder: Path, labels: Rows, items: Rows | None = None, **options: Any) -> Evaluation:
    inputs: dict[str, Any] = {"labels": label_files(folder, labels)}
    if items is not None:
        inputs["items"] = [lines(folder / "items.jsonl", items)]
    protocol = options.pop("protocol", None)
    return evaluate_suite(load_suite("judged"), {**inputs, **options}, protocol)


TRUSTED = {"judged": {"sampling": "trusted"}}


def ten() -> list[dict[str, Any]]:
    """The ten labels of docs/judging.md, and 90 other items."""
    people = [1] * 8 + [0] * 2
    model = [1] * 7 + [0] * 3 + [1] * 57 + [0] * 33
    return [human(n, label) for n, label in enumerate(people)] + [judge(n, label) for n, label in enumerate(model)]


def codes(evaluation: Evaluation) -> list[str]:
    return [entry["code"] for entry in evaluation.report["stands_out"]]


def refusal(folder: Path, labels: Rows, items: Rows | None = None, **options: Any) -> GoldgateError:
    return error_from(GoldgateError, evaluate, folder, labels, items, **options)


def test_ten_labels_give_the_numbers_of_the_docs(tmp_path: Path) -> None:
    found = evaluate(tmp_path, ten(), protocol=TRUSTED)
    assert found["rate"] == 0.76
    assert (found["human_rate"], found["judge_rate"]) == (0.8, 0.64)
    assert found["judge_bias"] == -0.1
    assert (found["agreement"], found["judge_sensitivity"], found["judge_specificity"]) == (0.9, 0.875, 1.0)
    assert found["cohens_kappa"] == pytest.approx(28 / 38)
    [row] = found.report["questions"]["rows"]
    assert (row["items"], row["labelled"], row["unsure"], row["others"]) == (100, 10, 0, 90)
    assert row["ends"]["all_0"]["lambdas"] == [0.6]
    assert found.interval("rate") == pytest.approx((0.4311, 0.9297), abs=1e-4)


def test_labels_may_be_in_several_files_in_any_order(tmp_path: Path) -> None:
    rows = ten()
    parts = {"a": rows[50:][::-1], "b": rows[10:50], "c": rows[5:10], "d": rows[:5]}
    paths = [lines(tmp_path / f"{name}.jsonl", part) for name, part in parts.items()]
    found, again = (evaluate_suite(load_suite("judged"), {"labels": each}, TRUSTED) for each in (paths, paths[::-1]))
    assert found["rate"] == 0.76
    assert found.report["labelling"] == again.report["labelling"]


@pytest.mark.parametrize("label", [True, 1, 1.0, "good"])
def test_a_label_is_true_a_number_or_a_word_of_the_protocol(label: object, tmp_path: Path) -> None:
    protocol = {"judged": {"labels": {"good": 1, "bad": 0}}}
    found = evaluate(tmp_path, [human(n, label) for n in range(4)] + [human(5, "bad")], protocol=protocol)
    assert found["human_rate"] == 0.8


def test_several_people_on_an_item_are_their_mean_and_several_judges_theirs(tmp_path: Path) -> None:
    labels = [human(1, 1), human(1, 0, "ben"), human(2, 1), judge(1, 1), judge(1, 0, "other"), judge(2, 0)]
    found = evaluate(tmp_path, labels)
    assert found["human_rate"] == 0.75  # (1/2 + 1) / 2
    assert found["judge_rate"] == 0.25
    assert found.metrics["agreement"].reason == "labels of people are not all 0 or 1"
    assert evaluate(tmp_path, labels, judge=["model"])["judge_rate"] == 0.5
    assert refusal(tmp_path, labels, judge=["modle"]).advice == "did you mean model?"


def test_a_judge_without_a_label_counts_as_one_half_and_is_counted(tmp_path: Path) -> None:
    labels = [judge(1, None), judge(2, "???"), judge(3, 1), judge(4, 7)]
    found = evaluate(tmp_path, labels)
    assert found["judge_rate"] == (0.5 * 3 + 1) / 4
    assert found.report["labelling"]["without_judge_label"] == 3
    [message] = [each["message"] for each in found.report["stands_out"] if each["code"] == "no_judge_label"]
    assert message == (
        "3 items without a label of the judge, counted as one half: 2 labels neither from 0 to 1 nor a word of the "
        "protocol, such as the number 7"
    )
    assert "neither" not in str(evaluate(tmp_path, [judge(1, None), judge(2, 1)]).report["stands_out"])


def test_the_page_says_what_counts_in_parts_of_an_item_are(tmp_path: Path) -> None:
    """One label of the judge is one half, so everything of it is counted in halves: (1 + 1 + 0.5) of 3 items."""
    labels = lines(tmp_path / "labels.jsonl", [judge(1, 1), judge(2, 1), judge(3, None)])
    shown = " ".join(CliRunner().invoke(goldgate, ["judged", "--labels", labels]).output.split())
    assert "judge_rate is counted in parts of an item, 2 to each: 5/6 is 2.5 of 3 items." in shown
    assert "human_rate is counted" not in shown


def test_scores_are_stretched_for_the_correction_only(tmp_path: Path) -> None:
    rows = [{**row, "label": 0.2 + 0.6 * row["label"]} if row["kind"] == "judge" else row for row in ten()]
    found = evaluate(tmp_path, rows, protocol=TRUSTED)
    assert found["rate"] == pytest.approx(0.76, abs=1e-12)
    assert found["judge_rate"] == pytest.approx(0.2 + 0.6 * 0.64)
    assert found.report["labelling"]["stretched"] == ["default"]


@pytest.mark.parametrize(
    ("rows", "human_rate", "reason"),
    [
        (ten()[1:], 7 / 9, "a rate needs at least 10 labels of people (found 9)"),
        (
            [{**row, "group": f"g{int(row['id']) // 4}"} for row in ten()],
            8 / 10,
            "a rate needs labels of people in at least 10 groups (found 3)",
        ),
    ],
)
def test_few_labels_or_labelled_groups_give_no_corrected_rate(
    rows: Rows, human_rate: float, reason: str, tmp_path: Path
) -> None:
    found = evaluate(tmp_path, rows, protocol=TRUSTED)
    assert (found["rate"], found.metrics["rate"].reason) == (None, reason)
    assert found["human_rate"] == human_rate


def test_without_a_judge_people_speak_alone(tmp_path: Path) -> None:
    found = evaluate(tmp_path, ten()[:10])
    assert found["rate"] == 0.8
    assert found["judge_rate"] is None
    assert found.metrics["agreement"].reason == "no item has a label of a person and one of a judge"


@pytest.mark.parametrize(
    ("row", "code", "field"),
    [
        ({"id": 1, "by": "a", "kind": "human", "label": "perhaps"}, "labels.bad_label", "label"),
        ({"id": 1, "by": "a", "kind": "human", "label": None}, "labels.bad_label", "label"),
        ({"id": 1, "by": "a", "kind": "human", "label": 1.5}, "labels.bad_label", "label"),
        ({"id": 1, "by": "", "kind": "human", "label": 1}, "labels.bad_by", "by"),
        ({"id": 1, "by": "a", "kind": "robot", "label": 1}, "labels.bad_kind", "kind"),
        ({"by": "a", "kind": "human", "label": 1}, "labels.bad_id", "id"),
        ({"id": 1, "by": "a", "kind": "human", "label": 1, "question": 7}, "labels.bad_question", "question"),
        ({"id": 1, "by": "a", "kind": "human", "label": 1, "group": []}, "labels.wrong_type", "group"),
        ([1], "labels.not_an_object", None),
    ],
)
def test_a_label_that_cannot_be_read_is_an_error_with_its_line(
    row: Any, code: str, field: str | None, tmp_path: Path
) -> None:
    error = refusal(tmp_path, [human(0, 1), row])
    assert (error.code, error.place.line, error.place.field) == (code, 2, field)
    assert isinstance(error, InputError)
    if code == "labels.bad_id":
        assert (error.message, error.found) == ("a label needs an id", "the keys are by, kind, label")


@pytest.mark.parametrize("again", ['"label": 0', '"label" : 0', '"\\u006cabel": 0', '"kind": "judge"', '"by": "bob"'])
def test_a_label_with_a_key_twice_is_an_error(again: str, tmp_path: Path) -> None:
    """The last one would count, unseen."""
    path = tmp_path / "labels.jsonl"
    first = (
        '{"id": "1", "label": 1, "by": "ann", "kind": "human", "note": "label: \\"label\\"", "more": {"label": 0}}\n'
    )
    path.write_text(first + f'{{"id": "2", "label": 1, "by": "ann", "kind": "human", {again}}}\n', encoding="utf-8")
    error = error_from(InputError, evaluate_suite, load_suite("judged"), {"labels": [str(path)]})
    assert (error.code, error.place.line) == ("labels.duplicate_key", 2)


def test_two_labels_of_one_person_for_one_item_are_an_error_unless_they_are_the_same(tmp_path: Path) -> None:
    error = refusal(tmp_path, [human(1, 1), human(1, 0)])
    assert (error.code, error.place.line, error.found) == ("labels.two_labels", 2, "1: 1.0 and 0.0")
    assert evaluate(tmp_path, [human(1, 1), human(1, True)])["human_rate"] == 1.0


def test_a_label_for_what_is_not_among_the_items_is_an_error(tmp_path: Path) -> None:
    error = refusal(tmp_path, [human("x", 1), judge("a", 1)], [{"id": "a"}])
    assert (error.code, error.found) == ("labels.unknown_id", "1 other id: x")
    error = refusal(tmp_path, [human("x", 1), judge("a", 1)])
    assert "--items" in str(error.advice)


def test_labels_of_a_judge_outside_the_items_are_left_out_and_counted(tmp_path: Path) -> None:
    found = evaluate(tmp_path, [judge("a", 1), judge("b", 0)], [{"id": "a"}])
    assert found["judge_rate"] == 1.0
    assert "labels_outside" in codes(found)


def test_questions_are_judged_apart(tmp_path: Path) -> None:
    rows = [{**row, "question": "support"} for row in ten()] + [{**row, "question": "tone"} for row in ten()[:10]]
    rows += [judge(n, 1, question="tone") for n in range(10)]
    found = evaluate(tmp_path, rows, protocol={**TRUSTED, "gates": {"rate[support]": {"min": 0.3}}})
    assert found.metrics["rate"].reason == "there are 2 questions: each has its own"
    support, tone = found.report["questions"]["rows"]
    assert (support["question"], support["metrics"]["rate"]["value"]) == ("support", 0.76)
    assert (tone["question"], tone["metrics"]["rate"]["value"]) == ("tone", 0.8)
    assert found.status == "PASS"


def test_a_label_without_a_question_has_that_of_its_item(tmp_path: Path) -> None:
    items = [{"id": "a", "question": "support"}, {"id": "b", "question": "tone"}]
    found = evaluate(tmp_path, [human("a", 1), human("b", 0)], items)
    assert [row["metrics"]["human_rate"]["value"] for row in found.report["questions"]["rows"]] == [1.0, 0.0]


def test_unsure_items_bound_the_rate_from_both_sides(tmp_path: Path) -> None:
    """Of twelve labels two are unsure, eight 1: the rate of people alone lies between 8/12 and 10/12."""
    labels = [human(n, 1 if n < 8 else 0 if n < 10 else "unsure") for n in range(12)]
    found = evaluate(tmp_path, labels)
    ends = found.report["questions"]["rows"][0]["ends"]
    assert (ends["all_0"]["value"], ends["all_1"]["value"]) == (8 / 12, 10 / 12)
    assert found["rate"] == 0.75
    low, high = found.interval("rate") or (0, 0)
    without = [evaluate(tmp_path, [*labels[:10], *(human(n, value) for n in (10, 11))]) for value in (0, 1)]
    assert (low, high) == (without[0].interval("rate")[0], without[1].interval("rate")[1])  # type: ignore[index]
    assert "unsure" in codes(found)
    assert [finding["id"] for finding in found.report["findings"]] == ["10", "11"]


def gate(folder: Path, ones: int, **bounds: Any) -> Any:
    protocol = {"gates": {"rate": bounds}}
    labels = [human(n, 1) for n in range(ones)]
    return evaluate(folder, labels, protocol=protocol).report


def test_a_gate_on_the_rate_is_held_against_the_interval_even_without_a_confidence(tmp_path: Path) -> None:
    """If all labels are 1, "≥ 0.9" needs 26 of them."""
    few, enough = gate(tmp_path, 25, min=0.9), gate(tmp_path, 26, min=0.9)
    assert (few["gates"][0]["verdict"], enough["gates"][0]["verdict"]) == ("INCONCLUSIVE", "PASS")
    assert few["gates"][0]["confidence"] == "0.95"
    assert few["status"] == "INCONCLUSIVE"
    [said] = [entry for entry in few["stands_out"] if entry["code"] == "few_labels"]
    assert said["counts"] == {"labels": 25, "needed": 26}
    assert not [entry for entry in enough["stands_out"] if entry["code"] == "few_labels"]


def test_a_gate_on_the_rate_takes_the_adverse_end_of_unsure_items(tmp_path: Path) -> None:
    labels = [human(n, 1) for n in range(40)] + [human(n, "unsure") for n in range(40, 50)]
    found = evaluate(tmp_path, labels, protocol={"gates": {"rate": {"min": 0.85}}})
    assert found.report["gates"][0]["verdict"] == "INCONCLUSIVE"  # 40 of 50 at worst
    assert found.status == "INCONCLUSIVE"


def test_a_gate_of_a_gate_that_cannot_be_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="interval cannot be tested for equality"):
        gate(tmp_path, 12, equals=1)
    with pytest.raises(ConfigError, match="rate is a rate"):
        gate(tmp_path, 12, min=5)


def test_an_open_gate_on_the_rate_may_pass_without_a_confidence_of_its_own(tmp_path: Path) -> None:
    report = gate(tmp_path, 25, min=0.9, on_inconclusive="pass")
    assert (report["gates"][0]["verdict"], report["status"]) == ("INCONCLUSIVE", "PASS")
    with pytest.raises(ConfigError, match="never inconclusive"):
        evaluate(tmp_path, ten(), protocol={**TRUSTED, "gates": {"human_rate": {"min": 0, "on_inconclusive": "pass"}}})


def stored(folder: Path, name: str, labels: Rows, protocol: Path) -> str:
    words = [
        "judged",
        "--labels",
        *label_files(folder, labels, name),
        "--protocol",
        str(protocol),
        "--out",
        str(folder / name),
    ]
    result = CliRunner().invoke(goldgate, words)
    assert result.exit_code == 0, result.output
    return str(folder / name)


def test_two_systems_are_compared_on_the_same_labelled_items(tmp_path: Path) -> None:
    protocol = tmp_path / "p.yaml"
    protocol.write_text("judged: {sampling: trusted}\n", encoding="utf-8")
    better = [{**row, "label": 1} if row["kind"] == "human" else row for row in ten()]
    one, two = stored(tmp_path, "a", ten(), protocol), stored(tmp_path, "b", better, protocol)
    found = compare(one, two)
    # All labels of B are 1, so its β is 0 and its rate 1; D = 1 - 0.76.
    difference = found["rate"]["difference"]
    assert difference["value"] == pytest.approx(0.24)
    assert difference["low"] < difference["value"] < difference["high"]
    assert found["rate"]["test"] == {"method": "corrected-t"}
    shown = CliRunner().invoke(goldgate, ["compare", one, two, "--out", str(tmp_path / "both")])
    assert shown.exit_code == 0, shown.output
    assert "corrected" not in shown.output  # a method's name is for files
    assert (tmp_path / "both" / "comparison.html").is_file()
    [entry] = [each for each in found.report["comparisons"] if each["metric"] == "human_rate"]
    assert entry["difference"]["value"] == pytest.approx(0.2)


def test_systems_with_labels_on_other_items_have_no_difference(tmp_path: Path) -> None:
    protocol = tmp_path / "p.yaml"
    protocol.write_text("judged: {sampling: trusted}\n", encoding="utf-8")
    other = [{**row, "id": row["id"] + 20} if row["kind"] == "human" else row for row in ten()]
    found = compare(stored(tmp_path, "a", ten(), protocol), stored(tmp_path, "b", other, protocol))
    assert found["rate"]["difference"] is None
    assert found["rate"]["reason"] == "people labelled different items of the two systems"


def test_rates_of_people_on_other_items_are_not_tested(tmp_path: Path) -> None:
    """10 items that are all 1 and 40 others that are all 0: a test of pairs would call that certain. With equal rates
    it would find a difference in 9 to 14 of 100 such cases, in place of 5.
    """
    protocol = tmp_path / "p.yaml"
    protocol.write_text("judged: {sampling: trusted}\n", encoding="utf-8")
    judges = [judge(n, n % 2) for n in range(60)]
    one = stored(tmp_path, "a", [*judges, *(human(n, 1) for n in range(10))], protocol)
    two = stored(tmp_path, "b", [*judges, *(human(n, 0) for n in range(10, 50))], protocol)
    found = compare(one, two)
    assert (found["human_rate"]["difference"], found["human_rate"]["p"]) == (None, None)
    assert found["human_rate"]["reason"] == "people labelled different items of the two systems"
    assert found["judge_rate"]["difference"]["value"] == 0  # of all items
    assert [system["best_in"] for system in found.report["systems"]] == [[], []]
    shown = CliRunner().invoke(goldgate, ["compare", one, two, "--brief"]).output
    assert "Not compared: rate, human_rate: people labelled different items" in shown
    assert "significant" not in shown


def test_a_result_can_be_recomputed_from_its_inputs_and_from_its_records(tmp_path: Path) -> None:
    protocol = tmp_path / "p.yaml"
    protocol.write_text("judged: {sampling: trusted}\ngates: {rate: {min: 0.3}}\n", encoding="utf-8")
    folder = stored(tmp_path, "a", [{**row, "group": f"g{int(row['id']) % 20}"} for row in ten()], protocol)
    for more in ([], ["--records"]):
        result = CliRunner().invoke(goldgate, ["verify", folder, *more])
        assert result.exit_code == 0, result.output
    records = tmp_path / "a" / "samples.jsonl"
    text = records.read_text(encoding="utf-8")
    records.write_text(text.replace('"labels":[1,1,1', '"labels":[1,1,0', 1), encoding="utf-8")
    assert CliRunner().invoke(goldgate, ["verify", folder, "--records"]).exit_code == 1


def test_the_least_steps_are_set_by_the_protocol(tmp_path: Path) -> None:
    """Labels of 0 and 1 are counted in steps of 1; in halves if that is asked for, with the same rate."""
    path = tmp_path / "protocol.yaml"
    path.write_text("judged: {sampling: trusted, steps: 2}\n", encoding="utf-8")
    found = evaluate(tmp_path, ten(), protocol=path)
    labelling = found.report["labelling"]
    assert (labelling["human_steps"], labelling["judge_steps"], found["rate"]) == (2, 2, 0.76)


def table(folder: Path, *rows: str) -> str:
    path = folder / "people.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def test_labels_of_a_table_are_those_of_records(tmp_path: Path) -> None:
    cells = ["TRUE", "true", "1", "0", "False", "0.5", "good", "unsure", "1.0", "TRUE", "good", "0"]
    rows = [f"c{at},{cell},ann,human," for at, cell in enumerate(cells)]
    path = table(tmp_path, "id,label,by,kind,group", *rows)
    main = evaluate_suite(
        load_suite("judged"), {"labels": [path]}, {"judged": {"labels": {"good": 1, "bad": 0}}}
    ).report["metrics"]["main"]
    assert main["human_rate"]["value"] == 7.5 / 11


def test_a_word_of_the_protocol_is_no_number_in_a_table(tmp_path: Path) -> None:
    path = table(tmp_path, "id,label,by,kind", *(f"c{at},1,ann,human" for at in range(12)))
    main = evaluate_suite(load_suite("judged"), {"labels": [path]}, {"judged": {"labels": {"1": 0, "5": 1}}}).report[
        "metrics"
    ]["main"]
    assert main["human_rate"]["value"] == 0


@pytest.mark.parametrize(
    ("header", "row", "code", "advice"),
    [
        ("id,label,annotator", "a,true,ann", "labels.bad_kind", "human where a person"),
        ("id,label,annotator,kind", "a,true,ann,human", "labels.bad_by", "is it annotator?"),
        ("item_id,label,by,kind", "a,true,ann,human", "labels.bad_id", "is item_id the id?"),
        ("id,label,by,kind", "a,5,ann,human", "labels.bad_label", "(score - 1) / 4"),
        ("id,label,by,kind", "a,unsupported,ann,human", "labels.bad_label", "judged: {labels: {unsupported: NUMBER"),
        ("id,score,by,kind", "a,1,ann,human", "labels.bad_table", "the columns id, label, by"),
        ("id,label,label,by,kind", "a,1,0,ann,human", "labels.bad_table", "None"),
    ],
)
def test_a_table_of_another_tool_is_refused_with_what_to_do(
    header: str, row: str, code: str, advice: str, tmp_path: Path
) -> None:
    refused_with = error_from(
        GoldgateError, evaluate_suite, load_suite("judged"), {"labels": [table(tmp_path, header, row)]}
    )
    assert refused_with.code == code
    assert advice in str(refused_with.advice)


def test_a_draw_items_and_an_export_are_no_labels(tmp_path: Path) -> None:
    for record, code, advice in (
        ({"goldgate_draw": 2}, "labels.is_a_draw", "--draw"),
        ({"id": "a", "claim": "x"}, "labels.bad_kind", "goldgate label"),
        ({"id": 1, "annotations": [], "data": {"id": "a"}}, "labels.bad_kind", "Label Studio"),
    ):
        error = refusal(tmp_path, [record])
        assert error.code == code
        assert advice in str(error.advice)
