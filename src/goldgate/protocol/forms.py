"""The form of answers that a protocol declares: settings that contradict each other are mistakes."""

from __future__ import annotations

from dataclasses import asdict

from goldgate.errors import ConfigError, describe
from goldgate.files.tree import Tree
from goldgate.protocol.model import KeySettings, ResponseSettings

_KEYS = "metrics.response.keys"
# The names that stand in one object: what a key says there must be clear.
_SIDE_BY_SIDE = (("events", "event_type", "arguments"), ("role", "argument"))


def check_form(settings: ResponseSettings, tree: Tree) -> None:
    """Raise a ConfigError where two settings exclude each other, or one could do nothing."""
    changed = [name for name, keys in asdict(settings.keys).items() if keys != getattr(KeySettings(), name)]
    if settings.flat is not None and settings.arguments == "mapping":
        raise _excluded(tree, "metrics.response.arguments", "mapping", "metrics.response.flat")
    for name in changed:
        keys = getattr(settings.keys, name)
        if not keys:
            raise _wrong(tree, f"{_KEYS}.{name}", "this list names no key", "one key or more", describe(keys))
        if settings.flat is not None:
            raise _excluded(tree, f"{_KEYS}.{name}", " ".join(keys), "metrics.response.flat")
        if settings.arguments == "mapping" and name in ("role", "argument"):
            raise _excluded(tree, f"{_KEYS}.{name}", " ".join(keys), "metrics.response.arguments: mapping")
    _check_clear(settings.keys, tree, changed)


def all_keys(keys: KeySettings) -> KeySettings:
    """The keys in the order in which they are looked for: those declared, then our own."""
    own = asdict(KeySettings())
    return KeySettings(**{name: tuple(dict.fromkeys((*listed, *own[name]))) for name, listed in asdict(keys).items()})


def _check_clear(keys: KeySettings, tree: Tree, changed: list[str]) -> None:
    """One key must not say two things in the same object."""
    read = asdict(all_keys(keys))
    for names in _SIDE_BY_SIDE:
        for name in names:
            for other in names:
                both = set(read[name]) & set(read[other])
                if name != other and name in changed and both:
                    key = min(both)
                    raise _wrong(
                        tree, f"{_KEYS}.{name}", f"the key {key} is also read as {other}", "another key", describe(key)
                    )


def _excluded(tree: Tree, setting: str, value: str, by: str) -> ConfigError:
    return ConfigError(
        "protocol.wrong_value",
        f"{setting} does nothing beside {by}",
        place=tree.place(setting),
        expected=f"one of the two: {setting} or {by}",
        found=f"{value}, and {by}",
        advice="keep the one that says what the answers look like",
    )


def _wrong(tree: Tree, setting: str, message: str, expected: str, found: str) -> ConfigError:
    return ConfigError("protocol.wrong_value", message, place=tree.place(setting), expected=expected, found=found)
