"""The extraction suite's own parts of a report: breakdown, errors, reading, remarks, and signature settings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, cast

from goldgate.core.finding import remark, same_files_remarks, unread_answers_remarks
from goldgate.core.gate import GateResult
from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Mean, Metrics, Rate, format_number, mean
from goldgate.core.page import count_text
from goldgate.core.tally import Tally
from goldgate.errors import as_yaml
from goldgate.readers.pair_files import PairOutcome
from goldgate.response.reading_report import parse_section
from goldgate.stats.interval import GROUP, metric_with_interval
from goldgate.suites.extraction.chain_of_thought import THOUGHT_VERSION
from goldgate.suites.extraction.events import Violation
from goldgate.suites.extraction.events.answer_form import GOLD_SHAPES, Form, form_of, form_signature
from goldgate.suites.extraction.events.event_schema import EventSchema, derived_note
from goldgate.suites.extraction.events.match import Mistake
from goldgate.suites.extraction.hints import CONVERT, RENAME, counted_hints, joint_setting
from goldgate.suites.extraction.measures import (
    HALLUCINATION_VERSION,
    Hallucination,
    MatchRates,
    TypeRates,
    confusions,
    extraction_measures,
)
from goldgate.suites.extraction.records import Facts, gold_not_in_text_message, text_counts
from goldgate.suites.extraction.settings import PROFILE_VERSION, ExtractionSettings, RelaxedSettings, ResponseSettings

if TYPE_CHECKING:
    from goldgate.core.contracts import MetricValue, RateValue, RemarkValue, SuiteReport
    from goldgate.suites.extraction.contracts import (
        Breakdown,
        ErrorCount,
        ExtractionDetails,
        ExtractionReport,
        HintSection,
        PaperRole,
        PaperScores,
        Reading,
        UnitScores,
    )

SAMPLE = "sample"


def breakdown_section(tally: Tally, settings: ExtractionSettings) -> Breakdown:
    """Counts and P/R/F1, strict and relaxed, for each event type and role, with macro averages.

    What a profile counts for each event type is under `papers`, here and among the averages.
    """
    unit = GROUP if tally.is_grouped else SAMPLE
    types, roles = MatchRates().by_part(tally), MatchRates().by_part(tally, 2)
    # Roles that meet in a sample are many: to sum the products of their counts would cost as much as to score it.
    macro = {"event_types": MatchRates().means(tally), "roles": _means(roles.values())}
    by_paper = [
        m for m in extraction_measures(settings) if isinstance(m, RatioMeasure) and m.section == "papers" and m.parts
    ]
    if by_paper:
        whole = [measure for measure in by_paper if measure.metrics(tally)]  # others count only parts of one of these
        macro["papers"] = {name: mean for measure in whole for name, mean in measure.means(tally).items()}
    kept_types, kept_roles = _parts_to_list(types), _parts_to_list(roles)
    left_out = (types.keys() - kept_types) | (roles.keys() - kept_roles)
    predicted = sum(_rate(types[key], "strict_precision").denominator for key in types.keys() - kept_types)
    counts = {
        "event_types": len(types) - len(kept_types),
        "roles": len(roles) - len(kept_roles),
        "predicted": predicted,
    }
    entries = {
        "event_types": [_entry(("event_type",), key, metrics, unit) for key, metrics in kept_types.items()],
        "roles": [_entry(("event_type", "role"), key, metrics, unit) for key, metrics in kept_roles.items()],
        **({"left_out": counts} if left_out else {}),
        **({"papers": _paper_rates(tally, by_paper, unit, left_out)} if by_paper else {}),
        "macro": {
            kind: {name: metric_with_interval(mean, unit) for name, mean in means.items()}
            for kind, means in macro.items()
        },
    }
    return cast("Breakdown", entries)  # every rate of a family is there


def _parts_to_list(parts: Mapping[tuple[str, ...], Metrics]) -> dict[tuple[str, ...], Metrics]:
    """The event types, or roles, that gold has, and of those that only answers have the most frequent ones."""
    others = [key for key, metrics in parts.items() if not _rate(metrics, "strict_recall").denominator]
    others.sort(key=lambda key: (-_rate(parts[key], "strict_precision").denominator, key))
    left_out = {*others[MAX_INVENTED_PARTS:]}
    return {key: metrics for key, metrics in parts.items() if key not in left_out}


def _rate(metrics: Metrics, name: str) -> Rate:
    rate = metrics[name]
    assert isinstance(rate, Rate)
    return rate


def error_section(tally: Tally) -> dict[str, ErrorCount]:
    """How often each error name was given to a false positive and to a false negative."""
    names: dict[str, ErrorCount] = {}
    for mistake in Mistake:
        false_positives = tally.counts[f"mistake.{mistake}.predicted"]
        false_negatives = tally.counts[f"mistake.{mistake}.gold"]
        names[mistake.value] = {
            "value": false_positives + false_negatives,
            "false_positives": false_positives,
            "false_negatives": false_negatives,
        }
    return names


def reading_section(tally: Tally) -> Reading:
    """How the answers were found and mended, and which violations they had."""
    counts = tally.counts
    values = _rate(Hallucination().metrics(tally), "hallucination_entity_rate")
    return {
        **parse_section(tally),
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
        "gold": {
            "values": _rate(MatchRates().metrics(tally), "strict_recall").denominator - counts["gold_without_text"],
            "not_in_text": counts["gold_not_in_text"],
            "merged": counts["gold_merged"],
        },
    }


def hint_section(tally: Tally, settings: ResponseSettings) -> HintSection:
    """Forms of answers that are not read, and the setting for those that a setting would read."""
    rates = MatchRates().metrics(tally)["strict_f1"], TypeRates().metrics(tally)["type_f1"]
    hints = counted_hints(tally, settings, is_zero=any(rate.value == 0 for rate in rates))
    return {"hints": [hint.as_json() for hint in hints], "hints_setting": joint_setting(hints, settings)}


def _paper_rates(
    tally: Tally, measures: list[RatioMeasure[Facts]], unit: str, left_out: Collection[tuple[str, ...]]
) -> list[PaperScores]:
    """The rates of each event type that a profile counts, and of its roles where it counts them, but of those left
    out."""
    entries: dict[str, PaperScores] = {}
    for measure in measures:
        for (event_type,), metrics in measure.by_part(tally).items() if measure.metrics(tally) else ():
            if (event_type,) not in left_out:
                entry = entries.setdefault(event_type, {"event_type": event_type, "metrics": {}})
                entry["metrics"].update(_rates_with_intervals(metrics, unit))
        for (event_type, role), metrics in measure.by_part(tally, 2).items():
            if event_type in entries and (event_type, role) not in left_out:
                of_role: PaperRole = {"role": role, "metrics": _rates_with_intervals(metrics, unit)}
                entries[event_type].setdefault("roles", []).append(of_role)
    return [entries[event_type] for event_type in sorted(entries)]


def _rates_with_intervals(metrics: Metrics, unit: str) -> dict[str, RateValue]:
    return {name: cast("RateValue", metric_with_interval(rate, unit)) for name, rate in metrics.items()}


def _entry(names: tuple[str, ...], key: tuple[str, ...], metrics: Metrics, unit: str) -> UnitScores:
    precision, recall = _rate(metrics, "strict_precision"), _rate(metrics, "relaxed_recall")
    entry = {
        **dict(zip(names, key, strict=True)),
        "predicted": precision.denominator,
        "gold": recall.denominator,
        "strict_hits": precision.numerator,
        "relaxed_hits": recall.numerator,
        **_rates_with_intervals(metrics, unit),
    }
    return cast("UnitScores", entry)


def _means(parts: Collection[Metrics]) -> dict[str, Mean]:
    return {name: mean([rate for part in parts if isinstance(rate := part[name], Rate)]) for name in MatchRates.ratios}


_MAX_SPELLINGS = 3
# Smaller shares of samples get no remark.
MIN_NONCOMPLIANT_SHARE = Fraction(1, 2)
MIN_NULL_SHARE = Fraction(1, 100)
MAX_INVENTED_PARTS = 500  # event types, and roles, that gold does not have: an answer can name any number
MIN_CHANCE, MIN_CHANCE_PAIRS = Fraction(1, 10), 20
MIN_COPY_SHARE = Fraction(1, 10)
_MAX_TYPES = 3


def extraction_remarks(
    report: ExtractionReport, form: Form, schema: EventSchema | None, relaxed: RelaxedSettings
) -> Iterator[RemarkValue]:
    """The remarks of a report, the most serious first."""
    yield from same_files_remarks(report["inputs"]["gold"], report["inputs"]["predictions"])
    if form.flat and form.event_type is None:
        message = "flat answers have their event type from the gold: the type scores say nothing about the model"
        yield remark("type_from_gold", message)
    if schema is not None and schema.is_derived:
        roles = sum(map(len, schema.roles.values()))
        yield remark("derived_schema", derived_note(schema), event_types=len(schema.roles), roles=roles)
    if schema is not None:
        yield from _types_outside_schema(report, schema.event_types)
    yield from _partial_averages(report, schema)
    yield from unread_answers_remarks(report, "goldgate read FILE")
    yield from _relaxed_chance(report, relaxed)
    yield from _said_none(report, form)
    for remarks in (
        _bare_gold,
        _noncompliant_samples,
        _other_form,
        _null_words,
        _gold_not_in_text,
        _copies,
        _excess_ratios,
        _unlike_papers,
    ):
        yield from remarks(report)


def _types_outside_schema(report: ExtractionReport, event_types: Collection[str]) -> Iterator[RemarkValue]:
    """A remark on event types of the gold that the schema lacks: then the schema is wrong, not the answers."""
    of_gold = [entry["event_type"] for entry in report["breakdown"]["event_types"] if entry["gold"]]
    foreign = [name for name in of_gold if name not in event_types]
    if foreign:
        names = ", ".join(foreign[:_MAX_TYPES]) + (", …" if len(foreign) > _MAX_TYPES else "")
        message = (
            f"{len(foreign)} of the gold's {len(of_gold)} event types are not in the schema ({names}): "
            "run goldgate check GOLD --schema FILE to see where"
        )
        yield remark("gold_not_in_schema", message, missing=len(foreign), event_types=len(of_gold))


def _partial_averages(report: ExtractionReport, schema: EventSchema | None) -> Iterator[RemarkValue]:
    """Macro averages with a gate that leave out event types or roles: without the hard ones they are higher."""
    roles = {} if schema is None else schema.roles
    for gate in report["gates"]:
        measured = gate["measured"]
        if "averaged" not in measured:
            continue
        averaged, by_role = measured["averaged"], gate["metric"].endswith("_macro_roles")
        in_schema = sum(map(len, roles.values())) if by_role else len(roles)
        parts = max(in_schema, averaged + measured["undefined"])
        if averaged < parts:
            message = (
                f"{gate['metric']} averages {averaged} of {parts} {'roles' if by_role else 'event types'}: "
                "the others have nothing to divide by, no gold or no prediction"
            )
            yield remark("partial_average", message, averaged=averaged, parts=parts)


def _bare_gold(report: ExtractionReport) -> Iterator[RemarkValue]:
    main = report["metrics"]["main"]
    (_, events), (_, arguments) = _counts(main, "type_recall"), _counts(main, "strict_recall")
    samples = _count(report, "total_samples")
    if events and not arguments:
        message = "no gold event has an argument: only the type scores mean anything"
        yield remark("gold_without_arguments", message, event_types=events)
    elif not events and samples:
        message = "no gold record has an event: is this a split that was published without its labels?"
        yield remark("gold_without_events", message, samples=samples)


def _noncompliant_samples(report: ExtractionReport) -> Iterator[RemarkValue]:
    fitting, total = _counts(report["metrics"]["main"], "schema_compliance_rate")
    if not total or Fraction(total - fitting, total) <= MIN_NONCOMPLIANT_SHARE:
        return
    violations = {name: entry["samples"] for name, entry in report["reading"]["violations"].items()}
    most = max(violations, key=lambda name: violations[name])
    message = (
        f"{total - fitting} of {total} samples fail schema compliance, "
        f"{violations[most]} of them because of {most}: is it what the model was asked for?"
    )
    yield remark("schema_misfits", message, misfits=total - fitting, samples=total)


def _other_form(report: ExtractionReport) -> Iterator[RemarkValue]:
    """Forms that a protocol can declare, and names in another spelling. Words for null are another matter."""
    hints = [hint for hint in report["hints"] if "null_words" not in (hint["setting"] or "")]
    advice = f"to read them, write in the protocol: {report['hints_setting']}"
    for code, among, rest in (
        ("other_form", [hint for hint in hints if hint["setting"]], advice),
        ("unread_form", [hint for hint in hints if hint["advice"] == CONVERT], CONVERT),
        ("other_spelling", [hint for hint in hints if hint["advice"] == RENAME][:_MAX_SPELLINGS], RENAME),
    ):
        if among:
            by_count: dict[int, list[str]] = {}
            for hint in among:
                by_count.setdefault(hint["answers"], []).append(hint["have"])
            of = among[0]["of"]
            message = ", ".join(f"{count} of {of} answers have {', '.join(have)}" for count, have in by_count.items())
            yield remark(code, f"{message}; {rest}", answers=max(by_count), of=of)


def _null_words(report: ExtractionReport) -> Iterator[RemarkValue]:
    answers, total = report["reading"]["null_words"], _count(report, "total_samples")
    if answers and Fraction(answers, total) >= MIN_NULL_SHARE:
        message = f"{answers} of {total} answers have a word such as null as a value, which counts as wrong"
        yield remark("null_words", message, answers=answers, samples=total)


def _said_none(report: ExtractionReport, form: Form) -> Iterator[RemarkValue]:
    answers, total = _count(report, "said_none"), _count(report, "total_samples")
    if answers and not form.said_none:
        share, setting = f"{answers} of {total} answers", as_yaml("metrics.response.said_none", "empty")
        message = (
            f"{share} say in words that there are no events, which is a parse error; to read them as empty lists, "
        )
        yield remark("said_none", f"{message}write in the protocol: {setting}", answers=answers, samples=total)


def _copies(report: ExtractionReport) -> Iterator[RemarkValue]:
    """Texts that stand in several samples, by which a gate with a confidence can be passed."""
    texts, samples = report["reading"]["texts"], _count(report, "total_samples")
    units, repeated, copies = texts["units"], texts["repeated"], texts["repeated_units"]
    if units and Fraction(units - texts["distinct"], units) >= MIN_COPY_SHARE:
        what = "sets of gold arguments" if _count(report, "hallucination_unchecked") == samples else "texts"
        of = f" of {units} documents that were sampled" if texts["is_sample"] else " documents"
        message = (
            f"{what} that appear more than once: {repeated}, in {copies}{of}; copies make confidence intervals too "
            "narrow: give them the same group in the gold"
        )
        yield remark("repeated_texts", message, texts=repeated, units=copies)


def _gold_not_in_text(report: ExtractionReport) -> Iterator[RemarkValue]:
    gold = report["reading"]["gold"]
    if message := gold_not_in_text_message(gold["not_in_text"], gold["values"]):
        advice = "hallucination_rate then measures the gold; run goldgate check GOLD to see which"
        yield remark("gold_not_in_text", f"{message}: {advice}", missing=gold["not_in_text"], values=gold["values"])


def _unlike_papers(report: ExtractionReport) -> Iterator[RemarkValue]:
    """Where a profile's numbers are not what the published scorer would give, or hang on the order of events."""
    metrics = report["metrics"].get("papers") or {}
    by_text, by_offsets, without_offsets = (
        _count(report, f"textee_{name}", "papers") if f"textee_{name}" in metrics else 0
        for name in ("by_text", "by_offsets", "without_offsets")
    )
    samples = by_text + by_offsets
    if by_text:
        message = f"{by_text} of {samples} samples were compared by their words, which TextEE does not do"
        yield remark("compared_by_text", message, samples=by_text, of=samples)
    if without_offsets:
        message = (
            f"{without_offsets} of {samples} answers lack offsets that gold has, and what lacks them is wrong for "
            f"textee; to compare by words, write in the protocol: {as_yaml('metrics.profile_offsets', 'words')}"
        )
        yield remark("answers_without_offsets", message, answers=without_offsets, of=samples)
    for name in ("doc2edag", "duee_fin"):
        below, of = _counts(metrics, f"{name}_below_best") if f"{name}_below_best" in metrics else (0, 0)
        if below:
            message = f"in {below} of {of} assignments of records {name} finds less than {name}_best: order may decide"
            yield remark("below_best", message, below=below, of=of)


