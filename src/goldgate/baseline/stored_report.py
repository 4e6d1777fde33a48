"""Stored reports, read for a baseline: of one suite, each with numbers that its own parts give, none twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.gate import Gate
from goldgate.core.metric import Rate, Ratio
from goldgate.core.stored import ContradictionError, Stored
from goldgate.core.suite import Suite
from goldgate.errors import InputError, Place
from goldgate.readers.stored_result import StoredResult, load_result


class StoredReport(NamedTuple):
    """A stored result, the digest of its content, however it is laid out, and what its suite takes from it."""

    result: StoredResult
    content: str
    stored: Stored

    @property
    def suite(self) -> Suite:
        return self.result.suite


def load_reports(paths: Sequence[str | Path], suites: Sequence[Suite]) -> list[StoredReport]:
    """Reports of one suite, whichever it is, in an order that does not depend on how they were named."""
    loaded = [load_report(path, suites) for path in paths]
    for report in loaded:
        if report.suite.name != loaded[0].suite.name:
            raise InputError(
                "report.other_suite",
                "a baseline is of one suite",
                place=Place(report.result.name),
                expected=f"a report of the {loaded[0].suite.name} suite, like {loaded[0].result.name}",
                found=f"a report of the {report.suite.name} suite",
                advice="make a record for each suite",
            )
    reports = sorted(loaded, key=lambda report: report.result.sha256)
    refuse_mixtures(reports)
    return reports


def load_report(path: str | Path, suites: Iterable[Suite], named: str | None = None) -> StoredReport:
    """Read a result, or a report alone, and let its suite check the numbers."""
    result = load_result(path, suites, named)
    return StoredReport(result, _content(result.report), _stored(result))


def refuse_mixtures(reports: Sequence[StoredReport]) -> None:
    """One report twice, or the same work in two, would count twice; other settings would mix other numbers."""
    for number, other in enumerate(reports):
        for one in reports[:number]:
            if one.content == other.content:
                raise _twice(other, f"the content of {one.result.name}, however it is laid out")
            if one.stored.judged is not None and one.stored.judged == other.stored.judged:
                raise _twice(other, f"the same as {one.result.name} judges")
            shared = _shared(one.stored, other.stored)
            if shared * 2 > min(len(one.stored.units), len(other.stored.units)):
                units = f"{shared} {one.suite.unit}s that are those of {one.result.name}"
                raise _twice(other, f"{units} but for ids and times")
            if one.result.report["metrics"]["version"] != other.result.report["metrics"]["version"]:
                raise InputError(
                    "report.other_version",
                    "these reports count differently",
                    place=Place(other.result.name),
                    expected=f"metrics.version {one.result.report['metrics']['version']}",
                    found=f"metrics.version {other.result.report['metrics']['version']}",
                )


def proposed_for(suite: Suite) -> dict[str, Gate | None]:
    """The rates with a default gate that has a lower bound; the headline's if there is none."""
    known = suite.known_metrics(suite.settings())
    rates = {name for name, metric in known.items() if isinstance(metric, Rate) and not isinstance(metric, Ratio)}
    gates = {name: gate for name, gate in suite.default_gates.items() if gate.least is not None}
    found: Mapping[str, Gate | None] = gates or dict.fromkeys(suite.headline)
    return {name: gate for name, gate in found.items() if name in rates}


def _stored(result: StoredResult) -> Stored:
    """What the suite takes from the report, complete and free of contradictions."""
    suite = result.suite
    try:
        stored = suite.stored(result.report)
        _ = [stored.rates[name] for name in proposed_for(suite)], result.report["status"]
    except ContradictionError as contradiction:
        raise InputError(
            "report.contradicts_itself",
            f"the numbers of this report are not those of its own {suite.unit}s",
            place=Place(result.name, None, contradiction.field),
            expected=f"{contradiction.given}, as its {suite.unit}s give",
            found=contradiction.found,
            advice=f"make the report again from the stored {suite.unit}s",
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError("report.malformed", "this report is not complete", place=Place(result.name)) from None
    return stored


def _content(value: dict[str, Any]) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _shared(one: Stored, other: Stored) -> int:
    """How many units the two have in common."""
    mine = {*one.units} - {None}
    return sum(unit in mine for unit in other.units)


def _twice(report: StoredReport, found: str) -> InputError:
    return InputError(
        "report.twice",
        f"the same {report.suite.unit}s would count twice",
        place=Place(report.result.name),
        found=found,
        advice=f"name every report once, and only reports of {report.suite.unit}s of their own",
    )
