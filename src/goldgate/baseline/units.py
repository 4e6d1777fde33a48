"""What each unit of a stored run counted: from the records of a result folder, or packed into a baseline folder."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate.core.suite import Pairing
from goldgate.core.sums import Counts
from goldgate.core.tally import Key
from goldgate.errors import InputError, Place
from goldgate.files.pipe import opener
from goldgate.files.text_file import cannot_read
from goldgate.readers.unit_records import GROUP, units_of

ID_BYTES = 8
NOBODY = b"\0" * ID_BYTES  # the id of what nobody asked for: runs of no query

UnitTables = dict[Key, Counts]  # by table and by part of one


class Unit(NamedTuple):
    """What was asked for, the group that it is part of, and what it counted. No identity: nobody asked for it."""

    identity: str | None
    group: str | None
    counts: UnitTables


def unit_id(identity: str | None) -> bytes:
    """Eight bytes for an identity: among a million units, two are alike with a chance of 1 to 36 million."""
    return NOBODY if identity is None else blake2b(identity.encode(), digest_size=ID_BYTES).digest()


def unit_of(record: Mapping[str, Any], counted: UnitTables, pairing: Pairing) -> Unit:
    """The unit of a record that counted this; of several, the sum of them."""
    identity = record[pairing.field]
    times = int(record.get(pairing.times, 1)) if pairing.times is not None else 1
    counts = counted if times == 1 else {key: tuple([n * times for n in found]) for key, found in counted.items()}
    return Unit(None if identity is None else str(identity), record.get(GROUP), counts)


def read_records(path: Path, name: str, pairing: Pairing) -> Iterator[Unit]:
    """The units of a file of records, in its order; `name` is the file's in errors."""
    number = 0
    try:
        with open(path, "rb", opener=opener) as stream:
            for line in stream:
                number += 1
                record = orjson.loads(line)
                counted = units_of(record)
                if any(type(n) is not int or n < 0 for counts in counted.values() for n in counts):
                    raise TypeError("counts are integers from 0 on")
                yield unit_of(record, counted, pairing)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError(
            "records.malformed",
            "this record does not say what its unit counted",
            place=Place(name, number),
            expected=f"a record with {pairing.field} and units, as goldgate writes it",
            advice="score it again with this version, with --out",
        ) from None
    except OSError as problem:
        raise cannot_read(name, "records", problem) from None


def collect_units(
    units: Iterator[Unit], name: str, pairing: Pairing, wanted: Collection[Key] | None = None
) -> dict[bytes, UnitTables]:
    """The counts of every unit by its id, of the tables that are wanted; several records of one are added up."""
    found: dict[bytes, UnitTables] = {}
    for unit in units:
        key, counts = unit_id(unit.identity), unit.counts
        if wanted is not None:
            counts = {table: counts[table] for table in wanted if table in counts}
        known = found.get(key)
        if known is None:
            found[key] = dict(counts)
        elif pairing.several or unit.identity is None:
            add_tables(known, counts)
        else:
            raise twice(unit, name)
    return found


def twice(unit: Unit, name: str) -> InputError:
    """The error for two records of one unit."""
    return InputError(
        "records.duplicate_id",
        "two records have the same id",
        place=Place(name),
        expected="a record for each id",
        found=f"{unit.identity} twice",
        advice="score it again with --out",
    )


def add_tables(mine: UnitTables, theirs: Mapping[Key, Counts]) -> None:
    """Add counts to counts, table by table."""
    for key, counts in theirs.items():
        had = mine.get(key)
        mine[key] = counts if had is None else tuple([a + b for a, b in zip(had, counts, strict=True)])


def other_counts(name: str) -> InputError:
    """The error for records whose tables are not those of this version."""
    return InputError(
        "records.malformed",
        "these records do not count what this version counts",
        place=Place(name),
        advice="score it again with this version, with --out",
    )
