"""Hints: answers in another form or spelling than ours, and the setting that would read them. They change no number.

Another form than ours is recognized by the names of gold that it holds: of its event types, roles and values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from goldgate.core.measure import NO_TOTALS, TotalsOnly, count_names
from goldgate.core.tally import Tally
from goldgate.core.value_text import normalize
from goldgate.errors import as_yaml
from goldgate.response import Status
from goldgate.response.strings import lazy_pattern
from goldgate.suites.extraction.events import Events, event_list
from goldgate.suites.extraction.events.answer_form import EVENTS_KEYS, Form, form_of, is_plain_value
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.settings import KeySettings, ResponseSettings

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import Hint

HINT_SHARE = Fraction(1, 10)  # of the answers: what fewer have is a slip of the model, not a form
NULL_WORDS = ("null", "none", "n/a", "nil", "无", "not mentioned", "not specified", "未提及")
_NULL_WORDS = {normalize(word): word for word in NULL_WORDS}
# What a prompt may have held of an answer.
BEGINNINGS = ('[{"event_type": "', '{"event_type": "', '{"events": [{"event_type": "', '[{"', "[{", '{"events": [')
_MOST = 100  # events of an answer, and parts of an event or argument, that are looked at
_LONGEST_NAME = 60  # characters of a key or name in a hint
_MAX_PER_ANSWER = 5  # names in another spelling
_ENDS = lazy_pattern(r"^[\W_]+|[\W_]+$")


def _fold(name: str) -> str:
    """A name without case, blanks and outer marks."""
    return _ENDS.sub("", normalize(name)) if len(name) <= _LONGEST_NAME else ""


def answer_hints(facts: Facts, form: Form) -> set[str]:
    """The hints that an answer speaks for. An answer as it should be costs next to nothing."""
    parsed, predicted, gold = facts.parsed, facts.predicted, facts.sample.gold.events
    hints: set[str] = set()
    if parsed is None:
        return hints
    for _, _, argument in facts.comparison.false_positives:  # in the gold, such a word is a value like any other
        if (word := _NULL_WORDS.get(argument.replace(" ", ""))) is not None:
            hints |= {"hint.null_words", f"hint.null_words.{word}"}
    if facts.comparison.false_positives or predicted.violations or not predicted.units.keys() <= gold.units.keys():
        view = _AnswerView(form, gold)
        for event_type, pairs in predicted.units.items():
            view.compare_spelling("event type", event_type, view.types)
            for role, _ in pairs:
                view.compare_spelling("role", role, view.roles)
        if predicted.violations and parsed.status != Status.ERROR:
            view.read(parsed.value)
        hints |= view.hints.union(sorted(view.spellings)[:_MAX_PER_ANSWER])
    if not predicted.units and facts.sample.response and not form.prefix:
        hints.update(_missing_beginning(facts.sample.response))
    return hints


def _missing_beginning(response: str) -> Iterator[str]:
    """The first beginning with which a response is JSON with events."""
    for beginning in BEGINNINGS:
        try:
            events = event_list(orjson.loads(beginning + response.strip()))
        except orjson.JSONDecodeError:
            continue
        if events is not None and any(isinstance(event, dict) and event.get("event_type") for event in events.items):
            yield f"hint.prefix.{beginning}"
            return


class _AnswerView:
    """Collects the hints that a decoded answer speaks for, beside the gold of its sample."""

    def __init__(self, form: Form, gold: Events) -> None:
        self.form = form
        self.types = {_fold(name): name for name in gold.units if _fold(name)}
        self.roles = {_fold(role): role for pairs in gold.units.values() for role, _ in pairs if _fold(role)}
        self.values = {argument.replace(" ", "") for pairs in gold.units.values() for _, argument in pairs}
        self.hints: set[str] = set()
        self.spellings: set[str] = set()

    def read(self, value: Any) -> None:
        key = None
        if isinstance(value, dict):
            others = (key for key in islice(value, _MOST) if self._holds(value[key], self._is_type))
            key = self.form.events_key(value) or next(others, None)
            self._add_key("events", key)
            value = [value] if key is None else value[key]
        for event in value[:_MOST] if isinstance(value, list) else ():
            if isinstance(event, dict):
                self._read_event(event, is_only=key is None and len(value) == 1)

    def compare_spelling(self, kind: str, name: str, names: Mapping[str, str]) -> None:
        """Add a hint where gold has a name in another spelling."""
        theirs, own = names.get(_fold(name)), name.strip()
        if theirs is not None and own not in names.values():
            self.spellings.add(f"hint.spelling.{json.dumps([kind, own, theirs])}")

    def _read_event(self, event: dict[str, Any], *, is_only: bool) -> None:
        key = self._key_of(event, "arguments", self._names_role)
        type_key = self._key_of(event, "event_type", self._is_type)
        parts = dict(islice(event.items(), _MOST))
        roles = {name: value for name, value in parts.items() if name not in EVENTS_KEYS and is_plain_value(value)}
        if type_key is not None:
            self._add_key("event_type", type_key)
            if isinstance(event[type_key], str):
                self.compare_spelling("event type", event[type_key], self.types)
            if key is not None:
                self._add_key("arguments", key)
                self._read_arguments(event[key])
            elif any(map(self._is_role, roles)):
                self._read_mapping("inline", roles, is_declared=self.form.inline)
        elif is_only and len(roles) == len(parts) and any(map(self._is_role, roles)):
            self._read_mapping("flat", roles, is_declared=self.form.flat)

    def _read_arguments(self, arguments: Any) -> None:
        if isinstance(arguments, dict):
            if arguments and all(map(is_plain_value, arguments.values())):
                self._read_mapping("mapping", arguments, is_declared=self.form.mapping)
            return
        for argument in arguments[:_MOST] if isinstance(arguments, list) and not self.form.mapping else ():
            if isinstance(argument, dict):
                key = self._key_of(argument, "role", self._is_role)
                if key is None:  # {"buyer": "Zeta"}: no key for the value would read it
                    continue
                rest = {name: value for name, value in argument.items() if name != key}
                self._add_key("role", key)
                self._add_key("argument", self._key_of(rest, "argument", self._is_value, lambda v: isinstance(v, str)))
                if isinstance(argument[key], str):
                    self.compare_spelling("role", argument[key], self.roles)

    def _read_mapping(self, hint: str, values: Mapping[str, Any], *, is_declared: bool) -> None:
        """Keys that are roles, with their values."""
        self.hints.update(() if is_declared else (f"hint.{hint}",))
        for role, value in islice(values.items(), _MOST):
            self.compare_spelling("role", role, self.roles)
            for part in value[:_MOST] if isinstance(value, list) else [value]:
                folded = normalize(part) if isinstance(part, str) else ""
                if folded in _NULL_WORDS and folded not in self.form.null_words:
                    self.hints |= {"hint.null_words", f"hint.null_words.{_NULL_WORDS[folded]}"}

    def _add_key(self, name: str, key: str | None) -> None:
        if key is not None and len(key) <= _LONGEST_NAME and key not in getattr(self.form.names, name):
            self.hints.add(f"hint.keys.{name}.{key}")

    def _key_of(self, value: Mapping[str, Any], name: str, *tests: Callable[[Any], bool]) -> str | None:
        """The key under which an object has a part of ours: one that is read, or the first whose value fits."""
        declared: tuple[str, ...] = getattr(self.form.names, name)
        fitting = (key for test in tests for key in islice(value, _MOST) if test(value[key]))
        return next((key for key in declared if key in value), None) or next(fitting, None)

    def _is_type(self, value: Any) -> bool:
        return isinstance(value, str) and _fold(value) in self.types

    def _is_role(self, value: Any) -> bool:
        return isinstance(value, str) and _fold(value) in self.roles

    def _is_value(self, value: Any) -> bool:
        parts = value[:_MOST] if isinstance(value, list) else [value]
        return any(isinstance(part, (str, int, float)) and normalize(str(part)) in self.values for part in parts)

    def _names_role(self, value: Any) -> bool:
        """Whether a value is an object from roles to values, or a list of objects that name roles."""
        if isinstance(value, dict):
            return any(map(self._is_role, islice(value, _MOST)))
        return self._holds(value, self._is_role)

    def _holds(self, value: Any, test: Callable[[Any], bool]) -> bool:
        """Whether a value is a list of objects of which one has a value that passes a test."""
        objects = [item for item in value[:_MOST] if isinstance(item, dict)] if isinstance(value, list) else []
        return any(test(inner) for item in objects for inner in islice(item.values(), _MOST))


class HintCounts(TotalsOnly[Facts]):
    """The report's `hints` and the shapes of the gold."""

    def __init__(self, settings: ResponseSettings) -> None:
        self.form = form_of(settings)

    def totals(self, facts: Facts) -> Mapping[str, int]:
        names, shapes = answer_hints(facts, self.form), facts.sample.gold.shapes
        return count_names([*names, *[f"gold_shape.{shape}" for shape in shapes]]) if names or shapes else NO_TOTALS


