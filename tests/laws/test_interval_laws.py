"""Laws of the intervals in reports: groups change no value, and the records say what every interval is made of."""

from __future__ import annotations

from typing import Any

from hypothesis import given

import goldgate
from goldgate import Protocol
from goldgate.core.measure import RatioMeasure
from goldgate.core.sums import UnitSums
from goldgate.stats.interval import Interval, NoInterval, count_interval, ratio_interval, share_interval
from goldgate.suites.extraction.measures import MatchRates
from goldgate.suites.extraction.suite import SUITE
from tests.examples import examples
from tests.unit.stats.macro import MacroSums, macro_interval

from .strategies import SCHEMA, Json, protocols, samples

Samples = tuple[list[Json], list[Json]]
REPORTS = examples(60)  # each example is a whole evaluation, or two


def without_intervals(value: Any) -> Any:
    """A report but for what units can change."""
    if isinstance(value, list):
        return [without_intervals(entry) for entry in value if not _is_of_copies(entry)]
    if not isinstance(value, dict):
        return value
    hidden = ("interval", "interval_reason", "support", "texts")
    return {key: without_intervals(entry) for key, entry in value.items() if key not in hidden}


def _is_of_copies(entry: Any) -> bool:
    return isinstance(entry, dict) and entry.get("code") == "repeated_texts"


def units(found: Any) -> set[str]:
    """The units of all intervals in a report."""
    if isinstance(found, dict):
        mine = {found["unit"]} if "unit" in found and "units" in found else set()
        return mine.union(*(units(entry) for entry in found.values()))
    return set().union(*map(units, found)) if isinstance(found, list) else set()


@REPORTS
@given(samples(), protocols())
def test_groups_change_intervals_and_no_value(data: Samples, protocol: Protocol) -> None:
    golds, predictions = data
    bare = [{key: value for key, value in record.items() if key != "group"} for record in golds]
    with_groups = goldgate.evaluate(golds, predictions, SCHEMA, protocol, allow_empty=True).report
    without = goldgate.evaluate(bare, predictions, SCHEMA, protocol, allow_empty=True).report
    assert without_intervals(with_groups) == without_intervals(without)
    assert units(with_groups) <= ({"group"} if any("group" in record for record in golds) else {"sample"})
    assert units(without) <= {"sample"}


@REPORTS
@given(samples(), protocols())
def test_one_group_each_is_no_group(data: Samples, protocol: Protocol) -> None:
    golds, predictions = data
    bare = [{key: value for key, value in record.items() if key != "group"} for record in golds]
    alone = [{**record, "group": record["id"]} for record in bare]
    one = goldgate.evaluate(alone, predictions, SCHEMA, protocol, allow_empty=True).to_json()
    other = goldgate.evaluate(bare, predictions, SCHEMA, protocol, allow_empty=True).to_json()
    assert one.replace('"unit": "group"', '"unit": "sample"') == other


def shown(found: Interval | NoInterval) -> tuple[float, float, int] | None:
    return None if isinstance(found, NoInterval) else (found.low, found.high, found.units)


def stored(metric: Json) -> tuple[float, float, int] | None:
    found = metric["interval"]
    return None if found is None else (found["low"], found["high"], found["units"])


def units_of(record: Json) -> dict[tuple[str, ...], tuple[int, ...]]:
    """What the unit of a record counted."""
    parts = {tuple(key): tuple(counts) for key, counts in record.get("parts", ())}
    return {**{(name,): tuple(counts) for name, counts in record["units"].items()}, **parts}


@REPORTS
@given(samples(), protocols())
def test_the_records_say_what_every_interval_is_made_of(data: Samples, protocol: Protocol) -> None:
    evaluation = goldgate.evaluate(*data, SCHEMA, protocol, allow_empty=True, records=True)
    metrics = evaluation.report["metrics"]
    entries = {**metrics["main"], **metrics["companions"], **metrics["diagnostics"]}
    for measure in SUITE.measures(protocol.section("metrics", SUITE.settings)):
        if not isinstance(measure, RatioMeasure):
            continue
        table = UnitSums(measure.forms)
        for record in evaluation.samples or ():
            counts = units_of(record).get((measure.table,))
            if counts is not None:
                table.add(counts, record.get("group"))
        for name, sums in table.sums().items():
            metric = name.removesuffix(" of gates")
            entry = entries[metric] if metric == name else entries[metric].get("gate_rate")
            if entry is None or entry["value"] is None:
                continue
            ratio = measure.ratios.get(metric)
            rule = count_interval if ratio is None else share_interval if ratio.share else ratio_interval
            assert shown(rule(sums)) == stored(entry), name


@REPORTS
@given(samples(max_size=10), protocols())
def test_the_macro_average_is_that_of_the_simple_way(data: Samples, protocol: Protocol) -> None:
    evaluation = goldgate.evaluate(*data, SCHEMA, protocol, allow_empty=True, records=True)
    macro = evaluation.report["breakdown"]["macro"]["event_types"]
    for name, form in MatchRates().forms.items():
        simple = MacroSums()
        for record in evaluation.samples or ():
            parts = {key[1]: form.of(counts) for key, counts in units_of(record).items() if len(key) == 2}
            simple.add(parts, record.get("group"))
        found = macro_interval(simple)
        if isinstance(found, Interval):
            assert macro[name]["interval"] == found.as_json(macro[name]["interval"]["unit"])
        else:
            assert macro[name]["interval"] is None
            assert macro[name]["interval_reason"] == found.reason
