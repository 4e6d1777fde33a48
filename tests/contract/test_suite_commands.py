"""The command of every suite, as it is typed: the same options, files, statuses and words for all of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import chdir
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.main import goldgate
from goldgate.core.gate import MetricName
from goldgate.core.measure import RatioMeasure
from goldgate.core.suite import Suite
from goldgate.core.tally import Tally
from goldgate.engines import start_engine
from goldgate.suites import SUITES, load_suite
from goldgate.suites.plan import load_plan
from tests.unit.helpers import count_units

from .inputs import NAMES, ROOT, TOY, given, options, write_inputs

every_suite = pytest.mark.parametrize("name", NAMES)
JOINED = ("extraction", "qa")  # their inputs are files of records
OUT = {"report.html", "report.json", "report.md", "junit.xml", "run.json"}


def run(folder: Path, *arguments: object, typed: str = "") -> Result:
    """The goldgate command, with the toy suite in its list, in this process."""
    with chdir(folder), patch.dict(SUITES, TOY):
        return CliRunner().invoke(goldgate, [*map(str, arguments)], input=typed, env={"COLUMNS": "100"})


def run_process(folder: Path, *arguments: object, typed: str = "") -> subprocess.CompletedProcess[str]:
    """The same in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tests.toy", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "src")]), "COLUMNS": "100"},
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.fixture
def protocol(tmp_path: Path) -> Path:
    path = tmp_path / "lenient.yaml"
    path.write_text("protocol: {version: '1.0', name: lenient}\n", encoding="utf-8")
    return path


@every_suite
def test_out_report_and_format(name: str, tmp_path: Path, protocol: Path) -> None:
    """One run writes everything; what is printed is what is written."""
    inputs = options(write_inputs(name, tmp_path / "in"))
    out, report = tmp_path / "out", tmp_path / "other.json"
    asked = run(tmp_path, name, *inputs, "--protocol", protocol, "--out", out, "--report", report, "--format", "json")
    assert asked.exit_code in (0, 1)
    assert asked.stderr == ""
    assert json.loads(asked.stdout) == load(report) == load(out / "report.json")
    (records,) = {path.name for path in out.iterdir()} - OUT
    assert records in ("samples.jsonl", "runs.jsonl")
    assert len((out / records).read_bytes().splitlines()) > 5
    markdown = run(tmp_path, name, *inputs, "--protocol", protocol, "--report", report, "--format", "markdown")
    assert markdown.stdout == (out / "report.md").read_text(encoding="utf-8")
    page = run(tmp_path, name, *inputs, "--protocol", protocol, "--report", report, "--format", "html")
    assert page.stdout == (out / "report.html").read_text(encoding="utf-8")
    assert "a bug in goldgate" not in page.stdout


@every_suite
def test_text_begins_and_ends_with_the_verdict_and_says_where_the_files_are(name: str, tmp_path: Path) -> None:
    shown = run(tmp_path, name, *options(write_inputs(name, tmp_path / "in")), "--out", "out")
    status = load(tmp_path / "out" / "report.json")["status"]
    lines = shown.stdout.splitlines()
    assert lines[0].startswith(f"{status}  goldgate {name}")
    assert lines[-3].startswith(status)
    assert "report.json, report.md, junit.xml" in lines[-2]
    assert lines[-1].endswith("open: out/report.html")
    assert shown.exit_code == (1 if status == "FAIL" else 0)


@every_suite
def test_brief_is_a_part_of_the_text(name: str, tmp_path: Path, protocol: Path) -> None:
    words = (name, *options(write_inputs(name, tmp_path / "in")), "--protocol", protocol, "--out", "out")
    whole, brief = (run(tmp_path, *words, *more).stdout.split("\n\n") for more in ([], ["--brief"]))
    assert len(brief) < len(whole)
    assert {*brief} <= {*whole}


@every_suite
def test_quiet_says_only_which_gates_failed(name: str, tmp_path: Path) -> None:
    inputs = options(write_inputs(name, tmp_path / "in"))
    metric = {
        "extraction": "strict_f1",
        "research": "cited_golden_recall",
        "fields": "field_f1",
        "judged": "rate",
        "qa": "citation_f1",
    }[name]
    for bound, status, printed in (("min: 0", 0, False), ("max: 0", 1, True)):
        (tmp_path / "p.yaml").write_text(f"gates: {{{metric}: {{{bound}}}}}\n", encoding="utf-8")
        shown = run(tmp_path, name, *inputs, "--protocol", "p.yaml", "--report", "r.json", "--quiet")
        assert (shown.exit_code, metric in shown.stdout + shown.stderr) == (status, printed)


@every_suite
def test_help_has_every_option(name: str, tmp_path: Path) -> None:
    shown = run(tmp_path, name, "-h")
    assert shown.exit_code == 0
    for option in ("--protocol", "--out", "--report", "--format", "--quiet", "--workers", "--track", "-h, --help"):
        assert option in shown.stdout
    assert name in run(tmp_path, "-h").stdout


