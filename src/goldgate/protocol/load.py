"""A protocol file, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any

from goldgate.errors import ConfigError, describe
from goldgate.files.text_file import read_text
from goldgate.files.tree import Tree, parse_yaml
from goldgate.files.url import shown_url
from goldgate.protocol.gate_bounds import contradiction
from goldgate.protocol.model import GENERATION, Protocol, file_kind
from goldgate.shape.build import build

Sections = Mapping[str, type]  # the settings that each section of a file holds, by its name


@dataclass(frozen=True, slots=True)
class LoadedProtocol:
    """A protocol, with where it came from."""

    protocol: Protocol = field(default_factory=Protocol)
    file: str | None = None
    sha256: str | None = None
    lines: dict[str, int] = field(default_factory=dict)


ProtocolSource = str | Path | Protocol | LoadedProtocol | Mapping[str, Any] | None


def obtain_protocol(source: ProtocolSource, sections: Sections) -> LoadedProtocol:
    """A checked protocol from whatever a caller has: a path, plain values, a protocol, or nothing for the defaults."""
    if source is None:
        return LoadedProtocol()
    if isinstance(source, LoadedProtocol):
        return source
    if isinstance(source, Protocol):
        source = source.as_file()
    if isinstance(source, Mapping):
        return LoadedProtocol(_build(Tree("protocol", _exact(source)), sections))
    if not isinstance(source, (str, Path)):
        raise ConfigError(
            "protocol.wrong_value",
            "this cannot be a protocol",
            expected="a path, a mapping of settings, a Protocol, or None for the defaults",
            found=describe(source),
        )
    text, sha256 = read_text(source, "protocol")
    file = shown_url(str(source))
    tree = parse_yaml(text, file)
    return LoadedProtocol(_build(tree, sections), file, sha256, tree.lines)


def _build(tree: Tree, sections: Sections) -> Protocol:
    """Any mistake is a ConfigError with file, line and setting."""
    found: Any = build(file_kind(sections), tree, "protocol")
    protocol = Protocol(
        found.protocol,
        {name: getattr(found, name) for name in (*sections, GENERATION)},
        found.gates,
        found.baseline,
    )
    _check_gates(protocol, tree)
    return protocol


def _check_gates(protocol: Protocol, tree: Tree) -> None:
    for name, gate in protocol.gates.items():
        problem = contradiction(name, gate)
        if problem is not None:
            problem.place = tree.place(f"gates.{name}{problem.place.field or ''}")
            raise problem


def _exact(value: Any) -> Any:
    """Numbers as the decimals that they are written as: 0.8 is 8/10, not the nearest float."""
    if isinstance(value, Mapping):
        return {_name(key): _exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return value
    if isinstance(value, int):
        return Decimal(int(value))
    return Decimal(str(value)) if isfinite(value) else float(value)  # NaN is refused like any other value


def _name(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise ConfigError(
        "protocol.wrong_value", "this cannot be the name of a setting", expected="a string", found=describe(key)
    )
