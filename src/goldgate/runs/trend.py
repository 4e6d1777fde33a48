"""Stored reports of one suite in the order given: how each metric changed from one to the next, and the page of that.

A change is computed only between reports that measured the same thing: with the same settings, on the same gold.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from goldgate.core.gate import Gate, Verdict, parse_bound
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
from goldgate.core.plan import signature_differences
from goldgate.core.suite import Suite
from goldgate.errors import ConfigError, InputError, Place, describe_value, did_you_mean
from goldgate.readers.stored_result import StoredResult, load_result, require_local

FORMAT_VERSION = 1  # of the JSON of a trend


class NamedReport(NamedTuple):
    """A report under its name; None where it ended in SYSTEM_ERROR and has no numbers."""

    name: str
    result: StoredResult | None

    @property
    def status(self) -> str:
        return Verdict.SYSTEM_ERROR if self.result is None else str(self.result.report["status"])

    @property
    def measured(self) -> dict[str, Mapping[str, Any]]:
        """Its metrics, and what its gates measured: a gate may stand on one event type."""
        if self.result is None:
            return {}
        gates = self.result.report["gates"]
        return self.result.metrics | {str(gate["metric"]): gate["measured"] for gate in gates}

    @property
    def verdicts(self) -> dict[str, str]:
        """Of its gates, by what they stand on."""
        gates = [] if self.result is None else self.result.report["gates"]
        return {str(gate["metric"]): str(gate.get("verdict")) for gate in gates}

    @property
    def bounds(self) -> dict[str, dict[str, str]]:
        """The bounds that its gates set for values."""
        gates = [] if self.result is None else self.result.report["gates"]
        names = ("min", "max", "equals")
        return {
            str(gate["metric"]): {name: str(gate[name]) for name in names if gate.get(name) is not None}
            for gate in gates
        }


def trend(paths: Sequence[str], suites: Iterable[Suite], metrics: Sequence[str] = ()) -> dict[str, Any]:
    """How these reports went, as the JSON of the command: `reports` in their order, and `metrics` by name.

    Without `metrics`: those that have a gate in any of the reports, and the main ones of the suite.
    """
    known = [*suites]
    stored = [_load(path, known) for path in paths]
    suite = _one_suite(stored)
    chosen = [*metrics] if metrics else _default_metrics(stored, suite)
    _require_known(chosen, stored)
    before = _previous_results(stored)
    differs = [_setting_differences(earlier, each.result) for earlier, each in zip(before, stored, strict=True)]
    return {
        "format_version": FORMAT_VERSION,
        "kind": "trend",
        "suite": suite.name,
        "reports": [_report(each, other) for each, other in zip(stored, differs, strict=True)],
        "metrics": {name: [*_points(name, stored, before, differs)] for name in chosen},
    }


def _load(path: str, suites: Sequence[Suite]) -> NamedReport:
    require_local(path)
    name, equals, rest = path.partition("=")
    if name and equals and not os.path.exists(path):
        return NamedReport(name, _result(rest, suites))
    return NamedReport(path.rstrip("/") or path, _result(path, suites))


def _result(path: str, suites: Sequence[Suite]) -> StoredResult | None:
    try:
        found = load_result(path, suites)
    except InputError as error:
        if error.code == "report.system_error":
            return None
        raise
    _require_consistent(found)
    return found


def _require_consistent(result: StoredResult) -> None:
    """Refuse a report whose status is none, or PASS beside a gate that failed: somebody changed one of the two."""
    gates = result.report["gates"]
    verdicts = [gate.get("verdict") for gate in gates]
    failed = any(gate.get("verdict") == Verdict.FAIL and gate.get("severity") != "warn" for gate in gates)
    status = result.report.get("status")
    words = [word for word in (status, *verdicts) if word not in [*Verdict]]
    if words or failed != (status == Verdict.FAIL):
        raise InputError(
            "report.contradicts_itself",
            "the status of this report does not follow from its gates",
            place=Place(result.name, None, "status"),
            expected="FAIL exactly where a gate of severity error failed",
            found=describe_value(words[0] if words else status),
        )


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
    other = next(each for each in stored if each.result is not None and each.result.suite.name != next(iter(suites)))
    raise InputError(
        "report.other_suite",
        "these reports are of different suites",
        place=Place(other.name),
        expected=f"a report of the {next(iter(suites))} suite, as before it",
        found=f"one of the {other.result.suite.name} suite" if other.result is not None else None,
        advice="call the command once for each suite",
    )


def _default_metrics(stored: Sequence[NamedReport], suite: Suite) -> list[str]:
    gated = [name for each in stored for name in each.verdicts]
    known = {name for each in stored for name in each.measured}
    return [name for name in dict.fromkeys([*gated, *suite.headline]) if name in known]


def _require_known(metrics: Sequence[str], stored: Sequence[NamedReport]) -> None:
    known = {name for each in stored for name in each.measured}
    for name in metrics:
        if name not in known:
            raise ConfigError(
                "option.wrong_value",
                "none of these reports has this metric",
                expected="the name of a metric, or of what a gate stands on",
                found=name,
                advice=did_you_mean(name, sorted(known)),
            )


def _previous_results(stored: Sequence[NamedReport]) -> list[StoredResult | None]:
    """Of each report the last one before it that has numbers."""
    found: list[StoredResult | None] = []
    last: StoredResult | None = None
    for each in stored:
        found.append(last)
        last = each.result or last
    return found


def _setting_differences(earlier: StoredResult | None, later: StoredResult | None) -> list[str]:
    """What two reports do not have in common of what makes numbers comparable: settings, and what was asked."""
    if earlier is None or later is None:
        return []
    settings = [part.name for part in signature_differences(earlier.settings, later.settings)]
    mine, theirs = earlier.digests(judged=False), later.digests(judged=False)
    return [*settings, *(kind for kind in {**mine, **theirs} if mine.get(kind) != theirs.get(kind))]


def _report(stored: NamedReport, differs: Sequence[str]) -> dict[str, Any]:
    result = stored.result
    return {
        "name": stored.name,
        "status": stored.status,
        "signature": None if result is None else result.report["signature"],
        "report_sha256": None if result is None else result.sha256,
        "differs_in": [*differs],
    }


def _points(
    metric: str, stored: Sequence[NamedReport], before: Sequence[StoredResult | None], differs: Sequence[Sequence[str]]
) -> Iterator[dict[str, Any]]:
    for each, earlier, other in zip(stored, before, differs, strict=True):
        found = _checked_value(each, metric)
        old = None if earlier is None else NamedReport("", earlier).measured.get(metric)
        comparable = earlier is not None and not other
        yield {
            "name": each.name,
            "measured": found,
            "change": _change(old, found) if comparable and old is not None and found is not None else None,
            "gate": each.bounds.get(metric),
            "verdict": each.verdicts.get(metric),
        }


def _checked_value(stored: NamedReport, metric: str) -> Mapping[str, Any] | None:
    """What a report says of a metric; an InputError where nobody can make sense of it."""
    found = stored.measured.get(metric)
    try:
        if found is not None:
            str(measured_value(found))
            _exact(found)
        for bound in stored.bounds.get(metric, {}).values():
            parse_bound(bound)
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError):
        where = stored.result.name if stored.result is not None else stored.name
        raise InputError(
            "report.malformed", "this report is not complete", place=Place(where, None, f"metrics: {metric}")
        ) from None
    return found


def _change(old: Mapping[str, Any], new: Mapping[str, Any]) -> float | None:
    """The difference, taken exactly; None where one of the two is undefined."""
    exact = [_exact(old), _exact(new)]
    if exact[0] is None or exact[1] is None:
        return None
    difference = exact[1] - exact[0]
    return int(difference) if type(old["value"]) is int and type(new["value"]) is int else float(difference)


def _exact(metric: Mapping[str, Any]) -> Fraction | None:
    if "denominator" in metric:
        return Fraction(metric["numerator"], metric["denominator"]) if metric["denominator"] else None
    value = metric.get("value")
    return None if value is None else Fraction(value)


_CHANCE_NOTE = "A change may be chance: goldgate compare says whether two of these differ, document by document."


def describe_trend(trend: Mapping[str, Any]) -> Page:
    """From the JSON of a trend."""
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


def _report_table(reports: list[Mapping[str, Any]]) -> Table:
    rows = [(Name(report["name"]), report["status"], _is_comparable(report)) for report in reports]
    return Table((Column("report"), Column("status"), Column("comparable")), tuple(rows))


def _is_comparable(report: Mapping[str, Any]) -> str:
    if report["signature"] is None:
        return "no numbers"
    return "no" if report["differs_in"] else "yes"


def _metric_table(points: list[Mapping[str, Any]]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for point in points:
        found = point["measured"]
        value: Cell = NOT_AVAILABLE if found is None else measured_value(found).against(_limits(point))
        change = MeasuredValue(point["change"], shown=_change_text(point["change"]))
        rows.append((Name(point["name"]), value, change, point["verdict"] or ""))
    columns = ("report", "value", "change", "gate")
    return Table(tuple(map(Column, columns)), tuple(rows))


def _limits(point: Mapping[str, Any]) -> tuple[Limit, ...]:
    bounds = {name: parse_bound(bound) for name, bound in (point["gate"] or {}).items()}
    return Gate(min=bounds.get("min"), max=bounds.get("max"), equals=bounds.get("equals")).limits()


def _change_text(change: float | None) -> str:
    """With its sign; empty where there is nothing to compare with."""
    if change is None:
        return ""
    if isinstance(change, int):
        return f"{change:+d}" if change else "0"
    return f"{'+' if change > 0 else ''}{format_number(change)}" if change else "0"
