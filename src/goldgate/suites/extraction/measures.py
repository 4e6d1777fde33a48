"""The measures of the extraction suite: matching, schema compliance, hallucination, errors, and hints at settings.

Those of thoughts are in `chain_of_thought`, those of papers in `papers`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, cast

from goldgate.core.measure import (
    NO_TOTALS,
    UNITS_COLUMN,
    BlanksOnly,
    ColumnRatio,
    RatioMeasure,
    TotalsOnly,
    count_names,
    over,
    precision_recall_f1,
)
from goldgate.core.metric import Count, Metrics
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally, UnitCounts
from goldgate.core.value_text import Haystack, contained_values, first_values, normalize_with_blanks
from goldgate.response import Step
from goldgate.response.reading_report import ParseRates
from goldgate.suites.extraction.chain_of_thought import ThoughtRates
from goldgate.suites.extraction.events import Events, RoleArgument, Span, Unit, Value, Violation
from goldgate.suites.extraction.events.answer_form import find_said_none
from goldgate.suites.extraction.events.limits import MAX_SEARCHED
from goldgate.suites.extraction.events.match import COLUMNS, Mistake, unpack_counts
from goldgate.suites.extraction.hints import HintCounts
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.relaxed_chance import RelaxedChance
from goldgate.suites.extraction.settings import ExtractionSettings, HallucinationSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import Confusions


def extraction_measures(settings: ExtractionSettings) -> list[Measure[Facts]]:
    """Every measure under these settings."""
    added: list[Measure[Facts]] = []
    if settings.profile is not None:
        from goldgate.suites.extraction.papers import profile_measures  # most protocols set none

        added = profile_measures(settings)
    return [
        MatchRates(),
        TypeRates(),
        WholeEventRates(),
        ParseRates(),
        SaidNone(),
        SchemaCompliance(),
        Hallucination(),
        MatchedLengths(),
        RelaxedChance(settings.relaxed),
        ErrorCounts(),
        HintCounts(settings.response),
        *([ExtractionBlanksOnly()] if settings.blanks == "remove" else []),
        ThoughtRates(settings.cot),
        *added,
    ]


TABLE = "matching"


class MatchRates(RatioMeasure[Facts]):
    """Strict: TP = |P ∩ G| over sets of units with normalized arguments, summed over samples.
    Relaxed: TP = size of the largest matching within each (event type, role) under the protocol's rule.

    Every event type, and every role of it, has a table of its own: the breakdown reads them.
    """

    table = TABLE
    columns = COLUMNS
    parts = {"event type": "macro", "role": "macro_roles"}
    ratios = {**precision_recall_f1("strict_", "strict"), **precision_recall_f1("relaxed_", "relaxed")}

    def row(self, facts: Facts) -> Counts:
        return unpack_counts(sum([sum(by_role.values()) for by_role in facts.comparison.counts.values()]))

    def count(self, facts: Facts) -> UnitCounts:
        unit: UnitCounts = {}
        whole = 0
        for event_type, by_role in facts.comparison.counts.items():
            if by_role:
                for role, packed in by_role.items():
                    unit[TABLE, event_type, role] = unpack_counts(packed)
                together = sum(by_role.values())
                unit[TABLE, event_type] = unpack_counts(together)
                whole += together
        unit[self.key] = unpack_counts(whole)
        return unit


class TypeRates(RatioMeasure[Facts]):
    """TP = |types(P) ∩ types(G)|, summed over samples."""

    table = "type"
    columns = ("hits", "predicted", "gold")
    ratios = precision_recall_f1("type_", "hits")

    def row(self, facts: Facts) -> Counts:
        predicted, gold, excess = facts.predicted.units, facts.sample.gold.events.units, facts.predicted.excess
        types = len(predicted) if excess is None else len(predicted) + excess.types
        return len(predicted.keys() & gold.keys()), types, len(gold)


class WholeEventRates(RatioMeasure[Facts]):
    """TP = |P ∩ G| over sets of events with at least one unit, summed over samples.

    An event is its type and the set of its (role, normalized argument). An answer that goes beyond a limit has none
    that is right, for what was cut off it may have been wrong; each value beyond counts as an event.
    """

    section = "companions"
    table = "event"
    columns = ("hits", "predicted", "gold")
    ratios = precision_recall_f1("event_", "hits")

    def row(self, facts: Facts) -> Counts:
        predicted, gold = facts.predicted, facts.sample.gold.events
        ours, theirs = _whole_events(predicted), _whole_events(gold)
        if predicted.excess is not None:
            return 0, len(ours) + predicted.beyond, len(theirs)
        return len(ours & theirs), len(ours), len(theirs)


def _whole_events(events: Events) -> set[tuple[str, frozenset[RoleArgument]]]:
    """The events with at least one unit."""
    if len(events.columns) == len(events.units):  # no type has two events
        return {(event_type, frozenset(pairs)) for event_type, pairs in events.units.items() if pairs}
    return {
        (event_type, frozenset(zip(roles, arguments, strict=True)))
        for event_type, roles, _, arguments, _ in events.columns
        if roles
    }


STUB = 3  # times as long is the gold argument that a stub is paired with, or longer

_NO_PAIRS = "no argument was matched"


class MatchedLengths(RatioMeasure[Facts]):
    """Over all pairs of relaxed matching, with p and g the lengths of both normalized arguments:

    relaxed_excess = sum of max(p, g) / sum of g, and relaxed_shortfall = sum of max(0, g - p) / sum of g.
    Neither hides the other: values that are too short do not make up for those that are too long.
    stub_rate = stubs / predicted units, pair by pair: a few values cut to a letter do not change a mean.
    """

    section = "diagnostics"
    table = "length"
    columns = ("excess", "shortfall", "gold", "stubs", "predicted")
    ratios = {
        "relaxed_excess": ColumnRatio({"gold": 1, "excess": 1}, {"gold": 1}, _NO_PAIRS, share=False),
        "relaxed_shortfall": over("shortfall", "gold", _NO_PAIRS),
        "stub_rate": over("stubs", "predicted", "nothing was predicted"),
    }

    def row(self, facts: Facts) -> Counts:
        _, pairs, false_positives, _ = facts.comparison
        # Hits are as long on both sides: all predicted units but the errors and the hits that were paired otherwise.
        arguments = [argument for pairs in facts.predicted.units.values() for _, argument in pairs]
        length = len("".join(arguments))
        length -= len("".join([argument for _, _, argument in false_positives]))
        excess = shortfall = 0
        extra = {*false_positives}
        # Next to nothing is left of a stub: one character that is no digit, or a small part of what it is paired with.
        stubs = {unit for unit in extra if len(unit[2]) == 1 and not unit[2].isdigit()}
        for unit, partner in pairs:
            predicted, gold = len(unit[2]), len(partner[2])
            if predicted > gold:
                excess += predicted - gold
            else:
                shortfall += gold - predicted
            if unit not in extra:
                length -= predicted
            elif STUB * predicted <= gold:
                stubs.add(unit)
            length += gold
        return excess, shortfall, length, len(stubs), len(arguments) + facts.predicted.beyond


MAX_PAIRS = 200  # confusions of each kind in a report; a model can invent any number of types

_CONFUSION_PREFIX = "confused."
_CONFUSION_KEYS = {"event_types": ("gold", "predicted"), "roles": ("event_type", "gold", "predicted")}


def confusion_name(mistake: Mistake, predicted: Unit, gold: Unit) -> str | None:
    """The name under which a tally counts the pair; None for errors that confuse no names."""
    if mistake == Mistake.WRONG_TYPE:
        return _count_name(gold[0], predicted[0])
    if mistake == Mistake.WRONG_ROLE:
        return _count_name(gold[0], gold[1], predicted[1])
    return None


@lru_cache(maxsize=4096)  # the same few names are confused again and again
def _count_name(*names: str) -> str:
    return _CONFUSION_PREFIX + json.dumps(names)


def confused_bare_types(
    gold: Mapping[str, Collection[object]], predicted: Mapping[str, Collection[object]]
) -> tuple[str, str] | None:
    """Two event types without arguments, which no error names: one is missing, and one is there instead."""
    missing = [name for name, pairs in gold.items() if not pairs and name not in predicted]
    extra = [name for name, pairs in predicted.items() if not pairs and name not in gold]
    return (missing[0], extra[0]) if len(missing) == len(extra) == 1 else None


def confusions(tally: Tally) -> Confusions:
    """The pairs of each kind, the most frequent first, then by name; and how many are left out."""
    counted = [*_confusion_counts(tally.counts)]
    kinds = {}
    for kind, keys in _CONFUSION_KEYS.items():
        pairs = sorted((-count, names) for names, count in counted if len(names) == len(keys))
        rest = pairs[MAX_PAIRS:]
        kinds[kind] = {
            "pairs": [{**dict(zip(keys, names, strict=True)), "count": -count} for count, names in pairs[:MAX_PAIRS]],
            "left_out": {"pairs": len(rest), "count": -sum(count for count, _ in rest)},
        }
    return cast("Confusions", kinds)


def _confusion_counts(counts: Mapping[str, int]) -> Iterator[tuple[list[str], int]]:
    for name, count in counts.items():
        if name.startswith(_CONFUSION_PREFIX) and count:
            yield json.loads(name.removeprefix(_CONFUSION_PREFIX)), count


# On the gold's side and on the answer's.
_ERROR_NAMES = tuple({mistake: f"mistake.{mistake}.{side}" for mistake in Mistake} for side in ("gold", "predicted"))


class ExtractionBlanksOnly(BlanksOnly[Facts]):
    """Strict hits of which no spelling in the answer has the blanks of one in gold."""

    def hits(self, facts: Facts) -> Iterator[tuple[str, str]]:
        gold = _spellings(facts.sample.gold.events)
        for unit, texts in _spellings(facts.predicted).items():
            others = gold.get(unit)
            if (
                others is not None
                and texts.isdisjoint(others)
                and {*map(normalize_with_blanks, texts)}.isdisjoint(map(normalize_with_blanks, others))
            ):
                yield min(texts), min(others)


def _spellings(events: Events) -> dict[Unit, set[str]]:
    """The texts of each unit, as they were written."""
    spellings: dict[Unit, set[str]] = {}
    for event_type, roles, texts, arguments, _ in events.columns:
        for role, text, argument in zip(roles, texts, arguments, strict=True):
            spellings.setdefault((event_type, role, argument), set()).add(text)
    return spellings


class ErrorCounts(TotalsOnly[Facts]):
    """The report's `errors` and `confusions`."""

    def totals(self, facts: Facts) -> Mapping[str, int]:
        gold, answer = facts.sample.gold.events.units, facts.predicted.units
        beyond = facts.predicted.beyond
        if not facts.mistakes and not beyond and gold.keys() == answer.keys():
            return NO_TOTALS
        names: list[str | None] = []
        types: set[str | None] = set()  # once a sample: all arguments of an event have its type
        for mistake, unit, predicted, partner in facts.mistakes:
            names.append(_ERROR_NAMES[predicted][mistake])
            if predicted and partner is not None:  # the other side of the pair is the same confusion
                name = confusion_name(mistake, unit, partner)
                types.add(name) if mistake == Mistake.WRONG_TYPE else names.append(name)
        if gold.keys() != answer.keys() and (bare_types := confused_bare_types(gold, answer)):
            types.add(_count_name(*bare_types))
        totals = count_names([*names, *types])
        if beyond:
            spurious = _ERROR_NAMES[True][Mistake.SPURIOUS]
            totals[spurious] = totals.get(spurious, 0) + beyond
        return totals


