"""Run an evaluation or a check for a command: handle errors, write the files, print the report.

Exit status: 0 all gates passed, 1 a gate failed or errors were found, 2 the command failed.
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

from goldgate.cli.out_folder import (
    JUNIT,
    REPORT_HTML,
    REPORT_JSON,
    REPORT_MARKDOWN,
    RUN_JSON,
    SAMPLES,
    OutFolder,
    check_overwrite,
    run_record,
)
from goldgate.cli.printing import (
    closing_lines,
    print_output,
    report_to_github,
    show_error,
    show_failed_gates,
    terminal_width,
    use_colour,
)
from goldgate.cli.process import DEBUG_VARIABLE, raise_on_signals, result_or_error
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, ConfigError, GoldgateError, Place
from goldgate.files.address import is_url, join_url, public_url
from goldgate.files.writing import folder_in_use_error, map_texts

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.page import Page
    from goldgate.core.plan import Plan
    from goldgate.core.unit_page import InputLookup
    from goldgate.pipeline import Finished
    from goldgate.report.html.units import ReadLine, UnitSelection
    from goldgate.suites.worst_units import WorstUnits


SAMPLES_NOT_SHOWN = "They cannot be shown, which is a fault of goldgate; please report it:"


class SampleCollector:
    """Called at the end of an evaluation with its inputs; then `looked` has the units that are worth a look."""

    def __init__(self, suite: str, read: ReadLine) -> None:
        self._suite = suite
        self._read = read  # from the records, when all are written
        self.looked: UnitSelection | None = None

    def __call__(self, evaluation: Evaluation, plan: Plan, given: InputLookup, worst: WorstUnits) -> None:
        from goldgate.report.html.units import UnitSelection, worst_units
        from goldgate.suites import load_suite

        suite = load_suite(self._suite)
        try:
            if worst.fault is not None:
                raise RuntimeError(worst.fault)
            self.looked = worst_units(suite, plan, evaluation, worst, self._read, given)
        except GoldgateError:
            raise
        except Exception as problem:  # what is shown of samples must not cost the verdict of a long run
            if os.environ.get(DEBUG_VARIABLE):
                raise
            why = worst.fault or f"{type(problem).__name__}: {problem}"
            self.looked = UnitSelection(
                unit=suite.unit, note=f"{SAMPLES_NOT_SHOWN} {why}. {DEBUG_VARIABLE}=1 shows the traceback."
            )


def read_part(records: IO[bytes], offset: int, length: int) -> bytes:
    """A part of a file that was written and can be read."""
    records.seek(offset)
    return records.read(length)


HTML, JSON, GITHUB = "html", "json", "github"  # formats

_OVERWRITE_CODE = "against.overwritten"
_HEAD_BYTES = 200  # bytes: a report begins with its suite
_SUITE_PATTERN = re.compile(rb'"suite": "([a-z-]+)"')


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


EvaluateInputs = Callable[["IO[bytes] | None", "Finished | None"], "Evaluation"]


def run_job(job: Job, evaluate: EvaluateInputs) -> int:
    """Evaluate, write, print; the result is the exit status.

    `evaluate` gets the file for the samples' records, and who looks at them when all are written; None where no files
    are wanted.
    """
    began, clock = datetime.now(UTC), time.perf_counter()
    refused = result_or_error(lambda: check_overwrite(job))
    if isinstance(refused, GoldgateError):
        if not refused.code.startswith("report."):
            _write_report(job, refused)
        return _print_failure(job, refused)
    if job.out is None:
        looked: list[UnitSelection] = []
        outcome = result_or_error(lambda: _without_folder(job, evaluate, looked))
        return _finish(job, outcome, _write_report(job, outcome), _OutcomePage(job, outcome, *looked))
    folder = result_or_error(lambda: _open_folder(job))
    if isinstance(folder, GoldgateError):
        _write_report(job, folder)
        return _print_failure(job, folder)
    try:
        with raise_on_signals():
            looking = SampleCollector(job.suite, folder.read_samples)
            outcome = result_or_error(lambda: evaluate(folder.open_samples(), looking))
            if _would_overwrite(outcome):
                return _finish(job, outcome, None, _OutcomePage(job, outcome))
            run = run_record(job, began, time.perf_counter() - clock, outcome.exit_status)
            shown = _OutcomePage(job, outcome, looking.looked)
            written = result_or_error(lambda: _publish(folder, shown, run))
    finally:
        folder.close()
    unreported = _write_report(job, outcome if written is None else written)
    return _finish(job, outcome, written or unreported, shown)


def _without_folder(job: Job, evaluate: EvaluateInputs, looked: list[UnitSelection]) -> Evaluation:
    """Evaluate and keep no records but for a page, which shows some of the units."""
    if job.format != HTML or job.quiet:
        return evaluate(None, None)
    from tempfile import TemporaryFile

    with TemporaryFile() as records:
        looking = SampleCollector(job.suite, partial(read_part, records))
        evaluation = evaluate(records, looking)
    looked += [looking.looked] if looking.looked is not None else []
    return evaluation


def _finish(job: Job, outcome: Evaluation | GoldgateError, written: GoldgateError | None, shown: _OutcomePage) -> int:
    """Show how it ended: with a report, or with the first error that there was."""
    if isinstance(outcome, GoldgateError):
        return _print_failure(job, outcome)
    return _print_report(job, outcome, shown) if written is None else _print_failure(job, written)


def _would_overwrite(outcome: Evaluation | GoldgateError) -> bool:
    """Whether it ended because writing would destroy an input: then not even the error is written there."""
    return isinstance(outcome, GoldgateError) and outcome.code == _OVERWRITE_CODE


def _write_report(job: Job, outcome: Evaluation | GoldgateError) -> GoldgateError | None:
    """Write the report where `--report` says; the error if that fails."""
    path = job.report
    if path is None or _would_overwrite(outcome):
        return None
    from goldgate.core.evaluation import json_parts
    from goldgate.files.writing import write_parts

    report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
    return result_or_error(lambda: write_parts(path, json_parts(report), "--report"))


def _open_folder(job: Job) -> OutFolder:
    """The folder for the results, unless another process is asking a model there."""
    if is_url(job.out):
        return _open_remote_folder(job)
    journal = Path(str(job.out), "journal.jsonl")
    if not job.generating and os.path.exists(journal):
        from goldgate.generation.journal import journal_in_use

        if journal_in_use(journal):
            raise folder_in_use_error(journal.parent, "a process that asks a model and keeps its answers there")
    _require_same_suite(job, Path(str(job.out), REPORT_JSON))
    return OutFolder(str(job.out), job.paths, job.records)


def _open_remote_folder(job: Job) -> OutFolder:
    from goldgate.cli.remote_folder import UploadedFolder

    folder = UploadedFolder(str(job.out), job.paths, job.records)
    try:
        _require_suite(job, folder.read_head(REPORT_JSON, _HEAD_BYTES), join_url(str(job.out), REPORT_JSON))
    except BaseException:
        folder.close()
        raise
    return folder


def _require_same_suite(job: Job, report: Path) -> None:
    """The files of a folder are all of one run: those of another suite have other names, and would stay."""
    try:
        with open(report, "rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return
    _require_suite(job, head, str(report))


def _require_suite(job: Job, head: bytes, report: str) -> None:
    found = _SUITE_PATTERN.search(head)
    if found is not None and found[1].decode() != job.suite:
        raise ConfigError(
            "out.of_another_suite",
            f"this folder has results of the {found[1].decode()} suite",
            place=Place(report),
            expected=f"a folder for the {job.suite} suite",
            advice="choose another folder for --out",
        )


def _print_report(job: Job, evaluation: Evaluation, shown: _OutcomePage) -> int:
    annotated = report_to_github(evaluation.report, printed=job.format == GITHUB and not job.quiet)
    if job.silent:
        return evaluation.exit_status
    if job.quiet:
        if not annotated:
            show_failed_gates(evaluation.report)
        return evaluation.exit_status
    rendered = shown.rendered(job.format, brief=job.brief)
    if job.format == "text":
        rendered = str(rendered) + closing_lines(evaluation.report, _file_lines(job))
    return print_output(rendered, evaluation.exit_status)


def _file_lines(job: Job) -> list[str]:
    """Where the files are, in words."""
    places = []
    if job.out is not None:
        places.append(f"in {job.out}: report.json, report.md, junit.xml, {job.records}, run.json")
        places.append(f"to look at: {os.path.join(job.out, REPORT_HTML)}")
    if job.report is not None:
        places.append(f"the JSON report is {public_url(job.report)}")
    return places


def _print_failure(job: Job, error: GoldgateError) -> int:
    show_error(error)
    report_to_github(_error_report(job, error), printed=job.format == GITHUB and not job.quiet and not job.silent)
    if job.format != "text" and not job.quiet and not job.silent:  # as text it stands on stderr already
        return print_output(_OutcomePage(job, error).rendered(job.format), error.exit_status)
    return error.exit_status


def _error_report(job: Job, error: GoldgateError) -> dict[str, Any]:
    from goldgate.core.evaluation import error_report

    report = error_report(job.suite, error)
    report["error"] = map_texts(report["error"])
    return report


class _OutcomePage:
    """What a command shows of an outcome: one page, laid out in any format."""

    def __init__(self, job: Job, outcome: Evaluation | GoldgateError, looked: UnitSelection | None = None) -> None:
        self.failed = isinstance(outcome, GoldgateError)
        self.report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
        self._looked = None if self.failed else looked

    @cached_property
    def page(self) -> Page:
        from goldgate.report import describe_report

        return describe_report(self.report)

    def rendered(self, format: str, *, brief: bool = False) -> str | bytes:
        """As it is printed. JSON and HTML are UTF-8 whatever the terminal is."""
        if format == JSON:
            return self.json()
        return self.html() if format == HTML else self.text(format, brief=brief)

    def text(self, format: str, *, brief: bool = False) -> str:
        from goldgate.report import render_page

        page = self.page.brief() if brief else self.page
        return render_page(page, format, columns=terminal_width(), colour=use_colour())

    def json(self) -> bytes:
        from goldgate.core.evaluation import render_json

        return render_json(self.report)

    def html(self) -> bytes:
        from goldgate.report.html import render_html

        return render_html(self.page, self._looked).encode()


def _publish(folder: OutFolder, shown: _OutcomePage, run: dict[str, Any]) -> None:
    from goldgate.core.evaluation import render_json

    files = {
        REPORT_JSON: shown.json(),
        REPORT_MARKDOWN: shown.text("markdown").encode("utf-8", "backslashreplace"),
        REPORT_HTML: shown.html(),
        JUNIT: shown.text("junit").encode(),
        RUN_JSON: render_json(run),
    }
    folder.publish(files, with_samples=not shown.failed)


CHECK_FORMATS = ("text", "json")


def run_check(suite: str, format: str, check: Callable[[], tuple[dict[str, Any], str]]) -> int:
    """`check` gives a report with findings, and a summary in a few words. 0 no errors, 1 errors, 2 not carried out."""
    from goldgate.core.evaluation import error_report, render_json
    from goldgate.report.text import render_text
    from goldgate.report.verdicts import describe_check

    outcome = result_or_error(check)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        if format == "json":
            print_output(render_json(error_report(suite, outcome)), outcome.exit_status)
        return outcome.exit_status
    report, summary = outcome
    status = EXIT_PASSED if report["status"] == "PASS" else EXIT_GATE_FAILED
    if format == "json":
        return print_output(render_json(report), status)
    return print_output(render_text(describe_check(report, summary), terminal_width(), use_colour()), status)
