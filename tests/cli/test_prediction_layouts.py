"""Predictions as other programs write them score as our own form does; what joined them is said."""

from __future__ import annotations

import contextlib
import csv
import gzip
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import goldgate
import goldgate.readers.layouts
from goldgate.cli.main import goldgate as command
from goldgate.errors import GoldgateError, InputError, MachineError
from goldgate.readers.layouts import RECORD_LAYOUTS, harnesses
from goldgate.readers.layouts.layout import OWN_FIELDS
from tests.cases import cases
from tests.unit.readers.test_dialects import damages

SCHEMA = {"event_types": {"Hire": {"roles": ["Person"]}}}
PEOPLE = ("Ann", "Bo", "Cy")
Json = dict[str, Any]


def events(person: str) -> list[Json]:
    return [{"event_type": "Hire", "arguments": [{"role": "Person", "argument": person}]}]


def gold_record(number: int, *, with_id: bool = True) -> Json:
    person = PEOPLE[number]
    return ({"id": f"d{number}"} if with_id else {}) | {"text": f"{person} joined.", "events": events(person)}


ANSWERS = [json.dumps(events("Ann")), 'Here: "x"\n[]', json.dumps(events("Cy"))]  # two of three persons are found


@pytest.fixture
def gold(tmp_path: Path) -> Path:
    return write(tmp_path / "gold.jsonl", [gold_record(number) for number in range(3)])


@pytest.fixture
def bare_gold(tmp_path: Path) -> Path:
    """Gold without ids."""
    return write(tmp_path / "bare.jsonl", [gold_record(number, with_id=False) for number in range(3)])