HALLUCINATION_VERSION = 4  # in the signature; until 3, one value at several offsets was several values


class Hallucination(RatioMeasure[Facts]):
    """Unsupported / checked values, and samples with at least one / samples that have a source text.

    A value is checked once, however often and in how many spellings it is written: same event type, role, normalized
    text, and under `exact_span` offsets. It is unsupported if one of its spellings is.
    """

    table = "hallucination"
    columns = ("hallucinating", "checked", "unsupported", "values", "unchecked", UNITS_COLUMN)
    ratios = {
        "hallucination_rate": over("hallucinating", "checked", "no sample has a source text"),
        "hallucination_entity_rate": over("unsupported", "values", "no predicted value could be checked"),
    }
    counted = {"hallucination_unchecked": "unchecked"}

    def row(self, facts: Facts) -> Counts:
        if facts.text is None:
            return 0, 0, 0, 0, 1, 1
        unsupported = len(facts.unsupported) + facts.predicted.beyond
        return int(unsupported > 0), 1, unsupported, facts.checked, 0, 1

    def totals(self, facts: Facts) -> Mapping[str, int]:
        gold, missed = facts.sample.gold.events.units, facts.comparison.false_negatives
        if facts.text is None:
            return {"gold_without_text": sum(map(len, gold.values()))} if gold else NO_TOTALS
        totals = {"hallucination_units": sum(map(len, facts.predicted.units.values())) + facts.predicted.beyond}
        if facts.unsupported or missed:  # of all other gold it is known that the text has it
            unsure = {unit[2] for unit in (*missed, *(value.unit for value in facts.unsupported))}
            unsure -= contained_values(unsure, facts.text.normalized)
            if unsure:
                totals["gold_not_in_text"] = sum(pair[1] in unsure for pairs in gold.values() for pair in pairs)
        return totals


