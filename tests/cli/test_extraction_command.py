"""`goldgate extraction` as a user meets it: files, formats, exit statuses, the same bytes every time."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from goldgate.cli.suite_command import suite_command
from tests.cases import cases

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "extraction"
GOLD, SCHEMA = EXAMPLES / "gold.jsonl", EXAMPLES / "schema.json"


def run(*options: str | Path, model: str = "a", protocol: str | None = "pass") -> Result:
    words = ["--gold", GOLD, "--predictions", EXAMPLES / f"model-{model}.jsonl", "--schema", SCHEMA]
    if protocol is not None:
        words += ["--protocol", EXAMPLES / f"protocol-{protocol}.yaml"]
    return CliRunner().invoke(suite_command("extraction"), [str(word) for word in (*words, *options)])


def report_in(folder: Path) -> dict[str, Any]:
    report: dict[str, Any] = json.loads((folder / "report.json").read_bytes())
    return report


@cases(("protocol", "status", "word"), [("pass", 0, "PASS"), ("fail", 1, "FAIL"), (None, 0, "NO_GATES")])
def test_exit_status_follows_the_gates(protocol: str | None, status: int, word: str) -> None:
    result = run(protocol=protocol)
    assert result.exit_code == status
    assert result.stdout.startswith(word)


def test_every_file_is_written_without_a_clock_a_host_or_a_path(tmp_path: Path) -> None:
    out = tmp_path / "deep" / "out"
    assert run("--out", out, model="b", protocol="fail").exit_code == 1
    files = {"report.html", "report.json", "report.md", "junit.xml", "samples.jsonl", "run.json"}
    assert {path.name for path in out.iterdir()} == files
    gold, records = ([json.loads(line)["id"] for line in path.read_bytes().splitlines()]
                     for path in (GOLD, out / "samples.jsonl"))  # fmt: skip
    assert records == gold  # in the order of the gold
    report, machine = (out / "report.json").read_text(), json.loads((out / "run.json").read_bytes())
    assert not [word for word in (str(tmp_path), str(ROOT), machine["started"][:10]) if word in report]
    assert machine["versions"]["python"]


def test_results_of_an_earlier_run_do_not_survive_an_error(tmp_path: Path) -> None:
    run("--out", tmp_path)
    assert run("--out", tmp_path, "--gold", tmp_path / "nothing.jsonl").exit_code == 2
    assert report_in(tmp_path)["status"] == "SYSTEM_ERROR"
    assert not (tmp_path / "samples.jsonl").exists()


def test_quiet_prints_failed_gates_and_nothing_else() -> None:
    result = run("--quiet", protocol="fail")
    assert (result.exit_code, result.stdout) == (1, "")
    f1, errors = result.stderr.splitlines()  # one line for each gate
    assert f1.startswith("FAIL  strict_f1: 740/835 is not ≥ 0.97; ")
    assert "model-a.jsonl:22 (zh-022): wrong_type 3, spurious 3, missing 3; " in f1
    assert re.search(r"; and \d+ more$", f1)
    assert errors.startswith("FAIL  parse_errors: 1 is not ≤ 0; ")
    assert errors.count("jsonl:") == 1
    passed = run("--quiet", protocol="pass")
    assert (passed.exit_code, passed.output) == (0, "")


@cases(
    ("model", "protocol", "shown", "kept"),
    [
        ("b", "fail", ["Gates", "What stands out", "Where gates failed"], 3),
        ("a", None, ["What stands out", "Scores"], 3),
    ],
)
def test_brief_prints_what_decides_and_where_the_rest_is(
    model: str, protocol: str | None, shown: list[str], kept: int, tmp_path: Path
) -> None:
    brief, whole = (run(*more, "--out", tmp_path, model=model, protocol=protocol) for more in (["--brief"], []))
    assert brief.exit_code == whole.exit_code == (protocol == "fail")
    parts = whole.stdout.split("\n\n")
    assert [part.splitlines()[0] for part in parts[1 : 1 + len(shown)]] == shown
    assert brief.stdout.split("\n\n") == [*parts[:kept], parts[-1]]


def test_brief_is_about_text_that_is_printed() -> None:
    for option in (["--quiet"], ["--format", "json"]):
        refused = run("--brief", *option)
        assert refused.exit_code == 2
        assert "--brief shortens the printed text" in refused.stderr
    assert "ERROR  " in run("--brief", "--gold", EXAMPLES / "none.jsonl").stderr


def test_files_may_be_given_after_one_option_or_with_several(tmp_path: Path) -> None:
    lines = GOLD.read_bytes().splitlines(keepends=True)
    for name, part in (("one", lines[:30]), ("two", lines[30:])):
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(part))
    predictions = ["--predictions", str(EXAMPLES / "model-a.jsonl"), "--schema", str(SCHEMA), "--format", "json"]
    one, two = str(tmp_path / "one.jsonl"), str(tmp_path / "two.jsonl")
    together = CliRunner().invoke(suite_command("extraction"), ["--gold", one, two, *predictions])
    apart = CliRunner().invoke(suite_command("extraction"), ["--gold", two, "--gold", one, *predictions])
    assert together.exit_code == 0
    assert together.stdout == apart.stdout


@cases("workers", ["0", "-1", "two"])
def test_senseless_number_of_workers_is_a_usage_error(workers: str) -> None:
    assert run("--workers", workers).exit_code == 2


def test_out_that_is_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    result = run("--out", tmp_path / "out")
    assert result.exit_code == 2
    assert "ERROR  " in result.stderr
    assert (tmp_path / "out").read_text() == "in the way"


def test_out_never_overwrites_an_input(tmp_path: Path) -> None:
    gold = tmp_path / "samples.jsonl"
    gold.write_bytes(GOLD.read_bytes())
    options = ["--gold", str(gold), "--predictions", str(EXAMPLES / "model-a.jsonl"), "--schema", str(SCHEMA)]
    assert CliRunner().invoke(suite_command("extraction"), [*options, "--out", str(tmp_path)]).exit_code == 2
    assert gold.read_bytes() == GOLD.read_bytes()


def hostile_inputs(folder: Path, gold: dict[str, Any], answer: str) -> list[str]:
    (folder / "gold.jsonl").write_text(json.dumps(gold))
    (folder / "predictions.jsonl").write_text(json.dumps({"id": gold["id"], "response": answer}))
    return ["--gold", str(folder / "gold.jsonl"), "--predictions", str(folder / "predictions.jsonl")]


def test_hostile_names_are_shown_harmless(tmp_path: Path) -> None:
    evil = "\x1b[31m<script>alert(1)</script>|x\u202e\n# Title"
    answer = json.dumps([{"event_type": evil, "arguments": [{"role": evil, "argument": evil}]}])
    options = hostile_inputs(tmp_path, {"id": "a", "text": "t", "events": []}, answer)
    options += ["--schema", str(SCHEMA), "--out", str(tmp_path / "out")]
    text = CliRunner().invoke(suite_command("extraction"), options).stdout
    markdown = (tmp_path / "out" / "report.md").read_text()
    for shown in (text, markdown):
        assert not {"\x1b", "\u202e"} & {*shown}
    assert "<script>" not in re.sub(r"`[^`\n]*`", "", markdown)  # in a code span it is text
    assert "\n# Title" not in markdown
    assert report_in(tmp_path / "out")["breakdown"]["event_types"][0]["event_type"] == evil.strip()


def command(*options: str | Path, seed: str = "0", script: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own."""
    words = [*(script or ["-m", "goldgate", "extraction"]), "--gold", GOLD, "--schema", SCHEMA]
    words += ["--predictions", EXAMPLES / "model-b.jsonl", "--protocol", EXAMPLES / "protocol-fail.yaml", *options]
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
    line = [sys.executable, *map(str, words)]
    return subprocess.run(line, capture_output=True, text=True, encoding="utf-8", env=environment, check=False)


