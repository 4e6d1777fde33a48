"""`goldgate convert` and `goldgate import-runs`: convert published gold formats and agent traces to goldgate's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldgate.cli.options import MultiValueCommand, format_option, out_option
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.runner import Result, check_result, exit_with
from goldgate.readers.dialects import DIALECTS, OWN_FORM

if TYPE_CHECKING:
    from goldgate.suites.extraction.convert import LostPart


LISTED_LOSSES = 20
_DIALECTS = "\n".join(f"    {dialect.name}: {dialect.about}" for dialect in DIALECTS)

dialect_option = click.option(
    "--dialect", metavar="NAME", help="The published format of the gold. Without it, that of the first record."
)


id_field_option = click.option(
    "--id-field", metavar="FIELD", help="Where a gold record without id has it, as a dotted path such as meta.doc_id."
)


@click.command(
    "convert",
    cls=MultiValueCommand,
    help=f"""Write gold of a published format in our own form, a record a line.

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
@dialect_option
@id_field_option
@click.option(
    "--coref",
    multiple=True,
    metavar="FILE...",
    help="WikiEvents' coreference: arguments get all mentions of their entity.",
)
@click.option("--schema", metavar="FILE", help="The event schema, for gold whose roles are keys of the event itself.")
@click.pass_context
def convert_command(
    context: click.Context,
    gold: tuple[str, ...],
    out: str,
    dialect: str | None,
    id_field: str | None,
    coref: tuple[str, ...],
    schema: str | None,
) -> None:
    def work() -> str:
        from goldgate.core.page import count_text
        from goldgate.files.writing import atomic_file
        from goldgate.suites.extraction.convert import convert_gold
        from goldgate.suites.extraction.events.event_schema import obtain_event_schema

        check_not_input((*gold, *coref, *([schema] if schema else [])), out)
        with atomic_file(out, "choose a file for --out that can be written to") as stream:
            conversion = convert_gold(gold, stream, dialect, coref, id_field, obtain_event_schema(schema))
        events = count_text(conversion.events, "event")
        if conversion.mentions > conversion.events:
            events += f" with {conversion.mentions} mentions"
        sizes = (count_text(conversion.records, "record"), events, count_text(conversion.arguments, "argument"))
        dialects = " and ".join(conversion.dialects) or OWN_FORM
        return f"{dialects}: {', '.join(sizes)} in {out}\n{_loss_text(conversion.lost)}"

    exit_with(context, "convert", work)


def _loss_text(lost: list[LostPart]) -> str:
    """What was not written as it is stored, with its place."""
    if not lost:
        return ""
    from goldgate.report.escape import visible

    first = lost[:LISTED_LOSSES]
    lines = [f"  {each.file}:{each.line}: {visible(each.field)}: {each.message}\n" for each in first]
    more = f"  and {len(lost) - LISTED_LOSSES} more\n" if len(lost) > LISTED_LOSSES else ""
    return f"not written as stored ({len(lost)}):\n{''.join(lines)}{more}"


_FORMS = ("otel", "langgraph", "langsmith", "openai-agents")


@click.command("import-runs", short_help="Make run folders of an agent's traces.")
@click.argument("traces", metavar="IN...", nargs=-1, required=True)
@out_option("The folder of the runs: new, or empty.", "FOLDER", required=True)
@click.option("--mapping", metavar="FILE", help="Where in a trace a run's parts are, as YAML.")
@click.option(
    "--from", "form", type=click.Choice(_FORMS), help="The form of the traces. Without it: as their keys show."
)
@format_option()
@click.pass_context
def import_runs_command(
    context: click.Context, traces: tuple[str, ...], out: str, mapping: str | None, form: str | None, format: str
) -> None:
    """Write a run folder for every trace in files or folders of OpenTelemetry, LangSmith or OpenAI Agents spans.

    What a trace does not say is left out and named, in the summary and in import.json of the run: nothing is made up.

    Exit status: 0 every run is complete, 1 something is missing or was not read, 2 it could not be carried out.
    """
    if mapping is not None and form is not None:
        raise click.UsageError("--mapping names the form of the traces itself: give --mapping or --from, not both.")

    def work() -> Result:
        from goldgate.core.page import count_text
        from goldgate.imports.mapping import load_mapping
        from goldgate.imports.runs import import_runs

        result = import_runs(traces, out, load_mapping(mapping) if mapping is not None else None, form)
        summary = (
            f"{count_text(result.runs, 'run')} of {count_text(result.spans, 'span')} ({result.mapping.format}), "
            f"{result.complete} complete"
        )
        lacking = ", ".join(f"{name} in {count}" for name, count in sorted(result.lacking.items()))
        summary += f"; missing: {lacking}" if lacking else ""
        summary += f"; {count_text(result.flaws, 'part')} of the files not read" if result.flaws else ""
        return check_result(result.as_json(), summary)

    exit_with(context, "import-runs", work, format)
