"""What other distributions add: a suite installed into an empty environment has every command; mistakes name it."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

from goldgate.core import plugins
from goldgate.core.plugins import Plugin
from goldgate.errors import ConfigError
from goldgate.readers import layouts
from goldgate.readers.layouts import chat
from goldgate.suites import SUITES, all_suites, load_suite, suite_names

from .inputs import ROOT, options, write_inputs

DIALECT = """
from goldgate.readers.dialects.dialect import Dialect

DIALECT = Dialect(
    "tagged", "records with tags", lambda record: "tagged" in record, lambda record: {"text": "", "events": []}
)
"""
ENTRY_POINTS = """[goldgate.suites]
qa = toyqa:SUITE
extraction = toyqa:SUITE
torn = toyqa:NOTHING

[goldgate.dialects]
tagged = toyqa:DIALECT
"""


def write_wheel(folder: Path) -> Path:
    """The toy suite and a dialect as a distribution of their own."""
    about = {
        "toyqa.py": (ROOT / "tests" / "toy" / "suite.py").read_text(encoding="utf-8") + DIALECT,
        "toyqa-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toyqa\nVersion: 1.0\n",
        "toyqa-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "toyqa-1.0.dist-info/entry_points.txt": ENTRY_POINTS,
    }
    record = "".join(f"{name},,\n" for name in (*about, "toyqa-1.0.dist-info/RECORD"))
    wheel = folder / "toyqa-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {**about, "toyqa-1.0.dist-info/RECORD": record}.items():
            archive.writestr(name, text)
    return wheel


slow = pytest.mark.slow  # pip takes some seconds; test_entry_points_on_the_path_are_found only unpacks the wheel


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with goldgate, what it needs, and the distribution, which pip installed."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder / "env", with_pip=False, symlinks=True)
    python = folder / "env" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*pip, str(write_wheel(folder))], check=True, timeout=120)
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    (site / "goldgate.pth").write_text(f"{ROOT / 'src'}\n{sysconfig.get_path('purelib')}\n", encoding="utf-8")
    return python


def run(python: Path, folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "goldgate", *map(str, words)]
    return subprocess.run(command, cwd=folder, env={}, capture_output=True, text=True, encoding="utf-8", timeout=120)


@slow
def test_a_suite_of_another_distribution_has_every_command(python: Path, tmp_path: Path) -> None:
    paths = write_inputs("qa", tmp_path / "in")
    judged = run(python, tmp_path, "qa", *options(paths), "--out", "a", "--workers", "2")
    assert judged.stdout.startswith("PASS  goldgate qa"), judged.stderr
    lines = paths["predictions"].read_text(encoding="utf-8").splitlines(keepends=True)
    (tmp_path / "fewer.jsonl").write_text("".join(lines[:700]), encoding="utf-8")
    run(python, tmp_path, "qa", *options({**paths, "predictions": Path("fewer.jsonl")}), "--out", "b")
    for words, output in (
        (("compare", "a", "b", "--format", "json"), '"suite": "qa"'),
        (("compare", paths["predictions"], "fewer.jsonl", "--gold", paths["gold"], "--suite", "qa"), "exact_match"),
        (("verify", "a"), "verified"),
        (("contracts",), "qa_gold.schema.json"),
        (("--help",), "Score stored answers with citations."),
    ):
        result = run(python, tmp_path, *words)
        assert (result.returncode, output in result.stdout) == (0, True), (words, result.stdout, result.stderr)
        assert "extraction of the distribution toyqa is left out" in result.stderr


@slow
def test_a_dialect_of_another_distribution_is_recognized(python: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text(json.dumps({"tagged": 1}), encoding="utf-8")
    result = run(python, tmp_path, "convert", "gold.jsonl", "--out", "ours.jsonl")
    assert result.stdout.startswith("tagged: 1 record"), result.stderr


@slow
def test_a_suite_that_cannot_be_loaded_is_an_error_only_where_it_is_asked_for(python: Path, tmp_path: Path) -> None:
    result = run(python, tmp_path, "torn", "--gold", "x")
    assert result.returncode == 2
    assert "the distribution toyqa adds torn to goldgate.suites" in " ".join(result.stderr.split())
    assert run(python, tmp_path, "extraction", "--help").returncode == 0


@pytest.fixture
def declared(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Plugin]]:
    found: dict[str, list[Plugin]] = {}
    monkeypatch.setattr(plugins, "_declared", lambda: found)
    plugins.warn.cache_clear()
    return found


def test_a_name_or_a_section_that_is_taken_is_left_out(
    declared: dict[str, list[Plugin]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING", logger="goldgate")  # a command with --quiet in this process may have raised it
    ours = load_suite("research")
    declared["goldgate.suites"] = [
        Plugin("extraction", "tests.toy.suite:SUITE", "first"),
        Plugin("again", "goldgate.suites.research.suite:SUITE", "second"),
        Plugin("lost", "nowhere:SUITE", "third"),
        Plugin("text", "os:sep", "fourth"),
    ]
    assert [suite for suite in all_suites() if suite.name == "research"] == [ours]
    assert suite_names() == ["extraction", "research", "fields", "judged", "again", "lost", "text"]
    for word in ("first", "section research", "third", "fourth", "No module named 'nowhere'"):
        assert word in caplog.text
    with pytest.raises(ConfigError, match="third"):
        load_suite("lost")


def test_entry_points_on_the_path_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(write_wheel(tmp_path)) as wheel:
        wheel.extractall(tmp_path / "site")
    for _ in range(2):  # a folder may be on the path twice
        monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(plugins, "_declared", plugins._declared.__wrapped__)
    assert suite_names() == [*SUITES, "qa", "torn"]
    assert plugins._declared()["goldgate.dialects"] == [Plugin("tagged", "toyqa:DIALECT", "toyqa")]


def test_layouts_are_added_behind_ours(declared: dict[str, list[Plugin]], monkeypatch: pytest.MonkeyPatch) -> None:
    declared["goldgate.layouts"] = [Plugin("mine", "goldgate.readers.layouts.chat:CHAT", "other")]
    monkeypatch.setattr(layouts, "_added_layouts", layouts._added_layouts.__wrapped__)
    monkeypatch.setattr(layouts, "RECORD_LAYOUTS", ())
    assert layouts.recognize_record_layout({"messages": [{"role": "assistant", "content": "[]"}]}) is chat.CHAT