def test_hash_seed_and_workers_change_no_byte(tmp_path: Path) -> None:
    for name, seed, workers in (("x", "1", 1), ("y", "2", 2)):
        done = command("--out", tmp_path / name, "--workers", str(workers), seed=seed)
        assert done.returncode == 1, done.stderr
    for file in ("report.html", "report.json", "report.md", "samples.jsonl"):
        assert len({(tmp_path / name / file).read_bytes() for name in "xy"}) == 1


def test_evaluate_script_does_the_same() -> None:
    script, here = command(script=[str(ROOT / "evaluate.py")]), run(model="b", protocol="fail")
    assert script.returncode == here.exit_code == 1
    assert script.stdout == here.stdout


def test_a_plain_run_imports_nothing_that_few_need(tmp_path: Path) -> None:
    few = "csv traceback subprocess tempfile asyncio socket fsspec ray pyarrow h11 aiohttp".split()
    ours = "comparison engines.processes files.connection files.remote generation.journal report.latex".split()
    ours += "runs.baseline runs.differences runs.paired_units verification viewer suites.research.run".split()
    few += [f"goldgate.{name}" for name in (*ours, "suites.fields.scorer")]
    assert [name for name in few if name.startswith("goldgate.") and find_spec(name) is None] == []
    options = ["extraction", "--gold", str(GOLD), "--schema", str(SCHEMA), "--out", str(tmp_path / "out")]
    options += ["--predictions", str(EXAMPLES / "model-b.jsonl"), "--protocol", str(EXAMPLES / "protocol-fail.yaml")]
    for words, heavy in ((options, few), (["--help"], ["orjson", "yaml", "goldgate.pipeline", "multiprocessing"])):
        code = "import sys; from goldgate.cli.main import main\ntry: main()\nexcept SystemExit: pass\n"
        code += f"print(sorted({{*{heavy}}} & set(sys.modules)), file=sys.stderr)"
        done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
        assert done.stderr.splitlines()[-1] == "[]"


