"""A mapping: which span and which field of it give a run's objective, claims, evidence, steps, manifests and end.

It is a YAML file. `extends` names a ready one, whose sections stay where the file has none of its own.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from importlib import resources
from typing import Any, Literal

from goldgate.errors import ConfigError, describe, did_you_mean
from goldgate.files.text_file import read_text
from goldgate.files.tree import Tree, parse_yaml
from goldgate.imports.formats import FORMATS
from goldgate.imports.path import look_up
from goldgate.imports.span import Span
from goldgate.shape.build import build

READY = tuple(name for name in FORMATS if name != "records")
# The sections that are lists of rules.
RULES = ("objective", "stop_reason", "claims", "evidence", "chunks", "corpus_id", "index_id", "chunker")
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
    return build(Mapping, _ready(name), _CODE)


def ready_text(name: str) -> str:
    """The same as the file that it is, to be copied and changed."""
    file = "langsmith" if name == "langgraph" else name.replace("-", "_")
    return resources.files("goldgate.imports.formats").joinpath(f"{file}.yaml").read_text(encoding="utf-8")


def load_mapping(path: str) -> Mapping:
    """A mapping from a file; any mistake is a ConfigError with file, line and setting."""
    tree = parse_yaml(read_text(path, _CODE).text, path)
    given = tree.value
    if not isinstance(given, dict):
        raise ConfigError(
            f"{_CODE}.wrong_value", "this is no mapping", place=tree.place(""), expected="sections", found="no sections"
        )
    base = given.get("extends")
    if base is not None:
        if base not in READY:
            raise ConfigError(
                f"{_CODE}.wrong_value",
                "there is no such ready mapping",
                place=tree.place("extends"),
                expected=" or ".join(READY),
                found=str(base),
                advice=did_you_mean(str(base), READY),
            )
        tree.value = {**_ready(base).value, **given}
    tree.value = {**tree.value, "name": given.get("name", os.path.basename(path))}
    mapping = build(Mapping, tree, _CODE)
    for section in RULES:
        for number, rule in enumerate(getattr(mapping, section)):
            _require_targets(rule, tree, f"{section}.{number}.each")
    return mapping


def chosen(span: Span, where: dict[str, str]) -> bool:
    """Whether a span is one of those that a rule is about: every field has one of its words, or `*`: any value."""
    for path, wanted in where.items():
        found = look_up(span.fields, path)
        if found is None:
            return False
        words = [word.strip() for word in wanted.split("|")]
        said = str(found).lower() if isinstance(found, bool) else str(found)  # true, as JSON and YAML write it
        if "*" not in words and said not in words:
            return False
    return True


def _require_targets(rule: Rule, tree: Tree, path: str) -> None:
    """Refuse fields without a name, and one that is a value and holds others as well."""
    names = [*rule.each]
    for name in names:
        if all(name.split(".")) and not any(other.startswith(f"{name}.") for other in names):
            continue
        raise ConfigError(
            f"{_CODE}.wrong_value",
            "this is no field that can be filled",
            place=tree.place(f"{path}.{name}"),
            expected="a name, or names with dots between them; either the field itself, or fields in it",
            found=describe(name),
        )


def _ready(name: str) -> Tree:
    tree = parse_yaml(ready_text(name), f"{name}.yaml")
    value: dict[str, Any] = {**tree.value, "format": name, "name": name}
    return Tree(tree.file, value, tree.lines)
