"""`goldgate compare`: is one system better than another, by how much, and how sure is that?

Exit status: 0 carried out, 2 not. A comparison is no gate.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.out_folder import RUN_JSON, OutFolder, check_overwrite, run_record
from goldgate.cli.printing import BRIEF_HELP, check_brief, print_output, show_error, terminal_width, use_colour
from goldgate.cli.process import raise_on_signals, result_or_error
from goldgate.cli.runner import Job
from goldgate.errors import EXIT_PASSED, GoldgateError
from goldgate.files.writing import map_texts
from goldgate.report import PAGE_FORMATS, RENDERERS

if TYPE_CHECKING:
    from goldgate.comparison import Comparison
    from goldgate.runs.sources import SystemSource

COMPARISON_JSON, COMPARISON_MARKDOWN, COMPARISON_HTML = "comparison.json", "comparison.md", "comparison.html"
CHANGED_JSONL = "changed.jsonl"
READING_OPTIONS = ("dialect", "id_field", "response_field")
COMPARISON_FILES = (COMPARISON_MARKDOWN, COMPARISON_HTML, RUN_JSON, COMPARISON_JSON)


@click.command("compare", short_help="Compare systems: is the difference real?")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@click.option("--gold", multiple=True, metavar="FILE", help="Score predictions first, by this gold; may be repeated.")
@click.option(
    "--suite", default="extraction", show_default=True, metavar="NAME", help="With --gold: the suite that scores."
)
@click.option("--schema", metavar="FILE", help="With --gold: the event schema.")
@click.option("--protocol", metavar="FILE", help="With --gold: settings, as YAML.")
@click.option("--dialect", metavar="NAME", help="With --gold: its published format, if it is not recognized.")
@click.option("--id-field", metavar="PATH", help="With --gold: where predictions have their id, as a dotted path.")
@click.option("--response-field", metavar="PATH", help="With --gold: where predictions have what the model wrote.")
@click.option("--name", "names", multiple=True, metavar="NAME", help="A system's name, once for each, in their order.")
@click.option("--against", metavar="NAME", help="The system that the others are compared with. Without it: the first.")
@click.option("--common", is_flag=True, help="Compare what all have, though they were judged by different gold.")
@click.option("--out", metavar="DIR", help="Write comparison.json, .md and .html, changed.jsonl and run.json here.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to score with.")
@click.option(
    "--format",
    type=click.Choice(["json", *PAGE_FORMATS]),
    default="text",
    show_default=True,
    help="Of the printed comparison.",
)
@click.option("--brief", is_flag=True, help=BRIEF_HELP)
@click.pass_context
def compare_command(context: click.Context, /, format: str, brief: bool, **given: Any) -> None:
    """Compare systems over the same documents: differences, intervals, p-values.

    A SYSTEM is a folder that --out of any suite wrote; with --gold, a file of predictions. NAME=PATH names it,
    NAME=PATH,PATH or NAME='PATTERN' are several runs of one system, and so is a folder that holds seed-1, seed-2, ….

    Exit status: 0 it was carried out, 2 it could not be.
    """
    check_brief(brief, format)
    outcome = result_or_error(lambda: _job(given))
    if isinstance(outcome, GoldgateError):
        context.exit(_fail(outcome, format))
    sources, job = outcome

    def work() -> Comparison:
        from goldgate.comparison import compare_systems

        others = {name: given[name] for name in ("protocol", "suite", "against", "common", "workers")}
        reading = {name: given[name] for name in READING_OPTIONS}
        return compare_systems(sources, gold=job.inputs["gold"], schema=job.inputs["schema"], reading=reading, **others)

    compared = result_or_error(work) if job.out is None else result_or_error(lambda: _write_folder(job, work))
    if isinstance(compared, GoldgateError):
        context.exit(_fail(compared, format))
    shown = _render(compared, format, brief=brief)
    if job.out is not None and format == "text":
        shown = f"{shown!s}\n{_file_lines(job.out)}"
    context.exit(print_output(shown, EXIT_PASSED))


def _file_lines(out: str) -> str:
    """Where the files are, in words."""
    from goldgate.report.escape import visible
    from goldgate.report.text import word_parts

    files = f"{COMPARISON_JSON}, {COMPARISON_MARKDOWN}, {CHANGED_JSONL} and {RUN_JSON} are in {out}"
    to_look_at = f"to look at: {os.path.join(out, COMPARISON_HTML)}"
    return (
        "\n".join(line for said in (files, to_look_at) for line in word_parts(visible(said), terminal_width())) + "\n"
    )


def _job(given: Mapping[str, Any]) -> tuple[list[SystemSource], Job]:
    """The systems that were named, and the job with all their paths."""
    from goldgate.runs.sources import find_systems

    sources = find_systems(given["systems"], given["names"])
    paths = [path for source in sources for path in source.paths]
    return sources, Job(
        suite="compare",
        inputs={"systems": paths, "gold": list(given["gold"])}
        | {kind: [] if given[kind] is None else [given[kind]] for kind in ("schema", "protocol")}
        | {name: [given[name]] for name in READING_OPTIONS if given[name] is not None},
        folders=[path for path in paths if os.path.isdir(path)],
        records=CHANGED_JSONL,
        out=given["out"],
        workers=given["workers"],
    )


def _write_folder(job: Job, work: Callable[[], Comparison]) -> Comparison:
    """Compare, and write all files of the folder; of a comparison that failed, the error, and no earlier result."""
    from goldgate.core.evaluation import render_json

    check_overwrite(job)
    began, clock = datetime.now(UTC), time.perf_counter()
    folder = OutFolder(str(job.out), job.paths, CHANGED_JSONL, COMPARISON_FILES)
    try:
        with raise_on_signals():
            outcome = result_or_error(work)
            failed = isinstance(outcome, GoldgateError)
            if not isinstance(outcome, GoldgateError):
                folder.open_samples().writelines(outcome.changed_lines())
            files = {COMPARISON_JSON: "json", COMPARISON_MARKDOWN: "markdown", COMPARISON_HTML: "html"}
            shown = {name: _render_file(outcome, format) for name, format in files.items()}
            status = outcome.exit_status if isinstance(outcome, GoldgateError) else EXIT_PASSED
            run = run_record(job, began, time.perf_counter() - clock, status)
            folder.publish(shown | {RUN_JSON: render_json(run)}, with_samples=not failed)
    finally:
        folder.close()
    if isinstance(outcome, GoldgateError):
        raise outcome
    return outcome


def _render_file(outcome: Comparison | GoldgateError, format: str) -> bytes:
    shown = _render_error(outcome, format) if isinstance(outcome, GoldgateError) else _render(outcome, format)
    return shown if isinstance(shown, bytes) else shown.encode("utf-8", "backslashreplace")


def _render(comparison: Comparison, format: str, *, brief: bool = False) -> str | bytes:
    from goldgate.report import render_page
    from goldgate.report.plot import comparison_page

    if format == "json":
        return comparison.to_json().encode()
    page = comparison_page(comparison.report)
    return render_page(page.brief() if brief else page, format, columns=terminal_width(), colour=use_colour())


def _fail(error: GoldgateError, format: str) -> int:
    show_error(error)
    if format == "text":  # it stands on stderr already
        return error.exit_status
    return print_output(_render_error(error, format), error.exit_status)


def _render_error(error: GoldgateError, format: str) -> str | bytes:
    from goldgate.core.evaluation import error_report

    report = error_report("compare", error)
    report["error"] = map_texts(report["error"])
    rendered = RENDERERS[format](report)
    return rendered.encode() if format == "json" else rendered
