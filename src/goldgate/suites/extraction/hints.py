"""Hints: answers in another form or spelling than ours, and what to do about them. They change no number.

Another form than ours is recognized by the names of gold that it holds: of its event types, roles and values. The hint
names the setting that reads the form, or says that none does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import islice, starmap
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from goldgate.core.measure import NO_TOTALS, TotalsOnly, count_names
from goldgate.core.tally import Tally
from goldgate.core.value_text import normalize
from goldgate.errors import as_yaml
from goldgate.response import Reason, Status
from goldgate.response.strings import lazy_pattern
from goldgate.suites.extraction.events import Events, event_list
from goldgate.suites.extraction.events.answer_form import EVENTS_KEYS, Form, form_of, is_plain_value
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.settings import SIDE_BY_SIDE, KeySettings, ResponseSettings
from goldgate.suites.extraction.unread_forms import MAX_TEXT, UNREAD_FORMS, GoldNames

if TYPE_CHECKING:
    from goldgate.suites.extraction.contracts import Hint

HINT_SHARE = Fraction(1, 10)  # of the answers: what fewer have is a slip of the model, not a form
LOST_SHARE = Fraction(1, 100)  # of the answers, for forms of which nothing at all is read
LOST_ANSWERS = 3  # enough for these forms, whatever their share
NULL_WORDS = ("null", "none", "n/a", "nil", "无", "not mentioned", "not specified", "未提及")
_NULL_WORDS = {normalize(word): word for word in NULL_WORDS}
# What a prompt may have held of an answer.
BEGINNINGS = ('[{"event_type": "', '{"event_type": "', '{"events": [{"event_type": "', '[{"', "[{", '{"events": [')
_MOST = 100  # events of an answer, and parts of an event or argument, that are looked at
_LONGEST_NAME = 60  # characters of a key or name in a hint
# Keys of triples and of mentions, which name no role of an event.
_PART_KEYS = ("head", "tail", "subject", "object", "text", "span", "mention", "entity", "value")
_MAX_PER_ANSWER = 5  # names in another spelling
_ENDS = lazy_pattern(r"^[\W_]+|[\W_]+$")


@lru_cache(maxsize=4096)  # the same few names come again and again
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
    if facts.comparison.false_negatives and _left_out_values(facts):
        hints.add("hint.unread.next_example")
    if facts.comparison.false_positives or predicted.violations or not predicted.units.keys() <= gold.units.keys():
        view = _AnswerView(form, gold)
        for event_type, pairs in predicted.units.items():
            view.compare_spelling("event type", event_type, view.types)
            for role, _ in pairs:
                view.compare_spelling("role", role, view.roles)
        if predicted.violations and parsed.status != Status.ERROR:
            view.read(parsed.value)
        response = facts.sample.response or ""
        if not predicted.units and response and not form.prefix:
            for beginning, value in _missing_beginning(response):
                view.hints.add(f"hint.prefix.{beginning}")
                view.read(value)
        if predicted.violations and not view.hints:
            is_unread = not predicted.units and (parsed.status == Status.ERROR or not view.has_objects)
            view.texts += [response.replace(parsed.thought or "\n", "\n")] * is_unread
            for form_of_text in view.names.forms_of("\n".join(view.texts)) if view.texts else ():
                view.add_unread(form_of_text)
        hints |= view.hints.union(sorted(view.spellings)[:_MAX_PER_ANSWER])
    return hints


def _left_out_values(facts: Facts) -> bool:
    """Whether gold values that the answer lacks are in the text left out as the next example of a prompt."""
    response, left_out = facts.sample.response or "", () if facts.parsed is None else facts.parsed.left_out
    texts = [response[part.start : part.end] for part in left_out if part.reason == Reason.NEXT_EXAMPLE]
    text = normalize("\n".join(texts)[:MAX_TEXT]).replace(" ", "")
    return bool(text) and any(value.replace(" ", "") in text for _, _, value in facts.comparison.false_negatives)


def _missing_beginning(response: str) -> Iterator[tuple[str, Any]]:
    """The first beginning with which a response is JSON with events, and that JSON."""
    for beginning in BEGINNINGS:
        try:
            value = orjson.loads(beginning + response.strip())
        except orjson.JSONDecodeError:
            continue
        events = event_list(value)
        if events is not None and any(isinstance(event, dict) and event.get("event_type") for event in events.items):
            yield beginning, value
            return


class _AnswerView:
    """Collects the hints that a decoded answer speaks for, beside the gold of its sample."""

    def __init__(self, form: Form, gold: Events) -> None:
        self.form = form
        self._gold = gold
        self.types = {_fold(name): name for name in gold.units if _fold(name)}
        self.roles = {_fold(role): role for pairs in gold.units.values() for role, _ in pairs if _fold(role)}
        self.values = {argument.replace(" ", "") for pairs in gold.units.values() for _, argument in pairs}
        self.hints: set[str] = set()
        self.spellings: set[str] = set()
        self.texts: list[str] = []  # strings where objects belong
        self.has_objects = False

    @cached_property
    def names(self) -> GoldNames:
        return GoldNames(self._gold)

    def read(self, value: Any) -> None:
        key = None
        if isinstance(value, dict):
            others = (key for key in islice(value, _MOST) if self._holds(value[key], self._is_type))
            key = self.form.events_key(value) or next(others, None)
            self._add_key("events", key)
            if key is None and any(map(self._holds_events, islice(value.values(), _MOST))):
                self.add_unread("nested")
            rows = (part for part in value.values() if isinstance(part, list) and part and isinstance(part[0], list))
            value = next(rows, [value]) if key is None else value[key]
        items = value[:_MOST] if isinstance(value, list) else []
        for event in (*items, items):
            if isinstance(event, dict):
                self.has_objects = True
                self._read_event(event, is_only=key is None and len(value) == 1)
            elif isinstance(event, list) and self.names.is_tuple([part for part in event if isinstance(part, str)]):
                self.add_unread("triples")
        self.texts += [item for item in items if isinstance(item, str)]

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
            elif any(map(self._is_role, roles.values())):
                self.add_unread("rows")
            elif any(map(self._is_value, map(roles.get, _PART_KEYS))):
                self.add_unread("other_roles")
        elif any(isinstance(part, dict) and any(map(self._is_type, part.values())) for part in parts.values()):
            self.add_unread("nested")
        elif is_only and all(map(is_plain_value, parts.values())) and any(map(self._is_role, parts)):
            self._read_mapping("flat", parts, is_declared=self.form.flat)
        elif any(
            self._is_type(name) and (isinstance(part, list | dict) or self._is_value(part))
            for name, part in parts.items()
        ):
            self.add_unread("by_type")
        elif any(map(self._is_value, map(roles.get, _PART_KEYS))):
            self.add_unread("other_roles")

    def _read_arguments(self, arguments: Any) -> None:
        if isinstance(arguments, str) and arguments[:1] in ("[", "{"):
            self.add_unread("encoded")
        if isinstance(arguments, dict):
            if arguments and all(map(is_plain_value, arguments.values())):
                self._read_mapping("mapping", arguments, is_declared=self.form.mapping)
            elif any(map(self._is_role, islice(arguments, _MOST))):
                self.add_unread("by_role")
            return
        for argument in arguments[:_MOST] if isinstance(arguments, list) and not self.form.mapping else ():
            if isinstance(argument, dict):
                key = self._key_of(argument, "role", self._is_role)
                if key is None:  # {"buyer": "Zeta"}: no key for the value would read it
                    if any(map(self._is_role, islice(argument, _MOST))):
                        self.add_unread("by_role")
                    continue
                rest = {name: value for name, value in argument.items() if name != key}
                value_key = self._key_of(rest, "argument", self._is_value, lambda v: isinstance(v, str))
                self._add_key("role", key)
                self._add_key("argument", value_key)
                values = rest.values() if value_key is None else (rest[value_key],)
                if any(self._holds(part if isinstance(part, list) else [part], self._is_value) for part in values):
                    self.add_unread("objects")
                if value_key is not None:
                    self._compare_null_words(rest[value_key])
                if isinstance(argument[key], str):
                    self.compare_spelling("role", argument[key], self.roles)
            elif isinstance(argument, str):
                self.texts.append(argument)

    def _read_mapping(self, hint: str, values: Mapping[str, Any], *, is_declared: bool) -> None:
        """Keys that are roles, with their values."""
        self.hints.update(() if is_declared else (f"hint.{hint}",))
        for role, value in islice(values.items(), _MOST):
            self.compare_spelling("role", role, self.roles)
            self._compare_null_words(value)

    def _compare_null_words(self, value: Any) -> None:
        for part in value[:_MOST] if isinstance(value, list) else [value]:
            folded = normalize(part) if isinstance(part, str) else ""
            if folded in _NULL_WORDS and folded not in self.form.null_words and folded not in self.values:
                self.hints |= {"hint.null_words", f"hint.null_words.{_NULL_WORDS[folded]}"}

    def add_unread(self, form: str) -> None:
        self.hints.add(f"hint.unread.{form}")

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

    def _holds_events(self, value: Any) -> bool:
        """Whether a value is an object with events of its own."""
        if not isinstance(value, dict) or self.form.is_event(value):
            return False
        return self.form.events_key(value) is not None or any(self._holds(v, self._is_type) for v in value.values())

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
    """The report's `hints`, the shapes of the gold, and its arguments that repeat another."""

    def __init__(self, settings: ResponseSettings) -> None:
        self.form = form_of(settings)

    def totals(self, facts: Facts) -> Mapping[str, int]:
        names, gold = answer_hints(facts, self.form), facts.sample.gold
        merged = sum([len(columns[3]) for columns in gold.events.columns])
        merged -= sum([len(pairs) for pairs in gold.events.units.values()])
        if not (names or gold.shapes or merged):
            return NO_TOTALS
        return {**count_names([*names, *[f"gold_shape.{shape}" for shape in gold.shapes]]), "gold_merged": merged}


