"""Stored runs that were tampered with, written over or mixed up, and gates that could never fail."""

from __future__ import annotations

import json
import zlib
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pytest

from goldgate.core.evaluation import render_json
from goldgate.core.gate import Gate, Verdict
from goldgate.core.metric import Rate
from goldgate.errors import ConfigError, InputError
from goldgate.runs.reference import make_baseline_and_units
from goldgate.runs.units import UNITS_HEADER, unpack_units
from goldgate.stats.gates import PairedRun, judge_gates
from goldgate.stats.paired import paired_sums
from goldgate.suites import all_suites
from goldgate.verification.verify import verify
from tests.cases import error_from
from tests.toy.suite import SUITE as QA

from .stored import documents, extraction, qa

PART = "gates: {'strict_f1[Hire]': {max_drop: 0.05, against: main/}}"


def edit_records(folder: Path, edit: Any) -> None:
    file = folder / "samples.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for record in records:
        edit(record)
    file.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in records))


def forget_hits(record: dict[str, Any]) -> None:
    """No event type has a hit, though the whole has: the stored run looks worse in every part."""
    for _, counts in record["parts"]:
        counts[0] = counts[1] = 0


def test_parts_that_are_not_those_of_the_whole_are_refused(tmp_path: Path) -> None:
    gold = documents(30, "Hire", "Leave")
    extraction(tmp_path / "main", gold, gold)
    worse = [{**record, "events": record["events"][1:]} for record in gold]
    assert extraction(tmp_path / "new", gold, worse, PART).status == "FAIL"
    edit_records(tmp_path / "main", forget_hits)
    with pytest.raises(ConfigError, match="not a stored run"):
        extraction(tmp_path / "new", gold, worse, PART)
    error = error_from(InputError, make_baseline_and_units, [tmp_path / "main"], all_suites())
    assert error.code == "records.other_parts"
    assert not verify(str(tmp_path / "main"), {}, only_records=True).verified


def write_baseline(folder: Path, of: Path) -> Any:
    folder.mkdir(exist_ok=True)
    record, packed = make_baseline_and_units([of], [*all_suites(), QA])
    (folder / "units.bin").write_bytes(packed.data)
    (folder / "baseline.json").write_bytes(render_json(record))
    return record


def test_a_folder_with_results_and_a_baseline_is_neither(tmp_path: Path) -> None:
    """One of the two would be verified, and the other used."""
    gold = documents(20, "Hire")
    extraction(tmp_path / "main", gold, gold)
    extraction(tmp_path / "worse", gold, [{**record, "events": []} for record in gold])
    write_baseline(tmp_path / "main", tmp_path / "worse")
    error = error_from(
        ConfigError, extraction, tmp_path / "new", gold, gold, "gates: {strict_f1: {max_drop: 0.05, against: main/}}"
    )
    assert "in one folder" in str(error.found)
    assert error_from(InputError, verify, str(tmp_path / "main"), {}).code == "against.two_runs"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (("asked",), ["x"]),
        (("asked", "gold"), [1]),
        (("asked", "gold"), True),
        (("judged",), 0),
        (("judged",), []),
        (("judged", 0), "x"),
        (("units", "size"), 10**30),
        (("units", "size"), 1e300),
        (("units", "size"), -1),
        (("units", "sha256"), None),
        (("signature",), 1),
    ],
)
def test_a_baseline_with_something_else_in_a_field_is_an_error(tmp_path: Path, field: Any, value: Any) -> None:
    qa(tmp_path / "old", 20, 20)
    record = write_baseline(tmp_path / "main", tmp_path / "old")
    at: Any = record
    for name in field[:-1]:
        at = at[name]
    at[field[-1]] = value
    (tmp_path / "main" / "baseline.json").write_text(json.dumps(record))
    with pytest.raises((ConfigError, InputError)) as caught:
        qa(tmp_path / "new", 20, 10, "gates: {exact_match: {min: 0.5, max_drop: 0.05, against: main/}}")
    assert caught.value.code in ("protocol.against_unreadable", "baseline.units_unreadable")


NAMES = b'[[["answers"],4]]'


