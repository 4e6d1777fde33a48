"""`goldgate convert`, `goldgate schema` and `goldgate import-runs`: gold and traces in goldgate's own format."""

from __future__ import annotations

from typing import Any

import click

from goldgate.cli.options import MultiValueCommand, ability_options, as_list, choose_ability, format_option, out_option
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.runner import Result, check_result, exit_with
from goldgate.readers.dialects import OWN_FORM, all_dialects

_DIALECTS = "\n".join(f"    {dialect.name}: {dialect.about}" for dialect in all_dialects())


@click.command(
    "convert",
    cls=MultiValueCommand,
    help=f"""Convert gold of a published data set to goldgate's own format, one record per line.

    \b
    Example:
      goldgate convert train.jsonl dev.jsonl --out gold.jsonl

    Triggers, offsets in tokens and characters, entities and all their mentions are kept. Formats, recognized by their
    keys:

    \b
{_DIALECTS}
    {OWN_FORM}: goldgate's own

    Exit status: 0 written, 2 the command failed.
    """,
    short_help="Convert gold of a published data set to goldgate's format.",
)
@click.argument("gold", nargs=-1, required=True, metavar="IN...")
@out_option("File to write, as JSON Lines.", "FILE", required=True)
@ability_options("convert")
@click.pass_context
def convert_command(
    context: click.Context, /, gold: tuple[str, ...], out: str, suite: str | None, **options: Any
) -> None:
    def work() -> str:
        from goldgate.files.writing import atomic_file

        ability = choose_ability("convert", suite, options).ability
        paths = [path for each in ability.inputs if each.is_path for path in as_list(options[each.name])]
        check_not_input((*gold, *paths), out)
        with atomic_file(out, "choose a file for --out that can be written to") as stream:
            written, lost = ability.load()(gold, stream, options)
        return f"{written} in {out}\n{lost}"

    exit_with(context, "convert", work)


@click.command("schema", cls=MultiValueCommand, short_help="Derive an event schema from gold.")
@click.option(
    "--from",
    "gold",
    required=True,
    multiple=True,
    metavar="GOLD...",
    help="Gold files, all splits.",
)
@out_option("File to write the event schema to, as JSON.", "FILE", required=True)
@ability_options("schema")
@click.pass_context
def schema_command(
    context: click.Context, /, gold: tuple[str, ...], out: str, suite: str | None, **options: Any
) -> None:
    """Derive an event schema from gold: its event types, and the roles of each.

    \b
    Example:
      goldgate schema --from train.jsonl test.jsonl --out schema.json

    Types and roles that the gold never uses are missing from the schema: give all splits.

    Exit status: 0 written, 2 the command failed.
    """

    def work() -> str:
        from goldgate.core.evaluation import render_json
        from goldgate.files.writing import write_file

        check_not_input(gold, out)
        schema, summary = choose_ability("schema", suite, options).ability.load()(gold, options)
        write_file(out, render_json(schema), "--out")
        return f"{summary} in {out}\n"

    exit_with(context, "schema", work)


@click.command("import-runs", short_help="Convert an agent's traces to run folders.")
@click.argument("traces", metavar="IN...", nargs=-1, required=True)
@out_option("Folder for the runs; new or empty.", "FOLDER", required=True)
@ability_options("import-runs")
@format_option()
@click.pass_context
def import_runs_command(
    context: click.Context, /, traces: tuple[str, ...], out: str, suite: str | None, format: str, **options: Any
) -> None:
    """Write a run folder for every trace in files or folders of OpenTelemetry, LangSmith or OpenAI Agents spans.

    \b
    Example:
      goldgate import-runs traces.jsonl --out outputs

    What a trace does not say is left out, and listed in the summary and in the run's import.json.

    Exit status: 0 every run is complete, 1 something is missing or was not read, 2 the command failed.
    """

    def work() -> Result:
        return check_result(
            "import-runs", choose_ability("import-runs", suite, options).ability.load()(traces, out, options)
        )

    exit_with(context, "import-runs", work, format)
