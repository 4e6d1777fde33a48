"""Gold of the fields suite outside of scoring: checked, taken from the files of other programs, and its schema derived.

Answers of other programs need no conversion: `goldgate fields` reads batch outputs, chat logs and the like as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from typing import IO, Any, NamedTuple

import orjson

from goldgate.core.finding import limit_length
from goldgate.core.page import count_text
from goldgate.core.suite import CheckResult, Options
from goldgate.core.value_text import normalize
from goldgate.errors import InputError, Place, describe_value
from goldgate.files.address import file_beside, public_url
from goldgate.files.parsing import parse_json
from goldgate.files.reading import read_text_file
from goldgate.readers.dialects import OWN_FORM
from goldgate.readers.gold_files import GoldOpener, GoldProblem, RecordCheck, check_gold_files
from goldgate.readers.id_index import open_store
from goldgate.readers.layouts.tables import parquet_rows
from goldgate.readers.records import open_records, require_unchanged_files
from goldgate.report.escape import losses_text
from goldgate.suites.fields.comparators import NumberComparator, leaf_text
from goldgate.suites.fields.leaves import Leaf, location
from goldgate.suites.fields.schema import EXTENSION, FieldSchema
from goldgate.suites.fields.scorer import FieldsScorer, GoldDocument, check_support
from goldgate.suites.fields.source import derive_field_schema, derive_gold_schema, obtain_schema, parse_document
from goldgate.suites.fields.spellings import decimal_text, number_readings
from goldgate.suites.fields.suite import WEIGHT_DECIMALS, FieldsSettings, is_json_schema

_LONGEST = 80  # characters of a value in a message
# Texts that often stand for null.
_NULL_WORDS = frozenset(
    map(normalize, ("null", "none", "n/a", "nil", "nan", "undefined", "not mentioned", "not specified", "无", "未提及"))
)
_NO_SCHEMA = "paths and types were not checked: no schema was given (--schema)"


class FieldsCheck(RecordCheck):
    """Gold against a JSON Schema and its text; without a schema, each record has its own shape."""

    def __init__(self, schema: FieldSchema | None, value_field: str | None) -> None:
        self._schema = schema
        self._value_field = value_field
        self._scorer = None if schema is None else FieldsScorer(FieldsSettings(), schema)
        self.leaves = 0

    def record(self, record: dict[str, Any], data: bytes, form: str | None) -> Iterator[GoldProblem]:
        try:
            document = parse_document(record, "", self._value_field)
        except InputError as error:
            parts = (error.message, f"expected {error.expected}", f"found {error.found}", error.advice or "")
            yield GoldProblem(error.code.removeprefix("gold."), "; ".join(filter(None, parts)), error.place.field)
            return
        scorer = self._scorer
        if scorer is None:
            settings = FieldsSettings()
            scorer = FieldsScorer(settings, derive_field_schema([document.value], settings))
        facts = scorer.facts(document, None)
        name = document.value_field
        for path in dict.fromkeys(facts.gold.left_out):
            if path not in facts.gold.other_shape:
                yield GoldProblem(
                    "outside_schema", f"the schema does not have {path}: it is left out", f"{name}.{path}"
                )
        for path in dict.fromkeys(facts.gold.other_shape):
            yield GoldProblem("other_shape", f"the schema has another shape at {path}", f"{name}.{path}")
        if scorer.validator is not None and not scorer.validator.is_valid(document.value):
            flaw = scorer.validator.first_error(document.value)
            yield GoldProblem("breaks_schema", flaw.message, f"{name}{flaw.path}", "note")
        leaves = facts.gold.leaves
        self.leaves += len(leaves)
        if not leaves:
            yield GoldProblem("no_leaves", "the value has nothing in it: only absence is counted", name, "note")
        for leaf in leaves:
            yield from _two_readings(leaf, name)
            if isinstance(leaf.value, str) and normalize(leaf.value) in _NULL_WORDS:
                message = f'"{leaf.value}" is a text, and counts as a value: write null for what is absent, or set '
                message += f'fields: {{null_words: ["{leaf.value}"]}} in the protocol'
                yield GoldProblem("null_word", message, f"{name}.{location(leaf)}", "note")
        if document.text is None:
            yield GoldProblem("no_text", "no source text: hallucination cannot be checked", "text", "note")
            return
        missing = check_support(document.text, leaves).missing
        for leaf in leaves:
            if id(leaf) in missing:
                message = f"{limit_length(leaf_text(leaf.value), _LONGEST)} is not in the text"
                yield GoldProblem("value_not_in_text", message, f"{name}.{location(leaf)}", "note")


def _two_readings(leaf: Leaf, name: str) -> Iterator[GoldProblem]:
    """A number path may have a text that can be read as several numbers."""
    comparator = leaf.shape.comparator
    if not isinstance(leaf.value, str) or not isinstance(comparator, NumberComparator):
        return
    numbers = dict.fromkeys(reading.number for reading in number_readings(leaf.value, comparator.decimal))
    if len(numbers) > 1:
        is_decided = len(number_readings(leaf.value, ".")) == 1
        message = f"{leaf.value} can be {' or '.join(map(decimal_text, numbers))}: write it as a number"
        message += f", or set `decimal` for {leaf.shape.name}" if is_decided else ""
        yield GoldProblem("two_readings", message, f"{name}.{location(leaf)}")


def run_fields_check(paths: Sequence[str], options: Options) -> CheckResult:
    """`goldgate check --suite fields`: gold against its schema and its text."""
    schema = options.get("schema")
    loaded = None if schema is None else obtain_schema(schema, FieldsSettings())
    check = FieldsCheck(loaded, options.get("value_field"))
    result = check_gold_files(paths, GoldOpener(OWN_FORM, id_field=options.get("id_field")), check)
    report = result.as_json({"types_checked": loaded is not None}, {"leaves": check.leaves})
    sizes = (count_text(result.records, "record"), count_text(check.leaves, "leaf", "leaves"))
    counts = (count_text(report["errors"], "error"), count_text(report["notes"], "note"))
    return CheckResult(report, f"{', '.join(sizes)}; {', '.join(counts)}", () if loaded is not None else (_NO_SCHEMA,))


_STICKLER = "x-aws-stickler-"
_BENCH = "evaluation_config"  # of extract-bench
_WRAPPED = "schema_definition"  # where extract-bench has the schema itself
_STICKLER_COMPARE = {
    "ExactComparator": "text",
    "LevenshteinComparator": "fuzzy",
    "FuzzyComparator": "fuzzy",
    "NumericComparator": "number",
    "DateComparator": "date",
}
_STICKLER_THRESHOLD = 0.5  # where none is written
_BENCH_COMPARE = {
    "string_exact": "exact",
    "string_case_insensitive": "text",
    "string_fuzzy": "fuzzy",
    "integer_exact": "number",
    "number_exact": "number",
    "boolean_exact": "boolean",
}
# Label Studio: the key of a region's value, by its type; a label's text is listed under the label.
_REGIONS = ("choices", "text", "number", "rating", "datetime", "taxonomy")
_MANIFEST = ("doc_id", "gt_path", "schema", "doc_path")  # columns of omni-extract-bench; the first three must be there


class _Row(NamedTuple):
    file: str
    number: int
    columns: dict[str, Any]


def run_fields_convert(paths: Sequence[str], out: IO[bytes], options: Options) -> tuple[str, str]:
    """`goldgate convert --suite fields`: what was written, and lines on what is not kept."""
    lost: list[str] = []
    if (rows := _manifest_rows(paths)) is not None:
        for row in rows:
            out.write(_own_line(_from_row(row, lost)))
        return count_text(len(rows), "record"), losses_text("not kept", lost)
    schema = _schema_in(paths[0]) if len(paths) == 1 and paths[0].endswith(".json") else None
    if schema is None:
        return _convert_gold(paths, out, options)
    converted = _convert_schema(schema.get(_WRAPPED, schema), "$", lost)
    out.write(orjson.dumps(converted, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return "a schema", losses_text("not kept", lost)


def run_fields_schema(paths: Sequence[str], options: Options) -> tuple[dict[str, Any], str]:
    """`goldgate schema --suite fields`: the JSON Schema that gold has, or that all rows of a manifest name."""
    rows = _manifest_rows(paths)
    if rows is None:
        schema = derive_gold_schema(paths, options.get("value_field"))
    else:
        schemas = {orjson.dumps(schema, option=orjson.OPT_SORT_KEYS): schema for schema in map(_row_schema, rows)}
        if len(schemas) != 1:
            raise InputError(
                "gold.several_schemas",
                "a schema is for all documents that are scored together",
                place=Place(", ".join(paths)),
                expected="rows with the same schema",
                found=f"{len(schemas)} schemas",
                advice="make a manifest for each schema, and score them one by one",
            )
        schema = schemas.popitem()[1]
    leaves = [shape for shape in FieldSchema(schema, FieldsSettings()).paths() if "scalar" in shape.kinds]
    return schema, count_text(len(leaves), "path")


def _manifest_rows(paths: Sequence[str]) -> list[_Row] | None:
    """The rows of omni-extract-bench's manifests, each with its file and number; None for any other file."""
    rows: list[_Row] = []
    for path in paths:
        if not path.endswith(".parquet"):
            return None
        with closing(open_records(path, "gold")) as file:
            rows += [_Row(path, number, row) for number, row in parquet_rows(file, _MANIFEST)]
    for row in rows:
        for column in _MANIFEST[:3]:
            if not isinstance(row.columns.get(column), str):
                raise _not_a_manifest(row, column, "a text", row.columns.get(column))
    return rows


