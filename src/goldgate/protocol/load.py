"""A protocol file, read and checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from goldgate.errors import ConfigError
from goldgate.files.text_file import read_text
from goldgate.files.tree import Tree, parse_yaml
from goldgate.protocol.forms import check_form
from goldgate.protocol.model import Protocol
from goldgate.protocol.shape import build


@dataclass(frozen=True, slots=True)
class LoadedProtocol:
    """A protocol, with where it came from."""

    protocol: Protocol = field(default_factory=Protocol)
    file: str | None = None
    sha256: str | None = None
    lines: dict[str, int] = field(default_factory=dict)


ProtocolSource = str | Path | Protocol | LoadedProtocol | Mapping[str, Any] | None


def obtain_protocol(source: ProtocolSource) -> LoadedProtocol:
    """A checked protocol from whatever a caller has: a path, plain values, a protocol, or nothing for the defaults."""
    if source is None:
        return LoadedProtocol()
    if isinstance(source, LoadedProtocol):
        return source
    if isinstance(source, Protocol):
        return parse_protocol(asdict(source))
    return parse_protocol(source) if isinstance(source, Mapping) else load_protocol(source)


def load_protocol(path: str | Path) -> LoadedProtocol:
    """Read a protocol file; any mistake in it is a ConfigError with file, line and setting."""
    file = str(path)
    text, sha256 = read_text(path, "protocol")
    tree = parse_yaml(text, file)
    protocol = build(Protocol, tree, "protocol")
    _check_gates(protocol, tree)
    _check_tags(protocol, tree)
    check_form(protocol.metrics.response, tree)
    return LoadedProtocol(protocol, file, sha256, tree.lines)


def _check_gates(protocol: Protocol, tree: Tree) -> None:
    for name, gate in protocol.gates.items():
        if gate.min is None and gate.max is None and gate.equals is None:
            raise ConfigError(
                "protocol.gate_without_bound",
                f"the gate on {name} has no bound",
                place=tree.place(f"gates.{name}"),
                expected="min, max or equals",
                advice=f"write, for example, {name}: {{min: 0.5}}",
            )


def _check_tags(protocol: Protocol, tree: Tree) -> None:
    for number, tag in enumerate(protocol.metrics.response.thought_tags):
        if not tag.replace("-", "").replace("_", "").isalnum():
            raise ConfigError(
                "protocol.wrong_value",
                "not the name of a tag",
                place=tree.place(f"metrics.response.thought_tags.{number}"),
                expected="a name without brackets and blanks, such as think",
                found=tag,
            )


def parse_protocol(settings: Mapping[str, Any]) -> LoadedProtocol:
    """A protocol from plain values, checked like a file."""
    tree = Tree("protocol", _exact(settings))
    protocol = build(Protocol, tree, "protocol")
    _check_gates(protocol, tree)
    _check_tags(protocol, tree)
    check_form(protocol.metrics.response, tree)
    return LoadedProtocol(protocol)


def _exact(value: Any) -> Any:
    """Numbers as the decimals that they are written as: 0.8 is 8/10, not the nearest float."""
    if isinstance(value, Mapping):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(item) for item in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Decimal(repr(value))
    return value