def _relaxed_chance(report: ExtractionReport, relaxed: RelaxedSettings) -> Iterator[RemarkValue]:
    """A remark on a relaxed rule that matches values of different samples, which have nothing to do with each other."""
    matched, pairs = _counts(report["metrics"]["diagnostics"], "relaxed_chance")
    if pairs >= MIN_CHANCE_PAIRS and Fraction(matched, pairs) >= MIN_CHANCE:
        advice = "a higher threshold under metrics.relaxed lowers it"
        if relaxed.unit == "character":
            setting = as_yaml("metrics.relaxed.unit", "word")
            advice = f"{setting} compares words instead of characters"
        message = (
            f"the relaxed rule matches {matched} of {pairs} pairs of unrelated values: part of relaxed_f1 is chance; "
            f"{advice}"
        )
        yield remark("relaxed_chance", message, matched=matched, pairs=pairs)


def _excess_ratios(report: ExtractionReport) -> Iterator[RemarkValue]:
    """Pairs of counts whose ratio is beyond what a model that answers as asked would have."""
    values = report["reading"]["values"]
    rates = ("relaxed_excess", "relaxed_shortfall", "stub_rate", "cot_copied_rate")
    counts = {name: _counts(report["metrics"]["diagnostics"], name) for name in rates}
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
        "{} of {} thoughts repeat the answer: they show no reasoning, and count as no thoughts",
        ("copied", "checked"),
    ),
    (
        *("values", Fraction(3, 2), "value_variants"),
        "{} values were checked for {} units: one argument at many offsets makes hallucination_entity_rate smaller",
        ("values", "units"),
    ),
)