def _row_schema(row: _Row) -> dict[str, Any]:
    schema = parse_json(row.columns["schema"], row.file, "gold")
    if not is_json_schema(schema):
        raise _not_a_manifest(row, "schema", "the JSON Schema of the document, as text", schema)
    return dict(schema)


def _not_a_manifest(row: _Row, column: str, expected: str, found: object) -> InputError:
    return InputError(
        "gold.not_a_manifest",
        "this table is not a manifest of omni-extract-bench",
        place=Place(row.file, row.number, column),
        expected=expected,
        found=describe_value(found),
        advice="a manifest has doc_id, gt_path and schema for each document; write other gold as JSON Lines",
    )


def _from_row(row: _Row, lost: list[str]) -> GoldDocument:
    """The document of a row: its value is in a file, named from the manifest's folder, and so is its text."""
    columns = row.columns
    value_file = _named_file(row, "gt_path")
    value = parse_json(read_text_file(value_file, "gold")[0], public_url(value_file), "gold")
    document, text = columns.get("doc_path") or "", None
    if document.endswith((".txt", ".md")):
        text, _ = read_text_file(_named_file(row, "doc_path"), "gold")
    elif document:
        lost.append(f"{columns['doc_id']}: {document}: only plain text can be a source text")
    try:
        return parse_document({"value": value, "text": text}, columns["doc_id"])
    except InputError as error:
        error.place = Place(public_url(value_file), None, error.place.field)
        raise


