"""Baseline records: stored reports summed, with the threshold that they propose for each metric.

A protocol may set a gate below its default only where such a record supports it ("should change only after
collecting baseline runs", eval-gates.md). Each proposal is stored with its arithmetic.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from goldgate.core.evaluation import ContradictionError, StoredRates
from goldgate.core.gate import Gate
from goldgate.core.metric import Estimate, Rate, Ratio, floor_quotient
from goldgate.core.page import (
    NOT_AVAILABLE,
    Column,
    MeasuredValue,
    Name,
    Notes,
    Page,
    Paragraph,
    Section,
    Table,
    count_text,
)
from goldgate.core.suite import Suite
from goldgate.errors import ConfigError, GoldgateError, InputError, Place
from goldgate.files.parsing import parse_json
from goldgate.files.reading import read_text_file
from goldgate.readers.stored_result import StoredResult, load_result
from goldgate.shape.validation import type_test
from goldgate.stats.distributions import beta_binomial_quantile

if TYPE_CHECKING:
    from goldgate.runs.contracts import BaselineMetric, BaselineRecord

BASELINE_ADVICE = (
    "collect reports of representative runs, then: goldgate baseline REPORT... --out baseline.json, "
    "and name the file in the protocol: baseline: baseline.json"
)


class BaselineProposals(NamedTuple):
    """What a gate needs of a record: the proposed threshold of each metric, as it is written there."""

    proposals: dict[str, Decimal]
    sha256: str


class StoredReport(NamedTuple):
    """A stored result, the digest of its content, however it is laid out, and what its suite takes from it."""

    result: StoredResult
    content: str
    stored: StoredRates

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
    refuse_overlapping_reports(reports)
    return reports


def load_report(path: str | Path, suites: Iterable[Suite], display_name: str | None = None) -> StoredReport:
    """Read a result, or a report alone, and let its suite check the numbers."""
    result = load_result(path, suites, display_name)
    stored = _suite_values(result)
    result.require_consistent()
    digest = sha256(json.dumps(result.report, sort_keys=True).encode()).hexdigest()
    return StoredReport(result, digest, stored)


def refuse_overlapping_reports(reports: Sequence[StoredReport]) -> None:
    """One report twice, or the same work in two, would count twice; other settings would mix other numbers."""
    for number, other in enumerate(reports):
        for one in reports[:number]:
            if one.content == other.content:
                raise _overlap_error(other, f"the content of {one.result.name}, however it is laid out")
            if one.stored.judged is not None and one.stored.judged == other.stored.judged:
                raise _overlap_error(other, f"the same as {one.result.name} judges")
            units = {*one.stored.units} - {None}
            shared = sum(unit in units for unit in other.stored.units)
            if shared * 2 > min(len(one.stored.units), len(other.stored.units)):
                content = f"{shared} {one.suite.unit}s that are those of {one.result.name} but for ids and times"
                raise _overlap_error(other, content)
            if one.result.report["metrics"]["version"] != other.result.report["metrics"]["version"]:
                raise InputError(
                    "report.other_version",
                    "these reports count differently",
                    place=Place(other.result.name),
                    expected=f"metrics.version {one.result.report['metrics']['version']}",
                    found=f"metrics.version {other.result.report['metrics']['version']}",
                )


def gates_to_propose(suite: Suite) -> dict[str, Gate | None]:
    """The rates with a default gate that has a lower bound; the headline's if there is none."""
    metrics = suite.known_metrics(suite.settings())
    gates = {name: gate for name, gate in suite.default_gates.items() if gate.least is not None}
    candidates: Mapping[str, Gate | None] = gates or dict.fromkeys(suite.headline)
    return {name: gate for name, gate in candidates.items() if _is_share(metrics.get(name))}


def _is_share(metric: object) -> bool:
    if isinstance(metric, Estimate):
        return metric.share
    return isinstance(metric, Rate) and not isinstance(metric, Ratio)


def _suite_values(result: StoredResult) -> StoredRates:
    """What the suite takes from the report, complete and free of contradictions."""
    suite = result.suite
    try:
        stored = suite.stored_rates(result.report)
        _ = [stored.rates[name] for name in gates_to_propose(suite)], result.report["status"]
    except ContradictionError as contradiction:
        raise InputError(
            "report.contradicts_itself",
            f"the numbers of this report are not those of its own {suite.unit}s",
            place=Place(result.name, None, contradiction.field),
            expected=f"{contradiction.expected}, as its {suite.unit}s give",
            found=contradiction.found,
            advice=f"make the report again from the stored {suite.unit}s",
        ) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        raise InputError("report.malformed", "this report is not complete", place=Place(result.name)) from None
    return stored


