"""Stored reports, read for a baseline: of one suite, each with numbers that its own parts give, none twice."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.evaluation import FORMAT_VERSION
from goldgate.core.gate import Gate, Verdict
from goldgate.core.metric import Rate, Ratio
from goldgate.core.stored import ContradictionError, Stored
from goldgate.core.suite import Suite
from goldgate.errors import InputError, Place, describe
from goldgate.files.strict_json import parse_json
from goldgate.files.text_file import read_text


class StoredReport(NamedTuple):
    """A report, the digest of its bytes, the digest of its content, and what its suite takes from it."""

    file: str
    sha256: str
    content: str
    value: dict[str, Any]
    suite: Suite
    stored: Stored


def load_reports(paths: Sequence[str | Path], suites: Sequence[Suite]) -> list[StoredReport]:
    """Reports of one suite, whichever it is, in an order that does not depend on how they were named."""
    loaded = [load_report(path, suites) for path in paths]
    for report in loaded:
        if report.suite.name != loaded[0].suite.name:
            raise InputError(
                "report.other_suite",
                "a baseline is of one suite",
                place=Place(report.file),
                expected=f"a report of the {loaded[0].suite.name} suite, like {loaded[0].file}",
                found=f"a report of the {report.suite.name} suite",
                advice="make a record for each suite",
            )
    reports = sorted(loaded, key=lambda report: report.sha256)
    refuse_mixtures(reports)
    return reports


def load_report(path: str | Path, suites: Iterable[Suite]) -> StoredReport:
    """Read a report that has numbers, and let its suite check them."""
    file = str(path)
    text, digest = read_text(path, "report")
    value = parse_json(text, file, "report")
    known = {suite.name: suite for suite in suites}
    named = value.get("suite") if isinstance(value, dict) else None
    if type(named) is not str or named not in known or value.get("format_version") != FORMAT_VERSION:
        raise InputError(
            "report.not_a_report",
            f"not a report of the {' or '.join(known)} suite that goldgate wrote",
            place=Place(file),
            expected=f"a JSON report with suite {' or '.join(known)} and format_version {FORMAT_VERSION}",
            found=f"suite {describe(value.get('suite'))}" if isinstance(value, dict) else describe(value),
        )
    if value.get("status") == Verdict.SYSTEM_ERROR:
        raise InputError(
            "report.system_error", "this report has no numbers: it ended in SYSTEM_ERROR", place=Place(file)
        )
    return StoredReport(file, digest, _content(value), value, known[named], _stored(known[named], value, file))


def refuse_mixtures(reports: Sequence[StoredReport]) -> None:
    """One report twice, or the same work in two, would count twice; other settings would mix other numbers."""
    for number, other in enumerate(reports):
        for one in reports[:number]:
            if one.content == other.content:
                raise _twice(other, f"the content of {one.file}, however it is laid out")
            if one.stored.judged is not None and one.stored.judged == other.stored.judged:
                raise _twice(other, f"the same as {one.file} judges")
            shared = _shared(one.stored, other.stored)
            if shared * 2 > min(len(one.stored.units), len(other.stored.units)):
                raise _twice(other, f"{shared} {one.suite.unit}s that are those of {one.file} but for ids and times")
            if one.value["metrics"]["version"] != other.value["metrics"]["version"]:
                raise InputError(
                    "report.other_version",
                    "these reports count differently",
                    place=Place(other.file),
                    expected=f"metrics.version {one.value['metrics']['version']}",
                    found=f"metrics.version {other.value['metrics']['version']}",
                )


def proposed_for(suite: Suite) -> dict[str, Gate | None]:
    """The rates with a default gate that has a lower bound; the headline's if there is none."""
    known = suite.known_metrics(suite.settings())
    rates = {name for name, metric in known.items() if isinstance(metric, Rate) and not isinstance(metric, Ratio)}
    gates = {name: gate for name, gate in suite.default_gates.items() if gate.least is not None}
    found: Mapping[str, Gate | None] = gates or dict.fromkeys(suite.headline)
    return {name: gate for name, gate in found.items() if name in rates}


def _stored(suite: Suite, value: dict[str, Any], file: str) -> Stored:
    """What the suite takes from the report, complete and free of contradictions."""
    try:
        stored = suite.stored(value)
        _ = (
            value["signature"],
            value["status"],
            value["metrics"]["version"],
            [stored.rates[name] for name in proposed_for(suite)],
        )
    except ContradictionError as contradiction:
        raise InputError(
            "report.contradicts_itself",
            f"the numbers of this report are not those of its own {suite.unit}s",
            place=Place(file, None, contradiction.field),
            expected=f"{contradiction.given}, as its {suite.unit}s give",
            found=contradiction.found,
            advice=f"make the report again from the stored {suite.unit}s",
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError("report.malformed", "this report is not complete", place=Place(file)) from None
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
        place=Place(report.file),
        found=found,
        advice=f"name every report once, and only reports of {report.suite.unit}s of their own",
    )
