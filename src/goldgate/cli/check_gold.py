"""`goldgate check-gold`: check gold against its own event schema and text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from goldgate.cli.many_values import ManyValues
from goldgate.cli.run import guarded, say, show_error
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, GoldgateError

if TYPE_CHECKING:
    from goldgate.suites.extraction.check_gold import GoldCheck

SHOWN_FINDINGS = 50


@click.command("check-gold", cls=ManyValues)
@click.option("--gold", required=True, multiple=True, metavar="FILE...", help="Gold records; one file or more.")
@click.option("--schema", metavar="FILE", help="The event schema. Without it, types and roles are not checked.")
@click.option(
    "--format", type=click.Choice(["text", "json"]), default="text", show_default=True, help="The format of the output."
)
@click.pass_context
def check_gold_command(context: click.Context, gold: tuple[str, ...], schema: str | None, format: str) -> None:
    """Check gold against its own event schema and text.

    Looks for unknown types and roles, arguments that are not in the text, wrong offsets,
    duplicate ids and malformed records. Exit status: 0 no errors, 1 errors found, 2 it could not be
    carried out.
    """

    from goldgate.core.evaluation import error_report, render_json

    def work() -> tuple[str | bytes, int]:
        from goldgate.suites.extraction.check_gold import check_gold
        from goldgate.suites.extraction.events.event_schema import load_event_schema

        result = check_gold(gold, None if schema is None else load_event_schema(schema))
        status = EXIT_PASSED if result.passed else EXIT_GATE_FAILED
        return render_json(result.as_json()) if format == "json" else render_findings(result), status

    outcome = guarded(work)
    if not isinstance(outcome, GoldgateError):
        context.exit(say(*outcome))
    show_error(outcome)
    if format == "json":
        say(render_json(error_report("check-gold", outcome)), outcome.exit_status)
    context.exit(outcome.exit_status)


def render_findings(result: GoldCheck) -> str:
    """The findings a line each, errors first, then how many there were of each kind."""
    from goldgate.report.display import counted
    from goldgate.report.escape import visible
    from goldgate.report.text import table

    findings = sorted(result.findings, key=lambda finding: finding.severity)
    lines = []
    for finding in findings[:SHOWN_FINDINGS]:
        identity = "" if finding.id is None else f" ({finding.id})"
        where = f"{finding.file}:{finding.line}{identity}: " + (f"{finding.field}: " if finding.field else "")
        lines.append(visible(f"{finding.severity}  {where}{finding.message} [{finding.code}]"))
    if len(findings) > SHOWN_FINDINGS:
        lines.append(f"… and {len(findings) - SHOWN_FINDINGS} more (--format json shows all)")
    if lines:
        lines.append("")
    errors, notes = result.errors, len(findings) - result.errors
    lines.append(
        f"{'PASS' if result.passed else 'FAIL'}  {counted(result.records, 'record')}, {result.without_events} without "
        f"events; {counted(errors, 'error')}, {counted(notes, 'note')}"
    )
    if not result.types_checked:
        lines.append("event types and roles were not checked: no event schema was given (--schema)")
    counts = [(code, str(count)) for code, count in result.counts().items()]
    return "\n".join([*lines, *(table(counts) if counts else [])]) + "\n"
