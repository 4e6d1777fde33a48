"""`goldgate check` of gold: what is wrong with gold is found, all of it, with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from goldgate.cli.prepare import check_command
from goldgate.readers.gold_files import GoldCheck, GoldOpener, check_gold_files
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.gold_commands import EventCheck
from tests.cases import cases

EXAMPLES = Path(__file__).parents[2] / "examples" / "extraction"
SCHEMA = {"event_types": {"Strike": {"roles": ["Employer", "Place"]}}}
TEXT = "Dockers at Vanholt Port walked out."


def check_gold(path: Path, schema: EventSchema | None, dialect: str | None = None) -> GoldCheck:
    return check_gold_files([path], GoldOpener(dialect), EventCheck(schema))


def record(**argument: Any) -> dict[str, Any]:
    """A gold record with one argument."""
    event_type = argument.pop("event_type", "Strike")
    return {
        "id": argument.pop("id", "a"),
        "text": TEXT,
        "events": [
            {"event_type": event_type, "arguments": [{"role": "Employer", "argument": "Vanholt Port"} | argument]}
        ],
    }


def check(tmp_path: Path, *lines: Any) -> tuple[int, list[dict[str, Any]]]:
    """Exit status and findings for gold of these records, or raw lines."""
    written = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    (tmp_path / "gold.jsonl").write_text("\n".join(written))
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    options = [str(tmp_path / "gold.jsonl"), "--schema", str(tmp_path / "schema.json"), "--format", "json"]
    result = CliRunner().invoke(check_command, options)
    findings: list[dict[str, Any]] = json.loads(result.stdout)["findings"]
    return result.exit_code, findings


def test_good_gold_passes(tmp_path: Path) -> None:
    assert check(tmp_path, record(start=11, end=23)) == (0, [])
    options = [str(EXAMPLES / "gold.jsonl"), "--schema", str(EXAMPLES / "schema.json")]
    assert CliRunner().invoke(check_command, options).exit_code == 0


@cases(
    ("bad", "code", "field"),
    [
        (record(event_type="Strik"), "gold.unknown_event_type", "events[0].event_type"),
        (record(role="Employr"), "gold.unknown_role", "events[0].arguments[0].role"),
        (record(argument="Vanholt Harbour"), "gold.argument_not_in_text", "events[0].arguments[0].argument"),
        (record(start=10, end=22), "gold.wrong_offsets", "events[0].arguments[0]"),
        (record(start=30, end=90), "gold.offsets_out_of_range", "events[0].arguments[0]"),
        (record(start="x"), "gold.offsets_invalid", "events[0].arguments[0]"),
        ('{"id": "a", "events": [', "gold.not_json", None),
        ("[]", "gold.not_an_object", None),
        ({"events": []}, "gold.bad_id", "id"),
        ({"id": "a"}, "gold.events_not_list", "events"),
        ({"id": "a", "events": [{"event_type": "Strike"}]}, "gold.arguments_not_list", "events[0].arguments"),
    ],
)
def test_each_mistake_has_its_code_line_and_field(bad: Any, code: str, field: str | None, tmp_path: Path) -> None:
    status, findings = check(tmp_path, record(id="first"), bad)
    assert status == 1
    errors = [finding for finding in findings if finding["severity"] == "error"]
    assert [(e["code"], e["line"], e["field"]) for e in errors] == [(code, 2, field)]


def test_a_finding_names_the_right_place(tmp_path: Path) -> None:
    status, (finding, *_) = check(tmp_path, record(), record())
    assert (status, finding["code"], "1" in finding["message"]) == (1, "gold.duplicate_id", True)
    assert "11" in check(tmp_path, record(start=10, end=22))[1][0]["message"]  # where the argument is


def test_all_mistakes_are_listed_not_only_the_first(tmp_path: Path) -> None:
    _, findings = check(tmp_path, "{", record(role="X"), "]", record(id="b", event_type="Y"))
    assert len([finding for finding in findings if finding["severity"] == "error"]) == 4


def test_a_line_that_ends_inside_a_character_seems_cut_off(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_bytes(json.dumps(record()).encode() + b'\n{"id": "b", "text": "\xe4\xb8')
    result = CliRunner().invoke(check_command, [str(tmp_path / "gold.jsonl"), "--format", "json"])
    (finding,) = json.loads(result.stdout)["findings"]
    assert (finding["code"], finding["line"]) == ("gold.not_utf8", 2)
    assert "cut off" in finding["message"]


@cases(
    ("options", "words"),
    [
        ([str(EXAMPLES / "none.jsonl"), "--schema", str(EXAMPLES / "schema.json")], "gold.missing"),
        ([str(EXAMPLES / "gold.jsonl"), "--outputs", "x"], "--outputs does not apply here"),
    ],
)
def test_what_cannot_be_checked_is_exit_status_2(options: list[str], words: str) -> None:
    result = CliRunner().invoke(check_command, options)
    assert (result.exit_code, words in result.stderr) == (2, True)


def test_exclusive_ends_read_as_inclusive_and_links_of_two_events_are_findings(tmp_path: Path) -> None:
    record = {
        "doc_key": "1",
        "sentences": [["It", "burned", "down", "near", "Tarn", "in", "May", "."]],
        "ent_spans": [],
        "evt_triggers": [[1, 3, [["fire", 1.0]]], [1, 3, [["loss", 1.0]]]],
        "gold_evt_links": [[[1, 3], [4, 5], "evt1arg1place"]],
    }
    records = [{**record, "doc_key": str(number)} for number in range(2)]
    exclusive, inclusive = tmp_path / "exclusive.jsonl", tmp_path / "inclusive.jsonl"
    exclusive.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    records[0] = {**record, "doc_key": "2", "gold_evt_links": [[[1, 3], [4, 4], "evt1arg1place"]]}
    inclusive.write_text("".join(json.dumps(each) + "\n" for each in records), encoding="utf-8")
    assert check_gold(exclusive, None).counts() == {"gold.ends_exclusive": 1, "gold.shared_links": 2}
    assert check_gold(inclusive, None).counts() == {"gold.shared_links": 2}
    assert check_gold(exclusive, None, "oee-cfc").counts() == {"gold.shared_links": 2}


@cases("layout", ["[{0},{1},{0}]", '{{"data":[{0},{1},{0}]}}'])
def test_duplicate_ids_are_found_where_all_records_share_a_line(tmp_path: Path, layout: str) -> None:
    code, findings = check(tmp_path, layout.format(json.dumps(record(id="a")), json.dumps(record(id="b"))))
    duplicates = [finding["message"] for finding in findings if finding["code"] == "gold.duplicate_id"]
    assert (code, duplicates) == (1, [f"duplicate id, already at {tmp_path / 'gold.jsonl'}:1, record 1"])


@cases(
    ("text", "suite", "message"),
    [
        ("gates: {strict_f1: {min: 0.8}}", "extraction", None),
        ("gates: {strict_f1: {min: 0.8, confidence: 0.9}}", "extraction", None),
        ("gates: {golden_recall: {min: 0.9}}", "research", None),
        ("fields: {pair_share: 0.5}\ngates: {field_f1: {min: 0.9}}", "fields", None),
        ("gates: {parse_errors: {max: 0.01}}", None, "parse_errors is a count; expected a whole number; found 0.01"),
        ("gates: {strict_f1: {min: 0,8}}", None, "decimals have a point, not a comma: such as 0.8"),
        ("gates:\n  strict_f1:\n    min: 0,8", None, "decimals have a point: write 0.8"),
        ("gates: {strict_f: {min: 0.8}}", None, "there is no metric strict_f"),
        ("gates: {strict_f1: {min: 0.8}, golden_recall: {min: 0.8}}", None, "is a metric of the research suite"),
    ],
)  # fmt: skip
def test_a_protocol_is_checked_as_a_protocol(tmp_path: Path, text: str, suite: str | None, message: str | None) -> None:
    path = tmp_path / "gates.yaml"
    path.write_text(text)
    result = CliRunner().invoke(check_command, [str(path), "--format", "json"])
    findings = json.loads(result.stdout)["findings"]
    if message is None:
        assert (result.exit_code, findings) == (0, [])
        assert f"protocol of the {suite} suite" in CliRunner().invoke(check_command, [str(path)]).stdout
    else:
        assert result.exit_code == 1
        assert message in findings[0]["message"]
        assert findings[0]["line"] == text.count("\n") + 1