RENAME = "rename one of the two"
CONVERT = 'not read: write such answers as {"id": …, "events": […]}'


class CountedHint(NamedTuple):
    """What some answers have, and which setting below `metrics.response` would read it; without a place, none does."""

    answers: int
    of: int
    have: str
    kind: str  # flat, inline, mapping, keys.role, …
    place: str = ""
    value: Any = None

    @property
    def advice(self) -> str | None:
        """What to do where no setting helps."""
        return None if self.place else RENAME if self.kind == "spelling" else CONVERT

    def as_json(self) -> Hint:
        setting = _settings_yaml({self.place: self.value}) if self.place else None
        return {"answers": self.answers, "of": self.of, "have": self.have, "setting": setting, "advice": self.advice}


def counted_hints(tally: Tally, settings: ResponseSettings, *, is_zero: bool = False) -> list[CountedHint]:
    """The hints that enough answers speak for, in a fixed order; for a score of 0 that none has a setting for, all.

    Of settings that exclude each other the hint of more answers has its setting; against a declared setting, that of
    most answers.
    """
    counts, form = tally.counts, form_of(settings)
    answers = counts["total_samples"] - counts["missing_predictions"]
    present = [name for name, count in counts.items() if name.startswith("hint.") and count]
    names = [name for name in present if counts[name] >= _enough(name, answers)]
    if is_zero and not any(name.startswith(_SETTABLE) for name in names):
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
            hints.append(CountedHint(counts[name], answers, have, kind, kind, rest[0]))
        elif kind == "null_words" and not rest:
            words = [*sorted(form.null_words), *words]
            hints.append(CountedHint(counts[name], answers, "a word for null as a value", kind, kind, words))
        elif kind == "spelling":
            part, own, gold = json.loads(rest[0])
            hints.append(CountedHint(counts[name], answers, f"the {part} “{own}” where gold has “{gold}”", kind))
        elif kind == "unread":
            hints.append(CountedHint(counts[name], answers, UNREAD_FORMS[rest[0]], kind))
    return _without_excluded(hints, [*starmap(_kind, _declared(settings).items())], form)


