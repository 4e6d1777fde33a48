"""Units as pairing keeps them: what was asked for, in eight bytes, and what was counted, by table and by part."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from hashlib import blake2b
from typing import NamedTuple

from goldgate.core.counted_unit import Key
from goldgate.readers.recorded_units import UnitTables, add_checked, all_counts_of, read_units, twice
from goldgate.readers.stored_result import StoredResult

ID_BYTES = 8
NOBODY = b"\0" * ID_BYTES  # the id of what nobody asked for: runs of no query


class Unit(NamedTuple):
    """What was asked for, the group that it is part of, and what it counted. No identity: nobody asked for it."""

    identity: str | None
    group: str | None
    counts: UnitTables


def unit_id(identity: str | None) -> bytes:
    """Eight bytes for an identity: among a million units, two are alike with a chance of 1 to 36 million."""
    return NOBODY if identity is None else blake2b(identity.encode(), digest_size=ID_BYTES).digest()


def counted_units(result: StoredResult) -> Iterator[Unit]:
    """The units of a stored result, in the order of its records; two of one id only where that is expected."""
    seen, several = set[bytes](), result.suite.pairing.several
    for unit in read_units(result):
        if not several and unit.identity is not None:
            key = unit_id(unit.identity)
            if key in seen:
                raise twice(unit.identity, result)
            seen.add(key)
        yield Unit(unit.identity, unit.group, all_counts_of(unit, result))


def collect_units(result: StoredResult, wanted: Collection[Key] | None = None) -> dict[bytes, UnitTables]:
    """The counts of every unit by its id, of the tables that are wanted; several records of one are added up."""
    found: dict[bytes, UnitTables] = {}
    for unit in counted_units(result):
        counts = unit.counts
        if wanted is not None:
            counts = {table: counts[table] for table in wanted if table in counts}
        add_checked(found.setdefault(unit_id(unit.identity), {}), counts, result)
    return found
