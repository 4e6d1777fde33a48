"""Stored reports of one suite in the order given: how each metric changed from one to the next, as one table.

A change is computed only between reports that measured the same thing: with the same settings, on the same gold.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from goldgate.core.gate import Gate, parse_bound
from goldgate.core.metric import Limit, format_number
from goldgate.core.page import (
    NOT_AVAILABLE,
    Cell,
    Column,
    MeasuredValue,
    Name,
    Page,
    Paragraph,
    Section,
    Table,
    count_text,
    measured_value,
)
from goldgate.core.suite import Suite, signature_differences
from goldgate.errors import ConfigError, InputError, Place, did_you_mean
from goldgate.readers.stored_result import StoredResult, exact_value, load_result, require_local

if TYPE_CHECKING:
    from goldgate.core.contracts import GateValue, MetricValue
    from goldgate.runs.contracts import Trend, TrendGate, TrendPoint, TrendReport

FORMAT_VERSION = 1  # of the JSON of a trend
_BOUNDS: tuple[Literal["min", "max", "equals"], ...] = ("min", "max", "equals")  # of a gate, on a value


class _Entry(NamedTuple):
    """A report under its name; None where it ended in SYSTEM_ERROR and has no numbers."""

    name: str
    result: StoredResult | None

    @property
    def gates(self) -> dict[str, GateValue]:
        """The gates of the result, by the metric that they are set on."""
        return {} if self.result is None else {gate["metric"]: gate for gate in self.result.report["gates"]}

    @property
    def measured(self) -> dict[str, MetricValue]:
        """Its metrics, and what its gates measured: a gate may be set on one event type."""
        metrics = {} if self.result is None else self.result.metrics
        return metrics | {name: gate["measured"] for name, gate in self.gates.items()}


def trend(paths: Sequence[str], suites: Iterable[Suite], metrics: Sequence[str] = ()) -> Trend:
    """How the metrics of these reports changed, as the JSON of the command.

    Without `metrics`: those that have a gate in any of the reports, and the main ones of the suite.
    """
    suites = [*suites]
    entries = [_load(path, suites) for path in paths]
    suite = _one_suite(entries)
    measured = {name for each in entries for name in each.measured}
    for name in metrics:
        if name not in measured:
            message, expected = "none of these reports has this metric", "the name of a metric or of a gate"
            advice = did_you_mean(name, sorted(measured))
            raise ConfigError("option.wrong_value", message, expected=expected, found=name, advice=advice)
    defaults = [*(name for each in entries for name in each.gates), *suite.headline]
    chosen = [*metrics] or [name for name in dict.fromkeys(defaults) if name in measured]
    reports = [*_reports(entries, chosen)]
    return {"format_version": FORMAT_VERSION, "kind": "trend", "suite": suite.name, "reports": reports}


def _load(path: str, suites: Sequence[Suite]) -> _Entry:
    require_local(path)
    name, equals, rest = path.partition("=")
    if not name or not equals or os.path.exists(path):
        name, rest = path.rstrip("/") or path, path
    try:
        result = load_result(rest, suites)
    except InputError as error:
        if error.code == "report.system_error":
            return _Entry(name, None)
        raise
    result.require_consistent()
    return _Entry(name, result)


def _one_suite(entries: Sequence[_Entry]) -> Suite:
    names: dict[str, list[str]] = {}
    for each in entries:
        if each.result is not None:
            names.setdefault(each.result.suite.name, []).append(each.name)
    if not names:
        message = "none of these reports has numbers: all of them ended in SYSTEM_ERROR"
        raise InputError("report.system_error", message, place=Place(entries[0].name))
    if len(names) > 1:
        raise InputError(
            "report.other_suite",
            f"these reports are of {len(names)} suites",
            expected="reports of one suite",
            found="; ".join(f"{suite}: {', '.join(reports)}" for suite, reports in names.items()),
            advice=f"run the command once per suite: goldgate trend {' '.join(next(iter(names.values())))}",
        )
    return next(each.result.suite for each in entries if each.result is not None)


def _reports(entries: Sequence[_Entry], metrics: Sequence[str]) -> Iterator[TrendReport]:
    last = _Entry("", None)  # the last one with numbers
    for each in entries:
        result = each.result
        differs_in = _differences(last.result, result)
        before = {} if differs_in else last.measured
        yield {
            "name": each.name,
            "status": "SYSTEM_ERROR" if result is None else result.report["status"],
            "signature": None if result is None else result.report["signature"],
            "report_sha256": None if result is None else result.sha256,
            "differs_in": differs_in,
            "metrics": {
                name: _point(each.measured.get(name), before.get(name), each.gates.get(name)) for name in metrics
            },
        }
        last = last if result is None else each


def _differences(earlier: StoredResult | None, later: StoredResult | None) -> list[str]:
    """What two reports do not have in common of what makes numbers comparable: settings, and what was asked."""
    if earlier is None or later is None:
        return []
    settings = [part.name for part in signature_differences(earlier.settings, later.settings)]
    mine, theirs = earlier.digests(judged=False), later.digests(judged=False)
    return [*settings, *(kind for kind in {**mine, **theirs} if mine.get(kind) != theirs.get(kind))]


def _point(measured: MetricValue | None, before: MetricValue | None, gate: GateValue | None) -> TrendPoint:
    return {
        "measured": measured,
        "change": None if before is None or measured is None else _change(before, measured),
        "gate": None if gate is None else cast("TrendGate", {side: gate[side] for side in _BOUNDS if side in gate}),
        "verdict": None if gate is None else gate["verdict"],
    }


def _change(old: MetricValue, new: MetricValue) -> float | None:
    """The difference, taken exactly; None where one of the two is undefined."""
    before, after = exact_value(old), exact_value(new)
    if before is None or after is None:
        return None
    difference = after - before
    return int(difference) if type(old["value"]) is int and type(new["value"]) is int else float(difference)


_CHANCE_NOTE = "A change may be chance: goldgate compare tests two of these, document by document."


def describe_trend(trend: Trend) -> Page:
    """The page of a trend, from its JSON."""
    reports = trend["reports"]
    passed = sum(each["status"] == "PASS" for each in reports)
    rows = [_row(each, metric) for metric in reports[0]["metrics"] for each in reports]
    columns = tuple(map(Column, ("metric", "report", "value", "change", "gate")))
    return Page(
        suite="trend",
        subject=f"{trend['suite']} suite, {count_text(len(reports), 'report')}, {passed} passed",
        remarks=tuple(
            f"{each['name']} cannot be compared with the report before it: they differ in "
            + ", ".join(each["differs_in"])
            for each in reports
            if each["differs_in"]
        ),
        sections=(Section("Metrics", (Table(columns, tuple(rows)), Paragraph(_CHANCE_NOTE))),),
    )


def _row(report: TrendReport, metric: str) -> tuple[Cell, ...]:
    point = report["metrics"][metric]
    measured, change = point["measured"], point["change"]
    value: Cell = NOT_AVAILABLE if measured is None else measured_value(measured).against(_limits(point["gate"]))
    display = "" if change is None else f"{'+' if change > 0 else ''}{format_number(change) if change else 0}"
    verdict = point["verdict"] or ("" if report["signature"] else report["status"])
    name = Name(metric, whole=True)
    return name, Name(report["name"]), value, MeasuredValue(change, display=display), verdict


def _limits(gate: TrendGate | None) -> tuple[Limit, ...]:
    bounds = {name: parse_bound(bound) for name, bound in (gate or {}).items()}
    return Gate(min=bounds.get("min"), max=bounds.get("max"), equals=bounds.get("equals")).limits()