def _enough(name: str, answers: int) -> Fraction:
    """How many answers must have a form for a hint."""
    if name.startswith(("hint.unread", "hint.keys.events")):
        return min(Fraction(LOST_ANSWERS), LOST_SHARE * answers)
    return HINT_SHARE * answers


def _without_excluded(hints: list[CountedHint], declared: Collection[str], form: Form) -> list[CountedHint]:
    """The hints, without a setting where another hint's, or one that is declared, excludes it."""
    chosen: set[str] = set()
    excluded: list[CountedHint] = []
    keys = {f"keys.{name}": [*getattr(form.names, name)] for name in KeySettings.__slots__}
    for hint in _settable(hints):
        others = chosen if 2 * hint.answers > hint.of else chosen.union(declared)
        besides = next((names for names in SIDE_BY_SIDE if hint.kind.removeprefix("keys.") in names), ())
        taken = {key for name in besides if f"keys.{name}" != hint.kind for key in keys[f"keys.{name}"]}
        own = hint.value if hint.kind in keys else []
        if any(_exclude(hint.kind, kind) for kind in others) or not taken.isdisjoint(own):
            excluded.append(hint)
        else:
            chosen.add(hint.kind)
            keys.get(hint.kind, []).extend(own)
    return [hint._replace(place="") if hint in excluded else hint for hint in hints]


