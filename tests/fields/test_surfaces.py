"""What a fields result can be looked at, compared, checked and asked with: every command once, on the example."""

from __future__ import annotations

import io
import json
from collections import Counter
from contextlib import chdir
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from click.testing import CliRunner, Result

import goldgate
from goldgate.api import load_evaluation_file
from goldgate.cli.main import goldgate as command
from goldgate.core.evaluation import ContradictionError
from goldgate.core.page import Matrix, Name, Table, confusion_label
from goldgate.core.unit_page import MarkedText
from goldgate.errors import InputError, Place
from goldgate.files.address import file_beside
from goldgate.suites import load_suite
from goldgate.suites.fields.alignment import GOLD_STATES, PREDICTED_STATES, WrongKind
from goldgate.suites.fields.gold import run_fields_convert
from goldgate.suites.fields.task import strict_schema
from goldgate.suites.plan import load_plan
from tests.generation.server import Behaviour, Running

EXAMPLE = Path(__file__).parents[2] / "examples" / "fields"
GOLD, SCHEMA = EXAMPLE / "gold.jsonl", EXAMPLE / "schema.json"
SUITE = load_suite("fields")


def run(folder: Path, *arguments: object) -> Result:
    with chdir(folder):
        return CliRunner().invoke(command, [*map(str, arguments)], env={"COLUMNS": "100"})


