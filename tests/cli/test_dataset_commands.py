"""Published data sets on the command line: scored, checked, converted, verified, and asked about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import goldgate
from goldgate.cli.main import goldgate as command
from goldgate.readers.dialects import recognize_dialect
from goldgate.suites.extraction.task import load_documents
from tests.cases import cases
from tests.unit.readers.dialect_samples import DOCEE, RAMS, SAMPLES, WIKIEVENTS, WIKIEVENTS_OWN


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A gold file of every format, answers that are all right, and a schema of each."""
    for name, (record, own) in SAMPLES.items():
        gold, answers = tmp_path / f"{name}.jsonl", tmp_path / f"{name}.answers.jsonl"
        gold.write_text(json.dumps([record] if name == "docee" else record) + "\n")
        answers.write_text(json.dumps({"id": own.get("id", "1"), "response": json.dumps(own["events"])}) + "\n")
    return tmp_path


@cases("name", SAMPLES)
def test_a_published_file_scores_as_what_it_is_converted_to(folder: Path, name: str) -> None:
    gold, own, schema = folder / f"{name}.jsonl", folder / "own.jsonl", folder / "schema.json"
    assert run("convert", gold, "--out", own).output.startswith(f"{name}: 1 record, ")
    assert run("schema", "--from", gold, "--out", schema).exit_code == 0
    answers = folder / f"{name}.answers.jsonl"
    published, ours = (goldgate.evaluate_files(each, answers, schema).report for each in (gold, own))
    assert published["inputs"]["gold"][0]["form"] == name
    assert f"|dialect:{name}|" in published["signature"]
    assert ("form" in ours["inputs"]["gold"][0], "dialect:" in ours["signature"]) == (False, False)
    assert (published["metrics"], published["breakdown"]) == (ours["metrics"], ours["breakdown"])
    if name != "maven":  # which has no arguments
        assert published["metrics"]["main"]["strict_f1"]["value"] == 1.0
    protocol = {"metrics": {"schema": {"mode": "syntax_only"}}}
    of_file = goldgate.evaluate_files(gold, answers, None, protocol).report
    in_memory = goldgate.evaluate([SAMPLES[name][0]], [json.loads(answers.read_text())], None, protocol).report
    assert {**in_memory, "inputs": None} == {**of_file, "inputs": None}
    found = run("check", gold, "--format", "json")
    report = json.loads(found.output)
    assert (found.exit_code, report["errors"], report["inputs"][0]["form"]) == (0, 0, name)