@pytest.mark.parametrize("name", JOINED)
def test_records_may_come_from_standard_input(name: str, tmp_path: Path) -> None:
    paths = write_inputs(name, tmp_path / "in")
    plain = run(tmp_path, name, *options(paths), "--format", "json")
    typed = paths["predictions"].read_text(encoding="utf-8")
    piped = run_process(tmp_path, name, *options({**paths, "predictions": Path("-")}), "--format", "json", typed=typed)
    assert piped.stdout == plain.stdout != ""


@every_suite
@pytest.mark.parametrize("format", ["text", "markdown", "json"])
def test_a_mistake_is_a_report_of_its_own(name: str, format: str, tmp_path: Path) -> None:
    paths = write_inputs(name, tmp_path / "in")
    first = next(iter(paths))
    paths[first].write_text('{"id": 1, "id": 2, "\u202e": ', encoding="utf-8")
    shown = run(tmp_path, name, *options(paths), "--out", "out", "--format", format)
    assert shown.exit_code == 2
    assert "Traceback" not in shown.stderr
    report = load(tmp_path / "out" / "report.json")
    assert (report["suite"], report["status"]) == (name, "SYSTEM_ERROR")
    assert report["error"]["file"].endswith(paths[first].name)
    assert "metrics" not in report
    assert report["error"]["code"] in shown.stderr
    if format == "json":
        assert json.loads(shown.stdout) == report


@every_suite
def test_a_gate_on_a_metric_of_another_suite(name: str, tmp_path: Path) -> None:
    metric, home = ("golden_recall", "research") if name != "research" else ("citation_f1", "qa")
    (tmp_path / "p.yaml").write_text(f"gates: {{{metric}: {{min: 0.5}}}}\n", encoding="utf-8")
    inputs = options(write_inputs(name, tmp_path / "in"))
    shown = run(tmp_path, name, *inputs, "--protocol", "p.yaml", "--report", "r.json")
    assert shown.exit_code == 2
    assert f"{metric} is a metric of the {home} suite" in shown.stderr


def test_schemas_of_all_suites_are_written(tmp_path: Path) -> None:
    assert run(tmp_path, "contracts", "--out", "schemas").exit_code == 0
    found = {path.name for path in (tmp_path / "schemas").iterdir()}
    assert {"qa_gold.schema.json", "qa_report.schema.json", "report.schema.json", "protocol.schema.json"} <= found


def part_gates(suite: Suite, paths: dict[str, Path]) -> tuple[list[str], list[str]]:
    """A gate on a part of each metric that is counted by part, at every level; the same on a part that is not there."""
    tally, gates, unknown = tally_of(suite, paths), [], []
    for measure in suite.measures(suite.settings()):
        if isinstance(measure, RatioMeasure):
            for level in range(1, len(measure.parts) + 1):
                part, *_ = [*measure.part_names(tally, level), ("no part",) * level]
                metrics = [*measure.ratios, *measure.estimates]
                gates += [str(MetricName(metric, part)) for metric in metrics if part != ("no part",) * level]
                unknown += [str(MetricName(metric, ("foo",) * level)) for metric in metrics]
    return gates, unknown


def tally_of(suite: Suite, paths: dict[str, Path]) -> Tally:
    with start_engine(1, suite.preload) as engine, suite.open(given(paths), load_plan(suite, None)) as source:
        work = source.work()
        facts = (facts for shard in source.shards() for facts in work.score(shard))
        return count_units(work.measures, [*source.finalize(facts, engine)])


@every_suite
def test_gates_on_parts_are_judged_with_a_folder_as_without(name: str, tmp_path: Path) -> None:
    with patch.dict(SUITES, TOY):
        suite = load_suite(name)
        paths = write_inputs(name, tmp_path / "in")
        gates, unknown = part_gates(suite, paths)
    protocol, out = tmp_path / "protocol.yaml", tmp_path / "out"
    command = (name, *options(paths), "--protocol", protocol)
    protocol.write_text(json.dumps({"gates": {gate: {"min": 0, "on_not_evaluable": "pass"} for gate in gates}}))
    for arguments in ((), ("--out", out)):
        shown = run(tmp_path, *command, *arguments)
        assert (shown.exit_code in (0, 1), shown.stderr) == (True, "")
    assert {*gates} <= {gate["metric"] for gate in load(out / "report.json")["gates"]}
    assert "a bug in goldgate" not in (out / "report.html").read_text(encoding="utf-8")
    if gates:
        protocol.write_text(json.dumps({"gates": {gates[0]: {"max_drop": 0.5, "against": str(out)}}}))
        shown = run(tmp_path, *command, "--out", tmp_path / "new")
        assert (shown.exit_code in (0, 1), shown.stderr) == (True, "")
    for gate in unknown:
        protocol.write_text(json.dumps({"gates": {gate: {"min": 0}}}))
        for arguments in ((), ("--out", tmp_path / "refused")):
            refused = run(tmp_path, *command, *arguments)
            assert (refused.exit_code, "protocol.unknown_part" in refused.stderr) == (2, True), (gate, refused.stderr)