@cases("format", ["text", "markdown", "json"])
def test_no_line_is_a_command_to_a_ci_runner(tmp_path: Path, format: str) -> None:
    types = ["::add-mask::x", "##[error]x", "##vso[task.setvariable]x", " ::error::x", "a" * 70 + "::error::x"]
    answer = json.dumps([{"event_type": name, "arguments": [{"role": name, "argument": "x"}]} for name in types])
    options = hostile_inputs(tmp_path, {"id": "::warning::x", "text": "t", "events": []}, answer)
    (tmp_path / "protocol.yaml").write_text("protocol: {name: '::notice::x'}\nmetrics: {schema: {mode: syntax_only}}")
    options += ["--protocol", str(tmp_path / "protocol.yaml"), "--format", format]
    shown = CliRunner().invoke(suite_command("extraction"), options).stdout
    assert not [line for line in shown.splitlines() if line.strip().startswith("::")]
    assert not re.search(r"##\w*\[", shown)
    if format == "json":
        listed = {entry["event_type"] for entry in json.loads(shown)["breakdown"]["event_types"]}
        assert listed == {name.strip() for name in types}


def test_error_about_hostile_names_is_no_command_either(tmp_path: Path) -> None:
    (tmp_path / "::error::gold.jsonl").write_text('{"id": "##[error]", "events": 1}')
    result = run("--gold", tmp_path / "::error::gold.jsonl")
    assert result.exit_code == 2
    assert "::" not in result.stderr
    assert "##" not in result.stderr


def test_report_that_nobody_can_get_is_an_error() -> None:
    closed = ["bash", "-c", 'exec "$@" >&-', "bash", sys.executable, "-m", "goldgate", "extraction"]
    closed += ["--gold", str(GOLD), "--schema", str(SCHEMA), "--predictions", str(EXAMPLES / "model-a.jsonl")]
    done = subprocess.run(closed, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "standard output is closed" in done.stderr
    assert subprocess.run([*closed, "--quiet"], capture_output=True, check=False).returncode == 0
