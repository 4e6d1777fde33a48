"""One sample scored: parse, compare, check, and render its record and findings. Cheap enough for a training loop."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from goldgate.core.finding import Finding
from goldgate.core.measure import all_metrics, count_unit, score_pairs, table_forms
from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally, UnitCounts
from goldgate.core.value_text import Haystack
from goldgate.errors import ConfigError, as_yaml
from goldgate.readers.dialects import recognize_dialect
from goldgate.readers.dialects.dialect import choose_reading
from goldgate.readers.unit_records import whole_record
from goldgate.response import Method, Parsed, Status, Step
from goldgate.response.reading_report import answer_finding, answer_findings
from goldgate.suites.extraction.chain_of_thought import ThoughtChecker
from goldgate.suites.extraction.events import (
    EventList,
    Events,
    Unit,
    Violation,
    ViolationPlace,
    empty_events,
    event_list,
    keep_blanks,
    read_events,
)
from goldgate.suites.extraction.events.answer_form import form_of, parse_response
from goldgate.suites.extraction.events.event_schema import NO_SCHEMA_SETTINGS, EventSchema
from goldgate.suites.extraction.events.limits import MAX_LISTED, Limits
from goldgate.suites.extraction.events.match import match_units, name_mistakes
from goldgate.suites.extraction.events.relaxed_matching import RelaxedRule
from goldgate.suites.extraction.measures import extraction_measures, support_rule
from goldgate.suites.extraction.records import (
    Facts,
    Gold,
    ResponseInput,
    Sample,
    make_sample,
    parse_gold,
    text_fingerprint,
)
from goldgate.suites.extraction.settings import ExtractionSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import ComparedSample, ParseRecord, RoleArgument


def sample_record(facts: Facts) -> ComparedSample:
    """The record as plain values. `gold` and `predicted` are type → [role, argument] pairs."""
    parsed, predicted = facts.parsed, facts.predicted
    record: ComparedSample = {
        "id": facts.sample.gold.id,
        "parse": None if parsed is None else _parse_record(parsed),
        "gold": {event_type: [*pairs] for event_type, pairs in facts.sample.gold.events.units.items()},
        "predicted": {event_type: [*pairs] for event_type, pairs in predicted.units.items()},
        "relaxed_pairs": [{"predicted": ours, "gold": theirs} for ours, theirs in facts.comparison.pairs],
        "errors": [
            {"error": mistake, "side": "predicted" if is_predicted else "gold", "unit": unit, "paired_with": partner}
            for mistake, unit, is_predicted, partner in facts.mistakes
        ],
        "violations": [{"violation": violation, "path": path} for violation, path in predicted.violations],
        "hallucination": None
        if facts.text is None
        else {
            "checked": facts.checked,
            "unsupported": [(*value.unit[:2], value.text) for value in facts.unsupported],
        },
        "cot": facts.thought,
    }
    if sum(predicted.violation_counts.values()) > len(predicted.violations):
        record["violation_counts"] = {name.value: count for name, count in sorted(predicted.violation_counts.items())}
    if predicted.excess is not None:
        record["beyond_limits"] = {"values": predicted.excess.values, "event_types": predicted.excess.types}
    return record


def _parse_record(parsed: Parsed) -> ParseRecord:
    return {
        "status": parsed.status,
        "method": parsed.method,
        "repairs": [*parsed.repairs],
        "thought": parsed.thought_state,
        "start": parsed.start,
        "end": parsed.end,
        "left_out": [
            {"start": start, "end": end, "reason": reason} for start, end, reason in parsed.left_out[:MAX_LISTED]
        ],
    }


def sample_findings(facts: Facts) -> Iterator[Finding]:
    """The findings of a sample, at most one."""
    violations, identity = facts.predicted.violations, facts.sample.gold.id
    yield from answer_findings(facts.parsed, identity)
    if violations and violations[0].violation == Violation.NOT_AN_EVENT_LIST:
        yield answer_finding("not_an_event_list", identity, "the answer is JSON, but not a list of events")


def error_weight(facts: Facts) -> int:
    """The weight of `sample_summary`, without the record."""
    parsed, violations = facts.parsed, facts.predicted.violations
    weight = len(facts.mistakes) + facts.predicted.beyond
    if parsed is None or parsed.status == Status.ERROR:
        weight += 1
        violations = [each for each in violations if each.violation != Violation.NOT_PARSED]  # it says the same
    if violations:
        weight += 1
    if facts.unsupported:
        weight += 1
    gold, predicted = facts.sample.gold.events.units, facts.predicted.units
    return weight + count_bare_types(gold, predicted) + count_bare_types(predicted, gold)


def count_bare_types(units: Mapping[str, Collection[RoleArgument]], others: Mapping[str, object]) -> int:
    """Event types without arguments that the other side lacks: no error names them."""
    return 0 if units.keys() == others.keys() else sum(not units[name] for name in units.keys() - others.keys())


class Scorer:
    """Scores samples under one protocol and event schema. It holds no sample and no sum."""

    def __init__(self, settings: ExtractionSettings, schema: EventSchema | None) -> None:
        _require_schema(settings, schema)
        self.settings = settings
        self.schema = schema
        self.measures = extraction_measures(settings)
        self.form = form_of(settings.response)
        self._tags = settings.response.thought_tags
        self._roles = schema.roles if schema is not None and settings.schema.mode == "schema_strict" else None
        self._relaxed = RelaxedRule(settings.relaxed)
        self._support = support_rule(settings.hallucination)
        self._thoughts = ThoughtChecker(settings, schema) if settings.cot.enabled and schema is not None else None

    def score(self, response: ResponseInput, gold: Gold | Mapping[str, Any]) -> Score:
        """Score one answer: raw text, chat messages, decoded JSON, a prediction record with one of these as its
        `response`, or None for no answer.

        Text and decoded JSON are in our own form or in the one that the protocol declares. Of chat messages the last
        one of the assistant counts. A gold record may be in any dialect that files may have; one that is scored against
        again and again can be parsed once, with `parse_gold`.
        """
        if not isinstance(gold, Gold):
            dialect = recognize_dialect(gold)
            ours = gold if dialect is None else choose_reading(dialect, [(0, gold)]).dialect.convert(gold)
            gold = parse_gold(ours, schema=self.schema)
        return Score(self, self.facts(make_sample(response, gold)))

    def score_many(self, responses: Iterable[ResponseInput], golds: Iterable[Gold | Mapping[str, Any]]) -> list[Score]:
        """Score answers beside their gold records, one for one; an error says which of them it is about."""
        return score_pairs(self.score, responses, golds)

    def __reduce__(self) -> tuple[object, ...]:
        return (Scorer, (self.settings, self.schema))  # the rest is made of these

    def __repr__(self) -> str:
        types = "no event schema" if self.schema is None else f"{len(self.schema.event_types)} event types"
        return f"<Scorer: metrics {self.settings.version}, {types}>"

    def facts(self, sample: Sample) -> Facts:
        """Everything that can be said of a sample."""
        return self.facts_of([sample])[0]

    def facts_of(self, samples: Sequence[Sample]) -> list[Facts]:
        """The facts of several samples, step by step for all of them, which is faster than one by one."""
        facts_list = self.compare_samples(samples)
        for facts in facts_list:
            absent: Collection[Unit] = ()
            predicted, gold = facts.predicted, facts.sample.gold
            if gold.text:
                facts.text = Haystack(gold.text, self.settings.blanks)
                checked, facts.unsupported, absent, unsearched = self._support(predicted, gold.events, facts.text)
                facts.checked = checked + predicted.beyond
                if unsearched:
                    predicted.add_violation(Violation.TOO_MANY, unsearched)
            if facts.comparison.false_positives or facts.comparison.false_negatives:
                facts.mistakes = name_mistakes(facts.comparison, absent, predicted, gold.events, self._relaxed)
        if self._thoughts is not None:
            for facts in facts_list:
                facts.thought = self._thoughts.check(facts)
        return facts_list

    def compare_samples(self, samples: Sequence[Sample]) -> list[Facts]:
        """Samples read and compared with gold: all that precision, recall, F1 and schema compliance need."""
        parsed = [self._parse(sample) for sample in samples]
        predicted = [self._events(*answer) for answer in zip(samples, parsed, strict=True)]
        if self.settings.blanks == "keep":
            samples = [replace(sample, gold=self.normalized(sample.gold)) for sample in samples]
            limits = [self._limits(sample.gold) for sample in samples]
            predicted = [*map(keep_blanks, predicted, limits)]
        compared = [
            match_units(events, sample.gold.events, self._relaxed)
            for sample, events in zip(samples, predicted, strict=True)
        ]
        return [Facts(*parts) for parts in zip(samples, parsed, predicted, compared, strict=True)]

    def normalized(self, gold: Gold) -> Gold:
        """A gold record, whose values have no blanks when it is read, with those that the protocol keeps."""
        return replace(gold, events=keep_blanks(gold.events)) if self.settings.blanks == "keep" else gold

    def tally(self) -> Tally:
        """A tally without a sample."""
        return Tally(table_forms(self.measures))

    def add(self, facts: Facts, tally: Tally) -> UnitCounts:
        """Add a sample's counts to a tally, in place."""
        unit = count_unit(self.measures, facts, tally)
        tally.add(unit, facts.sample.gold.group)
        tally.add_fingerprint(text_fingerprint(facts))
        return unit

    def metrics(self, tally: Tally) -> Metrics:
        """All metrics of a tally, by name."""
        return all_metrics(self.measures, tally)

    def _parse(self, sample: Sample) -> Parsed | None:
        """The answer; None where there is none."""
        if sample.response is not None:
            parsed = parse_response(sample.response, self._tags, self.form)
            return parsed.after_thought(sample.thought) if sample.thought else parsed
        return None if sample.events is None else Parsed(Status.RAW, Method.STRUCTURED, sample.events)

    def _limits(self, gold: Gold) -> Limits:
        return Limits(gold.events.units, {} if self.schema is None else self.schema.roles)

    def _first_limits(self, gold: Gold) -> Limits | None:
        """The limits that apply while an answer is read; those of values with blanks apply once these are kept."""
        return self._limits(gold) if self.settings.blanks == "remove" else None

    def _events(self, sample: Sample, parsed: Parsed | None) -> Events:
        """The events of an answer; what is no event list has no events and a violation."""
        if parsed is None or parsed.status == Status.ERROR:
            return empty_events(Violation.NOT_PARSED)
        if Step.SAID_NONE in parsed.repairs:
            return empty_events(Violation.SAID_NONE)
        if not self.form.unchanged:
            return self._read_form(sample, parsed)
        events = event_list(parsed.value) if sample.key is None else EventList(sample.events, f"$.{sample.key}[*]")
        if events is None:
            return empty_events(Violation.NOT_AN_EVENT_LIST)
        limits = self._first_limits(sample.gold)
        if sample.response is not None:
            return read_events(events, parsed.source, self._roles, limits=limits)
        return read_events(events, sample.source, self._roles, partial(_stored_answer, sample), limits)

    def _read_form(self, sample: Sample, parsed: Parsed) -> Events:
        """The events of an answer in another form than our own; paths are those of what the model wrote."""
        event_types, form = tuple(sample.gold.events.units), self.form
        is_list = sample.response is None and isinstance(sample.events, list)

        def to_canonical(value: Any) -> Any:
            if sample.response is None:
                value = _stored_answer(sample, value)
                if isinstance(value, list):
                    value = form.as_answer(value, sample.key)
            return None if value is None else form.to_canonical(value, event_types)

        written = form.as_answer(sample.events, sample.key) if is_list else parsed.value
        event_items = event_list(form.to_canonical(written, event_types))
        if event_items is None:
            return empty_events(Violation.NOT_AN_EVENT_LIST)
        source = parsed.source if sample.response is not None else sample.source
        events = read_events(event_items, source, self._roles, to_canonical, self._first_limits(sample.gold))
        root = "$"
        if is_list and sample.events and written is sample.events[0]:
            root = "$[0]" if sample.key is None else f"$.{sample.key}[0]"
        paths = form.paths_in(written, [path for _, path in events.violations])
        events.violations = [
            ViolationPlace(each.violation, root + path[1:]) for each, path in zip(events.violations, paths, strict=True)
        ]
        return events


