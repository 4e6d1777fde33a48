"""One bad run among ten good ones: whatever is done to its files, the gate that it fails does not pass."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from goldgate.core.evaluation import Evaluation
from goldgate.runs.baseline import load_report
from goldgate.suites.research.suite import SUITE

from .judged import broken, codes, counts, judged, unbalanced
from .trees import abstention, claim, evidence, output, query, write_golden, write_run

COVERAGE = "evidence_coverage_rate"
BAD = [{**claim("bad", ()), "statement": f"Nothing says {sign}."} | {"claim_id": sign} for sign in "abcdefgh"]


@pytest.fixture
def bad_run(tmp_path: Path) -> Path:
    """The run with uncovered claims; nine others are covered, and the log of none names its claims."""
    insufficient = [f"Who owned ship {number}?" for number in range(2)]
    asked = [query(f"Winter {number}?", (f"e{number}",)) for number in range(10)]
    write_golden(tmp_path, *asked, *(query(objective, (), False) for objective in insufficient))
    outputs = tmp_path / "outputs"
    for number in range(10):
        claims = [{**claim("k", (f"e{number}",)), "statement": f"Of winter {'abcdefghij'[number]}."}]
        found = {"claims": claims, "evidence": [evidence(f"e{number}")]}
        write_run(outputs, f"run_r{number}", output(f"r{number}", objective=f"Winter {number}?", **found))
    for number, objective in enumerate(insufficient):
        write_run(outputs, f"run_n{number}", abstention(f"n{number}", objective))
    return outputs / "run_r3"


def verdicts(evaluation: Evaluation) -> dict[str, str]:
    return {gate["metric"]: gate["verdict"] for gate in evaluation.report["gates"]}


def change(run: Path, **more: Any) -> None:
    path = run / "research_output.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))


def test_ten_good_runs_pass_and_a_bad_one_fails(bad_run: Path, tmp_path: Path) -> None:
    assert judged(tmp_path).passed
    change(bad_run, claims=BAD)
    assert verdicts(judged(tmp_path))[COVERAGE] == "FAIL"


LOST: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "renamed": lambda path: path.rename(path.with_name("Research_output.json")),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "UTF-16": lambda path: path.write_bytes(path.read_text().encode("utf-16")),
    "infinite": lambda path: path.write_text(path.read_text()[:-1] + ', "cost": 1e400}'),
    "claims by id": lambda path: change(path.parent, claims={entry["claim_id"]: entry for entry in BAD}),
    "no claims": lambda path: path.write_text(path.read_text().replace('"claims"', '"said"')),
    "in a list": lambda path: path.write_text(f"[{path.read_text()}]"),
    "too large": lambda path: os.truncate(path, 100_000_000),
    "second list": lambda path: path.write_text(path.read_text()[:-1] + ', "claims": []}'),
}


@pytest.mark.parametrize("lose", LOST)
def test_claims_that_cannot_be_read_are_not_covered(bad_run: Path, tmp_path: Path, lose: str) -> None:
    change(bad_run, claims=BAD)
    LOST[lose](bad_run / "research_output.json")
    evaluation = judged(tmp_path, "research: {max_file_megabytes: 1}")
    assert counts(evaluation, COVERAGE) == (9, 10)
    assert verdicts(evaluation)[COVERAGE] == "FAIL"
    assert "claims_unknown" in codes(evaluation)
    assert not list(unbalanced(evaluation))
    (tmp_path / "report.json").write_text(json.dumps(evaluation.report))
    assert load_report(tmp_path / "report.json", [SUITE]).stored.rates[COVERAGE] == (9, 10)


def test_a_lost_output_among_many_claims_fails_the_gate_by_itself(bad_run: Path, tmp_path: Path) -> None:
    many = [{**claim(f"k{number}", ("e1",)), "statement": f"Of day {number}."} for number in range(200)]
    change(bad_run.parent / "run_r1", claims=many)
    (bad_run / "research_output.json").unlink()
    evaluation = judged(tmp_path)
    assert counts(evaluation, COVERAGE) == (208, 209)
    (gate,) = (gate for gate in evaluation.report["gates"] if gate["metric"] == COVERAGE)
    assert gate["verdict"] == "FAIL"
    assert "the claims of run_r3 cannot be read" in gate["reason"]


def test_verified_claims_in_the_log_are_not_joined_by_another(bad_run: Path, tmp_path: Path) -> None:
    with (bad_run / "events.jsonl").open("a") as log:
        for name in "ab":
            payload = {"claim_id": name, "status": "verified"}
            log.write(json.dumps({"run_id": "r3", "step_id": 2, "event_type": "x", "payload": payload}) + "\n")
    (bad_run / "research_output.json").unlink()
    evaluation = judged(tmp_path)
    assert counts(evaluation, COVERAGE) == (9, 11)
    assert verdicts(evaluation)[COVERAGE] == "FAIL"


@pytest.mark.parametrize("hide", ["[" * 995 + "]" * 995, "9" * 5000])
def test_a_second_key_is_not_hidden_by_what_stands_beside_it(bad_run: Path, tmp_path: Path, hide: str) -> None:
    """Too deep to look for it, or a number that is too long."""
    path = bad_run / "research_output.json"
    path.write_text(f'{{"claims": {json.dumps(BAD)}, "beside": {hide}, {path.read_text()[1:]}')
    evaluation = judged(tmp_path)
    assert set(broken(evaluation)) == {"run_r3"}
    assert verdicts(evaluation)[COVERAGE] == "FAIL"


def append(run: Path, file: str, line: str) -> None:
    with (run / file).open("a") as stream:
        stream.write(line + "\n")


@pytest.mark.parametrize(
    "said",
    [
        '"claim_id": "z", "status": "verified", "status": "candidate"',
        '"claim_id": "z", "claim_id": "k", "status": "verified"',
        '"stop_reason": "SYSTEM_ERROR", "stop_reason": "OBJECTIVE_ACHIEVED"',
        '"st\\u0061tus": "verified", "claim_id": "z", "status": "candidate", "a": ":\\u003a"',
        '"claim_id": "z", "status": "verified", "status": "candidate", "deep": ' + "[" * 995 + "]" * 995,
    ],
)
def test_a_log_line_with_a_key_twice_helps_nobody(bad_run: Path, tmp_path: Path, said: str) -> None:
    append(bad_run, "events.jsonl", f'{{"run_id": "r3", "step_id": 2, "event_type": "x", "payload": {{{said}}}}}')
    evaluation = judged(tmp_path)
    assert broken(evaluation) == {"run_r3": "repeated_key"}
    assert verdicts(evaluation)[COVERAGE] == "FAIL"
    assert verdicts(evaluation)["manifest_integrity"] == "FAIL"
    assert "bad_event" in codes(evaluation)


def test_a_run_does_not_abstain_by_a_log_line_with_a_key_twice(bad_run: Path, tmp_path: Path) -> None:
    said = '"stop_reason": "OBJECTIVE_ACHIEVED", "stop_reason": "NO_EVIDENCE"'
    line = f'{{"run_id": "n0", "step_id": 2, "event_type": "x", "payload": {{{said}}}}}'
    append(bad_run.parent / "run_n0", "events.jsonl", line)
    assert counts(judged(tmp_path), "abstention_accuracy") == (1, 2)


def test_a_step_is_not_hidden_behind_a_second_step_id(bad_run: Path, tmp_path: Path) -> None:
    append(bad_run, "events.jsonl", '{"run_id": "r3", "step_id": 9, "step_id": 2, "event_type": "x", "payload": {}}')
    assert verdicts(judged(tmp_path))["manifest_integrity"] == "FAIL"


@pytest.mark.parametrize("as_file", [True, False])
def test_a_manifest_with_a_key_twice_is_none(bad_run: Path, tmp_path: Path, as_file: bool) -> None:
    first, *rest = (bad_run / "manifests.jsonl").read_text().splitlines(keepends=True)
    twice = first.replace('"step_id": 1', '"step_id": 7, "step_id": 1')
    if as_file:
        (bad_run / "manifests").mkdir()
        (bad_run / "manifests" / "1.json").write_text(twice)
    (bad_run / "manifests.jsonl").write_text("".join(rest if as_file else [twice, *rest]))
    evaluation = judged(tmp_path)
    assert counts(evaluation, "manifest_integrity") == (23, 24)
    assert "bad_manifest" in codes(evaluation)


def test_a_chunk_with_a_key_twice_breaks_the_run(bad_run: Path, tmp_path: Path) -> None:
    path = bad_run / "chunks.jsonl"
    path.write_text(path.read_text().replace('"text": ', '"text": "Nothing froze.", "text": '))
    evaluation = judged(tmp_path)
    assert broken(evaluation) == {bad_run.name: "unreadable_chunks"}


def test_a_letter_among_modifier_letters_is_thin(bad_run: Path, tmp_path: Path) -> None:
    (bad_run / "chunks.jsonl").write_text("")
    change(bad_run, evidence=[evidence("e3", quote="a\u02bc\u02d0\u0640\u30fc")])
    assert "thin_quote" in codes(judged(tmp_path))


@pytest.mark.parametrize("sign", ["\u2060", "\ufe0f", "\u034f", "\u200d", "\u180e", "\u3164", "\U000e0041", " ", "-"])
def test_a_sign_inside_a_word_makes_no_other_run(bad_run: Path, tmp_path: Path, sign: str) -> None:
    claims = json.loads((bad_run / "research_output.json").read_text())["claims"]
    copy = output("copy", objective="Winter 3?", evidence=[evidence("e3")])
    claims[0]["statement"] = claims[0]["statement"].replace("winter", f"win{sign}ter")
    write_run(bad_run.parent, "run_copy", {**copy, "claims": claims})
    evaluation = judged(tmp_path)
    assert "cloned_run" in codes(evaluation)
    assert evaluation.report["conservation"]["runs"]["broken"] == 0
    assert evaluation.report["conservation"]["directories"]["ignored"] == 1


def test_another_number_makes_another_run(bad_run: Path, tmp_path: Path) -> None:
    for number, size in enumerate(("1.5", "15")):
        claims = [{**claim("k", ("e3",)), "statement": f"It was {size} metres."}]
        found = {"claims": claims, "evidence": [evidence("e3")]}
        write_run(bad_run.parent, f"run_s{number}", output(f"s{number}", objective="Winter 3?", **found))
    assert "cloned_run" not in codes(judged(tmp_path))


def test_names_that_are_no_utf_8_do_not_hide_a_clone(bad_run: Path, tmp_path: Path) -> None:
    """A byte that is no UTF-8, and the text that it would be shown as."""
    names = "run_x\udcff", "run_x\\udcff"
    found = {"objective": "Winter 3?", "evidence": [evidence("e3")], "claims": [claim("k", ("e3",))]}
    for number, name in enumerate(names):
        try:
            write_run(bad_run.parent, name, output(f"x{number}", **found))
        except OSError:
            pytest.skip("this file system takes UTF-8 names only")
    evaluation = judged(tmp_path)
    assert "cloned_run" in codes(evaluation)
    shown = [run["run"] for run in evaluation.report["runs"]]
    assert len(shown) == len(set(shown)) == 13
