"""The command, the files and the Python API of the fields suite, from end to end."""

from __future__ import annotations

import csv
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import goldgate
from goldgate.cli.main import goldgate as cli
from goldgate.errors import ConfigError, GoldgateError
from goldgate.suites.fields.source import derive_shape, obtain_schema
from goldgate.suites.fields.suite import FieldsSettings
from tests.cases import cases

from .helpers import NUMBER, TEXT, array, obj

SCHEMA = obj(vendor=TEXT, total=NUMBER, items=array(obj(sku=TEXT, price=NUMBER)))
GOLD = [
    {"id": 1, "value": {"vendor": "Acme", "total": 12, "items": [{"sku": "a", "price": 1}, {"sku": "b", "price": 2}]}},
    {"id": 2, "value": {"vendor": "Bolt", "vat": "7"}},
]
ANSWERS = [
    {"id": 1, "response": '{"vendor": "ACME", "items": [{"sku": "b", "price": 2}, {"sku": "a", "price": 3}]}'},
    {"id": 2, "value": {"vendor": "Bolt", "vat": "7"}},
]


def write(folder: Path, **files: Any) -> None:
    for name, value in files.items():
        is_lines = isinstance(value, list)
        text = "".join(json.dumps(record) + "\n" for record in value) if is_lines else json.dumps(value)
        (folder / f"{name}.{'jsonl' if is_lines else 'json'}").write_text(text, encoding="utf-8")


def run(folder: Path, *arguments: str, gold: Any = GOLD, answers: Any = ANSWERS, schema: Any = SCHEMA) -> Result:
    write(folder, gold=gold, answers=answers, schema=schema)
    files = ["--gold", str(folder / "gold.jsonl"), "--predictions", str(folder / "answers.jsonl")]
    return CliRunner().invoke(cli, ["fields", *files, *arguments])


def report_of(folder: Path, *arguments: str, **files: Any) -> dict[str, Any]:
    shown = run(folder, *arguments, "--report", str(folder / "report.json"), "--quiet", **files)
    assert shown.exit_code in (0, 1), shown.output
    report: dict[str, Any] = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    return report


def codes(report: dict[str, Any]) -> set[str]:
    return {remark["code"] for remark in report["stands_out"]}


def test_a_report_has_every_part(tmp_path: Path) -> None:
    report = report_of(tmp_path, "--schema", str(tmp_path / "schema.json"))
    assert report["metrics"]["main"]["field_f1"]["numerator"] == 2 * 5
    assert report["gold"]["undeclared_paths"] == {"vat": 1}
    assert "gold_outside_schema" in codes(report)
    assert report["errors"]["predicted"] == {
        "leaves": 7, "hit": 5, "wrong": 1, "misplaced": 0, "hallucinated": 0, "spurious": 1,
    }  # fmt: skip
    rows = {row["path"]: (row["hits"], row["predicted"], row["gold"]) for row in report["breakdown"]["paths"]}
    assert rows["items[].price"] == (1, 2, 2)
    assert rows["(undeclared)"] == (0, 1, 0)
    for name in ("hits", "predicted", "gold"):  # a number on a parent is the sum of the numbers below it
        whole = report["errors"]["gold" if name == "gold" else "predicted"]["hit" if name == "hits" else "leaves"]
        assert whole == sum(row[name] for row in report["breakdown"]["paths"])
    assert report["breakdown"]["macro"]["field_f1_macro"]["averaged"] == 5


def test_without_a_schema_the_shape_is_derived_and_the_report_says_so(tmp_path: Path) -> None:
    report = report_of(tmp_path)
    (derived,) = [remark for remark in report["stands_out"] if remark["code"] == "derived_schema"]
    assert "goldgate schema --suite fields --from GOLD --out schema.json" in derived["message"]
    assert report["gold"]["undeclared_paths"] == {}
    assert report["metrics"]["main"]["absent_accuracy"]["value"] is None
    words = ["schema", "--suite", "fields", "--from", str(tmp_path / "gold.jsonl"), "--out", str(tmp_path / "s.json")]
    assert CliRunner().invoke(cli, words).exit_code == 0
    written = json.loads((tmp_path / "s.json").read_text(encoding="utf-8"))
    assert written["properties"]["items"]["items"]["properties"]["price"] == {"type": "integer"}


