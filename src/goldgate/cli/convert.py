"""`goldgate convert`: gold in a published format, written in ours."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from goldgate.cli.guarded import guarded
from goldgate.cli.many_values import ManyValues
from goldgate.cli.printing import say, show_error
from goldgate.errors import EXIT_PASSED, ConfigError, GoldgateError, Place
from goldgate.readers.dialects import DIALECTS, OWN

if TYPE_CHECKING:
    from goldgate.suites.extraction.convert import Lost

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
    cls=ManyValues,
    help=f"""Write gold of a published format in our own form, a record a line.

    Triggers, offsets in tokens and characters, entities and all their mentions are kept. Exit status: 0 written,
    2 it could not be carried out. The formats, recognized by their keys:

    \b
{_DIALECTS}
    {OWN}: our own form
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
        from goldgate.core.page import counted
        from goldgate.files.atomic_write import whole_file
        from goldgate.suites.extraction.convert import convert_gold
        from goldgate.suites.extraction.events.event_schema import obtain_event_schema

        require_other_file((*gold, *coref, *([schema] if schema else [])), out)
        with whole_file(out, "choose a file for --out that can be written to") as stream:
            conversion = convert_gold(gold, stream, dialect, coref, id_field, obtain_event_schema(schema))
        events = counted(conversion.events, "event")
        if conversion.mentions > conversion.events:
            events += f" with {conversion.mentions} mentions"
        sizes = (counted(conversion.records, "record"), events, counted(conversion.arguments, "argument"))
        return f"{' and '.join(conversion.dialects) or OWN}: {', '.join(sizes)} in {out}\n{_losses(conversion.lost)}"

    end(context, guarded(work))


def _losses(lost: list[Lost]) -> str:
    """What was not written as it is stored, with its place."""
    if not lost:
        return ""
    from goldgate.report.escape import visible

    first = lost[:LISTED_LOSSES]
    lines = [f"  {each.file}:{each.line}: {visible(each.field)}: {each.message}\n" for each in first]
    more = f"  and {len(lost) - LISTED_LOSSES} more\n" if len(lost) > LISTED_LOSSES else ""
    return f"not written as stored ({len(lost)}):\n{''.join(lines)}{more}"


def end(context: click.Context, outcome: str | GoldgateError) -> None:
    """Say what was written, or what went wrong, and leave with the exit status."""
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        context.exit(outcome.exit_status)
    context.exit(say(outcome, EXIT_PASSED))


def require_other_file(inputs: tuple[str, ...], out: str) -> None:
    """Refuse to write over what is read."""
    if any(os.path.realpath(given) == os.path.realpath(out) for given in inputs):
        raise ConfigError(
            "out.is_an_input",
            "writing the result would overwrite an input",
            place=Place(out),
            advice="choose another file for --out",
        )
