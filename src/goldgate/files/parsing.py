"""Strict JSON and YAML: whatever two programs could read differently is an error with its place.

In JSON that is a repeated key, NaN and Infinity, a number that no float holds, half of a surrogate pair, and
endless nesting. In YAML numbers keep their decimal text, and every key knows its line.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from typing import Any, Literal, NamedTuple

from goldgate.core.finding import Problem, child_pointer
from goldgate.errors import ConfigError, Place
from goldgate.files.writing import escape_surrogates, is_utf8

MAX_DEPTH = 100  # levels; our own files have fewer than ten
_EXPECTED_DEPTH = f"at most {MAX_DEPTH} levels"


class JsonFlaw(NamedTuple):
    """A flaw of a JSON text: its code, its place, and a message."""

    code: Literal["duplicate_key", "not_json", "bad_text"]
    problem: Problem
    message: str


class DecodedJson(NamedTuple):
    """The value, of duplicate keys the last, and every flaw of the text. Text that is not JSON has no value."""

    value: Any
    flaws: list[JsonFlaw]
    broken: json.JSONDecodeError | None = None  # where the text stops being JSON


def decode_strictly(text: str) -> DecodedJson:
    """The value of a JSON text, with all that is wrong with it."""
    try:
        value = json.loads(text, object_pairs_hook=_make_object, parse_constant=_Constant)
    except json.JSONDecodeError as problem:
        where = f"{problem.msg} at line {problem.lineno} column {problem.colno}"
        return DecodedJson(None, [_not_json(where if text.strip() else "an empty file")], problem)
    except RecursionError:
        return DecodedJson(None, [_too_deep("")])
    except ValueError as problem:  # an integer of thousands of digits
        return DecodedJson(None, [_not_json(str(problem))])
    return DecodedJson(value, list(_flaws(value, "", 0)))


def parse_json(text: str, file: str, code: str, first_line: int = 1) -> Any:
    """The value of a JSON text; its first flaw is a ConfigError. The text begins in line `first_line` of the file."""
    value, flaws, broken = decode_strictly(text)
    if not flaws:
        return value
    first = flaws[0]
    error = ConfigError(
        f"{code}.{first.code}", first.message, place=Place(file, None, _dotted_path(first.problem.pointer))
    )
    error.found = first.problem.found
    if broken is not None:
        error.place = Place(file, broken.lineno + first_line - 1)
        error.found = f"{broken.msg} at column {broken.colno}" if text.strip() else error.found
    raise error


def find_repeated_key(data: bytes | str) -> str | None:
    """A key that stands twice in one object, the innermost; None if there is none. RecursionError if it is too deep."""
    repeated: list[str] = []
    # Numbers as text: one of five thousand digits must not end the search.
    json.loads(
        data, object_pairs_hook=lambda pairs: repeated.extend(_repeated_keys(pairs)), parse_int=str, parse_float=str
    )
    return repeated[0] if repeated else None


def _dotted_path(pointer: str) -> str | None:
    """A pointer as the fields of a file are named in errors."""
    keys = [key.replace("~1", "/").replace("~0", "~") for key in pointer.split("/")[1:]]
    return escape_surrogates(".".join(keys)) or None


class _ObjectWithRepeats(dict[str, Any]):
    """An object in which keys stood twice."""

    twice: list[str]


class _Constant(str):
    """NaN, Infinity or -Infinity."""


def _make_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) == len(pairs):
        return value
    marked = _ObjectWithRepeats(value)
    marked.twice = sorted(_repeated_keys(pairs))
    return marked


def _repeated_keys(pairs: list[tuple[str, Any]]) -> list[str]:
    times = Counter(key for key, _ in pairs)
    return [key for key, count in times.items() if count > 1]


def _flaws(value: Any, pointer: str, depth: int) -> Iterator[JsonFlaw]:
    if depth > MAX_DEPTH:
        yield _too_deep(pointer)
    elif isinstance(value, dict):
        for key in getattr(value, "twice", ()):
            problem = Problem(child_pointer(pointer, key), "every key once", f'the key "{key}" twice')
            yield JsonFlaw("duplicate_key", problem, f'duplicate key "{escape_surrogates(key)}"')
        for key, item in value.items():
            if not is_utf8(key):
                yield _half_pair(child_pointer(pointer, key))
            yield from _flaws(item, child_pointer(pointer, key), depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _flaws(item, child_pointer(pointer, number), depth + 1)
    elif isinstance(value, _Constant) or (isinstance(value, float) and math.isinf(value)):
        yield JsonFlaw("not_json", Problem(pointer, "a number that JSON has", str(value)), f"{value} is not JSON")
    elif isinstance(value, str) and not is_utf8(value):
        yield _half_pair(pointer)


def _half_pair(pointer: str) -> JsonFlaw:
    problem = "half of a surrogate pair"
    return JsonFlaw("bad_text", Problem(pointer, "text", problem), f"{problem} is not text")


def _not_json(found: str) -> JsonFlaw:
    return JsonFlaw("not_json", Problem("", "JSON", found), "this is not JSON")


def _too_deep(pointer: str) -> JsonFlaw:
    problem = Problem(pointer, _EXPECTED_DEPTH, "JSON that is nested too deeply")
    return JsonFlaw("not_json", problem, "the JSON is nested too deeply")


MAX_DIGITS = 40
MAX_NODES = 100_000  # a YAML alias can repeat itself into billions


@dataclass(slots=True)
class YamlTree:
    """A document: its value, and the line of each dotted path."""

    file: str
    value: Any
    lines: dict[str, int] = field(default_factory=dict)

    def place(self, path: str) -> Place:
        """The file, line and field of a path; the nearest known line above it if it has none."""
        ancestor = path
        while ancestor and ancestor not in self.lines:
            ancestor = ancestor.rpartition(".")[0]
        return Place(self.file, self.lines.get(ancestor), path or None)


def parse_yaml(text: str, file: str) -> YamlTree:
    """A YAML document; timestamps and binary stay text, aliases are expanded within limits."""
    import yaml

    tree = YamlTree(file, None)
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

    def __init__(self, tree: YamlTree, yaml: Any) -> None:
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
        if not is_utf8(node.value):
            raise ConfigError("protocol.bad_text", "half of a surrogate pair is not text", place=self.tree.place(path))
        return _scalar(node.tag.rpartition(":")[2], node.value)

    def _mapping(self, node: Any, path: str) -> dict[str, Any]:
        mapping: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = escape_surrogates(str(key_node.value))
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
        return number if number.is_finite() and not is_long(number) else text
    return text


def is_long(number: Decimal) -> bool:
    """Whether a finite number, such as 1e-99999999, has more digits than can be compared in a short time."""
    return abs(number.adjusted()) >= MAX_DIGITS or len(number.as_tuple().digits) >= MAX_DIGITS
