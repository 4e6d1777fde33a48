"""Carrying out a check for a command: print the findings as text or JSON; the result is the exit status."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goldgate.cli.guarded import guarded
from goldgate.cli.printing import columns, in_colour, say, show_error
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, GoldgateError

FORMATS = ("text", "json")


def carry_out_check(suite: str, format: str, check: Callable[[], tuple[dict[str, Any], str]]) -> int:
    """`check` gives a report with findings, and a summary in a few words. 0 no errors, 1 errors, 2 not carried out."""
    from goldgate.core.evaluation import error_report, render_json
    from goldgate.report.checks import describe_check
    from goldgate.report.text import render_text

    outcome = guarded(check)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        if format == "json":
            say(render_json(error_report(suite, outcome)), outcome.exit_status)
        return outcome.exit_status
    report, summary = outcome
    status = EXIT_PASSED if report["status"] == "PASS" else EXIT_GATE_FAILED
    if format == "json":
        return say(render_json(report), status)
    return say(render_text(describe_check(report, summary), columns(), in_colour()), status)
