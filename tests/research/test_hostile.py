"""Runs made to break the evaluation: they end as findings, in reasonable time, and never as a traceback."""

from __future__ import annotations

import hashlib
import json
import os
import time
from io import BytesIO
from pathlib import Path
from random import Random

import pytest

from goldgate.errors import InputError
from goldgate.pipeline import evaluate_suite
from goldgate.report import render
from goldgate.suites.research.golden import load_golden, near_queries
from goldgate.suites.research.run.evidence import EvidenceDemands, Sources, check_evidence
from goldgate.suites.research.run.files import Artifact, ReadLimits, read_run
from goldgate.suites.research.suite import SUITE
from goldgate.suites.research.text import fold, html_text
from tests.cases import cases, error_from

from .judged import broken, codes, counts, finding, judged, judged_run
from .trees import (
    chunk,
    chunk_text,
    claim,
    event,
    evidence,
    lines,
    manifest,
    output,
    query,
    write_golden,
    write_run,
)


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
        check_evidence(evidence(quote=f"word1 word2 nothing {k}", chunk="c1"), sources, EvidenceDemands()).failure
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
    nothing_stored = name != "chunks.jsonl" or not content.strip()  # then only the form is checked
    assert counts(evaluation, "evidence_coverage_rate") == (int(nothing_stored), 1)


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
    interval = evaluation.report["metrics"]["main"]["manifest_integrity"]["interval"]
    assert (interval["low"], interval["high"]) == (0, 1)  # one run


def test_step_numbers_that_add_up_to_more_than_64_bits(outputs: Path) -> None:
    log = '{"run_id": "%s", "step_id": %s, "event_type": "x", "payload": {}}\n'
    for number, name in enumerate(("r1", "r2")):
        run = write_run(outputs, name, output(name, claims=[claim(f"k{k}") for k in range(number)]))
        (run / "events.jsonl").write_text(log % (name, 1) + log % (name, 2**64 - 1))
    evaluation = judged(outputs.parent)
    assert counts(evaluation, "manifest_integrity") == (2, 2 * (2**64 - 1))
    assert json.loads(evaluation.to_json())["metrics"]["main"]["manifest_integrity"]["denominator"] == 2**65 - 2
    assert max(map(len, render(evaluation.report).splitlines())) <= 80


def test_the_record_of_a_run_with_more_steps_than_64_bits_hold(outputs: Path) -> None:
    run = write_run(outputs)
    log = '{"run_id": "r1", "step_id": %s, "event_type": "x", "payload": {}}\n'
    (run / "events.jsonl").write_text(log % 0 + log % (2**64 - 1))
    records = BytesIO()
    evaluate_suite(SUITE, {"golden": [str(outputs.parent / "golden.json")], "outputs": [str(outputs)]}, records=records)
    assert json.loads(records.getvalue().splitlines()[0])["units"]["steps"] == [0, 2**64 - 1]


def test_many_sparse_artifacts_are_not_read(outputs: Path) -> None:
    run = write_run(outputs)
    (run / "artifacts").mkdir()
    for number in range(60):
        path = run / "artifacts" / f"{number:064x}"
        path.touch()
        os.truncate(path, 60_000_000)  # nothing on disk
    evaluation = judged(outputs.parent, "research: {max_run_megabytes: 100}")
    assert broken(evaluation) == {"run_r1": "too_large"}
    assert "max_run_megabytes" in next(f["message"] for f in evaluation.report["findings"] if f["code"] == "too_large")
    files = read_run(str(outputs), "run_r1", ReadLimits(64_000_000, 100_000_000))
    assert files is not None
    assert files.bytes_read <= 100_000_000


def test_large_artifacts_do_not_keep_the_log_from_being_read(outputs: Path) -> None:
    out = output(claims=[claim(f"k{k}", ()) for k in range(5)])
    run = write_run(outputs, out=out)
    (run / "artifacts").mkdir()
    os.truncate(_touched(run / "artifacts" / "x"), 1_000_000)
    evaluation = judged(outputs.parent, "research: {max_run_megabytes: 0.5}")
    assert broken(evaluation) == {"run_r1": "too_large"}
    assert counts(evaluation, "evidence_coverage_rate") == (0, 5)
    assert counts(evaluation, "manifest_integrity") == (2, 2)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_limit_on_all_runs_together(outputs: Path, workers: int) -> None:
    for number in range(3):
        run = write_run(outputs, f"run{number}", output(f"r{number}"))
        (run / "artifacts").mkdir()
        os.truncate(_touched(run / "artifacts" / "x"), 1_000_000)
    error = error_from(InputError, judged, outputs.parent, "research: {max_total_megabytes: 2.5}", workers=workers)
    assert error.code == "outputs.too_large"
    assert "up to the run run2" in str(error.found)


def _touched(path: Path) -> Path:
    path.touch()
    return path


