"""The extraction suite's own parts of a report: breakdown, errors, reading, remarks, and signature settings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from fractions import Fraction
from typing import Any

from goldgate.core.gate import GateResult
from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Mean, Metrics, Rate, format_number, mean
from goldgate.core.page import count_text
from goldgate.core.remarks import Remark, missing_answers, remark, same_files, share_percent
from goldgate.core.suite import Outcome, Report
from goldgate.core.tally import Tally
from goldgate.readers.layouts.layout import FieldPaths
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.suites.extraction.events.answer_form import GOLD_SHAPES, Form, form_of, form_signature
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.match import Mistake
from goldgate.suites.extraction.measures import extraction_measures
from goldgate.suites.extraction.measures.answers import hint_section
from goldgate.suites.extraction.measures.chain_of_thought import THOUGHT_VERSION
from goldgate.suites.extraction.measures.duplicate_texts import text_counts
from goldgate.suites.extraction.measures.hallucination import HALLUCINATION_VERSION, Hallucination
from goldgate.suites.extraction.measures.matching import MatchRates, confusions
from goldgate.suites.extraction.response.parsed import METHODS, THOUGHT_STATES, Step
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import PROFILE_VERSION, ExtractionSettings

SAMPLE = "sample"


def breakdown_section(tally: Tally, settings: ExtractionSettings) -> dict[str, Any]:
    """Counts and P/R/F1, strict and relaxed, for each event type and role, with macro averages.

    What a profile counts for each event type is under `papers`, here and among the averages.
    """
    unit = GROUP if tally.is_grouped else SAMPLE
    types, roles = _rates_by_part(tally, 1), _rates_by_part(tally, 2)
    # Roles that meet in a sample are many: to sum the products of their counts would cost as much as to score it.
    macro = {"event_types": MatchRates().means(tally), "roles": _means(roles.values())}
    by_paper = [
        m for m in extraction_measures(settings) if isinstance(m, RatioMeasure) and m.section == "papers" and m.parts
    ]
    if by_paper:
        whole = [measure for measure in by_paper if measure.metrics(tally)]  # others count only parts of one of these
        macro["papers"] = {name: mean for measure in whole for name, mean in measure.means(tally).items()}
    return {
        "event_types": [_entry(("event_type",), key, metrics, unit) for key, metrics in types.items()],
        "roles": [_entry(("event_type", "role"), key, metrics, unit) for key, metrics in roles.items()],
        **({"papers": _paper_rates(tally, by_paper, unit)} if by_paper else {}),
        "macro": {
            kind: {name: metric_with_interval(mean, unit) for name, mean in means.items()}
            for kind, means in macro.items()
        },
    }


def error_section(tally: Tally) -> dict[str, Any]:
    """How often each error name was given to a false positive and to a false negative."""
    names: dict[str, Any] = {}
    for mistake in Mistake:
        false_positives = tally.counts[f"mistake.{mistake}.predicted"]
        false_negatives = tally.counts[f"mistake.{mistake}.gold"]
        names[mistake.value] = {
            "value": false_positives + false_negatives,
            "false_positives": false_positives,
            "false_negatives": false_negatives,
        }
    return names


def reading_section(tally: Tally) -> dict[str, Any]:
    """How the answers were found and mended, and which violations they had."""
    counts = tally.counts
    values = Hallucination().metrics(tally)["hallucination_entity_rate"]
    assert isinstance(values, Rate)
    return {
        "methods": {method: counts[f"method.{method}"] for method in METHODS},
        "thoughts": {state: counts[f"thought.{state}"] for state in THOUGHT_STATES},
        "repairs": {step.value: counts[f"repair.{step}"] for step in Step if counts[f"repair.{step}"]},
        "violations": {
            violation.value: {
                "samples": counts[f"violation_samples.{violation}"],
                "occurrences": counts[f"violation.{violation}"],
            }
            for violation in Violation
            if counts[f"violation.{violation}"]
        },
        "null_words": counts["hint.null_words"],
        "values": {"distinct": values.denominator, "units": counts["hallucination_units"]},
        "texts": text_counts(tally),
    }


def _paper_rates(tally: Tally, measures: list[RatioMeasure[Facts]], unit: str) -> list[dict[str, Any]]:
    """The rates of each event type that a profile counts, and of its roles where it counts them."""
    entries: dict[str, Any] = {}
    for measure in measures:
        for (event_type,), metrics in _rates_by_part(tally, 1, measure).items() if measure.metrics(tally) else ():
            rates = {name: metric_with_interval(metric, unit) for name, metric in metrics.items()}
            entries.setdefault(event_type, {"event_type": event_type, "metrics": {}})["metrics"].update(rates)
        for (event_type, role), metrics in _rates_by_part(tally, 2, measure).items():
            rates = {name: metric_with_interval(metric, unit) for name, metric in metrics.items()}
            entries[event_type].setdefault("roles", []).append({"role": role, "metrics": rates})
    return [entries[event_type] for event_type in sorted(entries)]


def _rates_by_part(tally: Tally, names: int, of: RatioMeasure[Facts] | None = None) -> dict[tuple[str, ...], Metrics]:
    """The metrics of each event type (`names` 1), or of each role of an event type (2), sorted by name."""
    measure = MatchRates() if of is None else of
    keys = sorted(key for key in tally.tables if key[0] == measure.table and len(key) == names + 1)
    return {key[1:]: measure.metrics_of(tally, key) for key in keys}


def _entry(names: tuple[str, ...], key: tuple[str, ...], metrics: Metrics, unit: str) -> dict[str, Any]:
    precision, recall = metrics["strict_precision"], metrics["relaxed_recall"]
    assert isinstance(precision, Rate)
    assert isinstance(recall, Rate)
    return {
        **dict(zip(names, key, strict=True)),
        "predicted": precision.denominator,
        "gold": recall.denominator,
        "strict_hits": precision.numerator,
        "relaxed_hits": recall.numerator,
        **{name: metric_with_interval(metric, unit) for name, metric in metrics.items()},
    }


def _means(parts: Collection[Metrics]) -> dict[str, Mean]:
    return {name: mean([rate for part in parts if isinstance(rate := part[name], Rate)]) for name in MatchRates.ratios}


MOST_REMARKED_SHARES = Fraction(1, 2)  # of the answers
NULLS = Fraction(1, 100)  # of the answers
COPIES = Fraction(1, 10)  # of the samples
_MOST_TYPES_NAMED = 3


def extraction_remarks(report: Report, form: Form, schema: EventSchema | None) -> Iterator[Remark]:
    """What there is to say, the gravest first."""
    yield from same_files(report)
    if form.flat and form.event_type is None:
        message = "flat answers have their event type from the gold: the type scores say nothing of the model"
        yield remark("type_from_gold", message)
    if schema is not None:
        yield from _foreign_gold(report, schema.event_types)
    yield from _partial_averages(report, schema)
    for remarks in (
        _unread_answers,
        _bare_gold,
        _misfits,
        _other_form,
        _null_words,
        _copies,
        _excess_ratios,
        _unlike_papers,
    ):
        yield from remarks(report)


def _unread_answers(report: Report) -> Iterator[Remark]:
    main = report["metrics"]["main"]
    total, missing, unread = (main[name]["value"] for name in ("total_samples", "missing_predictions", "parse_errors"))
    yield from missing_answers(missing, total)
    if unreadable := unread - missing:
        share = f"{unreadable} of {total} answers could not be read ({share_percent(unreadable, total)})"
        yield remark("unreadable_answers", f"{share}: goldgate read shows why", unreadable=unreadable, samples=total)


def _foreign_gold(report: Report, event_types: Collection[str]) -> Iterator[Remark]:
    """Gold that the schema does not know: then it is the schema that is wrong, not the answers."""
    of_gold = [entry["event_type"] for entry in report["breakdown"]["event_types"] if entry["gold"]]
    foreign = [name for name in of_gold if name not in event_types]
    if foreign:
        named = ", ".join(foreign[:_MOST_TYPES_NAMED]) + (", …" if len(foreign) > _MOST_TYPES_NAMED else "")
        message = (
            f"{len(foreign)} of the gold's {len(of_gold)} event types are not in the schema ({named}): "
            "goldgate check-gold shows where"
        )
        yield remark("gold_not_in_schema", message, missing=len(foreign), event_types=len(of_gold))


def _partial_averages(report: Report, schema: EventSchema | None) -> Iterator[Remark]:
    """Macro averages with a gate that leave out event types or roles: without the hard ones they are higher."""
    roles = {} if schema is None else schema.roles
    for gate in report["gates"]:
        averaged = gate["measured"].get("averaged")
        if averaged is None:
            continue
        by_role = gate["metric"].endswith("_macro_roles")
        in_schema = sum(map(len, roles.values())) if by_role else len(roles)
        parts = max(in_schema, averaged + gate["measured"]["undefined"])
        if averaged < parts:
            message = (
                f"{gate['metric']} averages {averaged} of {parts} {'roles' if by_role else 'event types'}: "
                "the others have nothing to divide by, no gold or no prediction"
            )
            yield remark("partial_average", message, averaged=averaged, parts=parts)


def _bare_gold(report: Report) -> Iterator[Remark]:
    main = report["metrics"]["main"]
    events, arguments = main["type_recall"]["denominator"], main["strict_recall"]["denominator"]
    if events and not arguments:
        message = "no gold event has an argument: only the type scores say something"
        yield remark("gold_without_arguments", message, event_types=events)
    elif not events and main["total_samples"]["value"]:
        message = "no gold record has an event: is this a split that was published without its labels?"
        yield remark("gold_without_events", message, samples=main["total_samples"]["value"])


def _misfits(report: Report) -> Iterator[Remark]:
    metric = report["metrics"]["main"]["schema_compliance_rate"]
    fitting, total = metric["numerator"], metric["denominator"]
    if not total or Fraction(total - fitting, total) <= MOST_REMARKED_SHARES:
        return
    violations = {name: entry["samples"] for name, entry in report["reading"]["violations"].items()}
    most = max(violations, key=lambda name: violations[name])
    message = (
        f"{total - fitting} of {total} samples fail schema compliance, "
        f"{violations[most]} of them because of {most}: is it what the model was asked for?"
    )
    yield remark("schema_misfits", message, misfits=total - fitting, samples=total)


def _other_form(report: Report) -> Iterator[Remark]:
    """Forms that a protocol can declare. Words for null are another matter."""
    for hint in report["hints"]:
        if "null_words" not in hint["setting"]:
            message = f"{hint['answers']} of {hint['of']} answers have {hint['have']}; "
            message += f"to read them, write in the protocol: {hint['setting']}"
            yield remark("other_form", message, answers=hint["answers"], of=hint["of"])


def _null_words(report: Report) -> Iterator[Remark]:
    answers, total = report["reading"]["null_words"], report["metrics"]["main"]["total_samples"]["value"]
    if answers and Fraction(answers, total) >= NULLS:
        message = (
            f"{answers} of {total} answers have a word such as null as a value: read as it stands, it is a wrong one"
        )
        yield remark("null_words", message, answers=answers, samples=total)


def _copies(report: Report) -> Iterator[Remark]:
    """Texts that stand in several samples, by which a gate with a confidence can be passed."""
    distinct, units = report["reading"]["texts"]["distinct"], report["reading"]["texts"]["units"]
    if units and Fraction(units - distinct, units) >= COPIES:
        message = (
            f"{distinct} texts appear {units} times: copies make intervals too narrow; "
            "give copies the same group in the gold"
        )
        yield remark("repeated_texts", message, texts=distinct, units=units)


def _unlike_papers(report: Report) -> Iterator[Remark]:
    """Where a profile's numbers are not what the published scorer would give, or hang on the order of events."""
    metrics = report["metrics"].get("papers", {})
    by_text, by_offsets = (metrics.get(f"textee_by_{way}", {}).get("value") for way in ("text", "offsets"))
    if by_text:
        samples = by_text + by_offsets
        message = (
            f"{by_text} of {samples} samples lack offsets and were compared by their words, which TextEE does not do"
        )
        yield remark("compared_by_text", message, samples=by_text, of=samples)
    for name in ("doc2edag", "duee_fin"):
        share = metrics.get(f"{name}_below_best")
        if share and share["numerator"]:
            below, of = share["numerator"], share["denominator"]
            message = f"in {below} of {of} assignments of records {name} finds less than {name}_best: order may decide"
            yield remark("below_best", message, below=below, of=of)


