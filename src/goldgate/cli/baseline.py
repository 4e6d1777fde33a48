"""`goldgate baseline`: stored reports into a baseline record, with the thresholds that they propose.

Of result folders it makes a folder, which also has what a gate needs to compare with them.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from pathlib import Path

import click

from goldgate.cli.guarded import guarded
from goldgate.cli.printing import say, show_error
from goldgate.errors import EXIT_PASSED, ConfigError, GoldgateError, Place
from goldgate.files.atomic_write import unwritable, write_whole


@click.command("baseline", short_help="Collect stored reports into a baseline.")
@click.argument("reports", nargs=-1, required=True, metavar="REPORT...|DIR...")
@click.option("--out", required=True, metavar="PATH", help="Where the record goes; of DIRs, the folder.")
@click.option(
    "--false-alarm-rate",
    default="0.05",
    show_default=True,
    metavar="RATE",
    help="How often a gate at the proposed threshold may fail though nothing changed.",
)
@click.pass_context
def baseline_command(context: click.Context, reports: tuple[str, ...], out: str, false_alarm_rate: str) -> None:
    """Collect JSON reports of one suite into a baseline record, and propose thresholds.

    A protocol that sets a gate below its default names such a record: baseline: FILE.

    Of folders that --out of a suite wrote it makes a folder: the record, and what each unit counted, packed. A gate
    compares with it: {max_drop: 0.01, against: FOLDER, confidence: 0.95}.
    """

    def work() -> str:
        from goldgate.baseline.record import make_baseline
        from goldgate.core.evaluation import render_json
        from goldgate.report.baseline import describe_baseline
        from goldgate.report.text import render_text
        from goldgate.suites import all_suites

        _protect(out, reports)
        chance = _rate(false_alarm_rate)
        if _are_folders(reports):
            from goldgate.baseline.reference import BASELINE, UNITS, make_folder, require_one_kind

            require_one_kind(Path(out), out, BASELINE)
            record, units = make_folder(reports, all_suites(), chance)
            _make_folder(out)
            write_whole(os.path.join(out, UNITS), units.data, "--out")
            write_whole(os.path.join(out, BASELINE), render_json(record), "--out")
        else:
            record = make_baseline(reports, all_suites(), chance)
            write_whole(out, render_json(record), "--out")
        return render_text(describe_baseline(record))

    outcome = guarded(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        context.exit(outcome.exit_status)
    context.exit(say(outcome, EXIT_PASSED))


def _protect(out: str, reports: Sequence[str]) -> None:
    for given in reports:
        if os.path.realpath(given) == os.path.realpath(out):
            raise ConfigError(
                "out.is_an_input",
                "writing the record would overwrite a report that it is made of",
                place=Place(out),
                advice="choose another file for --out",
            )


def _are_folders(given: Sequence[str]) -> bool:
    """Whether all of them are folders, or none."""
    folders = [path for path in given if os.path.isdir(path)]
    if folders and len(folders) < len(given):
        raise ConfigError(
            "option.wrong_value",
            "a baseline is made of reports or of result folders",
            place=Place(folders[0]),
            expected="only files, or only folders",
            found="both",
        )
    return bool(folders)


def _make_folder(path: str) -> None:
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as problem:
        raise unwritable(path, problem, "--out needs a folder that can be written to") from None


def _rate(text: str) -> Decimal:
    try:
        rate = Decimal(text)
        if rate.is_finite() and 0 < rate < 1:
            return rate
    except InvalidOperation:
        pass
    raise ConfigError(
        "option.wrong_value", "this false-alarm rate is not allowed", expected="a decimal between 0 and 1", found=text
    )