def score(folder: Path, model: str) -> Result:
    files = ("--gold", GOLD, "--schema", SCHEMA, "--protocol", EXAMPLE / "protocol.yaml")
    return run(folder, "fields", *files, "--predictions", EXAMPLE / f"model-{model}.jsonl", "--out", model)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders `a` and `b` with the results of both models."""
    folder = tmp_path_factory.mktemp("results")
    assert [score(folder, model).exit_code for model in "ab"] == [0, 1]
    return folder


def report_of(results: Path, model: str) -> Any:
    return json.loads((results / model / "report.json").read_bytes())


def test_every_command_takes_a_fields_result(results: Path) -> None:
    commands: dict[str, tuple[object, ...]] = {
        "Systems": ("compare", "a", "b"),
        "verified": ("verify", "b"),
        "field_f1": ("power", "b", "--detect", "0.05"),
        "paths.svg": ("plot", "b", "--out", "pictures"),
        "baseline": ("baseline", "a", "--out", "baseline"),
        "FAIL": ("trend", "a", "b"),
    }
    for shown, arguments in commands.items():
        done = run(results, *arguments)
        assert done.exit_code == 0, (arguments, done.output)
        assert shown in done.output or (results / "pictures" / shown).is_file(), (arguments, done.output)
    assert 'failures="5"' in (results / "b" / "junit.xml").read_text(encoding="utf-8")
    assert "swapped" in (results / "b" / "report.html").read_text(encoding="utf-8")


def test_every_error_name_occurs_in_the_example(results: Path) -> None:
    report = report_of(results, "b")
    for side, names in (("gold", GOLD_STATES), ("predicted", PREDICTED_STATES)):
        assert all(report["errors"][side][name] for name in names), side
    assert all(report["errors"]["wrong"][kind] for kind in WrongKind)
    assert {(pair["path"], pair["gold"]) for pair in report["confusions"]["pairs"]} >= {("status", "open")}


def test_confused_values_of_enums_lead_to_their_documents(results: Path) -> None:
    report = report_of(results, "b")
    records = [json.loads(line) for line in (results / "b" / "samples.jsonl").read_bytes().splitlines()]
    found = Counter(label for record in records for label in SUITE.summary(record).facets.get("confused", ()))
    assert found == {
        confusion_label(pair["gold"], pair["predicted"], pair["path"]): pair["count"]
        for pair in report["confusions"]["pairs"]
    }
    assert found["status · open → overdue"] == 2
    section = next(each for each in SUITE.describe(report).sections if each.title == "Confused values of enums")
    (matrix,) = section.blocks
    assert isinstance(matrix, Matrix)
    assert matrix.facet == "confused"


def test_a_report_that_its_paths_contradict_is_refused(results: Path) -> None:
    report = report_of(results, "a")
    assert SUITE.stored_rates(report).sizes == {"documents": 30}
    report["breakdown"]["paths"][0]["hits"] -= 1
    with pytest.raises(ContradictionError):
        SUITE.stored_rates(report)


def test_a_document_is_explained_with_marks_and_both_values(results: Path) -> None:
    records = [json.loads(line) for line in (results / "b" / "samples.jsonl").read_bytes().splitlines()]
    record = next(record for record in records if record["id"] == "inv-02")
    summary = SUITE.summary(record)
    assert (summary.word, summary.weight) == ("wrong 2", 2)
    assert summary.facets["path"] == ("customer.name", "customer.city")
    inputs = {"gold": [str(GOLD)], "predictions": [str(EXAMPLE / "model-b.jsonl")], "schema": [str(SCHEMA)]}
    plan = load_plan(SUITE, str(EXAMPLE / "protocol.yaml"))
    with SUITE.open_inputs(inputs, plan) as lookup:
        page = SUITE.unit_page(record, lookup.for_unit(record))
        bare = SUITE.unit_page(record, {})
    sections = {section.title: section.blocks for section in page.sections}
    (text,), (values, *_) = sections["Source text"], sections["Values"]
    assert isinstance(text, MarkedText)
    assert isinstance(values, Table)
    wrong = {(text.text[mark.start : mark.end], mark.kind, mark.label) for mark in text.marks if mark.wrong}
    assert wrong == {
        ("Leeds", "predicted", "customer.name"), ("Leeds", "gold", "customer.city"),
        ("Alder House School", "predicted", "customer.city"), ("Alder House School", "gold", "customer.name"),
    }  # fmt: skip
    marked = {mark.label: text.text[mark.start : mark.end] for mark in text.marks if mark.kind == "both"}
    assert (marked["issue_date"], marked["total"]) == ("26 May 2026", "1,893.40")  # 2026-05-26 and 1893.4 in gold
    assert (Name("customer.name"), "Alder House School", "Leeds", Name("wrong: swapped")) in values.rows
    assert [section.title for section in bare.sections] == ["Result", "Errors", "Source text", "Answer"]


def test_mistakes_in_gold_are_found(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"price": {"type": "number"}, "name": {"type": "string"}}}
    (tmp_path / "schema.json").write_text(json.dumps(schema), encoding="utf-8")
    cases: dict[str, dict[str, Any]] = {
        "gold.no_value": {"text": "x"},
        "gold.outside_schema": {"value": {"colour": "red"}, "text": "red"},
        "gold.other_shape": {"value": {"name": {"first": "A"}}, "text": "A"},
        "gold.breaks_schema": {"value": {"price": "12"}, "text": "12"},
        "gold.two_readings": {"value": {"price": "1.240"}, "text": "1.240"},
        "gold.value_not_in_text": {"value": {"name": "Harbor"}, "text": "Dock"},
        "gold.no_leaves": {"value": {}, "text": "x"},
        "gold.no_text": {"value": {"name": "A"}},
        "gold.null_word": {"value": {"name": "Null"}, "text": "Null"},
    }
    for code, record in cases.items():
        (tmp_path / "gold.jsonl").write_text(json.dumps({"id": "1", **record}), encoding="utf-8")
        words = ("check", "gold.jsonl", "--suite", "fields", "--schema", "schema.json")
        done = run(tmp_path, *words, "--format", "json")
        assert code in json.loads(done.stdout)["counts"], (code, done.output)
        if code == "gold.breaks_schema":
            shown = " ".join(run(tmp_path, *words).output.split())
            assert 'value.price not valid by the schema: "12" is not of type "number"' in shown
        if code == "gold.null_word":
            assert 'or set fields: {null_words: ["Null"]} in the protocol' in done.stdout.replace('\\"', '"')
    assert run(tmp_path, "check", GOLD, "--suite", "fields", "--schema", SCHEMA).exit_code == 0


def convert(folder: Path, content: Any) -> tuple[Any, str]:
    (folder / "in.json").write_text(json.dumps(content), encoding="utf-8")
    out = io.BytesIO()
    _, lost = run_fields_convert([str(folder / "in.json")], out, {})
    return json.loads(out.getvalue()), lost


def test_schemas_and_annotations_of_others_are_converted(tmp_path: Path) -> None:
    stickler = {"type": "string", "x-aws-stickler-comparator": "LevenshteinComparator",
                "x-aws-stickler-threshold": 0.8, "x-aws-stickler-weight": 2.0}  # fmt: skip
    judged = {"type": "string", "evaluation_config": "string_semantic"}
    given = {"properties": {"name": stickler, "code": {"evaluation_config": "string_exact"}, "note": judged}}
    schema, lost = convert(tmp_path, {"schema_definition": {"type": "object", **given}})
    assert schema["properties"] == {
        "name": {"type": "string", "x-goldgate": {"compare": "fuzzy", "threshold": 0.8, "weight": 2.0}},
        "code": {"x-goldgate": {"compare": "exact"}},
        "note": {"type": "string"},
    }
    assert "$.properties.note" in lost
    region = {"from_name": "label", "type": "labels", "value": {"text": "Harbor", "labels": ["vendor"]}}
    choice = {"from_name": "status", "type": "choices", "value": {"choices": ["paid"]}}
    task = {"id": 7, "data": {"text": "Harbor, paid"}, "annotations": [{"result": [region, choice]}]}
    record, lost = convert(tmp_path, [task])
    assert record == {"id": "7", "text": "Harbor, paid", "value": {"vendor": "Harbor", "status": "paid"}}
    assert lost == ""


def test_a_model_is_asked_with_the_schema_and_its_answers_are_judged(tmp_path: Path) -> None:
    options = ("--gold", GOLD, "--schema", SCHEMA, "--model", "m", "--base-url")
    done = run(tmp_path, "generate", "--suite", "fields", *options, "http://127.0.0.1:9/v1", "--dry-run", "--out", "a")
    assert done.exit_code == 0, done.output
    for words, is_there in (('"invoice_number"', True), ("x-goldgate", False), ("Invoice RE-1007", True)):
        assert (words in done.output) is is_there
    strict = strict_schema(json.loads(SCHEMA.read_bytes()))
    assert strict["required"] == [*strict["properties"]]
    assert strict["properties"]["note"]["type"] == ["string", "null"]
    assert strict["properties"]["status"]["anyOf"][1] == {"type": "null"}
    golds = {gold["text"]: gold["value"] for gold in map(json.loads, GOLD.read_text("utf-8").splitlines())}
    answer = lambda prompt: json.dumps(next(golds[text] for text in golds if text in prompt))  # noqa: E731
    with Running(Behaviour(answer=answer)) as server:
        done = run(tmp_path, "generate", "--suite", "fields", *options, server.url, "--out", "asked")
        again = run(tmp_path, "generate", "--suite", "fields", *options, server.url, "--out", "asked")
    assert (done.exit_code, again.exit_code, server.seen.requests) == (0, 0, len(golds)), done.output
    asked = server.seen.bodies[0]["response_format"]["json_schema"]
    assert (asked["name"], asked["schema"]["required"]) == ("answer", strict["required"])
    judged = goldgate.evaluate_fields(GOLD, tmp_path / "asked" / "predictions.jsonl", SCHEMA)
    assert judged["document_exact_rate"] == 1.0


def test_where_answers_are_no_objects_no_structured_output_can_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "gold.jsonl").write_text('{"id": "1", "text": "a", "value": ["a"]}')
    options = ("--suite", "fields", "--gold", "gold.jsonl", "--model", "m", "--dry-run", "--out", "asked")
    for form, status in (("auto", 0), ("json_schema", 2)):
        done = run(tmp_path, "generate", *options, "--base-url", "http://127.0.0.1:9/v1", "--response-format", form)
        assert (done.exit_code, "response_format.no_schema" in done.output) == (status, status == 2), done.output


def test_responses_are_read_and_judged_by_files(tmp_path: Path) -> None:
    done = run(tmp_path, "read", EXAMPLE / "model-b.jsonl", "--suite", "fields")
    assert (done.exit_code, "29 responses, 1 could not be read" in done.output) == (1, True)
    names = {"gold": GOLD, "predictions": EXAMPLE / "model-a.jsonl", "schema": SCHEMA}
    lines = [f"{name}: {path}" for name, path in {**names, "protocol": EXAMPLE / "protocol.yaml"}.items()]
    (tmp_path / "a.goldgate.yaml").write_text("\n".join(["suite: fields", *lines]), encoding="utf-8")
    evaluation = load_evaluation_file(tmp_path / "a.goldgate.yaml").evaluate()
    assert evaluation.passed
    assert evaluation.passes(field_f1=0.95, item_f1=0.9)
    assert not evaluation.passes(field_f1=0.99)
    files = goldgate.evaluate_fields(GOLD, EXAMPLE / "model-a.jsonl", SCHEMA, EXAMPLE / "protocol.yaml")
    assert files.report == evaluation.report


def test_numbers_of_repaired_answers_are_printed_as_numbers(tmp_path: Path) -> None:
    (tmp_path / "answers.jsonl").write_text(json.dumps({"id": "1", "response": "{w: 6.50, n: [1,]}"}), encoding="utf-8")
    done = run(tmp_path, "read", "answers.jsonl", "--suite", "fields", "--format", "json")
    assert '"value":{"w":6.50,"n":[1]}' in done.output


def write_manifest(folder: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), folder / "manifest.parquet")
    return folder / "manifest.parquet"


def manifest_row(folder: Path, name: str, value: Any, **changes: Any) -> dict[str, Any]:
    """A row of omni-extract-bench's manifest, and the files that it names."""
    (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    (folder / f"{name}.txt").write_text(f"Invoice of {name}", encoding="utf-8")
    schema = {"type": "object", "properties": {"total": {"type": "number"}}}
    paths = {"doc_path": f"{name}.txt", "gt_path": f"{name}.json"}
    return {"doc_id": name, "suite": "invoices", **paths, "schema": json.dumps(schema), **changes}


def test_a_manifest_of_omni_extract_bench_becomes_gold_and_a_schema(tmp_path: Path) -> None:
    pdf = manifest_row(tmp_path, "two", {"total": 3}, doc_path="two.pdf")
    rows = [manifest_row(tmp_path, "one", {"total": 12.5}), pdf]
    manifest = write_manifest(tmp_path, rows)
    done = run(tmp_path, "convert", "--suite", "fields", manifest, "--out", "gold.jsonl")
    assert done.exit_code == 0, done.output
    assert "2 records" in done.output
    assert "two: two.pdf: only plain text can be a source text" in done.output
    assert [json.loads(line) for line in (tmp_path / "gold.jsonl").read_text("utf-8").splitlines()] == [
        {"id": "one", "text": "Invoice of one", "value": {"total": 12.5}},
        {"id": "two", "value": {"total": 3}},
    ]
    done = run(tmp_path, "schema", "--suite", "fields", "--from", manifest, "--out", "schema.json")
    assert done.exit_code == 0, done.output
    assert json.loads((tmp_path / "schema.json").read_bytes()) == json.loads(rows[0]["schema"])


def test_a_manifest_that_cannot_be_read_is_an_error_with_its_row(tmp_path: Path) -> None:
    row = manifest_row(tmp_path, "one", {"total": 1})
    other = json.dumps({"type": "object", "properties": {"sum": {"type": "number"}}})
    cases: dict[str, list[dict[str, Any]]] = {
        "gold.not_a_manifest": [{"doc_id": "one", "answer": "{}"}],
        "gold.missing": [{**row, "gt_path": "gone.json"}],
        "gold.wrong_type": [manifest_row(tmp_path, "three", 5)],
        "gold.several_schemas": [row, {**row, "doc_id": "two", "schema": other}],
    }
    for code, rows in cases.items():
        name = ("schema", "--from") if code == "gold.several_schemas" else ("convert",)
        done = run(tmp_path, *name, write_manifest(tmp_path, rows), "--suite", "fields", "--out", "out.json")
        assert done.exit_code == 2, (code, done.output)
        assert code in done.output, (code, done.output)


def test_a_manifest_reads_only_what_is_in_its_own_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "sub").mkdir(parents=True)
    row = manifest_row(folder, "one", {"total": 1})
    (tmp_path / "secret.json").write_text('{"total": 7}')
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "link.json").symlink_to(tmp_path / "secret.json")
    (folder / "out").symlink_to(tmp_path)
    (folder / "inner.json").symlink_to(folder / "one.json")
    (tmp_path / "data2").mkdir()
    (tmp_path / "data2" / "one.json").write_text('{"total": 7}')
    refused = ("../secret.json", str(tmp_path / "secret.json"), "link.json", "out/secret.json", "sub/../../secret.json")
    others = ("../data2/one.json", "a\0b", "http://127.0.0.1:9/secret.json", "file:///etc/hostname", ".")
    for path in (*refused, *others):
        manifest = write_manifest(folder, [row, {**row, "gt_path": path}])
        done = run(tmp_path, "convert", manifest, "--suite", "fields", "--out", "o")
        assert (done.exit_code, (tmp_path / "o").exists()) == (2, False), (path, done.output)
        assert "gold.outside_folder" in done.output, (path, done.output)
        assert "manifest.parquet:2:gt_path" in "".join(done.output.split())
    manifest = write_manifest(folder, [{**row, "doc_path": "../secret.txt"}])
    done = run(tmp_path, "convert", manifest, "--suite", "fields", "--out", "o")
    assert (done.exit_code, "gold.outside_folder" in done.output, "doc_path" in done.output) == (2, True, True)
    for path in ("sub/../one.json", str(folder / "one.json"), "inner.json", "./one.json"):
        manifest = write_manifest(folder, [{**row, "gt_path": path}])
        done = run(folder, "convert", manifest.name, "--suite", "fields", "--out", "o")
        assert (done.exit_code, json.loads((folder / "o").read_bytes())["value"]) == (0, {"total": 1}), done.output


@pytest.mark.parametrize(
    "name", ["../a.json", "/a.json", "//other/a.json", "https://other/a.json", "s/%2e%2e/%2E./a.json", "..\\a.json"]
)
def test_a_manifest_at_an_address_names_only_what_is_below_it(name: str) -> None:
    place = Place("manifest", 1, "gt_path")
    for manifest in ("https://host/data/m.parquet?sig=a/b", "s3://bucket/data/m.parquet"):
        with pytest.raises(InputError) as caught:
            file_beside(manifest, name, place, "gold")
        assert (caught.value.code, "sig" in str(caught.value)) == ("gold.outside_folder", False)
    assert file_beside("https://host/data/m.parquet?sig=a/b", "s/a.json", place, "gold") == "https://host/data/s/a.json"
