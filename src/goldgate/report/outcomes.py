"""What a page means to a CI system: one outcome a gate, of the same kind as the exit status.

A gate that makes the exit status 1 failed, also where it is INCONCLUSIVE; one that only warns, or is open and let pass,
is a warning. So a CI system that goes by the outcomes and one that goes by the exit status agree.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from goldgate.core.gate import Verdict
from goldgate.core.page import GateLine, Page, Pairs

Kind = Literal["passed", "failed", "warning", "error"]
NOTHING_JUDGED = "nothing was judged: no gate can fail"


class Outcome(NamedTuple):
    """One thing that was judged: its name, what came of it, a word for that, and why."""

    name: str
    kind: Kind
    word: str
    reason: str
    details: tuple[str, ...] = ()


def outcomes(page: Page) -> list[Outcome]:
    """Of every gate, in their order; of an evaluation that could not be carried out, the error alone."""
    if page.verdict == Verdict.SYSTEM_ERROR:
        return [_error(page)]
    found = [_gate(line) for line in page.gates or ()]
    if page.verdict == Verdict.NO_GATES:
        found.append(Outcome("gates", "warning", Verdict.NO_GATES, NOTHING_JUDGED))
    return found


def _gate(line: GateLine) -> Outcome:
    gate, measured = line.gate, line.measured
    counts = f" ({measured.counts})" if measured.counts else ""
    interval = f", interval {measured.interval}" if measured.interval is not None else ""
    details = (f"{line.metric} is {measured}{counts}{interval}", f"the gate is {gate.bounds()}")
    return Outcome(line.metric, _kind(line), line.verdict, line.reason, details)


def _kind(line: GateLine) -> Kind:
    if line.verdict == Verdict.PASS:
        return "passed"
    is_open = line.verdict == Verdict.INCONCLUSIVE
    lets_pass = line.gate.severity == "warn" or (is_open and line.gate.on_inconclusive != "fail")
    return "warning" if lets_pass else "failed"


def _error(page: Page) -> Outcome:
    pairs = {
        str(pair.label): ", ".join(pair.parts)
        for section in page.sections
        for block in section.blocks
        if isinstance(block, Pairs)
        for pair in block.rows
    }
    message, code = pairs.pop("message", "it could not be carried out"), pairs.pop("code", Verdict.SYSTEM_ERROR)
    return Outcome("evaluation", "error", code, message, tuple(f"{label}: {text}" for label, text in pairs.items()))
