"""The fields suite's own parts of a report: gold against the schema, errors, paths, review; and what stands out."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from fractions import Fraction
from typing import Any, cast

import orjson

from goldgate.core.contracts import RemarkValue, SuiteReport
from goldgate.core.evaluation import whole_number
from goldgate.core.finding import remark, same_files_remarks, unread_answers_remarks
from goldgate.core.gate import GateResult
from goldgate.core.metric import Metrics, Rate
from goldgate.core.page import count_text
from goldgate.core.tally import Tally
from goldgate.readers.pair_files import PairOutcome
from goldgate.response.reading_report import parse_section
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.suites.fields.alignment import FORMAT, GOLD_STATES, PREDICTED_STATES, WrongKind
from goldgate.suites.fields.contracts import FieldsReport
from goldgate.suites.fields.measures import FieldRates, ItemRates, ReviewLevels
from goldgate.suites.fields.schema import KEEP_SCHEMA, UNDECLARED_ROW, FieldSchema
from goldgate.suites.fields.scorer import SCALE
from goldgate.suites.fields.spellings import DATE_FORMATS
from goldgate.suites.fields.suite import FieldsSettings

DOCUMENT = "document"
ALIGNMENT_VERSION = 2  # in the signature; raised when the same values may be paired otherwise
_MAX_PATHS = 200  # listed of each kind
_MAX_NAMED = 3
_STATES = {"gold": GOLD_STATES, "predicted": PREDICTED_STATES}
_ENOUGH_WRONG = 3  # wrong values at a path, from which on another comparator is named


class FieldsOutcome(PairOutcome):
    """What is known of the inputs, and the sections that a report of fields has beside its metrics."""

    section = "fields"

    def __init__(self, settings: FieldsSettings) -> None:
        super().__init__({"gold": [], "predictions": [], "schema": None}, {})
        self._settings = settings
        self._schema: FieldSchema | None = None
        self._has_validator = True

    def note_schema(self, schema: FieldSchema, *, has_validator: bool) -> None:
        """Sign what can change a number: the schema, and every setting."""
        self._schema, self._has_validator = schema, has_validator
        self.inputs["schema"] = schema.sha256
        settings = self._settings
        self.settings.update(
            alignment=ALIGNMENT_VERSION,
            norm=settings.normalization,
            **({} if settings.blanks == "remove" else {"blanks": settings.blanks}),
            shape="derived" if schema.is_derived else _digest(schema.document),
            paths=_digest(asdict(settings)["paths"]) if settings.paths else "none",
            outside=settings.outside_schema,
            pair_share=f"{settings.pair_share.normalize():f}",
            null_words=" ".join(sorted(settings.null_words)) or "none",
            thoughts="+".join(settings.thought_tags) or "none",
            **({"next_example": _digest(sorted(settings.next_example))} if settings.next_example else {}),
            max_error=f"{settings.review.max_error.normalize():f}",
        )  # fmt: skip

    def part_names(self) -> list[tuple[str, ...]]:
        return [] if self._schema is None else [(shape.name,) for shape in self._schema.paths()]

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> dict[str, Any]:
        return {
            "gold": self._gold_section(tally),
            "errors": leaf_errors(tally),
            "confusions": enum_confusions(tally),
            "reading": answer_section(tally),
            "breakdown": path_breakdown(tally),
            "review": self._review_section(tally),
        }

    def _gold_section(self, tally: Tally) -> dict[str, Any]:
        """What of gold does not fit the schema: paths that are left out or counted, and places of another shape."""
        return {
            "schema": "derived" if self._schema is not None and self._schema.is_derived else "given",
            "outside_schema": self._settings.outside_schema,
            "undeclared_paths": _named_counts(tally, "gold_left_out."),
            "other_shapes": _named_counts(tally, "gold_shape."),
            "value_fields": _named_counts(tally, "value_field."),
        }

    def _review_section(self, tally: Tally) -> dict[str, Any]:
        levels = ReviewLevels(tally.counts)
        passed, threshold = levels.straight_through(self._settings.review.max_error)
        return {
            "leaves": levels.leaves,
            "wrong": levels.errors,
            "straight_through": passed,
            "threshold": None if threshold is None else threshold / SCALE,
        }

    def remarks(self, report: SuiteReport) -> Iterator[RemarkValue]:
        own = cast(FieldsReport, report)
        yield from self._gold_remarks(own)
        yield from same_files_remarks(own["inputs"]["gold"], own["inputs"]["predictions"])
        yield from super().remarks(report)
        if not self._has_validator:
            message = "schema_compliance_rate needs the extra `fields`, which is not installed: "
            message += "in goldgate's folder, pip install '.[fields]'"
            yield remark("no_validator", message)
        yield from _answer_remarks(own)
        yield from _comparator_remarks(own)

    def _gold_remarks(self, report: FieldsReport) -> Iterator[RemarkValue]:
        section = report["gold"]
        if section["schema"] == "derived":
            yield remark("derived_schema", f"no schema given: paths and types are those that gold has; {KEEP_SCHEMA}")
        outside = section["undeclared_paths"]
        if outside:
            leaves = sum(outside.values())
            message = (
                f"{leaves} gold leaves are at paths that the schema does not have and are left out: {_few(outside)}"
            )
            if not report["errors"]["gold"]["leaves"]:
                message += "; no leaf of gold is left to compare: is this the schema of this gold?"
            yield remark("gold_outside_schema", message, leaves=leaves, paths=len(outside))
        shapes = section["other_shapes"]
        if shapes:
            places = sum(shapes.values())
            message = f"gold has another shape than the schema in {places} places: {_few(shapes)}"
            yield remark("gold_of_other_shape", message, places=places, paths=len(shapes))
        others = {name: count for name, count in section["value_fields"].items() if name != "value"}
        if others:
            message = f"gold has no `value`: the values under {_few(others)} were taken"
            yield remark("value_field", message, documents=sum(others.values()))


def leaf_errors(tally: Tally) -> dict[str, Any]:
    """How many leaves of each side have each name, and in which way wrong values are wrong."""
    counts, leaves = tally.counts, _counts(FieldRates().metrics(tally), "field_")
    sides = {}
    for side, names in _STATES.items():
        errors = {name: counts[f"error.{side}.{name}"] for name in names[1:]}
        sides[side] = {"leaves": leaves[side], "hit": leaves["hits"], **errors}
    return {**sides, "wrong": {kind.value: counts[f"wrong.{kind}"] for kind in WrongKind}}


def enum_confusions(tally: Tally) -> dict[str, Any]:
    """Values of enums that were taken for others, the most frequent first; of very many the first."""
    counts = _named_counts(tally, "confused.", most=None)
    pairs = [
        {"path": path, "gold": gold, "predicted": predicted, "count": count}
        for (path, gold, predicted), count in ((orjson.loads(name), count) for name, count in counts.items())
    ]
    rest = pairs[_MAX_PATHS:]
    return {"pairs": pairs[:_MAX_PATHS], "left_out": {"pairs": len(rest), "count": sum(p["count"] for p in rest)}}


def answer_section(tally: Tally) -> dict[str, Any]:
    """How answers were found and mended, and what alignment could not do exactly."""
    counts = tally.counts
    return {
        **parse_section(tally),
        "repeated_keys": counts["repeated_keys"],
        "too_many": counts["too_many"],
        "shape_mended": counts["shape_mended"],
        "pair_share_cost": counts["pair_share_cost"],
        "equal_only_lists": _named_counts(tally, "equal_only."),
        "respelled_keys": _named_counts(tally, "respelled."),
    }


def path_breakdown(tally: Tally) -> dict[str, Any]:
    """Counts, rates and errors of every path, those of items of lists, and macro averages over paths."""
    unit = GROUP if tally.is_grouped else DOCUMENT
    paths = []
    for (path,), metrics in FieldRates().by_part(tally).items():
        errors = {
            side: {name: count for name in names[1:] if (count := tally.counts[f"row_error.{side}.{name}.{path}"])}
            for side, names in _STATES.items()
        }
        names = [*_WHY, *(FORMAT + name for name in DATE_FORMATS)]
        would_hit = {name: count for name in names if (count := tally.counts[f"would_hit.{name}.{path}"])}
        paths.append({"path": path, **_rates(metrics, "field_", unit), "errors": errors, "would_hit": would_hit})
    items = [
        {"path": path, **_rates(metrics, "item_", unit)} for (path,), metrics in ItemRates().by_part(tally).items()
    ]
    means = FieldRates().means(tally)
    macro = {f"{name}_macro": metric_with_interval(mean, unit) for name, mean in means.items()}
    return {"paths": paths, "items": items, "macro": macro}


def _rates(metrics: Metrics, prefix: str, unit: str) -> dict[str, Any]:
    rates = {name: metric_with_interval(metric, unit) for name, metric in metrics.items()}
    return {**_counts(metrics, prefix), **rates}


def _counts(metrics: Metrics, prefix: str) -> dict[str, int]:
    """What was predicted, what is in gold, and the hits, from the precision and recall of a family."""
    precision, recall = metrics[f"{prefix}precision"], metrics[f"{prefix}recall"]
    assert isinstance(precision, Rate)
    assert isinstance(recall, Rate)
    return {"predicted": precision.denominator, "gold": recall.denominator, "hits": precision.numerator}


def _named_counts(tally: Tally, prefix: str, most: int | None = _MAX_PATHS) -> dict[str, int]:
    """Counts under names that begin alike, the largest first; of very many the first."""
    counts = {name.removeprefix(prefix): count for name, count in tally.counts.items() if name.startswith(prefix)}
    return dict(sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:most])


def _few(names: Mapping[str, int]) -> str:
    return ", ".join([*names][:_MAX_NAMED]) + (", …" if len(names) > _MAX_NAMED else "")


def _answer_remarks(report: FieldsReport) -> Iterator[RemarkValue]:
    main, reading = report["metrics"]["main"], report["reading"]
    yield from unread_answers_remarks(report, "goldgate read FILE --suite fields")
    total, unread = (whole_number(main[name]["value"]) for name in ("total_samples", "parse_errors"))
    if unread and main["hallucination_rate"]["value"] is not None:
        message = f"hallucination_rate counts {count_text(unread, 'document')} without a readable answer as free of it"
        yield remark("hallucination_unread", message, unread=unread, samples=total)
    undeclared = next((row for row in report["breakdown"]["paths"] if row["path"] == UNDECLARED_ROW), None)
    if undeclared is not None and undeclared["predicted"]:
        leaves = undeclared["predicted"]
        size = count_text(leaves, "predicted leaf", "predicted leaves")
        message = f"{size} at paths that the schema does not have, which makes them spurious"
        yield remark("undeclared_leaves", message, leaves=leaves)
    if respelled := reading["respelled_keys"]:
        leaves = sum(respelled.values())
        size = count_text(leaves, "predicted leaf", "predicted leaves")
        message = f"{size} under keys that differ from the schema's in case or punctuation only: {_few(respelled)}; "
        message += "keys are compared as they are, so rename one of the two"
        yield remark("respelled_keys", message, leaves=leaves)
    if equal_only := reading["equal_only_lists"]:
        leaves = sum(equal_only.values())
        message = (
            f"lists whose values would take too long to compare were paired by equal values: {_few(equal_only)}, "
            f"{leaves} leaves"
        )
        yield remark("equal_only_lists", message, leaves=leaves)
    confident, predicted = report["review"]["leaves"], report["errors"]["predicted"]["leaves"]
    if 0 < confident < predicted:
        message = (
            f"{confident} of {predicted} predicted leaves have a confidence: the others count as leaves to review, and "
            "what confidences are worth is undefined"
        )
        yield remark("partial_confidence", message, confident=confident, predicted=predicted)
    if mended := reading["shape_mended"]:
        size = count_text(mended, "value")
        message = f"{size} in a list where gold has none, or the other way round: compared all the same"
        yield remark("shape_mended", message, places=mended)
    if too_many := reading["too_many"]:
        message = f"{count_text(too_many, 'value')} beyond the limits of an answer: wrong by their number, not compared"
        yield remark("too_many", message, values=too_many)
    if repeated := reading["repeated_keys"]:
        message = (
            f"{count_text(repeated, 'answer')} with a key twice: lists are joined, of other values the last one counts"
        )
        yield remark("repeated_keys", message, answers=repeated)


def _comparator_remarks(report: FieldsReport) -> Iterator[RemarkValue]:
    """Paths where most wrong values would hit under another comparator, and one setting for all of them."""
    settings: list[str] = []
    for row in report["breakdown"]["paths"]:
        path, wrong = row["path"], row["errors"]["gold"].get("wrong", 0)
        if wrong < _ENOUGH_WRONG or not row["would_hit"]:
            continue
        dates = row["would_hit"].get("date", 0)  # those that need no format
        formats = [
            name.removeprefix(FORMAT)
            for name, hits in row["would_hit"].items()
            if name not in _WHY and hits + dates == wrong
        ]
        name, hits = max(row["would_hit"].items(), key=lambda entry: (entry[0] in _WHY) * entry[1])
        if formats:
            settings.append(f'{json.dumps(path)}: {{compare: date, formats: ["{formats[0]}"]}}')
            message = f"all {wrong} wrong dates at {path} fit one format and would hit with {_setting(settings[-1:])}"
            yield remark("date_format", message, hits=wrong, wrong=wrong)
        elif name in _WHY and Fraction(hits, wrong) > Fraction(1, 2):
            settings.append(f"{json.dumps(path)}: {{compare: {name}}}")
            message = f"{hits} of {wrong} wrong at {path} {_WHY[name]}: compare: {name} would hit"
            yield remark("other_comparator", message, hits=hits, wrong=wrong)
    if len(settings) > 1:
        message = f"these comparators together: {_setting(settings[:_MAX_PATHS])}"
        yield remark("other_comparators", message, paths=len(settings))


def _setting(paths: list[str]) -> str:
    return f"fields: {{paths: {{{', '.join(paths)}}}}}"


_WHY = {
    "text": "differ in spelling only",
    "number": "are the same number",
    "date": "are the same date",
    "contains": "are the same or parts once punctuation is left out",
    "fuzzy": "are nearly the same",
}


def _digest(value: Any) -> str:
    return hashlib.sha256(orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS)).hexdigest()[:12]
