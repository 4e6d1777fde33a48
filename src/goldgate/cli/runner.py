"""Run what a command asks for: handle errors, write the files, print the result.

Exit status: 0 all gates passed, 1 a gate failed or errors were found, 2 the command failed.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from datetime import UTC, datetime
from functools import cached_property, partial
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, NoReturn, TypeAlias

import click

from goldgate.cli.options import Decorator, add_options
from goldgate.cli.out_folder import (
    REPORT_FORMATS,
    REPORT_JSON,
    RUN_JSON,
    SAMPLES,
    OutFolder,
    check_overwrite,
    is_report_of,
    remove_file,
    run_record,
)
from goldgate.cli.process import (
    DEBUG_VARIABLE,
    closing_lines,
    print_output,
    raise_on_signals,
    report_to_github,
    result_or_error,
    show_error,
    show_failed_gates,
    terminal_width,
    use_colour,
)
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, ConfigError, GoldgateError, Place
from goldgate.files.writing import folder_in_use_error, map_texts, write_parts
from goldgate.report import describe_report, name_files, render_page
from goldgate.suites import load_suite
from goldgate.tracking import require_tracker, track

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorReport
    from goldgate.core.evaluation import Evaluation
    from goldgate.core.page import Page
    from goldgate.core.suite import CheckResult, Plan
    from goldgate.core.unit_page import InputLookup
    from goldgate.pipeline import Finished
    from goldgate.report.html.units import ReadLine, UnitSelection
    from goldgate.suites.worst_units import WorstUnits


SAMPLES_NOT_SHOWN = "The samples cannot be shown, which is a bug in goldgate; please report it:"


class SampleCollector:
    """Called at the end of an evaluation with its inputs; then `units` has the units that are worth a look."""

    def __init__(self, suite: str, read: ReadLine | None = None) -> None:
        self._suite = suite
        self.read = read  # from the records, when all are written
        self.units: UnitSelection | None = None

    def __call__(self, evaluation: Evaluation, plan: Plan, inputs: InputLookup, worst: WorstUnits) -> None:
        from goldgate.report.html.units import UnitSelection, worst_units

        suite = load_suite(self._suite)
        try:
            if worst.fault is not None:
                raise RuntimeError(worst.fault)
            assert self.read is not None
            self.units = worst_units(suite, plan, evaluation, worst, self.read, inputs)
        except GoldgateError:
            raise
        except Exception as problem:  # what is shown of samples must not cost the verdict of a long run
            if os.environ.get(DEBUG_VARIABLE):
                raise
            why = worst.fault or f"{type(problem).__name__}: {problem}"
            self.units = UnitSelection(
                unit=suite.unit, note=f"{SAMPLES_NOT_SHOWN} {why}. {DEBUG_VARIABLE}=1 shows the traceback."
            )


HTML, JSON, GITHUB = "html", "json", "github"  # formats

_OVERWRITE_CODE = "against.overwritten"
_HEAD_BYTES = 200  # bytes: a report begins with its suite
_SUITE_PATTERN = re.compile(rb'"suite": "([^"]+)"')


class Result(NamedTuple):
    """What a command prints: a report as JSON, the page that describes it in any other format."""

    report: Mapping[str, Any]
    describe: Callable[[Any], Page]  # of a report of the type that the command makes
    exit_status: int = EXIT_PASSED


Outcome: TypeAlias = "Evaluation | Result | GoldgateError"  # an evaluation is described by its suite


def command(
    name: str, short_help: str, *options: Decorator, cls: type[click.Command] = click.Command, help: str | None = None
) -> Callable[[Callable[..., Result | str | bytes]], click.Command]:
    """Make a command of a function: what it returns, or the error that it ends in, is printed in the `--format`."""

    def make(work: Callable[..., Result | str | bytes]) -> click.Command:
        @click.pass_context
        def callback(context: click.Context, /, format: str = "text", **values: Any) -> NoReturn:
            exit_with(context, name, lambda: work(**values), format)

        return click.command(name, cls=cls, short_help=short_help, help=help or work.__doc__)(
            add_options(*options)(callback)
        )

    return make


def exit_with(
    context: click.Context, command: str, work: Callable[[], Result | str | bytes], format: str = "text"
) -> NoReturn:
    """Do the work, print its result or the error that it ended in, and leave with the exit status."""
    outcome = result_or_error(work)
    job = Job(command, {}, format=format, annotate=False)
    if isinstance(outcome, GoldgateError):
        context.exit(print_failure(job, outcome))
    if isinstance(outcome, Result):
        context.exit(print_output(_JobOutput(job, outcome).rendered(format), outcome.exit_status))
    context.exit(print_output(outcome, EXIT_PASSED))


def check_result(command: str, checked: CheckResult) -> Result:
    """The result of a check for a command. An error among its findings is status 1."""

    def describe(report: Mapping[str, Any]) -> Page:
        from goldgate.report.verdicts import describe_check

        return describe_check(report, checked.summary)._replace(suite=command, remarks=checked.remarks)

    return Result(checked.report, describe, EXIT_PASSED if checked.report["status"] == "PASS" else EXIT_GATE_FAILED)


class Job(NamedTuple):
    """What a command was asked for, beside the evaluation itself. `inputs` are paths as they were given."""

    suite: str
    inputs: dict[str, list[str]]
    folders: Sequence[str] = ()  # those of the inputs that are folders: no result goes deep into them
    records: str = SAMPLES
    files: Mapping[str, str] = REPORT_FORMATS  # what goes into `out`, and in which format
    out: str | None = None
    report: str | None = None
    format: str = "text"
    brief: bool = False  # print only the verdict, gates and warnings
    quiet: bool = False  # only failed gates and errors are printed
    silent: bool = False  # only errors: the caller prints the rest
    annotate: bool = True  # in GitHub Actions
    workers: int | None = None
    engine: str = "processes"
    generating: bool = False  # this process also asks the model in `out`, and holds its journal
    track: str | None = None  # the experiment tracker that gets the result too

    @property
    def paths(self) -> list[str]:
        """Every input, as it was given."""
        return [path for paths in self.inputs.values() for path in paths]

    @property
    def file_names(self) -> tuple[str, ...]:
        """The files of `out` in the order in which they get their names: the JSON is the last."""
        *pages, last = self.files
        return (*pages, RUN_JSON, last)


EvaluateInputs = Callable[["IO[bytes] | None", "Finished | None"], "Evaluation | Result"]


def run_job(job: Job, evaluate: EvaluateInputs) -> int:
    """Evaluate, write, print; the result is the exit status.

    `evaluate` gets the file for the units' records, and what to call when all are written; None where no files are
    asked for.
    """
    began, clock = datetime.now(UTC), time.perf_counter()
    folder = result_or_error(lambda: _open_folder(job))
    if isinstance(folder, GoldgateError):
        if not folder.code.startswith("report."):
            _write_report(job, folder)
        return print_failure(job, folder)
    if folder is None:
        output = _without_folder(job, evaluate)
        return _finish(job, output, _write_report(job, output.outcome))
    try:
        with raise_on_signals():
            collector = SampleCollector(job.suite, folder.read_samples)
            outcome = result_or_error(lambda: evaluate(folder.open_samples(), collector))
            output = _JobOutput(job, outcome, collector.units)
            if _would_overwrite(outcome):
                return _finish(job, output, None)
            run = run_record(job, began, time.perf_counter() - clock, outcome.exit_status)
            unwritten = result_or_error(lambda: _publish(folder, job, output, run))
    finally:
        folder.close()
    unreported = _write_report(job, outcome if unwritten is None else unwritten)
    return _finish(job, output, unwritten or unreported)


def _without_folder(job: Job, evaluate: EvaluateInputs) -> _JobOutput:
    """Evaluate and keep no records but for a page, which shows some of the units."""
    if job.format != HTML or job.quiet:
        return _JobOutput(job, result_or_error(lambda: evaluate(None, None)))
    from tempfile import TemporaryFile

    from goldgate.files.reading import read_part

    def with_records() -> Evaluation | Result:
        with TemporaryFile() as records:
            collector.read = partial(read_part, records)
            return evaluate(records, collector)

    collector = SampleCollector(job.suite)
    return _JobOutput(job, result_or_error(with_records), collector.units)


def _finish(job: Job, output: _JobOutput, unwritten: GoldgateError | None) -> int:
    """Track the result if that is asked for; print the report, or the first error that there was."""
    outcome = output.outcome
    if isinstance(outcome, GoldgateError):
        return print_failure(job, outcome)
    unwritten = unwritten or result_or_error(lambda: _track(job, outcome))
    return _print_report(job, output, outcome.exit_status) if unwritten is None else print_failure(job, unwritten)


def _track(job: Job, outcome: Evaluation | Result) -> None:
    if job.track is None:
        return
    from goldgate.core.evaluation import Evaluation

    assert isinstance(outcome, Evaluation)  # no other command has the option
    with redirect_stdout(sys.stderr):  # trackers print; stdout is the report's
        track(outcome, job.track, folder=job.out, name=None if job.out is None else Path(job.out).resolve().name)


def _would_overwrite(outcome: Outcome) -> bool:
    """Whether it ended because writing would destroy an input: then not even the error is written there."""
    return isinstance(outcome, GoldgateError) and outcome.code == _OVERWRITE_CODE


def _write_report(job: Job, outcome: Outcome) -> GoldgateError | None:
    """Write the report where `--report` says; the error if that fails."""
    path = job.report
    if path is None or _would_overwrite(outcome) or is_report_of(path, job.out):
        return None
    from goldgate.core.evaluation import json_parts

    report = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
    return result_or_error(lambda: write_parts(path, json_parts(report), "--report"))


def _open_folder(job: Job) -> OutFolder | None:
    """The folder for the results if there is one. What cannot end well is refused before anything is scored."""
    check_overwrite(job)
    if job.track is not None:
        require_tracker(job.track)
    out = job.out
    if out is None:
        return None
    journal = Path(out, "journal.jsonl")
    if not job.generating and os.path.exists(journal):
        from goldgate.generation.journal import journal_in_use

        if journal_in_use(journal):
            raise folder_in_use_error(journal.parent, "a process that asks a model and keeps its answers there")
    folder = OutFolder(out, job.paths, job.records, job.file_names)
    try:
        _require_suite(job, folder)
    except BaseException:
        folder.close()
        raise
    return folder


def _require_suite(job: Job, folder: OutFolder) -> None:
    """The files of a folder are all of one run: those of another suite have other names, and would stay."""
    match = _SUITE_PATTERN.search(folder.read_head(REPORT_JSON, _HEAD_BYTES)) if REPORT_JSON in job.files else None
    if match is not None and match[1].decode() != job.suite:
        raise ConfigError(
            "out.of_another_suite",
            f"this folder has results of the {match[1].decode()} suite",
            place=Place(str(folder.path / REPORT_JSON)),
            expected=f"a folder for the {job.suite} suite",
            advice="choose another folder for --out",
        )


def _print_report(job: Job, output: _JobOutput, status: int) -> int:
    annotated = job.annotate and report_to_github(
        output.located_report(), printed=job.format == GITHUB and not job.quiet
    )
    if job.silent:
        return status
    if job.quiet:
        if not annotated:
            show_failed_gates(output.located_report(with_folder=False))
        return status
    rendered = output.rendered(job.format)
    if job.format == "text":
        rendered = str(rendered) + closing_lines(output.report, _file_lines(job))
    return print_output(rendered, status)


def _file_lines(job: Job) -> list[str]:
    """Where the files are, in words."""
    from goldgate.report.text import unbroken

    places = []
    if job.out is not None:
        page = next(name for name, format in job.files.items() if format == HTML)
        *others, report = (name for name in job.files if name != page)
        places.append(f"wrote {unbroken(job.out)}: {', '.join((report, *others, job.records, RUN_JSON))}")
        places.append(f"open: {unbroken(os.path.join(job.out, page))}")
    if job.report is not None:
        places.append(f"wrote {unbroken(job.report)}")
    return places


def print_failure(job: Job, error: GoldgateError) -> int:
    """Print an error to stderr, and where a format other than text is asked for, as a report of its own."""
    show_error(error, "SYSTEM_ERROR")
    printed = not job.quiet and not job.silent
    if job.annotate:
        report_to_github(_error_report(job, error), printed=job.format == GITHUB and printed)
    if job.format != "text" and printed:  # as text it stands on stderr already
        return print_output(_JobOutput(job, error).rendered(job.format), error.exit_status)
    return error.exit_status


def _error_report(job: Job, error: GoldgateError) -> ErrorReport:
    from goldgate.core.evaluation import error_report

    report = error_report(job.suite, error)
    report["error"] = map_texts(report["error"])
    return report


class _JobOutput:
    """What a command shows of an outcome: one page, laid out in any format."""

    def __init__(self, job: Job, outcome: Outcome, units: UnitSelection | None = None) -> None:
        self.job = job
        self.outcome = outcome
        self.report: Any = _error_report(job, outcome) if isinstance(outcome, GoldgateError) else outcome.report
        self._units = units

    def located_report(self, *, with_folder: bool = True) -> Any:
        """The report with the file and line of what gates name; `with_folder`, also the path of the outputs' folder."""
        from goldgate.core.evaluation import Evaluation

        if not isinstance(self.outcome, Evaluation):
            return self.report
        paths = (str(path) for paths in self.job.inputs.values() for path in paths) if with_folder else ()
        return self.outcome.located_report(filter(os.path.isdir, paths))

    @cached_property
    def page(self) -> Page:
        if isinstance(self.outcome, Result):
            return self.outcome.describe(self.report)
        return describe_report(self.report)

    def rendered(self, format: str, *, printed: bool = True) -> str | bytes:
        """The report in a format; `printed`, with paths. JSON and HTML are UTF-8 on any terminal, and have none."""
        if format == JSON:
            from goldgate.core.evaluation import render_json

            return render_json(self.report)
        if format == HTML:
            from goldgate.report.html import render_html

            if isinstance(self.outcome, (Result, GoldgateError)):
                return render_html(self.page).encode()
            return render_html(name_files(self.page, self.job.inputs), self._units).encode()
        located = self.report if not printed else self.located_report(with_folder=format == GITHUB)
        page = self.page if located is self.report else describe_report(located)
        page = page.brief() if self.job.brief and format == "text" else page
        return render_page(page, format, columns=terminal_width(), colour=use_colour())


def _publish(folder: OutFolder, job: Job, output: _JobOutput, run: Mapping[str, object]) -> None:
    from goldgate.core.evaluation import render_json

    if job.report is not None and os.path.isfile(job.report) and not is_report_of(job.report, job.out):
        remove_file(Path(job.report))  # else a kill from here on leaves another verdict there than in the folder
    files = {}
    for name, format in job.files.items():
        text = output.rendered(format, printed=False)
        files[name] = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    pages = {name: sha256(files[name]).hexdigest() for name, format in job.files.items() if format != JSON}
    files[RUN_JSON] = render_json({**run, "pages": pages})
    folder.publish(files, with_samples=not isinstance(output.outcome, GoldgateError))