def _named_file(row: _Row, column: str) -> str:
    return file_beside(row.file, row.columns[column], Place(public_url(row.file), row.number, column), "gold")


def _own_line(document: GoldDocument) -> bytes:
    whole = {"id": document.id, "text": document.text, "group": document.group, "value": document.value}
    line = {name: value for name, value in whole.items() if value is not None}
    option = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_APPEND_NEWLINE
    return orjson.dumps(line, default=lambda number: orjson.Fragment(number.text), option=option)


def _schema_in(path: str) -> dict[str, Any] | None:
    """The JSON Schema that a file is; None if it holds anything else."""
    text, _ = read_text_file(path, "gold")
    if not text.lstrip().startswith("{"):
        return None
    document = parse_json(text, path, "gold")
    inner = document.get(_WRAPPED, document) if isinstance(document, dict) else None
    return document if isinstance(inner, dict) and ("properties" in inner or "$defs" in inner) else None


def _convert_schema(schema: Any, place: str, lost: list[str], *, is_names: bool = False) -> Any:
    """The schema with our words beside each path in place of theirs."""
    if isinstance(schema, list):
        return [_convert_schema(item, f"{place}[{number}]", lost) for number, item in enumerate(schema)]
    if not isinstance(schema, dict):
        return schema
    if is_names:  # its keys are names of fields, whatever they are called
        return {key: _convert_schema(item, f"{place}.{key}", lost) for key, item in schema.items()}
    converted = {
        key: _convert_schema(item, f"{place}.{key}", lost, is_names=key in ("properties", "$defs"))
        for key, item in schema.items()
        if key != _BENCH and not key.startswith(_STICKLER)
    }
    settings = {**_from_bench(schema, place, lost), **_from_stickler(schema, place, lost)}
    return {EXTENSION: settings, **converted} if settings else converted  # what it has in our words already wins


