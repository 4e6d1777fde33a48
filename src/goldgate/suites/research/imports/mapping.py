"""A mapping: which span and field give a run's objective, claims, evidence, steps, manifests and stop reason.

It is a YAML file. `extends` names a ready mapping, whose sections apply where the file has none of its own.
Fields are named by paths: `attributes.gen_ai.output.messages`, `outputs.documents.*.id`. Keys may contain dots: the
longest key that fits is taken. A number is an index, from the end if negative; `*` is every item. Text that holds
JSON is read as JSON where the path goes on. With ` | ` between paths, the first that gives something is taken.
`=word` is the word itself.

Rules can read messages: with a role and content or parts (OpenAI, OpenTelemetry), LangChain's with a type,
serialized or not, pairs of role and text, lists of such lists, and objects with `messages` or `generations`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, NamedTuple, TypedDict

import orjson

from goldgate.errors import ConfigError, describe_value, did_you_mean
from goldgate.files.parsing import YamlTree, parse_yaml
from goldgate.files.reading import read_text_file
from goldgate.shape.validation import build_dataclass
from goldgate.suites.research.imports.formats import FORMATS
from goldgate.suites.research.imports.traces import Trace, TraceSpan

EVERY_ITEM = "*"
_OR = " | "
_MAX_DEPTH = 200  # levels; orjson writes 254


def look_up(value: Any, paths: str) -> Any:
    """What stands at the first of the paths that leads somewhere; None if none does.

    With `*` it is a list, in which None stands for an item that lacks the rest of the path. The first path whose list
    has no such gap is taken before one with gaps.
    """
    with_gaps: Any = None
    for path, parts in _alternatives(paths):
        if path.startswith("="):
            return path[1:]
        result = _value_at(value, parts)
        if isinstance(result, list) and None in result and EVERY_ITEM in path:
            with_gaps = result if with_gaps is None else with_gaps
        elif result is not None:
            return result
    return with_gaps


@lru_cache(maxsize=1024)  # a mapping has some dozens, and each is looked up in every span
def _alternatives(paths: str) -> list[tuple[str, tuple[str, ...]]]:
    alternatives = [path.strip() for path in paths.split(_OR)]
    return [(path, tuple(path.split(".")) if path not in ("", ".") else ()) for path in alternatives]


@lru_cache(maxsize=4096)
def _key_splits(parts: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Every key that a path may begin with, the longest first, and the path behind it."""
    return [(".".join(parts[:length]), parts[length:]) for length in range(len(parts), 0, -1)]


def _value_at(value: Any, parts: tuple[str, ...]) -> Any:
    if not parts:
        return value
    if isinstance(value, str):
        value = parse_nested(value)
    if isinstance(value, dict):
        for key, rest in _key_splits(parts):
            if key in value and (inner := _value_at(value[key], rest)) is not None:
                return inner
        return None
    if not isinstance(value, list):
        return None
    if parts[0] == EVERY_ITEM:
        return [_value_at(item, parts[1:]) for item in value]
    try:
        return _value_at(value[int(parts[0])], parts[1:])
    except (ValueError, IndexError):
        return None


def parse_nested(text: str) -> Any:
    """The object or list that a text is, as JSON; None if it is other text."""
    plain = text.strip()
    if plain[:1] not in ("{", "["):
        return None
    try:
        value = orjson.loads(plain)
        if plain.count("[") + plain.count("{") > _MAX_DEPTH:
            orjson.dumps([[[[value]]]])  # it reads deeper than it writes, and what is found is to be written
    except (orjson.JSONDecodeError, TypeError):
        return None
    return value


READY_MAPPINGS = tuple(name for name in FORMATS if name != "records")
# The sections that are lists of rules.
RULE_SECTIONS = ("objective", "stop_reason", "claims", "evidence", "chunks", "corpus_id", "index_id", "chunker")
_CODE = "mapping"


@dataclass(frozen=True, slots=True)
class Rule:
    """A place in a trace. The first rule of a section that gives something is taken.

    `where` chooses spans, `pick` says which of them: the `outermost` (of several as little deep, the last), the `last`,
    `any` (the first that gives something, the outermost before others) or `all` (their lists together). `take` leads to
    a value in it, `read` makes something of that, `at` leads further inside. `words` puts one word in place of another,
    `*` for any other. `each` says of a list's items which of their fields become which of ours.
    """

    take: str
    where: dict[str, str] = field(default_factory=dict)
    pick: Literal["any", "outermost", "last", "all"] = "any"
    read: Literal["value", "question", "answer", "answer_json"] = "value"
    at: str = "."
    words: dict[str, str] = field(default_factory=dict)
    each: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StepRule:
    """Which spans are steps, and the type of the event that each leaves in the log."""

    where: dict[str, str] = field(default_factory=dict)
    event_type: str = "name"


