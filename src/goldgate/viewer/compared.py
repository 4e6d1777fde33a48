"""Folders compared: the comparison's numbers, and for each system the units that changed, by their numbers.

It is worked out once and kept, as an index is.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any

from goldgate.comparison.compare import Comparison, compare_systems
from goldgate.comparison.systems import SystemSource
from goldgate.core.evaluation import render_json
from goldgate.errors import GoldgateError
from goldgate.files.strict_json import parse_json
from goldgate.readers.recorded_units import read_units
from goldgate.viewer import cache
from goldgate.viewer.folder import ViewedFolder

CHANGED, WON, LOST = "changed", "won", "lost"
KINDS = (CHANGED, WON, LOST)
_KIND = "compare"


@dataclass
class PairedUnits:
    """The units that changed from one folder to another, the largest change first.

    A change is the unit's part of the difference, nan where that is undefined. Of a side, `starts` says where the
    numbers of a unit's records begin: a system may have several of one unit.
    """

    folders: tuple[int, int]
    changes: array[float]
    starts: tuple[array[int], array[int]]
    numbers: tuple[array[int], array[int]]

    def __len__(self) -> int:
        return len(self.changes)

    def records(self, side: int, place: int) -> Sequence[int]:
        """The numbers of a unit's records in one of the folders."""
        return self.numbers[side][self.starts[side][place] : self.starts[side][place + 1]]

    @cached_property
    def places(self) -> Mapping[str, Sequence[int]]:
        """The places of each kind: the system won a unit that raises the difference, and lost one that lowers it."""
        return {
            CHANGED: range(len(self)),
            WON: array("I", [place for place, change in enumerate(self.changes) if change > 0]),
            LOST: array("I", [place for place, change in enumerate(self.changes) if change < 0]),
        }

    def position(self, kind: str, place: int) -> int | None:
        """Where a unit stands among those of a kind; None if it is none of them."""
        places = self.places[kind]
        at = bisect_left(places, place)
        return at if at < len(places) and places[at] == place else None


@dataclass
class Compared:
    """comparison.json and the pairs of folders; or why there is no comparison."""

    report: Mapping[str, Any] | None = None
    pairs: list[PairedUnits] = field(default_factory=list)
    refused: str = ""


def compare_folders(sources: Sequence[SystemSource], folders: Sequence[ViewedFolder], common: bool = False) -> Compared:
    """All systems compared with the first; what cannot be compared is said and no more."""
    names = [[source.name, len(source.paths)] for source in sources]
    files = [file for folder in folders for file in (folder.result.records, folder.result.file)]
    of = [*cache.identity(files), f"{names} {common}"]
    stored = cache.load(_KIND, of)
    if stored is not None:
        try:
            return _unpacked(stored)
        except (ValueError, LookupError, TypeError, GoldgateError):
            pass  # as good as none
    try:
        found = compare_systems(sources, common=common)
        pairs = [*_pairs(found, sources, folders)]
    except GoldgateError as error:
        return Compared(refused=str(error))
    compared = Compared(found.report, pairs)
    cache.keep(_KIND, of, {"pairs": [[*pair.folders, *_lengths(pair)] for pair in pairs]}, _body(compared))
    return compared


def _pairs(
    found: Comparison, sources: Sequence[SystemSource], folders: Sequence[ViewedFolder]
) -> Iterator[PairedUnits]:
    """A pair for each system of one run, with the reference, if that has one run too."""
    numbers, count = dict[str, int](), 0
    for source in sources:
        if len(source.paths) == 1:
            numbers[source.name] = count
        count += len(source.paths)
    reference = found.report["against"]
    changed: dict[str, dict[str, float]] = {}
    for line in found.changes.listed():
        changed.setdefault(line["system"], {})[line["id"]] = nan if line["change"] is None else line["change"]
    for source in sources:
        if source.name != reference and reference in numbers and source.name in numbers:
            sides = numbers[reference], numbers[source.name]
            yield _paired(sides, changed.get(source.name, {}), folders)


def _paired(sides: tuple[int, int], changed: Mapping[str, float], folders: Sequence[ViewedFolder]) -> PairedUnits:
    places = {identity: place for place, identity in enumerate(changed)}
    starts, numbers = [], []
    for side in sides:
        result = folders[side].result
        records: list[list[int]] = [[] for _ in places]
        for unit in read_units(result):
            place = None if unit.identity is None else places.get(unit.identity)
            if place is not None:
                records[place].append(unit.line - 1)
        flat, begins = array("I"), array("I", [0])
        for each in records:
            flat.extend(each)
            begins.append(len(flat))
        starts.append(begins)
        numbers.append(flat)
    return PairedUnits(sides, array("d", changed.values()), (starts[0], starts[1]), (numbers[0], numbers[1]))


def _lengths(pair: PairedUnits) -> list[int]:
    return [len(pair), len(pair.numbers[0]), len(pair.numbers[1])]


def _body(compared: Compared) -> Iterator[bytes]:
    report = render_json(dict(compared.report or {}))
    yield len(report).to_bytes(8, "little")
    yield report
    for pair in compared.pairs:
        yield pair.changes.tobytes()
        for part in (*pair.starts, *pair.numbers):
            yield part.tobytes()


def _unpacked(stored: cache.Stored) -> Compared:
    length = int.from_bytes(stored.take(8), "little")
    report = parse_json(bytes(stored.take(length)).decode(), "comparison", "comparison")

    def numbers(count: int) -> array[int]:
        found = array("I")
        found.frombytes(stored.take(count * found.itemsize))
        return found

    pairs = []
    for one, other, units, first, second in stored.head["pairs"]:
        changes = array("d")
        changes.frombytes(stored.take(units * changes.itemsize))
        starts = numbers(units + 1), numbers(units + 1)
        pairs.append(PairedUnits((one, other), changes, starts, (numbers(first), numbers(second))))
    return Compared(report, pairs)