def write(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def score(gold: Path, predictions: Path, **options: Any) -> Any:
    return goldgate.evaluate_files(gold, predictions, SCHEMA, **options).report


def counts(report: Json) -> tuple[int, int, int]:
    """Hits, predicted and missing."""
    main = report["metrics"]["main"]
    found = main["strict_precision"]
    return found["numerator"], found["denominator"], main["missing_predictions"]["value"]


def refusal(gold: Path, predictions: Path, **options: Any) -> GoldgateError:
    with pytest.raises(GoldgateError) as refused:
        score(gold, predictions, **options)
    return refused.value


def batch(number: int, **other: Any) -> Json:
    message = {"role": "assistant", "content": ANSWERS[number]}
    body = {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": message}]}
    response = {"status_code": 200, "request_id": "r", "body": body}
    return {"id": f"batch_req_{number}", "custom_id": f"d{number}", "response": response, "error": None} | other


def sample(number: int, **other: Any) -> Json:
    message = {"role": "assistant", "content": ANSWERS[number]}
    output = {"model": "m", "choices": [{"message": message, "stop_reason": "stop"}], "completion": ANSWERS[number]}
    return {"id": f"d{number}", "epoch": 1, "input": "q", "target": "t", "output": output, "attachments": {}} | other


def log(*samples: Json) -> Json:
    return {"version": 2, "status": "success", "eval": {"task": "t"}, "plan": {}, "samples": list(samples)}


def packed_log(path: Path, *samples: Json, compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("_journal/start.json", "{}")
        for each in samples:
            archive.writestr(f"samples/{each['id']}_epoch_{each['epoch']}.json", json.dumps(each))
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success"}))
    return path


def table(path: Path, columns: list[str], rows: list[list[str]], mark: str = ",") -> Path:
    text = io.StringIO()
    csv.writer(text, delimiter=mark).writerows([columns, *rows])
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def test_the_output_of_a_batch(gold: Path, tmp_path: Path) -> None:
    report = score(gold, write(tmp_path / "out.jsonl", [batch(2), batch(0), batch(1)]))
    assert counts(report) == (2, 2, 0)
    assert report["inputs"]["predictions"][0]["form"] == "openai-batch"
    assert "|layout:openai-batch|" in report["signature"]


def test_a_request_that_failed_is_a_missing_answer(gold: Path, tmp_path: Path) -> None:
    failed = batch(1, response=None, error={"code": "batch_expired", "message": "…"})
    refused = batch(2, response={"status_code": 400, "body": {"error": {"message": "…"}}})
    assert counts(score(gold, write(tmp_path / "out.jsonl", [batch(0), failed, refused]))) == (1, 1, 2)


def test_a_batch_of_calls_parts_and_responses(gold: Path, tmp_path: Path) -> None:
    call = {"function": {"name": "events", "arguments": json.dumps({"events": events("Ann")})}}
    bodies: list[Json] = [
        {"choices": [{"message": {"content": None, "tool_calls": [call]}}]},
        {"choices": [{"message": {"content": [{"type": "text", "text": json.dumps(events("Bo"))}]}}]},
        {"output": [{"type": "reasoning"}, {"type": "message", "content": [{"text": json.dumps(events("Cy"))}]}]},
    ]
    called = {"type": "function_call", "name": "events", "arguments": json.dumps(events("Cy"))}
    for last in (bodies[-1], {"output": [called]}, {"output": [called, called]}):
        records = [batch(number, response={"body": body}) for number, body in enumerate([*bodies[:-1], last])]
        assert counts(score(gold, write(tmp_path / "out.jsonl", records))) == (3, 3, 0)


@pytest.mark.parametrize("with_ids", [True, False])
def test_generated_predictions_of_llama_factory_are_in_the_order_of_the_gold(
    gold: Path, bare_gold: Path, tmp_path: Path, with_ids: bool
) -> None:
    records = [{"prompt": "p", "predict": answer, "label": "l"} for answer in ANSWERS]
    report = score(gold if with_ids else bare_gold, write(tmp_path / "generated_predictions.jsonl", records))
    assert counts(report) == (2, 2, 0)
    assert report["signature"].endswith("|layout:llama-factory|joined:by_order|interval:wilson-t.v1@0.95")
    assert "joined_by_order" in [each["code"] for each in report["stands_out"]]
    for cut in (records[:2], [*records, records[0]]):
        error = refusal(gold if with_ids else bare_gold, write(tmp_path / "cut.jsonl", cut))
        assert error.code in ("predictions.other_count", "predictions.unknown_id")


def test_samples_of_lm_eval_are_joined_by_id_or_place(gold: Path, bare_gold: Path, tmp_path: Path) -> None:
    def lm_eval(number: int, document: Json) -> Json:
        return {"doc_id": number, "doc": document, "target": "", "resps": [[ANSWERS[number]]], "filtered_resps": ["x"]}

    named = write(tmp_path / "samples_a.jsonl", [lm_eval(number, {"id": f"d{number}"}) for number in (2, 0, 1)])
    report = score(gold, named)
    assert counts(report) == (2, 2, 0)
    assert "joined:" not in report["signature"]
    placed = write(tmp_path / "samples_b.jsonl", [lm_eval(number, {"text": "x"}) for number in (2, 0)])
    for each in (gold, bare_gold):
        report = score(each, placed)
        assert counts(report) == (2, 2, 1)
        assert "|joined:by_order|" in report["signature"]


def test_a_log_of_inspect(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(log(sample(2), sample(0), sample(1)), indent=2))
    report = score(gold, path)
    assert counts(report) == (2, 2, 0)
    assert report["inputs"]["predictions"] == [report["inputs"]["predictions"][0] | {"form": "inspect", "samples": 3}]
    packed = packed_log(tmp_path / "log.eval", sample(2), sample(0), sample(1))
    assert counts(score(gold, packed)) == (2, 2, 0)


def test_a_sample_that_failed_is_a_missing_answer_and_an_attachment_is_read(gold: Path, tmp_path: Path) -> None:
    failed = sample(0, output={"model": "m", "choices": [], "completion": ""}, error={"message": "…"})
    attached = sample(2, output={"completion": "attachment://abc"}, attachments={"abc": ANSWERS[2]})
    silent = sample(1, output={"completion": "", "choices": []})
    path = packed_log(tmp_path / "log.eval", failed, attached, silent)
    assert counts(score(gold, path)) == (1, 1, 1)


def test_a_log_of_several_epochs_is_refused(gold: Path, tmp_path: Path) -> None:
    path = packed_log(tmp_path / "log.eval", sample(0), sample(0, epoch=2))
    assert refusal(gold, path).code == "predictions.several_epochs"


@pytest.mark.parametrize("content", [b"PK\x03\x04 and no more", b""])
def test_a_damaged_log_is_refused(gold: Path, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "log.eval"
    path.write_bytes(content)
    if content:
        assert refusal(gold, path).code == "predictions.not_a_log"
    packed_log(path, sample(0))
    damaged = path.read_bytes()
    path.write_bytes(damaged[: len(damaged) // 2])
    assert refusal(gold, path).code == "predictions.not_a_log"
    header = tmp_path / "header.json"
    header.write_text(json.dumps({name: value for name, value in log().items() if name != "samples"}))
    assert refusal(gold, header).code == "predictions.not_a_log"


def test_a_log_that_is_packed_with_zstd(gold: Path, tmp_path: Path) -> None:
    zstandard = pytest.importorskip("zstandard")
    path = tmp_path / "log.eval"
    data = json.dumps(sample(0)).encode()
    packed = zstandard.ZstdCompressor().compress(data)
    stored = packed_log(tmp_path / "stored.eval", sample(0), compression=zipfile.ZIP_STORED)
    # An archive of the packed bytes, of which both headers say that they are zstd (93) and how long they are unpacked.
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("samples/d0_epoch_1.json", packed)
    raw = bytearray(path.read_bytes())
    directory = raw.rindex(b"PK\x01\x02")
    raw[8:10] = raw[directory + 10 : directory + 12] = (93).to_bytes(2, "little")
    raw[22:26] = raw[directory + 24 : directory + 28] = len(data).to_bytes(4, "little")
    path.write_bytes(raw)
    assert counts(score(gold, path)) == counts(score(gold, stored)) == (1, 1, 2)


@cases(("name", "mark"), [("a.csv", ","), ("a.tsv", "\t"), ("a.csv.gz", ",")])
def test_a_table(gold: Path, tmp_path: Path, name: str, mark: str) -> None:
    rows = [[f"d{number}", answer] for number, answer in enumerate(ANSWERS)]
    report = score(gold, table(tmp_path / name, ["id", "response"], rows, mark))
    assert (counts(report), report["inputs"]["predictions"][0]["form"]) == ((2, 2, 0), "table")


def test_a_table_with_other_columns(gold: Path, bare_gold: Path, tmp_path: Path) -> None:
    rows = [[answer, f"d{number}"] for number, answer in enumerate(ANSWERS)]
    path = table(tmp_path / "a.csv", ["model output", "doc"], rows)
    assert refusal(gold, path).code == "predictions.bad_table"
    assert counts(score(gold, path, id_field="doc", response_field="model output")) == (2, 2, 0)
    report = score(bare_gold, path, response_field="model output")
    assert counts(report) == (2, 2, 0)
    assert "|response_field:model output|joined:by_order|" in report["signature"]


@cases(
    "text", ['id,response\nd0,"open\n', "id,response\nd0\n", "id,response\nd0,a,b\n", "id,response\nd0,\udcff\n", ""]
)
def test_a_damaged_table_is_refused(gold: Path, tmp_path: Path, text: str) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert refusal(gold, path).code == "predictions.bad_table"


def test_parquet(gold: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    rows = [{"id": f"d{n}", "out": {"text": answer}, "other": n} for n, answer in enumerate(ANSWERS)]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "a.parquet")
    assert counts(score(gold, tmp_path / "a.parquet", response_field="out.text")) == (2, 2, 0)
    damaged = (tmp_path / "a.parquet").read_bytes()[:-9]
    (tmp_path / "b.parquet").write_bytes(damaged)
    assert refusal(gold, tmp_path / "b.parquet").code == "predictions.bad_table"


def test_without_its_package_a_parquet_file_says_what_to_install(
    gold: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    (tmp_path / "a.parquet").write_bytes(b"PAR1")
    error = refusal(gold, tmp_path / "a.parquet")
    assert isinstance(error, MachineError)
    assert error.advice == "pip install pyarrow"


def test_files_without_ids_are_joined_by_order_and_it_is_said(bare_gold: Path, tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", [{"response": answer} for answer in ANSWERS])
    report = score(bare_gold, path)
    assert counts(report) == (2, 2, 0)
    assert "|joined:by_order|" in report["signature"]
    assert "joined_by_order" in [each["code"] for each in report["stands_out"]]
    assert refusal(bare_gold, write(path, [{"response": ""}] * 2)).code == "predictions.other_count"
    codes = ("predictions.other_count", "predictions.unknown_id")
    assert refusal(bare_gold, write(path, [{"response": ""}] * 4)).code in codes


@pytest.mark.parametrize("name", ["doc_id", "_id", "key"])
def test_ids_under_another_name_in_both_files_are_not_joined_by_order(name: str, tmp_path: Path) -> None:
    events = [{"event_type": "Hire", "arguments": [{"role": "Person", "argument": "Lena"}]}]
    gold = write(tmp_path / "gold.jsonl", [{name: f"d{n}", "text": "Lena", "events": events} for n in range(2)])
    answers = [{name: f"d{n}", "output": json.dumps(events if n else [])} for n in (1, 0)]
    path = write(tmp_path / "a.jsonl", answers)
    error = refusal(gold, path, response_field="output")
    assert (error.code, error.message) == ("predictions.bad_id", f"there is no field id, and both files have {name}")
    assert str(error.advice).startswith(f"use --id-field {name};")
    report = score(gold, path, response_field="output", id_field=name)
    assert counts(report)[0] == 1
    golds = [json.loads(line) for line in gold.read_text().splitlines()]
    in_memory = [{name: answer[name], "response": answer["output"]} for answer in answers]
    assert counts(goldgate.evaluate(golds, in_memory, SCHEMA, id_field=name).report)[0] == 1
    table = tmp_path / "a.csv"
    table.write_text(f"{name},response\nd1,[]\nd0,[]\n")
    assert refusal(gold, table).code == "predictions.bad_id"
    other = write(path, [{"other": "d1", "output": "[]"}, {"other": "d0", "output": "[]"}])
    assert "|joined:by_order|" in score(gold, other, response_field="output")["signature"]


def test_a_data_set_without_ids_is_joined_by_order_or_by_number(tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    gold.write_text(json.dumps([["t", f"{person} joined.", "Hire", _docee(person)] for person in PEOPLE]))
    without = write(tmp_path / "a.jsonl", [{"response": answer} for answer in ANSWERS])
    with_numbers = write(tmp_path / "b.jsonl", [{"id": str(n), "response": a} for n, a in enumerate(ANSWERS, 1)])
    by_order, by_number = score(gold, without), score(gold, with_numbers)
    assert counts(by_order) == counts(by_number) == (2, 2, 0)
    assert "|joined:by_order|" in by_order["signature"]
    assert "joined:" not in by_number["signature"]


def _docee(person: str) -> list[Json]:
    return [{"start": 0, "end": len(person), "type": "Person", "text": person}]


def test_where_only_one_file_has_ids_it_is_an_error(gold: Path, bare_gold: Path, tmp_path: Path) -> None:
    assert refusal(gold, write(tmp_path / "a.jsonl", [{"response": ""}])).code == "predictions.bad_id"
    assert refusal(bare_gold, write(tmp_path / "b.jsonl", [{"id": "d0", "response": ""}])).code == "gold.bad_id"
    assert refusal(bare_gold, table(tmp_path / "c.csv", ["id", "response"], [["1", ""]])).code == "gold.bad_id"


def test_numbers_of_gold_without_ids_keep_their_digits(tmp_path: Path) -> None:
    gold = tmp_path / "g.jsonl"
    gold.write_text('{"events": [{"event_type": "Hire", "arguments": [{"role": "Person", "argument": 1.10}]}]}\n')
    path = write(tmp_path / "a.jsonl", [{"events": events("1.10")}])
    assert counts(score(gold, path)) == (1, 1, 0)


def test_workers_give_the_same_bytes(gold: Path, tmp_path: Path) -> None:
    path = packed_log(tmp_path / "log.eval", *(sample(number) for number in range(3)))
    assert score(gold, path) == score(gold, path, workers=2)


def test_a_report_of_another_layout_is_verified(bare_gold: Path, tmp_path: Path) -> None:
    path = table(tmp_path / "a.csv", ["answer"], [[answer] for answer in ANSWERS])
    (tmp_path / "schema.json").write_text(json.dumps(SCHEMA))
    out = tmp_path / "out"
    options = ("--gold", bare_gold, "--predictions", path, "--schema", tmp_path / "schema.json", "--out", out)
    assert run("extraction", *options, "--response-field", "answer").exit_code == 0
    found = run("verify", out)
    assert found.exit_code == 0, found.output


def run(*arguments: object) -> Result:
    return CliRunner().invoke(command, [*map(str, arguments)])


def test_an_error_in_a_converted_record_has_its_line(gold: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(json.dumps(batch(0)) + "\n\n" + json.dumps(batch(0)) + "\n")
    error = refusal(gold, path)
    assert isinstance(error, InputError)
    assert (error.code, error.place.line) == ("predictions.duplicate_id", 3)


@cases(
    "record",
    [
        batch(0),
        batch(0, response={"body": {"output": [{"type": "message", "content": [{"text": "a"}]}]}}),
        {"prompt": "p", "predict": "a", "label": "l"},
        {"doc_id": 0, "doc": {"id": "d0"}, "target": "", "resps": [["a"]]},
        sample(0, error=None),
    ],
)
def test_no_damage_to_a_record_raises_anything_but_an_error_of_its_own(record: Json) -> None:
    readers = [layout.answer for layout in RECORD_LAYOUTS if layout.recognizes(record)] or [
        lambda each: harnesses.read_sample(each, OWN_FIELDS)
    ]
    for damaged in damages(record):
        if isinstance(damaged, dict):
            with contextlib.suppress(InputError):
                for read in readers:
                    read(damaged)


# --- what real files have: several filters, other kinds of tasks, systems in different layouts


def test_of_several_filters_of_lm_eval_the_first_counts(gold: Path, tmp_path: Path) -> None:
    def line(number: int, name: str, **other: Any) -> Json:
        return {"doc_id": number, "doc": {"text": "x"}, "resps": [[ANSWERS[number]]], "filter": name} | other

    for records in (
        [line(number, name) for name in ("strict-match", "flexible-extract") for number in range(3)],
        [line(number, name) for number in range(3) for name in ("none", "other")],  # interleaved
        [{"doc_id": number, "target": "", "filtered_resps": [ANSWERS[number]]} for number in range(3)],
        [line(number, "none", resps=[[ANSWERS[number], "[]"]]) for number in range(3)],
    ):
        assert counts(score(gold, write(tmp_path / "samples.jsonl", records))) == (2, 2, 0)


@pytest.mark.parametrize("resps", [[[[-1.5, False]], [[-0.5, True]]], [[-3.0, False], [-4.0, False]], [], 1])
def test_log_likelihoods_of_lm_eval_are_no_answers(gold: Path, tmp_path: Path, resps: Any) -> None:
    error = refusal(gold, write(tmp_path / "samples.jsonl", [{"doc_id": 0, "doc": {}, "resps": resps}]))
    assert (error.code, error.place.line, error.place.field) == ("predictions.not_generated", 1, "resps")


def test_embeddings_of_a_batch_are_no_answers_and_calls_of_a_response_are(gold: Path, tmp_path: Path) -> None:
    body = {"object": "list", "data": [{"object": "embedding", "embedding": [0.1]}], "model": "m"}
    error = refusal(gold, write(tmp_path / "a.jsonl", [batch(0, response={"status_code": 200, "body": body})]))
    assert error.code == "predictions.not_generated"
    call = {"type": "function_call", "name": "events", "arguments": json.dumps({"events": events("Ann")})}
    called = batch(0, response={"status_code": 200, "body": {"object": "response", "output": [call]}})
    assert counts(score(gold, write(tmp_path / "b.jsonl", [called]))) == (1, 1, 2)


def test_systems_that_are_stored_in_different_layouts_are_compared(gold: Path, tmp_path: Path) -> None:
    in_batch = write(tmp_path / "a.jsonl", [batch(number) for number in range(3)])
    in_order = [{"prompt": "p", "predict": answer, "label": "l"} for answer in (*ANSWERS[:2], "[]")]
    found = goldgate.compare(in_batch, write(tmp_path / "b.jsonl", in_order), gold=gold, schema=_schema(tmp_path))
    assert [system["name"] for system in found.report["systems"]] == ["a", "b"]


def test_compare_reads_ids_and_responses_where_they_are(gold: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(tmp_path / f"{name}.jsonl", [{"doc": f"d{n}", "out": {"t": each}} for n, each in enumerate(ANSWERS)])
    options = ("--gold", gold, "--schema", _schema(tmp_path), "--id-field", "doc", "--response-field", "out.t")
    systems = (tmp_path / "a.jsonl", tmp_path / "b.jsonl")
    assert run("compare", *systems, *options).exit_code == 0
    assert run("compare", *systems, *options[:4]).exit_code == 2
    without_gold = run("compare", tmp_path, tmp_path, "--id-field", "doc", "--format", "json")
    assert "compare.no_gold" in without_gold.output
    out = tmp_path / "out"
    assert run("compare", *systems, *options, "--dialect", "goldgate", "--out", out).exit_code == 0
    assert json.loads((out / "run.json").read_text())["inputs"]["id_field"] == ["doc"]


def _schema(folder: Path) -> Path:
    (folder / "schema.json").write_text(json.dumps(SCHEMA))
    return folder / "schema.json"
