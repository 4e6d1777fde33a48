"""What the runner of GitHub Actions makes of a log: which lines it obeys, and what they say to it."""

from __future__ import annotations

from typing import NamedTuple

_DATA = {"%0D": "\r", "%0A": "\n", "%25": "%"}
_PROPERTY = {"%0D": "\r", "%0A": "\n", "%3A": ":", "%2C": ",", "%25": "%"}


class Command(NamedTuple):
    """A line that is obeyed."""

    name: str
    properties: dict[str, str]
    data: str


def obeyed(log: str) -> list[Command]:
    """The commands of a log, in both of the runner's grammars; lines end wherever any reader ends one."""
    found = [_second(line) or _first(line) for line in log.splitlines()]
    return [command for command in found if command is not None]


def _second(line: str) -> Command | None:
    """`::name key=value,key=value::data`, at the start of a line."""
    line = line.lstrip()
    if not line.startswith("::") or "::" not in line[2:]:
        return None
    head, _, data = line[2:].partition("::")
    name, _, rest = head.partition(" ")
    pairs = [pair.partition("=") for pair in rest.split(",") if "=" in pair]
    return Command(
        name, {key.strip(): _unescaped(value, _PROPERTY) for key, _, value in pairs}, _unescaped(data, _DATA)
    )


def _first(line: str) -> Command | None:
    """`##[name key=value;]data`, anywhere in a line."""
    _, mark, rest = line.partition("##[")
    if not mark or "]" not in rest:
        return None
    name, _, data = rest.partition("]")
    return Command(name, {}, data)


def _unescaped(text: str, escapes: dict[str, str]) -> str:
    for written, character in escapes.items():
        text = text.replace(written, character)
    return text