def _excess_ratios(report: Report) -> Iterator[Remark]:
    """Pairs of counts whose ratio is beyond what a model that answers as asked would have."""
    values = report["reading"]["values"]
    rates = ("relaxed_excess", "relaxed_shortfall", "stub_rate", "cot_copied_rate")
    counts = {name: _counts(report, name) for name in rates}
    counts["values"] = values["distinct"], values["units"]
    for name, most, code, words, names in _RATIOS:
        above, below = counts[name]
        if below and Fraction(above, below) >= most:
            message = words.format(above, below, times=format_number(Fraction(above, below), 2))
            yield remark(code, message, **dict(zip(names, (above, below), strict=True)))


# Counts, from which ratio on, the remark's code, its words, the names of its counts.
_RATIOS = (
    (
        *("relaxed_excess", Fraction(3, 2), "relaxed_excess"),
        "matched arguments are {times} times as long as gold's: relaxed_f1 forgives padding, strict_f1 does not",
        ("matched_length", "gold_length"),
    ),
    (
        *("relaxed_shortfall", Fraction(1, 3), "relaxed_shortfall"),
        "matched arguments lack {} of gold's {} characters: relaxed_f1 forgives cutting, strict_f1 does not",
        ("missing_length", "gold_length"),
    ),
    (
        *("stub_rate", Fraction(1, 50), "stub_values"),
        "{} of {} predicted arguments are stubs, a letter or a third of gold's or less: relaxed_f1 and "
        "hallucination_rate forgive them, strict_f1 does not",
        ("stubs", "predicted"),
    ),
    (
        *("cot_copied_rate", Fraction(1, 10), "copied_thought"),
        "{} of {} thoughts are the answer over again: they show no reasoning, and cot_faithfulness leaves them out",
        ("copied", "checked"),
    ),
    (
        *("values", Fraction(3, 2), "value_variants"),
        "{} values were checked for {} units: one argument at many offsets makes hallucination_entity_rate smaller",
        ("values", "units"),
    ),
)


