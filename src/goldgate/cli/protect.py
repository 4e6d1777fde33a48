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
        if os.path.isdir(job.report):
            raise ConfigError(
                "report.is_a_directory",
                "--report names a directory",
                place=Place(job.report),
                expected="a file",
                advice="for a folder with all results there is --out",
            )
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
    # A report may lie beside the runs; a folder there would be taken for one of them.
    place = os.path.realpath(path if option == "--out" else os.path.dirname(path) or ".")
    for given in job.folders:
        root = os.path.realpath(given)
        if place.startswith(os.path.join(root, "")) or (option == "--out" and place == root):
            raise ConfigError(
                "report.inside_a_run",
                "the report would lie inside a run" if option == "--report" else "the results would lie among the runs",
                place=Place(path),
                expected=f"a place beside {given}",
                advice=f"choose another place for {option}",
            )
