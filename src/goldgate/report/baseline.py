"""A baseline record as a page: what was observed, what is proposed, and the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.page import Column, Name, Notes, Page, Section, Table, counted


def describe_baseline(record: Mapping[str, Any]) -> Page:
    """A table of proposals, then the sums behind them."""
    rows, sums = [], []
    for name, entry in record["metrics"].items():
        proposal = entry["proposal"]
        counts = f"{entry['numerator']}/{entry['denominator']}"
        proposed = f"≥ {proposal['threshold']}" if proposal else "n/a"
        rows.append((Name(name), entry["observed"] or "n/a", counts, entry["default"], proposed))
        words = proposal["arithmetic"] if proposal else "no trials in these reports"
        words += f" ({entry['caution']})" if "caution" in entry else ""
        sums.append((Name(name), f": {words}."))
    columns = tuple(map(Column, ("metric", "observed", "counts", "default", "proposed")))
    parts = (
        counted(len(record["reports"]), "report"),
        counted(record["runs"], "run"),
        counted(record["objectives"], "objective"),
        f"false-alarm rate {record['false_alarm_rate']}",
    )
    return Page(
        suite="baseline",
        subject=", ".join(parts),
        sections=(Section("Proposals", (Table(columns, tuple(rows)),)), Section("Arithmetic", (Notes(tuple(sums)),))),
    )
