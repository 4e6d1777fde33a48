"""`goldgate convert` and `goldgate import-runs`: convert published gold formats and agent traces to goldgate's own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.options import MultiValueCommand
from goldgate.cli.printing import print_output, show_error
from goldgate.cli.process import result_or_error
from goldgate.cli.runner import CHECK_FORMATS, run_check
from goldgate.errors import EXIT_PASSED, ConfigError, GoldgateError, Place
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
@click.option("--out", required=True, metavar="FILE", help="The file to write, as JSON Lines.")
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
        return f"{' and '.join(conversion.dialects) or OWN_FORM}: {', '.join(sizes)} in {out}\n{_loss_text(conversion.lost)}"

    exit_with(context, result_or_error(work))


def _loss_text(lost: list[LostPart]) -> str:
    """What was not written as it is stored, with its place."""
    if not lost:
        return ""
    from goldgate.report.escape import visible

    first = lost[:LISTED_LOSSES]
    lines = [f"  {each.file}:{each.line}: {visible(each.field)}: {each.message}\n" for each in first]
    more = f"  and {len(lost) - LISTED_LOSSES} more\n" if len(lost) > LISTED_LOSSES else ""
    return f"not written as stored ({len(lost)}):\n{''.join(lines)}{more}"


def exit_with(context: click.Context, outcome: str | GoldgateError) -> None:
    """Say what was written, or what went wrong, and leave with the exit status."""
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        context.exit(outcome.exit_status)
    context.exit(print_output(outcome, EXIT_PASSED))


def check_not_input(inputs: tuple[str, ...], out: str) -> None:
    """Refuse to write over what is read."""
    if any(os.path.realpath(given) == os.path.realpath(out) for given in inputs):
        raise ConfigError(
            "out.is_an_input",
            "writing the result would overwrite an input",
            place=Place(out),
            advice="choose another file for --out",
        )


_FORMS = ("otel", "langgraph", "langsmith", "openai-agents")


@click.command("import-runs", short_help="Make run folders of an agent's traces.")
@click.argument("traces", metavar="IN...", nargs=-1, required=True)
@click.option("--out", metavar="FOLDER", required=True, help="The folder of the runs: new, or empty.")
@click.option("--mapping", metavar="FILE", help="Where in a trace a run's parts are, as YAML.")
@click.option(
    "--from", "form", type=click.Choice(_FORMS), help="The form of the traces. Without it: as their keys show."
)
@click.option("--format", type=click.Choice(CHECK_FORMATS), default="text", show_default=True, help="Of the output.")
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

    def work() -> tuple[dict[str, Any], str]:
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
        return result.as_json(), summary

    context.exit(run_check("import-runs", format, work))
