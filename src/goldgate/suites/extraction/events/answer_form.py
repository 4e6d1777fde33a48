"""The form of answers that a protocol declares: what counts as an event, and how it is converted to our own form."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import islice
from typing import Any, ClassVar

from goldgate.core.value_text import normalize
from goldgate.response import DEFAULT_THOUGHT_TAGS, Method, Parsed, RepairPlace, Status, Step, read_answer
from goldgate.response.parsed import AnswerForm
from goldgate.response.strings import lazy_pattern
from goldgate.suites.extraction.events import AllowedRoles
from goldgate.suites.extraction.settings import FlatSettings, KeySettings, ResponseSettings, all_keys

# The type of what a flat answer says where the gold, from which the type is to come, has no event: it is in no
# gold, so that every value counts as false.
NO_EVENT = "(none)"

_OWN_KEYS = KeySettings()
_OTHER_KEYS = ("trigger", "start", "end", "argument_start_index")
_NAMES = frozenset(asdict(_OWN_KEYS))
# Keys of an event that are not roles, whatever the event schema calls its roles.
EVENTS_KEYS = ("trigger", "start", "end", "trigger_start_index", "token_start", "token_end", "mentions")
_OPENING_FENCE = lazy_pattern(r"\s*(?:`{3,}|~{3,})\w*")
_NAME = lazy_pattern(r"[^\W\d]\w*")
_PATH = lazy_pattern(
    r"\$(?:\.events)?(?:\[(?P<event>\d+)\])?"
    r"(?:\.(?P<field>event_type|arguments)(?:\[(?P<place>\d+)\](?:\.(?P<inner>role|argument)(?P<item>\[\d+\])?)?)?)?"
)

# As whole values, blanks aside, in any case. An empty string is one too.
TYPE_PLACEHOLDERS = frozenset("... … string str event_type eventtype type type_name 类型 事件类型".split()) | {
    "event type"
}
VALUE_PLACEHOLDERS = TYPE_PLACEHOLDERS | frozenset("text value role role_name argument 角色 论元".split())
# So are some of these with a number, as in {"argument1": "description1"}; a "type 2" may be meant.
_NUMBERED = lazy_pattern(r"(?:argument|role|value|description|event_type|string|论元|角色)_?\d{1,2}")
# So is what stands in angle brackets and is not a name: <type>, <the role>, <事件类型>.
_BRACKETED = lazy_pattern(r"<([^<>]*)>")
_NO_NAME = lazy_pattern(r"[a-z_ ./|-]*")
_NO_NAMES = ("类型", "角色", "论元")

# What an answer without JSON says where there is nothing; in English, words like "in this text" may follow.
SAID_NONE = tuple(
    "There are no events, There is no event, There were no events, There are no relevant events, No events, No event, "
    "No relevant events, No events found, No events were found, The text contains no events, None, 没有事件, 无事件, "
    "没有相关事件, 没有发现事件, 未发现事件, 文本中没有事件, 无".split(", ")
)
_PLACE = r"(?: (?:to extract|(?:in|from) (?:this|the)(?: given| provided)? (?:text|document|passage|sentence|input)))?"
_MARKS = r"[\s\"'“”‘’「」*_`>#]*"
_SAID_NONE = lazy_pattern(rf"{_MARKS}((?:{'|'.join(SAID_NONE)}){_PLACE}){_MARKS}(?:[.。!！]|(?<=\n)|\Z)", re.IGNORECASE)
# What an answer in another form has: brackets, tags, tables, calls, `key: value` lines.
_STRUCTURE = lazy_pattern(r"[\[\]{}｛｝<>|｜【】=]|\w\(|^[^\n:：]{1,60}[:：]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Form(AnswerForm):
    """How answers are laid out. It can be hashed, compared, and sent to another process."""

    flattens: ClassVar[bool] = True

    names: KeySettings = _OWN_KEYS  # for each of our keys, all that are read in its place, in order
    mapping: bool = False
    inline: bool = False  # events may have their roles as keys, beside their type
    event_type: str | None = None  # of a flat answer; None is the gold's
    null_words: frozenset[str] = frozenset()  # normalized
    said_none: bool = False  # words that say that there is nothing are an empty list
    # Roles by event type, where only these may be keys of the event: {"event_type": "Buy", "acquirer": "Apple"}.
    inline_roles: AllowedRoles | None = field(default=None, compare=False, repr=False)
    event_keys: frozenset[str] = field(init=False, compare=False, repr=False)  # what an event has as structure
    unchanged: bool = field(init=False, compare=False, repr=False)  # a value in this form is in our own

    def __post_init__(self) -> None:
        names = self.names
        declared = self.mapping or self.inline or self.null_words or self.inline_roles or names != _OWN_KEYS
        derived = {
            "keys": frozenset(key for keys in asdict(names).values() for key in keys).union(_OTHER_KEYS),
            "list_keys": names.events,
            "part_keys": names.event_type,
            "part_starts": frozenset(names.event_type + names.role),
            "event_keys": frozenset(names.event_type + names.arguments),
            "unchanged": not declared,
        }
        for name, value in derived.items():
            object.__setattr__(self, name, value)

    def joins_values(self, key: str) -> bool:
        """Whether a key is a role, or the key of its value."""
        return key not in self.keys or key in self.names.argument

    @property
    def other_layout(self) -> bool:
        """Whether answers are expected to look otherwise than the event schema's JSON Schema describes them."""
        return bool(self.prefix) or self.mapping or self.inline or self.names != _OWN_KEYS

    def prefixed(self, response: str) -> str:
        """The response after what the prompt already held of it.

        It stays as it is if it is blank (the model said nothing), or if the model began again and wrote the
        prefix itself, blanks and an opening fence aside.
        """
        prefix = self.prefix
        if not prefix or not response.strip():
            return response
        fence = _OPENING_FENCE.match(response)
        starts = (0,) if fence is None else (0, fence.end())
        return response if any(_begins_with(response, start, prefix) for start in starts) else prefix + response

    def is_event(self, value: Any) -> bool:
        """Whether a decoded value is meant as one event on its own; an object without a type never is."""
        return isinstance(value, dict) and isinstance(value.get(self._key(value, "event_type")), str)

    def is_answer(self, value: Any) -> bool:
        """Whether a decoded value is meant as a whole answer.

        It is a list with an event in it, an empty list, or an object with a list of events. In a flat form it is an
        object of plain values; `{}` and `[]` are then no sign of an answer, and read only if there is nothing better.
        """
        if isinstance(value, list):
            return (not value and not self.flat) or any(map(self.is_event, value))
        if not isinstance(value, dict):
            return False
        if self._is_flat(value):
            return bool(value) and all(map(is_plain_value, value.values()))
        return self.events_key(value) is not None

    def as_answer(self, events: list[Any], key: str | None = None) -> Any:
        """A decoded list as an answer, under its key in a record; in a flat form, its only object may be the answer."""
        only = events[0] if len(events) == 1 else None
        if isinstance(only, dict) and self._is_flat(only) and self.is_answer(only):
            return only
        return events if key is None else {key: events}

    def to_canonical(self, value: Any, gold_event_types: Sequence[str] = ()) -> Any:
        """The value in our own form; the value itself if that is the form declared.

        What it cannot make sense of stays as it is, so that it is a violation in the usual way.
        """
        if self.unchanged:
            return value
        if isinstance(value, list):
            return self._events(value)
        if not isinstance(value, dict):
            return value
        if self._is_flat(value):
            return self._flat(value, gold_event_types)
        events_key = self.events_key(value)
        if events_key is not None:
            return {"events": self._events(value[events_key])}
        event = self._event(value)
        return [] if self._says_none(event) else event

    def says_something(self, value: Any) -> bool:
        """Whether an answer has an event in it: not an empty list, nor an object whose values are all null words."""
        key = self.events_key(value) if isinstance(value, dict) and not self._is_flat(value) else None
        items = value if key is None else value[key]
        if isinstance(items, list):
            return any(not self.null_words or not self._says_none(self._event(item)) for item in items)
        return bool(self.to_canonical(value))

    def is_template(self, value: Any) -> bool:
        """Whether an answer is only the form of one: every event's type, or all of its values, are placeholders."""
        key = self.events_key(value) if isinstance(value, dict) else None
        items = value if key is None else value[key]
        events = items if isinstance(items, list) else [items]
        for event in events:
            if not isinstance(event, dict) or not self._is_template_event(event):
                return False
        return bool(events)

    def is_empty_template(self, value: Any) -> bool:
        """Whether a template says nothing at all, not even a placeholder: an answer with an empty type, perhaps."""
        events = value if isinstance(value, list) else [value]
        types = [event.get(key) for event in events if isinstance(event, dict) for key in self.names.event_type]
        return not any(isinstance(name, str) and name.strip() for name in types)

    def _is_template_event(self, value: dict[str, Any]) -> bool:
        """Whether an object that should be an event, or a flat answer, is a template."""
        names = self.names
        event_type = _first_value(value, names.event_type)
        if not isinstance(event_type, str):
            return _are_placeholders(value.values())
        if _is_placeholder(event_type, TYPE_PLACEHOLDERS):
            return True
        arguments = _first_value(value, names.arguments)
        if inline := self.inline_values(value):
            return _are_placeholders(inline.values())
        if isinstance(arguments, dict):
            return _are_placeholders(arguments.values())
        if not isinstance(arguments, list):
            return False
        return _are_placeholders(arguments, names.argument)

    def path_in(self, value: Any, path: str) -> str:
        """The JSON path, into the value as the model wrote it, of what stands at a path of its canonical form."""
        return self.paths_in(value, [path])[0]

    def paths_in(self, value: Any, paths: Sequence[str]) -> list[str]:
        """`path_in` of each path."""
        if self.unchanged or not paths:
            return [*paths]
        key = self.events_key(value) if isinstance(value, dict) else None
        items, root = (value, "$") if key is None else (value[key], f"${_step(key)}")
        kept: Sequence[int] = range(len(items))
        if self.null_words and isinstance(items, list):
            kept = [number for number, item in enumerate(items) if not self._says_none(self._event(item))]
        inline: dict[int, list[str]] = {}  # the roles that are keys of an event, which may have many, by its number
        return [self._path(value, items, root, (kept, inline), path) for path in paths]

    def _is_flat(self, value: dict[str, Any]) -> bool:
        """Whether the object is of the flat form: that is declared, and it is not in our own."""
        if not self.flat or self.is_event(value):
            return False
        events_key = self.events_key(value)
        return events_key is None or not _is_list_of_objects(value[events_key])

    def _events(self, items: list[Any]) -> list[Any]:
        return [event for event in map(self._event, items) if not self._says_none(event)]

    def _event(self, value: Any) -> Any:
        if not isinstance(value, dict) or self.event_keys.isdisjoint(value):
            return value
        event = self._renamed(value, ("event_type", "arguments"))
        arguments, inline = event.get("arguments"), self.inline_values(value)
        if inline or (self.inline and arguments is None and self.is_event(value)):
            event["arguments"] = self._by_role(inline)
        elif self.mapping and isinstance(arguments, dict):
            event["arguments"] = self._by_role(arguments)
        elif isinstance(arguments, list):
            event["arguments"] = [self._argument(argument) for argument in arguments]
        return self._with_other_keys(event, value, inline)

    def inline_values(self, event: dict[str, Any]) -> dict[str, Any]:
        """The values of roles that are keys of the event itself; none where it has arguments, or a key is ambiguous."""
        type_key = self._key(event, "event_type")
        event_type = event.get(type_key)
        if not (self.inline or self.inline_roles) or any(key in event for key in self.names.arguments):
            return {}
        if self.inline:
            is_typed = isinstance(event_type, str)
            return {key: event[key] for key in event if is_typed and key != type_key and key not in EVENTS_KEYS}
        assert self.inline_roles is not None
        roles = self.inline_roles.get(event_type.strip()) if isinstance(event_type, str) else None
        role_keys = [key for key in event if key in (roles or ()) and key != type_key]
        return {} if any(key in EVENTS_KEYS for key in role_keys) else {key: event[key] for key in role_keys}

    def _argument(self, value: Any) -> Any:
        if not isinstance(value, dict) or self.keys.isdisjoint(value):
            return value
        argument = self._renamed(value, ("role", "argument"))
        if "argument" in argument:
            argument["argument"] = self._value(argument["argument"])
        return self._with_other_keys(argument, value)

    def _renamed(self, value: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
        """The parts of an object that count, under our own names."""
        keys = {name: self._key(value, name) for name in names}
        return {name: value[key] for name, key in keys.items() if key in value}

    def _with_other_keys(
        self, part: dict[str, Any], value: dict[str, Any], inline: Collection[str] = ()
    ) -> dict[str, Any]:
        """A part under our own names, with all that was not renamed: offsets and triggers are read from there."""
        read = {self._key(value, name) for name in part if name in _NAMES}
        return part | {key: value[key] for key in value if key not in read and key not in inline and key not in part}

    def _by_role(self, values: Mapping[str, Any]) -> list[Any]:
        """Arguments from an object with a place for every role: null there says that there is none."""
        return [
            {"role": role, "argument": self._value("" if value is None else value, none="")}
            for role, value in values.items()
        ]

    def _value(self, value: Any, none: Any = None) -> Any:
        """An argument's value, with "" (no unit, no violation) for a null word, and `none` for a null in a list."""
        if isinstance(value, list):
            return [none if item is None else self._worded(item) for item in value]
        return self._worded(value)

    def _worded(self, value: Any) -> Any:
        is_null = isinstance(value, str) and bool(self.null_words) and normalize(value) in self.null_words
        return "" if is_null else value

    def _flat(self, value: dict[str, Any], gold_event_types: Sequence[str]) -> Any:
        """The one event of a flat answer.

        The type that comes from the gold is not the model's to say: the event is there whatever the values. A fixed
        type, or none to be had, makes an event only where there is a value.
        """
        arguments = self._by_role(value)
        event_type = self.event_type
        if event_type is None and gold_event_types:
            return {"event_type": gold_event_types[0], "arguments": arguments}
        has_value = any(_holds_value(argument["argument"]) for argument in arguments)
        return {"event_type": event_type or NO_EVENT, "arguments": arguments} if has_value else []

    def _says_none(self, event: Any) -> bool:
        """Whether an event in our own form has a null word for its type, and no value: `{"event_type": "none"}`."""
        if not self.null_words or not isinstance(event, dict) or not isinstance(event.get("event_type"), str):
            return False
        arguments = event.get("arguments", [])
        return (
            normalize(event["event_type"]) in self.null_words
            and _is_list_of_objects(arguments)
            and not any(_holds_value(argument.get("argument")) for argument in arguments)
        )

    def _path(
        self, value: Any, node: Any, root: str, events: tuple[Sequence[int], dict[int, list[str]]], canonical: str
    ) -> str:
        match, path = _PATH.fullmatch(canonical), root
        if match is None:
            return canonical
        if isinstance(value, dict) and self._is_flat(value):
            return "$" if match["place"] is None else f"${_step([*value][int(match['place'])])}{match['item'] or ''}"
        (kept, inline_keys), number = events, -1
        if match["event"] is not None:
            number = kept[int(match["event"])]
            path, node = f"{path}[{number}]", node[number]
        if match["field"] is None:
            return path
        if number not in inline_keys:
            inline_keys[number] = [*self.inline_values(node)]
        key, inline = self._key(node, match["field"]), inline_keys[number]
        if match["place"] is not None and inline:
            return f"{path}{_step(inline[int(match['place'])])}{match['item'] or ''}"
        path, node = path + _step(key), node.get(key)
        if match["place"] is None:
            return path
        place, item = int(match["place"]), match["item"] or ""
        if isinstance(node, dict):
            return f"{path}{_step([*node][place])}{item}"
        path, node = f"{path}[{place}]", node[place]
        return path if match["inner"] is None else f"{path}{_step(self._key(node, match['inner']))}{item}"

    def _key(self, value: Mapping[str, Any], name: str) -> str:
        """The key that an object has for one of our names; the one it should have where it has none."""
        keys: tuple[str, ...] = getattr(self.names, name)
        for key in keys:
            if key in value:
                return key
        return keys[0]


CANONICAL = Form()


def parse_response(text: str, thought_tags: tuple[str, ...] = DEFAULT_THOUGHT_TAGS, form: Form = CANONICAL) -> Parsed:
    """Read a raw model output: the events in it, and how they were found."""
    parsed = read_answer(text, thought_tags, form)
    phrase = find_said_none(parsed) if form.said_none else None
    if phrase is None:
        return parsed
    start, step = phrase.start(1), Step.SAID_NONE
    return replace(
        parsed, status=Status.REPAIRED, method=Method.EMBEDDED, value=[], repairs=(step,), preamble="", start=start,
        end=phrase.end(1), places=(RepairPlace(step, start),),
    )  # fmt: skip


def find_said_none(parsed: Parsed) -> re.Match[str] | None:
    """Where an answer without JSON says that there is nothing: all of it, or its first sentence before mere prose."""
    phrase = _SAID_NONE.match(parsed.preamble) if parsed.method == Method.NO_JSON_FOUND else None
    return None if phrase is None or _STRUCTURE.search(parsed.preamble, phrase.end()) else phrase


NOT_ROLES = frozenset({"event_type", "type", "arguments", *EVENTS_KEYS})
# The shapes in which gold is read beside our own, in the words of a report.
GOLD_SHAPES = {
    "flat": "roles as keys of the event",
    "mapping": "arguments as an object",
    "type": "type for event_type",
}


def gold_form(roles: AllowedRoles | None) -> Form:
    """The shapes in which gold is read beside our own; flat events only by an event schema that has their roles."""
    return Form(names=KeySettings(event_type=("event_type", "type")), mapping=True, inline_roles=roles)


def gold_shapes(event: Any, form: Form) -> set[str]:
    """Which shapes other than our own an event of the gold has, of `type`, `mapping` and `flat`."""
    if not isinstance(event, dict):
        return set()
    shapes = {
        "type": "event_type" not in event and isinstance(event.get("type"), str),
        "mapping": isinstance(event.get("arguments"), dict),
        "flat": bool(form.inline_values(event)),
    }
    return {shape for shape, is_there in shapes.items() if is_there}


def form_of(settings: ResponseSettings) -> Form:
    """The form that a protocol declares."""
    flat = settings.flat
    fixed = flat.event_type if isinstance(flat, FlatSettings) and isinstance(flat.event_type, str) else None
    return Form(
        prefix=settings.prefix or "",
        names=all_keys(settings.keys),
        mapping=settings.arguments == "mapping",
        inline=bool(flat),
        flat=isinstance(flat, FlatSettings),
        event_type=None if fixed is None else fixed.strip(),
        null_words=frozenset(map(normalize, settings.null_words)) - {""},
        next_example=settings.next_example,
        said_none=settings.said_none == "empty",
    )


def form_signature(form: Form) -> dict[str, str]:
    """What of a form stands in the signature: all that differs from our own, each in one way."""
    ours = asdict(_OWN_KEYS)
    names = {name: keys for name, keys in asdict(form.names).items() if keys != ours[name]}
    parts: dict[str, Any] = {
        "prefix": form.prefix,
        "keys": names,
        "arguments": form.mapping,
        "flat": (form.event_type or {"from": "gold"}) if form.flat else form.inline,
        "null_words": sorted(form.null_words),
        "next_example": sorted(form.next_example),
        "said_none": form.said_none,
    }
    words = {"arguments": "mapping", "said_none": "empty"}
    return {name: words.get(name) or _one_line(part) for name, part in parts.items() if part}


def _one_line(value: Any) -> str:
    """JSON that has no `|` in it: the signature's parts are told apart by that mark."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).replace("|", "\\u007c")


def _first_value(value: dict[str, Any], keys: tuple[str, ...]) -> Any:
    """The value of the first of the keys that an object has; None if it has none of them."""
    for key in keys:
        if key in value:
            return value[key]
    return None


def _are_placeholders(values: Iterable[Any], keys: tuple[str, ...] = ()) -> bool:
    """Whether all values (of objects: those under one of the keys) are placeholders, and not all of them empty."""
    has_text = False
    for value in values:
        inner = _first_value(value, keys) if keys and isinstance(value, dict) else value
        for text in inner if isinstance(inner, list) else (inner,):
            if not isinstance(text, str) or not _is_placeholder(text, VALUE_PLACEHOLDERS):
                return False
            has_text = has_text or text.strip() != ""
    return has_text


def _is_placeholder(text: str, words: frozenset[str]) -> bool:
    folded = text.strip().casefold()
    if not folded or folded in words:
        return True
    if folded[0] != "<":
        return folded[-1].isdigit() and _NUMBERED.fullmatch(folded) is not None
    bracketed = _BRACKETED.fullmatch(folded)
    if bracketed is None:
        return False
    return _NO_NAME.fullmatch(bracketed[1]) is not None or any(word in bracketed[1] for word in _NO_NAMES)


def _begins_with(text: str, start: int, prefix: str) -> bool:
    """Whether a text begins with a prefix, blanks aside."""
    expected = "".join(prefix.split())
    written = (character for character in islice(text, start, None) if not character.isspace())
    return bool(expected) and "".join(islice(written, len(expected))) == expected


def is_plain_value(value: Any) -> bool:
    """A string, a number, null, or a list of these."""
    parts = value if isinstance(value, list) else [value]
    return not any(isinstance(part, (dict, list, bool)) for part in parts)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


def _holds_value(value: Any) -> bool:
    """Whether there is anything in an argument's value: text that is not blank, a number, or something malformed."""
    if isinstance(value, list):
        return any(map(_holds_value, value))
    return bool(normalize(value)) if isinstance(value, str) else value is not None


def _step(key: str) -> str:
    """One step of a JSON path."""
    return f".{key}" if _NAME.fullmatch(key) else f"[{json.dumps(key, ensure_ascii=False)}]"
