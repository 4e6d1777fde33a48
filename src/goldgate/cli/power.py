"""`goldgate power`: how many documents the next evaluation needs, from the spread of a stored result."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from math import isnan
from typing import Any

import click

from goldgate.cli.guarded import guarded
from goldgate.cli.many_values import ManyValues
from goldgate.cli.printing import columns, in_colour, say, show_error
from goldgate.errors import EXIT_PASSED, ConfigError, GoldgateError
from goldgate.report import PAGE_FORMATS


@click.command("power", cls=ManyValues, short_help="Say how many documents a difference or a gate needs.")
@click.argument("folder", metavar="DIR")
@click.option("--detect", default="0.01", show_default=True, metavar="DIFFERENCE", help="The difference to be found.")
@click.option(
    "--metric", "metrics", multiple=True, metavar="NAME...", help="Rates to plan for. Default: the main ones."
)
@click.option("--threshold", metavar="SHARE", help="Plan for this threshold. Default: those of the report's gates.")
@click.option("--against", metavar="DIR", help="Take the spread of the difference from this second system.")
@click.option(
    "--correlation",
    type=click.FloatRange(min=-1, max=1, max_open=True),
    help="Between the two systems' documents, where the second is not known yet.  [default: 0]",
)
@click.option(
    "--power",
    type=click.FloatRange(min=0.5, max=1, max_open=True),
    default=0.8,
    show_default=True,
    help="How often the difference is to be found.",
)
@click.option(
    "--sizes", multiple=True, type=click.IntRange(min=2), metavar="NUMBER...", help="Numbers of documents in the curve."
)
@click.option(
    "--format",
    type=click.Choice(["json", *PAGE_FORMATS]),
    default="text",
    show_default=True,
    help="Of what is printed.",
)
@click.pass_context
def power_command(context: click.Context, /, format: str, **given: Any) -> None:
    """Say how many documents a difference needs to be found, and a gate to be decided.

    DIR is a folder that --out named; it comes before the options. Exit status: 0, or 2 if it could not be carried out.
    """
    outcome = guarded(lambda: _plan(**given))
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        if format == "json":
            from goldgate.core.evaluation import error_report, render_json

            say(render_json(error_report("power", outcome)), outcome.exit_status)
        context.exit(outcome.exit_status)
    context.exit(say(_rendered(outcome, format), EXIT_PASSED))


def _plan(
    folder: str,
    detect: str,
    metrics: Sequence[str],
    threshold: str | None,
    against: str | None,
    correlation: float | None,
    power: float,
    sizes: Sequence[int],
) -> dict[str, Any]:
    from goldgate.readers.stored_result import load_result
    from goldgate.results.power import CORRELATION, SIZES, Wanted, plan_power
    from goldgate.suites import all_suites

    if against is not None and correlation is not None:
        raise ConfigError(
            "option.wrong_value",
            "--correlation is for a system that is not known yet; --against names one",
            advice="leave out one of the two",
        )
    for option, given in (("--correlation", correlation), ("--power", power)):
        if given is not None and isnan(given):
            raise ConfigError("option.wrong_value", f"this {option} is not allowed", expected="a number", found="nan")
    wanted = Wanted(
        detect=_share("--detect", detect, open_ended=True),
        metrics=metrics,
        threshold=None if threshold is None else _share("--threshold", threshold),
        correlation=CORRELATION if correlation is None else correlation,
        power=power,
        sizes=sizes or SIZES,
    )
    result = load_result(folder, all_suites())
    if against is None:
        return plan_power(result, wanted)
    from goldgate.results.observed import observed_spread

    return plan_power(result, wanted, observed_spread(folder, against))


def _share(option: str, text: str, *, open_ended: bool = False) -> Decimal:
    """A decimal from 0 to 1, or between them."""
    try:
        share = Decimal(text)
        if share.is_finite() and (0 < share < 1 if open_ended else 0 <= share <= 1):
            return share
    except InvalidOperation:
        pass
    expected = "a decimal between 0 and 1" if open_ended else "a decimal from 0 to 1"
    advice = "write 2 % as 0.02" if text.strip().rstrip("%").replace(".", "", 1).isdecimal() else None
    message = f"this {option} is not allowed"
    raise ConfigError("option.wrong_value", message, expected=expected, found=text, advice=advice)


def _rendered(plan: dict[str, Any], format: str) -> str | bytes:
    from goldgate.core.evaluation import render_json
    from goldgate.report import render_page
    from goldgate.results.power_page import describe_power

    if format == "json":
        return render_json(plan)
    return render_page(describe_power(plan), format, columns=columns(), colour=in_colour())
