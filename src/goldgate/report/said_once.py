"""What every format says of gates and of undefined values: which columns there are, and each reason once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from goldgate.core.gate import Verdict
from goldgate.core.page import GateLine, Measured, Name, Table

Reasons = dict[str, list[str]]

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
    reasons = said_once((gate.metric, gate.reason) for gate in gates if gate.says_more)
    own = {names[0]: reason for reason, names in reasons.items() if len(names) == 1}
    return own, {reason: names for reason, names in reasons.items() if len(names) > 1}


def said_once(reasons: Iterable[tuple[str, str | None]]) -> Reasons:
    """Each reason, and what it holds for."""
    found: Reasons = {}
    for name, reason in reasons:
        if reason:
            found.setdefault(reason, []).append(name)
    return found


def undefined_cells(table: Table) -> Iterator[tuple[str, str | None]]:
    """`strict precision` and why it is n/a, for the cells of a table."""
    for row in table.rows:
        label = row[0].text if isinstance(row[0], Name) else str(row[0])
        for column, cell in zip(table.columns, row, strict=True):
            if isinstance(cell, Measured):
                yield " ".join(part for part in (label, column.group, column.title) if part), cell.reason
