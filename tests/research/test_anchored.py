"""Anchored evidence: a chain to a source that the evaluator knows, and what a chain by itself does not prove."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner

from goldgate import evaluate_outputs
from goldgate.cli.main import goldgate
from goldgate.core.evaluation import Evaluation
from goldgate.errors import ConfigError, InputError
from goldgate.report import render
from goldgate.suites.research.golden import check_corpus_apart, load_corpus
from tests.cases import cases, error_from

from .cheats.evidence import store_a_source_of_ones_own
from .judged import counts, judged
from .trees import SHA256, SOURCE, evidence, output, query, write_golden, write_run

ROOT = Path(__file__).resolve().parents[2]
INSUFFICIENT = query("Who owned the ships?", (), False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run whose record reaches its stored source."""
    write_golden(tmp_path)
    record = evidence(provenance={"source_id": "annals", "content_hash": SHA256})
    write_run(tmp_path / "outputs", out=output(evidence=[record]), artifact=True)
    return tmp_path


def levels(evaluation: Evaluation) -> dict[str, int]:
    return {name: count for name, count in evaluation.report["evidence"]["levels"].items() if count}


def test_a_list_of_hashes_anchors(folder: Path) -> None:
    corpus = folder / "corpus.txt"
    corpus.write_text(f"# sources\n\n{'0' * 64}  other.txt\nsha256:{SHA256.upper()}  annals.txt\n")
    evaluation = judged(folder, corpus=corpus)
    assert levels(evaluation) == {"anchored": 1}
    assert evaluation.report["evidence"]["note"] is None
    assert evaluation.report["inputs"]["corpus"]["hashes"] == 2
    assert f"|corpus:{evaluation.report['inputs']['corpus']['sha256'][:12]}" in evaluation.report["signature"]
    assert counts(evaluation, "evidence_coverage_rate") == (1, 1)


def test_a_folder_of_sources_is_the_same_as_their_hashes(folder: Path) -> None:
    (folder / "sources" / "deeper").mkdir(parents=True)
    (folder / "sources" / "deeper" / "annals.txt").write_text(SOURCE)
    (folder / "sources" / "other.txt").write_text("Other")
    os.mkfifo(folder / "sources" / "pipe")  # never waited for
    listed = folder / "corpus.txt"
    listed.write_text(f"{hashlib.sha256(b'Other').hexdigest()}\n{SHA256}\n")
    assert load_corpus(folder / "sources") == load_corpus(listed)
    assert levels(judged(folder, corpus=folder / "sources")) == {"anchored": 1}


def test_hashes_beside_the_golden_ids_anchor_too(folder: Path) -> None:
    write_golden(folder, {**query(), "artifact_hashes": [f"sha256:{SHA256}"]})
    evaluation = judged(folder)
    assert levels(evaluation) == {"anchored": 1}
    assert evaluation.report["evidence"]["note"] is None
    assert evaluation.report["inputs"]["corpus"] is None
    write_golden(folder, {**query(), "artifact_hashes": ["annals"]})
    assert error_from(InputError, judged, folder).expected == "a SHA-256 hash of 64 hexadecimal digits"


def test_without_an_anchor_the_report_says_what_chain_does_not_prove(folder: Path) -> None:
    evaluation = judged(folder)
    assert levels(evaluation) == {"chain": 1}
    report = json.loads(evaluation.to_json())
    words = "chain show that a quote is in a text which the run itself stored"
    assert words in " ".join(render(report).split())
    assert words in render(report, "markdown")
    assert words in report["evidence"]["note"]


