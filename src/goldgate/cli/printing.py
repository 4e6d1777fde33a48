"""What a command prints: to a terminal as wide as it is and in colour, elsewhere plain and in 80 columns."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import click

from goldgate.cli.start import abandon_stdout, tell
from goldgate.errors import ConfigError, GoldgateError

BRIEF_HELP = "Print what decides and where the rest is, not all of it."
COLUMNS = 80  # where nobody knows


def say(text: str | bytes, status: int) -> int:
    """Print text, JSON or HTML to stdout so that no terminal and no CI runner obeys anything in it.

    The result is the status, also where the reader is gone before the end (`| head`).
    """
    if sys.stdout is None:  # closed by whoever started us
        return _unprinted("standard output is closed")
    from goldgate.report.escape import for_terminal, in_json

    if isinstance(text, str):  # a terminal that lacks a character gets its escape, not a crash
        encoding = sys.stdout.encoding or "utf-8"
        text = for_terminal(text).encode(encoding, "backslashreplace").decode(encoding)
    elif not text.startswith(b"<"):  # HTML is escaped where it is made
        text = in_json(text.decode()).encode()
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

    tell(render_error({**error.as_json(), "file": error.place.file}, columns(sys.stderr)).rstrip("\n"))


def check_brief(brief: bool, format: str, *, quiet: bool = False) -> None:
    """Refuse `--brief` where there is nothing that it could shorten."""
    if brief and (quiet or format != "text"):
        raise click.UsageError("--brief shortens the printed text: it goes with neither --quiet nor another --format")


def columns(stream: TextIO | None = None) -> int:
    """How wide the terminal is; 80 in a pipe or a file, so that the same report is the same bytes."""
    stream = sys.stdout if stream is None else stream
    if not _is_terminal(stream):
        return COLUMNS
    from shutil import get_terminal_size

    return get_terminal_size((COLUMNS, 24)).columns


def in_colour() -> bool:
    """Whether standard output is a terminal whose user did not ask for plain text (no-color.org)."""
    return _is_terminal(sys.stdout) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show_failed_gates(report: dict[str, Any]) -> None:
    """The gates that failed or are open, or that there are none, to stderr: what even a quiet command says."""
    from goldgate.report.escape import visible
    from goldgate.report.layout import words

    if report["status"] == "NO_GATES":
        tell("NO_GATES  nothing was judged: no gate can fail")
    for gate in report["gates"]:
        if gate["verdict"] != "PASS":
            lets_pass = gate["verdict"] == "INCONCLUSIVE" and gate["on_inconclusive"] != "fail"
            warn = " (warn)" if gate["severity"] == "warn" or lets_pass else ""
            text = visible(f"{gate['verdict']}{warn}  {gate['metric']}: {gate['reason']}")
            tell("\n".join(words(text, columns(sys.stderr), "      ", "")))


def closing(report: dict[str, Any], places: Sequence[str]) -> str:
    """The last lines of a printed report: the verdict once more, and where the files are."""
    gates = [gate for gate in report["gates"] if gate["severity"] == "error"]
    failed = [gate["metric"] for gate in gates if gate["verdict"] == "FAIL"]
    undecided = [gate["metric"] for gate in gates if gate["verdict"] == "INCONCLUSIVE"]
    if not gates:
        words = "no gate can fail: nothing was judged"
    elif failed:
        words = f"{len(failed)} of {len(gates)} gates failed: {', '.join(failed)}"
    elif report["status"] == "INCONCLUSIVE":
        words = f"{len(undecided)} of {len(gates)} gates could not be decided: {', '.join(undecided)}"
    elif undecided:
        words = f"no gate failed; not decided, which the protocol lets pass: {', '.join(undecided)}"
    else:
        words = "the gate passed" if len(gates) == 1 else f"all {len(gates)} gates passed"
    warned = [g["metric"] for g in report["gates"] if g["severity"] == "warn" and g["verdict"] == "FAIL"]
    if warned:
        words += f"; only warned: {', '.join(warned)}"
    from goldgate.report.layout import verdict_lines

    return "\n" + "\n".join(verdict_lines(report["status"], [words, *places], columns(), in_colour())) + "\n"


def _is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()
