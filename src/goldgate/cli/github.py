"""In a step of GitHub Actions: annotations to the log, and the report to the step's summary page.

The runner says where it is by GITHUB_ACTIONS and GITHUB_STEP_SUMMARY. Neither changes the exit status.
"""

from __future__ import annotations

import os
from typing import Any

import click

from goldgate.cli.start import tell

IN_ACTIONS = _ACTIONS, _SUMMARY = "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"


def tell_github(report: dict[str, Any], *, printed: bool) -> bool:
    """Whether annotations went to the log, where `printed` says that they are the report that is printed anyway.

    They go to stderr: standard output holds the report in the format that was asked for.
    """
    in_actions = os.environ.get(_ACTIONS) == "true"
    if in_actions and not printed:
        from goldgate.report import RENDERERS

        click.echo(RENDERERS["github"](report).encode(), nl=False, err=True)
    path = os.environ.get(_SUMMARY)
    if path:
        _write_summary(path, report)
    return in_actions and not printed


def _write_summary(path: str, report: dict[str, Any]) -> None:
    """Append the report; a summary that cannot be written is said, and no more: the verdict stands."""
    from goldgate.report import RENDERERS
    from goldgate.report.github import step_summary

    try:
        with open(path, "ab") as summary:
            shown = step_summary(RENDERERS["markdown"](report), summary.tell())
            summary.write(shown.encode())
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or type(problem).__name__
        tell(f"the summary of this step was not written ({_SUMMARY}): {why}")
