"""Counting the steps of reading: how often Python calls, and how many characters are looked at on the way.

Both halves are needed. A loop over the text is seen as calls; a search of a pattern, a slice or a `find` is one
call however long it takes, so what it looked at is added. The same text gives the same count on any machine.

What is not seen: how often a pattern goes back over the same characters inside one search.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from cProfile import Profile
from functools import partial
from json import JSONDecodeError
from types import ModuleType
from typing import Any

import orjson
import pytest


class Steps:
    """The number of steps so far."""

    def __init__(self) -> None:
        self.count = 0


_steps = Steps()  # the text and the patterns have no other way to it


def steps_of(work: Callable[[str], object], text: str) -> int:
    """How many steps a piece of work takes on a text."""
    _steps.count = 0
    calls = Profile(subcalls=False)
    counted = Text(text)
    calls.runcall(work, counted)
    return _steps.count + sum(entry.callcount for entry in calls.getstats())


class Text(str):
    """A text that counts the characters that its methods look at; its parts count too."""

    __slots__ = ()

    def __getitem__(self, key: Any) -> str:
        part = str.__getitem__(self, key)
        _steps.count += len(part)
        return Text(part) if isinstance(key, slice) else part

    def _find(self, method: Callable[..., int], part: str, start: int = 0, end: int | None = None) -> int:
        end = len(self) if end is None else min(end, len(self))
        found = method(self, part, start, end)
        _steps.count += max(0, end - start if found < 0 else abs(found - (start if method is not str.rfind else end)))
        return found

    def find(self, *where: Any) -> int:
        return self._find(str.find, *where)

    def rfind(self, *where: Any) -> int:
        return self._find(str.rfind, *where)

    def index(self, *where: Any) -> int:
        return self._find(str.index, *where)

    def count(self, part: str, start: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        end = len(self) if end is None else end
        _steps.count += max(0, end - start)
        return str.count(self, part, start, end)

    def __contains__(self, part: object) -> bool:
        return self.find(part) >= 0


def _looks_at_all(name: str) -> Callable[..., Any]:
    method = getattr(str, name)

    def counted(self: Text, *arguments: Any) -> Any:
        _steps.count += len(self)
        made = method(self, *arguments)
        return Text(made) if type(made) is str else made

    return counted


for _name in ("strip", "rstrip", "lstrip", "split", "replace", "encode", "casefold", "lower", "translate"):
    setattr(Text, _name, _looks_at_all(_name))


class Counting:
    """A compiled pattern that adds what it looked at: to the end of the match, or to the limit where there is none."""

    def __init__(self, compiled: re.Pattern[str]) -> None:
        self._compiled = compiled

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiled, name)

    def match(self, text: str, *span: int) -> re.Match[str] | None:
        found = self._compiled.match(text, *span)
        if found is not None:
            _steps.count += found.end() - found.start()
        return found

    def fullmatch(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        end = len(text) if end is None else min(end, len(text))
        _steps.count += max(0, end - start)
        return self._compiled.fullmatch(text, start, end)

    def search(self, text: str, start: int = 0, end: int | None = None) -> re.Match[str] | None:
        end = len(text) if end is None else min(end, len(text))
        found = self._compiled.search(text, start, end)
        _steps.count += max(0, (end if found is None else found.end()) - start)
        return found

    def finditer(self, text: str, start: int = 0, end: int | None = None) -> Iterator[re.Match[str]]:
        end = len(text) if end is None else min(end, len(text))
        for found in self._compiled.finditer(text, start, end):
            _steps.count += found.end() - start + 1
            start = found.end()
            yield found
        _steps.count += max(0, end - start)

    def sub(self, by: Any, text: str) -> str:
        _steps.count += len(text)
        return self._compiled.sub(by, text)


@contextmanager
def counted(package: ModuleType) -> Iterator[None]:
    """With every pattern of a package's modules, and the two decoders of JSON, replaced by ones that count."""
    with pytest.MonkeyPatch.context() as patch:
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, re.Pattern):
                    patch.setattr(f"{module.name}.{name}", Counting(value))
                elif isinstance(value, dict):
                    for key, item in value.items():
                        if isinstance(item, re.Pattern):
                            patch.setitem(value, key, Counting(item))
                elif name == "scan_exact":
                    patch.setattr(f"{module.name}.{name}", partial(_scan, value))
        patch.setattr("orjson.loads", partial(_loads, orjson.loads))
        yield


def _scan(scan: Callable[..., tuple[Any, int]], text: str, start: int = 0) -> tuple[Any, int]:
    try:
        value, end = scan(text, start)
    except JSONDecodeError as error:
        _steps.count += error.pos - start
        raise
    _steps.count += end - start
    return value, end


def _loads(loads: Callable[[str], Any], text: str) -> Any:
    _steps.count += len(text)
    return loads(str(text))  # orjson wants no other kind of text
