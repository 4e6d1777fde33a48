"""Reading outputs: what is missing, broken, ignored, doubled or out of bounds, and what it costs."""

from __future__ import annotations

import os
import shutil
import socket
from pathlib import Path

import pytest

from goldgate.errors import InputError
from tests.cases import error_from

from .judged import broken, codes, counts, finding, judged, judged_run, unbalanced
from .trees import abstention, event, evidence, output, query, write_golden, write_run

INSUFFICIENT = query("Who owned the ships?", (), False)


def test_outputs_missing_or_not_a_directory_stop_the_evaluation(tmp_path: Path) -> None:
    from goldgate import evaluate_outputs

    write_golden(tmp_path)
    with pytest.raises(InputError) as missing:
        evaluate_outputs(tmp_path / "golden.json", tmp_path / "nowhere")
    assert missing.value.code == "outputs.missing"
    error = error_from(InputError, evaluate_outputs, tmp_path / "golden.json", tmp_path / "golden.json")
    assert error.code == "outputs.not_a_directory"


@pytest.mark.parametrize(
    ("files", "found", "advice"),
    [
        ([], "an empty directory", "run the agent first"),
        (["research_output.json", "manifests/1.json"], "the files of one run", "name the folder above it"),
        (["july/run_r1/events.jsonl"], "runs one folder deeper, in july", "outputs/july"),
        (["july/first/run_r1/events.jsonl"], "runs some folders deeper, in july/first", "outputs/july/first"),
        (["logs/a.eval", "results.json"], "no run, but logs, results.json", "docs/research.md"),
    ],
)
def test_outputs_without_a_single_run_measure_nothing(
    tmp_path: Path, files: list[str], found: str, advice: str
) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    for name in files:
        (tmp_path / "outputs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "outputs" / name).write_text("{}")
    error = error_from(InputError, judged, tmp_path)
    assert error.code == "outputs.no_runs"
    assert error.found == found
    assert advice in str(error.advice)


def test_a_broken_run_is_a_run(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    (tmp_path / "outputs" / "run_r1").mkdir(parents=True)
    (tmp_path / "outputs" / "run_r1" / "events.jsonl").write_text("")
    evaluation = judged(tmp_path)
    assert evaluation.exit_status == 1
    assert counts(evaluation, "golden_recall") == (0, 1)
    assert counts(evaluation, "abstention_accuracy") == (0, 1)
    assert [gate["verdict"] for gate in evaluation.report["gates"]] == ["FAIL"] * 4
    assert evaluation.report["conservation"]["queries"] == {
        "total": 2,
        "answered": 0,
        "missing": 2,
        "broken_only": 0,
    }


def test_strays_are_listed_as_ignored(tmp_path: Path) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    (run / "notes.txt").write_text("mine")
    (run / "manifests").mkdir()
    (run / "manifests" / "readme.md").write_text("mine")
    (tmp_path / "outputs" / "empty").mkdir()
    (tmp_path / "outputs" / "summary.csv").write_text("a,b")
    evaluation = judged(tmp_path)
    assert [entry["path"] for entry in evaluation.report["ignored"]] == [
        "empty/",
        "run_r1/manifests/readme.md",
        "run_r1/notes.txt",
        "summary.csv",
    ]
    assert evaluation.report["conservation"]["directories"] == {"total": 2, "runs": 1, "ignored": 1}
    assert evaluation.passed is False  # no insufficient query: abstention cannot be evaluated


@pytest.mark.parametrize(
    "content",
    [None, b"", b"{", b"\xff\xfe\x00", b"[1, 2]", b'"text"', b"[" * 5000, b'{"run_id": "r1"}', b"\x00" * 100],
)
def test_a_run_without_a_readable_output_is_broken_and_its_query_fails(tmp_path: Path, content: bytes | None) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    run = write_run(tmp_path / "outputs")
    write_run(tmp_path / "outputs", "run_r2", abstention("r2"))
    if content is None:
        (run / "research_output.json").unlink()
    else:
        (run / "research_output.json").write_bytes(content)
    evaluation = judged(tmp_path)
    assert list(broken(evaluation)) == ["run_r1"]
    assert counts(evaluation, "golden_recall") == (0, 1)
    assert counts(evaluation, "manifest_integrity") == (4, 4)  # its steps still count
    assert evaluation.report["queries"][0]["status"] == "broken"  # found from its events
    assert evaluation.report["queries"][0]["trials"] == 1
    assert counts(evaluation, "run_completion_rate") == (1, 2)
    assert not list(unbalanced(evaluation))


@pytest.mark.parametrize(
    "change",
    [
        {"run_id": ""},
        {"objective": 3},
        {"stop_reason": "DONE"},
        {"claims": None},
        {"claims": {}},
        {"evidence": "none"},
        {"steps": 3},
    ],
)
def test_an_output_with_a_malformed_head_is_broken(tmp_path: Path, change: dict[str, object]) -> None:
    evaluation = judged_run(tmp_path, out={**output(), **change}, events=[event(1), event(2)])
    assert broken(evaluation) == {"run_r1": "output_unreadable"}
    assert finding(evaluation, "contract")["severity"] == "error"


def test_a_broken_runs_readable_claims_stay_in_the_denominator(tmp_path: Path) -> None:
    assert counts(judged_run(tmp_path, out=output(stop_reason="DONE")), "evidence_coverage_rate") == (0, 1)


def test_a_query_with_no_run_counts_as_failed(tmp_path: Path) -> None:
    evaluation = judged_run(tmp_path, query(), query("Other?", ("x", "y")), INSUFFICIENT)
    assert counts(evaluation, "golden_recall") == (1, 3)
    assert counts(evaluation, "abstention_accuracy") == (0, 1)
    assert counts(evaluation, "run_completion_rate") == (1, 3)
    assert [query["status"] for query in evaluation.report["queries"]] == ["answered", "missing", "missing"]


def test_a_run_of_no_query_counts_for_claims_and_steps_only(tmp_path: Path) -> None:
    write_golden(tmp_path, query(), INSUFFICIENT)
    write_run(tmp_path / "outputs")
    write_run(tmp_path / "outputs", "run_r2", output("r2", objective="Something else entirely"))
    write_run(tmp_path / "outputs", "run_r3", abstention("r3"))
    evaluation = judged(tmp_path)
    assert finding(evaluation, "unknown_objective")["file"] == "run_r2/research_output.json"
    assert counts(evaluation, "evidence_coverage_rate") == (2, 2)
    assert counts(evaluation, "manifest_integrity") == (6, 6)
    assert counts(evaluation, "golden_recall") == (1, 1)
    assert counts(evaluation, "abstention_accuracy") == (1, 1)
    assert evaluation.passed


def test_several_runs_of_a_query_are_trials_on_their_own(tmp_path: Path) -> None:
    write_golden(tmp_path, query(ids=("e1", "e2")))
    both = [evidence("e1"), evidence("e2", "c2", "eleven days")]
    write_run(tmp_path / "outputs", "a", output("r1", evidence=both))
    write_run(tmp_path / "outputs", "b", output("r2", evidence=both[:1]))
    write_run(tmp_path / "outputs", "c", output("r3", evidence=[], claims=[]))
    evaluation = judged(tmp_path)
    assert counts(evaluation, "golden_recall") == (3, 6)  # 2 + 1 + 0 of 2 each; ledgers are never merged
    recall = evaluation.report["queries"][0]["recall"]
    assert recall["best"]["value"] == 1.0
    assert recall["worst"]["value"] == 0.0
    assert recall["mean"] == {"value": 0.5, "averaged": 3, "undefined": 0}


def test_the_same_run_twice_counts_once_with_a_warning(tmp_path: Path) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    shutil.copytree(run, tmp_path / "outputs" / "run_r1_copy")
    evaluation = judged(tmp_path)
    assert finding(evaluation, "copied_run")["severity"] == "warning"
    assert counts(evaluation, "golden_recall") == (1, 1)
    assert evaluation.report["conservation"]["directories"] == {"total": 2, "runs": 1, "ignored": 1}


def test_one_run_id_with_different_bytes_breaks_both(tmp_path: Path) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs", "a")
    write_run(tmp_path / "outputs", "b", output(claims=[]))
    evaluation = judged(tmp_path)
    assert broken(evaluation) == {"a": "conflicting_run_id", "b": "conflicting_run_id"}
    assert counts(evaluation, "golden_recall") == (0, 2)
    assert counts(evaluation, "evidence_coverage_rate") == (0, 1)


@pytest.mark.parametrize("name", ["research_output.json", "chunks.jsonl", "events.jsonl", "manifests", "artifacts"])
def test_a_link_that_leaves_the_outputs_is_not_read(tmp_path: Path, name: str) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs", artifact=True)
    outside = tmp_path / "outside"
    if (run / name).is_dir():
        shutil.move(run / name, outside)
    elif (run / name).exists():
        (run / name).rename(outside)
    else:
        outside.mkdir()
    (run / name).symlink_to(outside)
    evaluation = judged(tmp_path)
    assert broken(evaluation) == {"run_r1": "link_leaves_outputs"}
    assert counts(evaluation, "golden_recall") == (0, 1)


def test_a_run_directory_that_is_a_link_out_is_broken_and_one_to_another_run_is_ignored(tmp_path: Path) -> None:
    write_golden(tmp_path)
    write_run(tmp_path / "outputs")
    elsewhere = write_run(tmp_path / "elsewhere", out=output("r2"))
    (tmp_path / "outputs" / "out").symlink_to(elsewhere)
    (tmp_path / "outputs" / "in").symlink_to(tmp_path / "outputs" / "run_r1")
    (tmp_path / "outputs" / "nowhere").symlink_to(tmp_path / "gone")
    (tmp_path / "outputs" / "loop").symlink_to(tmp_path / "outputs")
    evaluation = judged(tmp_path)
    assert broken(evaluation) == {"out": "link_leaves_outputs"}
    ignored = {entry["path"]: entry["reason"] for entry in evaluation.report["ignored"]}
    assert ignored["in"] == "a link to run_r1, which counts under its own name"
    assert "copied_run" not in codes(evaluation)
    assert not list(unbalanced(evaluation))


def test_a_file_over_the_limit_is_not_read(tmp_path: Path) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    with (run / "chunks.jsonl").open("a") as stream:
        stream.write('{"chunk_id": "' + "x" * 2_000_000)
    evaluation = judged(tmp_path, "research: {max_file_megabytes: 1.5}")
    assert broken(evaluation) == {"run_r1": "too_large"}
    assert "2,000" in finding(evaluation, "too_large")["message"]


@pytest.mark.parametrize(
    "name", ["research_output.json", "events.jsonl", "manifests.jsonl", "chunks.jsonl", "manifests", "artifacts"]
)
@pytest.mark.parametrize("kind", ["fifo", "socket", "directory", "file"])
def test_what_is_no_regular_file_never_makes_it_wait(tmp_path: Path, name: str, kind: str) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    (run / name).unlink(missing_ok=True)
    is_folder = name in ("manifests", "artifacts")
    if kind == "fifo":
        os.mkfifo(run / name)
    elif kind == "socket":
        where = os.getcwd()
        os.chdir(run)  # a socket's path must be short
        try:
            with socket.socket(socket.AF_UNIX) as server:
                server.bind(name)
        finally:
            os.chdir(where)
    elif kind == "directory":
        (run / name).mkdir()
    else:
        (run / name).write_bytes(b"\x00\xff")
    evaluation = judged(tmp_path)
    assert not list(unbalanced(evaluation))
    if kind in ("fifo", "socket") or (kind == "directory") is not is_folder:
        assert list(broken(evaluation)) == ["run_r1"] or kind == "file"


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_file_without_permission_breaks_the_run(tmp_path: Path) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    (run / "chunks.jsonl").chmod(0)
    assert broken(judged(tmp_path)) == {"run_r1": "unreadable"}


def test_a_directory_that_cannot_be_listed_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    real = os.scandir

    def scandir(path: str) -> object:
        if str(path).endswith("run_r1"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert run.exists()
    assert broken(judged(tmp_path)) == {"run_r1": "unreadable"}


def test_evidence_embedded_in_a_claim_is_read_as_ledger_entries(tmp_path: Path) -> None:
    write_golden(tmp_path)
    embedded = {"claim_id": "k1", "statement": "s", "status": "verified", "evidence": [evidence()]}
    out = output(claims=[embedded])
    del out["evidence"]
    write_run(tmp_path / "outputs", out=out)
    evaluation = judged(tmp_path)
    assert counts(evaluation, "evidence_coverage_rate") == (1, 1)
    assert counts(evaluation, "golden_recall") == (1, 1)
    assert counts(evaluation, "uncited_evidence_rate") == (0, 1)


@pytest.mark.parametrize(
    ("added", "is_broken"),
    [
        (', "claims": []', True),
        (', "cl\\u0061ims" : []', True),
        (', "more": {"a": 1, "b": {"a": 1}, "c": "\\"a\\": 1"}', False),
        (', "more": [{"a": 1, "a" :2}]', True),
        (', "more": "\\":\\":"', False),
        (', "more": "\\u003a\\u003A"', False),
        (', "more": "\\u003a", "more": 1', True),
        (', "more": {"a": "\\u003A:", "a": 1}', True),
    ],
)
def test_a_key_that_stands_twice_breaks_the_run(tmp_path: Path, added: str, is_broken: bool) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    text = (run / "research_output.json").read_text()
    (run / "research_output.json").write_text(text[:-1] + added + "}")
    assert broken(judged(tmp_path)) == ({"run_r1": "repeated_key"} if is_broken else {})


def test_a_torn_line_of_chunks_breaks_the_run(tmp_path: Path) -> None:
    write_golden(tmp_path)
    run = write_run(tmp_path / "outputs")
    with (run / "chunks.jsonl").open("a") as stream:
        stream.write('{"chunk_id": "' + "x" * 20_000_000)
    evaluation = judged(tmp_path)
    assert finding(evaluation, "unreadable_chunks")["line"] == 4
    assert broken(evaluation) == {"run_r1": "unreadable_chunks"}
    assert counts(evaluation, "golden_recall") == (0, 1)
