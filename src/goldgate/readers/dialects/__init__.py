"""Published formats of gold. A new one is a file here and a line in the list."""

from __future__ import annotations

from typing import Any

from goldgate.errors import ConfigError, did_you_mean
from goldgate.readers.dialects import docee, duee, duee_fin, maven, maven_arg, oneie, rams, wikievents
from goldgate.readers.dialects.dialect import Dialect

OWN = "goldgate"  # our own form, which is read as it is

# In the order in which they are tried: each before those that would take its records too.
DIALECTS: tuple[Dialect, ...] = (
    wikievents.DIALECT,
    rams.DIALECT,
    maven_arg.DIALECT,
    maven.DIALECT,
    oneie.DIALECT,
    docee.DIALECT,
    duee_fin.DIALECT,
    duee.DIALECT,
)


def recognize(record: Any) -> Dialect | None:
    """The dialect that a decoded record is written in; None for our own form, and for what nobody knows."""
    return next((dialect for dialect in DIALECTS if dialect.recognizes(record)), None)


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
