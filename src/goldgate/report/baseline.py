"""A baseline record as a page: what was observed, what is proposed, and the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.page import NOT_AVAILABLE, Column, Measured, Name, Notes, Page, Paragraph, Section, Table, counted

NO_USE = "none: 0 cannot fail"
INDEPENDENT = (
    "Trials are taken as independent of each other. Where many of them stem from one answer, or one counts twice as in "
    "an F1, the next evaluation varies more than this says, and the gate fails more often."
)


def describe_baseline(record: Mapping[str, Any]) -> Page:
    """A table of proposals, then the sums behind them."""
    rows, sums = [], []
    for name, entry in record["metrics"].items():
        proposal = entry["proposal"]
        counts = f"{entry['numerator']}/{entry['denominator']}"
        proposed = NOT_AVAILABLE if not proposal else f"≥ {proposal['threshold']}" if proposal["count"] else NO_USE
        observed = Measured(None, entry["numerator"], entry["denominator"])
        rows.append((Name(name), str(observed), counts, entry["default"] or "none", proposed))
        words = proposal["arithmetic"] if proposal else "no trials in these reports"
        words += f" ({entry['caution']})" if "caution" in entry else ""
        sums.append((Name(name), f": {words}."))
    columns = tuple(map(Column, ("metric", "observed", "counts", "default", "proposed")))
    sizes = {name: size for name, size in record.items() if type(size) is int and name != "format_version"}
    parts = (
        f"{record['suite']} suite",
        counted(len(record["reports"]), "report"),
        *(counted(size, things.removesuffix("s")) for things, size in sizes.items()),
        f"false-alarm rate {record['false_alarm_rate']}",
    )
    arithmetic = (Notes(tuple(sums)), Paragraph(INDEPENDENT))
    return Page(
        suite="baseline",
        subject=", ".join(parts),
        sections=(Section("Proposals", (Table(columns, tuple(rows)),)), Section("Arithmetic", arithmetic)),
    )
