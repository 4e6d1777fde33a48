"""Carrying out an evaluation for a command: catch what goes wrong, write the files, print the report.

Exit status: 0 all gates passed, 1 a gate failed, 2 it could not be carried out.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypeVar

import click

from goldgate.cli.faults import as_error
from goldgate.cli.out_folder import REPORT_JSON, REPORT_MARKDOWN, RUN, SAMPLES, OutFolder
from goldgate.cli.protect import protect
from goldgate.cli.start import EXIT_INTERRUPTED, Terminated, abandon_stdout, ended_by_signals
from goldgate.core.uninterrupted import uninterrupted
from goldgate.errors import ConfigError, GoldgateError
from goldgate.files.folder_lock import folder_in_use
from goldgate.files.storable import all_storable, storable

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation

T = TypeVar("T")


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
    quiet: bool = False
    workers: int = 1
    generating: bool = False  # this process also asks the model in `out`, and holds its journal

    @property
    def paths(self) -> list[str]:
        """Every input, as it was given."""
        return [path for paths in self.inputs.values() for path in paths]


def carry_out(job: Job, evaluate: Callable[[IO[bytes] | None], Evaluation]) -> int:
    """Evaluate, write, print; the result is the exit status.

    `evaluate` gets the file for the samples' records, or None where no files are wanted.
    """
    began, clock = datetime.now(UTC), time.perf_counter()
    refused = guarded(lambda: protect(job))
    if isinstance(refused, GoldgateError):
        return _fail(job, refused)
    if job.out is None:
        outcome = guarded(lambda: evaluate(None))
        return _end(job, outcome, _write_report(job, outcome))
    folder = guarded(lambda: _open_folder(job))
    if isinstance(folder, GoldgateError):
        return _fail(job, folder)
    try:
        with ended_by_signals():
            outcome = guarded(lambda: evaluate(folder.open_samples()))
            run = _run_record(job, began, time.perf_counter() - clock, outcome.exit_status)
            written = guarded(lambda: _publish(folder, job, outcome, run))
    finally:
        folder.close()
    return _end(job, outcome, written or _write_report(job, outcome))


def _end(job: Job, outcome: Evaluation | GoldgateError, written: GoldgateError | None) -> int:
    """Show how it ended: with a report, or with the first error that there was."""
    if isinstance(outcome, GoldgateError):
        return _fail(job, outcome)
    return _show(job, outcome) if written is None else _fail(job, written)


def _write_report(job: Job, outcome: Evaluation | GoldgateError) -> GoldgateError | None:
    """Write the report where `--report` says; the error if that fails."""
    path = job.report
    if path is None:
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
    return OutFolder(str(job.out), job.paths, job.records)


def guarded(work: Callable[[], T]) -> T | GoldgateError:
    """What the work gives, or the error it ended in; a fault of our own becomes an InternalError."""
    try:
        with uninterrupted():  # its C code ends the process if a signal raises an exception while it is imported
            import orjson  # noqa: F401
        return work()
    except GoldgateError as error:
        return error
    except KeyboardInterrupt:
        raise _interrupted() from None
    except Exception as problem:
        if isinstance(problem.__cause__, KeyboardInterrupt):  # Python wraps one that comes while it makes a class
            raise _interrupted() from None
        if isinstance(problem.__cause__, Terminated):
            raise problem.__cause__ from None
        return as_error(problem)


def _interrupted() -> click.exceptions.Exit:
    """Said here, because click would put an empty line before it."""
    click.echo("interrupted", err=True)
    return click.exceptions.Exit(EXIT_INTERRUPTED)


def say(text: str | bytes, status: int) -> int:
    """Print to stdout; the status, also where nobody reads to the end (`| head`)."""
    if sys.stdout is None:  # closed by whoever started us
        return _unprinted("standard output is closed")
    if isinstance(text, bytes):  # JSON, where ## is part of a string
        text = text.replace(b"##", rb"#\u0023")  # a CI runner obeys ##[…] and ##vso[…] wherever they stand
    if isinstance(text, str):  # a terminal that lacks a character gets its escape, not a crash
        encoding = sys.stdout.encoding or "utf-8"
        text = text.encode(encoding, "backslashreplace").decode(encoding)
    try:
        click.echo(text, nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        abandon_stdout()
    except OSError as problem:
        abandon_stdout()
        return _unprinted(problem.strerror or type(problem).__name__)
    return status


def _unprinted(reason: str) -> int:
    advice = "--quiet prints nothing, and --out writes files"
    error = ConfigError("stdout.unwritable", "the report cannot be printed", found=reason, advice=advice)
    show_error(error)
    return error.exit_status


def show_error(error: GoldgateError) -> None:
    """Print an error to stderr, with its file as it was given."""
    from goldgate.report.text import render_error

    click.echo(render_error({**error.as_json(), "file": error.place.file}), nl=False, err=True)


def _show(job: Job, evaluation: Evaluation) -> int:
    if job.quiet:
        return evaluation.exit_status
    return say(_rendered(job, evaluation.report), evaluation.exit_status)


def _fail(job: Job, error: GoldgateError) -> int:
    show_error(error)
    if job.format != "text" and not job.quiet:  # as text it stands on stderr already
        return say(_rendered(job, _error_report(job, error)), error.exit_status)
    return error.exit_status


def _error_report(job: Job, error: GoldgateError) -> dict[str, Any]:
    from goldgate.core.evaluation import error_report

    report = error_report(job.suite, error)
    report["error"] = all_storable(report["error"])
    return report


def _rendered(job: Job, report: dict[str, Any]) -> str | bytes:
    from goldgate.report import RENDERERS

    rendered = RENDERERS[job.format](report)
    return rendered.encode() if job.format == "json" else rendered  # JSON is UTF-8 whatever the terminal is


def _publish(folder: OutFolder, job: Job, outcome: Evaluation | GoldgateError, run: dict[str, Any]) -> None:
    from goldgate.core.evaluation import render_json
    from goldgate.report import RENDERERS

    failed = isinstance(outcome, GoldgateError)
    report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
    files = {
        REPORT_JSON: render_json(report),
        REPORT_MARKDOWN: RENDERERS["markdown"](report).encode("utf-8", "backslashreplace"),
        RUN: render_json(run),
    }
    folder.publish(files, with_samples=not failed)


def _run_record(job: Job, began: datetime, seconds: float, status: int) -> dict[str, Any]:
    """When and where it ran: what the report must not hold."""
    import platform
    import unicodedata

    import orjson

    from goldgate import __version__
    from goldgate.generation.secret import shown_arguments

    return {
        "format_version": 1,
        "started": began.isoformat(timespec="seconds"),
        "wall_seconds": round(seconds, 3),
        "exit_status": status,
        "arguments": [storable(word) for word in shown_arguments(sys.argv)],
        "folder": _working_directory(),
        "inputs": {kind: [storable(path) for path in paths] for kind, paths in job.inputs.items()},
        "workers": job.workers,
        "host": platform.node(),
        "platform": platform.platform(),
        "versions": {
            "goldgate": __version__,
            "python": platform.python_version(),
            "orjson": orjson.__version__,
            "unicode": unicodedata.unidata_version,
        },
    }


def _working_directory() -> str | None:
    try:
        return storable(os.getcwd())
    except OSError:  # it was deleted
        return None
