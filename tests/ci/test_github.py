"""Annotations and step summaries: what the runner is told, and that no name in the data can tell it anything."""

from __future__ import annotations

import re
from contextlib import chdir
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from goldgate.cli.main import goldgate
from goldgate.core.evaluation import error_report
from goldgate.errors import InputError, Place
from goldgate.report import describe_report, render_page
from goldgate.report.verdicts import MAX_ANNOTATIONS, MAX_SUMMARY_BYTES, step_summary
from tests.unit.report.pages import page as full_page

from .runner import obeyed
from .test_junit import judged, line

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "extraction"
HOSTILE = st.one_of(
    st.text(st.characters()),
    st.lists(st.sampled_from(["::", "error", "##[", "]", "%0A", "%", "\r", "\n", "\u2028", ",", " ", "add-mask"])).map(
        "".join
    ),
)


def levels(text: str) -> list[str]:
    return [command.name for command in obeyed(text)]


def test_a_gate_is_an_error_a_warning_or_part_of_the_verdict() -> None:
    lines = (line("FAIL", "a"), line("FAIL", "b", severity="warn"), line("INCONCLUSIVE", "c"), line("PASS", "d"))
    commands = obeyed(render_page(judged(*lines), "github"))
    assert [command.name for command in commands] == ["error", "error", "warning"]
    assert commands[0].properties == {"title": "goldgate extraction: FAIL"}
    assert commands[0].data == "a: because FAIL"
    assert commands[1].data == "c: because INCONCLUSIVE"
    assert levels(render_page(judged(line("PASS"), verdict="PASS"), "github")) == ["notice"]
    assert levels(render_page(judged(verdict="NO_GATES"), "github")) == ["warning"]


def test_an_error_says_where_and_what_to_do() -> None:
    error = InputError("gold.bad_id", "no id", place=Place("gold.jsonl", 3), expected="100 %", advice="give it one")
    (command,) = obeyed(render_page(describe_report(error_report("extraction", error)), "github"))
    assert command.name == "error"
    assert command.properties["title"] == "goldgate extraction: SYSTEM_ERROR gold.bad_id"
    assert command.data == "no id; where: gold.jsonl:3; expected: 100 %; do: give it one"


def test_of_more_than_are_shown_the_last_says_how_many() -> None:
    commands = obeyed(render_page(judged(*(line("FAIL", f"m{n}") for n in range(14))), "github"))
    assert len(commands) == MAX_ANNOTATIONS
    assert "5 more" in commands[-1].data


@given(HOSTILE)
def test_no_name_gives_the_runner_a_command(name: str) -> None:
    page = full_page(name)._replace(gates=(line("FAIL", name), line("FAIL", f"x{name}", severity="warn")))
    text = render_page(page, "github")
    assert levels(text) == ["error", "warning", "notice", "notice"]
    assert len(text.splitlines()) == 4
    for command in obeyed(text):
        assert list(command.properties) == ["title"]


def test_a_summary_keeps_below_what_github_takes() -> None:
    row = "| `名` | 0.5 |\n"
    long = "# FAIL\n\n" + row * 200_000
    shown = step_summary(long, used=1000)
    assert len(shown.encode()) <= MAX_SUMMARY_BYTES - 1000
    assert "cut here" in shown
    assert row + "\n\n… cut" in shown
    assert step_summary(long, used=MAX_SUMMARY_BYTES) == ""
    assert step_summary("# PASS\n", used=0) == "# PASS\n"


def judge(folder: Path, *options: str, summary: Path | None = None, in_actions: bool = True) -> Result:
    env = {"GITHUB_ACTIONS": "true"} if in_actions else {}
    env |= {} if summary is None else {"GITHUB_STEP_SUMMARY": str(summary)}
    inputs = [f"--{kind}={EXAMPLES / name}" for kind, name in (("gold", "gold.jsonl"), ("schema", "schema.json"))]
    with chdir(folder):
        return CliRunner().invoke(goldgate, ["extraction", *inputs, *options], env=env)


FAILING = (f"--predictions={EXAMPLES / 'model-b.jsonl'}", f"--protocol={EXAMPLES / 'protocol-fail.yaml'}")


def test_in_a_step_annotations_go_to_the_log_and_the_report_to_the_summary(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    shown = judge(tmp_path, *FAILING, "--format", "json", "--out", "out", summary=summary)
    assert shown.exit_code == 1
    assert shown.stdout.startswith("{")
    assert levels(shown.stderr)[:3] == ["error"] * 3
    assert levels(shown.stdout) == []
    shown_summary = re.sub(r"`[^`]*\.jsonl:[0-9]+ \(", "`(", summary.read_text())  # a stored report names no files
    assert shown_summary == "before\n" + (tmp_path / "out" / "report.md").read_text()


def test_a_quiet_command_says_failed_gates_once(tmp_path: Path) -> None:
    shown = judge(tmp_path, *FAILING, "--quiet")
    assert shown.stderr.count("strict_f1") == 1
    assert shown.stdout == ""


def test_format_github_prints_them_anywhere(tmp_path: Path) -> None:
    inside, outside = (judge(tmp_path, *FAILING, "--format", "github", in_actions=each) for each in (True, False))
    assert inside.stdout == outside.stdout
    assert levels(inside.stdout)[:3] == ["error"] * 3
    assert inside.stderr == outside.stderr == ""


def test_an_error_is_annotated_and_on_the_summary(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    shown = judge(tmp_path, "--predictions", "::add-mask::x", summary=summary)
    assert shown.exit_code == 2
    assert levels(shown.stderr) == ["error"]
    assert summary.read_text().startswith("# SYSTEM_ERROR")


@pytest.mark.parametrize("name", [".", "missing/summary.md", "\x01" * 300])
def test_a_summary_that_cannot_be_written_changes_no_verdict(name: str, tmp_path: Path) -> None:
    shown = judge(tmp_path, *FAILING, "--quiet", summary=tmp_path / name)
    assert shown.exit_code == 1
    assert "the summary of this step was not written" in shown.stderr
    assert "Traceback" not in shown.stderr
