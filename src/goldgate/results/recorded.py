"""What the records of a stored result sum up to."""

from __future__ import annotations

from typing import Any, NamedTuple

from goldgate.core.counted_unit import CountedUnit
from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Metrics
from goldgate.core.suite import Suite
from goldgate.core.tally import Tally
from goldgate.readers.recorded_units import counts_of, malformed, read_units
from goldgate.readers.stored_result import StoredResult


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
    for unit in read_units(result):
        records += unit.times
        tally.now = CountedUnit(unit.group)
        for key, counts in counts_of(unit, result).items():
            if len(key) > 1:
                continue
            known = forms.get(key[0])
            if known is None or len(counts) != known[1]:
                raise malformed(result, unit.line, f"{len(counts)} counts of {key[0]}")
            tally.add(key, known[0], counts, unit.times)
    return Summed(tally, records)


def recorded_metrics(tally: Tally, measures: list[RatioMeasure[Any]]) -> dict[str, Metrics]:
    """The metrics that are sums over the records, by section."""
    sections: dict[str, Metrics] = {}
    for measure in measures:
        found = {name: metric for name, metric in measure.metrics(tally).items() if name in measure.forms}
        sections.setdefault(measure.section, {}).update(found)
    return sections
