"""YAML and JSON text as plain values that remember their lines and refuse what is ambiguous.

Numbers keep their decimal text, duplicate keys are errors, and every key knows its line.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from goldgate.errors import ConfigError, Place

MAX_DIGITS = 40
MAX_NODES = 100_000  # a YAML alias can repeat itself into billions


@dataclass(slots=True)
class Tree:
    """A document: its value, and the line of each dotted path."""

    file: str
    value: Any
    lines: dict[str, int] = field(default_factory=dict)

    def place(self, path: str) -> Place:
        """The file, line and field of a path; the nearest known line above it if it has none."""
        known = path
        while known and known not in self.lines:
            known = known.rpartition(".")[0]
        return Place(self.file, self.lines.get(known), path or None)


def parse_yaml(text: str, file: str) -> Tree:
    """A YAML document; timestamps and binary stay text, aliases are expanded within limits."""
    import yaml

    tree = Tree(file, None)
    try:
        node = yaml.compose(text, yaml.SafeLoader)
        if node is not None:
            tree.value = _YamlWalk(tree, yaml).value(node, "")
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        what = str(getattr(problem, "problem", None) or problem).splitlines()[0]
        raise ConfigError(
            "protocol.not_yaml",
            "this is not YAML",
            place=Place(file, mark.line + 1 if mark else None),
            found="a tab" if "'\\t'" in what else what,
            advice="indent with spaces: YAML takes no tabs" if "'\\t'" in what else None,
        ) from None
    except RecursionError:
        raise ConfigError("protocol.not_yaml", "the YAML is nested too deeply", place=Place(file)) from None
    return tree


def parse_json(text: str, file: str, code: str, first_line: int = 1) -> Any:
    """A JSON document in which a duplicate key, NaN and Infinity are errors."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            times = Counter(key for key, _ in pairs)
            twice = next(key for key in times if times[key] > 1)
            raise ConfigError(f"{code}.duplicate_key", f'duplicate key "{twice}"', place=Place(file, None, twice))
        return value

    def refuse(constant: str) -> Any:
        raise ConfigError(f"{code}.not_json", f"{constant} is not JSON", place=Place(file))

    try:
        value = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
        if not _encodable(json.dumps(value, ensure_ascii=False)):
            raise ConfigError(f"{code}.bad_text", "half of a surrogate pair is not text", place=Place(file))
        return value
    except json.JSONDecodeError as problem:
        raise ConfigError(
            f"{code}.not_json",
            "this is not JSON",
            place=Place(file, problem.lineno + first_line - 1),
            found=f"{problem.msg} at column {problem.colno}",
        ) from None
    except RecursionError:
        raise ConfigError(f"{code}.not_json", "the JSON is nested too deeply", place=Place(file)) from None


class _YamlWalk:
    """Turns composed nodes into values, noting lines."""

    def __init__(self, tree: Tree, yaml: Any) -> None:
        self.tree = tree
        self.yaml = yaml
        self.nodes = 0

    def value(self, node: Any, path: str) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ConfigError("protocol.too_large", "the YAML has too many values", place=Place(self.tree.file))
        self.tree.lines.setdefault(path, node.start_mark.line + 1)
        if isinstance(node, self.yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, self.yaml.SequenceNode):
            return [self.value(item, f"{path}.{number}") for number, item in enumerate(node.value)]
        if not _encodable(node.value):
            raise ConfigError("protocol.bad_text", "half of a surrogate pair is not text", place=self.tree.place(path))
        return _scalar(node.tag.rpartition(":")[2], node.value)

    def _mapping(self, node: Any, path: str) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value).encode("utf-8", "backslashreplace").decode()
            inner = f"{path}.{key}" if path else key
            line = key_node.start_mark.line + 1
            if key in mapping:
                raise ConfigError(
                    "protocol.duplicate_key",
                    f"{key} is set twice",
                    place=Place(self.tree.file, line, inner),
                    advice="keep one of the two",
                )
            self.tree.lines[inner] = line
            mapping[key] = self.value(value_node, inner)
        return mapping


def _encodable(text: str) -> bool:
    """Whether a text can be written to a report: an escape may name half of a surrogate pair, which cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _scalar(tag: str, text: str) -> Any:
    if tag == "null":
        return None
    if tag == "bool":
        return text.lower() in ("true", "yes", "on")
    if tag in ("int", "float"):
        try:
            number = Decimal(text.replace("_", ""))
        except InvalidOperation:
            return text
        # 1e-99999999 is a number, but comparing with it exactly would take forever.
        sensible = (
            number.is_finite() and abs(number.adjusted()) < MAX_DIGITS and len(number.as_tuple().digits) < MAX_DIGITS
        )
        return number if sensible else text
    return text