def test_a_derived_schema_accepts_null_where_gold_has_it(tmp_path: Path) -> None:
    values = [{"name": "x", "age": None}, {"name": "y", "age": 3}, {"name": "z", "age": 1.5, "note": None}]
    gold = [{"id": number, "value": value} for number, value in enumerate(values)]
    schema = derive_shape(values)
    assert schema["properties"] == {"age": {"type": ["null", "number"]}, "name": {"type": "string"}, "note": {}}
    answers = [{"id": record["id"], "response": json.dumps(record["value"])} for record in gold]
    report = report_of(tmp_path, "--schema", str(tmp_path / "schema.json"), gold=gold, answers=answers, schema=schema)
    assert report["metrics"]["main"]["schema_compliance_rate"]["numerator"] == 3


def test_a_record_that_cannot_be_judged_is_an_error_with_its_place(tmp_path: Path) -> None:
    for response in (5, True, 0.5):
        shown = run(tmp_path, answers=[{"id": 1, "response": response}])
        message = " ".join(shown.output.split())
        assert (shown.exit_code, "predictions.wrong_type" in message) == (2, True)
        assert message.startswith("SYSTEM_ERROR a response is the raw text that the model wrote where")
        assert "decoded JSON, or null for no answer" in message
    shown = run(tmp_path, gold=[GOLD[0], {"id": 2, "value": "text"}])
    assert (shown.exit_code, "gold.jsonl:2:value" in "".join(shown.output.split())) == (2, True)


@cases("name", ["expected", "ground_truth", "label", "output", "gt"])
def test_gold_values_have_other_names_and_it_is_said(tmp_path: Path, name: str) -> None:
    renamed = [{"id": record["id"], name: record["value"]} for record in GOLD]
    report = report_of(tmp_path, gold=renamed)
    assert report["gold"]["value_fields"] == {name: 2}
    assert "value_field" in codes(report)


def test_a_value_field_is_named(tmp_path: Path) -> None:
    nested = [{"id": record["id"], "labels": {"invoice": record["value"]}} for record in GOLD]
    report = report_of(tmp_path, "--value-field", "labels.invoice", gold=nested)
    assert report["metrics"]["main"]["field_recall"]["denominator"] == 8


@cases(
    ("path", "setting", "field"),
    [
        ("vendor", "{compare: text, rel: 0.1}", "fields.paths.vendor"),
        ("vendor", "{weight: -1}", "fields.paths.vendor"),
        ("vendor", "{weight: 0.0001}", "fields.paths.vendor"),
        ("vendor", "{compare: magic}", "fields.paths.vendor"),
        ("vendor", "{abs: -1}", "fields.paths.vendor"),
        ("items[].prize", "{compare: number}", "items[].price"),  # the nearest path that there is
    ],
)
def test_settings_that_could_do_nothing_are_errors(tmp_path: Path, path: str, setting: str, field: str) -> None:
    (tmp_path / "p.yaml").write_text(f"fields:\n  paths:\n    {path}: {setting}\n", encoding="utf-8")
    shown = run(tmp_path, "--schema", str(tmp_path / "schema.json"), "--protocol", str(tmp_path / "p.yaml"))
    words = "".join(shown.output.split())
    assert (shown.exit_code, field in words, "p.yaml:3" in words) == (2, True, True)


def test_gates_on_metrics_paths_and_averages(tmp_path: Path) -> None:
    gates = '{field_f1: {min: 0.1}, "field_f1[vendor]": {min: 1}, field_f1_macro: {min: 0.99}}'
    (tmp_path / "p.yaml").write_text(f"gates: {gates}\n", encoding="utf-8")
    report = report_of(tmp_path, "--protocol", str(tmp_path / "p.yaml"))
    assert [gate["verdict"] for gate in report["gates"]] == ["PASS", "PASS", "FAIL"]


def test_without_the_extra_compliance_is_undefined_and_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jsonschema_rs", None)
    report = report_of(tmp_path, "--schema", str(tmp_path / "schema.json"))
    assert report["metrics"]["main"]["schema_compliance_rate"]["value"] is None
    assert "no_validator" in codes(report)


class Invoice:
    """A class with the method by which a Pydantic model gives its schema."""

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return SCHEMA


