"""The measures of the extraction suite: matching, schema compliance, hallucination, errors, and hints at settings.

Those of thoughts are in `chain_of_thought`, those of papers in `papers`.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

import orjson

from goldgate.core.measure import (
    NO_TOTALS,
    UNITS_COLUMN,
    ColumnRatio,
    RatioMeasure,
    count_names,
    over,
    precision_recall_f1,
)
from goldgate.core.metric import Metrics
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally, UnitCounts
from goldgate.core.value_text import Haystack, contained_values, normalize
from goldgate.errors import as_yaml
from goldgate.response import Status
from goldgate.response.reading_report import ParseRates
from goldgate.suites.extraction.chain_of_thought import ThoughtRates
from goldgate.suites.extraction.events import Events, Span, Unit, Value, Violation, ViolationPlace
from goldgate.suites.extraction.events.answer_form import Form, form_of, is_plain_value
from goldgate.suites.extraction.events.match import COLUMNS, Mistake, unpack_counts
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.settings import ExtractionSettings, HallucinationSettings, ResponseSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import Confusions, Hint


def extraction_measures(settings: ExtractionSettings) -> list[Measure[Facts]]:
    """Every measure under these settings."""
    added: list[Measure[Facts]] = []
    if settings.profile is not None:
        from goldgate.suites.extraction.papers import profile_measures  # most protocols set none

        added = profile_measures(settings)
    return [
        MatchRates(),
        TypeRates(),
        ParseRates(),
        SchemaCompliance(),
        Hallucination(),
        MatchedLengths(),
        ErrorCounts(),
        HintCounts(settings.response),
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
    fixed = frozenset({"gold"})
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
    fixed = frozenset({"gold"})
    ratios = precision_recall_f1("type_", "hits")

    def row(self, facts: Facts) -> Counts:
        predicted, gold = facts.predicted.units, facts.sample.gold.events.units
        return len(predicted.keys() & gold.keys()), len(predicted), len(gold)


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
        return excess, shortfall, length, len(stubs), len(arguments)


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


class _TotalsOnly(ABC):
    """A measure without metrics, whose counts make other parts of the report."""

    section = "main"

    @abstractmethod
    def totals(self, facts: Facts) -> Mapping[str, int]: ...

    def count(self, facts: Facts) -> UnitCounts:
        return {}

    def metrics(self, tally: Tally) -> Metrics:
        return {}


class ErrorCounts(_TotalsOnly):
    """The report's `errors` and `confusions`."""

    def totals(self, facts: Facts) -> Mapping[str, int]:
        gold, answer = facts.sample.gold.events.units, facts.predicted.units
        if not facts.mistakes and gold.keys() == answer.keys():
            return NO_TOTALS
        names: list[str | None] = []
        for mistake, unit, predicted, partner in facts.mistakes:
            names.append(_ERROR_NAMES[predicted][mistake])
            if predicted and partner is not None:  # the other side of the pair is the same confusion
                names.append(confusion_name(mistake, unit, partner))
        if gold.keys() != answer.keys() and (bare_types := confused_bare_types(gold, answer)):
            names.append(_count_name(*bare_types))
        return count_names(names)


Unsupported = Callable[[Events, Haystack], list[Value]]

HALLUCINATION_VERSION = 3  # in the signature; 1 counted a value as often as it was written, 2 each spelling of it


class Hallucination(RatioMeasure[Facts]):
    """Unsupported / checked values, and samples with at least one / samples that have a source text.

    A value is checked once, however often and in how many spellings it is written: same event type, role, normalized
    text, offsets. It is unsupported if one of its spellings is.
    """

    table = "hallucination"
    columns = ("hallucinating", "checked", "unsupported", "values", "unchecked", UNITS_COLUMN)
    at_most_one = frozenset({"hallucinating", "checked", "unchecked", UNITS_COLUMN})
    ratios = {
        "hallucination_rate": over("hallucinating", "checked", "no sample has a source text"),
        "hallucination_entity_rate": over("unsupported", "values", "no predicted value could be checked"),
    }
    counted = {"hallucination_unchecked": "unchecked"}

    def row(self, facts: Facts) -> Counts:
        if facts.text is None:
            return 0, 0, 0, 0, 1, 1
        return int(bool(facts.unsupported)), 1, len(facts.unsupported), facts.checked, 0, 1

    def totals(self, facts: Facts) -> Mapping[str, int]:
        if facts.text is None:
            return NO_TOTALS
        return {"hallucination_units": sum(map(len, facts.predicted.units.values()))}


