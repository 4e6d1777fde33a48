"""A report that was edited: whatever `goldgate verify --records` accepts is listed as not compared."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldgate.cli.stored_results import baseline_command
from goldgate.cli.suite_command import suite_command
from tests.results.made import arguments, make, set_in, verified

ALL = ("extraction", "research", "fields", "judged", "qa")
EXAMPLES = Path(__file__).parents[2] / "examples"
Keys = list[str | int]


def options(suite: str, folder: Path) -> list[str]:
    if suite in ("fields", "judged"):
        for path in (EXAMPLES / suite).iterdir():
            shutil.copy(path, folder / path.name)
        if suite == "judged":
            files = ["--labels", "people.jsonl", "judge.jsonl", "--items", "items.jsonl", "--draw", "drawn.jsonl"]
        else:
            files = ["--gold", "gold.jsonl", "--predictions", "model-b.jsonl", "--schema", "schema.json"]
        return [*files, "--protocol", "protocol.yaml"]
    return arguments(suite, folder)


def scalars(value: Any, keys: Keys) -> Iterator[tuple[Keys, Any]]:
    """Every number, text, truth and null of a report, of a list the first and the last entry."""
    if isinstance(value, dict) and value:
        for key, part in value.items():
            yield from scalars(part, [*keys, key])
    elif isinstance(value, list) and value:
        for place in sorted({0, len(value) - 1}):
            yield from scalars(value[place], [*keys, place])
    else:
        yield keys, value


def edited(report: dict[str, Any]) -> list[tuple[Keys, Any]]:
    """All of gates and of the first metric of each section, and one place of every other part."""
    chosen: dict[str, tuple[Keys, Any]] = {}
    first = {next(iter(section)) for section in report["metrics"].values() if isinstance(section, dict)}
    for keys, value in scalars(report, []):
        part = str(keys[0])
        if part in ("status", "gates") or (part == "metrics" and first & {*keys[2:3]}):
            part = str(keys)
        chosen.setdefault(part, (keys, value))
    return [*chosen.values()]


def forged(value: Any, keys: Keys) -> Any:
    """Another value of the same type that a forger might like."""
    if keys[-1] in ("verdict", "status"):
        return "PASS" if value != "PASS" else "FAIL"
    if isinstance(value, bool) or value is None:
        return not value
    if isinstance(value, str):
        swapped = {"error": "warn", "warn": "error", "fail": "pass", "pass": "fail"}
        return swapped.get(value) or (value[:-1] + ("1" if value[-1:] != "1" else "2") if value else "x")
    return value + 1 if isinstance(value, (int, float)) else "x"


@pytest.mark.parametrize("suite", ALL)
def test_every_edit_is_found_or_listed(suite: str, at: Callable[[str], Path], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    make(suite, *options(suite, tmp_path))
    assert verified("out", "--records")[0] == 0
    stored = Path("out/report.json").read_bytes()
    accepted = []
    for keys, value in edited(json.loads(stored)):
        set_in("out/report.json", keys, forged(value, keys))
        status, found = verified("out", "--records")
        if status == 0:
            accepted.append(keys)
            listed = " ".join(found["not_compared"])
            names = {"metrics": keys[2] if len(keys) > 2 else keys[-1], "gates": "rules of the suite"}
            is_reason = keys[-1] in ("reason", "interval_reason") and (keys[0] == "metrics" or "measured" in keys)
            assert is_reason or str(names.get(str(keys[0]), keys[0])) in listed, (keys, listed)
            assert is_reason or keys[0] not in ("status", *(() if suite == "research" else ("gates",))), keys
        Path("out/report.json").write_bytes(stored)
    assert accepted  # a remark, a digest


@pytest.mark.parametrize("suite", ["extraction", "fields", "research"])
def test_a_verdict_that_was_turned_is_found(suite: str, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    make(suite, *options(suite, tmp_path))
    report = json.loads(Path("out/report.json").read_bytes())
    for change in ({"verdict": "PASS"}, {"verdict": "PASS", "min": "0.001"}):
        turned = [gate | change for gate in report["gates"]]
        forged = {**report, "status": "PASS", "gates": turned}
        Path("out/report.json").write_text(json.dumps(forged, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        changed = forged != report
        assert verified("out", "--records")[0] == changed
    Path("protocol.yaml").unlink(missing_ok=True)
    Path("protocol-fail.yaml").unlink(missing_ok=True)
    listed = " ".join(verified("out", "--records")[1]["not_compared"])
    assert "which gates there are, with which bounds: the protocol is not here" in listed


def test_gates_of_all_kinds_are_decided_again(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    given = arguments("extraction", tmp_path)[:-2]
    CliRunner().invoke(suite_command("extraction"), [*given, "--out", "main", "--quiet"])
    kinds = {
        "strict_f1": "min: 0.5, confidence: 0.95",
        "relaxed_f1": "min: 0.99, confidence: 0.9, on_inconclusive: warn",
        "type_f1": "min: 0.5",
        "strict_f1_macro": "min: 0.5",
        "strict_f1_macro_roles": "max: 0.1",
        "strict_recall[Hire]": "min: 0.1",
        "strict_recall": "max_drop: 0.1, against: main",
        "parse_errors": "max: 0, severity: warn",
    }
    lines = [f"  {name!r}: {{{bounds}}}\n" for name, bounds in kinds.items()]
    types = json.loads(Path("schema.json").read_bytes())["event_types"]
    Path("protocol.yaml").write_text("gates:\n" + "".join(lines).replace("Hire", min(types)), encoding="utf-8")
    make("extraction", *given, "--protocol", "protocol.yaml")
    status, found = verified("out", "--records")
    assert (status, found["differences"]) == (0, [])
    assert [each for each in found["not_compared"] if "gates on strict_recall" in each]
    report = json.loads(Path("out/report.json").read_bytes())
    stored = Path("out/report.json").read_bytes()
    for number, gate in enumerate(report["gates"]):
        for key, value in (
            ("verdict", "PASS" if gate["verdict"] == "FAIL" else "FAIL"),
            ("severity", "warn"),
            ("min", "0"),
        ):
            if gate.get(key) in (None, value) or (gate["metric"] == "strict_recall" and key == "verdict"):
                continue
            set_in("out/report.json", ["gates", number, key], value)
            assert verified("out", "--records")[0] == 1, (gate["metric"], key)
            Path("out/report.json").write_bytes(stored)


def test_a_baseline_of_folders_is_verified_by_their_reports_too(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    make("extraction", *arguments("extraction", tmp_path))
    for source, out in (("out", "folder"), ("out/report.json", "file.json")):
        assert CliRunner().invoke(baseline_command, [source, "--out", out]).exit_code == 0
        for report in ("out", "out/report.json"):
            status, found = verified(out, "--reports", report)
            assert (status, found["differences"]) == (0, []), (out, report)
    set_in("out/report.json", ["findings"], [])
    for report in ("out", "out/report.json"):
        assert verified("folder", "--reports", report)[0] == 1