@pytest.mark.parametrize(
    "content",
    [
        bytes([len(NAMES)]) + NAMES + b"\xff\xff\xff\xff\x07",  # 2 billion ids, of which none is there
        bytes([len(NAMES)]) + NAMES + b"\x02" + b"a" * 16 + b"\x00\x00",  # one id twice
        bytes([len(NAMES)]) + NAMES + b"\x00more",
        bytes([5]) + b"[1,2]",
        bytes([4]) + b"null\x00",
        b"\xff" * 100_000,  # a number without end
        b"\x00",
    ],
)
def test_packed_units_of_anything_else_are_a_value_error(content: bytes) -> None:
    with pytest.raises(ValueError, match="packed"):
        unpack_units(UNITS_HEADER + zlib.compress(content), len(content), sha256(content).hexdigest())


def test_a_number_of_a_baseline_that_its_units_do_not_give(tmp_path: Path) -> None:
    gold = documents(20, "Hire")
    extraction(tmp_path / "main", gold, gold)
    record = write_baseline(tmp_path / "base", tmp_path / "main")
    assert verify(str(tmp_path / "base"), {}).verified
    for name, value in (("numerator", 39), ("observed", "0.9")):
        edited = json.loads(json.dumps(record))
        edited["metrics"]["strict_f1"][name] = value
        (tmp_path / "base" / "baseline.json").write_bytes(render_json(edited))
        assert not verify(str(tmp_path / "base"), {}).verified


@pytest.mark.parametrize("allowed", ["warn", "pass"])
def test_a_gate_without_an_interval_is_decided_by_its_value_if_open_ones_may_pass(tmp_path: Path, allowed: str) -> None:
    """Otherwise it could never fail."""
    gold = documents(20, "Hire")
    nothing = [{**record, "events": []} for record in gold]
    gate = f"gates: {{strict_f1_macro_roles: {{min: 0.9, confidence: 0.95, on_inconclusive: {allowed}}}}}"
    found = extraction(tmp_path / "new", gold, nothing, gate)
    assert found.status == "FAIL"
    assert "by its value" in found.gates[0].reason
    assert extraction(tmp_path / "new", gold, gold, gate).gates[0].verdict == "INCONCLUSIVE"


@pytest.mark.parametrize("confidence", ["0.99991", "0.99999999999999999999999"])
def test_a_confidence_that_refutes_nothing_is_refused(tmp_path: Path, confidence: str) -> None:
    error = error_from(
        ConfigError, qa, tmp_path / "new", 3, 3, f"gates: {{exact_match: {{min: 0.5, confidence: {confidence}}}}}"
    )
    assert error.place.field == "gates.exact_match.confidence"


@pytest.mark.parametrize("confidence", [None, "0.95"])
def test_what_nobody_asked_for_carries_no_comparison(confidence: str | None) -> None:
    """40 of 100 in place of 90, and a thousand right ones that are of no query."""
    gate = Gate(
        max_drop=Decimal("0.05"), against="main/", confidence=None if confidence is None else Decimal(confidence)
    )
    asked = {(1, 1, 1, 1): 40, (0, 1, 1, 1): 50, (0, 1, 0, 1): 10}
    with_strangers = {**asked, (1000, 1000, 0, 0): 1}
    pair = PairedRun(paired_sums(with_strangers), True, "main/", "", False, paired_sums(asked))
    [found] = judge_gates({"rate": gate}, {"rate": Rate(1040, 1100)}, {"rate": pair})
    assert found.verdict is not Verdict.PASS
    assert "without unrequested units" in found.reason
    [alone] = judge_gates({"rate": gate}, {"rate": Rate(1040, 1100)}, {"rate": pair._replace(asked=None)})
    assert (alone.verdict is Verdict.PASS) == (confidence is None)


def test_an_answered_run_is_compared_whatever_model_was_asked(tmp_path: Path) -> None:
    qa(tmp_path / "main", 40, 40)
    file = tmp_path / "main" / "report.json"
    report = json.loads(file.read_text())
    coverage = {"value": 1.0, "numerator": 2, "denominator": 2}
    asked = {"signature": "model:m|prompt:x", "coverage": coverage, "missing": {}, "bounds": None, "cost": None}
    report |= {"generation": asked, "signature": f"{report['signature']}|model:m|prompt:x"}
    file.write_bytes(render_json(report))
    gate = "gates: {exact_match: {min: 0.5, max_drop: 0.05, against: main/}}"
    assert qa(tmp_path / "new", 40, 30, gate).gates[0].verdict == "FAIL"
    write_baseline(tmp_path / "base", tmp_path / "main")
    assert qa(tmp_path / "new", 40, 40, gate.replace("main", "base")).gates[0].verdict == "PASS"
