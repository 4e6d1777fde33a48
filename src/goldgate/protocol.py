"""The protocol: every setting that can change a number or a verdict, in one versioned file, read and checked.

Every suite adds a section with its own settings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, make_dataclass
from decimal import Decimal
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from goldgate.core.gate import Gate
from goldgate.core.suite import ProtocolInfo
from goldgate.errors import ConfigError, describe_value
from goldgate.files.address import public_url
from goldgate.files.parsing import YamlTree, parse_yaml
from goldgate.files.reading import read_text_file
from goldgate.shape.validation import build_dataclass

T = TypeVar("T")

GENERATION = "generation"
_SHARED = ("protocol", "gates", GENERATION, "baseline")  # what any protocol may have, whatever suite it is for


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost. Reasoning tokens are billed as output."""

    input: Decimal = Decimal(0)
    output: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class GenerationSettings:
    """What asking a model costs: prices by the model's name, `default` for all others. No score depends on it."""

    currency: str = "USD"
    prices: dict[str, Price] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Protocol:
    """A whole protocol: settings by the name of their section, and gates. What it leaves out has its default."""

    protocol: ProtocolInfo = field(default_factory=ProtocolInfo)
    sections: Mapping[str, Any] = field(default_factory=dict)
    gates: dict[str, Gate] = field(default_factory=dict)
    baseline: str | None = None  # a file, named from the protocol's own folder

    def section(self, name: str, kind: type[T]) -> T:
        """The settings of a section."""
        settings = self.sections.get(name, None)
        return kind() if settings is None else settings

    @property
    def generation(self) -> GenerationSettings:
        return self.section(GENERATION, GenerationSettings)

    def as_file(self) -> dict[str, Any]:
        """Plain values, laid out as in the file."""
        return {
            "protocol": asdict(self.protocol),
            **{name: asdict(settings) for name, settings in self.sections.items()},
            "gates": {name: asdict(gate) for name, gate in self.gates.items()},
            "baseline": self.baseline,
        }


def protocol_file_type(sections: Mapping[str, type]) -> type:
    """The type of a protocol file that may have these sections."""
    return make_dataclass(
        "Protocol",
        [
            ("protocol", ProtocolInfo, field(default_factory=ProtocolInfo)),
            *((name, kind, field(default_factory=kind)) for name, kind in sections.items()),
            ("gates", dict[str, Gate], field(default_factory=dict)),
            (GENERATION, GenerationSettings, field(default_factory=GenerationSettings)),
            ("baseline", str | None, None),
        ],
        namespace={"__doc__": "A whole protocol file."},
    )


MIN_CONFIDENCE = Decimal("0.8")  # with less, a gate says next to nothing: at 0.5 the value alone decides
MAX_CONFIDENCE = Decimal("0.9999")  # beyond, nothing is ever refuted, and no interval was tried so far out


def _check_gate(tree: YamlTree, name: str, gate: Gate) -> None:
    drops = gate.max_drop is not None or gate.max_rise is not None
    if gate.min is None and gate.max is None and gate.equals is None and not drops:
        raise ConfigError(
            "protocol.gate_without_bound",
            f"the gate on {name} has no bound",
            place=tree.place(f"gates.{name}"),
            expected="min, max or equals, or max_drop with against",
            advice=f"write, for example, {name}: {{min: 0.5}}",
        )

    def refuse(setting: str, message: str, expected: str, value: str, advice: str | None = None) -> NoReturn:
        place = tree.place(f"gates.{name}.{setting}")
        raise ConfigError("protocol.wrong_value", message, place=place, expected=expected, found=value, advice=advice)

    if drops and gate.against is None:
        refuse(
            "max_drop" if gate.max_drop is not None else "max_rise",
            "max_drop and max_rise compare with a stored run",
            "against: a folder with results, or a baseline folder",
            "no against",
            f"write, for example, {name}: {{max_drop: 0.01, against: main/, confidence: 0.95}}",
        )
    if gate.against is not None and not drops:
        refuse("against", "the allowed difference is missing", "max_drop or max_rise", "neither")
    for word, bound in (("max_drop", gate.max_drop), ("max_rise", gate.max_rise)):
        if bound is not None and not 0 <= bound < 1:
            refuse(word, "this difference is not allowed", "a number from 0 to below 1", str(bound))
    if gate.confidence is not None and not MIN_CONFIDENCE <= gate.confidence <= MAX_CONFIDENCE:
        refuse(
            "confidence",
            "this confidence is not allowed",
            f"a number from {MIN_CONFIDENCE} to {MAX_CONFIDENCE}, such as 0.95",
            str(gate.confidence),
            "write 95 % as 0.95; a gate without a confidence is decided by the value alone",
        )
    if gate.confidence is not None and gate.equals is not None:
        message = "an interval cannot be tested for equality"
        refuse("equals", message, "min or max beside confidence", f"equals {gate.equals}")