def test_a_scorer_takes_a_json_schema_or_a_model_and_functions(tmp_path: Path) -> None:
    write(tmp_path, schema=SCHEMA)
    for schema in (SCHEMA, Invoice, tmp_path / "schema.json", str(tmp_path / "schema.json")):
        scorer = goldgate.load_scorer(schema)
        score = scorer.score('{"vendor": "acme"}', {"value": {"vendor": "Acme", "total": 3}})
        assert score["field_recall"] == 0.5
        assert score.record["leaves"] == {"gold": 2, "predicted": 1, "hits": 1}
        assert scorer.score(None, {"value": {"vendor": "Acme"}})["field_recall"] == 0
    near = goldgate.load_scorer(SCHEMA, comparators={"total": lambda gold, answer: abs(gold - answer) < 2})
    assert near.score({"total": 4}, {"value": {"total": 3}})["field_f1"] == 1
    assert near.score({"total": 9}, {"value": {"total": 3}})["field_f1"] == 0
    with pytest.raises(ConfigError):
        goldgate.load_scorer(SCHEMA, comparators={"totl": lambda gold, answer: True})


def test_other_schemas_are_of_events_and_a_suite_can_be_named() -> None:
    events = goldgate.load_scorer({"event_types": {"Strike": {"roles": ["Place"]}}})
    assert "event types" in repr(events)
    assert goldgate.load_scorer({"title": "anything"}, suite="fields").score({}, {"value": {}})["field_f1"] is None
    with pytest.raises(GoldgateError):
        goldgate.load_scorer({"title": "anything"})
    with pytest.raises(ValueError, match="nothing"):
        goldgate.load_scorer(SCHEMA, suite="nothing")


def test_answers_that_say_nothing_stand_out(tmp_path: Path) -> None:
    gold = [{"id": number, "text": "Acme", "value": {"vendor": "Acme"}} for number in range(3)]
    sure = {"id": 0, "value": {"vendor": "Acme"}, "confidence": {"vendor": 1.0}}
    report = report_of(tmp_path, gold=gold, answers=[sure, {"id": 1, "value": {"vendor": "Bolt"}}])
    assert {"partial_confidence", "hallucination_unread"} <= codes(report)
    assert report["metrics"]["confidence"]["brier_score"]["reason"] == "1 of 2 predicted leaves have a confidence"
    assert report["metrics"]["main"]["hallucination_rate"]["denominator"] == 3


def test_the_format_that_all_wrong_dates_of_a_path_have_is_named(tmp_path: Path) -> None:
    schema = obj(due={**TEXT, "format": "date"}, paid={**TEXT, "format": "date"})
    gold = [{"id": n, "value": {"due": f"2024-03-0{n}", "paid": f"2024-03-0{n}"}} for n in range(1, 5)]
    wrong = [{"due": f"0{n}/03/2024", "paid": f"0{n}/03/2024" if n > 1 else "never"} for n in range(1, 5)]
    answers = [{"id": n, "value": value} for n, value in enumerate(wrong, 1)]
    write(tmp_path, gold=gold, answers=answers, schema=schema)
    paths = [tmp_path / name for name in ("gold.jsonl", "answers.jsonl", "schema.json")]
    report = goldgate.evaluate_fields(*paths).report
    messages = [each["message"] for each in report["stands_out"] if each["code"] == "date_format"]
    assert messages == [
        "all 4 wrong dates at due fit one format and would hit with "
        'fields: {paths: {"due": {compare: date, formats: ["%d/%m/%Y"]}}}'
    ]
    protocol = {"fields": {"paths": {"due": {"formats": ["%d/%m/%Y"]}}}}
    fixed = goldgate.evaluate_fields(paths[0], paths[1], schema, protocol=protocol)
    assert fixed.report["metrics"]["main"]["field_f1"]["numerator"] == 8


def test_hints_on_comparators_are_one_setting_to_paste(tmp_path: Path) -> None:
    right = {"vendor": "Harbour Bank Holding", "due": "2024-03-05", "number": "INV-0001", "place": "Dock 4, Oslo"}
    wrong = {"vendor": "Harbor Bank Holding", "due": "05/03/2024", "number": "INV-0002", "place": "Dock 4 Oslo"}
    gold = [{"id": n, "value": right} for n in range(3)]
    answers = [{"id": n, "value": wrong} for n in range(3)]
    report = report_of(tmp_path, gold=gold, answers=answers)
    (hint,) = (each["message"] for each in report["stands_out"] if each["code"] == "other_comparators")
    setting = hint.removeprefix("these comparators together: ")
    assert setting == (
        'fields: {paths: {"due": {compare: date, formats: ["%d/%m/%Y"]}, '
        '"place": {compare: contains}, "vendor": {compare: fuzzy}}}'
    )
    (tmp_path / "protocol.yaml").write_text(setting, encoding="utf-8")
    again = report_of(tmp_path, "--protocol", str(tmp_path / "protocol.yaml"), gold=gold, answers=answers)
    assert again["metrics"]["main"]["field_precision"]["numerator"] == 9  # all but the numbers


