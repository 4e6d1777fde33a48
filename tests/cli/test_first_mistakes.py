"""Mistakes of somebody who is new here: each error names what is there instead, and what to do."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

import goldgate
from goldgate.cli.main import goldgate as command
from goldgate.errors import ConfigError, GoldgateError
from goldgate.suites import load_suite
from goldgate.tracking import TRACKERS
from tests.cases import cases

EXTRACTION = Path(__file__).parents[2] / "examples" / "extraction"
TRACES = Path(__file__).parents[2] / "examples" / "traces"
READERS = {
    "view": (),
    "plot": (),
    "verify": (),
    "trend": (),
    "power": ("--detect", "0.01"),
    "baseline": ("--out", "new.json"),
}


def said(*words: str) -> str:
    """What a command that cannot be carried out says, on lines of any length."""
    result = CliRunner().invoke(command, [*words], env={"COLUMNS": "80"})
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("runs/may", "runs/june", "empty", "loops"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "loops" / "circle").symlink_to("circle")
    for name in ("runs/may", "runs/june"):
        (tmp_path / name / "report.json").write_text("{}")
    return tmp_path


@cases("reader", READERS)
def test_who_reads_results_says_what_is_there_instead(folder: Path, reader: str) -> None:
    """The circle is as where a folder may not be read, which root, who runs tests in containers, always may."""
    unread, do = "found nothing that can be read", "do check the name, and whether you may read it"
    for name, words in (
        ("nowhere", "ERROR there is no such folder or file where nowhere"),
        ("nowhere", "expected a folder that --out wrote, with report.json found nothing"),
        ("emty", "did you mean empty?"),
        ("x" * 300, f"{unread}: File name too long {do}"),
        ("loops/circle/in", f"{unread}: Too many levels of symbolic links {do}"),
        ("empty", "found an empty folder do run a suite's command with --out first"),
        ("runs/", "found a folder that holds june, may do name those: runs/*"),
    ):
        assert words in said(reader, name, *READERS[reader]), name


@cases("reader", ["verify", "trend", "power"])
def test_a_file_that_is_no_report_is_answered_with_what_to_name(reader: str) -> None:
    found = said(reader, str(EXTRACTION / "gold.jsonl"), *READERS[reader])
    assert "report.not_json" in found
    assert "do name the folder, or the report.json in it" in found


def judged(protocol: dict[str, Any] | Path, **given: Any) -> GoldgateError:
    files = {"gold": EXTRACTION / "gold.jsonl", "predictions": EXTRACTION / "model-a.jsonl"}
    schema = EXTRACTION / "schema.json"
    with pytest.raises(GoldgateError) as caught:
        goldgate.evaluate_files(**{**files, "schema": schema, "protocol": protocol, **given})
    return caught.value


@cases(
    ("metric", "profile", "advice"),
    [
        ("textee_ac_f1", None, "metrics: {profile: textee} adds it"),
        ("doc2edag_f1[Strike]", None, "metrics: {profile: doc2edag} adds it"),
        ("duee_fin_f1_macro", None, "metrics: {profile: duee-fin} adds it"),
        ("values_f1", "textee", "metrics: {profile: all} adds it"),
    ],
)
def test_a_gate_on_a_number_of_a_profile_is_told_which(metric: str, profile: str | None, advice: str) -> None:
    error = judged({"metrics": {"profile": profile}, "gates": {metric: {"min": 0.5}}})
    assert (error.code, error.advice) == ("protocol.unknown_metric", advice)


@cases(
    ("protocol", "advice"),
    [
        ({"gates": {"f1": {"min": 0.5}}}, "did you mean strict_f1 or relaxed_f1 or type_f1?"),
        (
            {"gates": {"precision": {"min": 0.5}}},
            "did you mean strict_precision or relaxed_precision or type_precision?",
        ),
        ({"gates": {"x": {"min": 0.5}}}, None),
        ({"metrics": {"profile": "TextEE"}}, "did you mean textee?"),
        ({"metrics": {"profile": "ace"}}, None),
    ],
)
def test_half_a_name_is_answered_with_whole_ones(protocol: dict[str, Any], advice: str | None) -> None:
    assert judged(protocol).advice == advice


def test_half_a_name_of_a_result_is_answered_with_whole_ones() -> None:
    found = goldgate.evaluate([{"id": "1", "events": []}], [{"id": "1", "response": "[]"}], EXTRACTION / "schema.json")
    with pytest.raises(KeyError, match="did you mean strict_f1 or relaxed_f1 or type_f1"):
        found["f1"]


def test_outputs_that_are_not_there(folder: Path) -> None:
    golden = Path(__file__).parents[2] / "eval" / "golden_queries.json"
    found = said("research", "--golden", str(golden), "--outputs", "rums", "--report", "new.json")
    assert "outputs.missing" in found
    assert "do did you mean runs? code" in found


@cases(
    ("written", "advice"),
    [
        ('"0.8"', "write it without quotation marks: 0.8"),
        ("1e-3", "write it in digits: 0.001"),  # a string in YAML, which wants a point and a sign
        ("80%", "write it in digits: 0.8"),
        ("1e999", "write a number of fewer digits"),
        ("9" * 60, "write a number of fewer digits"),
        (".nan", None),
        ("high", None),
    ],
)
def test_a_bound_that_is_nearly_a_number(tmp_path: Path, written: str, advice: str | None) -> None:
    protocol = tmp_path / "release.yaml"
    protocol.write_text(f"gates: {{strict_f1: {{min: {written}}}}}")
    error = judged(protocol)
    assert (error.code, error.expected, error.advice) == ("protocol.wrong_value", "a number", advice)


def test_a_number_that_no_float_holds_is_named_as_such(tmp_path: Path) -> None:
    predictions = tmp_path / "answers.jsonl"
    predictions.write_text('{"id": ' + "9" * 400 + ', "response": "[]"}')
    error = judged({}, predictions=predictions)
    assert (error.code, error.message) == ("predictions.not_json", "a number in this record is too large")
    assert error.advice == "write it as a string, or leave it out"


def test_a_command_that_is_nearly_right_is_guessed_in_a_sentence() -> None:
    assert said("extration").endswith("No such command 'extration'. Did you mean extraction?")


def test_a_scorer_without_an_event_schema_says_how_to_get_one() -> None:
    with pytest.raises(ConfigError) as caught:
        goldgate.load_scorer()
    assert caught.value.code == "schema.required"
    assert "goldgate schema --from GOLD --out schema.json" in str(caught.value.advice)


def table(folder: Path, *header: str) -> Path:
    path = folder / "answers.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([header, ("en-001", "[]")])
    return path


def test_a_table_is_told_which_column_is_missing(tmp_path: Path) -> None:
    error = judged({}, predictions=table(tmp_path, "doc", "answer"), response_field="answer")
    advice = "--id-field names the field or the column with the id"
    assert (error.code, error.advice) == ("predictions.bad_id", advice)
    error = judged({}, predictions=table(tmp_path, "id", "answer"), response_field="answr")
    assert (error.code, error.advice) == ("predictions.no_field", "did you mean answer?")
    assert error.place.file == str(tmp_path / "answers.csv")


def test_answers_in_order_that_are_too_many_are_counted_not_named(tmp_path: Path) -> None:
    path = tmp_path / "generated_predictions.jsonl"
    path.write_text((json.dumps({"prompt": "p", "predict": "[]", "label": "l"}) + "\n") * 81)
    error = judged({}, predictions=path)
    assert (error.code, error.place.line) == ("predictions.other_count", 81)
    assert "80 predictions" in str(error.expected)


def test_a_mapping_that_is_nearly_right(folder: Path) -> None:
    for text, words in (("extends: otl", "mean otel?"), ("extends: otel\nclaim: []", "mean claims?")):
        (folder / "mapping.yaml").write_text(text)
        found = said("import-runs", str(TRACES / "otel.jsonl"), "--mapping", "mapping.yaml", "--out", "new")
        assert f"did you {words}" in found


def test_every_command_is_told_in_a_line_that_is_not_cut() -> None:
    shown = CliRunner().invoke(command, ["--help"], env={"COLUMNS": "80"}).stdout
    assert "..." not in shown.split("Judge:")[1]


def test_a_misspelt_gate_is_answered_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "gates.yaml").write_text("gates: {strict_f: {min: 0.5}}\n")
    found = said("extraction", "--gold", str(EXTRACTION / "gold.jsonl"), "--predictions",
                 str(EXTRACTION / "model-a.jsonl"), "--protocol", str(tmp_path / "gates.yaml"))  # fmt: skip
    assert found.startswith("SYSTEM_ERROR there is no metric strict_f where")
    assert found.endswith("found strict_f do did you mean strict_f1? code protocol.unknown_metric")


def test_a_protocol_without_gates_is_told_where_they_go(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("")
    files = ["--gold", EXTRACTION / "gold.jsonl", "--predictions", EXTRACTION / "model-a.jsonl"]
    words = ["extraction", *map(str, files), "--protocol", str(tmp_path / "empty.yaml")]
    shown = " ".join(CliRunner().invoke(command, words).stdout.split())
    assert "the protocol file sets no gates: for a verdict, add gates: {strict_f1: {min: 0.8}} to it" in shown


@cases("name", ["gold.jsonl.gz", "gold.parquet", "gold.jsonl"])
def test_a_binary_file_is_not_to_be_saved_as_text(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"\x89PNG\r\n\x00\xff")
    found = said("check", str(tmp_path / name))
    assert "gold.not_utf8" in found
    assert "save the file as UTF-8" not in found
    assert ("a binary file" if name.endswith("jsonl") else "is it damaged, or named wrongly?") in found


def test_check_and_extraction_say_the_same_of_an_array_that_is_never_closed(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    path.write_text("[[[[[")
    assert "ERROR the array is never closed" in said("check", str(path))
    assert "it seems cut off: write the file again" in said("check", str(path))


def test_a_finding_that_many_records_have_is_said_once(folder: Path) -> None:
    path = Path("gold.jsonl")
    path.write_text("".join(f'{{"doc_id": "d{n}", "text": "a", "value": {{"name": "a"}}}}\n' for n in range(12)))
    result = CliRunner().invoke(command, ["check", str(path)], env={"COLUMNS": "300"})
    assert result.exit_code == 1
    assert "12 records, 12 leaves" in result.stdout  # records with a value are those of the fields suite
    words = " ".join(result.stdout.split())
    assert words.count("is doc_id the id? then --id-field doc_id, or rename it (goldgate convert") == 1
    assert "gold.bad_id 12 times: gold.jsonl:1 id, gold.jsonl:2 id, gold.jsonl:3 id, … expected" in words


def test_records_with_a_value_are_read_and_compared_as_fields(tmp_path: Path) -> None:
    path = tmp_path / "values.jsonl"
    path.write_text('{"id": "1", "value": {"a": 1}}\n')
    shown = CliRunner().invoke(command, ["read", str(path)])
    assert (shown.exit_code, shown.stdout) == (0, "1  raw, structured, 1 value\n")
    compared = CliRunner().invoke(command, ["compare", f"a={path}", f"b={path}", "--gold", str(path)])
    assert compared.exit_code == 0
    assert "field_f1" in compared.stdout
    assert "No difference is significant (Holm, p < 0.05)." in compared.stdout


@cases("mark", [",", ";", "\t"])
def test_what_separates_the_cells_of_a_table_is_seen_in_its_header(mark: str, tmp_path: Path) -> None:
    gold, answers = tmp_path / "gold.jsonl", tmp_path / "answers.csv"
    gold.write_text('{"id": "1", "value": {"a": 1, "b": 2}}\n')
    cell = '{""a"": 1, ""b"": 2}'
    answers.write_text(f'id{mark}response\n1{mark}"{cell}"\n')
    assert goldgate.evaluate_fields(gold, answers)["field_f1"] == 1.0


@cases("url", ["s3://name:password@bucket/results", "https://example.invalid/r?token=password", "file:///tmp/password"])
def test_results_go_to_a_disk(url: str) -> None:
    context = click.Context(command)
    options = [
        (name, option)
        for name in command.list_commands(context)
        for parameter in getattr(command.get_command(context, name), "params", ())
        for option in {"--out", "--report"}.intersection(parameter.opts)
    ]
    assert len(options) >= 16
    for name, option in (*options, ("sample", "--items")):
        message = said(name, option, url)
        assert f"'{option}': expected a path on this machine, not a URL: upload" in message, (name, message)
        assert "password" not in message


@cases("suite", ["extraction", "fields", "research", "judged"])
def test_a_missing_option_or_value_is_a_mistake_in_the_options(suite: str) -> None:
    first = load_suite(suite).inputs[0].option
    for words, message in (([], f"Missing option '{first}'"), ([first], f"Option '{first}' requires an argument")):
        result = CliRunner().invoke(command, [suite, *words])
        assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


@pytest.mark.parametrize("tracker", TRACKERS)
def test_a_missing_tracker_is_an_error_before_anything_is_read(
    tracker: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, tracker, None)  # as if it were not installed
    for variable in ("MLFLOW_DISABLE_TELEMETRY", "WANDB_ERROR_REPORTING"):
        monkeypatch.setenv(variable, "true")  # so that they are as before when the test ends
    inputs = ["--gold", "none.jsonl", "--predictions", "none.jsonl", "--out", str(tmp_path / "out")]
    done = CliRunner().invoke(command, ["extraction", *inputs, "--track", tracker])
    assert done.exit_code == 2
    assert "track.missing" in done.output
    assert f"pip install {tracker}" in done.output
    assert not (tmp_path / "out").exists()


def test_an_unknown_tracker_is_an_error() -> None:
    with pytest.raises(goldgate.GoldgateError, match=r"did you mean mlflow\?"):
        goldgate.track(goldgate.evaluate([], [], {"event_types": {"Hire": {"roles": ["Person"]}}}), "mlflo")