Sections = Mapping[str, type]  # the settings that each section of a file holds, by its name


@dataclass(frozen=True, slots=True)
class LoadedProtocol:
    """A protocol, with where it came from."""

    protocol: Protocol = field(default_factory=Protocol)
    file: str | None = None
    sha256: str | None = None
    lines: dict[str, int] = field(default_factory=dict)


ProtocolSource = str | Path | Protocol | LoadedProtocol | Mapping[str, Any] | None


def obtain_protocol(
    source: ProtocolSource, sections: Sections, other_sections: Callable[[], Sections] = dict
) -> LoadedProtocol:
    """A checked protocol from whatever a caller has: a path, plain values, a protocol, or nothing for the defaults.

    Other sections are asked for where it has any key but those of `sections`: to import their suites takes a while.
    """
    if source is None:
        return LoadedProtocol()
    if isinstance(source, LoadedProtocol):
        return source
    if isinstance(source, Protocol):
        source = source.as_file()
    if isinstance(source, Mapping):
        return LoadedProtocol(_build(YamlTree("protocol", exact_numbers(source)), sections, other_sections))
    if not isinstance(source, (str, Path)):
        raise ConfigError(
            "protocol.wrong_value",
            "this cannot be a protocol",
            expected="a path, a mapping of settings, a Protocol, or None for the defaults",
            found=describe_value(source),
        )
    text, sha256 = read_text_file(source, "protocol")
    file = public_url(str(source))
    tree = parse_yaml(text, file)
    return LoadedProtocol(_build(tree, sections, other_sections), file, sha256, tree.lines)


def _build(tree: YamlTree, sections: Sections, other_sections: Callable[[], Sections]) -> Protocol:
    """Any mistake is a ConfigError with file, line and setting."""
    if isinstance(tree.value, Mapping) and not tree.value.keys() <= {*_SHARED, *sections}:
        sections = {**other_sections(), **sections}
    try:
        values: Any = build_dataclass(protocol_file_type(sections), tree, "protocol")
    except ConfigError as error:
        error.advice = _decimal_comma_advice(error) or error.advice
        raise
    protocol = Protocol(
        values.protocol,
        {name: getattr(values, name) for name in (*sections, GENERATION)},
        values.gates,
        values.baseline,
    )
    for name, gate in protocol.gates.items():
        _check_gate(tree, name, gate)
    return protocol


def _decimal_comma_advice(error: ConfigError) -> str | None:
    """Advice for `min: 0,8`, which is a string in YAML, and in braces the two settings min and 8."""
    number = re.fullmatch(r'the string "([+-]?\d+),(\d+)"', error.found or "")
    if number is not None:
        return f"decimals have a point: write {number[1]}.{number[2]}"
    in_gate = (error.place.field or "").startswith("gates.") and error.code.endswith("unknown_key")
    is_rest = in_gate and (error.found or "").isdecimal()
    return f"decimals have a point, not a comma: such as 0.{error.found}" if is_rest else None


def exact_numbers(value: Any) -> Any:
    """Numbers as the decimals that they are written as: 0.8 is 8/10, not the nearest float."""
    if isinstance(value, Mapping):
        return {_name(key): exact_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [exact_numbers(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        return value
    if isinstance(value, int):
        return Decimal(int(value))
    return Decimal(str(value)) if isfinite(value) else float(value)  # NaN is refused like any other value


def _name(key: Any) -> str:
    if isinstance(key, str):
        return key
    raise ConfigError(
        "protocol.wrong_value", "this cannot be the name of a setting", expected="a string", found=describe_value(key)
    )