def _stored_answer(sample: Sample, record: Any) -> Any:
    """The decoded answer of a prediction record; None where it is not in the field that it usually is in."""
    return record.get(sample.key or "response") if isinstance(record, Mapping) else None


@dataclass(slots=True, repr=False)
class Score:
    """What one answer came to. `score["strict_f1"]` is a value, None where it is undefined."""

    scorer: Scorer
    facts: Facts
    _metrics: Metrics | None = field(default=None, init=False)

    @property
    def tally(self) -> Tally:
        """The counts of this sample alone; tallies add up."""
        tally = self.scorer.tally()
        self.scorer.add(self.facts, tally)
        return tally

    @property
    def metrics(self) -> Metrics:
        if self._metrics is None:
            self._metrics = self.scorer.metrics(self.tally)
        return self._metrics

    @property
    def record(self) -> dict[str, Any]:
        """The sample's record, as in samples.jsonl."""
        unit = count_unit(self.scorer.measures, self.facts, Tally())
        return whole_record(sample_record(self.facts), unit, self.facts.sample.gold.group)

    def __getitem__(self, metric: str) -> float | None:
        return self.metrics[metric].value

    def __repr__(self) -> str:
        parsed, sample = self.facts.parsed, self.facts.sample
        scores = ", ".join(f"{name} {value}" for name, value in self._main_metrics())
        which = f" of {sample.gold.id}" if sample.gold.id else ""
        return f"<Score{which}: {scores}, {'no answer' if parsed is None else f'parse {parsed.status}'}>"

    def _repr_html_(self) -> str:
        """The sample's page, for notebooks: its errors, source text and answer, marked."""
        from goldgate.report.html import render_unit
        from goldgate.suites.extraction.explain import view_score
        from goldgate.suites.extraction.sample_page import page_of_view

        return render_unit(page_of_view(view_score(self)), self._main_metrics())

    def _main_metrics(self) -> list[tuple[str, str]]:
        return [(name, str(self.metrics[name])) for name in ("strict_f1", "relaxed_f1", "type_f1")]


def needs_schema(settings: ExtractionSettings) -> str | None:
    """The setting that needs an event schema, if one does."""
    if settings.schema.mode == "schema_strict":
        return as_yaml("metrics.schema.mode", "schema_strict")
    return as_yaml("metrics.cot.enabled", "true") if settings.cot.enabled else None


def _require_schema(settings: ExtractionSettings, schema: EventSchema | None) -> None:
    if schema is None and (setting := needs_schema(settings)) is not None:
        raise ConfigError(
            "schema.required",
            f"{setting} needs an event schema, and one answer at a time has no gold to derive it from",
            expected="an event schema",
            advice=f"derive one (goldgate schema --from GOLD --out schema.json), {NO_SCHEMA_SETTINGS}",
        )
