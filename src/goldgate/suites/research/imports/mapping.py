"""A mapping: a YAML file that says by dotted paths where spans are in a trace, and where they say what a run needs.

Paths have dots between keys: `outputs.documents.*.id`. Keys may contain dots: the longest key that fits is taken. `*`
is every item of a list; a number is one item, from the end if negative. Text that holds JSON is read as JSON where the
path goes on. With ` | ` between paths, the first that gives something is taken. `=word` is the word itself.

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
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

import orjson

from goldgate.errors import ConfigError, describe_value
from goldgate.files.parsing import YamlTree, parse_yaml
from goldgate.files.reading import read_text_file
from goldgate.shape.validation import build_dataclass

if TYPE_CHECKING:
    from goldgate.suites.research.imports.traces import Trace, TraceSpan

EVERY_ITEM = "*"
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
        if EVERY_ITEM in parts and isinstance(result, list) and None in result:
            with_gaps = result if with_gaps is None else with_gaps
        elif result is not None:
            return result
    return with_gaps


@lru_cache(maxsize=1024)  # a mapping has some dozens, and each is looked up in every span
def _alternatives(paths: str) -> list[tuple[str, tuple[str, ...]]]:
    alternatives = [path.strip() for path in paths.split(" | ")]
    return [(path, tuple(path.split(".")) if path not in ("", ".") else ()) for path in alternatives]


@lru_cache(maxsize=4096)
def _key_splits(parts: tuple[str, ...]) -> list[tuple[str, tuple[str, ...]]]:
    """Every key that a path may begin with, the longest first, and the path behind it."""
    return [(".".join(parts[:length]), parts[length:]) for length in range(len(parts), 0, -1)]


def _value_at(value: Any, parts: tuple[str, ...]) -> Any:
    if not parts:
        return value
    if isinstance(value, str):
        value = decode_nested(value)
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


def decode_nested(value: Any) -> Any:
    """The object or list that a text is, as JSON; any other value as it is."""
    plain = value.strip() if isinstance(value, str) else ""
    if plain[:1] not in ("{", "["):
        return value
    try:
        nested = orjson.loads(plain)
        if plain.count("[") + plain.count("{") > _MAX_DEPTH:
            orjson.dumps([[[[nested]]]])  # it reads deeper than it writes, and what is found is to be written
    except (orjson.JSONDecodeError, TypeError):
        return value
    return nested


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
    read: Literal["value", "question", "answer_json"] = "value"
    at: str = "."
    words: dict[str, str] = field(default_factory=dict)
    each: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpanPaths:
    """What a span says of itself. One without a trace belongs to that of its parents, or is one."""

    id: str = "run_id | id | trace_id"
    trace: str = "trace_id"
    parent: str = "parent_id"
    name: str = "name"
    start: str = "start_time"
    end: str = "end_time"


@dataclass(frozen=True, slots=True)
class ManifestRule:
    """What a step's span says of its context. Without `selected_chunk_ids`, all candidates were selected."""

    retrieval_query: str
    candidate_chunk_ids: str
    selected_chunk_ids: str | None = None
    where: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Mapping:
    """All sections. Without any, every object of a file is a run, and nothing is known of it."""

    name: str = "mapping"
    extends: Literal["otel", "openai-agents", "langsmith"] | None = None
    about: str = ""
    recognize: dict[str, str] = field(default_factory=dict)  # as `where`: what a record of a file has
    spans: str = "."
    children: str = ""  # of a span: the spans inside
    span: SpanPaths = field(default_factory=SpanPaths)
    objective: tuple[Rule, ...] = ()
    stop_reason: tuple[Rule, ...] = ()
    claims: tuple[Rule, ...] = ()
    evidence: tuple[Rule, ...] = ()
    chunks: tuple[Rule, ...] = ()
    corpus_id: tuple[Rule, ...] = ()
    index_id: tuple[Rule, ...] = ()
    chunker: tuple[Rule, ...] = ()
    steps: tuple[dict[str, str], ...] = ()  # each as `where`
    manifests: tuple[ManifestRule, ...] = ()