def test_every_text_is_folded_once() -> None:
    """Whole-chunk spans, and artifacts of many chunks: the work grows with the texts, not with records times texts."""
    text = "It’s  so. " * 2_000
    chunks = {f"c{k}": chunk("c1", chunk_id=f"c{k}", text=text + str(k), start_offset=None) for k in range(20)}
    source = "\n".join(part["text"] for part in chunks.values()).replace("’", "'").encode()
    sha256 = hashlib.sha256(source).hexdigest()
    sources = Sources(chunks, frozenset(), {sha256: Artifact(source, sha256)})  # type: ignore[arg-type]
    for number in range(400):
        part = chunks[f"c{number % 20}"]["text"]
        record = {
            "evidence_id": f"e{number}",
            "chunk_id": f"c{number % 20}",
            "quote": part.replace("’", "'"),  # folded, it is the whole chunk
            "span": {"start": 0, "end": len(part)},
            "provenance": {"source_id": "annals", "artifact_id": sha256},
        }
        assert check_evidence(record, sources, EvidenceDemands()).level == "chain"
    assert sources.folded_characters <= 2 * (len(source) + sum(len(part["text"]) for part in chunks.values()))


@cases("sign", ["…", "ʼ"])
def test_spans_over_text_without_letters_are_looked_through_once(sign: str) -> None:
    text = sign * 400_000
    sources = Sources({"c1": chunk("c1", text=text + " end")})  # type: ignore[dict-item]
    begin = time.process_time()
    for number in range(200):
        record = evidence(quote=None, span={"start": number, "end": len(text) - number})
        assert check_evidence(record, sources, EvidenceDemands()).failure == "blank_quote"
    assert check_evidence(
        evidence(quote=None, span={"start": 9, "end": len(text) + 2}), sources, EvidenceDemands()
    ).level
    assert time.process_time() - begin < 3  # 0.05 s; with every span looked through by itself 10 s


def test_places_of_shifted_quotes_are_named_until_too_much_was_folded_for_it() -> None:
    text = "It’s  so. " * 20_000 + "end"
    sources = Sources({"c1": chunk("c1", text=text)})  # type: ignore[dict-item]
    record = evidence(quote="It's so. end", span={"start": 0, "end": 3})
    messages = [check_evidence(record, sources, EvidenceDemands()).message for _ in range(20)]
    assert messages[0] == f"the quote is at {len(text) - 13} of the chunk, not at 0"
    assert messages[-1] == "the quote is elsewhere in the chunk, not at 0"


@pytest.mark.parametrize("line", ["x", *(pytest.param(line, marks=pytest.mark.slow) for line in ("[]", "{}"))])
def test_a_log_of_lines_that_are_no_events_is_read_to_a_limit(outputs: Path, line: str) -> None:
    run = write_run(outputs)
    log = (run / "events.jsonl").read_text()
    (run / "events.jsonl").write_text(log + f"{line}\n" * 1_000)
    evaluation = judged(outputs.parent)
    assert not broken(evaluation)
    messages = [entry["message"] for entry in evaluation.report["findings"] if entry["code"] == "bad_event"]
    assert "and 980 more findings of this kind" in messages
    (run / "events.jsonl").write_text(log + f"{line}\n" * 150_000)
    evaluation = judged(outputs.parent)
    assert broken(evaluation) == {"run_r1": "too_large"}
    assert "100,000 lines" in finding(evaluation, "too_large")["message"]
    assert counts(evaluation, "evidence_coverage_rate") == (0, 1)  # what the rest of the log says is not known


def test_bad_events_keep_their_number_and_their_severity(outputs: Path) -> None:
    run = write_run(outputs)
    with (run / "events.jsonl").open("a") as stream:
        stream.write('{"run_id": "r1", "event_type": "x", "payload": {}}\n' * 30)  # no step
        stream.write('{"run_id": "r1", "step_id": 1, "payload": 7}\n' * 30)  # two warnings each
        stream.write("{}\n" * 2)
    found = [entry for entry in judged(outputs.parent).report["findings"] if entry["code"] == "bad_event"]
    more = {entry["severity"]: entry["message"] for entry in found[-2:]}
    assert more == {
        "error": "and 12 more findings of this kind",
        "warning": "and 46 more findings of this kind",  # 60 + 2 × 3 − 20
    }


def test_lists_of_what_should_be_objects_are_not_described_one_by_one(outputs: Path) -> None:
    run = write_run(outputs, out=output(claims=[[]] * 50_000))
    with (run / "manifests.jsonl").open("a") as stream:
        stream.write(lines(*(manifest(1, candidate_chunk_ids=[0] * 5_000) for _ in range(40))))
    messages = [entry["message"] for entry in judged(outputs.parent).report["findings"]]
    assert "and at least 980 more findings of this kind" in messages  # of a thousand that were looked for
    assert "and at least 1019 more findings of this kind" in messages  # a thousand, and one for each further manifest


@pytest.mark.parametrize("name", ["research_output.json", "chunks.jsonl", "manifests.jsonl", "events.jsonl"])
def test_more_values_than_fit_into_memory_are_not_decoded(outputs: Path, name: str) -> None:
    run = write_run(outputs)
    first, *rest = (run / name).read_text().splitlines(keepends=True)
    dense = first.rstrip()[:-1] + ', "more": [' + "[]," * 30_000 + "[]]}\n"
    (run / name).write_text(dense + "".join(rest))
    assert not broken(judged(outputs.parent))
    evaluation = judged(outputs.parent, "research: {max_run_megabytes: 0.5}")
    assert broken(evaluation) == {"run_r1": "too_large"}
    assert finding(evaluation, "too_large")["file"] == f"run_r1/{name}"
    assert "three times research.max_run_megabytes" in finding(evaluation, "too_large")["message"]


