"""`goldgate compare`: is one system better than another, by how much, and how sure is that?

Exit status: 0 done, 2 the command failed. A comparison is not a gate.
"""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, Any

import click

from goldgate.cli.options import (
    BRIEF,
    COMMON,
    RESULT_FORMATS,
    format_option,
    option,
    out_option,
    protocol_option,
    workers_option,
)
from goldgate.cli.process import check_brief, result_or_error
from goldgate.cli.runner import Job, Result, print_failure, run_job
from goldgate.errors import GoldgateError

if TYPE_CHECKING:
    from goldgate.pipeline import Finished

CHANGED_JSONL = "changed.jsonl"
READING_OPTIONS = ("dialect", "id_field", "response_field")
COMPARISON_FORMATS = {"comparison.md": "markdown", "comparison.html": "html", "comparison.json": "json"}


@click.command("compare", short_help="Compare systems: is the difference real?")
@click.argument("systems", nargs=-1, required=True, metavar="SYSTEM...")
@option("--gold", "Score predictions first, against this gold. Repeatable.", "FILE", multiple=True)
@option("--suite", "With --gold: the suite that scores, if not the first that can.", "NAME")
@option("--schema", "With --gold: the event schema.", "FILE")
@protocol_option("With --gold: settings, as YAML.")
@option("--dialect", "With --gold: its published format, if it is not recognized.", "NAME")
@option("--id-field", "With --gold: dotted path to a prediction's id.", "PATH")
@option("--response-field", "With --gold: dotted path to what the model wrote.", "PATH")
@option("--against", "System to compare the others with. Default: the first.", "NAME")
@COMMON
@out_option("Write comparison.json, .md and .html, changed.jsonl and run.json here.")
@workers_option()
@format_option((*RESULT_FORMATS, "latex"))
@BRIEF
@click.pass_context
def compare_command(context: click.Context, /, format: str, brief: bool, **options: Any) -> None:
    """Compare systems over the same documents: differences, intervals, p-values.

    \b
    Examples:
      goldgate compare out/model-a out/model-b
      goldgate compare a.jsonl b.jsonl --gold gold.jsonl

    A SYSTEM is a folder that a suite wrote with --out; with --gold, a file of predictions. NAME=PATH names it.
    Several runs of one system: NAME=PATH,PATH or NAME='PATTERN', or a folder that holds seed-1, seed-2, ….

    Exit status: 0 done, 2 the command failed.
    """
    from goldgate.runs.sources import find_systems

    check_brief(brief, format)
    job = Job(
        suite="compare", inputs={}, records=CHANGED_JSONL, files=COMPARISON_FORMATS, out=options["out"], format=format,
        brief=brief, annotate=False, workers=options["workers"],
    )  # fmt: skip
    sources = result_or_error(lambda: find_systems(options["systems"]))
    if isinstance(sources, GoldgateError):
        context.exit(print_failure(job, sources))
    paths = [path for source in sources for path in source.paths]
    job = job._replace(
        inputs={"systems": paths, "gold": list(options["gold"])}
        | {kind: [] if options[kind] is None else [options[kind]] for kind in ("schema", "protocol")}
        | {name: [options[name]] for name in READING_OPTIONS if options[name] is not None},
        folders=[path for path in paths if os.path.isdir(path)],
    )

    def compare(records: IO[bytes] | None, _: Finished | None) -> Result:
        from goldgate.comparison import compare_systems
        from goldgate.report.svg import comparison_page

        others = {name: options[name] for name in ("protocol", "suite", "against", "common", "workers")}
        reading = {name: options[name] for name in READING_OPTIONS}
        gold, schema = job.inputs["gold"], job.inputs["schema"]
        comparison = compare_systems(sources, gold=gold, schema=schema, reading=reading, **others)
        if records is not None:
            records.writelines(comparison.changed_lines())
        return Result(comparison.report, comparison_page)

    context.exit(run_job(job, compare))