@dataclass(frozen=True, slots=True)
class ManifestRule:
    """What a step's span says of its context."""

    retrieval_query: str
    candidate_chunk_ids: str
    selected_chunk_ids: str
    where: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mapping:
    """All sections; the names are those of a run's files."""

    format: Literal["otel", "langsmith", "langgraph", "openai-agents", "records"]
    name: str = "mapping"
    extends: str | None = None
    objective: tuple[Rule, ...] = ()
    stop_reason: tuple[Rule, ...] = ()
    claims: tuple[Rule, ...] = ()
    evidence: tuple[Rule, ...] = ()
    chunks: tuple[Rule, ...] = ()
    steps: tuple[StepRule, ...] = ()
    manifests: tuple[ManifestRule, ...] = ()
    corpus_id: tuple[Rule, ...] = ()
    index_id: tuple[Rule, ...] = ()
    chunker: tuple[Rule, ...] = ()


def ready_mapping(name: str) -> Mapping:
    """The mapping that comes with the package for a format."""
    return build_dataclass(Mapping, _ready_tree(name), _CODE)


def ready_mapping_text(name: str) -> str:
    """The YAML of a ready mapping, to be copied and changed."""
    file = "langsmith" if name == "langgraph" else name.replace("-", "_")
    return (
        resources.files("goldgate.suites.research.imports.formats").joinpath(f"{file}.yaml").read_text(encoding="utf-8")
    )


def load_mapping(path: str) -> Mapping:
    """A mapping from a file; any mistake is a ConfigError with file, line and setting."""
    tree = parse_yaml(read_text_file(path, _CODE).text, path)
    sections = tree.value
    if not isinstance(sections, dict):
        raise _wrong_value(tree, "", "this is not a mapping", "sections", "no sections")
    base = sections.get("extends")
    if base is not None:
        if base not in READY_MAPPINGS:
            error = _wrong_value(
                tree, "extends", "there is no built-in mapping of this name", " or ".join(READY_MAPPINGS), str(base)
            )
            error.advice = did_you_mean(str(base), READY_MAPPINGS)
            raise error
        tree.value = {**_ready_tree(base).value, **sections}
    tree.value = {**tree.value, "name": sections.get("name", os.path.basename(path))}
    mapping = build_dataclass(Mapping, tree, _CODE)
    for section in RULE_SECTIONS:
        for number, rule in enumerate(getattr(mapping, section)):
            _require_targets(rule, tree, f"{section}.{number}.each")
    return mapping


def span_matches(span: TraceSpan, where: dict[str, str]) -> bool:
    """Whether a span is one of those that a rule is about: every field has one of its words, or `*`: any value."""
    for path, alternatives in where.items():
        value = look_up(span.fields, path)
        if value is None:
            return False
        words = [word.strip() for word in alternatives.split("|")]
        text = str(value).lower() if isinstance(value, bool) else str(value)  # true, as JSON and YAML write it
        if "*" not in words and text not in words:
            return False
    return True


def _require_targets(rule: Rule, tree: YamlTree, path: str) -> None:
    """Refuse fields without a name, and one that is a value and holds others as well."""
    names = [*rule.each]
    for name in names:
        if all(name.split(".")) and not any(other.startswith(f"{name}.") for other in names):
            continue
        expected = "a name, or names with dots between them; either the field itself, or fields in it"
        raise _wrong_value(tree, f"{path}.{name}", "this field cannot be filled", expected, describe_value(name))


def _wrong_value(tree: YamlTree, path: str, message: str, expected: str, found: str) -> ConfigError:
    return ConfigError(f"{_CODE}.wrong_value", message, place=tree.place(path), expected=expected, found=found)


def _ready_tree(name: str) -> YamlTree:
    tree = parse_yaml(ready_mapping_text(name), f"{name}.yaml")
    value: dict[str, Any] = {**tree.value, "format": name, "name": name}
    return YamlTree(tree.file, value, tree.lines)


class MissingPart(TypedDict):
    """What a run's files need and the trace does not give, and why."""

    what: str
    why: str


class ImportNotes(TypedDict):
    """import.json of an imported run. `origin` names the span that each part was found in."""

    format_version: int
    run_id: str
    format: str
    mapping: str
    spans: int
    steps: int
    origin: dict[str, str]
    missing: list[MissingPart]
    problems: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension(Mapping):
    """A mapping file that takes from a ready one what it does not say; also the form of the traces."""

    extends: Literal["otel", "openai-agents", "langsmith", "langgraph"]
    format: Literal["otel", "langsmith", "langgraph", "openai-agents", "records"] = "otel"


CONTRACTS = {
    "import.schema.json": ("Notes of an import", ImportNotes),
    "mapping.schema.json": ("Mapping of traces", Mapping | Extension),
}


