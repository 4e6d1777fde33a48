"""Carrying out an evaluation for a command: catch what goes wrong, write the files, print the report.

Exit status: 0 all gates passed, 1 a gate failed, 2 it could not be carried out.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

from goldgate.cli.github import tell_github
from goldgate.cli.guarded import guarded
from goldgate.cli.looking import Looking, read_written
from goldgate.cli.out_folder import JUNIT, REPORT_HTML, REPORT_JSON, REPORT_MARKDOWN, RUN, SAMPLES, OutFolder
from goldgate.cli.printing import closing, columns, in_colour, say, show_error, show_failed_gates
from goldgate.cli.protect import protect
from goldgate.cli.run_record import run_record
from goldgate.cli.start import ended_by_signals
from goldgate.errors import ConfigError, GoldgateError, Place
from goldgate.files.folder_lock import folder_in_use
from goldgate.files.storable import all_storable

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.pipeline import Finished
    from goldgate.report.html.looked import Looked

HTML, GITHUB = "html", "github"  # formats

_OVERWRITES = "against.overwritten"
_HEAD = 200  # bytes: a report begins with its suite
_SUITE = re.compile(rb'"suite": "([a-z-]+)"')


@dataclass(frozen=True, slots=True)
class Job:
    """What a command was asked for, beside the evaluation itself. `inputs` are paths as they were given."""

    suite: str
    inputs: dict[str, list[str]]
    folders: Sequence[str] = ()  # those of the inputs that are folders: no result goes deep into them
    records: str = SAMPLES
    out: str | None = None
    report: str | None = None
    format: str = "text"
    quiet: bool = False  # only failed gates and errors are printed
    silent: bool = False  # only errors: somebody else says the rest
    workers: int | None = None
    engine: str = "processes"
    generating: bool = False  # this process also asks the model in `out`, and holds its journal

    @property
    def paths(self) -> list[str]:
        """Every input, as it was given."""
        return [path for paths in self.inputs.values() for path in paths]


Evaluate = Callable[["IO[bytes] | None", "Finished | None"], "Evaluation"]


def carry_out(job: Job, evaluate: Evaluate) -> int:
    """Evaluate, write, print; the result is the exit status.

    `evaluate` gets the file for the samples' records, and who looks at them when all are written; None where no files
    are wanted.
    """
    began, clock = datetime.now(UTC), time.perf_counter()
    refused = guarded(lambda: protect(job))
    if isinstance(refused, GoldgateError):
        if not refused.code.startswith("report."):
            _write_report(job, refused)
        return _fail(job, refused)
    if job.out is None:
        looked: list[Looked] = []
        outcome = guarded(lambda: _without_folder(job, evaluate, looked))
        return _end(job, outcome, _write_report(job, outcome), *looked)
    folder = guarded(lambda: _open_folder(job))
    if isinstance(folder, GoldgateError):
        _write_report(job, folder)
        return _fail(job, folder)
    try:
        with ended_by_signals():
            looking = Looking(job.suite, folder.read_samples)
            outcome = guarded(lambda: evaluate(folder.open_samples(), looking))
            if _would_overwrite(outcome):
                return _end(job, outcome, None)
            run = run_record(job, began, time.perf_counter() - clock, outcome.exit_status)
            written = guarded(lambda: _publish(folder, job, outcome, run, looking.looked))
    finally:
        folder.close()
    unreported = _write_report(job, outcome if written is None else written)
    return _end(job, outcome, written or unreported, looking.looked)


def _without_folder(job: Job, evaluate: Evaluate, looked: list[Looked]) -> Evaluation:
    """Evaluate and keep no records but for a page, which shows some of the units."""
    if job.format != HTML or job.quiet:
        return evaluate(None, None)
    with TemporaryFile() as records:
        looking = Looking(job.suite, partial(read_written, records))
        evaluation = evaluate(records, looking)
    looked += [looking.looked] if looking.looked is not None else []
    return evaluation


def _end(
    job: Job, outcome: Evaluation | GoldgateError, written: GoldgateError | None, looked: Looked | None = None
) -> int:
    """Show how it ended: with a report, or with the first error that there was."""
    if isinstance(outcome, GoldgateError):
        return _fail(job, outcome)
    return _show(job, outcome, looked) if written is None else _fail(job, written)


def _would_overwrite(outcome: Evaluation | GoldgateError) -> bool:
    """Whether it ended because writing would destroy an input: then not even the error is written there."""
    return isinstance(outcome, GoldgateError) and outcome.code == _OVERWRITES


def _write_report(job: Job, outcome: Evaluation | GoldgateError) -> GoldgateError | None:
    """Write the report where `--report` says; the error if that fails."""
    path = job.report
    if path is None or _would_overwrite(outcome):
        return None
    from goldgate.core.evaluation import render_json
    from goldgate.files.atomic_write import write_whole

    report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
    return guarded(lambda: write_whole(path, render_json(report), "--report"))


def _open_folder(job: Job) -> OutFolder:
    """The folder for the results, unless another process is asking a model there."""
    journal = Path(str(job.out), "journal.jsonl")
    if not job.generating and os.path.exists(journal):
        from goldgate.generation.journal import in_use

        if in_use(journal):
            raise folder_in_use(journal.parent, "a process that asks a model and keeps its answers there")
    _require_same_suite(job, Path(str(job.out), REPORT_JSON))
    return OutFolder(str(job.out), job.paths, job.records)


def _require_same_suite(job: Job, report: Path) -> None:
    """The files of a folder are all of one run: those of another suite have other names, and would stay."""
    try:
        with open(report, "rb") as stream:
            found = _SUITE.search(stream.read(_HEAD))
    except OSError:
        return
    if found is not None and found[1].decode() != job.suite:
        raise ConfigError(
            "out.of_another_suite",
            f"this folder has results of the {found[1].decode()} suite",
            place=Place(str(report)),
            expected=f"a folder for the {job.suite} suite",
            advice="choose another folder for --out",
        )


def _show(job: Job, evaluation: Evaluation, looked: Looked | None) -> int:
    annotated = tell_github(evaluation.report, printed=job.format == GITHUB and not job.quiet)
    if job.silent:
        return evaluation.exit_status
    if job.quiet:
        if not annotated:
            show_failed_gates(evaluation.report)
        return evaluation.exit_status
    rendered = _rendered(job, evaluation.report, looked)
    if job.format == "text":
        rendered = str(rendered) + closing(evaluation.report, _places(job))
    return say(rendered, evaluation.exit_status)


def _places(job: Job) -> list[str]:
    """Where the files are, in words."""
    places = []
    if job.out is not None:
        places.append(f"in {job.out}: report.json, report.md, junit.xml, {job.records}, run.json")
        places.append(f"to look at: {os.path.join(job.out, REPORT_HTML)}")
    if job.report is not None:
        places.append(f"the JSON report is {job.report}")
    return places


def _fail(job: Job, error: GoldgateError) -> int:
    show_error(error)
    tell_github(_error_report(job, error), printed=job.format == GITHUB and not job.quiet and not job.silent)
    if job.format != "text" and not job.quiet and not job.silent:  # as text it stands on stderr already
        return say(_rendered(job, _error_report(job, error)), error.exit_status)
    return error.exit_status


def _error_report(job: Job, error: GoldgateError) -> dict[str, Any]:
    from goldgate.core.evaluation import error_report

    report = error_report(job.suite, error)
    report["error"] = all_storable(report["error"])
    return report


def _rendered(job: Job, report: dict[str, Any], looked: Looked | None = None) -> str | bytes:
    from goldgate.report import RENDERERS

    if job.format == HTML:
        return _page(report, looked)
    rendered = RENDERERS[job.format](report, columns=columns(), colour=in_colour())
    return rendered.encode() if job.format == "json" else rendered  # JSON is UTF-8 whatever the terminal is


def _page(report: dict[str, Any], looked: Looked | None) -> bytes:
    from goldgate.report import describe
    from goldgate.report.html.page import render_html

    return render_html(describe(report), looked).encode()


def _publish(
    folder: OutFolder, job: Job, outcome: Evaluation | GoldgateError, run: dict[str, Any], looked: Looked | None
) -> None:
    from goldgate.core.evaluation import render_json
    from goldgate.report import RENDERERS

    failed = isinstance(outcome, GoldgateError)
    report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
    files = {
        REPORT_JSON: render_json(report),
        REPORT_MARKDOWN: RENDERERS["markdown"](report).encode("utf-8", "backslashreplace"),
        REPORT_HTML: _page(report, None if failed else looked),
        JUNIT: RENDERERS["junit"](report).encode(),
        RUN: render_json(run),
    }
    folder.publish(files, with_samples=not failed)
