"""`goldgate compare` as a user meets it: formats, files, exit statuses; and every suite can be compared."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from functools import cache, partial
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.compare import compare_command
from goldgate.comparison import Comparison
from goldgate.report import render_page
from goldgate.runs.comparison_page import describe_comparison
from tests.contract.test_suite_commands import run as run_suite

from .runs import GOLD, MODELS, ROOT, SCHEMA


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(compare_command, [str(word) for word in words])


@cache
def compared(stored: Path, format: str = "text") -> Result:
    """The two example models compared, once in each format."""
    return run(stored / "a", stored / "b", "--format", format)


def test_the_text_has_the_table_and_the_differences(stored: Path) -> None:
    result = compared(stored)
    assert result.exit_code == 0
    for words in ("Systems", "0.8862*", "b against a", "-0.3144", "[-0.392, -0.237]", "strict_f1 by part", "en-021"):
        assert words in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    left_out = "without the samples that have nothing to count of the metric in either system"
    assert left_out in " ".join(result.stdout.split())


def test_brief_is_the_systems_and_their_differences(stored: Path) -> None:
    whole, brief = compared(stored).stdout, run(stored / "a", stored / "b", "--brief").stdout
    parts = whole.split("\n\n")
    assert [part.splitlines()[0] for part in parts[1:4]] == ["Systems", "b against a", "Other F1 scores"]
    assert brief.split("\n\n") == [*parts[:2], parts[2] + "\n"]
    assert "--brief shortens" in run(stored / "a", stored / "b", "--brief", "--format", "latex").stderr


def test_json_has_what_scripts_need(stored: Path) -> None:
    found = json.loads(compared(stored, "json").stdout_bytes)
    for entry in found["comparisons"]:
        assert {"metric", "system", "against", "difference", "p", "p_adjusted"} <= entry.keys()
        if entry["difference"] is not None:
            assert {"value", "low", "high"} <= entry["difference"].keys()


def test_all_files_are_written(stored: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    result = run(stored / "a", stored / "b", "--out", out, "--format", "json")
    pages = {"comparison.json", "comparison.md", "comparison.html"}
    assert {path.name for path in out.iterdir()} == {*pages, "changed.jsonl", "run.json"}
    assert (out / "comparison.json").read_bytes() == result.stdout_bytes
    assert (out / "comparison.md").read_text() == compared(stored, "markdown").stdout
    assert (out / "comparison.html").read_text() == compared(stored, "html").stdout
    assert len((out / "changed.jsonl").read_bytes().splitlines()) == 67
    assert str(stored) not in (out / "comparison.json").read_text()


def test_the_text_says_where_the_files_are(stored: Path, tmp_path: Path) -> None:
    plain = compared(stored).stdout
    out = tmp_path / "out"
    written = run(stored / "a", stored / "b", "--out", out).stdout
    assert written.startswith(plain)
    end = written.removeprefix(plain).replace("\n", "").replace(" ", "")
    assert end.startswith(f"wrote{out}:comparison.json,comparison.md,changed.jsonl,run.json")
    assert written.replace("\n", "").replace(" ", "").endswith("comparison.html")  # a long path has several lines


def test_the_page_has_the_pictures_of_plot(stored: Path) -> None:
    page = compared(stored, "html").stdout
    assert [*re.findall('aria-label="Picture: ([^"]*)"', page)] == ["Differences from a", "Systems"]


def test_results_are_not_written_over(stored: Path) -> None:
    before = {path.name: path.read_bytes() for path in (stored / "a").iterdir()}
    result = run(f"one={stored}/a", stored / "b", "--out", stored / "a")
    assert result.exit_code == 2
    assert "choose another place for --out" in result.stderr
    assert {path.name: path.read_bytes() for path in (stored / "a").iterdir()} == before


def test_an_earlier_comparison_does_not_survive_an_error(stored: Path, tmp_path: Path) -> None:
    run(stored / "a", stored / "b", "--out", tmp_path)
    assert run(stored / "a", stored / "passing", "--out", tmp_path).exit_code == 2
    assert json.loads((tmp_path / "comparison.json").read_bytes())["status"] == "SYSTEM_ERROR"
    assert "SYSTEM_ERROR" in (tmp_path / "comparison.html").read_text()
    assert not (tmp_path / "changed.jsonl").exists()


@pytest.mark.slow  # test_laws.py::test_splits_and_workers_change_nothing_but_digests, and tests/cli for hash seeds
def test_hash_seeds_and_workers_change_no_byte(tmp_path: Path) -> None:
    words = [*map(str, MODELS.values()), "--gold", str(GOLD), "--schema", str(SCHEMA), "--format", "json", "--out"]
    here = run(*words, tmp_path / "here")
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT / "src")}
    line = [sys.executable, "-m", "goldgate", "compare", *words, str(tmp_path / "there"), "--workers", "2"]
    assert subprocess.run(line, env=environment, capture_output=True).stdout == here.stdout_bytes
    for name in ("changed.jsonl", "comparison.md"):
        assert (tmp_path / "here" / name).read_bytes() == (tmp_path / "there" / name).read_bytes()


def test_latex_can_be_pasted(a_and_b: Comparison) -> None:
    shown = render_page(describe_comparison(a_and_b.report), "latex")
    assert "% signature: goldgate:" in shown
    assert r"\textbf{0.8862}* [0.840, 0.921]" in shown
    assert r"strict\_f1 & b & $-$0.3144 [$-$0.392, $-$0.237]" in shown
    for begin, end in ((r"\toprule", r"\bottomrule"), (r"\begin{table}", r"\end{table}"), ("{", "}")):
        assert shown.count(begin) == shown.count(end)


@pytest.mark.parametrize("format", ["text", "json", "markdown", "latex"])
def test_what_cannot_be_compared_ends_with_2(stored: Path, format: str) -> None:
    result = run(stored / "a", stored / "nothing", "--format", format)
    assert result.exit_code == 2
    assert "compare.not_a_folder" in result.stderr
    assert format == "text" or "SYSTEM" in result.stdout


def test_predictions_are_scored_first() -> None:
    result = run(*MODELS.values(), "--gold", GOLD, "--schema", SCHEMA)
    assert result.exit_code == 0
    assert "model-b against model-a" in result.stdout
    assert run(*MODELS.values(), "--gold", GOLD, "--schema", GOLD).exit_code == 2


def test_research_runs_are_paired_by_query(stored: Path) -> None:
    found = json.loads(run(stored / "passing", stored / "failing", "--format", "json").stdout_bytes)
    assert (found["suite"], found["unit"], found["units"]) == ("research", "query", 12)
    assert found["headline"][0] == "evidence_coverage_rate"
    shown = run(stored / "passing", stored / "failing")
    assert shown.exit_code == 0
    assert "queries" in shown.stdout


def test_the_toy_suite_compares_too(tmp_path: Path) -> None:
    gold = [{"id": n, "question": "?", "answer": str(n) if n % 5 else None, "sources": ["s"]} for n in range(40)]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(record) + "\n" for record in gold))
    toy = partial(run_suite, tmp_path)
    for name, every in (("good", 10), ("bad", 3)):
        answers = [
            {"id": r["id"], "answer": "wrong" if n % every == 1 else r["answer"], "citations": ["s"]}
            for n, r in enumerate(gold)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in answers))
        toy("qa", "--gold", "gold.jsonl", "--predictions", f"{name}.jsonl", "--out", name)
    done = toy("compare", "good", "bad", "--format", "json")
    assert done.exit_code == 0, done.stderr
    scored = toy("compare", "good.jsonl", "bad.jsonl", "--gold", "gold.jsonl", "--suite", "qa", "--format", "json")
    assert json.loads(scored.stdout) == json.loads(done.stdout)
    unknown = toy("compare", "good.jsonl", "bad.jsonl", "--gold", "gold.jsonl", "--suite", "qaa")
    assert "did you mean qa?" in unknown.stderr
    misplaced = toy("compare", "good.jsonl", "bad.jsonl", "--gold", "gold.jsonl", "--suite", "qa", "--schema", "s.json")
    assert "the qa suite takes no schema" in misplaced.stderr
    entries = {entry["metric"]: entry for entry in json.loads(done.stdout)["comparisons"]}
    # 32 questions have an answer; good is wrong in 1, 11, 21, 31; bad in 1, 4, 7, … of these.
    wrong = [sum(n % 5 > 0 and n % every == 1 for n in range(40)) for every in (10, 3)]
    assert entries["exact_match"]["difference"]["value"] == pytest.approx((wrong[0] - wrong[1]) / 32)
    told = entries["citation_f1"]["difference"]
    assert (told["value"], told["exact"]) == (0.0, "0")
    assert -0.1 < told["low"] == -told["high"] < 0  # alike in 40 units, which leaves some room
