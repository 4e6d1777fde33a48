"""Every kind of mistake in an input: exit 2, SYSTEM_ERROR, and a message with file, line and field."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from goldgate.cli.suite_command import suite_command

GOLD = '{"id": "a", "text": "x y", "events": [{"event_type": "T", "arguments": [{"role": "R", "argument": "x"}]}]}'
PREDICTION = '{"id": "a", "response": "[]"}'
SCHEMA = '{"event_types": {"T": {"roles": ["R"]}}}'
PROTOCOL = 'protocol: {version: "1.0", name: p}\n'


@dataclass(frozen=True)
class Mistake:
    """Which file holds what, and what the error must say."""

    file: str
    content: str | bytes
    code: str
    line: int | None = None
    field: str | None = None


def gold(events: str, extra: str = "") -> str:
    """A second gold line with these events."""
    return GOLD + '\n{"id": "b", "text": "x"' + extra + ', "events": ' + events + "}\n"


MISTAKES = {
    "gold line is not JSON": Mistake("gold.jsonl", GOLD + '\n{"id": "b", "events": [', "gold.not_json", 2),
    "gold record is a list": Mistake("gold.jsonl", GOLD + "\n\n[1]\n", "gold.not_an_object", 3),
    "gold without an id": Mistake("gold.jsonl", GOLD + '\n{"events": []}', "gold.bad_id", 2, "id"),
    "gold id is null": Mistake("gold.jsonl", '{"id": null, "events": []}', "gold.bad_id", 1, "id"),
    "gold id is empty": Mistake("gold.jsonl", '{"id": "", "events": []}', "gold.bad_id", 1, "id"),
    "gold id twice": Mistake("gold.jsonl", GOLD + "\n" + GOLD, "gold.duplicate_id", 2, "id"),
    "gold without events": Mistake("gold.jsonl", '{"id": "a"}', "gold.events_not_list", 1, "events"),
    "gold events null": Mistake("gold.jsonl", gold("null"), "gold.events_not_list", 2, "events"),
    "gold events an object": Mistake("gold.jsonl", gold("{}"), "gold.events_not_list", 2, "events"),
    "gold event a string": Mistake("gold.jsonl", gold('["x"]'), "gold.event_not_object", 2, "events[0]"),
    "gold event without type": Mistake(
        "gold.jsonl", gold('[{"arguments": []}]'), "gold.event_type_invalid", 2, "events[0].event_type"
    ),
    "gold arguments null": Mistake(
        "gold.jsonl",
        gold('[{"event_type": "T", "arguments": null}]'),
        "gold.arguments_not_list",
        2,
        "events[0].arguments",
    ),
    "gold argument a string": Mistake(
        "gold.jsonl",
        gold('[{"event_type": "T", "arguments": ["x"]}]'),
        "gold.argument_not_object",
        2,
        "events[0].arguments[0]",
    ),
    "gold role a number": Mistake(
        "gold.jsonl",
        gold('[{"event_type": "T", "arguments": [{"role": 1, "argument": "x"}]}]'),
        "gold.role_invalid",
        2,
        "events[0].arguments[0].role",
    ),
    "gold argument missing": Mistake(
        "gold.jsonl",
        gold('[{"event_type": "T", "arguments": [{"role": "R"}]}]'),
        "gold.value_missing",
        2,
        "events[0].arguments[0].argument",
    ),
    "gold argument an object": Mistake(
        "gold.jsonl",
        gold('[{"event_type": "T", "arguments": [{"role": "R", "argument": {}}]}]'),
        "gold.value_invalid",
        2,
        "events[0].arguments[0].argument",
    ),
    "gold offsets reversed": Mistake(
        "gold.jsonl",
        gold('[{"event_type": "T", "arguments": [{"role": "R", "argument": "x", "start": 3, "end": 1}]}]'),
        "gold.offsets_invalid",
        2,
        "events[0].arguments[0]",
    ),
    "gold text a number": Mistake("gold.jsonl", '{"id": "a", "text": 5, "events": []}', "gold.wrong_type", 1, "text"),
    "gold not UTF-8": Mistake("gold.jsonl", b'{"id": "a", "text": "\xff", "events": []}', "gold.not_utf8", 1),
    "gold empty": Mistake("gold.jsonl", "\n\n", "gold.empty"),
    "gold array never closed": Mistake("gold.jsonl", "[" + GOLD + ",\n", "gold.not_json", 2),
    "gold array and more": Mistake("gold.jsonl", "[" + GOLD + "]\n{}", "gold.not_json", 1),
    "gold nested too deeply": Mistake("gold.jsonl", '{"id": "a", "events": ' + "[" * 3000, "gold.not_json", 1),
    "prediction line cut off": Mistake("predictions.jsonl", '{"id": "a", "resp', "predictions.not_json", 1),
    "prediction unknown id": Mistake(
        "predictions.jsonl", PREDICTION + '\n{"id": "zz", "response": ""}', "predictions.unknown_id", 2, "id"
    ),
    "prediction id twice": Mistake(
        "predictions.jsonl", PREDICTION + "\n" + PREDICTION, "predictions.duplicate_id", 2, "id"
    ),
    "prediction response a number": Mistake(
        "predictions.jsonl", '{"id": "a", "response": 4}', "predictions.wrong_type", 1, "response"
    ),
    "prediction events an object": Mistake(
        "predictions.jsonl", '{"id": "a", "events": {}}', "predictions.wrong_type", 1, "events"
    ),
    "prediction without an answer": Mistake(
        "predictions.jsonl", '{"id": "a", "output": "x"}', "predictions.no_answer", 1, "response"
    ),
    "prediction with two ids": Mistake(
        "predictions.jsonl", '{"id": "a", "response": "", "id": "b"}', "predictions.duplicate_key", 1, "id"
    ),
    "prediction with two ids, one as an escape": Mistake(
        "predictions.jsonl", r'{"id": "a", "\u0069d": "b", "response": ""}', "predictions.duplicate_key", 1, "id"
    ),
    "gold with two ids, one as an escape, and no answer": Mistake(
        "gold.jsonl", GOLD + "\n" + r'{"id": "b", "events": [], "\u0069d": "c"}', "gold.duplicate_key", 2, "id"
    ),
    "predictions with the same two ids": Mistake(
        "predictions.jsonl",
        '{"id": "x", "response": "", "id": "a"}\n{"id": "x", "response": "", "id": "a"}',
        "predictions.duplicate_key",
        2,
        "id",
    ),
    "prediction with an unknown id before the right one": Mistake(
        "predictions.jsonl", '{"id": "x", "response": "", "id": "a"}', "predictions.duplicate_key", 1, "id"
    ),
    "schema not JSON": Mistake("schema.json", '{\n"event_types": {', "schema.not_json", 2),
    "schema without types": Mistake("schema.json", "{}", "schema.wrong_value", None, "event_types"),
    "schema roles a string": Mistake(
        "schema.json", '{"event_types": {"T": {"roles": "R"}}}', "schema.wrong_value", None, "event_types.T.roles"
    ),
    "schema type twice": Mistake(
        "schema.json",
        '{"event_types": {"T": {"roles": []}, "T": {"roles": []}}}',
        "schema.duplicate_key",
        None,
        "event_types.T",
    ),
    "schema not UTF-8": Mistake("schema.json", b"{\n\xff}", "schema.not_utf8", 2),
    "protocol not YAML": Mistake("protocol.yaml", "gates: [\n", "protocol.not_yaml", 2),
    "protocol unknown key": Mistake(
        "protocol.yaml",
        "metrics:\n  relaxd: {match_mode: span_iou}\n",
        "protocol.unknown_key",
        2,
        "metrics.relaxd",
    ),
    "protocol wrong value": Mistake(
        "protocol.yaml",
        "metrics:\n  relaxed:\n    match_mode: fuzzy\n",
        "protocol.wrong_value",
        3,
        "metrics.relaxed.match_mode",
    ),
    "protocol threshold out of range": Mistake(
        "protocol.yaml",
        "metrics:\n  relaxed: {char_overlap_threshold: 1.5}\n",
        "protocol.wrong_value",
        2,
        "metrics.relaxed.char_overlap_threshold",
    ),
    "protocol key twice": Mistake("protocol.yaml", "gates: {}\ngates: {}\n", "protocol.duplicate_key", 2, "gates"),
    "protocol version unknown": Mistake(
        "protocol.yaml", 'metrics: {version: "1.0"}\n', "protocol.wrong_value", 1, "metrics.version"
    ),
    "gate on no metric": Mistake(
        "protocol.yaml", "gates:\n  strict_f: {min: 0.5}\n", "protocol.unknown_metric", 2, "gates.strict_f"
    ),
    "gate without a bound": Mistake(
        "protocol.yaml", "gates:\n  strict_f1: {}\n", "protocol.gate_without_bound", 2, "gates.strict_f1"
    ),
    "gate on a rate in percent": Mistake(
        "protocol.yaml", "gates:\n  strict_f1: {max: 5}\n", "protocol.wrong_value", 2, "gates.strict_f1.max"
    ),
    "gate that nothing passes": Mistake(
        "protocol.yaml", "gates:\n  strict_f1: {min: 0.5, max: 0.1}\n", "protocol.wrong_value", 2, "gates.strict_f1"
    ),
    "tag with its brackets": Mistake(
        "protocol.yaml",
        "metrics:\n  response:\n    thought_tags: ['<think>']\n",
        "protocol.wrong_value",
        3,
        "metrics.response.thought_tags.0",
    ),
    "gate bound a word": Mistake(
        "protocol.yaml", "gates:\n  strict_f1: {min: high}\n", "protocol.wrong_value", 2, "gates.strict_f1.min"
    ),
}


def run(folder: Path, *more: str) -> Result:
    """The command over the four files of a folder."""
    options = [
        *("--gold", str(folder / "gold.jsonl"), "--predictions", str(folder / "predictions.jsonl")),
        *("--schema", str(folder / "schema.json"), "--protocol", str(folder / "protocol.yaml")),
        *("--out", str(folder / "out"), *more),
    ]
    return CliRunner().invoke(suite_command("extraction"), options)


def write(folder: Path, **files: str | bytes) -> None:
    """Good files, with some replaced."""
    good: dict[str, str | bytes] = {
        "gold.jsonl": GOLD,
        "predictions.jsonl": PREDICTION,
        "schema.json": SCHEMA,
        "protocol.yaml": PROTOCOL,
    }
    for name, content in {**good, **files}.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def error_of(folder: Path) -> dict[str, Any]:
    report = json.loads((folder / "out" / "report.json").read_bytes())
    assert report["status"] == "SYSTEM_ERROR"
    assert "metrics" not in report
    error: dict[str, Any] = report["error"]
    return error


def test_good_files_pass(tmp_path: Path) -> None:
    write(tmp_path)
    assert run(tmp_path).exit_code == 0


@pytest.mark.parametrize("mistake", MISTAKES.values(), ids=MISTAKES)
def test_mistake_is_named_with_its_place(mistake: Mistake, tmp_path: Path) -> None:
    write(tmp_path, **{mistake.file: mistake.content})
    result = run(tmp_path)
    assert result.exit_code == 2
    assert "ERROR  " in result.stderr
    assert "Traceback" not in result.output
    error = error_of(tmp_path)
    assert error["code"] == mistake.code
    assert error["file"] == mistake.file  # an absolute path does not reach the report
    assert (error["line"], error["field"]) == (mistake.line, mistake.field)
    for part in (mistake.file, mistake.field or "", f":{mistake.line}" if mistake.line else ""):
        assert part in re.sub(r"\n +", "", result.stderr)  # the path may be longer than a line
    assert not (tmp_path / "out" / "samples.jsonl").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_first_mistake_in_file_order_is_reported_for_any_number_of_workers(workers: str, tmp_path: Path) -> None:
    lines = [GOLD.replace('"a"', f'"{number}"') for number in range(1200)]
    lines[1100] = lines[1100].replace('"R"', "7")
    lines[700] = lines[700].replace('"R"', "8")
    write(tmp_path, **{"gold.jsonl": "\n".join(lines), "predictions.jsonl": ""})
    assert run(tmp_path, "--workers", workers, "--allow-empty").exit_code == 2
    assert error_of(tmp_path)["line"] == 701


def test_gold_that_was_cut_off_is_blamed_before_the_predictions_it_lacks(tmp_path: Path) -> None:
    gold_lines = "\n".join(GOLD.replace('"a"', f'"{number}"') for number in range(3))
    answers = "\n".join(PREDICTION.replace('"a"', f'"{number}"') for number in range(3))
    cut = gold_lines[: gold_lines.rindex('{"id": "2"') - 20]
    write(tmp_path, **{"gold.jsonl": cut, "predictions.jsonl": answers})
    assert run(tmp_path).exit_code == 2
    assert (error_of(tmp_path)["code"], error_of(tmp_path)["line"]) == ("gold.not_json", 2)


@pytest.mark.parametrize("name", ["gold.jsonl", "predictions.jsonl", "schema.json", "protocol.yaml"])
def test_missing_file_is_an_error_with_its_name(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    assert run(tmp_path).exit_code == 2
    assert error_of(tmp_path)["code"] == name.partition(".")[0] + ".missing"
    assert error_of(tmp_path)["file"] == name


@pytest.mark.parametrize("name", ["gold.jsonl", "predictions.jsonl", "schema.json", "protocol.yaml"])
def test_directory_in_place_of_a_file_is_an_error(name: str, tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    assert run(tmp_path).exit_code == 2
    assert error_of(tmp_path)["code"] == name.partition(".")[0] + ".is_a_directory"


def test_damaged_gzip_is_an_error(tmp_path: Path) -> None:
    write(tmp_path, **{"gold.jsonl": gzip.compress(GOLD.encode() * 50)[:-20]})
    assert run(tmp_path).exit_code == 2
    assert error_of(tmp_path)["code"] == "gold.bad_gzip"


def test_empty_predictions_are_missing_where_that_is_allowed(tmp_path: Path) -> None:
    write(tmp_path, **{"predictions.jsonl": "\n"})
    assert run(tmp_path, "--allow-empty").exit_code == 0
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert report["metrics"]["main"]["missing_predictions"]["value"] == 1
    assert report["metrics"]["main"]["strict_precision"]["value"] is None
    assert report["metrics"]["main"]["strict_precision"]["reason"]


def test_out_without_a_name_is_an_error(tmp_path: Path) -> None:
    write(tmp_path)
    assert run(tmp_path, "--out", "").exit_code == 2


def test_no_schema_and_gold_without_events_is_an_error_not_a_pass(tmp_path: Path) -> None:
    write(tmp_path, **{"gold.jsonl": '{"id": "a", "text": "a", "events": []}\n'})
    options = ["--gold", str(tmp_path / "gold.jsonl"), "--predictions", str(tmp_path / "predictions.jsonl")]
    result = CliRunner().invoke(suite_command("extraction"), options)
    assert result.exit_code == 2
    assert "gold.no_events" in result.stderr
