"""Files of other programs in our own form: schemas that say how fields are compared, and gold of other tools.

Answers of other programs need no conversion: `goldgate fields` reads batch outputs, chat logs and the like as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from goldgate.core.page import count_text
from goldgate.core.suite import Options
from goldgate.errors import InputError, Place, describe_value
from goldgate.files.parsing import parse_json
from goldgate.files.reading import read_text_file
from goldgate.readers.dialects import OWN_FORM
from goldgate.readers.gold_files import GoldOpener
from goldgate.readers.id_index import open_store
from goldgate.readers.layouts.parquet import parquet_rows
from goldgate.readers.records import open_records, require_unchanged_files
from goldgate.report.escape import losses_text
from goldgate.suites.fields.schema import EXTENSION, FieldSchema
from goldgate.suites.fields.scorer import GoldDocument
from goldgate.suites.fields.settings import WEIGHT_DECIMALS, FieldsSettings, is_json_schema
from goldgate.suites.fields.source import derive_gold_schema, parse_document

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
    folder, columns = Path(row.file).parent, row.columns
    value_file = str(folder / columns["gt_path"])
    value = parse_json(read_text_file(value_file, "gold")[0], value_file, "gold")
    document, text = columns.get("doc_path") or "", None
    if document.endswith((".txt", ".md")):
        text, _ = read_text_file(str(folder / document), "gold")
    elif document:
        lost.append(f"{columns['doc_id']}: {document}: only plain text can be a source text")
    try:
        return parse_document({"value": value, "text": text}, columns["doc_id"])
    except InputError as error:
        error.place = Place(value_file, None, error.place.field)
        raise


def _own_line(document: GoldDocument) -> bytes:
    whole = {"id": document.id, "text": document.text, "group": document.group, "value": document.value}
    line = {name: value for name, value in whole.items() if value is not None}
    return orjson.dumps(line, default=lambda number: orjson.Fragment(number.text)) + b"\n"


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
    kept = {
        key: _convert_schema(item, f"{place}.{key}", lost, is_names=key in ("properties", "$defs"))
        for key, item in schema.items()
        if key != _BENCH and not key.startswith(_STICKLER)
    }
    settings = {**_from_bench(schema, place, lost), **_from_stickler(schema, place, lost)}
    return {EXTENSION: settings, **kept} if settings else kept  # what is there in our words already goes first


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
