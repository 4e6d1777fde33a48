"""Errors that guess: what was probably meant by a file that is not what it should be, and what to do about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.main import goldgate
from goldgate.cli.prepare import check_command
from goldgate.cli.read import read_command
from goldgate.cli.suite_command import suite_command
from goldgate.errors import InputError, Place
from goldgate.files import reading
from goldgate.readers.guess import bad_id_error, no_answer_error
from goldgate.readers.layouts.layout import id_at
from goldgate.suites.extraction.api import evaluate

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
EVENTS = '[{"event_type": "T", "arguments": [{"role": "R", "argument": "x"}]}]'
GOLD = f'{{"id": "a", "text": "x y", "events": {EVENTS}}}\n'
PREDICTION = '{"id": "a", "response": "[]"}\n'
SCHEMA = '{"event_types": {"T": {"roles": ["R"]}}}'
PROMPTFOO = {"evalId": "eval-1", "results": {"version": 3, "results": []}, "config": {}}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Good files, in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, content in (("gold.jsonl", GOLD), ("predictions.jsonl", PREDICTION), ("schema.json", SCHEMA)):
        Path(name).write_text(content, encoding="utf-8")
    return tmp_path


def run(*more: str, gold: str = "gold.jsonl", predictions: str = "predictions.jsonl", stdin: bytes = b"") -> Result:
    options = ["--gold", gold, "--predictions", predictions, "--schema", "schema.json", "--format", "json", *more]
    return CliRunner().invoke(suite_command("extraction"), options, input=stdin)


def error_of(result: Result) -> dict[str, Any]:
    assert result.exit_code == 2, result.output
    error: dict[str, Any] = json.loads(result.stdout)["error"]
    return error


def refused(name: str, content: str | bytes | dict[str, Any]) -> dict[str, Any]:
    """The error that a file with this content gives."""
    content = json.dumps(content) if isinstance(content, dict) else content
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return error_of(run())


@pytest.mark.parametrize(
    ("second", "message", "also"),
    [
        ({"id": "b", "response": 5}, "a response is the raw text", ""),
        ({"id": "a", "response": ""}, "duplicate id", "already at predictions.jsonl:1, record 1"),
        ({"id": "c", "response": ""}, "no gold record has the id", ""),
        ({"response": ""}, "a predictions record needs an id", ""),
        (4, "a predictions record is an object", ""),
    ],
)
def test_a_record_of_an_array_on_one_line_is_named(files: Path, second: object, message: str, also: str) -> None:
    Path("predictions.jsonl").write_text(json.dumps([{"id": "a", "response": "[1, 2]"}, second]))
    Path("gold.jsonl").write_text(GOLD + GOLD.replace('"a"', '"b"'))
    printed = " ".join(run().stderr.split())
    assert printed.startswith(f"SYSTEM_ERROR {message}")
    assert "where predictions.jsonl:1, record 2" in printed
    assert also in printed
    assert error_of(run())["line"] == 1


def test_the_printed_error_begins_with_its_message_and_ends_with_its_code(files: Path) -> None:
    lines = run("--protocol", "none.yaml").stderr.splitlines()
    assert lines[0] == "SYSTEM_ERROR  the protocol file does not exist"
    assert [line.split()[0] for line in lines[1:]] == ["where", "found", "do", "code"]


def test_good_files_are_fine(files: Path) -> None:
    assert run().exit_code == 0


def test_gold_that_may_be_cut_off_is_asked_about_first(files: Path) -> None:
    gold, predictions = ([GOLD.replace('"a"', f'"{n}"') for n in range(count)] for count in (12, 20))
    Path("gold.jsonl").write_text("".join(gold), encoding="utf-8")
    Path("predictions.jsonl").write_text("".join(predictions), encoding="utf-8")
    error = error_of(run())
    assert error["message"] == "12 of 20 ids match: is the gold file complete? 8 predictions are not in gold"
    assert (error["code"], error["found"]) == ("predictions.unknown_id", "id 12")
    golds, answers = ([json.loads(line) for line in lines] for lines in (gold, predictions[:13]))
    with pytest.raises(InputError, match=r"12 of 13 ids match.* 1 prediction is not in gold"):
        evaluate(golds, answers)


def test_swapped_files_are_recognized(files: Path) -> None:
    error = error_of(run(gold="predictions.jsonl", predictions="gold.jsonl"))
    assert (error["code"], error["advice"]) == ("gold.events_not_list", "are the gold and the predictions swapped?")
    Path("gold.jsonl").write_text(GOLD + GOLD.replace('"a"', '"b"'), encoding="utf-8")
    error = error_of(run(gold="predictions.jsonl", predictions="gold.jsonl"))
    assert (error["code"], error["advice"]) == ("predictions.unknown_id", "are the gold and the predictions swapped?")


@pytest.mark.parametrize(
    "key", ["doc_id", "doc_key", "idx", "sentence_id", "sent_id", "ID", "_id", "custom_id", "uuid"]
)
def test_id_under_another_name_is_named(files: Path, key: str) -> None:
    error = refused("gold.jsonl", GOLD.replace('"id"', f'"{key}"'))
    assert error["code"] == "gold.bad_id"
    assert error["found"] == f"no id; the keys are {key}, text, events"
    assert error["advice"].startswith(f"is {key} the id? then --id-field {key}, or rename it (goldgate convert")
    checked = CliRunner().invoke(check_command, ["gold.jsonl"])
    assert f"is {key} the id?" in checked.stdout


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("1.5", 'write it as text: "1.5"'),
        ("true", 'write it as text: "true"'),
        ("[1]", "choose one text or number"),
        ('{"a": 1}', "choose one text or number"),
        ("null", "give every record an id of its own"),
        ('""', "give every record an id of its own"),
    ],
)
def test_an_id_of_another_type_has_advice(files: Path, value: str, advice: str) -> None:
    error = refused("gold.jsonl", GOLD.replace('"id": "a"', f'"id": {value}'))
    assert (error["code"], error["expected"]) == ("gold.bad_id", "a string that is not empty, or an integer")
    assert error["advice"].startswith(advice)


def test_an_ending_alone_makes_no_names_alike(files: Path) -> None:
    error = error_of(run(predictions="missing.jsonl"))
    assert (error["code"], error["advice"][:14]) == ("predictions.missing", "check the path")
    assert error_of(run(predictions="prediction.jsonl"))["advice"] == "did you mean predictions.jsonl?"


def test_response_under_another_name_is_named(files: Path) -> None:
    error = refused("predictions.jsonl", '{"id": "a", "output": "[]"}')
    assert (error["code"], error["advice"]) == (
        "predictions.no_answer",
        "is output what the model wrote? then --response-field output",
    )


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({"model_prediction": "[]"}, "model_prediction"),
        ({"text": "Ann sued.", "model_prediction": "[]"}, "model_prediction"),
        ({"text": "Ann sued.", "llmOutput": "none"}, "llmOutput"),
        ({"prompt": "Ann sued.", "gpt-4o": "[]"}, "gpt-4o"),
        ({"input": "Ann sued.", "output": "[]", "prediction": "[]"}, "prediction"),
        ({"input": "Ann sued.", "output": "[]", "model_prediction": "[]"}, "model_prediction"),
        ({"model": "m-1", "model_name": "m", "raw": "[]"}, "raw"),
        ({"gold_answer": "[]", "generated": "[]"}, "generated"),
        ({"sentence": "Ann sued.", "extracted": "```json\n[]\n```"}, "extracted"),
        ({"text": "[]", "tokens_used": 3}, "text"),
        ({"predicted_events": [{"event_type": "Sue", "arguments": []}]}, "predicted_events"),
        ({"model_reply": {"content": "[]"}}, "model_reply.content"),
        ({"sentence": "Ann sued.", "label": "[]", "gold": "[]"}, None),
    ],
)
def test_the_option_for_answers_under_another_key_reads_them(files: Path, record: Any, path: str | None) -> None:
    error = no_answer_error({"id": "a", **record})
    if path is None:
        assert error.advice is None
        return
    assert error.advice == f"is {path} what the model wrote? then --response-field {path}"
    Path("other.jsonl").write_text(json.dumps({"id": "a", **record}) + "\n", encoding="utf-8")
    refusal = " ".join(CliRunner().invoke(read_command, ["other.jsonl"]).output.split())
    assert f"--response-field {path} code" in refusal  # and nothing about --as text
    assert CliRunner().invoke(read_command, ["other.jsonl", "--response-field", path]).exit_code <= 1


@pytest.mark.parametrize(
    ("record", "advice"),
    [
        (
            {"ids": ["a"], "text": "Ann sued.", "labels": [["Ann", "PER"]]},
            "is ids.0 the id? then --id-field ids.0, or rename it (goldgate convert --id-field ids.0 writes it as id); "
            "goldgate reads no labels: write what is in them as events (docs/files.md, Gold)",
        ),
        (
            {"meta": {"doc_id": 7}, "text": "Ann sued.", "events": []},
            "is meta.doc_id the id? then --id-field meta.doc_id, or rename it "
            "(goldgate convert --id-field meta.doc_id writes it as id)",
        ),
        (
            {"text": "Ann sued.", "relations": []},
            "goldgate reads no relations: write what is in them as events (docs/files.md, Gold)",
        ),
        ({"ids": ["a", "b"], "text": "Ann sued."}, None),
        ({"text": "Ann sued."}, None),
    ],
)
def test_gold_without_an_id_says_where_it_may_be_and_what_its_labels_are(record: Any, advice: str | None) -> None:
    error = bad_id_error(record, "gold", Place("gold.jsonl", 1, "id"))
    assert error.advice == advice
    if advice is not None and "--id-field" in advice:
        path = advice.split("--id-field ")[1].split(",")[0]
        assert id_at(record, path) in ("a", "7")
    if "events" not in record:
        assert (
            error.expected
            == "a string that is not empty, or an integer; or a published format (goldgate convert --help)"
        )


def test_chat_messages_without_an_answer_are_named(files: Path) -> None:
    error = refused("predictions.jsonl", {"id": "a", "response": [{"role": "user", "content": "[]"}]})
    assert (error["code"], "the roles are user" in error["found"]) == ("predictions.wrong_type", True)


def test_records_inside_an_object_are_found(files: Path) -> None:
    error = refused("gold.jsonl", {"dev": [json.loads(GOLD)], "test": [json.loads(GOLD)]})
    assert (error["code"], "jq -c '.dev[]'" in error["advice"]) == ("gold.bad_id", True)


@pytest.mark.parametrize(
    ("content", "tool"),
    [
        pytest.param({"custom_id": "a", "result": {"type": "succeeded"}}, "Anthropic batch", id="anthropic-batch"),
        pytest.param({"custom_id": "a", "method": "POST", "url": "/v1", "body": {}}, "input of a batch", id="batch-in"),
        pytest.param(PROMPTFOO, "promptfoo", id="promptfoo"),
        pytest.param(json.dumps(PROMPTFOO, indent=2), "promptfoo", id="promptfoo-indented"),
    ],
)
def test_files_of_other_tools_are_recognized(files: Path, content: str | dict[str, Any], tool: str) -> None:
    assert f"{tool}: " in refused("predictions.jsonl", content)["advice"]


@pytest.mark.parametrize(
    ("content", "message", "advice"),
    [
        ("id,text,events\na,x,[]\n", "this is CSV, not JSON", "rename it"),
        ("id\ttext\na\tx\n", "this is TSV, not JSON", "rename it"),
        ("- id: a\n  events: []\n", "this is YAML, not JSON", "one JSON object per line"),
        ("gates: {strict_f1: {min: 0.8, max: 1}}\n", "this is YAML, not JSON", "pass a protocol with --protocol"),
        ("\x01\x02a\tb\n\x03", "this is not text", "name a file of records"),
        ('[\n "a",\n "b"\n]', "item 1 of this array is a string, and a record is an object", "one object for each"),
        ('["a",\n "b"]', "item 1 of this array is a string, and a record is an object", "one object for each"),
    ],
)
def test_tables_and_yaml_are_recognized(files: Path, content: str, message: str, advice: str) -> None:
    error = refused("gold.jsonl", content)
    assert (error["code"], error["message"], error["line"]) == ("gold.not_json", message, 1)
    assert advice in error["advice"]


@pytest.mark.parametrize(
    ("record", "advice"),
    [
        ("{'id': 'a', 'events': []}", "single quotes are not JSON: write it with json.dumps"),
        ('{"id": "é", "events": NaN}', "NaN is not JSON: write null"),
        ('[{"id": "a", "events":\n [NaN]}]', "NaN is not JSON: write null"),
    ],
)
def test_what_other_languages_write_is_named(files: Path, record: str, advice: str) -> None:
    assert refused("gold.jsonl", record)["advice"] == advice


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("check predictions.jsonl", "check reads gold; for answers: goldgate read FILE"),
        ("check out", "goldgate verify out"),
        ("compare predictions.jsonl other.jsonl", "are these predictions? add --gold FILE"),
        ("compare predictions.jsonl --gold gold.jsonl", "name a second file to compare with"),
        ("power out other", "a second system: --against other"),
        ("extraction --gold values.jsonl --predictions predictions.jsonl", "gold of the fields suite? goldgate fields"),
        (
            "fields --gold flat.jsonl --predictions predictions.jsonl",
            'wrap the fields: {"id": …, "value": {"total": …}}',
        ),
        (
            "fields --gold values.jsonl --predictions predictions.jsonl --value-field v",
            "field that --value-field names",
        ),
    ],
)
def test_a_wrong_command_or_form_is_told_the_right_one(files: Path, command: str, words: str) -> None:
    Path("other.jsonl").write_text(PREDICTION)
    Path("values.jsonl").write_text('{"id": "a", "value": {"total": 3}}\n')
    Path("flat.jsonl").write_text('{"id": "a", "total": 3}\n')
    Path("out").mkdir()
    Path("out/report.json").write_text("{}")
    result = CliRunner().invoke(goldgate, command.split())
    assert result.exit_code in (1, 2)
    assert words in " ".join(result.output.split())


def test_a_broken_line_further_down_is_not_taken_for_a_table(files: Path) -> None:
    error = refused("gold.jsonl", GOLD + "b,x,y\n")
    assert (error["message"], error["line"]) == ("this record is not JSON", 2)


@pytest.mark.parametrize(
    ("head", "found"),
    [(b"PAR1\xff", "a Parquet file"), (b"PK\x03\x04\xff", "a zip archive"), ("{}".encode("utf-16"), "text in UTF-16")],
)
def test_files_that_are_no_text_are_recognized(files: Path, head: bytes, found: str) -> None:
    error = refused("gold.jsonl", head)
    assert (error["code"], error["found"]) == ("gold.not_utf8", found)


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        pytest.param(GOLD + '{"id": x}\n', 2, 8, id="line"),
        pytest.param(GOLD + '{"id": "é", x}\n', 2, 13, id="characters-not-bytes"),
        pytest.param('[{"id": "b", "events": []}, {"id": x}]', 1, 36, id="array-in-a-line"),
        pytest.param('[\n{"id": "b", "events": []},\n  {"id": "c",\n "events": x}]', 4, 12, id="array-over-lines"),
    ],
)
def test_place_of_a_mistake_in_json_is_that_of_the_file(files: Path, content: str, line: int, column: int) -> None:
    error = refused("gold.jsonl", content)
    assert (error["code"], error["line"]) == ("gold.not_json", line)
    assert error["found"].endswith(f"at column {column}")
    assert "line 1" not in error["found"]


@pytest.mark.parametrize("name", ["strict-f1", "strictF1", "Strict F1", "STRICT_F1"])
def test_gate_in_another_spelling_is_named(files: Path, name: str) -> None:
    Path("p.yaml").write_text(f"gates:\n  {name}: {{min: 0.5}}\n", encoding="utf-8")
    error = error_of(run("--protocol", "p.yaml"))
    assert (error["code"], error["advice"]) == ("protocol.unknown_metric", "did you mean strict_f1?")


def test_tab_in_yaml_is_named(files: Path) -> None:
    Path("p.yaml").write_text("gates:\n\tstrict_f1: {min: 0.5}\n", encoding="utf-8")
    error = error_of(run("--protocol", "p.yaml"))
    assert (error["code"], error["line"], error["found"]) == ("protocol.not_yaml", 2, "a tab")
    assert "spaces" in error["advice"]


def test_a_name_with_brackets_inside_braces_needs_quotation_marks(files: Path) -> None:
    Path("p.yaml").write_text("gates: {strict_f1[Attack]: {min: 0.5}}\n", encoding="utf-8")
    error = error_of(run("--protocol", "p.yaml"))
    assert error["code"] == "protocol.not_yaml"
    assert "quotation marks" in error["advice"]


def test_directory_is_named_with_the_files_in_it(files: Path) -> None:
    Path("data").mkdir()
    for number in range(4):
        Path("data", f"{number}.jsonl").write_text(PREDICTION, encoding="utf-8")
    error = error_of(run(predictions="data"))
    assert error["message"] == "this is a directory, not a predictions file"
    assert error["found"] == "a directory with 0.jsonl, 1.jsonl, 2.jsonl, …"


def research(golden: str, outputs: str) -> dict[str, Any]:
    result = CliRunner().invoke(
        suite_command("research"), ["--golden", golden, "--outputs", outputs, "--report", "r.json", "--format", "json"]
    )
    assert result.exit_code == 2
    error: dict[str, Any] = json.loads(Path("r.json").read_bytes())["error"]
    return error


def test_golden_queries_as_a_directory_and_as_json_lines_are_named(files: Path) -> None:
    Path("golden").mkdir()
    Path("golden", "queries.json").write_text("[]", encoding="utf-8")
    outputs = str(EXAMPLES / "research" / "passing")
    error = research("golden", outputs)
    assert (error["code"], error["found"]) == ("golden.is_a_directory", "a directory with queries.json")
    query = '{"objective": "o", "required_evidence_ids": ["e"], "evidence_sufficient": true}\n'
    Path("golden.jsonl").write_text(query * 2, encoding="utf-8")
    error = research("golden.jsonl", outputs)
    assert error["expected"] == "one JSON array of golden queries"
    assert "jq -s ." in error["found"]


def test_one_run_in_place_of_the_folder_of_runs_is_named(files: Path) -> None:
    runs = EXAMPLES / "research" / "passing"
    Path("golden.json").write_bytes((EXAMPLES.parent / "eval" / "golden_queries.json").read_bytes())
    error = research("golden.json", str(sorted(runs.iterdir())[0]))
    assert (error["code"], error["found"]) == ("outputs.no_runs", "the files of one run")


SLOW = pytest.param("gold", "2", marks=pytest.mark.slow)  # workers get a copy of either


@pytest.mark.parametrize(("option", "workers"), [("gold", "1"), ("predictions", "1"), ("predictions", "2"), SLOW])
def test_standard_input_is_a_file_like_any_other(files: Path, option: str, workers: str) -> None:
    content = Path(f"{option}.jsonl").read_bytes()
    from_files, piped = run(), run("--workers", workers, stdin=content, **{option: "-"})
    assert piped.exit_code == 0, piped.output
    assert piped.stdout == from_files.stdout


def test_packed_standard_input_is_unpacked(files: Path) -> None:
    import gzip

    assert run(predictions="-", stdin=gzip.compress(PREDICTION.encode())).exit_code == 0


def test_standard_input_is_for_one_input_only(files: Path) -> None:
    error = error_of(run(gold="-", predictions="-", stdin=GOLD.encode()))
    assert (error["code"], error["file"]) == ("input.standard_input_twice", "-")


def test_mistake_in_standard_input_is_named_with_its_line(files: Path) -> None:
    error = error_of(run(gold="-", stdin=GOLD.encode() + b"{"))
    assert (error["code"], error["file"], error["line"]) == ("gold.not_json", "standard input", 2)


def test_pipe_that_nobody_writes_to_is_refused(files: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "WRITER_SECONDS", 0.1)  # a shorter wait, the same rule
    os.mkfifo("waiting")
    assert error_of(run(gold="waiting"))["code"] == "gold.no_writer"
    assert error_of(run("--protocol", "waiting"))["code"] == "protocol.no_writer"


def test_pipe_that_somebody_writes_to_is_read(files: Path) -> None:
    os.mkfifo("piped")
    writer = threading.Thread(target=lambda: Path("piped").write_text(GOLD, encoding="utf-8"))
    writer.start()
    result = run(gold="piped")
    writer.join()
    assert result.exit_code == 0, result.output


def test_process_substitution_is_read(files: Path) -> None:
    line = f"{sys.executable} -m goldgate extraction --gold <(cat gold.jsonl) --predictions <(cat predictions.jsonl) "
    line += "--schema <(cat schema.json) --quiet"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_reading_a_response_that_is_named_as_records_points_to_the_option(files: Path) -> None:
    Path("a.json").write_text('[{"event_type": "T", "arguments": []}]', encoding="utf-8")
    result = CliRunner().invoke(read_command, ["a.json"])
    assert result.exit_code == 2
    assert "--as text" in result.stderr
    assert CliRunner().invoke(read_command, ["a.json", "--as", "text"]).exit_code == 0
    assert "--as text" not in CliRunner().invoke(read_command, ["a.json", "--as", "records"]).stderr


def test_gold_is_checked_without_an_event_schema(files: Path) -> None:
    result = CliRunner().invoke(check_command, ["gold.jsonl"])
    assert result.exit_code == 0
    assert "event types and roles were not checked" in result.stdout
    with_schema = CliRunner().invoke(check_command, ["gold.jsonl", "--schema", "schema.json"])
    assert "not checked" not in with_schema.stdout


def test_file_in_place_of_the_folder_for_results_is_named(files: Path) -> None:
    for out in ("gold.jsonl", "gold.jsonl/out"):
        error = error_of(run("--out", out))
        assert (error["code"], error["file"]) == ("out.is_a_file", "gold.jsonl")
    assert Path("gold.jsonl").read_text(encoding="utf-8") == GOLD


@pytest.mark.parametrize("name", ["report.html", "report.json", "report.md", "samples.jsonl", "run.json"])
def test_directory_in_place_of_a_result_is_the_users(files: Path, name: str) -> None:
    Path("out", name).mkdir(parents=True)
    error = error_of(run("--out", "out"))
    assert (error["code"], error["file"]) == ("out.is_a_directory", f"out/{name}")
    assert os.listdir("out") == [name]


def test_a_missing_file_is_answered_with_the_one_that_may_be_meant(files: Path) -> None:
    assert error_of(run(gold="gol.jsonl"))["advice"] == "did you mean gold.jsonl?"


@pytest.mark.parametrize("name", ["gold.csv", "predictions.csv"])
def test_a_table_with_one_row_per_argument_points_to_the_lines_that_join_rows(files: Path, name: str) -> None:
    Path(name).write_text("id,event_type,role,argument\na,T,R,x\na,T,R,y\n")
    error = error_of(run(gold=name) if name == "gold.csv" else run(predictions=name))
    heading = error["advice"].rpartition('"')[0].rpartition('"')[2]
    assert f"**{heading}.**" in (EXAMPLES.parent / "docs" / "files.md").read_text(encoding="utf-8")


def test_an_error_of_an_evaluation_is_printed_as_system_error(files: Path) -> None:
    Path("gold.jsonl").unlink()
    options = ["--gold", "gold.jsonl", "--predictions", "predictions.jsonl"]
    assert CliRunner().invoke(suite_command("extraction"), options).stderr.startswith("SYSTEM_ERROR  ")
