"""Gold of fields checked against its schema and its text: every mistake in it, not only the first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from goldgate.core.finding import limit_length
from goldgate.core.page import count_text
from goldgate.core.suite import CheckResult, Options
from goldgate.errors import InputError
from goldgate.readers.dialects import OWN_FORM
from goldgate.readers.gold_check import RecordCheck, check_gold_files
from goldgate.readers.gold_files import GoldOpener, GoldProblem
from goldgate.suites.fields.comparators import NumberComparator, leaf_text, read_number
from goldgate.suites.fields.leaves import Leaf, location
from goldgate.suites.fields.schema import FieldSchema
from goldgate.suites.fields.scorer import FieldsScorer
from goldgate.suites.fields.settings import FieldsSettings
from goldgate.suites.fields.source import derive_shape, obtain_schema, parse_document
from goldgate.suites.fields.support import SourceText

_LONGEST = 80  # characters of a value in a message
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
            scorer = FieldsScorer(settings, FieldSchema(derive_shape([document.value]), settings, is_derived=True))
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
            yield GoldProblem("breaks_schema", "the value is not valid by the schema", name, "note")
        leaves = facts.gold.leaves
        self.leaves += len(leaves)
        if not leaves:
            yield GoldProblem("no_leaves", "the value has nothing in it: only absence is counted", name, "note")
        yield from (_two_readings(leaf, name) for leaf in leaves if _has_two_readings(leaf))
        if document.text is None:
            yield GoldProblem("no_text", "there is no source text: hallucination cannot be checked", "text", "note")
            return
        missing, _ = SourceText(document.text).unsupported(leaves)
        for leaf in leaves:
            if id(leaf) in missing:
                message = f"{limit_length(leaf_text(leaf.value), _LONGEST)} is not in the text"
                yield GoldProblem("value_not_in_text", message, f"{name}.{location(leaf)}", "note")


def _has_two_readings(leaf: Leaf) -> bool:
    """Whether a number path has a text that is one number with a decimal point, and another with a decimal comma."""
    if not isinstance(leaf.value, str) or not isinstance(leaf.shape.comparator, NumberComparator):
        return False
    if leaf.shape.comparator.decimal is not None or read_number(leaf.value) is not None:
        return False
    return len({number for mark in ".," if (number := read_number(leaf.value, mark)) is not None}) > 1


def _two_readings(leaf: Leaf, name: str) -> GoldProblem:
    numbers = " or ".join(leaf_text(number) for mark in ".," if (number := read_number(leaf.value, mark)) is not None)
    message = f"{leaf.value} can be {numbers}: write it as a number, or set `decimal` for {leaf.shape.name}"
    return GoldProblem("two_readings", message, f"{name}.{location(leaf)}")


def run_fields_check(paths: Sequence[str], options: Options) -> CheckResult:
    """`goldgate check --suite fields`: gold against its schema and its text."""
    schema = options.get("schema")
    loaded = None if schema is None else obtain_schema(schema, FieldsSettings())
    check = FieldsCheck(loaded, options.get("value_field"))
    found = check_gold_files(paths, GoldOpener(OWN_FORM, id_field=options.get("id_field")), check)
    report = found.as_json({"types_checked": loaded is not None}, {"leaves": check.leaves})
    sizes = (count_text(found.records, "record"), count_text(check.leaves, "leaf", "leaves"))
    counts = (count_text(report["errors"], "error"), count_text(report["notes"], "note"))
    return CheckResult(report, f"{', '.join(sizes)}; {', '.join(counts)}", () if loaded is not None else (_NO_SCHEMA,))
