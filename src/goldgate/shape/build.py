"""Plain values into dataclasses: unknown keys and wrong values are errors that say what is allowed."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from types import NoneType
from typing import Any, TypeVar

from goldgate.errors import ConfigError, describe, did_you_mean
from goldgate.files.tree import MAX_DIGITS, Tree
from goldgate.shape.kinds import Choice, Either, Field, ListOf, MappingOf, Plain, Positive, Record, Share, take_apart
from goldgate.shape.problems import expected

T = TypeVar("T")

_BOUNDS = {"min", "max", "equals"}  # settings of what compares
_SIGNS = {">=": "min", "≥": "min", ">": "min", "<=": "max", "≤": "max", "<": "max", "==": "equals", "=": "equals"}
_SHOWN_IN_EXAMPLE = 40  # characters of the value that an example repeats


def build(kind: type[T], tree: Tree, code: str) -> T:
    """The document as an instance of `kind`; whatever it leaves out keeps its default."""
    return typing.cast(T, _Builder(tree, code).build(kind, tree.value, ""))


class _Builder:
    def __init__(self, tree: Tree, code: str) -> None:
        self.tree = tree
        self.code = code

    def build(self, kind: Any, value: Any, path: str) -> Any:
        match take_apart(kind):
            case Record(python, fields, closed):
                # None: a section whose lines are all commented out
                return self._record(python, fields, {} if value is None and closed else value, path)
            case MappingOf(_, inner):
                is_gates = getattr(take_apart(inner), "fields", {}).keys() >= _BOUNDS
                expected = "a mapping, such as {METRIC: {min: 0.8}}" if is_gates else "a mapping"
                given = self._mapping({} if value is None else value, path, expected)
                return {key: self.build(inner, item, _join(path, key)) for key, item in given.items()}
            case ListOf(inner):
                if not isinstance(value, list):
                    self._refuse(path, "a list", value)
                return tuple(self.build(inner, item, _join(path, str(number))) for number, item in enumerate(value))
            case Either(options):
                return self._union(options, value, path)
            case Choice(allowed):
                text = str(value) if isinstance(value, Decimal) else value  # version: 2.0, without quotation marks
                return text if text in allowed else self._refuse(path, " or ".join(allowed), value, allowed)
            case Plain(python):
                return self._scalar(python, value, path)
        raise TypeError(f"no rule to read {kind}")  # a setting of a kind that nobody wrote a rule for

    def _union(self, options: tuple[Any, ...], value: Any, path: str) -> Any:
        """`X | None`, or a plain value that may also be a mapping."""
        if value is None and NoneType in options:
            return None
        kinds = [option for option in options if option is not NoneType]
        fitting = [kind for kind in kinds if isinstance(take_apart(kind), Record) == isinstance(value, dict)]
        return self.build((fitting or kinds)[0], value, path)

    def _record(self, python: Any, fields: Mapping[str, Field], value: Any, path: str) -> Any:
        given = self._mapping(value, path, f"a mapping{self._example(fields, value)}")
        for key in given:
            if key not in fields:
                inner = _join(path, key)
                raise ConfigError(
                    f"{self.code}.unknown_key",
                    f"there is no setting {inner}",
                    place=self.tree.place(inner),
                    expected="one of " + ", ".join(fields),
                    found=key,
                    advice=_home(fields, key, given[key]) or did_you_mean(_SIGNS.get(key, key), fields),
                )
        for key, field in fields.items():
            if field.required and key not in given:
                raise ConfigError(
                    f"{self.code}.wrong_value",
                    f"{path or 'it'} needs the setting {key}",
                    place=self.tree.place(path),
                    expected=key,
                    found="nothing",
                )
        return python(**{key: self.build(fields[key].kind, item, _join(path, key)) for key, item in given.items()})

    def _example(self, fields: Mapping[str, Field], value: Any) -> str:
        """For a plain value where a mapping must stand: the first setting of it that would take the value."""
        if isinstance(value, str) and fields.keys() >= _BOUNDS:
            sign, number = _comparison(value)
            example = "0.8" if number is None or _is_long(number) else f"{number:f}"
            return f", such as {{{_SIGNS.get(sign, 'min')}: {example}}}"
        if isinstance(value, str | bool | Decimal) and len(str(value)) <= _SHOWN_IN_EXAMPLE:
            for key, field in fields.items():
                try:
                    self.build(field.kind, value, "")
                except ConfigError:
                    continue
                return f", such as {{{key}: {str(value).lower() if isinstance(value, bool) else value}}}"
        return ""

    def _mapping(self, value: Any, path: str, wanted: str) -> dict[str, Any]:
        return value if isinstance(value, dict) else self._refuse(path, wanted, value)

    def _scalar(self, python: type, value: Any, path: str) -> Any:
        if python is str:
            if isinstance(value, Decimal):
                return str(value)  # version: 2.0, without the quotation marks
            return value if isinstance(value, str) and value.strip() else self._refuse(path, "a text", value)
        number = isinstance(value, Decimal) and not _is_long(value)
        if python is Share and number and 0 <= value <= 1:
            return Share(value)
        if python is Positive and number and value > 0:
            return Positive(value)
        if (python is Decimal and number) or (python is bool and isinstance(value, bool)):
            return value
        nearly = isinstance(value, str) or (isinstance(value, Decimal) and _is_long(value))
        advice = _as_number(str(value)) if python is not bool and nearly else None
        return self._refuse(path, expected(python), value, advice=advice)

    def _refuse(
        self, path: str, wanted: str, value: Any, words: tuple[str, ...] = (), advice: str | None = None
    ) -> typing.NoReturn:
        raise ConfigError(
            f"{self.code}.wrong_value",
            "this value is not allowed",
            place=self.tree.place(path),
            expected=wanted,
            found=describe(value),
            advice=advice or (did_you_mean(value, words) if isinstance(value, str) else None),
        )


def _as_number(text: str) -> str | None:
    """Advice for a string that is nearly a number: in quotation marks, with an exponent, a percent sign or `>=`."""
    _, number = _comparison(text)
    if number is None:
        return None
    if _is_long(number):
        return "write a number of fewer digits"
    plain = f"{number:f}"
    return f"write it {'without quotation marks' if plain == text else 'in digits'}: {plain}"


def _comparison(text: str) -> tuple[str, Decimal | None]:
    """The sign before a number, if any, and the number, of which a percent sign is part; None where it is not one."""
    rest = text.strip()
    sign = next((sign for sign in _SIGNS if rest.startswith(sign)), "")
    rest = rest.removeprefix(sign).strip()
    try:
        number = Decimal(rest.removesuffix("%"))
    except InvalidOperation:
        return sign, None
    if not number.is_finite():
        return sign, None
    return sign, number if _is_long(number) or not rest.endswith("%") else number / 100


def _is_long(number: Decimal) -> bool:
    return abs(number.adjusted()) >= MAX_DIGITS or len(number.as_tuple().digits) >= MAX_DIGITS


def _home(fields: Mapping[str, Field], key: str, value: Any) -> str | None:
    """Advice for a setting that stands a level too high: the section that it belongs to."""
    for name, field in fields.items():
        match take_apart(field.kind):
            case Record(_, inner, _) if key in inner:
                return f"it belongs under {name}: {name}: {{{key}: …}}"
            case MappingOf(_, inner) if isinstance(value, dict) and value and _fits(take_apart(inner), value):
                return f"it belongs under {name}: {name}: {{{key}: …}}"
    return None


def _fits(kind: Any, value: Mapping[str, Any]) -> bool:
    return isinstance(kind, Record) and value.keys() <= kind.fields.keys()


def _join(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