def distinct_values(values: Iterable[Value]) -> list[Value]:
    """The first spelling of each value: of those with the same unit and offsets."""
    distinct: dict[tuple[Unit, Span | None], Value] = {}
    for value in values:
        distinct.setdefault((value.unit, value.span), value)
    return [*distinct.values()]


def count_distinct(events: Events) -> int:
    """The number of distinct values."""
    count = fast_count_distinct(events)
    return len(distinct_values(events.values())) if count is None else count


def fast_count_distinct(events: Events) -> int | None:
    """The number of values if there are as many units; None if not."""
    values = sum([len(columns[2]) for columns in events.columns])
    return values if values == sum(map(len, events.units.values())) else None


def support_rule(settings: HallucinationSettings) -> Unsupported:
    """Which of a sample's values are not supported by its text, as the protocol sets it."""
    return unsupported_normalized if settings.match_mode == "normalized_substring" else unsupported_exactly


def unsupported_normalized(events: Events, text: Haystack) -> list[Value]:
    """The values that are not in the text once both are normalized."""
    arguments = {argument for columns in events.columns for argument in columns[3]}
    present = contained_values(arguments, text.normalized)
    if len(present) == len(arguments):
        return []
    return distinct_values(events.values(without=present))


def unsupported_exactly(events: Events, text: Haystack) -> list[Value]:
    """The values with a spelling that is not in the text letter for letter, at its offsets if it carries any."""
    spellings, whole = dict.fromkeys(events.values()), text.text
    present = contained_values({value.text for value in spellings if value.span is None}, whole)
    return distinct_values(
        value
        for value in spellings
        if (value.text not in present if value.span is None else whole[slice(*value.span)] != value.text)
    )


_SAMPLES = {violation: f"violation_samples.{violation}" for violation in Violation}
_OCCURRENCES = {violation: f"violation.{violation}" for violation in Violation}


class SchemaCompliance(RatioMeasure[Facts]):
    """Samples without a violation / all samples. What did not parse fails; an empty list passes."""

    table = "schema"
    columns = ("compliant", UNITS_COLUMN)
    at_most_one = frozenset(columns)
    ratios = {"schema_compliance_rate": over("compliant", UNITS_COLUMN, "there are no samples")}

    def row(self, facts: Facts) -> Counts:
        return int(not facts.predicted.violations), 1

    def totals(self, facts: Facts) -> Mapping[str, int]:
        violations = facts.predicted.violations
        if not violations:
            return NO_TOTALS
        occurrences = [place.violation for place in violations]
        samples = (_SAMPLES[each] for each in {*occurrences})
        return count_names([*samples, *(_OCCURRENCES[each] for each in occurrences)])


HINT_SHARE = Fraction(1, 10)  # of the answers: what fewer have is a slip of the model, not a form

# Keys that models write for ours. What is not here is not hinted at, and can be declared all the same.
OTHER_KEYS = {
    "event_type": ("type", "event", "eventType", "event_name", "事件类型"),
    "arguments": ("args", "argument", "roles", "participants", "论元"),
    "role": ("type", "name", "role_name", "argument_role", "角色"),
    "argument": ("text", "value", "span", "content", "mention", "论元"),
}
NULL_WORDS = ("null", "none", "n/a", "nil", "无", "not mentioned", "not specified", "未提及")
_NULL_WORDS = {normalize(word): word for word in NULL_WORDS}
_VALUE_VIOLATIONS = frozenset(
    {Violation.VALUE_NULL, Violation.VALUE_NUMBER, Violation.UNKNOWN_ROLE, Violation.UNKNOWN_EVENT_TYPE}
)
_FITTING: dict[str, tuple[type, ...]] = {
    "event_type": (str,),
    "arguments": (list, dict),
    "role": (str,),
    "argument": (str, int, float, list),
}


def answer_hints(facts: Facts, form: Form) -> set[str]:
    """The hints that an answer speaks for. An answer as it should be costs next to nothing."""
    parsed = facts.parsed
    names: set[str] = set()
    if parsed is None or parsed.status == Status.ERROR:
        return names
    for _, _, argument in facts.comparison.false_positives:  # in the gold, such a word is a value like any other
        if argument in _NULL_WORDS:
            names.add(f"hint.null_words.{_NULL_WORDS[argument]}")
    violations = facts.predicted.violations
    if violations and not form.flat and not only_value_violations(violations, form):  # flat goes with no other layout
        names.update(hint_names(parsed.value, form))
    if names and any(name.startswith("hint.null_words.") for name in names):
        names.add("hint.null_words")
    return names


