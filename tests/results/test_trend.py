"""`goldgate trend`: stored reports in the order given, changes worked out exactly, and only where they are fair."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.stored_results import plot_command, trend_command
from goldgate.cli.suite_command import suite_command

from .made import EXTRACTION, RESEARCH, ROOT


def trend(*given: object) -> Result:
    return CliRunner().invoke(trend_command, [str(each) for each in given])


def shown(*given: object) -> Any:
    result = trend(*given, "--format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def points(found: Any, metric: str = "strict_f1") -> list[Any]:
    return [report["metrics"][metric] for report in found["reports"]]


def judge(out: Path, model: str, protocol: str = "protocol-fail.yaml", gold: Path = EXTRACTION / "gold.jsonl") -> Path:
    inputs = [f"--gold={gold}", f"--predictions={EXTRACTION / model}", f"--schema={EXTRACTION / 'schema.json'}"]
    options = [*inputs, f"--protocol={EXTRACTION / protocol}", f"--out={out}", "--quiet"]
    CliRunner().invoke(suite_command("extraction"), options)
    return out


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("stored")
    return {
        "b": judge(folder / "b", "model-b.jsonl"),
        "a": judge(folder / "a", "model-a.jsonl"),
        "other gates": judge(folder / "gates", "model-a.jsonl", "protocol-pass.yaml"),
        "broken": judge(folder / "broken", "missing.jsonl"),
        "research": research(folder / "research"),
    }


def research(out: Path) -> Path:
    options = [f"--golden={ROOT / 'eval' / 'golden_queries.json'}", f"--outputs={RESEARCH / 'passing'}", f"--out={out}"]
    CliRunner().invoke(suite_command("research"), [*options, "--quiet"])
    return out


def test_changes_are_differences_of_counts(stored: dict[str, Path]) -> None:
    """strict_f1 is 430/752 and then 740/835: (740·752 - 430·835) / (752·835) = 197430/627920."""
    found = shown(f"main={stored['b']}", f"branch={stored['a']}")
    assert [report["name"] for report in found["reports"]] == ["main", "branch"]
    assert [report["status"] for report in found["reports"]] == ["FAIL", "FAIL"]
    first, second = points(found)
    assert (first["change"], second["change"]) == (None, 197430 / 627920)
    assert second["measured"]["numerator"] == 740
    assert second["verdict"] == "FAIL"
    assert points(found, "parse_errors")[1]["change"] == -5


def test_the_order_is_the_one_given(stored: dict[str, Path]) -> None:
    there, back = shown(stored["b"], stored["a"]), shown(stored["a"], stored["b"])
    assert points(there)[1]["change"] == -points(back)[1]["change"]


def test_other_gates_do_not_make_numbers_incomparable(stored: dict[str, Path]) -> None:
    found = shown(stored["a"], stored["other gates"])
    assert found["reports"][1]["differs_in"] == []
    assert points(found)[1]["change"] == 0
    assert [point["verdict"] for point in points(found)] == ["FAIL", "PASS"]


def test_other_gold_does(stored: dict[str, Path], tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    gold.write_bytes((EXTRACTION / "gold.jsonl").read_bytes() + b"\n")
    found = shown(stored["a"], judge(tmp_path / "out", "model-a.jsonl", gold=gold))
    assert found["reports"][1]["differs_in"] == ["gold"]
    assert points(found)[1]["change"] is None
    text = trend(stored["a"], tmp_path / "out").stdout.replace("\n      ", " ").replace("\n    ", " ")
    assert "they differ in gold" in text


def test_a_report_without_numbers_is_a_gap(stored: dict[str, Path]) -> None:
    found = shown(stored["b"], stored["broken"], stored["a"])
    assert found["reports"][1]["status"] == "SYSTEM_ERROR"
    assert points(found)[1]["measured"] is None
    assert points(found)[2]["change"] == 197430 / 627920


def test_any_suite_and_chosen_metrics(stored: dict[str, Path]) -> None:
    found = shown(stored["research"] / "report.json", "--metric", "golden_recall")
    assert (found["suite"], list(found["reports"][0]["metrics"])) == ("research", ["golden_recall"])


@pytest.mark.parametrize("format", ["text", "markdown"])
def test_formats(stored: dict[str, Path], format: str) -> None:
    result = trend(f"main={stored['b']}", f"::error::x={stored['a']}", "--format", format)
    assert result.exit_code == 0
    assert "strict" in result.stdout
    assert "::" not in result.stdout


def test_what_is_not_a_result_is_an_error(stored: dict[str, Path], tmp_path: Path) -> None:
    for name, content, code in (
        ("notes.txt", b"mine", "report.not_json"),
        ("other.json", b"{}", "report.not_a_report"),
        ("bytes.bin", b"\xff", "report.not_utf8"),
        ("torn.json", (stored["b"] / "report.json").read_bytes()[:-20], "report.not_json"),
    ):
        (tmp_path / name).write_bytes(content)
        result = trend(stored["a"], tmp_path / name)
        assert (result.exit_code, code in result.stderr) == (2, True), name
    (tmp_path / "empty").mkdir()
    assert "report.missing" in trend(stored["a"], tmp_path / "empty").stderr


def test_two_suites_are_named_with_the_command_for_one(stored: dict[str, Path]) -> None:
    said = " ".join(trend(stored["a"], stored["research"], stored["b"]).stderr.split())
    assert f"extraction: {stored['a']}, {stored['b']}; research: {stored['research']}" in said.replace("- ", "-")
    assert "run the command once per suite: goldgate trend" in said


def test_refusals(stored: dict[str, Path], tmp_path: Path) -> None:
    for given, code in (
        ((stored["a"], stored["research"]), "report.other_suite"),
        ((stored["broken"],), "report.system_error"),
        ((tmp_path / "missing",), "report.missing"),
        ((stored["a"], "--metric", "strict_f"), "option.wrong_value"),
    ):
        result = trend(*given)
        assert result.exit_code == 2
        assert code in result.stderr
    assert "strict_f1" in trend(stored["a"], "--metric", "strict_f").stderr


@pytest.mark.parametrize(
    ("path", "value"),
    [(("metrics", "main", "strict_f1", "interval"), {}), (("metrics", "main", "strict_f1", "value"), "x"),
     (("gates", 0, "measured"), [1]), (("gates", 0, "verdict"), None), (("status",), 7)],
)  # fmt: skip
def test_a_spoiled_report_is_no_traceback(stored: dict[str, Path], tmp_path: Path, path: Any, value: object) -> None:
    report = json.loads((stored["a"] / "report.json").read_bytes())
    inside = report
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    (tmp_path / "report.json").write_text(json.dumps(report))
    result = trend(stored["b"], tmp_path)
    assert result.exit_code in (0, 2)
    assert "internal" not in result.stderr


def test_a_report_that_contradicts_itself_is_refused_with_the_place(stored: dict[str, Path], tmp_path: Path) -> None:
    cases: tuple[tuple[str, str, Callable[[Any], object], str], ...] = (
        ("FAIL beside gates that passed", "other gates", lambda report: report.update(status="FAIL"), "/status"),
        ("PASS beside a gate that failed", "b", lambda report: report.update(status="PASS"), "/status"),
        ("PASS without gates", "b", lambda report: report.update(gates=[], status="PASS"), "/status"),
        ("PASS with warnings only", "b", lambda report: _forge(report, "severity", "warn"), "/status"),
        ("verdicts against the values", "b", lambda report: _forge(report, "verdict", "PASS"), "/verdict"),
        ("a value beside other counts", "b", lambda report: report["metrics"]["main"]["strict_f1"].update(value=0.99),
         "/metrics/main/strict_f1/value"),
        ("a gate with a value of its own", "b",
         lambda report: report["gates"][0]["measured"].update(value=1.0, numerator=752, denominator=752),
         "/gates/0/measured"),
    )  # fmt: skip
    for case, name, change, place in cases:
        report = json.loads((stored[name] / "report.json").read_text())
        change(report)
        (tmp_path / "report.json").write_text(json.dumps(report))
        error = json.loads(trend(stored["a"], tmp_path, "--format", "json").stdout)["error"]
        assert error["code"] == "report.contradicts_itself", case
        assert error["field"].endswith(place), case
        drawn = CliRunner().invoke(plot_command, [str(tmp_path), "--kind", "gates"])
        assert "report.contradicts_itself" in drawn.stderr, case


def _forge(report: Any, key: str, value: str) -> None:
    """Set a key of every gate, and the status to PASS."""
    for gate in report["gates"]:
        gate[key] = value
    report["status"] = "PASS"


def test_nothing_to_divide_by_is_no_change(stored: dict[str, Path], tmp_path: Path) -> None:
    report = json.loads((stored["a"] / "report.json").read_text())
    report["metrics"]["main"]["strict_f1"] |= {"value": None, "denominator": 0}
    report["gates"] = [gate for gate in report["gates"] if gate["metric"] != "strict_f1"]
    (tmp_path / "report.json").write_text(json.dumps(report))
    assert points(shown(stored["a"], tmp_path, "--metric", "strict_f1"))[1]["change"] is None
