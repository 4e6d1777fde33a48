"""`goldgate check-gold`: check gold against its own event schema and text."""

from __future__ import annotations

import click

from goldgate.cli.convert import dialect_option, id_field_option
from goldgate.cli.guarded import guarded
from goldgate.cli.many_values import ManyValues
from goldgate.cli.printing import columns, in_colour, say, show_error
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, GoldgateError


@click.command("check-gold", cls=ManyValues)
@click.option("--gold", required=True, multiple=True, metavar="FILE...", help="Gold records; one file or more.")
@click.option("--schema", metavar="FILE", help="The event schema. Without it, types and roles are not checked.")
@dialect_option
@id_field_option
@click.option(
    "--format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The format of the output."
)
@click.pass_context
def check_gold_command(
    context: click.Context,
    gold: tuple[str, ...],
    schema: str | None,
    dialect: str | None,
    id_field: str | None,
    format: str,
) -> None:
    """Check gold against its own event schema and text.

    Looks for unknown types and roles, arguments that are not in the text, wrong offsets,
    duplicate ids and malformed records. Exit status: 0 no errors, 1 errors found, 2 it could not be
    carried out.
    """

    from goldgate.core.evaluation import error_report, render_json

    def work() -> tuple[str | bytes, int]:
        from goldgate.report.checks import describe_gold_check
        from goldgate.report.text import render_text
        from goldgate.suites.extraction.check_gold import check_gold
        from goldgate.suites.extraction.events.event_schema import load_event_schema

        result = check_gold(gold, None if schema is None else load_event_schema(schema), dialect, id_field)
        status = EXIT_PASSED if result.passed else EXIT_GATE_FAILED
        report = result.as_json()
        if format == "json":
            return render_json(report), status
        return render_text(describe_gold_check(report), columns(), in_colour()), status

    outcome = guarded(work)
    if not isinstance(outcome, GoldgateError):
        context.exit(say(*outcome))
    show_error(outcome)
    if format == "json":
        say(render_json(error_report("check-gold", outcome)), outcome.exit_status)
    context.exit(outcome.exit_status)