def test_check_gold_shows_every_record_that_is_not_of_its_dialect(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    damaged: list[Any] = [WIKIEVENTS, {**WIKIEVENTS, "doc_id": None}, {**WIKIEVENTS, "doc_id": "c", "tokens": 7}]
    gold.write_text("".join(json.dumps(record) + "\n" for record in damaged))
    report = json.loads(run("check", gold, "--format", "json").output)
    assert [(each["code"], each["line"], each["field"]) for each in report["findings"]] == [
        ("gold.not_in_dialect", 2, "doc_id"),
        ("gold.not_in_dialect", 3, "tokens"),
    ]
    assert report["records"] == 3


def test_check_gold_looks_at_the_place_of_a_trigger(tmp_path: Path) -> None:
    gold = tmp_path / "gold.jsonl"
    event = {**WIKIEVENTS_OWN["events"][0], "start": 12, "end": 18}
    gold.write_text(json.dumps({**WIKIEVENTS_OWN, "events": [event]}))
    report = json.loads(run("check", gold, "--format", "json").output)
    assert report["counts"] == {"gold.wrong_offsets": 1}


def test_a_report_of_a_published_file_is_verified(folder: Path) -> None:
    out = folder / "out"
    gold, answers = folder / "duee-fin.jsonl", folder / "duee-fin.answers.jsonl"
    schema = folder / "schema.json"
    run("schema", "--from", gold, "--out", schema)
    options = ("--gold", gold, "--predictions", answers, "--schema", schema, "--dialect", "duee-fin", "--out", out)
    assert run("extraction", *options).exit_code == 0
    assert run("verify", out).exit_code == 0
    assert json.loads((out / "run.json").read_text())["inputs"]["dialect"] == ["duee-fin"]


def test_what_cannot_be_converted_is_an_error_that_writes_nothing(folder: Path) -> None:
    gold, answers, out = folder / "rams.jsonl", folder / "rams.answers.jsonl", folder / "x"
    (folder / "empty.jsonl").write_text('{"id": "1", "events": []}')
    for words in (
        ("extraction", "--gold", gold, "--predictions", answers, "--dialect", "ram", "--schema", answers),
        ("convert", gold, "--out", out, "--dialect", "ram"),  # nobody knows this one
        ("convert", gold, "--out", gold),
        ("schema", "--from", folder / "empty.jsonl", "--out", out),
    ):
        assert run(*words).exit_code == 2, words
    assert not out.exists()
    assert json.loads(gold.read_text()) == RAMS


def test_coreference_of_wikievents_gives_an_argument_all_mentions(tmp_path: Path) -> None:
    gold, coref, out = tmp_path / "test.jsonl", tmp_path / "coref.jsonlines", tmp_path / "out.jsonl"
    gold.write_text(json.dumps(WIKIEVENTS))
    clusters = [["w1-T5", "w1-T1", "w1-T99"], ["w1-T2"]]
    coref.write_text(
        json.dumps({"doc_key": "wiki_made_up_1", "clusters": clusters, "informative_mentions": ["a", "b"]})
    )
    assert run("convert", gold, "--coref", coref, "--out", out).exit_code == 0
    attacker, target = json.loads(out.read_text())["events"][0]["arguments"]
    assert [(each["text"], each["start"]) for each in attacker["mentions"]] == [("The rebels", 0), ("Two drivers", 42)]
    assert (attacker["argument"], "mentions" in target) == ("The rebels", False)
    assert run("check", out).exit_code == 0
    wrong = run("convert", gold, "--coref", gold, "--out", out)
    assert (wrong.exit_code, "coref.wrong_type" in wrong.output) == (2, True)


def test_events_with_several_triggers_are_counted_both_ways(tmp_path: Path) -> None:
    gold, out = tmp_path / "train.jsonl", tmp_path / "out.jsonl"
    gold.write_text(json.dumps(SAMPLES["maven-arg"][0]))
    found = run("convert", gold, "--out", out).output
    assert found == f"maven-arg: 1 record, 1 event with 2 mentions, 2 arguments in {out}\n"


def test_a_split_without_labels_is_refused_or_stands_out(tmp_path: Path) -> None:
    gold, answers, out = tmp_path / "test.jsonl", tmp_path / "answers.jsonl", tmp_path / "out.jsonl"
    gold.write_text(json.dumps({"id": "a", "content": [{"sentence": "It .", "tokens": ["It", "."]}], "candidates": []}))
    assert "gold.no_labels" in run("convert", gold, "--out", out).output
    gold.write_text(json.dumps({"id": "a", "title": "T", "text": "It."}))  # DuEE-Fin's has nothing in their place
    answers.write_text(json.dumps({"id": "a", "response": "[]"}))
    protocol = {"metrics": {"schema": {"mode": "syntax_only"}}}
    report = goldgate.evaluate_files(gold, answers, None, protocol).report
    assert "gold_without_events" in [each["code"] for each in report["stands_out"]]


def test_an_unknown_format_says_what_was_tried_and_what_it_lacks(tmp_path: Path) -> None:
    gold = tmp_path / "test.jsonl"
    gold.write_text(json.dumps({key: value for key, value in RAMS.items() if key != "gold_evt_links"}))
    found = run("convert", gold, "--out", tmp_path / "out.jsonl").output
    assert "it is most like rams, which also has gold_evt_links" in " ".join(found.split())
    assert "a published format (goldgate convert --help)" in " ".join(found.split())


def test_our_own_form_is_converted_to_itself(tmp_path: Path) -> None:
    gold, out = tmp_path / "gold.json", tmp_path / "out.jsonl"
    line = '{"id":"1","events":[{"event_type":"A","arguments":[{"role":"r","argument":1.10}]}]}'
    gold.write_text(f"[{line},\n{line.replace('1', '2', 1)}]")
    assert run("convert", gold, "--out", out).output == f"goldgate: 2 records, 2 events, 2 arguments in {out}\n"
    assert out.read_text().splitlines()[0] == line


def test_a_model_can_be_asked_about_published_documents(tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps([DOCEE, DOCEE]))
    documents = load_documents([gold])
    try:
        assert [documents[0].id, documents[1].id] == ["1", "2"]
        assert documents[1].text == DOCEE[1]
        assert recognize_dialect(json.loads(documents.data(0))) is None  # what was asked is stored in our form
    finally:
        documents.close()


FLAWED: dict[str, tuple[str, list[tuple[str, str]], str]] = {
    # a record, its findings, and what convert writes of it
    "own": (
        '{"id": "1", "text": "Ann", "text": "Ann", "events": [{"event_type": "Sue", "trigger": "\\ud800", "start": -1,'
        ' "end": 100000000000000000000, "arguments": []}]}',
        [
            ("duplicate_key", "text"),
            ("lone_surrogate", "events[0].trigger"),
            ("offsets_invalid", "events[0].start"),
            ("offsets_invalid", "events[0].end"),
        ],
        "",  # as it is stored
    ),
    "mapping": (
        '{"id": "1", "text": "Ann", "events": [{"type": "Sue", "arguments": {"who": "Ann", "who": "Ann"}}]}',
        [("duplicate_key", "events[0].arguments.who")],
        "events[0].arguments.who: this key is there twice",
    ),
    "maven-arg": (
        '{"id": "1", "document": "Ann sued.", "events": [{"type": "Sue", "type": "Sue", "mention": [{"trigger_word":'
        ' "sued", "offset": [-1, 3]}], "argument": {"who": [{"content": "Ann", "offset":'
        " [0, 100000000000000000000]}]}}]}",
        [
            ("duplicate_key", "events[0].type"),
            ("offsets_invalid", "events[0].mention[0].offset"),
            ("offsets_invalid", "events[0].argument.who[0].offset"),
        ],
        "events[0].mention[0].offset: expected an offset from 0 on, found -1",
    ),
    "duee": (
        '{"id": "1", "text": "Ann", "event_list": [{"event_type": "Sue", "arguments": [{"role": "who", "argument":'
        ' "Ann", "argument_start_index": 100000000000000000000}]}]}',
        [("offsets_invalid", "events[0].arguments[0]")],
        "error",  # malformed in any form
    ),
}


@cases("name", FLAWED)
def test_what_cannot_be_read_as_it_is_stored_is_found_and_convert_names_it(tmp_path: Path, name: str) -> None:
    record, findings, loss = FLAWED[name]
    gold, out = tmp_path / "gold.jsonl", tmp_path / "out.jsonl"
    gold.write_text("\n" + record + "\n", encoding="utf-8")
    report = json.loads(run("check", gold, "--format", "json").output)
    assert {(each["line"], each["severity"]) for each in report["findings"]} == {(2, "error")}
    places = [(each["code"].removeprefix("gold."), each["field"]) for each in report["findings"]]
    assert places == findings
    converted = run("convert", gold, "--out", out)
    assert converted.exit_code == (2 if loss == "error" else 0)
    if not loss:
        assert out.read_text(encoding="utf-8") == record + "\n"
        assert "not written" not in converted.output
    elif loss != "error":
        assert f"gold.jsonl:2: {loss}" in converted.output
