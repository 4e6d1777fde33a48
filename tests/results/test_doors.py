"""Whatever reads a stored result refuses a broken one in the same words: where, what was found, what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from goldgate.cli.main import goldgate
from goldgate.comparison import compare, observed_spread
from goldgate.errors import GoldgateError
from goldgate.readers.stored_result import load_result
from goldgate.runs.power import PowerOptions, plan_power
from goldgate.runs.reference import make_baseline_and_units
from goldgate.suites import all_suites
from goldgate.verification.verify import verify
from tests.cases import cases, error_from
from tests.comparison.runs import MODELS, store_extraction

DOORS: dict[str, Callable[[str, str], object]] = {
    "compare": lambda good, broken: compare(good, broken),
    "baseline": lambda _, broken: make_baseline_and_units([broken], all_suites()),
    "verify": lambda _, broken: verify(broken, {}, only_records=True),
    "power": lambda _, broken: plan_power(load_result(broken, all_suites()), PowerOptions()),
    "power against": lambda good, broken: observed_spread(good, broken),
}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return store_extraction(tmp_path_factory.mktemp("results") / "good", MODELS["b"])


def refused(door: str, good: Path, broken: Path) -> GoldgateError:
    return error_from(GoldgateError, DOORS[door], str(good), str(broken))


BROKEN_RECORDS = [
    (b'{"id":"zh-002"}\n', "no units"),
    (b"not json\n", "not JSON"),
    (b'{"id":"zh-002","units":{"matching":[1,2]}}\n', "2 counts of matching"),
    (b'{"id":"zh-002","units":{"matching":[1,2,3,"x"]}}\n', "a count of 'x'"),
    (b'{"id":"zh-002","units":{"matching":[1,2,3,-4]}}\n', "a count of -4"),
    (b'{"id":"zh-002","units":{"matching":[1,2,3,true]}}\n', "a count of True"),
    (b'{"id":"zh-002","units":{"matching":7}}\n', "something else"),
    (b'{"id":"zh-002","units":{},"parts":[[1]]}\n', ""),
    (b'{"id":"zh-002","units":{},"times":0}\n', "0 times"),
    (b'{"id":"\xff","units":{"matching":[1,2,3,4]}}\n', "not UTF-8"),
]


@pytest.mark.parametrize("door", DOORS)
def test_the_line_of_a_broken_record_is_named(door: str, good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "broken")
    lines = (good / "samples.jsonl").read_bytes().splitlines(keepends=True)
    for line, found in BROKEN_RECORDS:
        (tmp_path / "broken" / "samples.jsonl").write_bytes(b"".join([lines[0], line, *lines[2:]]))
        error = refused(door, good, tmp_path / "broken")
        assert error.code == "records.malformed", line
        assert error.place is not None, line
        assert error.place.line == 2, line
        assert str(error.place.file).endswith("broken/samples.jsonl"), line
        assert found in str(error.found) or (found == "not UTF-8" and "JSON" in str(error.found)), line
        assert error.advice == "score it again with this version, with --out", line


def metric(value: Any) -> Callable[[dict[str, Any]], None]:
    return lambda report: report["metrics"]["main"].update(strict_f1=value)


def gate(**changes: object) -> Callable[[dict[str, Any]], None]:
    words = {"metric": "strict_f1", "verdict": "FAIL", "reason": "", "severity": "error", "on_not_evaluable": "fail"}
    return lambda report: report.update(
        gates=[{**words, "measured": report["metrics"]["main"]["strict_f1"], "support": None, **changes}]
    )


BROKEN_REPORTS: list[tuple[Callable[[dict[str, Any]], object], str]] = [
    (lambda report: report.pop("signature"), "report.malformed"),
    (lambda report: report.pop("findings"), "report.malformed"),
    (lambda report: report.update(findings=[1]), "report.malformed"),
    (lambda report: report.update(inputs=None), "report.malformed"),
    (lambda report: report["metrics"].pop("version"), "report.malformed"),
    (metric(None), "report.malformed"),
    (metric({"denominator": 1}), "report.malformed"),
    (metric({"value": 0.5, "numerator": 1, "interval": None}), "report.malformed"),
    (lambda report: report.update(status=["FAIL"]), "report.malformed"),
    (gate(verdict=7), "report.malformed"),
    (gate(min="much"), "report.malformed"),
    (lambda report: report.update(status="SYSTEM_ERROR"), "report.system_error"),
    (lambda report: report.update(suite="nobody's"), "report.not_a_report"),
    (lambda report: report.update(format_version=99), "report.not_a_report"),
]


@pytest.mark.parametrize("door", DOORS)
def test_a_report_that_is_not_whole_is_refused(door: str, good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "broken")
    for number, (change, code) in enumerate(BROKEN_REPORTS):
        report = json.loads((good / "report.json").read_bytes())
        change(report)
        (tmp_path / "broken" / "report.json").write_text(json.dumps(report))
        error = refused(door, good, tmp_path / "broken")
        assert error.code == code, f"BROKEN_REPORTS[{number}]"
        assert error.place is not None, f"BROKEN_REPORTS[{number}]"
        assert str(error.place.file).endswith("broken/report.json"), f"BROKEN_REPORTS[{number}]"


@pytest.mark.parametrize("door", ["compare", "baseline", "power against"])
def test_records_that_are_not_there_are_missed(door: str, good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "broken", ignore=shutil.ignore_patterns("samples.jsonl"))
    assert refused(door, good, tmp_path / "broken").code == "records.missing"


@pytest.mark.parametrize("door", ["verify", "power"])
def test_records_of_a_report_alone_are_missed_by_name(door: str, good: Path, tmp_path: Path) -> None:
    shutil.copytree(good, tmp_path / "broken", ignore=shutil.ignore_patterns("samples.jsonl"))
    error = refused(door, good, tmp_path / "broken" / "report.json")
    assert error.code == "records.missing"
    assert error.place is not None
    assert str(error.place.file).endswith("broken/samples.jsonl")


@pytest.mark.parametrize("door", DOORS)
def test_a_result_behind_a_url_is_to_be_copied_first(door: str, good: Path) -> None:
    error = error_from(GoldgateError, DOORS[door], str(good), "s3://bucket/results/model-a")
    assert error.code == "report.elsewhere"
    assert str(error.place) == "s3://bucket/results/model-a"


@cases(
    "line",
    ["compare {}", "compare a=/x b={}", "trend {}", "trend b={}", "view {}", "view b={}", "plot {}", "check {}"],
)
def test_a_signed_url_is_refused_without_what_makes_it_one(line: str) -> None:
    """Its query has a `=`, behind which some commands look for a path, and a `?` as patterns have."""
    words = line.format("https://host/results?Signature=abcdef").split()
    result = CliRunner().invoke(goldgate, words)
    assert result.exit_code == 2, result.exception
    assert "abcdef" not in result.output
