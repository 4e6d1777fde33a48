"""`goldgate plot` as a user meets it: kinds, files, what cannot be drawn; every suite can be drawn."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.compare import compare_command
from goldgate.cli.stored_results import plot_command
from tests.comparison.runs import MODELS, ROOT, store_extraction
from tests.contract.inputs import HOSTILE, NAMES, options, write_inputs
from tests.contract.test_suite_commands import run as toy

from .examples import parsed, texts


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(plot_command, [str(word) for word in words])


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs `m-1`, `m-2`, `m-3`: the answers of model a, some of them exchanged for those of b."""
    root = tmp_path_factory.mktemp("seeds")
    answers = (file.read_text(encoding="utf-8").splitlines(keepends=True) for file in MODELS.values())
    first, second = ({json.loads(line)["id"]: line for line in lines} for lines in answers)
    for seed in (1, 2, 3):
        lines = [second.get(id, line) if n % 5 == seed else line for n, (id, line) in enumerate(first.items())]
        (root / f"{seed}.jsonl").write_text("".join(lines), encoding="utf-8")
        store_extraction(root / f"m-{seed}", root / f"{seed}.jsonl")
    return root


def test_a_result_has_its_pictures(stored: Path, tmp_path: Path) -> None:
    result = run(stored / "b", "--out", tmp_path / "deep" / "pictures")
    assert result.exit_code == 0, result.stderr
    names = ["scores", "errors", "types", "confused-event-types", "confused-roles"]  # no gates were judged
    assert result.stdout.split() == [str(tmp_path / "deep" / "pictures" / f"{name}.svg") for name in names]
    for name in names:
        assert "b: 80 samples" in texts((tmp_path / "deep" / "pictures" / f"{name}.svg").read_text())


def test_a_report_alone_can_be_drawn(stored: Path) -> None:
    printed = run(f"a={stored / 'a' / 'report.json'}", "--kind", "scores")
    assert printed.exit_code == 0
    assert printed.stdout == run(stored / "a", "--kind", "scores").stdout


def test_one_picture_is_printed_or_written(stored: Path, tmp_path: Path) -> None:
    printed = run(stored / "a", "--kind", "errors")
    assert printed.exit_code == 0
    assert {"boundary", "20", "missing", "27"} <= {*texts(printed.stdout)}
    file = tmp_path / "errors of a.svg"
    assert run(stored / "a", "--kind", "errors", "--out", file).stdout == f"{file}\n"
    assert file.read_text() == printed.stdout


def test_an_agent_has_gates_on_scales(stored: Path) -> None:
    shown = texts(run(stored / "failing", "--kind", "gates").stdout)
    for words in ("FAIL", "evidence_coverage_rate", "0.6667", "[0.314, 0.897]", "≥ 0.95", "= 1.00"):
        assert words in shown
    assert "golden_recall" in texts(run(stored / "failing", "--kind", "scores").stdout)


def test_systems_have_the_numbers_of_their_comparison(stored: Path, tmp_path: Path) -> None:
    result = run(stored / "a", f"second={stored / 'b'}", "--out", tmp_path)
    assert [Path(line).name for line in result.stdout.split()] == ["systems.svg", "differences.svg"]
    shown = texts((tmp_path / "systems.svg").read_text())
    for words in ("strict_f1", "type_f1", "a", "second", "0.8862", "*", "[0.840, 0.921]", "0.5718", "430/752"):
        assert words in shown
    differences = texts((tmp_path / "differences.svg").read_text())
    for words in ("Differences from a", "second", "-0.3144", "[-0.392, -0.237]", "p (Holm)"):
        assert words in differences
    swapped = texts(run(stored / "a", stored / "b", "--kind", "differences", "--against", "b").stdout)
    assert "Differences from b" in swapped
    assert "0.3144" in swapped


def test_a_stored_comparison_is_drawn_as_its_systems_are(stored: Path, seeds: Path, tmp_path: Path) -> None:
    systems = [str(stored / "a"), str(stored / "b"), f"m={seeds}/m-*"]
    compared = CliRunner().invoke(compare_command, [*systems, "--out", str(tmp_path / "c")])
    assert compared.exit_code == 0
    run(*systems, "--out", tmp_path / "one")
    for number, given in enumerate((tmp_path / "c", tmp_path / "c" / "comparison.json")):
        run(given, "--out", tmp_path / str(number))
        for name in ("systems.svg", "differences.svg", "runs.svg"):
            assert (tmp_path / str(number) / name).read_bytes() == (tmp_path / "one" / name).read_bytes()
    for text, code in (
        ('{"status": "SYSTEM_ERROR"}', "report.system_error"),
        ("{}", "comparison.malformed"),
        ("[]", "comparison.malformed"),
    ):
        (tmp_path / "c" / "comparison.json").write_text(text)
        result = run(tmp_path / "c", "--kind", "systems")
        assert result.exit_code == 2
        assert code in result.stderr


def test_runs_of_one_system_are_dots(seeds: Path) -> None:
    result = run(f"m={seeds}/m-*")
    assert result.exit_code == 0, result.stderr
    circles = [e for e in parsed(result.stdout).iter() if e.get("class") == "run"]
    assert len(circles) == 3 * 3  # runs of three main metrics
    assert "m on 80 samples" in texts(result.stdout)


def test_the_order_of_runs_changes_no_byte(seeds: Path) -> None:
    orders = [(1, 2, 3), (3, 1, 2), (2, 3, 1)]
    assert len({run("m=" + ",".join(str(seeds / f"m-{n}") for n in order)).stdout for order in orders}) == 1