def _overlap_error(report: StoredReport, found: str) -> InputError:
    return InputError(
        "report.twice",
        f"the same {report.suite.unit}s would count twice",
        place=Place(report.result.name),
        found=found,
        advice=f"name every report once, and only reports of {report.suite.unit}s of their own",
    )


FORMAT_VERSION = 1  # of a baseline record
BASELINE_KIND = "baseline"
FALSE_ALARM_RATE = Decimal("0.05")
MAX_FURTHER_TRIALS = 1_000_000
FEW_TRIALS = 20  # fewer leave a proposal that says next to nothing
_DIGITS = 4  # of a proposed threshold


def make_baseline(
    paths: Sequence[str | Path], suites: Sequence[Suite], false_alarm_rate: Decimal = FALSE_ALARM_RATE
) -> BaselineRecord:
    """Sum stored reports of one of the suites, and propose a threshold for each metric that it would gate."""
    reports = load_reports(paths, suites)
    suite = reports[0].suite
    stored = [report.stored for report in reports]
    summed = next(iter(stored[0].sizes), None)  # the units; other sizes may be the same ones in every report
    subjects = {name: frozenset().union(*(each.subjects[name] for each in stored)) for name in stored[0].subjects}
    record = {
        "format_version": FORMAT_VERSION,
        "kind": BASELINE_KIND,
        "suite": suite.name,
        "metrics_version": reports[0].result.report["metrics"]["version"],
        "false_alarm_rate": str(false_alarm_rate),
        "reports": [
            {
                "sha256": report.result.sha256,
                "signature": report.result.report["signature"],
                "status": report.result.report["status"],
                **report.stored.sizes,
            }
            for report in reports
        ],
        **({} if summed is None else {summed: sum(each.sizes[summed] for each in stored)}),
        **{name: len(members) for name, members in subjects.items()},
        "metrics": {
            name: _entry(gate, [each.rates[name] for each in stored], false_alarm_rate)
            for name, gate in gates_to_propose(suite).items()
        },
    }
    return cast("BaselineRecord", record)  # and the sizes, whatever the suite calls them


def load_baseline(path: Path, name: str, place: Place, suite: str) -> BaselineProposals:
    """Read a record that a protocol names; whatever is wrong with it is the protocol's error."""
    try:
        text, sha256 = read_text_file(path, BASELINE_KIND)
        value = parse_json(text, name, BASELINE_KIND)
    except GoldgateError as problem:
        raise ConfigError(
            "protocol.baseline_unreadable",
            "the baseline record cannot be read",
            place=place,
            found=f"{name}: {problem.message}",
            advice=BASELINE_ADVICE,
        ) from None
    from goldgate.runs.contracts import BaselineRecord  # few protocols name a baseline

    try:
        if not is_baseline(value, suite, BaselineRecord) or not all(
            len(report["sha256"]) == 64 for report in value["reports"]
        ):
            raise ValueError(name)
        proposals = dict(_proposals(value))
    except (ValueError, ArithmeticError):
        raise ConfigError(
            "protocol.not_a_baseline",
            "not a baseline record, or not as goldgate wrote it",
            place=place,
            expected=f"a record of the {suite} suite, made by goldgate baseline",
            found=name,
            advice=BASELINE_ADVICE,
        ) from None
    return BaselineProposals(proposals, sha256)


def is_baseline(value: Any, suite: str, kind: type) -> bool:
    """Whether it is a record of this suite and of this type, as this version writes it."""
    fits = type_test(kind)(value) and value["reports"]
    return bool(fits) and (value["suite"], value["format_version"]) == (suite, FORMAT_VERSION)


