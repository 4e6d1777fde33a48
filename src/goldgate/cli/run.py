"""Carrying out an evaluation for a command: catch what goes wrong, write the files, print the report.

Exit status: 0 all gates passed, 1 a gate failed, 2 it could not be carried out.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property, partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

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
from goldgate.files.url import is_url, join_url, shown_url

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.page import Page
    from goldgate.pipeline import Finished
    from goldgate.report.html.looked import Looked

HTML, JSON, GITHUB = "html", "json", "github"  # formats

_OVERWRITES = "against.overwritten"
_HEAD = 200  # bytes: a report begins with its suite
_SUITE = re.compile(rb'"suite": "([a-z-]+)"')


class Job(NamedTuple):
    """What a command was asked for, beside the evaluation itself. `inputs` are paths as they were given."""

    suite: str
    inputs: dict[str, list[str]]
    folders: Sequence[str] = ()  # those of the inputs that are folders: no result goes deep into them
    records: str = SAMPLES
    out: str | None = None
    report: str | None = None
    format: str = "text"
    brief: bool = False  # of the text, what decides
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
        return _end(job, outcome, _write_report(job, outcome), _Shown(job, outcome, *looked))
    folder = guarded(lambda: _open_folder(job))
    if isinstance(folder, GoldgateError):
        _write_report(job, folder)
        return _fail(job, folder)
    try:
        with ended_by_signals():
            looking = Looking(job.suite, folder.read_samples)
            outcome = guarded(lambda: evaluate(folder.open_samples(), looking))
            if _would_overwrite(outcome):
                return _end(job, outcome, None, _Shown(job, outcome))
            run = run_record(job, began, time.perf_counter() - clock, outcome.exit_status)
            shown = _Shown(job, outcome, looking.looked)
            written = guarded(lambda: _publish(folder, shown, run))
    finally:
        folder.close()
    unreported = _write_report(job, outcome if written is None else written)
    return _end(job, outcome, written or unreported, shown)


def _without_folder(job: Job, evaluate: Evaluate, looked: list[Looked]) -> Evaluation:
    """Evaluate and keep no records but for a page, which shows some of the units."""
    if job.format != HTML or job.quiet:
        return evaluate(None, None)
    from tempfile import TemporaryFile

    with TemporaryFile() as records:
        looking = Looking(job.suite, partial(read_written, records))
        evaluation = evaluate(records, looking)
    looked += [looking.looked] if looking.looked is not None else []
    return evaluation


def _end(job: Job, outcome: Evaluation | GoldgateError, written: GoldgateError | None, shown: _Shown) -> int:
    """Show how it ended: with a report, or with the first error that there was."""
    if isinstance(outcome, GoldgateError):
        return _fail(job, outcome)
    return _show(job, outcome, shown) if written is None else _fail(job, written)


def _would_overwrite(outcome: Evaluation | GoldgateError) -> bool:
    """Whether it ended because writing would destroy an input: then not even the error is written there."""
    return isinstance(outcome, GoldgateError) and outcome.code == _OVERWRITES


def _write_report(job: Job, outcome: Evaluation | GoldgateError) -> GoldgateError | None:
    """Write the report where `--report` says; the error if that fails."""
    path = job.report
    if path is None or _would_overwrite(outcome):
        return None
    from goldgate.core.evaluation import json_parts
    from goldgate.files.atomic_write import write_parts

    report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
    return guarded(lambda: write_parts(path, json_parts(report), "--report"))


def _open_folder(job: Job) -> OutFolder:
    """The folder for the results, unless another process is asking a model there."""
    if is_url(job.out):
        return _open_elsewhere(job)
    journal = Path(str(job.out), "journal.jsonl")
    if not job.generating and os.path.exists(journal):
        from goldgate.generation.journal import in_use

        if in_use(journal):
            raise folder_in_use(journal.parent, "a process that asks a model and keeps its answers there")
    _require_same_suite(job, Path(str(job.out), REPORT_JSON))
    return OutFolder(str(job.out), job.paths, job.records)


def _open_elsewhere(job: Job) -> OutFolder:
    from goldgate.cli.remote_out import UploadedFolder

    folder = UploadedFolder(str(job.out), job.paths, job.records)
    try:
        _require_suite(job, folder.read_head(REPORT_JSON, _HEAD), join_url(str(job.out), REPORT_JSON))
    except BaseException:
        folder.close()
        raise
    return folder


def _require_same_suite(job: Job, report: Path) -> None:
    """The files of a folder are all of one run: those of another suite have other names, and would stay."""
    try:
        with open(report, "rb") as stream:
            head = stream.read(_HEAD)
    except OSError:
        return
    _require_suite(job, head, str(report))


def _require_suite(job: Job, head: bytes, report: str) -> None:
    found = _SUITE.search(head)
    if found is not None and found[1].decode() != job.suite:
        raise ConfigError(
            "out.of_another_suite",
            f"this folder has results of the {found[1].decode()} suite",
            place=Place(report),
            expected=f"a folder for the {job.suite} suite",
            advice="choose another folder for --out",
        )


def _show(job: Job, evaluation: Evaluation, shown: _Shown) -> int:
    annotated = tell_github(evaluation.report, printed=job.format == GITHUB and not job.quiet)
    if job.silent:
        return evaluation.exit_status
    if job.quiet:
        if not annotated:
            show_failed_gates(evaluation.report)
        return evaluation.exit_status
    rendered = shown.rendered(job.format, brief=job.brief)
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
        places.append(f"the JSON report is {shown_url(job.report)}")
    return places


def _fail(job: Job, error: GoldgateError) -> int:
    show_error(error)
    tell_github(_error_report(job, error), printed=job.format == GITHUB and not job.quiet and not job.silent)
    if job.format != "text" and not job.quiet and not job.silent:  # as text it stands on stderr already
        return say(_Shown(job, error).rendered(job.format), error.exit_status)
    return error.exit_status


def _error_report(job: Job, error: GoldgateError) -> dict[str, Any]:
    from goldgate.core.evaluation import error_report

    report = error_report(job.suite, error)
    report["error"] = all_storable(report["error"])
    return report


class _Shown:
    """What a command shows of an outcome: one page, laid out in any format."""

    def __init__(self, job: Job, outcome: Evaluation | GoldgateError, looked: Looked | None = None) -> None:
        self.failed = isinstance(outcome, GoldgateError)
        self.report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
        self._looked = None if self.failed else looked

    @cached_property
    def page(self) -> Page:
        from goldgate.report import describe

        return describe(self.report)

    def rendered(self, format: str, *, brief: bool = False) -> str | bytes:
        """As it is printed. JSON and HTML are UTF-8 whatever the terminal is."""
        if format == JSON:
            return self.json()
        return self.html() if format == HTML else self.text(format, brief=brief)

    def text(self, format: str, *, brief: bool = False) -> str:
        from goldgate.report import render_page

        page = self.page.brief() if brief else self.page
        return render_page(page, format, columns=columns(), colour=in_colour())

    def json(self) -> bytes:
        from goldgate.core.evaluation import render_json

        return render_json(self.report)

    def html(self) -> bytes:
        from goldgate.report.html.page import render_html

        return render_html(self.page, self._looked).encode()


def _publish(folder: OutFolder, shown: _Shown, run: dict[str, Any]) -> None:
    from goldgate.core.evaluation import render_json

    files = {
        REPORT_JSON: shown.json(),
        REPORT_MARKDOWN: shown.text("markdown").encode("utf-8", "backslashreplace"),
        REPORT_HTML: shown.html(),
        JUNIT: shown.text("junit").encode(),
        RUN: render_json(run),
    }
    folder.publish(files, with_samples=not shown.failed)
