"""`goldgate convert`, `goldgate schema` and `goldgate import-runs`: gold and traces in goldgate's own form."""

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
    help=f"""Write gold of a published format in our own form, one record per line.

    Triggers, offsets in tokens and characters, entities and all their mentions are kept. Exit status: 0 written,
    2 it could not be carried out. The formats, recognized by their keys:

    \b
{_DIALECTS}
    {OWN_FORM}: our own form
    """,
    short_help="Write gold of a published format in our own form.",
)
@click.argument("gold", nargs=-1, required=True, metavar="IN...")
@out_option("The file to write, as JSON Lines.", "FILE", required=True)
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
    help="Gold records; one file or more, all splits.",
)
@out_option("The event schema to write, as JSON.", "FILE", required=True)
@ability_options("schema")
@click.pass_context
def schema_command(
    context: click.Context, /, gold: tuple[str, ...], out: str, suite: str | None, **options: Any
) -> None:
    """Derive an event schema from gold: its event types, and the roles that occur in each.

    What the gold never uses is not in it: give all splits. Exit status: 0 written, 2 it could not be carried out.
    """

    def work() -> str:
        from goldgate.core.evaluation import render_json
        from goldgate.files.writing import write_file

        check_not_input(gold, out)
        schema, summary = choose_ability("schema", suite, options).ability.load()(gold, options)
        write_file(out, render_json(schema), "--out")
        return f"{summary} in {out}\n"

    exit_with(context, "schema", work)


@click.command("import-runs", short_help="Make run folders of an agent's traces.")
@click.argument("traces", metavar="IN...", nargs=-1, required=True)
@out_option("The folder of the runs: new, or empty.", "FOLDER", required=True)
@ability_options("import-runs")
@format_option()
@click.pass_context
def import_runs_command(
    context: click.Context, /, traces: tuple[str, ...], out: str, suite: str | None, format: str, **options: Any
) -> None:
    """Write a run folder for every trace in files or folders of OpenTelemetry, LangSmith or OpenAI Agents spans.

    What a trace does not say is left out and named, in the summary and in import.json of the run: nothing is made up.

    Exit status: 0 every run is complete, 1 something is missing or was not read, 2 it could not be carried out.
    """

    def work() -> Result:
        return check_result(
            "import-runs", choose_ability("import-runs", suite, options).ability.load()(traces, out, options)
        )

    exit_with(context, "import-runs", work, format)
