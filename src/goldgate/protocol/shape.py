"""Plain values into dataclasses: unknown keys and wrong values are errors that say what is allowed."""

from __future__ import annotations

import dataclasses
import types
import typing
from decimal import Decimal
from typing import Any, TypeVar

from goldgate.errors import ConfigError, describe, did_you_mean
from goldgate.files.tree import Tree

T = TypeVar("T")


class Share(Decimal):
    """A decimal from 0 to 1, as it was written."""


class Positive(Decimal):
    """A decimal above 0, as it was written."""


def build(kind: type[T], tree: Tree, code: str) -> T:
    """The document as an instance of `kind`; whatever it leaves out keeps its default."""
    return typing.cast(T, _Builder(tree, code).build(kind, tree.value, ""))


class _Builder:
    def __init__(self, tree: Tree, code: str) -> None:
        self.tree = tree
        self.code = code

    def build(self, kind: Any, value: Any, path: str) -> Any:
        origin = typing.get_origin(kind)
        if value is None and (dataclasses.is_dataclass(kind) or origin is dict):
            value = {}  # a section whose lines are all commented out
        if dataclasses.is_dataclass(kind) or typing.is_typeddict(kind):
            return self._fields(kind, value, path)
        if origin is typing.Literal:
            allowed = typing.get_args(kind)
            value = str(value) if isinstance(value, Decimal) else value  # version: 2.0, without quotation marks
            return value if value in allowed else self._refuse(path, " or ".join(map(str, allowed)), value)
        if origin is dict:
            return self._mapping(typing.get_args(kind)[1], value, path)
        if origin is tuple:
            return self._sequence(typing.get_args(kind)[0], value, path)
        if origin is types.UnionType:
            return self._union(typing.get_args(kind), value, path)
        return self._scalar(kind, value, path)

    def _union(self, options: tuple[Any, ...], value: Any, path: str) -> Any:
        """`X | None`, or a plain value that may also be a mapping."""
        if value is None and types.NoneType in options:
            return None
        kinds = [option for option in options if option is not types.NoneType]
        fitting = [kind for kind in kinds if typing.is_typeddict(kind) == isinstance(value, dict)]
        return self.build((fitting or kinds)[0], value, path)

    def _fields(self, kind: Any, value: Any, path: str) -> Any:
        if not isinstance(value, dict):
            self._refuse(path, "a mapping", value)
        hints = typing.get_type_hints(kind)
        for key in value:
            if key not in hints:
                inner = _join(path, key)
                raise ConfigError(
                    f"{self.code}.unknown_key",
                    f"there is no setting {inner}",
                    place=self.tree.place(inner),
                    expected="one of " + ", ".join(hints),
                    found=key,
                    advice=did_you_mean(key, hints),
                )
        for key in _required(kind):
            if key not in value:
                raise ConfigError(
                    f"{self.code}.wrong_value",
                    f"{path} needs the setting {key}",
                    place=self.tree.place(path),
                    expected=key,
                    found="nothing",
                )
        return kind(**{key: self.build(hints[key], item, _join(path, key)) for key, item in value.items()})

    def _mapping(self, kind: Any, value: Any, path: str) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse(path, "a mapping", value)
        return {key: self.build(kind, item, _join(path, key)) for key, item in value.items()}

    def _sequence(self, kind: Any, value: Any, path: str) -> tuple[Any, ...]:
        if not isinstance(value, list):
            self._refuse(path, "a list", value)
        return tuple(self.build(kind, item, _join(path, str(number))) for number, item in enumerate(value))

    def _scalar(self, kind: Any, value: Any, path: str) -> Any:
        if kind is bool:
            return value if isinstance(value, bool) else self._refuse(path, "true or false", value)
        if kind is str:
            if isinstance(value, Decimal):
                return str(value)  # version: 2.0, without the quotation marks
            return value if isinstance(value, str) and value.strip() else self._refuse(path, "a text", value)
        if kind is Share:
            if isinstance(value, Decimal) and 0 <= value <= 1:
                return Share(value)
            self._refuse(path, "a decimal from 0 to 1", value)
        if kind is Positive:
            if isinstance(value, Decimal) and value > 0:
                return Positive(value)
            self._refuse(path, "a number above 0", value)
        if kind is Decimal:
            return value if isinstance(value, Decimal) else self._refuse(path, "a number", value)
        raise TypeError(f"no rule to read {kind}")  # a setting of a kind that nobody wrote a rule for

    def _refuse(self, path: str, expected: str, value: Any) -> typing.NoReturn:
        raise ConfigError(
            f"{self.code}.wrong_value",
            "this value is not allowed",
            place=self.tree.place(path),
            expected=expected,
            found=describe(value),
        )


def _required(kind: Any) -> list[str]:
    """The names that have no default."""
    if typing.is_typeddict(kind):
        return sorted(kind.__required_keys__)
    missing = dataclasses.MISSING
    return [f.name for f in dataclasses.fields(kind) if f.default is missing and f.default_factory is missing]


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
