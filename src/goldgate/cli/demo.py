"""`goldgate demo`: judges two made-up models with the data that comes with the package, and shows the commands."""

from __future__ import annotations

import os
import tempfile
from contextlib import chdir, nullcontext
from pathlib import Path

import click

from goldgate.cli.options import out_option
from goldgate.cli.printing import GITHUB_VARIABLES, print_output
from goldgate.cli.runner import exit_with
from goldgate.errors import EXIT_PASSED, EXIT_SYSTEM_ERROR, ConfigError, Place


@click.command("demo", short_help="Judge two made-up models, and show how.")
@out_option("Keep the data and the reports in this folder, which must be new or empty.")
@click.pass_context
def demo_command(context: click.Context, out: str | None) -> None:
    """Judge two made-up models on 24 documents that come with goldgate, and show the commands that do it.

    Exit status: 0 it went as it should (model A passes, model B fails), 2 it did not.
    """

    def work() -> str:
        with tempfile.TemporaryDirectory() if out is None else nullcontext(_new_folder(out)) as folder:
            _write_data(Path(folder))
            with chdir(folder):
                _run_all()
        return (
            "\n--brief prints what decides; without it, every number.\n"
            f"Model A passed, and model B failed its gates, as they should.\n{_closing_text(out)}"
        )

    exit_with(context, "demo", work)


def _closing_text(out: str | None) -> str:
    """What is left of it, and what to do next."""
    if out is None:
        return "Nothing of it was kept: goldgate demo --out DIR keeps data and reports.\n"
    from goldgate.report.escape import visible

    folder = visible(out.rstrip("/") or out)
    return f"""The data and the reports are in {folder}. Look at what failed, or change a gate:
  {folder}/report-b/report.html
  {folder}/release.yaml
"""


def _run_all() -> None:
    """Every command, with what it prints; the first that does not end as it should ends the demo."""
    from goldgate.cli.main import goldgate
    from goldgate.demo import demo_commands

    for name in GITHUB_VARIABLES:  # a step that only shows the demo has no failed gate
        os.environ.pop(name, None)
    for number, (line, expected) in enumerate(demo_commands().items()):
        print_output(f"{chr(10) if number else ''}$ goldgate {line}\n", EXIT_PASSED)
        status = goldgate.main(line.split(), prog_name="goldgate", standalone_mode=False)
        if status != expected:
            print_output(
                f"\nThis command should have ended with status {expected}, and ended with {status}.\n",
                EXIT_SYSTEM_ERROR,
            )
            raise click.exceptions.Exit(EXIT_SYSTEM_ERROR)


def _new_folder(out: str) -> str:
    """The folder, made if need be: whatever is in it is not ours to overwrite."""
    try:
        os.makedirs(out, exist_ok=True)
        found = os.listdir(out)
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise ConfigError(
            "out.unwritable", "the folder for the demo cannot be made", place=Place(out), found=why
        ) from None
    if found:
        raise ConfigError(
            "out.not_ours",
            "this folder is not empty",
            place=Place(out),
            expected="a new or an empty folder",
            found=", ".join(sorted(found)[:3]),
            advice="choose another folder for --out",
        )
    return out


def _write_data(folder: Path) -> None:
    from goldgate.demo import demo_files
    from goldgate.files.writing import write_file

    for name, content in demo_files().items():
        write_file(str(folder / name), content, "--out")