def _settable(hints: Iterable[CountedHint]) -> list[CountedHint]:
    """The hints that have a setting, those of most answers first."""
    return sorted((hint for hint in hints if hint.place), key=lambda hint: -hint.answers)


_FORMS = {
    "flat": ("one flat object from roles to values", "flat", "flat", {"event_type": {"from": "gold"}}),
    "inline": ("roles as keys of the event", "inline", "flat", True),
    "mapping": ("arguments as an object", "mapping", "arguments", "mapping"),
}
_SETTABLE = tuple(f"hint.{kind}" for kind in (*_FORMS, "keys", "prefix"))
_ORDER = (*_FORMS, *(f"keys.{name}" for name in KeySettings.__slots__), "prefix", "null_words", "spelling", "unread")


def _rank(name: str) -> int:
    return next(rank for rank, kind in enumerate(_ORDER) if name.startswith(f"hint.{kind}"))


_LIST_KEYS = ("keys.role", "keys.argument")
_EXCLUDED = {  # by each setting
    "flat": ("inline", "mapping", "keys.events", "keys.event_type", "keys.arguments", *_LIST_KEYS),
    "inline": ("mapping", "keys.arguments", *_LIST_KEYS),
    "mapping": _LIST_KEYS,
}


def _exclude(kind: str, other: str) -> bool:
    return kind in _EXCLUDED.get(other, ()) or other in _EXCLUDED.get(kind, ())


def _declared(settings: ResponseSettings) -> dict[str, Any]:
    """What a protocol sets, by its place below `metrics.response`."""
    default, declared = asdict(ResponseSettings()), asdict(settings)
    sides = (
        {**{f"keys.{name}": keys for name, keys in side.pop("keys").items()}, **side} for side in (default, declared)
    )
    unset, current = sides
    return {place: value for place, value in current.items() if value != unset[place]}


def _kind(place: str, value: Any) -> str:
    """The kind of the hint that has a setting."""
    return "mapping" if place == "arguments" else "inline" if value is True else place


def joint_setting(hints: Iterable[CountedHint], settings: ResponseSettings) -> str | None:
    """The settings of all hints as one, with what is declared already; None: no setting would help."""
    chosen: dict[str, Any] = {}
    for hint in _settable(hints):
        others = chosen.get(hint.place, []) if isinstance(hint.value, list) else []  # other keys for the same
        chosen[hint.place] = [*dict.fromkeys((*others, *hint.value))] if others else hint.value
    kinds = [*starmap(_kind, chosen.items())]
    declared = _declared(settings).items()
    kept = {place: value for place, value in declared if not any(_exclude(_kind(place, value), kind) for kind in kinds)}
    return _settings_yaml(kept | chosen) if chosen else None


def _settings_yaml(settings: Mapping[str, Any]) -> str:
    """Settings by their places below `metrics.response`, as YAML to paste, keys first."""
    keys = {place.removeprefix("keys."): value for place, value in settings.items() if place.startswith("keys.")}
    others = {place: value for place, value in settings.items() if not place.startswith("keys.")}
    return as_yaml("metrics.response", _flow({"keys": keys, **others} if keys else others))


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_flow(part)}' for name, part in value.items())}}}"
    return value if value in ("mapping", "gold") else json.dumps(value, ensure_ascii=False)
