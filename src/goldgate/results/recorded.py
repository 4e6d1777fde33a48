"""The records of a stored result, and what their units sum up to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Metrics
from goldgate.core.suite import Suite
from goldgate.core.sums import Counts
from goldgate.core.tally import Key, Tally
from goldgate.errors import InputError, Place
from goldgate.files.pipe import opener
from goldgate.files.text_file import cannot_read
from goldgate.readers.unit_records import GROUP, TIMES, units_of
from goldgate.results.stored import StoredResult


class Recorded(NamedTuple):
    """A line of a file of records: which unit it is of, what that counted, and how many units it stands for."""

    line: int
    id: str | None
    group: str | None
    counts: dict[Key, Counts]
    times: int


def read_recorded(result: StoredResult) -> Iterator[Recorded]:
    """The records of a result, one after the other; one that does not say what it counted is an InputError."""
    file = result.records
    try:
        with open(file, "rb", opener=opener) as stream:
            for number, line in enumerate(stream, 1):
                yield _recorded(line, number, file)
    except (OSError, ValueError) as problem:
        raise cannot_read(str(file), "records", problem) from None


def ratio_measures(suite: Suite, settings: Any) -> list[RatioMeasure[Any]]:
    """The suite's measures whose counts stand in the records."""
    return [measure for measure in suite.measures(settings) if isinstance(measure, RatioMeasure)]


class Summed(NamedTuple):
    """What all records of a result count together, and how many there are."""

    tally: Tally
    records: int


def summed_records(result: StoredResult, measures: list[RatioMeasure[Any]]) -> Summed:
    """The sum over all records, table by table; the parts of tables are left out."""
    forms = {measure.table: (measure.forms, len(measure.columns)) for measure in measures}
    tally, records = Tally(), 0
    for record in read_recorded(result):
        records += record.times
        tally.group = record.group
        for key, counts in record.counts.items():
            if len(key) > 1:
                continue
            known = forms.get(key[0])
            if known is None or len(counts) != known[1]:
                raise _not_counts(result.records, record.line, f"counts of {key[0]}")
            tally.add(key, known[0], counts, record.times)
    return Summed(tally, records)


def recorded_metrics(tally: Tally, measures: list[RatioMeasure[Any]]) -> dict[str, Metrics]:
    """The metrics that are sums over the records, by section."""
    sections: dict[str, Metrics] = {}
    for measure in measures:
        found = {name: metric for name, metric in measure.metrics(tally).items() if name in measure.forms}
        sections.setdefault(measure.section, {}).update(found)
    return sections


def _recorded(line: bytes, number: int, file: Path) -> Recorded:
    try:
        record = orjson.loads(line)
        counts, group, times = units_of(record), record.get(GROUP), record.get(TIMES, 1)
        if not all(type(count) is int for each in counts.values() for count in each):
            raise TypeError
        if type(times) is not int or times < 1 or not (group is None or type(group) is str):
            raise TypeError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise _not_counts(file, number, "a record without the counts of its unit") from None
    identity = next((record[name] for name in ("id", "run") if record.get(name) is not None), None)
    return Recorded(number, None if identity is None else str(identity), group, counts, times)


def _not_counts(file: Path, line: int, found: str) -> InputError:
    return InputError(
        "records.no_counts",
        "this line does not say what its unit counted",
        place=Place(str(file), line),
        expected="a record that this version of goldgate wrote, with units",
        found=found,
        advice="make the result again with --out",
    )
