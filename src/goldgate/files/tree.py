"""YAML text as plain values that remember their lines and refuse what is ambiguous.

Numbers keep their decimal text, duplicate keys are errors, and every key knows its line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any

from goldgate.errors import ConfigError, Place
from goldgate.files.storable import is_storable, storable

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
            advice=_advice_on_yaml(what),
        ) from None
    except RecursionError:
        raise ConfigError("protocol.not_yaml", "the YAML is nested too deeply", place=Place(file)) from None
    return tree


def _advice_on_yaml(problem: str) -> str | None:
    if "'\\t'" in problem:
        return "indent with spaces: YAML takes no tabs"
    if problem == "expected ',' or '}', but got '['":
        return 'inside { }, put a name with [ ] in quotation marks: {"strict_f1[Attack]": {min: 0.8}}'
    return None


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
        if not is_storable(node.value):
            raise ConfigError("protocol.bad_text", "half of a surrogate pair is not text", place=self.tree.place(path))
        return _scalar(node.tag.rpartition(":")[2], node.value)

    def _mapping(self, node: Any, path: str) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = storable(str(key_node.value))
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