class Support(NamedTuple):
    """What a text says about the values of an answer."""

    checked: int  # distinct values
    unsupported: list[Value]  # of each distinct value that has one, the first spelling that is not in the text
    units: Collection[Unit]  # those of which no value is in the text
    unsearched: int = 0  # texts of values that are unsupported because they are beyond the limit


SupportRule = Callable[[Events, Events, Haystack], Support]


def support_rule(settings: HallucinationSettings) -> SupportRule:
    """Which values of an answer, of which the gold is also given, are supported by the text as the protocol sets it."""
    return normalized_support if settings.match_mode == "normalized_substring" else exact_support


def normalized_support(events: Events, gold: Events, text: Haystack) -> Support:
    """Supported are the units that are in the text once both are normalized."""
    units = sum(map(len, events.units.values()))
    arguments = {argument for columns in events.columns for argument in columns[3]}
    searched = arguments if len(arguments) <= MAX_SEARCHED else _searched([*events.values()], gold, normalized=True)
    present = contained_values(searched, text.normalized)
    if len(present) == len(arguments):
        return Support(units, [], ())
    first: dict[Unit, Value] = {}
    for value in events.values(without=present):
        first.setdefault(value.unit, value)
    absent = [unit for unit in first if unit[2] in searched]
    return Support(units, [*first.values()], absent, len(arguments) - len(searched))