def test_a_chain_to_a_source_of_ones_own_is_not_anchored(tmp_path: Path) -> None:
    """The moon is made of cheese, says a stored source: "a"."""
    outputs = tmp_path / "outputs"
    shutil.copytree(ROOT / "examples" / "research" / "passing", outputs)
    store_a_source_of_ones_own(outputs)
    golden = ROOT / "eval" / "golden_queries.json"
    corpus = tmp_path / "corpus.txt"
    corpus.write_text(f"{SHA256}\n")
    protocol = tmp_path / "protocol.yaml"
    protocol.write_text("research: {require: quote_and_span, require_verbatim: true}")
    plain = evaluate_outputs(golden, outputs, protocol)
    assert levels(plain) == {"chain": 14}
    assert plain.report["evidence"]["note"] is not None
    assert {finding["code"] for finding in plain.report["findings"]} == {"thin_quote", "empty_evidence"}
    known = evaluate_outputs(golden, outputs, protocol, corpus=corpus)
    assert levels(known) == {"chain": 14}
    assert "not_in_corpus" in {finding["code"] for finding in known.report["findings"]}
    protocol.write_text("research: {require_anchored: true}")
    strict = evaluate_outputs(golden, outputs, protocol, corpus=corpus)
    assert counts(strict, "evidence_coverage_rate") == (0, 14)
    assert strict.report["evidence"]["failures"] == {"not_anchored": 14}
    assert not strict.passed


def test_demanding_anchors_without_any_is_a_mistake(folder: Path) -> None:
    error = error_from(ConfigError, judged, folder, "research: {require_anchored: true}")
    assert error.code == "protocol.no_anchor"
    assert error.place.line == 1


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, "corpus.missing"),
        ("", "corpus.empty"),
        ("# only\n", "corpus.empty"),
        ("annals.txt\n", "corpus.not_a_hash"),
    ],
)
def test_a_corpus_that_is_none(folder: Path, content: str | None, code: str) -> None:
    path = folder / "corpus.txt"
    if content is not None:
        path.write_text(content)
    error = error_from(InputError, judged, folder, corpus=path)
    assert error.code == code
    assert "--corpus" in str(error.expected)


@pytest.mark.parametrize("place", ["outputs", "outputs/run_r1/artifacts", "."])
def test_a_corpus_that_the_agent_writes_to_anchors_nothing(folder: Path, place: str) -> None:
    assert error_from(ConfigError, judged, folder, corpus=folder / place).code == "corpus.holds_outputs"


@cases("corpus", ["s3://b/runs/sums.txt", "S3://b/runs/", "s3://b"])
def test_nor_does_one_by_another_url_of_the_same_place(corpus: str) -> None:
    assert error_from(ConfigError, check_corpus_apart, corpus, "s3://b/runs").code == "corpus.holds_outputs"
    check_corpus_apart("S3://b/sources", "s3://b/runs")


def test_commands_take_a_corpus(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = folder / "corpus.txt"
    corpus.write_text(SHA256)
    arguments = ["research", "--golden", "golden.json", "--outputs", "outputs", "--corpus", "corpus.txt"]
    monkeypatch.chdir(folder)
    assert "anchored 1" in CliRunner().invoke(goldgate, arguments).output
    check = ["check", "outputs/run_r1", "--corpus", "corpus.txt", "--format", "json"]
    assert json.loads(CliRunner().invoke(goldgate, check).stdout)["evidence"]["anchored"] == 1
    assert CliRunner().invoke(goldgate, [*arguments, "--report", "corpus.txt"]).exit_code == 2
    assert corpus.read_text() == SHA256


def test_an_artifact_with_a_byte_order_mark_has_the_hash_of_its_stored_bytes(tmp_path: Path) -> None:
    write_golden(tmp_path)
    data = b"\xef\xbb\xbf" + SOURCE.encode()
    sha256 = hashlib.sha256(data).hexdigest()
    record = evidence(provenance={"source_id": "annals", "content_hash": f"sha256:{sha256}"})
    run = write_run(tmp_path / "outputs", out=output(evidence=[record]))
    (run / "artifacts").mkdir()
    (run / "artifacts" / sha256).write_bytes(data)
    (tmp_path / "sources").mkdir()
    (tmp_path / "sources" / "annals.txt").write_bytes(data)
    evaluation = judged(tmp_path, corpus=tmp_path / "sources")
    assert levels(evaluation) == {"anchored": 1}
    assert "hash_mismatch" not in {found["code"] for found in evaluation.report["findings"]}