def test_a_mistake_in_a_schema_names_the_file_and_the_place(tmp_path: Path) -> None:
    deep = array(obj(sku=TEXT, price={"type": "nummer"}))
    for part, field in (
        ({"type": "nummer"}, "$.total.type"),
        ({"type": "number", "x-goldgate": {"compare": "nummer"}}, "total.x-goldgate.compare"),
        (deep, "total[].price.type"),
    ):
        write(tmp_path, gold=GOLD, answers=ANSWERS, schema=obj(total=part))
        path = str(tmp_path / "schema.json")
        with pytest.raises(ConfigError) as refused:
            goldgate.evaluate_fields(tmp_path / "gold.jsonl", tmp_path / "answers.jsonl", path)
        assert (refused.value.code, refused.value.place.file) == ("schema.wrong_value", path)
        assert refused.value.place.field == field
    write(tmp_path, gold=GOLD, answers=ANSWERS, schema=SCHEMA)
    with pytest.raises(ConfigError) as refused:
        goldgate.evaluate_fields(
            tmp_path / "gold.jsonl", tmp_path / "answers.jsonl", path, protocol={"fields": {"paths": {"a[": {}}}}
        )
    assert (refused.value.code, refused.value.place.file) == ("fields.bad_path", None)  # it is not of the schema


@cases(
    ("schema", "place", "advice"),
    [
        ({"type": "object", "propertys": {"a": TEXT}}, "$.propertys", "did you mean properties?"),
        (obj(items={"type": "array", "item": TEXT}), "$.items.item", "did you mean items?"),
        ({"propertys": {"a": TEXT}}, None, "did you mean properties?"),
    ],
)
def test_a_misspelt_word_that_empties_a_schema_is_an_error(schema: Any, place: str | None, advice: str) -> None:
    with pytest.raises(ConfigError) as refused:
        obtain_schema(schema, FieldsSettings())
    assert (refused.value.place.field, refused.value.advice) == (place, advice)


@cases(
    "more",
    [{"exampl": 3}, {"property": "schema:total"}, {"xml": {"name": "a"}}, {"x-items": {"ui": "chips"}},
     {"additionalItems": {"type": "string"}}, {"propertyOrder": {"a": 1}}],
)  # fmt: skip
def test_words_of_other_vocabularies_are_left_alone(more: dict[str, Any]) -> None:
    for schema in ({"type": "object", **more}, obj(total={**NUMBER, **more}), obj(a={**more, "title": "A"})):
        assert obtain_schema(schema, FieldsSettings()).document == schema


def test_a_schema_with_keys_that_are_no_texts_is_an_error() -> None:
    with pytest.raises(ConfigError) as refused:
        obtain_schema(obj(v={"type": "object", 1: {}, "a": {}}), FieldsSettings())
    assert refused.value.code == "schema.wrong_value"


def test_a_schema_that_no_leaf_of_gold_fits_is_said_to(tmp_path: Path) -> None:
    report = report_of(tmp_path, "--schema", str(tmp_path / "schema.json"), schema=obj(vendr=TEXT))
    [remark] = [each for each in report["stands_out"] if each["code"] == "gold_outside_schema"]
    assert remark["message"].endswith("no leaf of gold is left to compare: is this the schema of this gold?")


def test_gold_is_read_from_a_table_with_values_as_json(tmp_path: Path) -> None:
    write(tmp_path, answers=ANSWERS)
    table = tmp_path / "gold.csv"
    rows = [["id", "value"], *([str(each["id"]), json.dumps(each["value"])] for each in GOLD)]
    with table.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    report = goldgate.evaluate_fields(table, tmp_path / "answers.jsonl").report
    assert report["metrics"]["main"]["field_recall"]["denominator"] == 6 + 2
    for header, cell, words in (("vendor", "Acme", "a column events or event_list or value"),
                                ("value", "Acme", "an object or a list in JSON in the column value")):  # fmt: skip
        table.write_text(f"id,{header}\n1,{cell}\n", encoding="utf-8")
        with pytest.raises(GoldgateError) as refused:
            goldgate.evaluate_fields(table, tmp_path / "answers.jsonl")
        assert (refused.value.code, refused.value.expected) == ("gold.bad_table", words)
