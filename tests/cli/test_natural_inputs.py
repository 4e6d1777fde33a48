"""Gold and predictions in the shapes that people have them in: each is read, or the error says what to type."""

from __future__ import annotations

import gzip
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import goldgate
from goldgate.errors import GoldgateError
from goldgate.readers import dialects
from goldgate.readers.dialects.dialect import Dialect
from goldgate.readers.nested_records import extract_records
from goldgate.readers.records import open_records
from tests.cli.test_prediction_layouts import PEOPLE, SCHEMA, Json, counts, events, refusal, run, table

IDS = tuple(f"d{number}" for number in range(len(PEOPLE)))
GOLD = [{"id": name, "text": f"{who} joined.", "events": events(who)} for name, who in zip(IDS, PEOPLE, strict=True)]
ANSWERS = [{"id": name, "response": json.dumps(events(who))} for name, who in zip(IDS, PEOPLE, strict=True)]


def renamed(records: list[Json], **names: str) -> list[Json]:
    """The records with other names for some of their keys; `""` leaves a key out."""
    return [{names.get(key, key): value for key, value in record.items() if names.get(key, key)} for record in records]


def lines(records: list[Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def pretty(value: Any) -> str:
    return json.dumps(value, indent=2)


def stored(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_pretty_printed_arrays_are_read_whatever_the_id_is_called(tmp_path: Path) -> None:
    for name, ending, options in (
        ("", "json", {}),
        ("", "json.gz", {}),
        ("doc_id", "json", {"id_field": "doc_id"}),
        ("doc_id", "json.gz", {"id_field": "doc_id", "workers": 2}),
    ):
        gold = stored(tmp_path / f"g.{ending}", pretty(renamed(GOLD, id=name)))
        answers = stored(tmp_path / f"p.{ending}", pretty(renamed(ANSWERS, id=name)))
        report = goldgate.evaluate_files(gold, answers, SCHEMA, **options).report
        assert counts(report) == (3, 3, 0), (name, ending)


def test_a_broken_file_has_the_place_of_the_mistake(tmp_path: Path) -> None:
    answers, under = stored(tmp_path / "p.jsonl", lines(ANSWERS)), pretty({"documents": GOLD})
    without_ids, bare = stored(tmp_path / "b.json", pretty(renamed(ANSWERS, id=""))), pretty(renamed(GOLD, id=""))
    for name, broken, code, line in (
        ("raw line end in a string", bare.replace("Bo joined", "Bo\njoined"), "not_json", 17),
        ("not an object", pretty([*renamed(GOLD, id=""), 5]), "not_an_object", 44),
        ("one with an id", pretty([*renamed(GOLD[:1], id=""), GOLD[1]]), "bad_id", 16),
        ("raw line end in a list", under.replace("Bo joined", "Bo\njoined"), "not_json", 20),
        ("wrong type", under.replace('"Bo joined."', "5"), "wrong_type", 18),
        ("after it", under + "\nand more", "not_json", 1),
        ("never closed", under[:-2], "not_json", 1),
        ("another bracket", under[:-1] + "]", "not_json", 1),
    ):
        given = answers if broken.startswith("{") else without_ids
        with pytest.raises(GoldgateError) as refused:
            goldgate.evaluate_files(stored(tmp_path / "g.json", broken), given, SCHEMA)
        assert (refused.value.code, refused.value.place.line) == (f"gold.{code}", line), name


def reply(name: str, who: str, **other: Any) -> Json:
    message = {"role": "assistant", "content": json.dumps(events(who))}
    whole = {"id": name, "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": message}]}
    return whole | other


def chat(who: str) -> list[Json]:
    return [{"role": "user", "content": "?"}, {"role": "assistant", "content": json.dumps(events(who))}]


NAMED = list(zip(IDS, PEOPLE, strict=True))
SHAPES_OF_GOLD: dict[str, str] = {
    "pretty array": pretty(GOLD),
    "id last": pretty([{"text": each["text"], "events": each["events"], "id": each["id"]} for each in GOLD]),
    "under documents": pretty({"documents": GOLD}),
    "under data, beside others": pretty({"version": "1", "id": "corpus", "data": GOLD, "authors": [{"name": "x"}]}),
    "under data, on one line": json.dumps({"data": GOLD}),
}
SHAPES_OF_PREDICTIONS: dict[str, str] = {
    "under predictions": pretty({"model": "m", "predictions": ANSWERS}),
    "messages": lines([{"id": name, "messages": chat(who)} for name, who in NAMED]),
    "chat under response": lines([{"id": name, "response": chat(who)} for name, who in NAMED]),
    "a message under response": lines([{"id": name, "response": chat(who)[-1]} for name, who in NAMED]),
    "replies": lines([reply(name, who) for name, who in NAMED]),
    "replies under response": lines([{"id": name, "response": reply("chatcmpl-1", who)} for name, who in NAMED]),
    "events under response": lines([{"id": name, "response": {"events": events(who)}} for name, who in NAMED]),
    "a list under response": lines([{"id": name, "response": events(who)} for name, who in NAMED]),
}


def test_every_natural_shape_of_gold_is_read(tmp_path: Path) -> None:
    answers = stored(tmp_path / "p.jsonl", lines(ANSWERS))
    for shape, text in SHAPES_OF_GOLD.items():
        for ending in ("json", "json.gz"):
            gold = stored(tmp_path / f"g.{ending}", text)
            assert counts(goldgate.evaluate_files(gold, answers, SCHEMA).report) == (3, 3, 0), shape
            checked = run("check", gold)
            assert checked.exit_code == 0, (shape, checked.output)
            assert run("convert", gold, "--out", tmp_path / "out.jsonl").exit_code == 0, shape
            converted = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
            assert [each["id"] for each in converted] == [*IDS], shape


def test_every_natural_shape_of_predictions_is_read(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.jsonl", lines(GOLD))
    for shape, text in SHAPES_OF_PREDICTIONS.items():
        for ending in ("json", "json.gz"):
            answers = stored(tmp_path / f"p.{ending}", text)
            assert counts(goldgate.evaluate_files(gold, answers, SCHEMA).report) == (3, 3, 0), shape
            read = run("read", answers)
            assert (read.exit_code, "3 responses, 0 could not be read" in read.stdout) == (0, True), shape


def test_workers_and_comparisons_read_the_same(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.json.gz", SHAPES_OF_GOLD["under documents"])
    schema = stored(tmp_path / "schema.json", json.dumps(SCHEMA))
    answers = stored(tmp_path / "p.json", SHAPES_OF_PREDICTIONS["under predictions"])
    other = stored(tmp_path / "q.json", SHAPES_OF_PREDICTIONS["a list under response"])
    one, two = (goldgate.evaluate_files(gold, answers, SCHEMA, workers=workers) for workers in (1, 2))
    assert one.report == two.report
    assert run("compare", answers, other, "--gold", gold, "--schema", schema).exit_code == 0


def test_fields_are_paths_with_places_from_either_end(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.jsonl", lines(GOLD))
    chats = lines([{"doc_id": name, "turns": chat(who)} for name, who in NAMED])
    replies = lines([reply(f"chatcmpl-{name}", who, doc_id=name) for name, who in NAMED])
    for text, id_field, response_field in (
        (chats, "doc_id", "turns.-1.content"),
        (chats, "doc_id", "turns.1.content"),
        (chats, "doc_id", "turns.-1"),
        (chats, "doc_id", "turns"),
        (replies, "doc_id", None),
        (replies, "doc_id", "choices.0.message.content"),
    ):
        answers = stored(tmp_path / "p.jsonl", text)
        report = goldgate.evaluate_files(gold, answers, SCHEMA, id_field=id_field, response_field=response_field).report
        assert counts(report) == (3, 3, 0), (id_field, response_field)
        options = ("--id-field", id_field, *(() if response_field is None else ("--response-field", response_field)))
        assert "3 responses, 0 could not be read" in run("read", answers, *options).stdout
        assert "|id_field:doc_id|" in report["signature"]
    path = stored(tmp_path / "p.jsonl", chats)
    refused = refusal(gold, path, id_field="doc_id", response_field="turns.-3.content")
    assert (refused.code, refused.place.line, refused.place.field) == ("predictions.no_field", 1, "turns.-3.content")
    assert refusal(gold, path, id_field="turns", response_field="turns").code == "predictions.bad_id"


def test_null_is_a_missing_answer(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.jsonl", lines(GOLD))
    for text, response_field in (
        (lines([*ANSWERS[:2], {"id": "d2", "response": None}]), None),
        (lines([*ANSWERS[:2], {"id": "d2", "events": None}]), None),
        (lines([{"id": name, "messages": chat(who)} for name, who in NAMED[:2]] + [{"id": "d2"}]), None),
        (
            lines(
                [{"id": each["id"], "o": {"t": each["response"]}} for each in ANSWERS[:2]] + [{"id": "d2", "o": None}]
            ),
            "o.t",
        ),
        (lines([*(reply(name, who) for name, who in NAMED[:2]), reply("d2", "", choices=[])]), None),
    ):
        answers = stored(tmp_path / "p.jsonl", text)
        report = goldgate.evaluate_files(gold, answers, SCHEMA, response_field=response_field).report
        assert counts(report) == (2, 2, 1), text
        assert [each["code"] for each in report["findings"]] == ["missing_prediction"], text


def test_answer_of_another_form_behind_chats_is_not_a_missing_one(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.jsonl", lines(GOLD))
    chats = [{"id": name, "messages": chat(who)} for name, who in NAMED[:2]]
    for other in (ANSWERS[2], {"id": "d2", "events": []}, {"id": "d2", "response": None}):
        refused = refusal(gold, stored(tmp_path / "p.jsonl", lines([*chats, other])))
        assert (refused.code, refused.place.line) == ("predictions.mixed", 3), other


def test_gold_is_read_from_a_table_with_events_as_json(tmp_path: Path) -> None:
    rows = [[name, f"{who} joined.", json.dumps(events(who), indent=1)] for name, who in NAMED]
    answers = stored(tmp_path / "p.jsonl", lines(ANSWERS))
    for name, columns, options in (
        ("g.csv", ["id", "text", "events"], ()),
        ("g.csv.gz", ["doc", "text", "events"], ("--id-field", "doc")),
        ("g.tsv", ["id", "text", "events"], ()),
    ):
        gold = table(tmp_path / name, columns, rows, "\t" if name.endswith("tsv") else ",")
        report = goldgate.evaluate_files(gold, answers, SCHEMA, id_field=options[1] if options else None).report
        assert (counts(report), report["inputs"]["gold"][0]["form"]) == ((3, 3, 0), "table"), name
        checked = run("check", gold, *options)
        assert (checked.exit_code, "3 records of table" in checked.stdout) == (0, True), checked.output
    for columns, cells, words in (
        (["id", "text", "role"], ["d0", "x", "y"], "the columns id, text, role"),
        (["id", "text", "events"], ["d0", "x", "[{'event_type': 'Hire'}]"], 'frame["events"].map(json.dumps)'),
    ):
        checked = run("check", table(tmp_path / "g.csv", columns, [cells]))
        assert (checked.exit_code, words in " ".join(checked.stderr.split())) == (2, True), checked.stderr


def test_an_error_says_what_to_type(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.jsonl", lines(GOLD))
    texts = [each["response"] for each in ANSWERS]
    for text, options, advice in (
        (lines(renamed(ANSWERS, id="doc_id")), {}, "--id-field doc_id"),
        (lines(renamed(ANSWERS, response="output")), {}, "--response-field output"),
        (lines(renamed(ANSWERS, id="doc_id", response="output")), {"id_field": "doc_id"}, "--response-field output"),
        (lines([{"id": "d0", "completion": reply("c", "Ann")}]), {}, "--response-field completion"),
        (
            lines([{"id": "d0", "conversations": [{"from": "human", "value": "?"}, {"from": "gpt", "value": "[]"}]}]),
            {},
            "--response-field conversations.-1.value",
        ),
        (lines([{"id": "d0", "response": texts}]), {}, "--response-field response.0"),
        (lines([reply("chatcmpl-1", "Ann")]), {}, "name it with --id-field"),
        (lines(texts), {}, 'write {"id": …, "response": …} for each answer'),
        (lines([events("Ann")]), {}, 'write {"id": …, "events": […]} for each document'),
        (json.dumps({"id": {"0": "d0"}, "response": {"0": "[]"}}), {}, 'orient="records", lines=True'),
        (pretty({"columns": ["id"], "index": [0], "data": [["d0"]]}), {}, 'orient="records", lines=True'),
        (json.dumps({"dev": ANSWERS[:1], "test": ANSWERS[1:]}), {}, "jq -c '.dev[]' takes them out"),
        (json.dumps({"d0": {"response": "[]"}}), {}, "jq -c 'to_entries[] | .value + {id: .key}'"),
        (json.dumps({"d0": events("Ann"), "d1": None}), {}, "'to_entries[] | {id: .key, events: .value}'"),
        (json.dumps({"d0": texts[0], "d1": texts[1]}), {}, "'to_entries[] | {id: .key, response: .value}'"),
        (pretty({"d0": {"response": "[]"}}), {}, "pretty-printed? jq -c . FILE writes an object a line"),
        ("\n".join(map(pretty, ANSWERS)), {}, "pretty-printed? jq -c . FILE writes an object a line"),
        ("id,response\nd0,[]\n", {}, "names end in .csv: rename it"),
    ):
        error = refusal(gold, stored(tmp_path / "p.txt", text), **options)
        assert advice in str(error.advice), (text, error)
        assert "found the keys id," not in str(error.found)


def test_check_gold_and_convert_take_an_id_field(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.json", pretty([{"meta": {"key": name}, "events": events(who)} for name, who in NAMED]))
    assert run("check", gold).exit_code == 1
    assert run("check", gold, "--id-field", "meta.key").exit_code == 0
    assert run("convert", gold, "--id-field", "meta.key", "--out", tmp_path / "out.jsonl").exit_code == 0
    assert run("check", tmp_path / "out.jsonl").exit_code == 0
    broken = stored(tmp_path / "b.jsonl", lines([{"key": "d0", "events": []}, {"events": []}]))
    checked = run("check", broken, "--id-field", "key", "--format", "json")
    findings = [each for each in json.loads(checked.stdout)["findings"] if each["severity"] == "error"]
    assert [(each["code"], each["line"], each["field"]) for each in findings] == [("gold.no_field", 2, "key")]


def test_read_takes_tables_and_records_without_ids(tmp_path: Path) -> None:
    rows = table(tmp_path / "p.csv", ["id", "response"], [[each["id"], each["response"]] for each in ANSWERS])
    in_order = [{"prompt": "p", "predict": each["response"], "label": "l"} for each in ANSWERS]
    for path in (
        rows,
        stored(tmp_path / "p.jsonl", lines(renamed(ANSWERS, id=""))),
        stored(tmp_path / "generated_predictions.jsonl", lines(in_order)),
    ):
        assert "3 responses, 0 could not be read" in run("read", path).stdout, path.name
    assert run("read", tmp_path / "p.jsonl", "--id", "2").stdout.startswith("2  RAW")


def test_long_lines_are_told_from_one_long_object(tmp_path: Path) -> None:
    """The first line is longer than what is read at once."""
    answers = stored(tmp_path / "p.jsonl", lines(ANSWERS))
    note = "x" * (1 << 21)
    for name, text in {
        "lines": lines([{**each, "note": note} for each in GOLD]),
        "list": json.dumps({"documents": [{**each, "note": note} for each in GOLD]}) + "\n\n",
        "list behind a long note": json.dumps({"note": note, "documents": GOLD}),
        "list behind long blanks": json.dumps({"documents": GOLD}).replace("{", "{" + " " * len(note), 1),
    }.items():
        gold = stored(tmp_path / "g.json", text)
        assert counts(goldgate.evaluate_files(gold, answers, SCHEMA).report) == (3, 3, 0), name


def test_one_record_of_another_program_is_a_record(tmp_path: Path) -> None:
    gold = stored(tmp_path / "g.jsonl", lines(GOLD[:1]))
    for record in (
        {"prompt": "p [1]", "predict": ANSWERS[0]["response"], "label": "[]"},
        {"id": "d0", "response": ANSWERS[0]["response"]},
        {"id": "d0", "messages": chat("Ann")},
    ):
        for text in (json.dumps(record), json.dumps(record) + "\n", pretty([record])):
            assert counts(goldgate.evaluate_files(gold, stored(tmp_path / "p.json", text), SCHEMA).report) == (1, 1, 0)


def test_one_record_of_a_plugin_dialect_is_not_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def convert(record: dict[str, Any]) -> dict[str, Any]:
        return {"text": record["page"], "events": record["results"]}

    dialect = Dialect("paged", "pages with results", lambda record: "page" in record, convert, ("page", "results"))
    record = {"page": GOLD[0]["text"], "results": GOLD[0]["events"]}
    answers = stored(tmp_path / "p.jsonl", lines([{**ANSWERS[0], "id": "1"}]))
    monkeypatch.setattr(dialects, "load_plugins", lambda *_: iter([dialect]))
    dialects.all_dialects.cache_clear()
    try:
        for text in (json.dumps(record), pretty([record])):
            gold = stored(tmp_path / "g.json", text)
            assert counts(goldgate.evaluate_files(gold, answers, SCHEMA).report) == (1, 1, 0), text
    finally:
        dialects.all_dialects.cache_clear()


def test_keys_of_an_object_are_not_held_in_memory(tmp_path: Path) -> None:
    def peak(number: int) -> int:
        answers = ",".join(f'"k{place}":[{{"event_type":"A","arguments":[]}}]' for place in range(number))
        file = open_records(stored(tmp_path / f"{number}.json", "{\n" + answers + "}"), "predictions")
        tracemalloc.start()
        assert extract_records(file) is file
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    assert peak(4_000) - peak(1_000) < 3_000 * 150  # bytes


def test_a_file_of_opening_brackets_is_not_looked_into_to_its_end(tmp_path: Path) -> None:
    path = stored(tmp_path / "deep.json", '{\n"documents": [{"id": ' + "[" * 1_200 + "]" * 1_200 + "}]}")
    file = open_records(path, "gold")
    assert extract_records(file) is file
