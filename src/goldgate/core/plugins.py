"""What other distributions add to goldgate through entry points: suites, dialects and layouts."""

from __future__ import annotations

import os
import sys
from collections.abc import Container, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from goldgate.errors import ConfigError, GoldgateError

T = TypeVar("T")

_MARK = b"[goldgate."  # how a group of ours begins in entry_points.txt
_METADATA = (".dist-info", ".egg-info")


def load_target(target: str) -> Any:
    """What "module:attribute" names, imported."""
    module, _, attribute = target.partition(":")
    return getattr(import_module(module), attribute)


class Plugin(NamedTuple):
    """An entry point of another distribution."""

    name: str
    value: str  # "module:attribute"
    distribution: str

    def load(self, kind: type[T] | tuple[type[T], ...], group: str) -> T:
        """The object that it names; a ConfigError if it cannot be imported or is something else."""
        try:
            loaded = load_target(self.value)
        except Exception as problem:
            raise self._error(group, f"{type(problem).__name__}: {problem}") from problem
        if not isinstance(loaded, kind):
            raise self._error(group, f"{self.value} is a {type(loaded).__name__}")
        return loaded

    def _error(self, group: str, why: str) -> ConfigError:
        return ConfigError(
            "plugin.broken",
            f"the distribution {self.distribution} adds {self.name} to {group}, which cannot be loaded",
            found=why,
            advice=f"update or uninstall {self.distribution}",
        )


def find_plugins(group: str, taken: Container[str] = ()) -> dict[str, Plugin]:
    """The plugins of a group by name. One whose name is taken already is left out with a warning."""
    plugins: dict[str, Plugin] = {}
    for plugin in _declared().get(group, ()):
        if plugin.name in taken or plugin.name in plugins:
            warn(f"{plugin.name} of the distribution {plugin.distribution} is left out: {group} has one of this name")
        else:
            plugins[plugin.name] = plugin
    return plugins


def load_plugins(group: str, kind: type[T] | tuple[type[T], ...], taken: Container[str] = ()) -> Iterator[T]:
    """What the plugins of a group name. One that cannot be loaded is left out with a warning."""
    for plugin in find_plugins(group, taken).values():
        try:
            yield plugin.load(kind, group)
        except GoldgateError as error:
            warn(f"{error.message}: {error.found}")


@cache
def warn(message: str) -> None:
    """Log a warning, once."""
    import logging  # only here: the help of the command line imports this module

    logging.getLogger("goldgate").warning("%s", message)


@cache
def _declared() -> dict[str, list[Plugin]]:
    """All plugins by group, in the order of `sys.path`.

    Importing importlib.metadata takes 25 ms or more, looking for a distribution that names a group of ours 0.7 ms: it
    is imported only if there is one.
    """
    if not any(map(_declares_plugins, sys.path)):
        return {}
    from importlib.metadata import distributions

    plugins: dict[str, list[Plugin]] = {}
    for distribution in distributions():
        for entry in distribution.entry_points:
            if entry.group.startswith("goldgate."):
                of_group = plugins.setdefault(entry.group, [])
                plugin = Plugin(entry.name, entry.value, distribution.name)
                of_group += [] if plugin in of_group else [plugin]  # a folder may be on the path twice
    return plugins


def _declares_plugins(folder: str) -> bool:
    with suppress(OSError), os.scandir(folder or ".") as entries:  # a zip file, or nothing
        for entry in entries:
            if entry.name.endswith(_METADATA):
                with suppress(OSError), open(os.path.join(entry.path, "entry_points.txt"), "rb") as stream:
                    if _MARK in stream.read():
                        return True
    return False
