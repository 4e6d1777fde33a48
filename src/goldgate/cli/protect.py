"""What a command must not write over: its own inputs, and what lies deep in a folder that it judges."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from goldgate.cli.out_folder import NAMES, REPORT_JSON
from goldgate.errors import ConfigError, Place
from goldgate.files import folder_lock
from goldgate.files.standard_input import STANDARD_INPUT
from goldgate.files.url import is_url, real_place, shown_url

if TYPE_CHECKING:
    from goldgate.cli.run import Job


def protect(job: Job) -> None:
    """Raise a ConfigError where a result would overwrite an input, or become a file of what is judged.

    Also where standard input, which can be read once, is given for two inputs.
    """
    if job.paths.count(STANDARD_INPUT) > 1:
        raise ConfigError(
            "input.standard_input_twice",
            "standard input can be read only once",
            place=Place(STANDARD_INPUT),
            expected=f"{STANDARD_INPUT} for one input at most",
            advice="store one of them in a file",
        )
    if job.report is not None:
        _require_apart(job, job.report, "--report")
        if os.path.isdir(job.report):
            raise ConfigError(
                "report.is_a_directory",
                "--report names a directory",
                place=Place(shown_url(job.report)),
                expected="a file",
                advice="for a folder with all results there is --out",
            )
        for given in job.paths:
            if real_place(given) == real_place(job.report):
                raise ConfigError(
                    "report.is_an_input",
                    "writing the report would overwrite an input",
                    place=Place(shown_url(job.report)),
                    advice="choose another file for --report",
                )
    if job.out is not None:
        _require_apart(job, job.out, "--out")
        _require_other_file(job, job.out)


def _require_other_file(job: Job, out: str) -> None:
    """The report may be report.json of the folder, which holds the same; no other of its files."""
    report = job.report
    if report is None or real_place(os.path.dirname(report) or ".") != real_place(out):
        return
    if os.path.basename(report) in (job.records, *NAMES, folder_lock.NAME) and os.path.basename(report) != REPORT_JSON:
        raise ConfigError(
            "report.is_a_result",
            "--report names a file that --out writes",
            place=Place(shown_url(report)),
            advice="choose another file for --report, or leave it out: --out has report.json",
        )


def _require_apart(job: Job, path: str, option: str) -> None:
    # A report may lie beside the runs; a folder there would be taken for one of them.
    place = real_place(path if option == "--out" else os.path.dirname(path) or ".")
    for given in job.folders:
        if is_url(given) != is_url(path):
            continue
        root = real_place(given)
        if place.startswith(os.path.join(root, "")) or (option == "--out" and place == root):
            raise ConfigError(
                "report.inside_a_run",
                "the report would lie inside a run" if option == "--report" else "the results would lie among the runs",
                place=Place(shown_url(path)),
                expected=f"a place beside {shown_url(given)}",
                advice=f"choose another place for {option}",
            )
