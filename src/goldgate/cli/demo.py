"""`goldgate demo`: judge two made-up models on data that comes with the package, and show the commands."""

from __future__ import annotations

import json
import os
import re
from contextlib import chdir
from importlib.resources import files
from pathlib import Path
from textwrap import wrap

import click

from goldgate.cli.options import option, out_option
from goldgate.cli.process import GITHUB_VARIABLES, print_output
from goldgate.cli.runner import command
from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR, ConfigError, Place
from goldgate.files.writing import write_file

DEMO_FOLDER = "goldgate-demo"
DATA = files("goldgate") / "demo" / "data"
COMMANDS = "commands.json"
SUITES = tuple(sorted(folder.name for folder in DATA.iterdir()))  # that there is data for


def demo_files(suite: str = SUITES[0]) -> dict[str, bytes]:
    """The files of a suite by name."""
    return {file.name: file.read_bytes() for file in (DATA / suite).iterdir() if file.name != COMMANDS}


def demo_commands(suite: str = SUITES[0]) -> dict[str, int]:
    """The commands for a suite, each with the exit status that it has to end with."""
    text = (DATA / suite / COMMANDS).read_text(encoding="utf-8")
    return {command: int(status) for command, status in json.loads(text).items()}


@command(
    "demo",
    "Try goldgate on example data.",
    out_option("Folder for the data and reports.", default=DEMO_FOLDER),
    option("--suite", "What the models do.", default=SUITES[0], type=click.Choice(SUITES)),
)
def demo_command(out: str, suite: str) -> str:
    """Judge two made-up models on documents that come with goldgate, and show the commands.

    \b
    Example:
      goldgate demo

    Exit status: 0 model A passed and model B failed, as they should; 2 otherwise.
    """
    from goldgate.report.escape import visible

    _claim_folder(out)
    for name, content in demo_files(suite).items():
        write_file(os.path.join(out, name), content, "--out")
    with chdir(out):
        _run_all(visible(out), suite)
    folder = visible(out.rstrip("/") or out)
    return f"""
Model A passed and model B failed its gates, as they should. --brief leaves out
most numbers. Next:
  open {folder}/report-b/report.html   to see why model B failed
  edit {folder}/release.yaml           to change a gate
"""


def _run_all(folder: str, suite: str) -> None:
    """Run every command and print it; the first that does not exit as expected ends the demo."""
    from goldgate.cli.main import goldgate

    for name in GITHUB_VARIABLES:  # a step that only shows the demo has no failed gate
        os.environ.pop(name, None)
    print_output(f"$ cd {folder}\n", EXIT_PASSED)
    for line, expected in demo_commands(suite).items():
        glued = re.sub(r"(--\w+) (?!-)", "\\1\0", line)  # an option stays on the line of its value
        wrapped = " \\\n    ".join(wrap(f"$ goldgate {glued}", 78, break_on_hyphens=False)).replace("\0", " ")
        print_output(f"\n{wrapped}\n", EXIT_PASSED)
        status = goldgate.main(line.split(), prog_name="goldgate", standalone_mode=False)
        if status != expected:
            print_output(f"\nThis command exited with status {status}; expected {expected}.\n", EXIT_SYSTEM_ERROR)
            raise click.exceptions.Exit(EXIT_SYSTEM_ERROR)


def _claim_folder(out: str) -> None:
    """Create the folder. Of an existing one, only what an earlier demo wrote, as it wrote it, is overwritten."""
    demos = [demo_files(suite) for suite in SUITES]
    reports = {line.rpartition(" --out ")[2] for line in demo_commands()}
    names = {name for demo in demos for name in demo}
    try:
        os.makedirs(out, exist_ok=True)
        others = sorted(set(os.listdir(out)) - names - reports)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise ConfigError(
            "out.unwritable", "the folder for the demo cannot be created", place=Place(out), found=why
        ) from None
    if others:
        advice = "choose another folder for --out"
        raise _foreign_file_error(out, "this folder has other files", advice, ", ".join(others[:3]))
    for file in (Path(out, name) for name in sorted(names)):
        if os.path.lexists(file) and not any(_has_content(file, demo.get(file.name)) for demo in demos):
            advice = "choose another folder for --out, or move the file away"
            raise _foreign_file_error(
                str(file), "this file is not as the demo writes it; nothing was overwritten", advice
            )


def _foreign_file_error(path: str, message: str, advice: str, found: str | None = None) -> ConfigError:
    expected = "a new or empty folder, or that of an earlier demo"
    return ConfigError("out.not_ours", message, place=Place(path), expected=expected, found=found, advice=advice)


def _has_content(file: Path, content: bytes | None) -> bool:
    try:
        return content is not None and file.stat().st_size == len(content) and file.read_bytes() == content
    except OSError:
        return False
