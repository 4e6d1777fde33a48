"""A table of cases as one test: the case that fails is named in its error."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any, TypeVar

import pytest

MAX_NAME = 200
Error = TypeVar("Error", bound=BaseException)


def error_from(kind: type[Error], call: Callable[..., object], /, *arguments: Any, **options: Any) -> Error:
    """The error of this kind with which the call ends."""
    with pytest.raises(kind) as caught:
        call(*arguments, **options)
    return caught.value


def cases(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call a test with every row; takes what `pytest.mark.parametrize` takes, but no marks, and is far cheaper.

    What other fixtures the test has, all cases share: it is for tests that leave nothing behind.
    """
    keys = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    table = [_values(row, len(keys)) for row in rows]
    assert table, "a table without cases tests nothing"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def try_each(**others: Any) -> None:
            for number, values in enumerate(table, 1):
                try:
                    test(**others, **dict(zip(keys, values, strict=True)))
                except BaseException as error:
                    name = ", ".join(f"{key}={value!r}" for key, value in zip(keys, values, strict=True))
                    error.add_note(f"case {number} of {len(table)}: {name[:MAX_NAME]}")
                    raise

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in keys]
        try_each.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]  # what pytest asks
        return try_each

    return decorate


def _values(row: Any, count: int) -> tuple[Any, ...]:
    """The values of a row, which may be a `pytest.param` without marks."""
    if hasattr(row, "marks"):
        assert not row.marks, "a case with a mark is a test of its own"
        return tuple(row.values)
    return (row,) if count == 1 else tuple(row)
