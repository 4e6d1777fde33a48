"""`goldgate verify`: make a stored result again from its inputs, and say where it differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.options import MultiValueCommand
from goldgate.cli.printing import print_output, show_error, terminal_width, use_colour
from goldgate.cli.process import result_or_error
from goldgate.errors import GoldgateError
from goldgate.report import PAGE_FORMATS
from goldgate.suites import all_suites

if TYPE_CHECKING:
    from goldgate.verification.differences import Verification


def _input_options() -> list[click.Option]:
    """An option for each input of any suite: where it is now."""
    inputs = {given.name: given for suite in all_suites() for given in suite.inputs}
    options = [
        click.Option(
            [given.option],
            multiple=given.many,
            metavar=given.metavar + ("..." if given.many else ""),
            help=f"What it was made from, if not where run.json says: {given.option} of the suite's command."
            if given.is_path
            else f"How it was read, if not as run.json says: {given.option} of the suite's command.",
        )
        for given in inputs.values()
    ]
    return [*options, click.Option(["--protocol"], metavar="FILE", help="The protocol, likewise.")]


def _command() -> click.Command:
    return MultiValueCommand(
        "verify",
        params=[
            click.Argument(["path"], metavar="DIR"),
            *_input_options(),
            click.Option(
                ["--root"], metavar="DIR", help="Read the paths in run.json from here, not from the folder it names."
            ),
            click.Option(
                ["--records"], is_flag=True, help="Only add up the records beside the report: needs no input."
            ),
            click.Option(
                ["--systems"], multiple=True, metavar="DIR...", help="Where the systems of a comparison are now."
            ),
            click.Option(["--reports"], multiple=True, metavar="FILE...", help="The reports that a baseline sums up."),
            click.Option(
                ["--workers"], type=click.IntRange(min=1), default=1, show_default=True, help="Processes to score with."
            ),
            click.Option(
                ["--format"],
                type=click.Choice(["json", *PAGE_FORMATS]),
                default="text",
                show_default=True,
                help="Of what is printed.",
            ),
        ],
        callback=_verify,
        short_help="Make a stored result again from its inputs, and say where it differs.",
        help=_HELP,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


_HELP = """Make a stored result again from its inputs, and say where it differs.

    DIR is a folder that --out named, of an evaluation or a comparison, a report, or a baseline record; it comes before
    the options. The inputs are those that run.json names. Exit status: 0 verified, 1 it differs, 2 it could not be
    carried out."""


@click.pass_context
def _verify(
    context: click.Context,
    /,
    path: str,
    root: str | None,
    records: bool,
    reports: Sequence[str],
    workers: int,
    format: str,
    **given: str | Sequence[str] | None,
) -> None:
    def work() -> Verification:
        from goldgate.verification.verify import verify

        paths = {name: [value] if isinstance(value, str) else list(value or ()) for name, value in given.items()}
        return verify(path, paths, root=root, only_records=records, reports=reports, workers=workers)

    outcome = result_or_error(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        if format == "json":
            from goldgate.core.evaluation import error_report

            print_output(_render(error_report("verify", outcome), format), outcome.exit_status)
        context.exit(outcome.exit_status)
    context.exit(print_output(_render(outcome.as_json(), format), outcome.exit_status))


def _render(found: dict[str, Any], format: str) -> str | bytes:
    from goldgate.core.evaluation import render_json
    from goldgate.report import render_page
    from goldgate.verification.differences import describe_verification

    if format == "json":
        return render_json(found)
    return render_page(describe_verification(found), format, columns=terminal_width(), colour=use_colour())


verify_command = _command()
