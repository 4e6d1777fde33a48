"""The commands as a user meets them: exit statuses, where the report goes, what is printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.main import goldgate
from goldgate.report import render
from goldgate.suites.research.suite import SUITE

from .judged import judged
from .trees import abstention, claim, evidence, output, query, write_golden, write_run

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = "\x1b[31mred\x1b[0m | `code` <b>bold</b> [x](http://evil.example) \u202eback\r\n# head"


def run(*arguments: object) -> Result:
    return CliRunner().invoke(goldgate, [str(argument) for argument in arguments])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_golden(tmp_path, query(), query("Who owned the ships?", (), False))
    write_run(tmp_path / "outputs")
    write_run(tmp_path / "outputs", "run_r2", abstention("r2"))
    return tmp_path


def research(folder: Path, *more: object) -> Result:
    return run("research", "--golden", folder / "golden.json", "--outputs", folder / "outputs", *more)


def test_a_pass_prints_the_gates_first_and_writes_the_report_beside_the_outputs(folder: Path) -> None:
    result = research(folder)
    assert result.exit_code == 0, result.output
    printed = result.output.splitlines()
    assert printed[0] == "PASS  goldgate research: 2 queries, 2 runs, protocol default 1.0"
    assert [line.split()[:2] for line in printed[4:8]] == [
        ["PASS", "evidence_coverage_rate"],
        ["PASS", "golden_recall"],
        ["PASS", "abstention_accuracy"],
        ["PASS", "manifest_integrity"],
    ]
    assert max(len(line) for line in printed if str(folder) not in line) <= 80
    report = json.loads((folder / "outputs.report.json").read_text())
    assert report["status"] == "PASS"
    assert sorted(path.name for path in folder.iterdir()) == ["golden.json", "outputs", "outputs.report.json"]


def test_a_failed_gate_is_exit_status_1_and_the_reason_is_printed(folder: Path) -> None:
    write_run(folder / "outputs", out=output(claims=[claim(ids=())]))
    result = research(folder)
    assert result.exit_code == 1
    assert "FAIL  evidence_coverage_rate" in result.output
    assert "claim_not_covered" in result.output


def test_a_malformed_golden_file_is_a_system_error_with_a_report(folder: Path) -> None:
    (folder / "golden.json").write_text('[{"objective": "", "evidence_sufficient": "true"}]')
    result = research(folder)
    assert result.exit_code == 2
    assert "ERROR  " in result.stderr
    for pointer in ("/0/objective", "/0/required_evidence_ids", "/0/evidence_sufficient"):
        assert pointer in result.stderr
    report = json.loads((folder / "outputs.report.json").read_text())
    assert report["status"] == "SYSTEM_ERROR"
    assert "metrics" not in report
    assert len(report["error"]["problems"]) == 3
    assert str(folder) not in json.dumps(report)


def test_a_report_in_the_outputs_folder_does_not_become_a_stray_of_the_next_run(folder: Path) -> None:
    path = folder / "outputs" / "report.json"
    research(folder, "--report", path)
    first = path.read_bytes()
    research(folder, "--report", path)
    assert path.read_bytes() == first


@pytest.mark.parametrize("place", ["outputs/run_r1/report.json", "outputs/run_r1/a/report.json", "golden.json"])
def test_a_report_is_never_written_into_a_run_or_over_an_input(folder: Path, place: str) -> None:
    before = sorted(folder.rglob("*"))
    result = research(folder, "--report", folder / place)
    assert result.exit_code == 2
    assert sorted(folder.rglob("*")) == before
    assert (folder / "golden.json").read_text().startswith("[")


def test_default_report_of_the_current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "outputs")
    assert SUITE.report_file({"outputs": ["."]}) == str(folder.resolve() / "outputs.report.json")


def test_scripts_eval_runs_from_a_checkout_that_is_not_installed(folder: Path) -> None:
    command = [sys.executable, "-S", str(ROOT / "scripts" / "eval.py")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if "site-packages" in path)}
    arguments = ["--golden", "golden.json", "--outputs", "./outputs"]
    done = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PASS  goldgate research")
    assert (folder / "outputs.report.json").exists()


def test_hostile_text_reaches_neither_terminal_nor_page(tmp_path: Path) -> None:
    write_golden(tmp_path, query(HOSTILE))
    record = evidence(HOSTILE, quote="not there " + HOSTILE)
    out = output(HOSTILE, objective="other " + HOSTILE, evidence=[record], claims=[claim(ids=(HOSTILE, "x" + HOSTILE))])
    write_run(tmp_path / "outputs", "run\n\x1b[2Jname", out)
    (tmp_path / "outputs" / "stray\u202e\x07").write_text("")
    (tmp_path / "outputs" / os.fsdecode(b"bytes\xff")).write_text("")
    report = json.loads(judged(tmp_path).to_json())
    text, page = render(report), render(report, "markdown")
    for rendered in (text, page):
        assert not set("\x1b\x07\r\u202e") & set(rendered)
    assert not [line for line in page.splitlines() if "<b>" in line and "`" not in line]  # markup only in code spans
    assert "\n# head" not in page
    assert max(map(len, text.splitlines())) <= 80


def test_validate_says_what_is_wrong_with_a_run(folder: Path) -> None:
    assert run("check", folder / "outputs" / "run_r1").exit_code == 0
    write_run(folder / "outputs", out=output(evidence=[evidence(span={"start": 0, "end": 13})]))
    result = run("check", folder / "outputs" / "run_r1")
    assert result.exit_code == 1
    assert "span_shifted" in result.output
    assert "the quote is at 23 of the chunk, not at 0" in result.output
    as_json = json.loads(run("check", folder / "outputs" / "run_r1", "--format", "json").stdout)
    assert as_json["status"] == "FAIL"
    assert run("check", folder / "nowhere").exit_code == 2
    result = run("check", folder / "outputs")
    assert result.exit_code == 2
    assert "not the folder that holds them all" in " ".join(result.stderr.split())


def test_baseline_command(folder: Path) -> None:
    research(folder)
    out = folder / "baseline.json"
    result = run("baseline", folder / "outputs.report.json", "--out", out, "--false-alarm-rate", "0.1")
    assert result.exit_code == 0
    assert "Beta(2, 1)" in result.output  # 1 of 1 covered
    assert json.loads(out.read_text())["false_alarm_rate"] == "0.1"
    assert run("baseline", folder / "golden.json", "--out", out).exit_code == 2
    before = (folder / "outputs.report.json").read_bytes()
    (folder / "link.json").symlink_to(folder / "outputs.report.json")
    for same in (folder / "outputs.report.json", folder / "link.json", folder / "outputs" / ".." / "link.json"):
        result = run("baseline", folder / "outputs.report.json", "--out", same)
        assert (result.exit_code, "out.is_an_input" in result.stderr) == (2, True)
    assert (folder / "outputs.report.json").read_bytes() == before
    assert run("baseline", folder / "outputs.report.json", "--out", out, "--false-alarm-rate", "2").exit_code == 2


@pytest.mark.parametrize(
    ("queries", "code", "severity"),
    [
        ([query(), query("when did the harbour freeze")], "near_duplicate", "warning"),
        (
            [query(), {**query("When did the harbour freeze"), "evidence_sufficient": False}],
            "contradictory_label",
            "error",
        ),
        ([query(), query(sufficient=False)], "contradictory_label", "error"),
        ([query(), query()], "repeated_objective", "warning"),
        ([query(ids=())], "sufficient_without_ids", "error"),
        ([query(sufficient=False)], "insufficient_with_ids", "error"),
        ([query(ids=("e1", "e1"))], "repeated_id", "warning"),
        ([query(ids=("e1", "c1", "zz"))], "unstored_id", "error"),
        ([{"objective": ""}], "malformed", "error"),
    ],
)
def test_lint_golden(tmp_path: Path, queries: list[dict[str, object]], code: str, severity: str) -> None:
    write_golden(tmp_path, *queries)
    write_run(tmp_path / "outputs")
    lint = ["check", tmp_path / "golden.json", "--as", "golden", "--outputs", tmp_path / "outputs", "--format", "json"]
    result = run(*lint)
    found = [finding for finding in json.loads(result.stdout)["findings"] if finding["code"] == code]
    assert found
    assert {finding["severity"] for finding in found} == {severity}
    if severity == "error":
        assert result.exit_code == 1
    if code == "unstored_id":
        assert [finding["pointer"] for finding in found] == ["/0/required_evidence_ids/2"]


def test_lint_of_the_projects_own_golden_set() -> None:
    golden, outputs = ROOT / "eval" / "golden_queries.json", ROOT / "examples" / "research" / "passing"
    result = run("check", golden, "--outputs", outputs)
    assert result.exit_code == 0, result.output
    assert result.output == "PASS  goldgate check: 12 golden queries\n"


@pytest.mark.parametrize("place", ["outputs", "outputs/.", "outputs/run_r1", "outputs/new", "link"])
def test_results_never_lie_among_the_runs(folder: Path, place: str) -> None:
    (folder / "link").symlink_to(folder / "outputs")
    before = sorted(path for path in (folder / "outputs").rglob("*"))
    result = research(folder, "--out", folder / place)
    assert result.exit_code == 2
    assert "report.inside_a_run" in result.stderr
    assert sorted(path for path in (folder / "outputs").rglob("*")) == before


def test_an_earlier_pass_does_not_stay_where_the_report_goes(folder: Path) -> None:
    report = folder / "report.json"
    assert research(folder, "--report", report).exit_code == 0
    (folder / "a-file").write_text("")
    assert research(folder, "--report", report, "--out", folder / "a-file").exit_code == 2
    assert json.loads(report.read_text())["status"] == "SYSTEM_ERROR"


def test_a_folder_holds_the_results_of_one_suite(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "report.json").write_text('{\n  "format_version": 1,\n  "suite": "extraction"}')
    result = research(folder, "--out", folder / "out")
    assert (result.exit_code, "out.of_another_suite" in result.stderr) == (2, True)


@pytest.mark.parametrize("name", ["runs.jsonl", "run.json", "report.html", "report.md", ".goldgate.lock"])
def test_the_report_is_no_other_result(folder: Path, name: str) -> None:
    result = research(folder, "--out", folder / "out", "--report", folder / "out" / name)
    assert (result.exit_code, "report.is_a_result" in result.stderr) == (2, True)


def test_the_verdict_in_a_folder_of_results_is_not_replaced_alone(folder: Path) -> None:
    result = research(folder, "--out", folder / "out", "--report", folder / "out" / "report.json")
    assert "report.is_a_result" not in result.stderr
    whole = (folder / "out" / "report.json").read_bytes()
    for more in ((), ("--out", folder / "new")):
        result = research(folder, "--report", folder / "out" / "report.json", *more)
        assert (result.exit_code, "report.is_a_result" in result.stderr) == (2, True)
    assert (folder / "out" / "report.json").read_bytes() == whole


def test_mistyped_outputs_leave_no_report_behind(tmp_path: Path) -> None:
    (tmp_path / "golden.json").write_text("[]")
    result = CliRunner().invoke(
        goldgate, ["research", "--golden", str(tmp_path / "golden.json"), "--outputs", str(tmp_path / "nope")]
    )
    assert (result.exit_code, sorted(path.name for path in tmp_path.iterdir())) == (2, ["golden.json"])
