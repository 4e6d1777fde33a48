"""Gates against a stored run: a result folder or a packed baseline folder give the same verdict, of any suite."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from goldgate.core.evaluation import render_json
from goldgate.core.suite import Suite
from goldgate.errors import ConfigError, GoldgateError, InputError
from goldgate.pipeline import evaluate_suite
from goldgate.runs.reference import make_baseline_and_units
from goldgate.suites.extraction.suite import SUITE as EXTRACTION
from goldgate.suites.research.suite import SUITE as RESEARCH
from tests.cases import error_from
from tests.research.judged import judged
from tests.research.test_gates import passing
from tests.toy.suite import SUITE as QA

from .stored import Records, answers, documents, extraction, qa, questions, stored_run

NOT_WORSE = "gates: {exact_match: {min: 0.5}, citation_f1: {max_drop: 0.05, against: main/, confidence: 0.95}}"


def make_baseline_folder(folder: Path, *runs: Path) -> Path:
    record, units = make_baseline_and_units(runs, [QA, EXTRACTION, RESEARCH])
    folder.mkdir()
    (folder / "baseline.json").write_bytes(render_json(record))
    (folder / "units.bin").write_bytes(units.data)
    return folder


def cited(number: int, wrong: int) -> list[dict[str, Any]]:
    """Answers of which the last so many cite another source."""
    found = answers(number, number)
    return [{**each, "citations": ["x"]} if n >= number - wrong else each for n, each in enumerate(found)]


def gate(report: dict[str, Any], metric: str) -> dict[str, Any]:
    (found,) = (each for each in report["gates"] if each["metric"] == metric)
    return dict(found)


@pytest.mark.parametrize(("wrong", "verdict"), [(0, "PASS"), (8, "INCONCLUSIVE"), (40, "FAIL")])
def test_the_toy_suite_is_not_worse_than_its_main_branch(tmp_path: Path, wrong: int, verdict: str) -> None:
    gold = questions(200)
    stored_run(tmp_path / "main", QA, gold, answers(200, 150))
    found = stored_run(tmp_path / "new", QA, gold, cited(200, wrong), NOT_WORSE)
    assert gate(found.report, "citation_f1")["verdict"] == verdict
    assert found.status == verdict
    assert found.exit_status == (0 if verdict == "PASS" else 1)


def test_a_packed_baseline_gives_the_same_report_as_the_folder(tmp_path: Path) -> None:
    gold = questions(200)
    stored_run(tmp_path / "run", QA, gold, answers(200, 150))
    make_baseline_folder(tmp_path / "main", tmp_path / "run")
    packed = stored_run(tmp_path / "new", QA, gold, cited(200, 8), NOT_WORSE).report
    shutil.rmtree(tmp_path / "main")
    shutil.copytree(tmp_path / "run", tmp_path / "main")
    whole = stored_run(tmp_path / "new", QA, gold, cited(200, 8), NOT_WORSE).report
    for report in (packed, whole):
        gate(report, "citation_f1")["against"].pop("sha256")
    assert packed == whole


def test_any_order_and_any_number_of_workers_give_the_same_bytes(tmp_path: Path) -> None:
    gold = documents(300, "Hire", "Strike")
    extraction(tmp_path / "main", gold, gold[:200])
    gates = "gates: {strict_recall: {max_drop: 0.1, against: main/, confidence: 0.9}}"
    first = extraction(tmp_path / "new", gold, gold[50:], gates)
    lines = (tmp_path / "main" / "samples.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "main" / "samples.jsonl").write_text("".join(lines[::-1]))
    again = extraction(tmp_path / "new", gold, gold[:49:-1], gates, workers=2)
    assert again.report["gates"] == first.report["gates"]
    assert first.gates[0].verdict == "PASS"


def test_several_runs_make_one_baseline(tmp_path: Path) -> None:
    gold = questions(100)
    for number, right in enumerate((50, 60)):
        stored_run(tmp_path / f"seed{number}", QA, gold, answers(100, right))
    make_baseline_folder(tmp_path / "main", tmp_path / "seed0", tmp_path / "seed1")
    protocol = "gates: {exact_match: {min: 0.5, max_drop: 0.05, against: main/}}"
    found = stored_run(tmp_path / "new", QA, gold, answers(100, 50), protocol)
    # (50 + 60) / 200 is 0.55, so 0.50 is a drop of 0.05.
    assert found.gates[0].reason == "50/100 is ≥ 0.5; a drop of 0.0500 from main/ is ≤ 0.05"


def stored_research(tmp_path: Path, settings: str = "{}") -> Path:
    """A run of the research suite, kept in the folder main."""
    passing(tmp_path)
    folder, protocol = tmp_path / "main", tmp_path / "first.yaml"
    folder.mkdir()
    protocol.write_text(settings)
    with open(folder / "runs.jsonl", "wb") as records:
        inputs = {"golden": [str(tmp_path / "golden.json")], "outputs": [str(tmp_path / "outputs")]}
        report = evaluate_suite(RESEARCH, inputs, protocol, records=records).report
    (folder / "report.json").write_bytes(render_json(report))
    return folder


def test_research_pairs_by_query(tmp_path: Path) -> None:
    folder = stored_research(tmp_path)
    protocol = "gates: {golden_recall: {min: 0.8, max_drop: 0, against: main/}}"
    found = judged(tmp_path, protocol)
    recall = gate(found.report, "golden_recall")
    assert (recall["verdict"], recall["difference"]["value"]) == ("PASS", 0.0)
    make_baseline_folder(tmp_path / "base", folder)
    assert judged(tmp_path, protocol.replace("main/", "base/")).status == "PASS"


def test_a_run_without_manifests_is_a_stored_run_too(tmp_path: Path) -> None:
    settings = "research: {manifests: not_kept}\n"
    folder = stored_research(tmp_path, settings)
    protocol = settings + "gates: {golden_recall: {min: 0.8, max_drop: 0, against: main/}}"
    assert judged(tmp_path, protocol).status == "PASS"
    make_baseline_folder(tmp_path / "base", folder)
    assert judged(tmp_path, protocol.replace("main/", "base/")).status == "PASS"


def refused(
    tmp_path: Path, kind: type[GoldgateError], suite: Suite, gold: Records, predictions: Records
) -> GoldgateError:
    return error_from(kind, stored_run, tmp_path / "new", suite, gold, predictions, NOT_WORSE)


def test_another_gold_is_refused(tmp_path: Path) -> None:
    qa(tmp_path / "main", 100, 100)
    error = refused(tmp_path, InputError, QA, questions(99), answers(99, 99))
    assert error.code == "against.other_gold"
    assert "gold with the sha256" in str(error.found)


def test_other_settings_are_refused_by_name(tmp_path: Path) -> None:
    qa(tmp_path / "main", 50, 50)
    error = error_from(InputError, qa, tmp_path / "new", 50, 50, "qa: {case_sensitive: true}\n" + NOT_WORSE)
    assert error.code == "against.other_settings"
    assert error.found == "case_sensitive no"


def test_another_suite_is_refused(tmp_path: Path) -> None:
    extraction(tmp_path / "main", documents(3, "Hire"), documents(3, "Hire"))
    error = refused(tmp_path, ConfigError, QA, questions(3), answers(3, 3))
    assert error.code == "protocol.against_unreadable"
    assert "of the qa suite" in error.message
    assert "extraction" in str(error.found)


def test_ids_that_only_one_side_has_are_named_and_counted(tmp_path: Path) -> None:
    qa(tmp_path / "main", 50, 50)
    report = json.loads((tmp_path / "main" / "report.json").read_text())
    records = tmp_path / "main" / "samples.jsonl"
    records.write_text(records.read_text().replace('"q7"', '"q7b"'))
    (tmp_path / "main" / "report.json").write_text(json.dumps(report))
    error = refused(tmp_path, InputError, QA, questions(50), answers(50, 50))
    assert error.code == "against.missing_ids"
    assert error.found == "1 samples are not in main/ (q7); 1 of main/ are not in this run (q7b)"
    records.write_text(records.read_text().replace('"q7b"', '"q7"') + '{"id":"q50","units":{}}\n')
    error = refused(tmp_path, InputError, QA, questions(50), answers(50, 50))
    assert error.found == "1 of main/ are not in this run (q50)"


def test_records_of_another_run_are_refused(tmp_path: Path) -> None:
    qa(tmp_path / "main", 50, 50)
    qa(tmp_path / "other", 50, 20)
    shutil.copy(tmp_path / "other" / "samples.jsonl", tmp_path / "main" / "samples.jsonl")
    error = refused(tmp_path, ConfigError, QA, questions(50), answers(50, 50))
    assert "do not give the numbers" in str(error)


@pytest.mark.parametrize("spoil", ["units.bin", "baseline.json", "digest"])
def test_a_baseline_that_was_changed_is_refused(tmp_path: Path, spoil: str) -> None:
    qa(tmp_path / "run", 50, 50)
    folder = make_baseline_folder(tmp_path / "main", tmp_path / "run")
    if spoil == "digest":
        record = json.loads((folder / "baseline.json").read_text())
        record["units"]["sha256"] = "0" * 64
        (folder / "baseline.json").write_text(json.dumps(record))
    else:
        (folder / spoil).write_bytes(b"{}")
    error = refused(tmp_path, GoldgateError, QA, questions(50), answers(50, 50))
    assert error.code in ("baseline.units_unreadable", "protocol.against_unreadable")


@pytest.mark.parametrize("missing", ["main", "main/report.json", "main/samples.jsonl"])
def test_what_is_not_there_is_the_protocols_error(tmp_path: Path, missing: str) -> None:
    qa(tmp_path / "main", 10, 10)
    path = tmp_path / missing
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    error = refused(tmp_path, ConfigError, QA, questions(10), answers(10, 10))
    assert (error.code, error.place.field) == ("protocol.against_unreadable", "gates.citation_f1.against")


@pytest.mark.parametrize(
    ("found", "written"),
    [
        ('"citations":[1,1,1]', '"citations":[1,1]'),
        ('"citations":[1,1,1]', '"citations":[1,1,"1"]'),
        ('"citations":[1,1,1]', '"citations":[1,1,-1]'),
        ('"citations":[1,1,1]', '"citations":7'),
        ('"units":', '"unit":'),
        ('"id":"q3"', '"id":"q4"'),
        ('{"id"', '["id"'),
    ],
)
def test_records_that_are_not_as_goldgate_wrote_them_are_refused(tmp_path: Path, found: str, written: str) -> None:
    qa(tmp_path / "main", 10, 10)
    records = tmp_path / "main" / "samples.jsonl"
    assert found in records.read_text()
    records.write_text(records.read_text().replace(found, written))
    error = refused(tmp_path, GoldgateError, QA, questions(10), answers(10, 10))
    assert error.code in ("protocol.against_unreadable", "records.duplicate_id")


def test_tables_of_other_measures_do_not_stop_a_gate(tmp_path: Path) -> None:
    qa(tmp_path / "main", 10, 10)
    records = tmp_path / "main" / "samples.jsonl"
    records.write_text(records.read_text().replace('"citations":[1,1,1]', '"citations":[1,1,1],"of_a_plugin":[1,2]'))
    assert "of_a_plugin" in records.read_text()
    assert (
        stored_run(tmp_path / "new", QA, questions(10), answers(10, 10), NOT_WORSE).report["gates"][0]["verdict"]
        == "PASS"
    )


def test_documents_of_one_group_are_one_unit_of_the_difference(tmp_path: Path) -> None:
    # Ten groups of ten documents; in five groups all ten are lost.
    gold = [{**record, "group": f"g{n // 10}"} for n, record in enumerate(documents(100, "Hire"))]
    extraction(tmp_path / "main", gold, gold)
    gates = "gates: {strict_recall: {max_drop: 0.1, against: main/, confidence: 0.95}}"
    found = extraction(tmp_path / "new", gold, gold[:50], gates)
    difference = found.report["gates"][0]["difference"]
    assert (difference["value"], difference["units"]) == (-0.5, 10)
    # Σ(10 d)² = 10 · (1/2)²; v = (2.5 + 2)/(11 · 12), t(0.95, 9) = 1.833: from -0.838 to -0.162
    assert difference["low"] == pytest.approx(-0.8385, abs=1e-3)
    assert difference["high"] == pytest.approx(-0.1615, abs=1e-3)
    make_baseline_folder(tmp_path / "base", tmp_path / "main")
    packed = extraction(tmp_path / "new", gold, gold[:50], gates.replace("main/", "base/"))
    assert packed.report["gates"][0]["difference"] == difference


def test_trials_that_are_missing_count_in_the_stored_run_too(tmp_path: Path) -> None:
    settings = "research: {trials: 3}\n"
    stored_research(tmp_path, settings)
    protocol = settings + "gates: {golden_recall: {min: 0.8, max_drop: 0, against: main/}}"
    # One query with one id and one of three trials: 1/3 in both, and no drop.
    recall = gate(judged(tmp_path, protocol).report, "golden_recall")
    assert (recall["measured"]["numerator"], recall["measured"]["denominator"]) == (1, 3)
    assert recall["difference"]["value"] == 0.0
    assert recall["reason"] == "1/3 is not ≥ 0.8"