def _counts(metrics: Mapping[str, MetricValue], name: str) -> tuple[int, int]:
    """Numerator and denominator of a rate."""
    rate = cast("RateValue", metrics[name])
    return rate["numerator"], rate["denominator"]


def _count(report: ExtractionReport, name: str, section: Literal["main", "papers"] = "main") -> int:
    """A count, which is always defined."""
    return cast(int, report["metrics"][section][name]["value"])


PARSER_VERSION = 5  # raised whenever the same response may be read otherwise


class ExtractionOutcome(PairOutcome):
    """Records from memory have no digests; those of files are filled in when they were read."""

    section = "metrics"

    def __init__(self, settings: ExtractionSettings, schema: EventSchema | None) -> None:
        digest = schema.sha256 if schema is not None else None
        super().__init__({"gold": [], "predictions": [], "schema": digest}, _signature_settings(settings))
        self.use_schema(schema)
        self._form = form_of(settings.response)
        self._settings = settings
        self._gold_shapes: dict[str, int] = {}  # shape → records

    def use_schema(self, schema: EventSchema | None) -> None:
        """Name the schema's digest in the signature."""
        self._schema = schema
        self.settings["types"] = "none" if schema is None else schema.digest[:12]

    def note_counts(self, tally: Tally) -> None:
        super().note_counts(tally)
        counts = {shape: tally.counts[f"gold_shape.{shape}"] for shape in GOLD_SHAPES}
        self._gold_shapes = {shape: count for shape, count in counts.items() if count}
        if self._gold_shapes:
            self.settings["gold_shape"] = "+".join(self._gold_shapes)

    def part_names(self) -> list[tuple[str, ...]]:
        roles = {} if self._schema is None else self._schema.role_order
        return [*((name,) for name in roles), *((name, role) for name, of in roles.items() for role in of)]

    def details(self, tally: Tally, metrics: Metrics, gates: list[GateResult]) -> ExtractionDetails:
        return {
            "errors": error_section(tally),
            "confusions": confusions(tally),
            "reading": reading_section(tally),
            **hint_section(tally, self._settings.response),
            "breakdown": breakdown_section(tally, self._settings),
        }

    def remarks(self, report: SuiteReport) -> Iterator[RemarkValue]:
        yield from super().remarks(report)
        for shape, count in self._gold_shapes.items():
            records = count_text(count, "gold record")
            have, were = ("has", "was") if count == 1 else ("have", "were")
            message = f"{records} {have} {GOLD_SHAPES[shape]}, and {were} read so"
            yield remark("gold_shape", message, records=count)
        relaxed = self._settings.relaxed
        yield from extraction_remarks(cast("ExtractionReport", report), self._form, self._schema, relaxed)