_USER = frozenset({"user", "human", "humanmessage", "humanmessagechunk"})
_ASSISTANT = frozenset({"assistant", "ai", "model", "aimessage", "aimessagechunk"})
_MAX_NESTING = 6  # lists in lists, objects in objects: LangChain has three
_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*)\n```\Z", re.DOTALL)


class ChatMessage(NamedTuple):
    """Role and text of a message."""

    role: str
    text: str


def first_question(value: Any) -> str | None:
    """What the user asked first. A plain text is a question by itself."""
    if isinstance(value, str) and parse_nested(value) is None:
        return value if value.strip() else None
    return next((message.text for message in _messages(value) if message.role in _USER and message.text.strip()), None)


def last_answer(value: Any) -> str | None:
    """What the assistant said last, tool calls left out. A plain text is an answer by itself."""
    if isinstance(value, str) and not isinstance(parse_nested(value), list):
        return value if value.strip() else None
    texts = [message.text for message in _messages(value) if message.role in _ASSISTANT and message.text.strip()]
    return texts[-1] if texts else None


def last_answer_json(value: Any) -> Any:
    """The object or list that the last answer is, as JSON, fenced or not; None where it is other text."""
    answer = last_answer(value)
    if answer is None:
        return None
    fenced = _FENCED.match(answer.strip())
    return parse_nested(fenced[1] if fenced else answer)


def _messages(value: Any, depth: int = 0) -> Iterator[ChatMessage]:
    if isinstance(value, str):
        value = parse_nested(value)
    if depth > _MAX_NESTING or not isinstance(value, dict | list):
        return
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(item, str) for item in value) and parse_nested(value[1]) is None:
            yield ChatMessage(value[0].casefold(), value[1])
            return
        for item in value:
            yield from _messages(item, depth + 1)
        return
    message = _message(value)
    if message is not None:
        yield message
        return
    for key in ("messages", "generations", "message", "output", "choices"):
        if isinstance(value.get(key), dict | list):
            yield from _messages(value[key], depth + 1)
            return


def _message(value: dict[str, Any]) -> ChatMessage | None:
    inner = value
    for key in ("kwargs", "data"):  # LangChain's serialized forms
        if isinstance(value.get(key), dict):
            inner = value[key]
    role = inner.get("role") or value.get("role") or inner.get("type") or value.get("type")
    path = value.get("id")
    if role == "constructor" and isinstance(path, list) and path and isinstance(path[-1], str):
        role = path[-1]
    content = inner.get("content", inner.get("parts"))
    if not isinstance(role, str) or content is None:
        return None
    return ChatMessage(role.casefold(), _message_text(content))


def _message_text(content: Any) -> str:
    """The text of a message; its parts with a line between them."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = []
    for part in content:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict) and part.get("type", "text") in ("text", "input_text", "output_text"):
            text = part.get("text", part.get("content"))
            if isinstance(text, str):
                parts.append(text)
    return "\n".join(parts)


_READERS: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "question": first_question,
    "answer": last_answer,
    "answer_json": last_answer_json,
}
_ANY_WORD = "*"


class RuleMatch(NamedTuple):
    """A value, and the id of its span."""

    value: Any
    span: str


def is_text(value: Any) -> bool:
    return isinstance(value, str) and value.strip() != ""


def is_list(value: Any) -> bool:
    return isinstance(decode_nested(value), list)


def first_match(trace: Trace, rules: Sequence[Rule], fits: Callable[[Any], bool]) -> RuleMatch | None:
    """The match of the first rule whose value fits; None if no rule has one."""
    return next(filter(None, (_rule_match(trace, rule, fits) for rule in rules)), None)


def _rule_match(trace: Trace, rule: Rule, fits: Callable[[Any], bool]) -> RuleMatch | None:
    spans = [span for span in trace.spans if span_matches(span, rule.where)]
    if rule.pick == "all":
        matches = [(value, span.id) for span in spans if (value := _rule_value(span, rule)) not in (None, [])]
        items = [item for value, _ in matches for item in (value if isinstance(value, list) else [value])]
        return RuleMatch(items, matches[0][1]) if matches else None
    if rule.pick == "last":
        spans = spans[-1:]
    elif spans:
        least = min(trace.depths[span.id] for span in spans)
        if rule.pick == "outermost":
            spans = [span for span in spans if trace.depths[span.id] == least][-1:]
        else:
            spans.sort(key=lambda span: trace.depths[span.id])
    values = ((_rule_value(span, rule), span.id) for span in spans)
    return next((RuleMatch(value, span) for value, span in values if fits(value)), None)


def _rule_value(span: TraceSpan, rule: Rule) -> Any:
    value = look_up(_READERS[rule.read](look_up(span.fields, rule.take)), rule.at)
    if rule.each or rule.pick == "all":
        value = decode_nested(value)
    if rule.words and type(value) in (str, int):
        return rule.words.get(str(value), rule.words.get(_ANY_WORD, str(value)))
    if rule.each:
        items = value if isinstance(value, list) else [value]
        return [_entry(item, rule) for item in items if isinstance(item, dict)] if value is not None else None
    return value


def decode_nested(value: Any) -> Any:
    """A list or an object that an attribute holds as JSON text; any other value as it is."""
    nested = parse_nested(value) if isinstance(value, str) else None
    return value if nested is None else nested


def _entry(item: dict[str, Any], rule: Rule) -> dict[str, Any]:
    """One of our records from one of theirs; a field that it lacks is left out."""
    entry: dict[str, Any] = {}
    for target, path in rule.each.items():
        value = look_up(item, path)
        if value is None:
            continue
        if rule.words and isinstance(value, str):
            value = rule.words.get(value, value)
        *outer, last = target.split(".")
        inside = entry
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = value
    return entry