class CountedHint(NamedTuple):
    """What some answers have, and where below `metrics.response` which YAML would read it; without, no setting does."""

    answers: int
    of: int
    have: str
    kind: str  # flat, inline, mapping, keys.role, …
    place: str = ""
    value: str | list[str] = ""

    def as_json(self) -> Hint:
        setting = as_yaml(f"metrics.response.{self.place}", _yaml(self.value)) if self.place else None
        return {"answers": self.answers, "of": self.of, "have": self.have, "setting": setting}


def counted_hints(tally: Tally, form: Form, *, is_zero: bool = False) -> list[CountedHint]:
    """The hints that enough answers speak for, in a fixed order; for a score of 0 that these do not explain, all."""
    counts = tally.counts
    answers = counts["total_samples"] - counts["missing_predictions"]
    present = [name for name, count in counts.items() if name.startswith("hint.") and count]
    names = [name for name in present if counts[name] >= HINT_SHARE * answers]
    if is_zero and all(name.startswith("hint.null_words") for name in names):
        names = present
    words = [word for word in NULL_WORDS if counts[f"hint.null_words.{word}"]]
    hints = []
    for name in sorted(names, key=lambda name: (_rank(name), -counts[name], name)):
        _, kind, *rest = name.split(".", 2)
        if kind in _FORMS:
            hints.append(CountedHint(counts[name], answers, *_FORMS[kind]))
        elif kind == "keys":
            part, _, key = rest[0].partition(".")
            keys = [*getattr(form.names, part), key]
            hints.append(CountedHint(counts[name], answers, f"{key} for {part}", f"keys.{part}", f"keys.{part}", keys))
        elif kind == "prefix":
            have = "only what comes after the beginning of a list of events"
            hints.append(CountedHint(counts[name], answers, have, kind, kind, json.dumps(rest[0])))
        elif kind == "null_words" and not rest:
            words = [*sorted(form.null_words), *words]
            hints.append(CountedHint(counts[name], answers, "a word for null as a value", kind, kind, words))
        elif kind == "spelling":
            part, own, gold = json.loads(rest[0])
            hints.append(CountedHint(counts[name], answers, f"the {part} “{own}” where gold has “{gold}”", kind))
    return hints