def _profile_signature(settings: ExtractionSettings) -> str:
    return f"{settings.profile}.v{PROFILE_VERSION}{'+words' if settings.profile_offsets == 'words' else ''}"


def _signature_settings(settings: ExtractionSettings) -> dict[str, object]:
    """Everything that can change a number, for the signature."""
    relaxed, cot = settings.relaxed, settings.cot
    threshold = (
        relaxed.char_overlap_threshold
        if relaxed.match_mode == "include_or_char_overlap"
        else relaxed.span_iou_threshold
    )
    rule = "span_iou.v2" if relaxed.match_mode == "span_iou" else relaxed.match_mode  # in v1, places were alternatives
    return {
        "parser": PARSER_VERSION,
        "thoughts": "+".join(settings.response.thought_tags) or "none",
        **form_signature(form_of(settings.response)),
        "norm": settings.normalization,
        **({} if settings.blanks == "remove" else {"blanks": settings.blanks}),
        "relaxed": f"{rule}>={threshold.normalize():f}{'+word' if relaxed.unit == 'word' else ''}",
        "schema": settings.schema.mode,
        "hallucination": f"{settings.hallucination.match_mode}.v{HALLUCINATION_VERSION}",
        "cot": f"{cot.mode}.v{THOUGHT_VERSION}{'+block' if cot.require_thought_block else ''}"
        if cot.enabled
        else "off",
        "types": "none",
        **({} if settings.profile is None else {"profile": _profile_signature(settings)}),
    }