READY_MAPPINGS = ("otel", "openai-agents", "langsmith")  # in the order in which a file is tried
_RULE_SECTIONS = ("objective", "stop_reason", "claims", "evidence", "chunks", "corpus_id", "index_id", "chunker")
_CODE = "mapping"


def load_mapping(source: str) -> Mapping:
    """A ready mapping by its name, or one from a file; any mistake is a ConfigError with file, line and setting."""
    if source in READY_MAPPINGS:
        tree = parse_yaml(ready_mapping_text(source), f"{source}.yaml")
    else:
        tree = parse_yaml(read_text_file(source, _CODE).text, source)
        if not isinstance(tree.value, dict):
            raise _wrong_value(tree, "", "this is not a mapping", "sections", "no sections")
        if tree.value.get("extends") in READY_MAPPINGS:
            base = parse_yaml(ready_mapping_text(tree.value["extends"]), source)
            tree.value = {**base.value, "name": os.path.basename(source), **tree.value}
        tree.value = {"name": os.path.basename(source), **tree.value}
    mapping = build_dataclass(Mapping, tree, _CODE)
    for section in _RULE_SECTIONS:
        for number, rule in enumerate(getattr(mapping, section)):
            _require_targets(rule, tree, f"{section}.{number}.each")
    return mapping


def ready_mapping_text(name: str) -> str:
    """The YAML of a ready mapping, to be copied and changed."""
    folder = resources.files("goldgate.suites.research.imports")
    return folder.joinpath("mappings", f"{name}.yaml").read_text(encoding="utf-8")


def _require_targets(rule: Rule, tree: YamlTree, path: str) -> None:
    """Refuse fields without a name, and one that is a value and holds others as well."""
    for name in rule.each:
        if not all(name.split(".")) or any(other.startswith(f"{name}.") for other in rule.each):
            expected = "a name, or names with dots between them; either the field itself, or fields in it"
            raise _wrong_value(tree, f"{path}.{name}", "this field cannot be filled", expected, describe_value(name))


def _wrong_value(tree: YamlTree, path: str, message: str, expected: str, found: str) -> ConfigError:
    return ConfigError(f"{_CODE}.wrong_value", message, place=tree.place(path), expected=expected, found=found)


def matches(fields: Any, where: dict[str, str]) -> bool:
    """Whether every field has one of its words, in any case, or `*`: any value. Of a list, one item is enough."""
    return all(_has_word(look_up(fields, path), words) for path, words in where.items())


def _has_word(value: Any, words: str) -> bool:
    if isinstance(value, list):
        return any(_has_word(item, words) for item in value)
    options = _word_options(words)
    return value is not None and ("*" in options or (not isinstance(value, dict) and str(value).lower() in options))


@lru_cache(maxsize=1024)
def _word_options(words: str) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in words.split("|"))


class MissingPart(TypedDict):
    """What a run's files need and the trace does not give, and why."""

    what: str
    why: str


class ImportNotes(TypedDict):
    """import.json of an imported run. `origin` names the span that each part was found in."""

    format_version: int
    run_id: str
    mapping: str
    spans: int
    steps: int
    origin: dict[str, str]
    missing: list[MissingPart]
    problems: list[str]


CONTRACTS = {
    "import.schema.json": ("Notes of an import", ImportNotes),
    "mapping.schema.json": ("Mapping of traces", Mapping),
}

_USER = frozenset({"user", "human", "humanmessage", "humanmessagechunk"})
_ASSISTANT = frozenset({"assistant", "ai", "model", "aimessage", "aimessagechunk"})
_MAX_NESTING = 6  # lists in lists, objects in objects: LangChain has three
_FENCED = re.compile(r"\A```[A-Za-z]*\n(.*)\n```\Z", re.DOTALL)


def first_question(value: Any) -> str | None:
    """What the user asked first. A plain text is a question by itself."""
    nested = decode_nested(value)
    texts = [nested] if isinstance(nested, str) else (text for role, text in _messages(nested) if role in _USER)
    return next((text for text in texts if text.strip()), None)


