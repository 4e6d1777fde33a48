"""`goldgate trend`: stored reports in the order given, and how each metric went."""

from __future__ import annotations

from typing import Any

import click

from goldgate.cli.guarded import guarded
from goldgate.cli.printing import columns, in_colour, say, show_error
from goldgate.errors import EXIT_PASSED, GoldgateError
from goldgate.report import PAGE_FORMATS


@click.command("trend", short_help="Show how metrics went over stored reports.")
@click.argument("reports", nargs=-1, required=True, metavar="DIR...")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Show only this; may be repeated. Default: those gated, and the suite's main ones.",
)
@click.option(
    "--format",
    type=click.Choice(["json", *PAGE_FORMATS]),
    default="text",
    show_default=True,
    help="Of what is printed.",
)
@click.pass_context
def trend_command(context: click.Context, reports: tuple[str, ...], metrics: tuple[str, ...], format: str) -> None:
    """Show how metrics and verdicts went over stored reports of one suite, in the order given.

    DIR is a folder that --out wrote, or a report.json; NAME=DIR names it. Of a folder that holds many: DIR/*.

    Exit status: 0 it was carried out, 2 it could not be.
    """

    def work() -> dict[str, Any]:
        from goldgate.results.trend import trend
        from goldgate.suites import all_suites

        return trend(reports, all_suites(), metrics)

    outcome = guarded(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        if format == "json":
            from goldgate.core.evaluation import error_report, render_json

            say(render_json(error_report("trend", outcome)), outcome.exit_status)
        context.exit(outcome.exit_status)
    context.exit(say(_rendered(outcome, format), EXIT_PASSED))


def _rendered(found: dict[str, Any], format: str) -> str | bytes:
    from goldgate.core.evaluation import render_json
    from goldgate.report import render_page
    from goldgate.results.trend_page import describe_trend

    if format == "json":
        return render_json(found)
    return render_page(describe_trend(found), format, columns=columns(), colour=in_colour())
