"""Commands on stored results: `trend` and `plot` show, `baseline` and `power` plan with, `verify` checks them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.options import (
    COMMON,
    RESULT_FORMATS,
    Decorator,
    MultiValueCommand,
    ability_options,
    add_options,
    as_list,
    format_option,
    input_option,
    option,
    out_option,
    protocol_option,
    workers_option,
)
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.runner import Result, command
from goldgate.errors import ConfigError, Place
from goldgate.files.writing import write_errors, write_file
from goldgate.suites import all_suites

if TYPE_CHECKING:
    from goldgate.runs.contracts import BaselineRecord


@command(
    "trend",
    "Show how metrics changed over stored reports.",
    click.argument("reports", nargs=-1, required=True, metavar="DIR..."),
    option(
        "--metric metrics",
        "Show only this metric. Repeatable. Default: gated metrics and the suite's main ones.",
        "NAME",
        multiple=True,
    ),
    format_option(RESULT_FORMATS),
)
def trend_command(reports: Sequence[str], metrics: Sequence[str]) -> Result:
    """Show how metrics and verdicts changed over stored reports of one suite, in the order given.

    \b
    Example:
      goldgate trend out/*

    DIR is a folder that a suite wrote with --out, or a report.json; NAME=DIR names it.

    Exit status: 0 done, 2 the command failed.
    """
    from goldgate.runs.trend import describe_trend, trend

    return Result(trend(reports, all_suites(), metrics), describe_trend)


SVG_SUFFIX = ".svg"
_OTHER_FORMATS = frozenset((".png", ".pdf", ".eps", ".jpg", ".jpeg", ".gif", ".webp", ".html"))


_DRAWN = "; ".join(f"{suite.name}: also {', '.join(suite.drawings)}" for suite in all_suites() if suite.drawings)


@command(
    "plot",
    "Draw scores, gates, errors and systems as SVG.",
    click.argument("systems", nargs=-1, required=True, metavar="DIR..."),
    option("--kind kinds", "Draw only this kind. Repeatable. Default: all.", "KIND", multiple=True),
    out_option(f"A file ({SVG_SUFFIX}) for one picture, or a folder. Default: print the picture.", "PATH"),
    option("--against", "System to take differences from. Default: the first.", "NAME"),
    COMMON,
    help=f"""Draw result folders as SVG, for papers, READMEs and web pages.

    \b
    Example:
      goldgate plot out/model-a --out pictures

    DIR is a folder that a suite wrote with --out. Kinds for one folder: gates, scores ({_DRAWN}). For several systems,
    named as in goldgate compare, or for a folder that compare wrote: systems, differences, and runs if a system has
    several.

    Exit status: 0 done, 2 the command failed.
    """,
)
def plot_command(
    systems: Sequence[str],
    kinds: Sequence[str],
    out: str | None,
    against: str | None,
    common: bool,
) -> str:
    from goldgate.report.svg import draw_results
    from goldgate.runs.sources import find_systems

    _require_svg(out)
    sources = find_systems(systems, alone=True)
    return _write_pictures(draw_results(sources, kinds, against=against, common=common), out)


def _require_svg(out: str | None) -> None:
    """Refuse a name that promises another format, and a file that is something else, before any work is done."""
    if out is None:
        return
    if not out:
        raise ConfigError("out.unwritable", "--out needs the name of a file or a folder", found="an empty name")
    ending = os.path.splitext(out)[1].lower()
    if ending in _OTHER_FORMATS and not os.path.isdir(out):
        raise ConfigError(
            "plot.other_format",
            "pictures are drawn as SVG only",
            place=Place(out),
            expected=f"a name that ends in {SVG_SUFFIX}, or a folder",
            found=ending,
            advice=f"write {SVG_SUFFIX}; browsers, rsvg-convert and Inkscape make other formats of it",
        )
    if ending != SVG_SUFFIX and os.path.lexists(out) and not os.path.isdir(out):
        raise ConfigError(
            "out.is_a_file",
            "--out names a file that is not a picture",
            place=Place(out),
            expected=f"a file that ends in {SVG_SUFFIX}, or a folder; a new one is created",
            advice="choose another place for --out",
        )


def _write_pictures(pictures: Mapping[str, str], out: str | None) -> str:
    """The picture, or the paths of the files that were written."""
    to_folder = out is not None and (os.path.isdir(out) or not out.endswith(SVG_SUFFIX))
    if len(pictures) != 1 and not (pictures and to_folder):
        raise ConfigError(
            "plot.several" if pictures else "plot.nothing",
            "there are several pictures for one place" if pictures else "there is nothing to draw",
            expected="one picture, or a folder for all of them",
            found=", ".join(pictures) or "no picture",
            advice=f"choose one with --kind {next(iter(pictures))}, or name a folder with --out" if pictures else None,
        )
    if out is None:
        return next(iter(pictures.values()))
    paths = {kind: os.path.join(out, kind + SVG_SUFFIX) if to_folder else out for kind in pictures}
    for kind, svg in pictures.items():
        write_file(paths[kind], svg.encode(), "--out")
    return "".join(f"{path}\n" for path in paths.values())


@command(
    "baseline",
    "Collect stored reports into a baseline.",
    click.argument("reports", nargs=-1, required=True, metavar="REPORT...|DIR..."),
    out_option("File to write the record to; for DIRs, a folder.", "PATH", required=True),
    option(
        "--false-alarm-rate", "How often a gate at the proposed threshold may fail by chance.", "RATE", default="0.05"
    ),
)
def baseline_command(reports: Sequence[str], out: str, false_alarm_rate: str) -> str:
    """Collect JSON reports of one suite into a baseline record, and propose thresholds.

    \b
    Example:
      goldgate baseline out/main --out baseline

    From report files: a record, which a protocol that lowers a default gate must name (baseline: FILE).

    From result folders: a folder with the record and the counts of every unit, which a gate can compare with:
    {max_drop: 0.01, against: FOLDER, confidence: 0.95}.

    Exit status: 0 written, 2 the command failed.
    """
    from goldgate.core.evaluation import render_json
    from goldgate.report.escape import visible
    from goldgate.report.text import render_text
    from goldgate.runs.baseline import describe_baseline, make_baseline

    check_not_input(reports, out, "the record", "a report that it is made of")
    chance = _parse_share("--false-alarm-rate", false_alarm_rate, open_ended=True)
    if _are_folders(reports):
        from goldgate.runs.reference import (
            BASELINE_FILE,
            UNITS_FILE,
            make_baseline_and_units,
            require_report_or_baseline,
        )

        require_report_or_baseline(Path(out), out, BASELINE_FILE)
        record: BaselineRecord
        record, units = make_baseline_and_units(reports, all_suites(), chance)
        with write_errors(out, "--out needs a folder that can be written to"):
            os.makedirs(out, exist_ok=True)
            Path(out, BASELINE_FILE).unlink(missing_ok=True)
        write_file(os.path.join(out, UNITS_FILE), units.data, "--out")
        write_file(os.path.join(out, BASELINE_FILE), render_json(record), "--out")
        wrote = f"wrote {out}: {BASELINE_FILE}, {UNITS_FILE}; for a gate: against: {out}"
    else:
        record = make_baseline(reports, all_suites(), chance)
        write_file(out, render_json(record), "--out")
        wrote = f"wrote {out}; for a protocol that lowers a default gate: baseline: {out}"
    return f"{render_text(describe_baseline(record))}\n{visible(wrote)}\n"


def _are_folders(paths: Sequence[str]) -> bool:
    """Whether all paths are folders; a ConfigError if only some are."""
    folders = [path for path in paths if os.path.isdir(path)]
    if folders and len(folders) < len(paths):
        raise ConfigError(
            "option.wrong_value",
            "a baseline is made of reports or of result folders",
            place=Place(folders[0]),
            expected="only files, or only folders",
            found="both",
        )
    return bool(folders)


@command(
    "power",
    "Plan how many documents a difference or a gate needs.",
    click.argument("folders", nargs=-1, required=True, metavar="DIR"),
    option("--detect", "Difference to detect.", "DIFFERENCE", default="0.01"),
    option("--metric metrics", "Rates to plan for. Default: the suite's main ones.", "NAME...", multiple=True),
    option("--threshold", "Threshold to plan for. Default: those of the report's gates.", "SHARE"),
    option("--against", "Second system, to take the spread of the difference from.", "DIR"),
    option(
        "--correlation",
        "Correlation with a second system that is not there yet.  [default: 0]",
        type=click.FloatRange(min=-1, max=1, max_open=True),
    ),
    option(
        "--power",
        "Probability of detecting the difference.",
        default=0.8,
        type=click.FloatRange(min=0.5, max=1, max_open=True),
    ),
    option("--sizes", "Numbers of documents to tabulate.", "NUMBER...", multiple=True, type=click.IntRange(min=2)),
    ability_options("power"),
    format_option(RESULT_FORMATS),
    cls=MultiValueCommand,
)
def power_command(suite: str | None, folders: Sequence[str], **options: Any) -> Result:
    """Plan how many documents it takes to detect a difference, or to decide a gate; or how many labels of people.

    \b
    Example:
      goldgate power out/model-a --detect 0.02

    DIR is a folder that a suite wrote with --out; name it before the options. Of a judged result, labels of people are
    planned for, unless --metric or --against is given.

    Exit status: 0 done, 2 the command failed.
    """
    if len(folders) > 1:
        raise click.UsageError(f"a second system: --against {folders[1]}")
    return _plan_power(folders[0], **options)


def _plan_power(
    folder: str,
    detect: str,
    metrics: Sequence[str],
    threshold: str | None,
    against: str | None,
    correlation: float | None,
    power: float,
    sizes: Sequence[int],
    width: str | None,
) -> Result:
    from goldgate.readers.stored_result import load_result
    from goldgate.runs.power import CORRELATION, SIZES, PowerOptions, describe_power, plan_power

    if against is not None and correlation is not None:
        raise ConfigError(
            "option.wrong_value",
            "--correlation is for a system that is not known yet; --against names one",
            advice="leave out one of the two",
        )
    for name, value in (("--correlation", correlation), ("--power", power)):
        if value is not None and isnan(value):
            raise ConfigError("option.wrong_value", f"this {name} is not allowed", expected="a number", found="nan")
    options = PowerOptions(
        detect=_parse_share("--detect", detect, open_ended=True),
        metrics=metrics,
        threshold=None if threshold is None else _parse_share("--threshold", threshold),
        correlation=CORRELATION if correlation is None else correlation,
        power=power,
        sizes=sizes or SIZES,
    )
    length = None if width is None else _parse_share("--width", width, open_ended=True)
    result = load_result(folder, all_suites())
    own = next((ability for ability in result.suite.abilities if ability.command == "power"), None)
    if own is not None and against is None and not metrics:
        return Result(*own.load()(result, {"threshold": options.threshold, "width": length, "sizes": sizes}))
    if length is not None:
        raise ConfigError(
            "option.wrong_value",
            f"--width is for labels of people, for which a result of the {result.suite.name} suite has no plan",
            place=Place(folder),
            advice="write its items with goldgate sample --items, judge them with goldgate judged --out, and plan with "
            "that result",
        )
    if against is None:
        return Result(plan_power(result, options), describe_power)
    from goldgate.comparison import observed_spread

    return Result(plan_power(result, options, observed_spread(folder, against)), describe_power)


def _parse_share(option: str, text: str, *, open_ended: bool = False) -> Decimal:
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


def _input_options() -> list[Decorator]:
    """An option for each input of any suite: where it is now."""
    made = "The suite's {}, if it has moved."
    read = "The suite's {}, if not as in run.json."
    inputs = {each.name: each for suite in all_suites() for each in suite.inputs}
    return [
        input_option(each, help=(made if each.is_path else read).format(each.option), required=False)
        for each in inputs.values()
    ]


@command(
    "verify",
    "Recompute a stored result and show differences.",
    click.argument("path", metavar="DIR"),
    add_options(*_input_options()),
    protocol_option("The suite's --protocol, if it has moved."),
    option("--root", "Folder that the paths in run.json start from now.", "DIR"),
    option("--records", "Only check the sums of the stored records; needs no inputs.", is_flag=True),
    option("--systems", "For a comparison: where its systems are now.", "DIR...", multiple=True),
    option("--reports", "For a baseline: the reports it was made from.", "FILE...", multiple=True),
    workers_option(),
    format_option(RESULT_FORMATS),
    cls=MultiValueCommand,
)
def verify_command(
    path: str,
    root: str | None,
    records: bool,
    reports: Sequence[str],
    workers: int,
    **inputs: str | Sequence[str] | None,
) -> Result:
    """Recompute a stored result from its inputs, and show where it differs.

    \b
    Example:
      goldgate verify out/model-a

    DIR is a folder that a suite or compare wrote with --out, a report, or a baseline record; name it before the
    options. The inputs are those that run.json names.

    Exit status: 0 verified, 1 it differs, 2 the command failed.
    """
    from goldgate.verification import describe_verification
    from goldgate.verification.verify import verify

    paths = {name: as_list(value) for name, value in inputs.items()}
    verified = verify(path, paths, root=root, only_records=records, reports=reports, workers=workers)
    return Result(verified.as_json(), lambda _: describe_verification(verified), verified.exit_status)