def _counts(report: Report, name: str) -> tuple[int, int]:
    metric: dict[str, Any] = report["metrics"]["diagnostics"][name]
    return metric["numerator"], metric["denominator"]


_WAS = {False: "was", True: "were"}

PARSER_VERSION = 3  # raised whenever the same response may be read otherwise


class ExtractionOutcome(Outcome):
    """Records from memory have no digests; those of files are filled in when they were read."""

    def __init__(self, settings: ExtractionSettings, schema: EventSchema | None) -> None:
        digest = schema.sha256 if schema is not None else None
        super().__init__({"gold": [], "predictions": [], "schema": digest}, _signature_settings(settings, schema))
        self._schema = schema
        self._form = form_of(settings.response)
        self._settings = settings
        self._by_order = False
        self._gold_shapes: dict[str, int] = {}  # shape → records

    def note_reading(self, fields: FieldPaths, *, by_order: bool) -> None:
        """Say in the signature where ids and responses were found, if not under our names, and what joined them."""
        self._by_order = by_order
        named = {"id_field": fields.id, "response_field": fields.response, "joined": "by_order" if by_order else None}
        self.settings.update({name: value for name, value in named.items() if value is not None})

    def note_counts(self, tally: Tally) -> None:
        counts = {shape: tally.counts[f"gold_shape.{shape}"] for shape in GOLD_SHAPES}
        self._gold_shapes = {shape: count for shape, count in counts.items() if count}
        if self._gold_shapes:
            self.settings["gold_shape"] = "+".join(self._gold_shapes)

    def part_names(self) -> list[tuple[str, ...]]:
        roles = {} if self._schema is None else self._schema.role_order
        return [*((name,) for name in roles), *((name, role) for name, of in roles.items() for role in of)]

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> dict[str, Any]:
        return {
            "errors": error_section(tally),
            "confusions": confusions(tally),
            "reading": reading_section(tally),
            "hints": hint_section(tally, self._form),
            "breakdown": breakdown_section(tally, self._settings),
        }

    def remarks(self, report: Report) -> Iterable[Remark]:
        if self._by_order:
            message = "the predictions have no ids: they were joined with the gold by their order"
            yield remark("joined_by_order", message)
        for shape, count in self._gold_shapes.items():
            records = count_text(count, "gold record")
            message = f"{records} {'has' if count == 1 else 'have'} {GOLD_SHAPES[shape]}, and {_WAS[count > 1]} read so"
            yield remark("gold_shape", message, records=count)
        yield from extraction_remarks(report, self._form, self._schema)


def _signature_settings(settings: ExtractionSettings, schema: EventSchema | None) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    relaxed, cot = settings.relaxed, settings.cot
    threshold = (
        relaxed.char_overlap_threshold
        if relaxed.match_mode == "include_or_char_overlap"
        else relaxed.span_iou_threshold
    )
    return {
        "parser": PARSER_VERSION,
        "thoughts": "+".join(settings.response.thought_tags) or "none",
        **form_signature(form_of(settings.response)),
        "norm": settings.normalization,
        "relaxed": f"{relaxed.match_mode}>={threshold.normalize():f}",
        "schema": settings.schema.mode,
        "hallucination": f"{settings.hallucination.match_mode}.v{HALLUCINATION_VERSION}",
        "cot": f"{cot.mode}.v{THOUGHT_VERSION}{'+block' if cot.require_thought_block else ''}"
        if cot.enabled
        else "off",
        "types": "none" if schema is None else schema.digest[:12],
        **({} if settings.profile is None else {"profile": f"{settings.profile}.v{PROFILE_VERSION}"}),
    }