def _from_bench(schema: Mapping[str, Any], place: str, lost: list[str]) -> dict[str, Any]:
    """What extract-bench says of a field; how a language model would judge it cannot be kept."""
    config = schema.get(_BENCH)
    if config is None:
        return {}
    compare = _BENCH_COMPARE.get(config) if isinstance(config, str) else None
    if compare is None:
        lost.append(f"{place}: {_BENCH} {orjson.dumps(config).decode()}: the default comparator is used")
        return {}
    return {"compare": compare}


def _from_stickler(schema: Mapping[str, Any], place: str, lost: list[str]) -> dict[str, Any]:
    """Comparator, threshold and weight of stickler; its thresholds for pairing items and for clipping are not ours."""
    theirs = {key.removeprefix(_STICKLER): value for key, value in schema.items() if key.startswith(_STICKLER)}
    settings: dict[str, Any] = {}
    comparator, threshold = theirs.pop("comparator", None), theirs.pop("threshold", None)
    theirs.pop("model-name", None)  # the name of a Python class
    compare = _STICKLER_COMPARE.get(comparator) if isinstance(comparator, str) else None
    if compare is not None:
        settings["compare"] = compare
    elif comparator is not None:
        lost.append(f"{place}: {comparator}: the default comparator is used")
    if compare == "fuzzy":
        settings["threshold"] = _STICKLER_THRESHOLD if threshold is None else threshold
    elif threshold not in (None, 1, 1.0):
        lost.append(f"{place}: threshold {threshold}: only fuzzy comparison has one")
    weight = theirs.get("weight")
    if type(weight) in (int, float) and round(Decimal(str(weight)), WEIGHT_DECIMALS) == Decimal(str(weight)):
        settings["weight"] = theirs.pop("weight")
    lost += [f"{place}: {_STICKLER}{key}: not used" for key in theirs]
    return settings


def _convert_gold(paths: Sequence[str], out: IO[bytes], options: Options) -> tuple[str, str]:
    """Every gold record as `id`, `text`, `group` and `value`, one a line."""
    lost, records = list[str](), 0
    opener = GoldOpener(OWN_FORM, id_field=options.get("id_field"))
    with closing(open_store(paths, "gold", opener)) as store, require_unchanged_files([store]):
        for record in store.records():
            identity, value = record.require_id(), record.value
            is_task = isinstance(value.get("data"), dict) and isinstance(value.get("annotations"), list)
            with record.locate_errors():
                ours = _from_task(value, identity, lost) if is_task else value
                document = parse_document(ours, identity, None if is_task else options.get("value_field"))
            out.write(_own_line(document))
            records += 1
    return count_text(records, "record"), losses_text("not kept", lost)


def _from_task(task: Mapping[str, Any], identity: str, lost: list[str]) -> dict[str, Any]:
    """A task of Label Studio: what its first annotation says by the names of its controls, and its longest text."""
    finished = [each for each in task["annotations"] if isinstance(each, dict) and not each.get("was_cancelled")]
    if len(finished) != 1:
        lost.append(f"{identity}: {count_text(len(finished), 'annotation')}, of which the first is taken")
    value: dict[str, Any] = {}
    result = finished[0].get("result") if finished else None
    for region in result if isinstance(result, list) else ():
        for name, content in _region_values(region):
            several = content if isinstance(content, list) else [content]
            value.setdefault(name, []).extend(several)
    texts = [text for text in task["data"].values() if isinstance(text, str)]
    single = {name: content[0] if len(content) == 1 else content for name, content in value.items()}
    return {"value": single, "text": max(texts, key=len, default=None)}


def _region_values(region: Any) -> Iterator[tuple[str, Any]]:
    value = region.get("value") if isinstance(region, dict) else None
    if not isinstance(value, dict):
        return
    labels = next((value[key] for key in ("labels", "hypertextlabels", "paragraphlabels") if key in value), None)
    if isinstance(labels, list):
        yield from ((str(label), value.get("text")) for label in labels if value.get("text"))
        return
    key = next((key for key in _REGIONS if key in value), None)
    if key is not None:
        yield str(region.get("from_name")), value[key]
