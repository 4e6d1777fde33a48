"""`goldgate verify`: the same inputs give the same files; whatever was changed afterwards is found and named."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.results.made import edit, make, set_in, verified, verify

ALL = ("extraction", "research", "qa")


# --- verified


@pytest.mark.parametrize(
    ("suite", "more"),
    [
        *((suite, more) for suite in ALL for more in ((), ("--records",))),
        ("qa", ("--workers", "2")),
        pytest.param("extraction", ("--workers", "2"), marks=pytest.mark.slow),
        pytest.param("research", ("--workers", "2"), marks=pytest.mark.slow),
    ],
)
def test_what_was_not_touched_is_verified_from_any_folder(
    suite: str, more: tuple[str, ...], at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = at(suite)
    monkeypatch.chdir(folder.parent)
    status, found = verified(str(folder / "out"), *more)
    assert (status, found["status"], found["differences"]) == (0, "verified", [])
    assert not any(entry["changed"] for entry in found["inputs"])


def test_the_text_names_what_was_compared_and_what_was_not(at: Callable[[str], Path]) -> None:
    at("extraction")
    result = verify("out")
    assert result.exit_code == 0
    assert result.stdout.startswith("verified  goldgate verify: report of the extraction suite")
    assert re.search(r"predictions +same, sha256 1ca746c74e1a, model-b\.jsonl", result.stdout)
    listed = "run.json: it cannot be made again, and the pages are only held against the digests in it"
    assert listed in " ".join(result.stdout.split())


def test_a_lone_report_is_verified_where_the_inputs_are_named(at: Callable[[str], Path]) -> None:
    at("qa")
    shutil.copy("out/report.json", "alone.json")
    error = verified("alone.json")[1]["error"]
    assert error["code"] == "verify.input_unknown"
    assert error["advice"] == "add --gold FILE --predictions FILE"  # all of them at once
    given = ("--gold", "gold.jsonl", "--predictions", "answers.jsonl")
    status, found = verified("alone.json", *given)
    assert (status, found["compared"]) == (0, ["alone.json"])


def test_a_report_beside_its_run_record_is_verified_like_its_folder(at: Callable[[str], Path]) -> None:
    at("qa")
    assert verified("out/report.json") == verified("out")


def test_inputs_that_moved_are_found_under_their_new_root(
    at: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = at("extraction")
    moved = folder.parent / "elsewhere"
    monkeypatch.chdir(folder.parent)
    folder.rename(moved)
    status, found = verified("elsewhere/out")
    assert (status, found["error"]["code"]) == (2, "verify.input_missing")
    assert "--root DIR" in found["error"]["advice"]
    assert verified("elsewhere/out", "--root", "elsewhere")[0] == 0


def test_an_input_beside_the_report_is_found_there(at: Callable[[str], Path]) -> None:
    at("qa")
    shutil.move("answers.jsonl", "out/answers.jsonl")
    assert verified("out")[0] == 0


def test_what_came_from_standard_input_must_be_named(at: Callable[[str], Path]) -> None:
    at("qa")
    set_in("out/run.json", ["inputs", "gold"], ["-"])
    assert verified("out")[1]["error"]["message"].endswith("came from standard input")
    assert verified("out", "--gold", "gold.jsonl")[0] == 0


# --- tampered


def test_one_count_in_the_report(at: Callable[[str], Path]) -> None:
    at("extraction")
    set_in("out/report.json", ["metrics", "main", "strict_f1", "numerator"], 431)
    for more in ((), ("--records",)):
        status, found = verified("out", *more)
        first = found["difference"]
        assert (status, first["file"], first["pointer"]) == (1, "report.json", "/metrics/main/strict_f1/numerator")
        assert (first["stored"], first["recomputed"]) == ("431", "430")
    assert "a stored file was changed" in verify("out").stdout


def test_one_line_of_the_records(at: Callable[[str], Path]) -> None:
    at("extraction")
    edit("out/samples.jsonl", '"units":{"matching":[6,6,6,6]', '"units":{"matching":[5,6,6,6]')
    status, found = verified("out")
    first = found["difference"]
    assert (status, first["file"], first["line"], first["id"]) == (1, "samples.jsonl", 1, "zh-001")
    assert (first["pointer"], first["stored"], first["recomputed"]) == ("/units/matching/0", "5", "6")
    found = verified("out", "--records")[1]
    assert found["difference"]["pointer"] == "/metrics/main/strict_precision/value"
    shown = verify("out", "--records").stdout
    assert "report and records do not belong together" in shown
    assert "inputs" not in shown.partition("Not compared")[0]  # nobody looked at them
    assert "Further differences" in shown
    assert "other files" not in shown


@pytest.mark.parametrize("line", ["last", "more"])
def test_a_record_that_is_lacking_or_too_many(line: str, at: Callable[[str], Path]) -> None:
    at("qa")
    lines = Path("out/samples.jsonl").read_text().splitlines(keepends=True)
    Path("out/samples.jsonl").write_text("".join(lines[:-1] if line == "last" else [*lines, lines[0]]))
    status, found = verified("out")
    assert (status, found["difference"]["line"]) == (1, 20 if line == "last" else 21)
    assert "nothing" in (found["difference"]["stored"], found["difference"]["recomputed"])


@pytest.mark.parametrize("file", ["report.md", "report.html", "samples.jsonl"])
def test_a_file_that_was_removed(file: str, at: Callable[[str], Path]) -> None:
    at("qa")
    Path("out", file).unlink()
    status, found = verified("out")
    assert (status, found["difference"]["file"], found["difference"]["stored"]) == (1, file, "nothing")


@pytest.mark.parametrize(
    ("page", "old", "new"), [("report.md", "FAIL", "PASS"), ("report.html", "<title>FAIL", "<title>PASS")]
)
def test_a_page_that_was_edited(page: str, old: str, new: str, at: Callable[[str], Path]) -> None:
    at("extraction")
    edit(f"out/{page}", old, new)
    [difference] = verified("out")[1]["differences"]
    assert (difference["file"], difference["stored"][:7]) == (page, "sha256 ")
    assert difference["recomputed"].endswith("as in run.json")


def test_pages_without_their_digests_are_not_taken_for_verified(at: Callable[[str], Path]) -> None:
    at("qa")
    set_in("out/run.json", ["pages"], {})
    differences = verified("out")[1]["differences"]
    assert [each["file"] for each in differences] == ["report.md", "report.html", "junit.xml"]
    assert {each["recomputed"] for each in differences} == {"a file with its digest in run.json"}


def test_layout_of_a_report_does_not_matter(at: Callable[[str], Path]) -> None:
    at("qa")
    Path("out/report.json").write_text(json.dumps(json.loads(Path("out/report.json").read_bytes())))
    assert verified("out")[0] == 0


def test_a_key_that_stands_twice_is_refused(at: Callable[[str], Path]) -> None:
    at("qa")
    edit("out/report.json", '"suite": "qa"', '"suite": "qa", "suite": "qa"')
    assert verified("out")[1]["error"]["code"] == "report.duplicate_key"


# --- changed inputs


def append_a_blank_line() -> None:
    Path("answers.jsonl").write_text(Path("answers.jsonl").read_text() + "\n")


CHANGED: list[tuple[str, Callable[[], None], str, str]] = [
    ("qa", lambda: edit("answers.jsonl", '"answer": "1"', '"answer": "2"'), "predictions", "/gates/0/reason"),
    ("qa", append_a_blank_line, "predictions", "/inputs/predictions/0/sha256"),  # it changes no number
    ("extraction", lambda: edit("protocol-fail.yaml", "0.97", "0.1"), "protocol", "/gates"),
    ("research", lambda: shutil.rmtree("runs/run_a0"), "outputs", "/gates/0"),
]


@pytest.mark.parametrize(("suite", "change", "name", "pointer"), CHANGED)
def test_an_input_that_was_changed_is_named(
    suite: str, change: Callable[[], None], name: str, pointer: str, at: Callable[[str], Path]
) -> None:
    at(suite)
    change()
    status, found = verified("out")
    assert (status, found["difference"]["pointer"][: len(pointer)]) == (1, pointer)
    assert [entry["input"] for entry in found["inputs"] if entry["changed"]] == [name]
    assert found["settings"] == []  # no setting of a metric
    assert f"{name}: other bytes than the report was made from" in verify("out").stdout


def test_a_setting_that_changed_is_named(at: Callable[[str], Path]) -> None:
    at("research")
    Path("protocol.yaml").write_text("research: {trials: 2}\n")
    assert verified("out")[1]["settings"] == [{"name": "trials", "stored": "3", "now": "2"}]


def test_an_input_that_cannot_be_read_any_more_has_changed(at: Callable[[str], Path]) -> None:
    at("qa")
    Path("answers.jsonl").write_text("{")
    status, found = verified("out")
    assert (status, found["error"]["code"], found["inputs"][0]["input"]) == (1, "predictions.not_json", "predictions")
    assert "Cannot be recomputed" in verify("out").stdout


def test_an_input_that_is_gone(at: Callable[[str], Path]) -> None:
    at("qa")
    Path("answers.jsonl").unlink()
    status, found = verified("out")
    assert (status, found["error"]["code"]) == (2, "verify.input_missing")
    assert "--predictions FILE" in found["error"]["advice"]


def test_other_versions_are_named(at: Callable[[str], Path]) -> None:
    at("extraction")
    edit("out/report.json", "goldgate:0.1.0", "goldgate:0.0.9")
    edit("out/report.json", "|parser:5", "|parser:2")
    set_in("out/run.json", ["versions", "unicode"], "13.0.0")
    found = verified("out")[1]
    assert [(entry["name"], entry["stored"]) for entry in found["settings"]] == [
        ("goldgate", "0.0.9"),
        ("parser", "2"),
        ("unicode", "13.0.0"),
    ]
    assert "made with another value of goldgate, parser, unicode" in verify("out").stdout


# --- forged


def test_a_run_record_that_names_other_inputs(at: Callable[[str], Path]) -> None:
    """Better answers, and run.json points to them: the digests in the report are of the others."""
    at("qa")
    better = [{**json.loads(line), "answer": "1"} for line in Path("answers.jsonl").read_text().splitlines()]
    Path("better.jsonl").write_text("".join(json.dumps(record) + "\n" for record in better))
    set_in("out/run.json", ["inputs", "predictions"], ["better.jsonl"])
    status, found = verified("out")
    assert status == 1
    assert [entry["input"] for entry in found["inputs"] if entry["changed"]] == ["predictions"]


def test_a_report_and_records_that_agree_with_each_other(at: Callable[[str], Path]) -> None:
    """Records made from other answers, and the report that they give: true to each other, and not to the inputs."""
    at("qa")
    shutil.copytree("out", "kept")
    edit("answers.jsonl", '"answer": "no idea"', '"answer": "0"')
    edit("answers.jsonl", '"answer": "no idea"', '"answer": "3"')
    make("qa", "--gold", "gold.jsonl", "--predictions", "answers.jsonl")
    set_in("out/report.json", ["inputs"], json.loads(Path("kept/report.json").read_bytes())["inputs"])
    edit("answers.jsonl", '"answer": "3"', '"answer": "no idea"')
    edit("answers.jsonl", '"answer": "0"', '"answer": "no idea"')
    assert verified("out", "--records")[0] == 0
    assert verified("out")[0] == 1


def test_metrics_that_were_removed_or_added(at: Callable[[str], Path]) -> None:
    at("qa")
    whole = json.loads(Path("out/report.json").read_bytes())
    del whole["metrics"]["main"]["citation_f1"]
    Path("out/report.json").write_text(json.dumps(whole, indent=2) + "\n")
    for more in ((), ("--records",)):
        status, found = verified("out", *more)
        assert (status, found["difference"]["pointer"]) == (1, "/metrics/main/citation_f1")
        assert found["difference"]["stored"] == "nothing"


# --- what cannot be carried out


def test_what_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("report.json").write_text('{"suite": "chess"}')
    Path("empty").mkdir()
    for path, code in ((".", "report.not_a_report"), ("empty", "verify.nothing_there"), ("no", "report.missing")):
        status, found = verified(path)
        assert (status, found["error"]["code"]) == (2, code)


def test_a_report_without_numbers(at: Callable[[str], Path]) -> None:
    at("qa")
    edit("out/report.json", '"status": "PASS"', '"status": "SYSTEM_ERROR"')
    assert verified("out")[1]["error"]["code"] == "report.system_error"


def test_an_option_of_another_suite(at: Callable[[str], Path]) -> None:
    at("qa")
    status, found = verified("out", "--outputs", "runs")
    assert (status, found["error"]["code"], found["error"]["found"]) == (2, "verify.not_an_input", "--outputs")


@pytest.mark.parametrize(
    "line",
    ['{"id": "q0"}', "[]", "{", '{"id": "q0", "units": {"answers": [1]}}', '{"units": {"answers": [1.5, 1, 0, 0]}}'],
)
def test_records_that_do_not_say_what_they_counted(line: str, at: Callable[[str], Path]) -> None:
    at("qa")
    lines = Path("out/samples.jsonl").read_text().splitlines()
    Path("out/samples.jsonl").write_text("\n".join([lines[0], line, *lines[2:]]) + "\n")
    status, found = verified("out", "--records")
    assert (status, found["error"]["code"], found["error"]["line"]) == (2, "records.malformed", 2)
