"""A trend as a page: the reports with their verdicts, then a table for each metric."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.gate import Gate, stored_bound
from goldgate.core.metric import Limit, rounded
from goldgate.core.page import (
    NOT_AVAILABLE,
    Cell,
    Column,
    Measured,
    Name,
    Notes,
    Page,
    Section,
    Table,
    counted,
    measured,
)

_ADVICE = "A change may be chance: goldgate compare says whether two of these differ, document by document."


def describe_trend(trend: Mapping[str, Any]) -> Page:
    """From the JSON of a trend."""
    reports = trend["reports"]
    passed = sum(report["status"] == "PASS" for report in reports)
    sections = [Section("Reports", (_reports(reports),))]
    sections += [Section(name, (_metric(points),)) for name, points in trend["metrics"].items()]
    if trend["metrics"] and len(reports) > 1:
        sections.append(Section("What this rests on", (Notes(((_ADVICE,),)),)))
    return Page(
        suite="trend",
        subject=f"{trend['suite']} suite, {counted(len(reports), 'report')}, {passed} passed",
        stands_out=tuple(
            f"{report['name']} cannot be compared with the report before it: they differ in "
            + ", ".join(report["differs_in"])
            for report in reports
            if report["differs_in"]
        ),
        sections=tuple(sections),
    )


def _reports(reports: list[Mapping[str, Any]]) -> Table:
    rows = [(Name(report["name"]), report["status"], _same(report)) for report in reports]
    return Table((Column("report"), Column("status"), Column("comparable")), tuple(rows))


def _same(report: Mapping[str, Any]) -> str:
    if report["signature"] is None:
        return "no numbers"
    return "no" if report["differs_in"] else "yes"


def _metric(points: list[Mapping[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        found = point["measured"]
        value: Cell = NOT_AVAILABLE if found is None else measured(found).against(_limits(point))
        change = Measured(point["change"], shown=_signed(point["change"]))
        rows.append((Name(point["name"]), value, change, point["verdict"] or ""))
    columns = ("report", "value", "change", "gate")
    return Table(tuple(map(Column, columns)), tuple(rows))


def _limits(point: Mapping[str, Any]) -> tuple[Limit, ...]:
    bounds = {name: stored_bound(bound) for name, bound in (point["gate"] or {}).items()}
    return Gate(min=bounds.get("min"), max=bounds.get("max"), equals=bounds.get("equals")).limits()


def _signed(change: float | None) -> str:
    """With its sign; empty where there is nothing to compare with."""
    if change is None:
        return ""
    if isinstance(change, int):
        return f"{change:+d}" if change else "0"
    return f"{'+' if change > 0 else ''}{rounded(change)}" if change else "0"