_FORMS = {
    "flat": ("one flat object from roles to values", "flat", "flat", "{event_type: {from: gold}}"),
    "inline": ("roles as keys of the event", "inline", "flat", "true"),
    "mapping": ("arguments as an object", "mapping", "arguments", "mapping"),
}
_ORDER = (*_FORMS, *(f"keys.{name}" for name in KeySettings.__slots__), "prefix", "null_words", "spelling")


def _rank(name: str) -> int:
    return next(rank for rank, kind in enumerate(_ORDER) if name.startswith(f"hint.{kind}"))


_LIST_KEYS = ("keys.role", "keys.argument")
_EXCLUDED = {  # by each setting
    "flat": ("inline", "mapping", "keys.events", "keys.event_type", "keys.arguments", *_LIST_KEYS),
    "inline": ("mapping", "keys.arguments", *_LIST_KEYS),
    "mapping": _LIST_KEYS,
}


def joint_setting(hints: Iterable[CountedHint]) -> str | None:
    """All hints as one setting; of two that exclude each other, that of more answers. None: no setting would help."""
    chosen: dict[str, CountedHint] = {}
    for hint in sorted((hint for hint in hints if hint.place), key=lambda hint: -hint.answers):
        if any(kind in _EXCLUDED.get(hint.kind, ()) or hint.kind in _EXCLUDED.get(kind, ()) for kind in chosen):
            continue
        if isinstance(hint.value, list) and hint.kind in chosen:  # another key for the same
            hint = hint._replace(value=[*dict.fromkeys((*chosen[hint.kind].value, *hint.value))])
        chosen[hint.kind] = hint
    if not chosen:
        return None
    keys = [f"{kind.removeprefix('keys.')}: {_yaml(hint.value)}" for kind, hint in chosen.items() if "." in kind]
    parts = [f"{hint.place}: {_yaml(hint.value)}" for kind, hint in chosen.items() if "." not in kind]
    if keys:
        parts.insert(0, f"keys: {{{', '.join(keys)}}}")
    return as_yaml("metrics.response", f"{{{', '.join(parts)}}}")


RENAME = "rename one of the two"


def _yaml(value: str | list[str]) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
