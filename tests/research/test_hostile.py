"""Runs made to break the evaluation: they end as findings, in reasonable time, and never as a traceback."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from goldgate.research.evidence import Demands, Sources, check_record
from goldgate.research.fold import fold

from .judged import broken, codes, counts, judged
from .trees import chunk, evidence, lines, manifest, output, query, write_golden, write_run


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    write_golden(tmp_path, query(), query("Who owned the ships?", (), False))
    return tmp_path / "outputs"


def deep(levels: int, core: str) -> str:
    return "[" * levels + core + "]" * levels


@pytest.mark.parametrize("levels", [900, 1015, 1022, 5000])
def test_deep_values_in_every_file(outputs: Path, levels: int) -> None:
    run = write_run(outputs)
    for core in ("1", "2"):  # twice and different: they must be compared
        for name, record in (("manifests.jsonl", manifest(1)), ("chunks.jsonl", chunk("c1"))):
            with (run / name).open("a") as stream:
                stream.write(lines(record).strip()[:-1] + f', "deep": {deep(levels, core)}}}\n')
    judged(outputs.parent).to_json()


def test_deep_evidence_under_one_id(outputs: Path) -> None:
    run = write_run(outputs)
    plain = lines(output(evidence=["A", "B"])).strip()
    for letter, core in (("A", "1"), ("B", "2")):
        record = lines(evidence()).strip()[:-1] + f', "deep": {deep(1015, core)}}}'
        plain = plain.replace(f'"{letter}"', record)
    (run / "research_output.json").write_text(plain)
    evaluation = judged(outputs.parent)
    assert codes(evaluation) & {"conflicting_id", "output_unreadable"}


def test_piles_of_combining_marks_take_no_time(outputs: Path) -> None:
    pile = "a" + "\u0301\u0327" * 200_000
    out = output(objective=pile, evidence=[evidence(quote=pile)])
    write_run(outputs, out=out, chunks=[chunk("c1", text=pile[:-1] + " ")])
    assert fold(pile) == pile
    judged(outputs.parent)


def test_texts_of_any_length_do_not_fill_the_report(outputs: Path) -> None:
    long = "x" * 1_000_000
    out = output(long, objective=long, evidence=[evidence(long, quote=long)])
    write_run(outputs, out=out)
    write_run(outputs, "copy", {**out, "claims": []})
    assert len(judged(outputs.parent).to_json()) < 50_000


def test_many_quotes_that_are_nowhere_end_in_time() -> None:
    text = " ".join(f"word{number}" for number in range(200_000))
    sources = Sources({f"c{k}": chunk("c1", chunk_id=f"c{k}", text=text) for k in range(2)})  # type: ignore[misc]
    found = {
        check_record(evidence(quote=f"word1 word2 nothing {k}", chunk="c1"), sources, Demands()).failure
        for k in range(300)
    }
    assert found <= {"fabricated", "spliced"}


def test_names_that_are_no_utf8(outputs: Path) -> None:
    run = write_run(outputs, artifact=True)
    odd = os.fsdecode(b"odd\xff")
    (run / "artifacts" / odd).write_text("x")
    (run / odd).write_text("x")
    (run / "manifests").mkdir()
    (run / "manifests" / (odd + ".json")).write_text("{")
    write_run(outputs, odd, output("r2"))
    assert "odd\\udcff" in judged(outputs.parent).to_json().replace("\\\\", "\\")


def test_links_in_circles(outputs: Path) -> None:
    run = write_run(outputs)
    (outputs / "circle").symlink_to("circle")
    (outputs / "nowhere").symlink_to("gone")
    (run / "artifacts").symlink_to("artifacts")
    (run / "manifests").symlink_to(".")
    evaluation = judged(outputs.parent)
    assert list(broken(evaluation)) == ["run_r1"]
    assert {entry["path"] for entry in evaluation.report["ignored"]} >= {"circle", "nowhere"}


@pytest.mark.parametrize("content", [b"\x00" * 1000, b"\xff" * 1000, b"\n" * 1000, b"{}\n" * 100, b"null\n1\n[]\n"])
@pytest.mark.parametrize("name", ["events.jsonl", "manifests.jsonl", "chunks.jsonl"])
def test_files_of_nonsense(outputs: Path, name: str, content: bytes) -> None:
    run = write_run(outputs)
    (run / name).write_bytes(content)
    evaluation = judged(outputs.parent)
    assert evaluation.report["status"] == "FAIL"
    assert counts(evaluation, "evidence_coverage_rate") == (1, 1)  # without chunks only the form is checked


def test_half_a_surrogate_pair_and_a_byte_order_mark(outputs: Path) -> None:
    run = write_run(outputs)
    text = (run / "research_output.json").read_text()
    text = text.replace('"statement": "', '"statement": "\\ud800')
    (run / "research_output.json").write_bytes(b"\xef\xbb\xbf" + text.encode())
    evaluation = judged(outputs.parent)
    assert not broken(evaluation)
    assert counts(evaluation, "evidence_coverage_rate") == (1, 1)


@pytest.mark.parametrize("last", [10**9, 10**12, 10**15, 2**63 - 1, 2**64 - 1])
def test_step_numbers_beyond_all_reason(outputs: Path, last: int) -> None:
    run = write_run(outputs)
    log = '{"run_id": "r1", "step_id": %s, "event_type": "x", "payload": {}}\n'
    (run / "events.jsonl").write_text(log % 1 + log % last)
    evaluation = judged(outputs.parent)
    assert counts(evaluation, "manifest_integrity") == (1, last)
    bound = evaluation.report["metrics"]["main"]["manifest_integrity"]["lower_bound"]
    assert 0 <= bound <= 1e-6


def test_integers_beyond_all_bounds(outputs: Path) -> None:
    run = write_run(outputs)
    log = '{"run_id": "r1", "step_id": %s, "event_type": "x", "payload": {}}\n'
    (run / "events.jsonl").write_text(log % 1 + log % ("9" * 30) + log % -1 + log % 2)
    evaluation = judged(outputs.parent)
    assert counts(evaluation, "manifest_integrity") == (2, 3)
    assert "bad_event" in codes(evaluation)