def _proposals(record: BaselineRecord) -> Iterator[tuple[str, Decimal]]:
    """The proposed thresholds, each worked out again from the counts beside it: a number alone proves nothing."""
    for name, entry in record["metrics"].items():
        pairs = [tuple(map(int, counts.split("/"))) for counts in entry["by_report"]]
        if len(pairs) != len(record["reports"]) or not all(0 <= hits <= trials for hits, trials in pairs):
            raise ValueError(name)
        again = _entry(None, pairs, Decimal(record["false_alarm_rate"]))
        if entry["proposal"] != again["proposal"]:
            raise ValueError(name)
        if entry["proposal"] is not None and Decimal(entry["proposal"]["threshold"]):
            yield str(name), Decimal(entry["proposal"]["threshold"])  # one of 0 proposes nothing: it cannot fail


def _entry(gate: Gate | None, by_report: Sequence[tuple[int, ...]], chance: Decimal) -> BaselineMetric:
    """One metric of a record: hits and trials of each report, and what they propose."""
    hits, trials = (sum(column) for column in zip(*by_report, strict=True))
    entry: BaselineMetric = {
        "default": gate.bounds() if gate is not None else None,
        "numerator": hits,
        "denominator": trials,
        "observed": floor_quotient(hits, trials, 6) if trials else None,
        "by_report": [f"{numerator}/{denominator}" for numerator, denominator in by_report],
        "proposal": None,
    }
    # The next evaluation is taken to be as large as these were on average; beyond a million it makes no difference.
    further = min(trials // len(by_report), MAX_FURTHER_TRIALS)
    if not further:
        return entry
    quantile = beta_binomial_quantile(hits, trials, further, float(chance))
    if not hits:
        entry["caution"] = f"not one of {trials} trials succeeded, and a threshold of 0 cannot fail"
    elif not quantile.hits:
        entry["caution"] = f"{hits} of {trials} give no threshold above 0, and 0 cannot fail: collect more"
    elif trials < FEW_TRIALS:
        entry["caution"] = f"only {trials} trials: the proposal is low because little is known"
    threshold = floor_quotient(quantile.hits, further, _DIGITS)
    entry["proposal"] = {
        "threshold": threshold,
        "prior": "Beta(1, 1)",
        "posterior": f"Beta({hits + 1}, {trials - hits + 1})",
        "further_trials": further,
        "count": quantile.hits,
        "chance_below": f"{quantile.chance_below:.6f}",
        "arithmetic": (
            f"{hits} of {trials} leave Beta({hits + 1}, {trials - hits + 1}); of {further} further trials fewer than "
            f"{quantile.hits} succeed with a chance of {quantile.chance_below:.6f}, at most {chance}; "
            f"{quantile.hits}/{further}, cut to {_DIGITS} decimals, is {threshold}"
        ),
    }
    return entry


NO_PROPOSAL = "none: 0 cannot fail"
INDEPENDENCE_NOTE = (
    "Trials are assumed to be independent. Where many come from one answer, or one counts twice as in an F1, the next "
    "evaluation varies more than this says, and the gate fails more often."
)


def describe_baseline(record: BaselineRecord) -> Page:
    """A table of proposals, then the sums behind them."""
    rows, sums = [], []
    for name, entry in record["metrics"].items():
        proposal = entry["proposal"]
        counts = f"{entry['numerator']}/{entry['denominator']}"
        proposed = NOT_AVAILABLE if not proposal else f"≥ {proposal['threshold']}" if proposal["count"] else NO_PROPOSAL
        observed = MeasuredValue(None, entry["numerator"], entry["denominator"])
        rows.append((Name(name), str(observed), counts, entry["default"] or "none", proposed))
        words = proposal["arithmetic"] if proposal else "no trials in these reports"
        words += f" ({entry['caution']})" if "caution" in entry else ""
        sums.append((Name(name), f": {words}."))
    columns = tuple(map(Column, ("metric", "observed", "counts", "default", "proposed")))
    sizes = {name: size for name, size in record.items() if type(size) is int and name != "format_version"}
    parts = (
        f"{record['suite']} suite",
        count_text(len(record["reports"]), "report"),
        *(count_text(size, things.removesuffix("s")) for things, size in sizes.items()),
        f"false-alarm rate {record['false_alarm_rate']}",
    )
    arithmetic = (Notes(tuple(sums)), Paragraph(INDEPENDENCE_NOTE))
    return Page(
        suite="baseline",
        subject=", ".join(parts),
        sections=(Section("Proposals", (Table(columns, tuple(rows)),)), Section("Arithmetic", arithmetic)),
    )
