"""What a command must not write over: its own inputs, and what lies deep in a folder that it judges."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from goldgate.errors import ConfigError, Place

if TYPE_CHECKING:
    from goldgate.cli.run import Job


def protect(job: Job) -> None:
    """Raise a ConfigError where a result would overwrite an input, or become a file of what is judged."""
    if job.report is not None:
        _require_apart(job, job.report, "--report")
        for given in job.paths:
            if os.path.realpath(given) == os.path.realpath(job.report):
                raise ConfigError(
                    "report.is_an_input",
                    "writing the report would overwrite an input",
                    place=Place(job.report),
                    advice="choose another file for --report",
                )
    if job.out is not None:
        _require_apart(job, job.out, "--out")


def _require_apart(job: Job, path: str, option: str) -> None:
    folder = os.path.realpath(os.path.dirname(path.rstrip(os.sep)) or ".")
    for given in job.folders:
        root = os.path.realpath(given)
        if folder.startswith(os.path.join(root, "")) or (option == "--out" and os.path.realpath(path) == root):
            raise ConfigError(
                "report.inside_a_run",
                "the report would lie inside a run" if option == "--report" else "the results would lie among the runs",
                place=Place(path),
                expected=f"a place beside {given}",
                advice=f"choose another place for {option}",
            )
