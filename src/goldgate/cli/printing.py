"""Print results, errors, progress and GitHub annotations.

Output fits the width of the terminal and is coloured; in pipes and files it is plain and 80 columns wide. In GitHub
Actions (GITHUB_ACTIONS, GITHUB_STEP_SUMMARY), annotations go to the log and the report to the step's summary.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, TextIO

import click

from goldgate.cli.process import discard_stdout, print_stderr
from goldgate.errors import ConfigError, GoldgateError

if TYPE_CHECKING:
    from goldgate.core.contracts import ErrorReport, SuiteReport
    from goldgate.runs.contracts import ComparisonReport

DEFAULT_WIDTH = 80  # of a terminal that does not say


def print_output(text: str | bytes, status: int) -> int:
    """Print text, JSON or HTML to stdout so that no terminal and no CI runner obeys anything in it.

    The result is the status, also where the reader is gone before the end (`| head`).
    """
    if sys.stdout is None:  # closed by the caller
        return _stdout_failed("standard output is closed")
    from goldgate.report.escape import escape_for_terminal, escape_json

    if isinstance(text, str):  # a terminal that lacks a character gets its escape, not a crash
        encoding = sys.stdout.encoding or "utf-8"
        text = escape_for_terminal(text).encode(encoding, "backslashreplace").decode(encoding)
    elif not text.startswith(b"<"):  # HTML is escaped where it is made
        text = escape_json(text.decode()).encode()
    try:
        click.echo(text, nl=False)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
    except OSError as problem:
        discard_stdout()
        return _stdout_failed(problem.strerror or type(problem).__name__)
    return status


def _stdout_failed(reason: str) -> int:
    advice = "--quiet prints nothing, and --out writes files"
    error = ConfigError("stdout.unwritable", "the report cannot be printed", found=reason, advice=advice)
    show_error(error)
    return error.exit_status


def show_error(error: GoldgateError) -> None:
    """Print an error to stderr, with its file as it was given."""
    from goldgate.report.text import render_error

    print_stderr(render_error(error, terminal_width(sys.stderr)).rstrip("\n"))


def check_brief(brief: bool, format: str, *, quiet: bool = False) -> None:
    """Refuse `--brief` where there is nothing that it could shorten."""
    if brief and (quiet or format != "text"):
        raise click.UsageError("--brief shortens the printed text: leave out --quiet and --format")


def terminal_width(stream: TextIO | None = None) -> int:
    """How wide the terminal is; 80 in a pipe or a file, so that the same report is the same bytes."""
    stream = sys.stdout if stream is None else stream
    if not _is_terminal(stream):
        return DEFAULT_WIDTH
    from shutil import get_terminal_size

    return get_terminal_size((DEFAULT_WIDTH, 24)).columns


def use_colour() -> bool:
    """Whether standard output is a terminal whose user did not ask for plain text (no-color.org)."""
    return _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_failed_gates(report: SuiteReport) -> None:
    """Print to stderr the gates that failed or are open, or that none are set; `--quiet` prints only this."""
    from goldgate.report.escape import visible
    from goldgate.report.text import word_parts

    if report["status"] == "NO_GATES":
        print_stderr("NO_GATES  no gates set; scores only")
    for gate in report["gates"]:
        if gate["verdict"] != "PASS":
            lets_pass = gate["verdict"] == "INCONCLUSIVE" and gate["on_inconclusive"] != "fail"
            warn = " (warn)" if gate["severity"] == "warn" or lets_pass else ""
            text = visible(f"{gate['verdict']}{warn}  {gate['metric']}: {gate['reason']}")
            print_stderr("\n".join(word_parts(text, terminal_width(sys.stderr), "      ", "")))


def closing_lines(report: SuiteReport | ComparisonReport, places: Sequence[str]) -> str:
    """The last lines of a printed report: the verdict once more if it has one, and where the files are."""
    from goldgate.report.escape import visible
    from goldgate.report.text import verdict_lines, word_parts

    if "kind" in report:
        lines = [line for place in places for line in word_parts(visible(place), terminal_width())]
        return "".join(f"{line}\n" for line in ["", *lines]) if places else ""
    gates = [gate for gate in report["gates"] if gate["severity"] == "error"]
    failed = [gate["metric"] for gate in gates if gate["verdict"] == "FAIL"]
    undecided = [gate["metric"] for gate in gates if gate["verdict"] == "INCONCLUSIVE"]
    if not gates:
        words = "scores only"
    elif failed:
        count = "the gate" if len(gates) == 1 else f"{len(failed)} of {len(gates)} gates"
        words = f"{count} failed: {', '.join(failed)}"
    elif report["status"] == "INCONCLUSIVE":
        words = f"{len(undecided)} of {len(gates)} gates could not be decided: {', '.join(undecided)}"
    elif undecided:
        words = f"no gate failed; undecided, which the protocol lets pass: {', '.join(undecided)}"
    else:
        words = "the gate passed" if len(gates) == 1 else f"all {len(gates)} gates passed"
    warned = [g["metric"] for g in report["gates"] if g["severity"] == "warn" and g["verdict"] == "FAIL"]
    if warned:
        words += f"; warnings: {', '.join(warned)}"
    return "\n" + "\n".join(verdict_lines(report["status"], [words, *places], terminal_width(), use_colour())) + "\n"


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


MIN_UNITS = 2_000  # units; fewer are done before a line could be read
EVERY_SECONDS = 0.1


class ProgressLine:
    """Call it with units done and units in all. Silent where stderr is not a terminal, or with `quiet`."""

    def __init__(self, unit: str, *, quiet: bool) -> None:
        self._unit = unit
        self._silent = quiet or sys.stderr is None or not sys.stderr.isatty()
        self._next = 0.0
        self._width = 0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if self._silent or total <= MIN_UNITS or now < self._next:
            return
        self._next = now + EVERY_SECONDS
        self._write(f"{done:,} of {total:,} {self._unit}s ({100 * done // total} %)")

    def clear(self) -> None:
        """Leave the line empty for whatever is printed next."""
        if self._width:
            self._write("")
            sys.stderr.write("\r")
            sys.stderr.flush()

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)


GITHUB_VARIABLES = _ACTIONS, _SUMMARY = "GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY"


def report_to_github(report: SuiteReport | ErrorReport, *, printed: bool) -> bool:
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


def _write_summary(path: str, report: SuiteReport | ErrorReport) -> None:
    """Append the report; a summary that cannot be written is said, and no more: the verdict stands."""
    from goldgate.report import RENDERERS
    from goldgate.report.verdicts import step_summary

    try:
        with open(path, "ab") as summary:
            text = step_summary(RENDERERS["markdown"](report), summary.tell())
            summary.write(text.encode())
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or type(problem).__name__
        print_stderr(f"the summary of this step was not written ({_SUMMARY}): {why}")
