"""What a stored result was made from, opened again; what has changed or is gone is not shown, and said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldgate.cli.suite_command import suite_command
from goldgate.readers.stored_result import load_result
from goldgate.suites import SUITES, all_suites
from goldgate.verification.inputs import open_result_inputs

from .made import arguments, make

NAMES = ("extraction", "research", "qa")


@pytest.fixture(autouse=True)
def _with_the_toy_suite(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SUITES, "qa", "tests.toy.suite:SUITE")


@pytest.fixture(params=NAMES)
def suite(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A result of the suite in the folder `out` of the current one."""
    monkeypatch.chdir(tmp_path)
    name: str = request.param
    make(name, *arguments(name, tmp_path))
    return name


def looked_up(folder: str = "out") -> tuple[set[str], list[str]]:
    """The inputs that are found for the first record, and the notes."""
    records = next(path for path in Path(folder).iterdir() if path.suffix == ".jsonl")
    record = json.loads(records.read_text(encoding="utf-8").splitlines()[0])
    with open_result_inputs(load_result(folder, all_suites())) as (given, notes):
        return {*given.for_unit(record)}, notes


def test_nothing_is_shown_of_a_file_that_has_changed(suite: str) -> None:
    name = {"extraction": "gold.jsonl", "research": "golden.json", "qa": "gold.jsonl"}[suite]
    Path(name).write_bytes(Path(name).read_bytes() + b"\n")
    found, notes = looked_up()
    assert not found & {"gold", "golden"}
    assert notes == [f"{'golden' if suite == 'research' else 'gold'}: not shown; it has changed since"]


def test_a_file_that_is_gone_is_noted(suite: str) -> None:
    name = {"extraction": "model-b.jsonl", "research": "golden.json", "qa": "answers.jsonl"}[suite]
    Path(name).rename("elsewhere")
    found, [note] = looked_up()
    assert not found & {"predictions", "golden"}
    assert "is missing" in note


def test_without_run_json_nobody_knows_where_the_inputs_are(suite: str) -> None:
    Path("out/run.json").unlink()
    found, notes = looked_up()
    assert not found - {"protocol"}
    assert all("there is no run.json that names it" in note for note in notes)
    assert notes


def test_a_changed_protocol_is_not_applied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    make("extraction", *arguments("extraction", tmp_path))
    with open("protocol-fail.yaml", "a", encoding="utf-8") as protocol:
        protocol.write("# other\n")
    found, notes = looked_up()
    assert found == {"gold", "predictions"}
    assert notes == ["protocol: not shown; it has changed since"]


def test_what_came_through_standard_input_is_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    arguments("qa", tmp_path)
    options = ["--gold", "gold.jsonl", "--predictions", "-", "--out", "out"]
    CliRunner().invoke(suite_command("qa"), options, input=Path("answers.jsonl").read_bytes())
    found, [note] = looked_up()
    assert found == {"gold"}
    assert "came from standard input" in note


@pytest.mark.parametrize("as_list", [True, False])
def test_a_corpus_is_known_by_its_hashes(as_list: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    options = arguments("research", tmp_path)
    corpus = tmp_path / "corpus"
    if as_list:
        corpus.write_text("0" * 64 + "  a\n" + "1" * 64 + "\n", encoding="utf-8")
    else:
        corpus.mkdir()
        (corpus / "a.txt").write_text("a", encoding="utf-8")
    make("research", *options, "--corpus", str(corpus))
    assert looked_up()[1] == []
    if as_list:
        corpus.write_text("1" * 64 + "\n" + "0" * 64 + "\n", encoding="utf-8")  # another order is the same corpus
        assert looked_up()[1] == []
        corpus.write_text("2" * 64 + "\n", encoding="utf-8")
    else:
        (corpus / "a.txt").write_text("b", encoding="utf-8")
    assert looked_up()[1] == ["corpus: not shown; it has changed since"]
