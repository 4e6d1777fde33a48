"""Findings as lines of text: what `validate` and `lint-golden` print."""

from __future__ import annotations

from collections import Counter
from typing import Any

from goldgate.report import research_shown
from goldgate.report.escape import visible
from goldgate.report.text import table

SHOWN_FINDINGS = 50


def render_findings(report: dict[str, Any], summary: str) -> str:
    """A line each, the worst first, then the verdict and how many there were of each code."""
    found = research_shown.findings(report)
    lines = [
        visible(f"{finding['severity']:7}  {research_shown.place(finding)}: {finding['message']} [{finding['code']}]")
        for finding in found[:SHOWN_FINDINGS]
    ]
    if len(found) > SHOWN_FINDINGS:
        lines.append(f"… and {len(found) - SHOWN_FINDINGS} more (--format json shows all)")
    if lines:
        lines.append("")
    lines.append(visible(f"{report['status']}  {summary}"))
    counts = Counter(finding["code"] for finding in found)
    return (
        "\n".join([*lines, *(table([(code, str(count)) for code, count in counts.items()]) if counts else [])]) + "\n"
    )
