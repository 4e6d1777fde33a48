"""`goldgate verify`: recompute a stored result from its inputs, and say where it differs."""

from __future__ import annotations

from collections.abc import Sequence

import click

from goldgate.cli.options import (
    RESULT_FORMATS,
    Decorator,
    MultiValueCommand,
    add_options,
    as_list,
    format_option,
    input_option,
    protocol_option,
    workers_option,
)
from goldgate.cli.runner import Result, exit_with
from goldgate.suites import all_suites


def _input_options() -> list[Decorator]:
    """An option for each input of any suite: where it is now."""
    made = "What it was made from, if not where run.json says: {} of the suite's command."
    read = "How it was read, if not as run.json says: {} of the suite's command."
    inputs = {each.name: each for suite in all_suites() for each in suite.inputs}
    return [
        input_option(each, help=(made if each.is_path else read).format(each.option), required=False)
        for each in inputs.values()
    ]


@click.command("verify", cls=MultiValueCommand, short_help="Recompute a stored result, and say where it differs.")
@click.argument("path", metavar="DIR")
@add_options(*_input_options())
@protocol_option("The protocol, likewise.")
@click.option("--root", metavar="DIR", help="Read the paths in run.json from here, not from the folder it names.")
@click.option("--records", is_flag=True, help="Only add up the records beside the report: needs no input.")
@click.option("--systems", multiple=True, metavar="DIR...", help="Where the systems of a comparison are now.")
@click.option("--reports", multiple=True, metavar="FILE...", help="The reports that a baseline sums up.")
@workers_option()
@format_option(RESULT_FORMATS)
@click.pass_context
def verify_command(
    context: click.Context,
    /,
    path: str,
    root: str | None,
    records: bool,
    reports: Sequence[str],
    workers: int,
    format: str,
    **inputs: str | Sequence[str] | None,
) -> None:
    """Recompute a stored result from its inputs, and say where it differs.

    DIR is a folder that --out named, of an evaluation or a comparison, a report, or a baseline record; it comes before
    the options. The inputs are those that run.json names. Exit status: 0 verified, 1 it differs, 2 it could not be
    carried out.
    """

    def work() -> Result:
        from goldgate.verification.differences import describe_verification
        from goldgate.verification.verify import verify

        paths = {name: as_list(value) for name, value in inputs.items()}
        verified = verify(path, paths, root=root, only_records=records, reports=reports, workers=workers)
        return Result(verified.as_json(), describe_verification, verified.exit_status)

    exit_with(context, "verify", work, format)