@pytest.mark.parametrize(
    "dense",
    ["{" * 20_000 + '"' + '\\"' * 400_000 + "\n", '"\n[' + "[]," * 30_000 + '[]]\n"\n'],
    ids=["each quotation mark may begin a string that never ends", "values between two strings without an end"],
)
def test_strings_without_an_end_hide_no_values(outputs: Path, dense: str) -> None:
    run = write_run(outputs)
    with (run / "events.jsonl").open("a") as stream:
        stream.write(dense)
    evaluation = judged(outputs.parent, "research: {max_run_megabytes: 0.9}")
    assert broken(evaluation) == {"run_r1": "too_large"}
    assert "would be decoded" in finding(evaluation, "too_large")["message"]


def test_texts_full_of_commas_and_braces_are_no_values(outputs: Path) -> None:
    write_run(outputs, chunks=[chunk("c1", text=chunk_text("c1") + '{"a": [1, 2]}, ' * 10_000)])
    assert not broken(judged(outputs.parent, "research: {max_run_megabytes: 0.5}"))


def test_comparing_objectives_of_no_query_has_an_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goldgate.suites.research.golden._MAX_COMPARED", 1_000_000)  # a tenth: as far, sooner
    words = [f"{letter}{number}" for number in range(150) for letter in "abcde"][:230]
    write_golden(tmp_path, *(query(f"{number} " + " ".join(words)) for number in range(100)))
    golden = load_golden(str(tmp_path / "golden.json"))
    strangers = [" ".join(Random(seed).sample(words, len(words))) for seed in range(150)]
    near = near_queries([*strangers, "7 " + " ".join(words)[:-1], "7  " + " ".join(words)], golden)
    assert near.queries.keys() == {"7  " + " ".join(words)}
    assert near.not_compared > 20


def test_half_a_surrogate_pair_in_a_chunk_with_a_hash(outputs: Path) -> None:
    stored = chunk("c1", text=chunk_text("c1") + "\ud800", text_hash="0" * 64)
    write_run(outputs, chunks=[stored])
    assert "hash_mismatch" in codes(judged(outputs.parent))


def test_one_query_with_very_many_trials_takes_no_time_for_the_others(tmp_path: Path) -> None:
    evaluation = judged_run(
        tmp_path,
        *(query(f"Query {number}?") for number in range(2_000)),
        protocol="research: {trials: 10000}",
        out=output(objective="Query 1?"),
    )
    assert counts(evaluation, "golden_recall") == (1, 20_000_000)


def test_integers_beyond_all_bounds(outputs: Path) -> None:
    run = write_run(outputs)
    log = '{"run_id": "r1", "step_id": %s, "event_type": "x", "payload": {}}\n'
    (run / "events.jsonl").write_text(log % 1 + log % ("9" * 30) + log % -1 + log % 2)
    evaluation = judged(outputs.parent)
    assert counts(evaluation, "manifest_integrity") == (2, 3)
    assert "bad_event" in codes(evaluation)


@pytest.mark.parametrize("claim_id", [["b"], {"b": 1}, None, 7, True])
def test_a_claim_id_of_another_type_beside_conflicting_ones(outputs: Path, claim_id: object) -> None:
    conflicting = [claim(), {**claim(), "statement": "Other."}]
    write_run(outputs, out=output(claims=[*conflicting, {**claim(), "claim_id": claim_id}]))
    evaluation = judged(outputs.parent)
    assert "conflicting_claim" in codes(evaluation)
    assert counts(evaluation, "evidence_coverage_rate") == (0, 3)


def test_a_key_that_stands_twice_among_very_many_is_found_in_time(outputs: Path) -> None:
    run = write_run(outputs)
    many = ", ".join(f'"k{number}": 1' for number in range(50_000))
    (run / "research_output.json").write_text(lines(output()).strip()[:-1] + f', "notes": {{{many}, "k49999": 2}}}}')
    assert set(broken(judged(outputs.parent)).values()) == {"repeated_key"}


def test_a_page_with_a_tag_without_end_is_read_in_time() -> None:
    began = time.process_time()
    assert html_text("<p>It fr<b>oze</b> <" + "a" * 300_000).split()[:2] == ["It", "froze"]
    assert time.process_time() - began < 2


def test_steps_of_a_broken_run_of_no_query_do_not_raise_manifest_integrity(outputs: Path) -> None:
    write_run(outputs, manifests=[manifest(1)])
    stranger = write_run(outputs, "run_r2", output("r2"), events=[event(step, "r2") for step in (1, 2)])
    (stranger / "research_output.json").write_text("[]")
    evaluation = judged(outputs.parent)
    assert counts(evaluation, "manifest_integrity") == (1, 2)
    assert SUITE.stored_rates(evaluation.report).rates["manifest_integrity"] == (1, 2)
