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
            flaw = scorer.validator.first_error(document.value)
            yield GoldProblem("breaks_schema", flaw.message, f"{name}{flaw.path}", "note")
        leaves = facts.gold.leaves
        self.leaves += len(leaves)
        if not leaves:
            yield GoldProblem("no_leaves", "the value has nothing in it: only absence is counted", name, "note")
        for leaf in leaves:
            yield from _two_readings(leaf, name)
        if document.text is None:
            yield GoldProblem("no_text", "no source text: hallucination cannot be checked", "text", "note")
            return
        missing, _ = SourceText(document.text).unsupported(leaves)
        for leaf in leaves:
            if id(leaf) in missing:
                message = f"{limit_length(leaf_text(leaf.value), _LONGEST)} is not in the text"
                yield GoldProblem("value_not_in_text", message, f"{name}.{location(leaf)}", "note")


def _two_readings(leaf: Leaf, name: str) -> Iterator[GoldProblem]:
    """A number path may have a text that is one number with a decimal point, and another with a decimal comma."""
    comparator = leaf.shape.comparator
    if (
        not isinstance(leaf.value, str)
        or not isinstance(comparator, NumberComparator)
        or comparator.decimal is not None
    ):
        return
    numbers = {number: None for mark in ".," if (number := read_number(leaf.value, mark)) is not None}
    if len(numbers) > 1 and read_number(leaf.value) is None:
        message = f"{leaf.value} can be {' or '.join(map(leaf_text, numbers))}: write it as a number, or set `decimal`"
        yield GoldProblem("two_readings", f"{message} for {leaf.shape.name}", f"{name}.{location(leaf)}")


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