def last_answer(value: Any) -> str | None:
    """What the assistant said last, tool calls left out. A plain text, or an object as text, is an answer by itself."""
    nested = decode_nested(value)
    if isinstance(value, str) and not isinstance(nested, list):
        return value if value.strip() else None
    texts = [text for role, text in _messages(nested) if role in _ASSISTANT and text.strip()]
    return texts[-1] if texts else None


def last_answer_json(value: Any) -> Any:
    """The object or list that the last answer is, as JSON, fenced or not; None where it is other text."""
    answer = (last_answer(value) or "").strip()
    fenced = _FENCED.match(answer)
    nested = decode_nested(fenced[1] if fenced else answer)
    return None if isinstance(nested, str) else nested


def _messages(value: Any, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Role and text of each message."""
    value = decode_nested(value)
    if depth > _MAX_NESTING:
        return
    if isinstance(value, list):
        if len(value) == 2 and all(isinstance(decode_nested(item), str) for item in value):
            yield value[0].casefold(), value[1]
            return
        for item in value:
            yield from _messages(item, depth + 1)
    elif isinstance(value, dict):
        inner = next((value[key] for key in ("kwargs", "data") if isinstance(value.get(key), dict)), value)  # LangChain
        role = inner.get("role") or value.get("role") or inner.get("type") or value.get("type")
        if role == "constructor":
            role = look_up(value, "id.-1")
        content = inner.get("content", inner.get("parts"))
        if isinstance(role, str) and content is not None:
            yield role.casefold(), _message_text(content)
            return
        keys = ("messages", "generations", "message", "output", "choices")
        yield from _messages(
            next((value[key] for key in keys if isinstance(value.get(key), dict | list)), None), depth + 1
        )


def _message_text(content: Any) -> str:
    """The text of a message; its parts with a line between them."""
    parts = []
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and part.get("type", "text") in ("text", "input_text", "output_text"):
            part = part.get("text", part.get("content"))
        if isinstance(part, str):
            parts.append(part)
    return "\n".join(parts)


_READERS: dict[str, Callable[[Any], Any]] = {
    "value": lambda value: value,
    "question": first_question,
    "answer_json": last_answer_json,
}


class RuleMatch(NamedTuple):
    """A value, and the id of its span."""

    value: Any
    span: str


def first_match(trace: Trace, rules: Sequence[Rule], fits: Callable[[Any], bool]) -> RuleMatch | None:
    """The match of the first rule whose value fits; None if no rule has one."""
    return next(filter(None, (_rule_match(trace, rule, fits) for rule in rules)), None)


def _rule_match(trace: Trace, rule: Rule, fits: Callable[[Any], bool]) -> RuleMatch | None:
    spans = [span for span in trace.spans if matches(span.fields, rule.where)]
    if rule.pick == "all":
        lists = [(value, span.id) for span in spans if (value := _rule_value(span, rule)) not in (None, [])]
        items = [item for value, _ in lists for item in (value if isinstance(value, list) else [value])]
        return RuleMatch(items, lists[0][1]) if lists else None
    if rule.pick == "last":
        spans = spans[-1:]
    elif rule.pick == "outermost":
        least = min((trace.depths[span.id] for span in spans), default=0)
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
        return rule.words.get(str(value), rule.words.get("*", str(value)))
    if rule.each and value is not None:
        return [
            _entry(item, rule) for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)
        ]
    return value


def _entry(item: dict[str, Any], rule: Rule) -> dict[str, Any]:
    """One of our records from one of theirs; a field that it lacks is left out."""
    entry: dict[str, Any] = {}
    for target, path in rule.each.items():
        value = look_up(item, path)
        if value is None:
            continue
        *outer, last = target.split(".")
        inside = entry
        for key in outer:
            inside = inside.setdefault(key, {})
        inside[last] = rule.words.get(value, value) if isinstance(value, str) else value
    return entry
