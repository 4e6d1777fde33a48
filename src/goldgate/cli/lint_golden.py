"""`goldgate lint-golden`: check golden queries before they judge anything."""

from __future__ import annotations

from typing import Any

import click

from goldgate.cli.check import FORMATS, carry_out_check


@click.command("lint-golden", short_help="Check golden queries for what measures nothing.")
@click.option("--golden", required=True, metavar="FILE", help="The golden queries, as JSON.")
@click.option("--outputs", metavar="DIR", help="Runs whose ledgers and chunks must know the required ids.")
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the output.")
@click.pass_context
def lint_golden_command(context: click.Context, golden: str, outputs: str | None, format: str) -> None:
    """Check golden queries: contradictory labels, sufficient queries without ids, near-duplicate objectives.

    With --outputs also: ids that no stored ledger or chunk has. Exit status: 0 no errors, 1 errors found,
    2 it could not be carried out.
    """

    def check() -> tuple[dict[str, Any], str]:
        from goldgate.suites.research.lint import lint_golden
        from goldgate.suites.research.run.files import Limits

        result = lint_golden(golden, outputs, Limits())
        return result.as_json(), f"{result.queries} golden queries"

    context.exit(carry_out_check("lint-golden", format, check))
