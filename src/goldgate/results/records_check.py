"""Whether a report says what its own records sum up to: a check that needs none of the inputs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from goldgate.core.metric import Metric, Metrics
from goldgate.readers.recorded_units import counts_of, parts_add_up, read_units
from goldgate.readers.stored_result import StoredResult, stored_gates
from goldgate.results.differences import Difference, first_unlike
from goldgate.results.inputs import known_settings
from goldgate.results.recorded import ratio_measures, recorded_metrics, summed_records
from goldgate.results.verification import Verification
from goldgate.stats.reported import GROUP, with_interval

_WORDS = ("reason", "interval_reason")  # why something is undefined; the numbers are what is checked
_REST = "whether the records say what the inputs give: that takes the inputs (verify without --records)"


def verify_records(result: StoredResult, protocol: str | None = None) -> Verification:
    """Add up the counts of every line and compare each metric of the report, its interval, and what gates measured.

    `protocol` is where the protocol is, if it is there: some settings leave a metric undefined whatever was counted.
    """
    settings = known_settings(result, protocol)
    measures = ratio_measures(result.suite, result.measured_by if settings is None else settings)
    tally, _ = summed_records(result, measures)
    unit = GROUP if tally.is_grouped else result.suite.unit
    sections = recorded_metrics(tally, measures)
    stored = {name: found for name, found in result.report["metrics"].items() if isinstance(found, dict)}
    unknown: list[str] = []
    found: list[Difference] = []
    for section, names in stored.items():
        for name, metric in names.items():
            given = sections.get(section, {}).get(name)
            if given is None or (settings is None and _is_undefined(metric)):
                unknown.append(name)
            else:
                found += _differing(result, metric, given, f"/metrics/{section}/{name}", unit)
    found += _lacking(result, stored, sections)
    known = {name: metric for metrics in sections.values() for name, metric in metrics.items()}
    for number, gate in enumerate(stored_gates(result.report)):
        if gate.metric in known and gate.metric not in unknown:
            found += _differing(result, gate.measured, known[gate.metric], f"/gates/{number}/measured", unit)
    found += _other_parts(result)
    left_out = [f"{', '.join(unknown)}: not known from records alone"] if unknown else []
    compared = [f"{result.file.name} with {result.suite.records}"]
    return Verification("records", result.suite.name, compared, found, not_compared=[*left_out, _REST])


def _differing(result: StoredResult, stored: Any, metric: Metric, pointer: str, unit: str) -> Iterator[Difference]:
    found = first_unlike(_numbers(stored), _numbers(with_interval(metric, unit)))
    if found is not None:
        yield Difference(result.file.name, found.stored, found.recomputed, pointer + found.pointer)


def _lacking(result: StoredResult, stored: Mapping[str, Any], sections: Mapping[str, Metrics]) -> Iterator[Difference]:
    """Metrics of the records that the report does not have."""
    for section, metrics in sections.items():
        for name, metric in metrics.items():
            if name not in stored.get(section, {}):
                yield Difference(result.file.name, "nothing", str(metric), f"/metrics/{section}/{name}")


def _other_parts(result: StoredResult) -> Iterator[Difference]:
    """The first record whose parts, such as event types, are not together what it counted."""
    for unit in read_units(result):
        if not parts_add_up(counts_of(unit, result)):
            yield Difference(result.suite.records, f"line {unit.line}: parts of another whole", "parts that add up")
            return


def _is_undefined(metric: Any) -> bool:
    return isinstance(metric, Mapping) and metric.get("value") is None


def _numbers(metric: Any) -> Any:
    if not isinstance(metric, Mapping):
        return metric
    return {name: value for name, value in metric.items() if name not in _WORDS}
