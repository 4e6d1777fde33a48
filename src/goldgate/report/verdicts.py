"""Verdicts in every format: columns and notes of gates, one outcome per gate for CI, and the page of a check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from goldgate.core.gate import Verdict
from goldgate.core.page import (
    Column,
    FindingList,
    GateLine,
    LabelList,
    MeasuredValue,
    Name,
    Page,
    Reasons,
    Section,
    Table,
    group_reasons,
)
from goldgate.core.report_page import finding_lines

SUPPORT = "at 95 %"  # what the interval says of a gate
OPTIONAL = ("counts", SUPPORT)  # columns that can be left out: the value and the interval say the same


def verdict_words(gate: GateLine) -> str:
    """`FAIL`, or `FAIL (warn)` where that does not fail the evaluation."""
    lets_pass = gate.verdict == Verdict.INCONCLUSIVE and gate.gate.on_inconclusive != "fail"
    return gate.verdict + (" (warn)" if gate.gate.severity == "warn" or lets_pass else "")


def gate_columns(gates: Sequence[GateLine]) -> dict[str, Callable[[GateLine], str]]:
    """The columns of gates by title, those left out that no gate has."""
    columns: dict[str, Callable[[GateLine], str]] = {
        "": verdict_words,
        "metric": lambda gate: gate.metric,
        "value": lambda gate: str(gate.measured),
    }
    if any(gate.measured.interval for gate in gates):
        columns["interval"] = lambda gate: "" if gate.measured.interval is None else str(gate.measured.interval)
    if any(gate.measured.counts for gate in gates):
        columns["counts"] = lambda gate: gate.measured.counts
    columns["gate"] = lambda gate: gate.gate.bounds()
    if any(gate.support for gate in gates):
        columns[SUPPORT] = lambda gate: gate.support or ""
    return columns


def gate_notes(gates: Sequence[GateLine]) -> tuple[dict[str, str], Reasons]:
    """Reasons that say more than value and bounds: of one gate, by its metric; of several, with all of them."""
    reasons = group_reasons((gate.metric, gate.reason) for gate in gates if gate.says_more)
    own = {names[0]: reason for reason, names in reasons.items() if len(names) == 1}
    return own, {reason: names for reason, names in reasons.items() if len(names) > 1}


OutcomeKind = Literal["passed", "failed", "warning", "error"]
NOTHING_JUDGED = "nothing was judged: no gate can fail"


class GateOutcome(NamedTuple):
    """One thing that was judged: its name, what came of it, a word for that, and why."""

    name: str
    kind: OutcomeKind
    word: str
    reason: str
    details: tuple[str, ...] = ()


def gate_outcomes(page: Page) -> list[GateOutcome]:
    """Of every gate, in their order; of an evaluation that could not be carried out, the error alone."""
    if page.verdict == Verdict.SYSTEM_ERROR:
        return [_error(page)]
    outcomes = [_gate(line) for line in page.gates or ()]
    if page.verdict == Verdict.NO_GATES:
        outcomes.append(GateOutcome("gates", "warning", Verdict.NO_GATES, NOTHING_JUDGED))
    return outcomes


def _gate(line: GateLine) -> GateOutcome:
    gate, measured = line.gate, line.measured
    counts = f" ({measured.counts})" if measured.counts else ""
    interval = f", interval {measured.interval}" if measured.interval is not None else ""
    details = (f"{line.metric} is {measured}{counts}{interval}", f"the gate is {gate.bounds()}")
    return GateOutcome(line.metric, _kind(line), line.verdict, line.reason, details)


def _kind(line: GateLine) -> OutcomeKind:
    if line.verdict == Verdict.PASS:
        return "passed"
    is_open = line.verdict == Verdict.INCONCLUSIVE
    lets_pass = line.gate.severity == "warn" or (is_open and line.gate.on_inconclusive != "fail")
    return "warning" if lets_pass else "failed"


def _error(page: Page) -> GateOutcome:
    pairs = {
        str(pair.label): ", ".join(pair.parts)
        for section in page.sections
        for block in section.blocks
        if isinstance(block, LabelList)
        for pair in block.rows
    }
    message, code = pairs.pop("message", "it could not be carried out"), pairs.pop("code", Verdict.SYSTEM_ERROR)
    return GateOutcome("evaluation", "error", code, message, tuple(f"{label}: {text}" for label, text in pairs.items()))


SHOWN_FINDINGS = 50


def describe_check(report: Mapping[str, Any], summary: str) -> Page:
    """The verdict and the summary, the worst findings, and how many there were of each code."""
    findings = finding_lines(report["findings"])
    codes = Counter(finding.code for finding in findings)
    by_code = Table((Column("code"), Column("times")), tuple((Name(c), MeasuredValue(n)) for c, n in codes.items()))
    sections = (
        Section("Findings, the worst first", (FindingList(findings, limit=SHOWN_FINDINGS),)),
        Section("How often", (by_code,)),
    )
    return Page(suite=report["suite"], verdict=report["status"], subject=summary, sections=sections if findings else ())
