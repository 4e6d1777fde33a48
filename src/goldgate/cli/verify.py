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
    made = "The suite's {}, if it has moved."
    read = "The suite's {}, if not as in run.json."
    inputs = {each.name: each for suite in all_suites() for each in suite.inputs}
    return [
        input_option(each, help=(made if each.is_path else read).format(each.option), required=False)
        for each in inputs.values()
    ]


@click.command("verify", cls=MultiValueCommand, short_help="Recompute a stored result and show differences.")
@click.argument("path", metavar="DIR")
@add_options(*_input_options())
@protocol_option("The suite's --protocol, if it has moved.")
@click.option("--root", metavar="DIR", help="Folder that the paths in run.json start from now.")
@click.option("--records", is_flag=True, help="Only check the sums of the stored records; needs no inputs.")
@click.option("--systems", multiple=True, metavar="DIR...", help="For a comparison: where its systems are now.")
@click.option("--reports", multiple=True, metavar="FILE...", help="For a baseline: the reports it was made from.")
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
    """Recompute a stored result from its inputs, and show where it differs.

    \b
    Example:
      goldgate verify out/model-a

    DIR is a folder that a suite or compare wrote with --out, a report, or a baseline record; name it before the
    options. The inputs are those that run.json names.

    Exit status: 0 verified, 1 it differs, 2 the command failed.
    """

    def work() -> Result:
        from goldgate.verification.differences import describe_verification
        from goldgate.verification.verify import verify

        paths = {name: as_list(value) for name, value in inputs.items()}
        verified = verify(path, paths, root=root, only_records=records, reports=reports, workers=workers)
        return Result(verified.as_json(), lambda _: describe_verification(verified), verified.exit_status)

    exit_with(context, "verify", work, format)
