"""What is compiled is what runs, and it does what the sources do: `make test-compiled` runs this beside other tests."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import orjson
import pytest

from goldgate.cli.built import how_built
from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.event_schema import load_event_schema
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings
from hatch_build import COMPILED

ROOT = Path(__file__).parents[2]
PLAIN = {"PYTHONPATH": str(ROOT / "src")}
SAMPLES = 400
WRITTEN = ("report.json", "report.md", "report.html", "junit.xml", "samples.jsonl")


@pytest.mark.parametrize("file", COMPILED)
def test_every_module_of_the_list_is_compiled(file: str) -> None:
    module = import_module(file.removesuffix(".py").replace("/", "."))
    assert str(module.__file__).endswith(tuple(EXTENSION_SUFFIXES)), module.__file__


def test_the_command_says_that_it_is_compiled_and_the_sources_that_they_are_not() -> None:
    assert how_built() == "compiled"
    assert _run({}, "--version").stdout.endswith("(compiled)\n")
    assert _run(PLAIN, "--version").stdout.endswith("(plain Python)\n")


@pytest.mark.parametrize("mode", ["include_or_char_overlap", "span_iou"])
def test_reports_and_records_have_the_bytes_of_plain_python(data: Path, tmp_path: Path, mode: str) -> None:
    """Whoever carries out the work: one process or two workers, to which compiled objects travel and come back."""
    written = {}
    for name, environment, workers in (("plain", PLAIN, "1"), ("compiled", {}, "1"), ("workers", {}, "2")):
        out = tmp_path / name
        inputs = [f"--{kind}={data / kind}.jsonl" for kind in ("gold", "predictions")]
        settings = [f"--schema={data / 'schema.json'}", f"--protocol={data / mode}.yaml"]
        _run(environment, "extraction", *inputs, *settings, "--workers", workers, "--out", str(out))
        written[name] = {each: (out / each).read_bytes() for each in WRITTEN}
    assert written["compiled"] == written["plain"]
    assert written["workers"] == written["plain"]
    assert written["plain"]["samples.jsonl"].count(b"\n") == SAMPLES


def test_counts_and_scorers_travel_between_processes(data: Path) -> None:
    scorer = Scorer(ExtractionSettings(), load_event_schema(data / "schema.json"))
    arrived = pickle.loads(pickle.dumps(scorer))
    tally = Tally()
    for gold, prediction in zip(_records(data / "gold.jsonl"), _records(data / "predictions.jsonl"), strict=True):
        tally += arrived.score(prediction["response"], gold).tally
    assert tally.counts["total_samples"] == SAMPLES
    assert pickle.loads(pickle.dumps(tally)) == tally


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("erring")
    program = "import sys, pathlib, make_data; make_data.main(pathlib.Path(sys.argv[1]), int(sys.argv[2]), errs=True)"
    subprocess.run([sys.executable, "-c", program, str(folder), str(SAMPLES)], cwd=ROOT / "benchmarks", check=True)
    return folder


def _records(path: Path) -> list[dict[str, str]]:
    return [orjson.loads(line) for line in path.read_bytes().splitlines()]


def _run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as it is installed, or that of the sources; it may judge that a gate failed."""
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-P", "-m", "goldgate", *arguments],
        env={**inherited, **environment},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.returncode in (0, 1), done.stderr
    return done
