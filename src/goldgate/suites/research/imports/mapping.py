"""A mapping: which span and field give a run's objective, claims, evidence, steps, manifests and stop reason.

It is a YAML file. `extends` names a ready mapping, whose sections apply where the file has none of its own.
Fields are named by paths: `attributes.gen_ai.output.messages`, `outputs.documents.*.id`. Keys may contain dots: the
longest key that fits is taken. A number is an index, from the end if negative; `*` is every item. Text that holds
JSON is read as JSON where the path goes on. With ` | ` between paths, the first that gives something is taken.
`=word` is the word itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, TypedDict

import orjson

from goldgate.errors import ConfigError, describe_value, did_you_mean
from goldgate.files.parsing import YamlTree, parse_yaml
from goldgate.files.reading import read_text_file
from goldgate.shape.validation import build_dataclass
from goldgate.suites.research.imports.formats import FORMATS
from goldgate.suites.research.imports.spans import TraceSpan

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
        raise ConfigError(
            f"{_CODE}.wrong_value",
            "this is not a mapping",
            place=tree.place(""),
            expected="sections",
            found="no sections",
        )
    base = sections.get("extends")
    if base is not None:
        if base not in READY_MAPPINGS:
            raise ConfigError(
                f"{_CODE}.wrong_value",
                "there is no built-in mapping of this name",
                place=tree.place("extends"),
                expected=" or ".join(READY_MAPPINGS),
                found=str(base),
                advice=did_you_mean(str(base), READY_MAPPINGS),
            )
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
        raise ConfigError(
            f"{_CODE}.wrong_value",
            "this field cannot be filled",
            place=tree.place(f"{path}.{name}"),
            expected="a name, or names with dots between them; either the field itself, or fields in it",
            found=describe_value(name),
        )


def _ready_tree(name: str) -> YamlTree:
    tree = parse_yaml(ready_mapping_text(name), f"{name}.yaml")
    value: dict[str, Any] = {**tree.value, "format": name, "name": name}
    return YamlTree(tree.file, value, tree.lines)


# No `from __future__ import annotations` here: it hides NotRequired from `__required_keys__`.


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
