"""Published formats of gold. A new one is a file here and a line in the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from goldgate.errors import ConfigError, did_you_mean
from goldgate.readers.dialects import chfinann, docee, duee, duee_fin, maven, maven_arg, oneie, rams, wikievents
from goldgate.readers.dialects.dialect import Dialect

OWN = "goldgate"  # our own form, which is read as it is
_OURS = {"id", "text", "events"}  # which says nothing of any other

# In the order in which they are tried: each before those that would take its records too.
DIALECTS: tuple[Dialect, ...] = (
    wikievents.DIALECT,
    rams.DIALECT,
    maven_arg.DIALECT,
    maven.DIALECT,
    oneie.DIALECT,
    docee.DIALECT,
    chfinann.DIALECT,
    duee_fin.DIALECT,
    duee.DIALECT,
    rams.OEE_CFC,
)


def recognize(record: Any) -> Dialect | None:
    """The dialect that a decoded record is written in; None for our own form, and for what nobody knows."""
    return next((dialect for dialect in DIALECTS if dialect.recognizes(record)), None)


def recognize_first(records: Iterable[Any]) -> Dialect | None:
    """The dialect of the first record; where that could be of two, of the first that could not."""
    first: Dialect | None = None
    for record in records:
        dialect = recognize(record)
        if dialect is None or dialect.tells(record):
            return dialect or first
        first = first or dialect
    return first


def nearest(record: Mapping[str, Any]) -> str | None:
    """What an object that nobody recognizes lacks of the dialect that it is most like; None if it is like none."""
    most: tuple[int, Dialect] | None = None
    for dialect in DIALECTS:
        found = {key for key in dialect.keys if key in record}
        has = len(found) if found - _OURS else 0
        if has > 1 and 2 * has >= len(dialect.keys) and (most is None or has > most[0]):
            most = has, dialect
    if most is None:
        return None
    name, lacks = most[1].name, ", ".join(key for key in most[1].keys if key not in record)
    return f"it is most like {name}, which also has {lacks}" if lacks else f"is it {name}? then --dialect {name}"


def find_dialect(name: str) -> Dialect | None:
    """The dialect of this name, None for our own; a ConfigError if there is none."""
    if name == OWN:
        return None
    found = next((dialect for dialect in DIALECTS if dialect.name == name), None)
    if found is None:
        names = [OWN, *(dialect.name for dialect in DIALECTS)]
        raise ConfigError(
            "dialect.unknown",
            f"there is no dialect {name}",
            expected=", ".join(names),
            found=name,
            advice=did_you_mean(name, names),
        )
    return found