def test_runs_beside_another_system(seeds: Path, stored: Path, tmp_path: Path) -> None:
    result = run(stored / "a", f"m={seeds}/m-*", "--out", tmp_path)
    assert [Path(line).name for line in result.stdout.split()] == ["systems.svg", "differences.svg", "runs.svg"]
    assert "3 runs" in texts((tmp_path / "systems.svg").read_text())
    assert "a" not in texts((tmp_path / "runs.svg").read_text())  # it has one run


def test_hash_seeds_change_no_byte(stored: Path) -> None:
    words = [str(stored / "b"), "--kind", "confused-roles"]
    environment = {**os.environ, "PYTHONHASHSEED": "77", "PYTHONPATH": str(ROOT / "src")}
    line = [sys.executable, "-m", "goldgate", "plot", *words]
    assert subprocess.run(line, env=environment, capture_output=True, check=True).stdout == run(*words).stdout_bytes


@pytest.mark.parametrize("suite", NAMES)
def test_every_suite_can_be_drawn_whatever_its_names_say(suite: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        inputs = options(write_inputs(suite, tmp_path / "in" / name, HOSTILE))
        toy(tmp_path, suite, *inputs, "--out", name)
    for folders, kind in ((["one"], "scores"), (["one", "\u202e</text>=two"], "systems")):
        done = toy(tmp_path, "plot", *folders, "--out", "pictures")
        assert done.exit_code == 0, done.stderr
        assert (tmp_path / "pictures" / f"{kind}.svg").exists()
    for file in (tmp_path / "pictures").iterdir():
        assert "\u202e" not in file.read_text()
        assert len(texts(file.read_text())) > 3


# --- what cannot be drawn


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("{a}",), "plot.several", "--kind scores"),
        (("{a}", "--kind", "score"), "plot.no_such_kind", "did you mean scores?"),
        (("{a}", "--kind", "gates"), "plot.no_such_kind", "where a protocol sets them"),
        (("{a}", "--kind", "systems"), "plot.no_such_kind", "two systems"),
        (("{a}", "--kind", "runs"), "plot.no_such_kind", "several runs"),
        (("{a}", "{b}", "--kind", "scores"), "plot.no_such_kind", "one result"),
        (("{a}", "{b}", "--kind", "errors"), "plot.no_such_kind", "systems, differences"),
        (("{a}", "--out", "x.svg"), "plot.several", "name a folder"),
        (("{a}", "--kind", "errors", "--out", "x.png"), "plot.other_format", "SVG only"),
        (("{a}", "--kind", "errors", "--out", "x.PDF"), "plot.other_format", ".pdf"),
        (("{a}", "--out", ""), "out.unwritable", "empty name"),
        (("{a}", "--out", "{a}/report.json"), "out.is_a_file", "not a picture"),
        (("{a}", "--out", "{a}/report.json/deep"), "out.unwritable", "--out"),
        (("{a}", "{passing}"), "compare.other_suite", "suite"),
        (("{a}", "{b}", "--against", "c"), "compare.unknown_system", "a, b"),
        (("nothing",), "report.missing", "check the path"),
        (("{a}", "nothing"), "compare.not_a_folder", "nothing"),
        (("none-*",), "compare.no_match", "none-*"),
        (("{a}/samples.jsonl",), "report.", "samples.jsonl"),
    ],
)
def test_what_cannot_be_drawn_is_an_error_with_a_way_out(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], code: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = (stored / "a" / "report.json").read_bytes()
    places = {name: str(stored / name) for name in ("a", "b", "passing")}
    result = run(*(word.format(**places) for word in words))
    assert result.exit_code == 2
    assert result.stdout == ""
    assert re.search(rf"^  code +{re.escape(code)}", result.stderr, re.MULTILINE), result.stderr
    assert said in " ".join(result.stderr.split())
    assert [*tmp_path.iterdir()] == []
    assert (stored / "a" / "report.json").read_bytes() == before


ODD: tuple[Any, ...] = (None, [], {}, "x", -1, 1e308, 10**30, [1], {"x": 1}, {"main": {"x": 1}}, "\u202e", True)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a value, the first of a list for all of them."""
    parts = value.items() if isinstance(value, dict) else [*enumerate(value)][:1] if isinstance(value, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


def spoil(value: Any, path: tuple[Any, ...], odd: Any) -> Any:
    """The value with something else in one place."""
    copied = dict(value) if isinstance(value, dict) else [*value]
    copied[path[0]] = odd if len(path) == 1 else spoil(value[path[0]], path[1:], odd)
    return copied


@pytest.mark.parametrize("name", ["a", "failing"])
def test_a_report_that_is_spoiled_is_drawn_or_an_error_with_its_place(stored: Path, tmp_path: Path, name: str) -> None:
    report = json.loads((stored / name / "report.json").read_bytes())
    chosen = random.Random(11)
    failed = 0
    drawn = [path for path in places(report) if path[0] in ("gates", "metrics", "errors", "breakdown", "confusions")]
    for path in [*chosen.sample(drawn, 30), *((key,) for key in report)]:
        other = spoil(report, path, chosen.choice(ODD))
        (tmp_path / "report.json").write_text(json.dumps(other))
        result = run(tmp_path, "--out", tmp_path / "out")
        assert "internal" not in result.stderr, (path, result.stderr)
        assert result.exit_code in (0, 2)
        failed += result.exit_code == 2
        for file in (tmp_path / "out").glob("*"):
            assert "\u202e" not in texts(file.read_text())
    assert failed > 5
