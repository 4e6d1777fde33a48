"""A baseline record for the terminal: what was observed, what is proposed, and the arithmetic."""

from __future__ import annotations

import textwrap
from typing import Any

from goldgate.report.display import counted
from goldgate.report.text import COLUMNS, table


def render_baseline(record: dict[str, Any]) -> str:
    """A table of proposals, then the sums behind them."""
    rows: list[tuple[str, ...]] = [("", "observed", "counts", "default", "proposed")]
    sums: list[str] = []
    for name, entry in record["metrics"].items():
        proposal = entry["proposal"]
        counts = f"{entry['numerator']}/{entry['denominator']}"
        proposed = f"≥ {proposal['threshold']}" if proposal else "n/a"
        rows.append((name, entry["observed"] or "n/a", counts, entry["default"], proposed))
        words = proposal["arithmetic"] if proposal else "no trials in these reports"
        words += f" ({entry['caution']})" if "caution" in entry else ""
        sums += textwrap.wrap(f"{name}: {words}.", COLUMNS, initial_indent="  ", subsequent_indent="    ")
    head = (
        f"Baseline: {counted(len(record['reports']), 'report')}, {counted(record['runs'], 'run')}, "
        f"{counted(record['objectives'], 'objective')}, false-alarm rate {record['false_alarm_rate']}"
    )
    return "\n".join([head, "", *table(rows, 1), "", "Arithmetic", *sums]) + "\n"
