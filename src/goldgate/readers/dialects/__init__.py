"""Published formats of gold. A new one is a file here and a line in the list, or an entry point `goldgate.dialects`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from goldgate.core.plugins import load_plugins
from goldgate.errors import ConfigError, did_you_mean
from goldgate.readers.dialects import bio, chfinann, docee, duee, maven, rams, triples, wikievents
from goldgate.readers.dialects.dialect import Dialect

OWN_FORM = "goldgate"  # our own form, which is read as it is
_OWN_KEYS = {"id", "text", "events"}  # by these no dialect is told

# In the order in which they are tried: each before those that would take its records too.
DIALECTS: tuple[Dialect, ...] = (
    wikievents.WIKIEVENTS,
    rams.RAMS,
    maven.MAVEN_ARG,
    maven.MAVEN,
    wikievents.ONEIE,
    docee.DOCEE,
    chfinann.CHFINANN,
    duee.DUEE_FIN,
    duee.DUEE,
    rams.OEE_CFC,
    bio.BIO,
    triples.TRIPLES,
)

_SHARED_KEYS = _OWN_KEYS | {"title", "tokens"}  # that records in our own form may have too
# A record with `events` and none of these is in our own form, or in that of another distribution.
_FOREIGN_KEYS = frozenset(key for dialect in DIALECTS for key in dialect.keys) - _SHARED_KEYS


@cache
def all_dialects() -> tuple[Dialect, ...]:
    """Ours, then those of other distributions."""
    taken = {OWN_FORM, *(dialect.name for dialect in DIALECTS)}
    return (*DIALECTS, *load_plugins("goldgate.dialects", Dialect, taken))


def recognize_dialect(record: Any) -> Dialect | None:
    """The dialect that a decoded record is written in; None for our own form, and for an unknown one."""
    dialects = all_dialects()
    if isinstance(record, dict) and "events" in record and _FOREIGN_KEYS.isdisjoint(record):
        dialects = dialects[len(DIALECTS) :]
    return next((dialect for dialect in dialects if dialect.recognizes(record)), None)


def recognize_dialect_of(records: Iterable[Any]) -> Dialect | None:
    """The dialect of the first record; where that could be of two, of the first that could not."""
    first: Dialect | None = None
    for record in records:
        dialect = recognize_dialect(record)
        if dialect is None or dialect.is_conclusive(record):
            return dialect or first
        first = first or dialect
    return first


def nearest_dialect_advice(record: Mapping[str, Any]) -> str | None:
    """What an object in no dialect lacks of the dialect that it is most like; None if it is like none."""
    most: tuple[int, Dialect] | None = None
    for dialect in all_dialects():
        present = {key for key in dialect.keys if key in record}
        has = len(present) if present - _OWN_KEYS else 0
        if has > 1 and 2 * has >= len(dialect.keys) and (most is None or has > most[0]):
            most = has, dialect
    if most is None:
        return None
    name, lacks = most[1].name, ", ".join(key for key in most[1].keys if key not in record)
    return f"it is most like {name}, which also has {lacks}" if lacks else f"is it {name}? then --dialect {name}"


def find_dialect(name: str) -> Dialect | None:
    """The dialect of this name, None for our own; a ConfigError if there is none."""
    if name == OWN_FORM:
        return None
    match = next((dialect for dialect in all_dialects() if dialect.name == name), None)
    if match is None:
        names = [OWN_FORM, *(dialect.name for dialect in all_dialects())]
        raise ConfigError(
            "dialect.unknown",
            f"there is no dialect {name}",
            expected=", ".join(names),
            found=name,
            advice=did_you_mean(name, names),
        )
    return match
