"""How answers were read: parse rates, schema compliance, and hints at settings that would read more of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import orjson

from goldgate.core.measure import NO_TOTALS, UNITS_COLUMN, RatioMeasure, count_names, over
from goldgate.core.metric import Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally, UnitCounts
from goldgate.core.value_text import normalize
from goldgate.errors import as_yaml
from goldgate.response import Status
from goldgate.suites.extraction.events.answer_form import Form, form_of, is_plain_value
from goldgate.suites.extraction.events.event import Violation, ViolationPlace
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ResponseSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import Hint

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
    if any(name.startswith("hint.null_words.") for name in names):
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


class HintCounts:
    """It has no metrics of its own; the report's `hints` and the shapes of the gold are made of its counts."""

    section = "main"

    def __init__(self, settings: ResponseSettings) -> None:
        self.form = form_of(settings)

    def count(self, facts: Facts) -> UnitCounts:
        return {}

    def totals(self, facts: Facts) -> Mapping[str, int]:
        names, shapes = answer_hints(facts, self.form), facts.sample.gold.shapes
        return count_names([*names, *[f"gold_shape.{shape}" for shape in shapes]]) if names or shapes else NO_TOTALS

    def metrics(self, tally: Tally) -> Metrics:
        return {}