def only_value_violations(violations: Sequence[ViolationPlace], form: Form) -> bool:
    """Whether every violation is of a value or a name in an event that has our own layout: no hint comes from such."""
    return form.unchanged and _VALUE_VIOLATIONS.issuperset([entry.violation for entry in violations])


def hint_section(tally: Tally, form: Form) -> list[Hint]:
    """The hints that enough answers speak for, in a fixed order."""
    counts = tally.counts
    answers = counts["total_samples"] - counts["missing_predictions"]
    words = [word for word in NULL_WORDS if counts[f"hint.null_words.{word}"]]
    possible = [
        ("hint.flat", "one flat object from roles to values", "flat", "{event_type: {from: gold}}"),
        ("hint.mapping", "arguments as an object", "arguments", "mapping"),
        *(
            (f"hint.keys.{name}.{key}", f"{key} for {name}", f"keys.{name}", _list([*getattr(form.names, name), key]))
            for name, keys in OTHER_KEYS.items()
            for key in keys
        ),
        ("hint.null_words", "a word for null as a value", "null_words", _list([*sorted(form.null_words), *words])),
    ]
    return [
        {"answers": counts[name], "of": answers, "have": what, "setting": as_yaml(f"metrics.response.{key}", value)}
        for name, what, key, value in possible
        if counts[name] and counts[name] >= HINT_SHARE * answers
    ]


def hint_names(value: Any, form: Form) -> Iterator[str]:
    """The names under which an answer with violations is counted."""
    if isinstance(value, dict):
        events_key = form.events_key(value)
        if events_key is not None:
            value = value[events_key]
        elif _key_of_part(value, "event_type", form) and _key_of_part(value, "arguments", form):
            value = [value]
    if isinstance(value, list):
        for event in value:
            if isinstance(event, dict):
                yield from _event_hints(event, form)
    elif isinstance(value, dict) and value and not form.is_event(value) and all(map(is_plain_value, value.values())):
        yield "hint.flat"
        yield from _null_words(value, form)


def _event_hints(event: dict[str, Any], form: Form) -> Iterator[str]:
    yield from _other_key(event, "event_type", form)
    yield from _other_key(event, "arguments", form)
    key = _key_of_part(event, "arguments", form)
    arguments = event[key] if key is not None else None
    if isinstance(arguments, dict):
        if arguments and not form.mapping and all(map(is_plain_value, arguments.values())):
            yield "hint.mapping"
            yield from _null_words(arguments, form)
    elif isinstance(arguments, list) and not form.mapping:
        for argument in arguments:
            if isinstance(argument, dict):
                yield from _other_key(argument, "role", form)
                yield from _other_key(argument, "argument", form)


def _key_of_part(value: dict[str, Any], name: str, form: Form) -> str | None:
    """The key under which an object has what we look for under `name`: one that is read, or else a known other one."""
    declared: tuple[str, ...] = getattr(form.names, name)
    for key in (*declared, *OTHER_KEYS[name]):
        if key in value and isinstance(value[key], _FITTING[name]):
            return key
    return None


def _other_key(value: dict[str, Any], name: str, form: Form) -> Iterator[str]:
    declared: tuple[str, ...] = getattr(form.names, name)
    key = _key_of_part(value, name, form)
    if key is not None and not any(each in value for each in declared):
        yield f"hint.keys.{name}.{key}"


def _null_words(values: dict[str, Any], form: Form) -> Iterator[str]:
    for value in values.values():
        for part in value if isinstance(value, list) else [value]:
            folded = normalize(part) if isinstance(part, str) else ""
            if folded in _NULL_WORDS and folded not in form.null_words:
                yield f"hint.null_words.{_NULL_WORDS[folded]}"


def _list(words: list[str]) -> str:
    return orjson.dumps(words).decode().replace('","', '", "')


class HintCounts(_TotalsOnly):
    """The report's `hints` and the shapes of the gold."""

    def __init__(self, settings: ResponseSettings) -> None:
        self.form = form_of(settings)

    def totals(self, facts: Facts) -> Mapping[str, int]:
        names, shapes = answer_hints(facts, self.form), facts.sample.gold.shapes
        return count_names([*names, *[f"gold_shape.{shape}" for shape in shapes]]) if names or shapes else NO_TOTALS
