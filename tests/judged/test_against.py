"""Gates that compare the corrected rate with that of a stored run: not worse by more than so much."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goldgate.core.evaluation import Evaluation, render_json
from goldgate.errors import ConfigError, GoldgateError
from goldgate.pipeline import evaluate_suite
from goldgate.runs.reference import make_baseline_and_units
from goldgate.suites import load_suite
from goldgate.suites.judged.measures import GROUPS_IN_STRATA, OTHER_STRATA, TABLE, LabelledRates
from tests.cases import error_from

from .made import pair
from .reference import Item
from .test_cheats import Study
from .test_judged_suite import TRUSTED, Rows, evaluate, human, label_files, lines, ten


def stored(folder: Path, labels: Rows, protocol: Any = TRUSTED) -> Evaluation:
    """The result of these labels, kept as --out does."""
    folder.mkdir()
    inputs = {"labels": label_files(folder, labels)}
    with open(folder / "samples.jsonl", "wb") as records:
        found = evaluate_suite(load_suite("judged"), inputs, protocol, records=records)
    (folder / "report.json").write_bytes(render_json(found.report))
    return found


def against(folder: Path, labels: Rows, more: str = "", **bounds: object) -> dict[str, Any]:
    """The gate on `rate` of these labels against the run in main/."""
    protocol = folder / "protocol.yaml"
    gate = json.dumps({"against": "main", **bounds})
    protocol.write_text(f"judged: {{sampling: trusted}}\ngates: {{{more or 'rate'}: {gate}}}\n", encoding="utf-8")
    report = evaluate(folder, labels, protocol=protocol).report
    return dict(report["gates"][0])


def refusal(folder: Path, labels: Rows, **bounds: object) -> GoldgateError:
    with pytest.raises(GoldgateError) as caught:
        against(folder, labels, **{"max_drop": 0.4, **bounds})  # type: ignore[arg-type]
    return caught.value


def people(ones: int, of: int = 20) -> list[dict[str, Any]]:
    return [human(n, int(n < ones)) for n in range(of)]


@pytest.mark.parametrize(
    ("max_drop", "verdict"), [(0.39, "PASS"), (0.38, "INCONCLUSIVE"), (0.02, "INCONCLUSIVE"), (0.01, "FAIL")]
)
def test_people_alone_worked_by_hand(tmp_path: Path, max_drop: float, verdict: str) -> None:
    """Of 20 items 20 were 1, and now 16. D = -0.2; e is -1 four times, and +1 and -1 are pretended:
    v = (4 + 2 - 4²/22) / 21 / 22 = 0.011413, √v = 0.10683, t at 95 % and 19 degrees 1.72913: -0.3847 to -0.0153.
    """
    stored(tmp_path / "main", people(20))
    gate = against(tmp_path, people(16), max_drop=max_drop)
    assert gate["verdict"] == verdict
    assert gate["confidence"] == "0.95"
    assert gate["difference"] == {
        "value": -0.2,
        "low": pytest.approx(-0.38473, abs=1e-5),
        "high": pytest.approx(-0.01527, abs=1e-5),
        "units": 20,
    }


def test_people_and_a_judge_worked_by_hand(tmp_path: Path) -> None:
    """The ten labels of docs/judging.md (rate 0.76, λ 0.6), and now three of the 1s are 0: β = 1.5/2.1, λ = 9/14,
    rate 0.5 + 9/14 (57/90 - 0.7) = 16/35. e is -3/70 five times, -73/70 twice, -1 once, 0 twice: Σe = -3.3,
    Σe² = 3.184286. v = (5.184286 - 3.3²/12)/11/12 + (3/70)² (57 - 57²/90)/89/90 = 0.0324048; t at 9 degrees 1.83311.
    """
    stored(tmp_path / "main", ten())
    worse = [{**row, "label": 0} if row["kind"] == "human" and 5 <= row["id"] <= 7 else row for row in ten()]
    gate = against(tmp_path, worse, max_drop=0.64)
    assert gate["verdict"] == "PASS"
    assert gate["measured"]["value"] == 16 / 35
    assert gate["difference"]["value"] == pytest.approx(16 / 35 - 0.76, abs=1e-12)
    assert gate["difference"]["low"] == pytest.approx(-0.632842, abs=1e-5)
    assert against(tmp_path, worse, max_drop=0.63)["verdict"] == "INCONCLUSIVE"


def test_a_packed_baseline_gives_the_same_gate(tmp_path: Path) -> None:
    grouped = [{**row, "group": f"g{int(row['id']) % 25}"} for row in ten()]
    stored(tmp_path / "run", grouped)
    record, units = make_baseline_and_units([tmp_path / "run"], [load_suite("judged")])
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "baseline.json").write_bytes(render_json(record))
    (tmp_path / "main" / "units.bin").write_bytes(units.data)
    worse = [{**row, "label": 0} if row["kind"] == "human" and row["id"] == 7 else row for row in grouped]
    packed = against(tmp_path, worse, max_drop=0.3)
    for file in ("baseline.json", "units.bin"):
        (tmp_path / "main" / file).unlink()
    for file in ("report.json", "samples.jsonl"):
        (tmp_path / "main" / file).write_bytes((tmp_path / "run" / file).read_bytes())
    whole = against(tmp_path, worse, max_drop=0.3)
    assert packed["difference"]["units"] == 10  # groups with labels
    assert packed.pop("against") != whole.pop("against")
    assert packed == whole


def test_unsure_items_count_against_this_run_and_for_the_stored_one(tmp_path: Path) -> None:
    """0 for this run, -0.1 at worst; 1 for the stored run, another -0.1."""
    unsure = [human(18, "unsure"), human(19, "unsure")]
    stored(tmp_path / "main", [*people(18, 18), *unsure])
    gate = against(tmp_path, [*unsure, *people(18, 18)], max_drop=0.5)
    assert gate["difference"]["value"] == 0
    assert gate["difference"]["low"] < -0.2 < 0.2 < gate["difference"]["high"]


def test_the_same_bytes_have_no_difference(tmp_path: Path) -> None:
    stored(tmp_path / "main", people(15))
    gate = against(tmp_path, people(15), max_drop=0)
    assert gate["verdict"] == "PASS"
    assert "has the same answers" in gate["reason"]


def test_a_question_is_compared_with_itself(tmp_path: Path) -> None:
    first, second = people(20), [{**row, "question": "clear"} for row in people(16)]
    stored(tmp_path / "main", [*first, *second])
    gate = against(tmp_path, [*people(16), *second], "'rate[default]'", max_drop=0.39)
    assert (gate["verdict"], gate["difference"]["value"]) == ("PASS", -0.2)


def test_a_baseline_with_other_items_is_refused(tmp_path: Path) -> None:
    stored(tmp_path / "main", ten())
    assert refusal(tmp_path, [{**row, "id": f"x{row['id']}"} for row in ten()]).code == "against.missing_ids"
    others = [{**row, "id": row["id"] + 20} if row["kind"] == "human" else row for row in ten()]
    error = refusal(tmp_path, others, on_not_evaluable="pass")
    assert error.code == "against.not_comparable"
    assert "people labelled different items" in error.message
    with pytest.raises(GoldgateError, match="people labelled different items"):
        against(tmp_path, others, "human_rate", max_drop=0.4)


def test_a_baseline_of_another_question_is_refused(tmp_path: Path) -> None:
    stored(tmp_path / "main", [{**row, "question": "easy"} for row in ten()])
    error = refusal(tmp_path, ten(), on_not_evaluable="pass")
    assert error.code == "against.not_comparable"
    assert "different questions" in error.message


def test_a_baseline_of_several_runs_is_refused(tmp_path: Path) -> None:
    runs = [tmp_path / "one", tmp_path / "two"]
    for folder, ones in zip(runs, (20, 19), strict=True):
        stored(folder, people(ones))
    record, units = make_baseline_and_units(runs, [load_suite("judged")])
    (tmp_path / "main").mkdir()
    (tmp_path / "main" / "baseline.json").write_bytes(render_json(record))
    (tmp_path / "main" / "units.bin").write_bytes(units.data)
    error = refusal(tmp_path, people(16))
    assert error.code == "against.not_comparable"
    assert "several runs" in error.message


def test_a_baseline_with_too_few_labels_is_not_evaluable(tmp_path: Path) -> None:
    unsure = [human(n, "unsure") for n in range(9, 20)]
    stored(tmp_path / "main", [*people(9, 9), *unsure])
    gate = against(tmp_path, people(20), max_drop=0.4)
    assert gate["verdict"] == "FAIL"
    assert gate["reason"].startswith("not_evaluable: main cannot be compared with: a rate needs at least 10 labels")


def test_records_that_do_not_give_the_rate_of_their_report_are_refused(tmp_path: Path) -> None:
    """Products of labels are in no plain rate."""
    stored(tmp_path / "main", ten())
    records = tmp_path / "main" / "samples.jsonl"
    rows = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    column = LabelledRates.columns.index("product")
    for row in rows:
        for counts in (row["units"]["labels"], row["parts"][0][1]):
            counts[column] = 0
    records.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows), encoding="utf-8")
    error = refusal(tmp_path, ten())
    assert error.code == "protocol.against_unreadable"
    assert "the records do not give the numbers of the report" in str(error.found)


def test_estimates_without_a_difference_are_refused_in_the_protocol(tmp_path: Path) -> None:
    error = error_from(ConfigError, against, tmp_path, ten(), "cohens_kappa", max_drop=0.1)
    assert error.code == "protocol.not_paired"
    assert error.advice == "set min or max in place of max_drop and max_rise"


def test_two_systems_are_compared_though_their_items_show_different_things(tmp_path: Path) -> None:
    """The draw depends on ids alone, so people label what each system made of the same ones."""
    results = []
    for system in ("main", "new"):
        folder = tmp_path / system
        folder.mkdir()
        study = Study(folder, 60, 30)
        claims = [{"id": f"i{n}", "claim": f"{system} says {n}"} for n in range(60)]
        study.items = lines(folder / "items.jsonl", claims)
        study.sample(study.items, 30)
        labels = [human(each, system == "main" or number >= 9) for number, each in enumerate(study.drawn_ids())]
        inputs = {"labels": [lines(folder / "labels.jsonl", labels)], "items": [study.items], "draw": [study.draw]}
        protocol = tmp_path / "protocol.yaml"
        protocol.write_text("gates: {rate: {max_drop: 0.2, against: main}}" if system == "new" else "", "utf-8")
        with open(folder / "samples.jsonl", "wb") as records:
            found = evaluate_suite(load_suite("judged"), inputs, protocol, records=records)
        (folder / "report.json").write_bytes(render_json(found.report))
        results.append(found)
    first, second = (found.report for found in results)
    assert first["labelling"]["draw"]["signature"] != second["labelling"]["draw"]["signature"]
    gate = second["gates"][0]
    assert (gate["verdict"], gate["difference"]["value"]) == ("INCONCLUSIVE", -0.3)  # 21 of 30, and 30


def made(strata: str, group: bool = False) -> list[Item]:
    """24 items that people labelled, one after the other in these strata."""
    return [Item(int(n % 3 > 0), 1, f"g{n // 2}" if group else None, strata[n % len(strata)]) for n in range(24)]


def test_items_in_other_strata_have_no_difference() -> None:
    measure = LabelledRates()
    assert measure.difference("rate", (TABLE,), pair(made("xy"), made("xy"))).value == 0
    found = measure.difference("rate", (TABLE,), pair(made("xy"), made("yx")))
    assert (found.comparable, found.reason) == (False, OTHER_STRATA)


def test_groups_within_strata_have_no_difference() -> None:
    found = LabelledRates().difference("rate", (TABLE,), pair(made("xxyy", group=True), made("xxyy", group=True)))
    assert (found.comparable, found.reason) == (False, GROUPS_IN_STRATA)
