"""Stored reports of one suite in the order given: how each metric changed from one to the next, and the page of that.

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
    Notes,
    Page,
    Section,
    Table,
    count_text,
    measured_value,
)
from goldgate.core.suite import Suite, signature_differences
from goldgate.errors import ConfigError, InputError, Place, did_you_mean
from goldgate.readers.stored_result import REPORT, StoredResult, exact_value, load_result, require_local

if TYPE_CHECKING:
    from goldgate.core.contracts import GateValue, MetricValue
    from goldgate.runs.contracts import Trend, TrendGate, TrendPoint, TrendReportEntry

FORMAT_VERSION = 1  # of the JSON of a trend
_BOUNDS: tuple[Literal["min", "max", "equals"], ...] = ("min", "max", "equals")  # of a gate, on a value
_NOT_RESULTS = ("report.missing", "report.not_a_report", "report.not_json", "report.not_utf8")


class NamedReport(NamedTuple):
    """A report under its name; None where it ended in SYSTEM_ERROR and has no numbers."""

    name: str
    result: StoredResult | None
    previous: StoredResult | None = None  # the last one before it that has numbers
    differs_in: Sequence[str] = ()  # what keeps it from being compared with that

    @property
    def gates(self) -> dict[str, GateValue]:
        """The gates of the result, by the metric that they are set on."""
        return {} if self.result is None else {gate["metric"]: gate for gate in self.result.report["gates"]}

    @property
    def measured(self) -> dict[str, MetricValue]:
        """Its metrics, and what its gates measured: a gate may be set on one event type."""
        metrics = {} if self.result is None else self.result.metrics
        return metrics | {name: gate["measured"] for name, gate in self.gates.items()}


def trend(
    paths: Sequence[str],
    suites: Iterable[Suite],
    metrics: Sequence[str] = (),
    *,
    pass_over: bool = False,
) -> Trend:
    """How these reports went, as the JSON of the command: `reports` in their order, and `metrics` by name.

    Without `metrics`: those that have a gate in any of the reports, and the main ones of the suite. With `pass_over`,
    paths that are not results are an error only if all are; otherwise `passed_over` names them.
    """
    stored, passed_over = _load_results(paths, [*suites], pass_over=pass_over)
    suite = _one_suite(stored)
    chosen = [*metrics] if metrics else _default_metrics(stored, suite)
    _require_known(chosen, stored)
    stored = [*_with_previous(stored)]
    return {
        "format_version": FORMAT_VERSION,
        "kind": "trend",
        "suite": suite.name,
        "reports": [_report(each) for each in stored],
        "passed_over": passed_over,
        "metrics": {name: [_point(name, each) for each in stored] for name in chosen},
    }


def _load_results(
    paths: Sequence[str], suites: Sequence[Suite], *, pass_over: bool
) -> tuple[list[NamedReport], list[str]]:
    """The results among the paths, and the other paths; if none is a result, the error for the first."""
    stored: list[NamedReport] = []
    others: dict[str, InputError] = {}
    for path in paths:
        try:
            stored.append(_load(path, suites))
        except InputError as error:
            if not pass_over or error.code not in _NOT_RESULTS or _may_hide_result(path, error, suites):
                raise
            others[path] = error
    if not stored:
        raise next(iter(others.values()))
    return stored, [*others]


def _may_hide_result(path: str, error: InputError, suites: Sequence[Suite]) -> bool:
    """Whether there is a report that cannot be read, a result without its report, or nothing at all."""
    name = os.path.basename(error.place.file or "")
    is_torn = name.endswith(".json") and error.code in ("report.not_json", "report.not_utf8")
    files = (*(suite.records for suite in suites), "report.md", "report.html", "junit.xml")
    has_files = any(os.path.lexists(os.path.join(path, file)) for file in files)
    return name == REPORT or is_torn or has_files or not os.path.lexists(path)


def _load(path: str, suites: Sequence[Suite]) -> NamedReport:
    require_local(path)
    name, equals, rest = path.partition("=")
    if not name or not equals or os.path.exists(path):
        name, rest = path.rstrip("/") or path, path
    try:
        result = load_result(rest, suites)
    except InputError as error:
        if error.code == "report.system_error":
            return NamedReport(name, None)
        raise
    result.require_consistent()
    return NamedReport(name, result)


def _one_suite(stored: Sequence[NamedReport]) -> Suite:
    suites = {each.result.suite.name: each.result.suite for each in stored if each.result is not None}
    if len(suites) == 1:
        return next(iter(suites.values()))
    if not suites:
        raise InputError(
            "report.system_error",
            "none of these reports has numbers: all of them ended in SYSTEM_ERROR",
            place=Place(stored[0].name),
        )
    names: dict[str, list[str]] = {}
    for each in stored:
        if each.result is not None:
            names.setdefault(each.result.suite.name, []).append(each.name)
    raise InputError(
        "report.other_suite",
        f"these reports are of {len(suites)} suites",
        expected="reports of one suite",
        found="; ".join(f"{suite}: {', '.join(reports)}" for suite, reports in names.items()),
        advice=f"run the command once per suite: goldgate trend {' '.join(next(iter(names.values())))}",
    )


def _default_metrics(stored: Sequence[NamedReport], suite: Suite) -> list[str]:
    gated = [name for each in stored for name in each.gates]
    measured = {name for each in stored for name in each.measured}
    return [name for name in dict.fromkeys([*gated, *suite.headline]) if name in measured]


def _require_known(metrics: Sequence[str], stored: Sequence[NamedReport]) -> None:
    measured = {name for each in stored for name in each.measured}
    for name in metrics:
        if name not in measured:
            raise ConfigError(
                "option.wrong_value",
                "none of these reports has this metric",
                expected="the name of a metric or of a gate",
                found=name,
                advice=did_you_mean(name, sorted(measured)),
            )


def _with_previous(stored: Sequence[NamedReport]) -> Iterator[NamedReport]:
    last: StoredResult | None = None
    for each in stored:
        yield each._replace(previous=last, differs_in=_setting_differences(last, each.result))
        last = each.result or last


def _setting_differences(earlier: StoredResult | None, later: StoredResult | None) -> list[str]:
    """What two reports do not have in common of what makes numbers comparable: settings, and what was asked."""
    if earlier is None or later is None:
        return []
    settings = [part.name for part in signature_differences(earlier.settings, later.settings)]
    mine, theirs = earlier.digests(judged=False), later.digests(judged=False)
    return [*settings, *(kind for kind in {**mine, **theirs} if mine.get(kind) != theirs.get(kind))]


def _report(stored: NamedReport) -> TrendReportEntry:
    result = stored.result
    return {
        "name": stored.name,
        "status": "SYSTEM_ERROR" if result is None else result.report["status"],
        "signature": None if result is None else result.report["signature"],
        "report_sha256": None if result is None else result.sha256,
        "differs_in": [*stored.differs_in],
    }


def _point(metric: str, stored: NamedReport) -> TrendPoint:
    measured, gate = stored.measured.get(metric), stored.gates.get(metric)
    comparable = None if stored.differs_in else stored.previous
    old = None if comparable is None else NamedReport("", comparable).measured.get(metric)
    return {
        "name": stored.name,
        "measured": measured,
        "change": None if old is None or measured is None else _change(old, measured),
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
    passed = sum(report["status"] == "PASS" for report in reports)
    sections = [Section("Reports", (_report_table(reports),))]
    sections += [Section(name, (_metric_table(points),)) for name, points in trend["metrics"].items()]
    if trend["metrics"] and len(reports) > 1:
        sections.append(Section("What this rests on", (Notes(((_CHANCE_NOTE,),)),)))
    return Page(
        suite="trend",
        subject=f"{trend['suite']} suite, {count_text(len(reports), 'report')}, {passed} passed",
        remarks=tuple(
            f"{report['name']} cannot be compared with the report before it: they differ in "
            + ", ".join(report["differs_in"])
            for report in reports
            if report["differs_in"]
        ),
        sections=tuple(sections),
    )


def _report_table(reports: list[TrendReportEntry]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for report in reports:
        comparable = "no numbers" if report["signature"] is None else "no" if report["differs_in"] else "yes"
        rows.append((Name(report["name"]), report["status"], comparable))
    return Table((Column("report"), Column("status"), Column("comparable")), tuple(rows))


def _metric_table(points: list[TrendPoint]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        measured = point["measured"]
        value: Cell = NOT_AVAILABLE if measured is None else measured_value(measured).against(_limits(point["gate"]))
        change = MeasuredValue(point["change"], display=_change_text(point["change"]))
        rows.append((Name(point["name"]), value, change, point["verdict"] or ""))
    columns = ("report", "value", "change", "gate")
    with_missing = any(isinstance(cell, MeasuredValue) and cell.missing for row in rows for cell in row)
    return Table(tuple(map(Column, columns)), tuple(rows), with_counts=with_missing)


def _limits(gate: TrendGate | None) -> tuple[Limit, ...]:
    bounds = {name: parse_bound(bound) for name, bound in (gate or {}).items()}
    return Gate(min=bounds.get("min"), max=bounds.get("max"), equals=bounds.get("equals")).limits()


def _change_text(change: float | None) -> str:
    """With its sign; empty where there is nothing to compare with."""
    if change is None:
        return ""
    if isinstance(change, int):
        return f"{change:+d}" if change else "0"
    return f"{'+' if change > 0 else ''}{format_number(change)}" if change else "0"