def exact_support(events: Events, gold: Events, text: Haystack) -> Support:
    """Supported are the units, with their offsets if they carry any, of which every spelling is in the text there,
    letter for letter. Offsets that are not a span of the text support nothing."""
    spellings, whole = dict.fromkeys(events.values()), text.text
    texts = {value.text for value in spellings if value.span is None}
    searched = texts if len(texts) <= MAX_SEARCHED else _searched(spellings, gold, normalized=False)
    present = contained_values(searched, whole)
    worst: dict[tuple[Unit, Span | None], Value | None] = {}
    for value in spellings:
        place = value.unit, value.span
        if worst.get(place) is None:
            supported = value.text in present if value.span is None else _stands_at(value.text, value.span, whole)
            worst[place] = None if supported else value
    unsupported = [value for value in worst.values() if value is not None]
    unsearched = texts - searched
    others = {unit for (unit, _), value in worst.items() if value is None or value.text in unsearched}
    return Support(len(worst), unsupported, {value.unit for value in unsupported} - others, len(unsearched))


def _searched(values: Iterable[Value], gold: Events, *, normalized: bool) -> set[str]:
    """The texts that are searched where there are too many: those of values that gold has, and the first of the
    others."""
    texts: dict[str, bool] = {}  # text → whether gold has the unit
    for (event_type, *pair), text, span in values:
        if normalized or span is None:
            name = pair[1] if normalized else text
            texts[name] = texts.get(name, False) or (*pair,) in gold.units.get(event_type, ())
    return first_values({*texts}, {name for name, is_hit in texts.items() if is_hit}, MAX_SEARCHED)


def _stands_at(value: str, span: Span, text: str) -> bool:
    start, end = span
    return end <= len(text) and text[start:end] == value


_SAMPLES = {violation: f"violation_samples.{violation}" for violation in Violation}
_OCCURRENCES = {violation: f"violation.{violation}" for violation in Violation}


class SaidNone(TotalsOnly[Facts]):
    """Answers that say in words that there is nothing: parse errors, unless the protocol reads them as empty lists."""

    def totals(self, facts: Facts) -> Mapping[str, int]:
        parsed = facts.parsed
        if parsed is None or not (Step.SAID_NONE in parsed.repairs or find_said_none(parsed)):
            return NO_TOTALS
        return {"said_none": 1}

    def metrics(self, tally: Tally) -> Metrics:
        return {"said_none": Count(tally.counts["said_none"])}


class SchemaCompliance(RatioMeasure[Facts]):
    """Samples without a violation / all samples. What did not parse fails; an empty list passes."""

    table = "schema"
    columns = ("compliant", UNITS_COLUMN)
    ratios = {"schema_compliance_rate": over("compliant", UNITS_COLUMN, "there are no samples")}

    def row(self, facts: Facts) -> Counts:
        return int(not facts.predicted.violations), 1

    def totals(self, facts: Facts) -> Mapping[str, int]:
        totals: dict[str, int] = {}
        for violation, count in facts.predicted.violation_counts.items():
            totals[_SAMPLES[violation]] = 1
            totals[_OCCURRENCES[violation]] = count
        return totals
