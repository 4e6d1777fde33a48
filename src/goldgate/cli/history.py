"""`goldgate trend` and `goldgate plot`: stored results as tables over time, and as SVG pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from goldgate.cli.options import COMMON, RESULT_FORMATS, SYSTEM_NAMES, format_option, out_option
from goldgate.cli.runner import Result, exit_with
from goldgate.errors import ConfigError, Place
from goldgate.files.writing import write_file
from goldgate.suites import all_suites


@click.command("trend", short_help="Show how metrics changed over stored reports.")
@click.argument("reports", nargs=-1, required=True, metavar="DIR...")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    metavar="NAME",
    help="Show only this; may be repeated. Default: those gated, and the suite's main ones.",
)
@format_option(RESULT_FORMATS)
@click.pass_context
def trend_command(context: click.Context, reports: tuple[str, ...], metrics: tuple[str, ...], format: str) -> None:
    """Show how metrics and verdicts changed over stored reports of one suite, in the order given.

    DIR is a folder that --out wrote, or a report.json; NAME=DIR names it. Of a folder that holds many: DIR/*.

    Exit status: 0 it was carried out, 2 it could not be.
    """

    def work() -> Result:
        from goldgate.runs.trend import describe_trend, trend

        return Result(trend(reports, all_suites(), metrics), describe_trend)

    exit_with(context, "trend", work, format)


SVG_SUFFIX = ".svg"
_OTHER_FORMATS = frozenset((".png", ".pdf", ".eps", ".jpg", ".jpeg", ".gif", ".webp", ".html"))


_DRAWN = "; ".join(f"of {suite.name}: {', '.join(suite.drawings)}" for suite in all_suites() if suite.drawings)


@click.command(
    "plot",
    short_help="Draw scores, gates, errors and systems as SVG.",
    help=f"""Draw what is in result folders: SVG for papers, READMEs and web pages.

    DIR is a folder that --out of any suite wrote. Of one: gates, scores, and what its suite has to show ({_DRAWN}).
    Of several systems, which are named as for goldgate compare, or of a folder that it wrote: systems, differences;
    where one has several runs: runs.

    Exit status: 0 it was carried out, 2 it could not be.
    """,
)
@click.argument("systems", nargs=-1, required=True, metavar="DIR...")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Draw only this; may be repeated. Default: all.")
@out_option(f"A file ({SVG_SUFFIX}) for one picture, or a folder. Without it one is printed.", "PATH")
@SYSTEM_NAMES
@click.option("--against", metavar="NAME", help="The system that differences are from. Without it: the first.")
@COMMON
@click.pass_context
def plot_command(
    context: click.Context,
    systems: tuple[str, ...],
    kinds: tuple[str, ...],
    out: str | None,
    names: tuple[str, ...],
    against: str | None,
    common: bool,
) -> None:
    def work() -> str:
        from goldgate.report.plot import draw_results
        from goldgate.runs.sources import find_systems

        _require_svg(out)
        sources = find_systems(systems, names, alone=True)
        return _write_pictures(draw_results(sources, kinds, against=against, common=common), out)

    exit_with(context, "plot", work)


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
            "--out names a file that is no picture",
            place=Place(out),
            expected=f"a file that ends in {SVG_SUFFIX}, or a folder, which is made if it is not there",
            advice="choose another place for --out",
        )


def _write_pictures(found: Mapping[str, str], out: str | None) -> str:
    """The picture, or the paths of the files that were written."""
    to_folder = out is not None and (os.path.isdir(out) or not out.endswith(SVG_SUFFIX))
    if len(found) != 1 and not (found and to_folder):
        raise ConfigError(
            "plot.several" if found else "plot.nothing",
            "there are several pictures for one place" if found else "there is nothing to draw",
            expected="one picture, or a folder for all of them",
            found=", ".join(found) or "no picture",
            advice=f"choose one with --kind {next(iter(found))}, or name a folder with --out" if found else None,
        )
    if out is None:
        return next(iter(found.values()))
    paths = {kind: os.path.join(out, kind + SVG_SUFFIX) if to_folder else out for kind in found}
    for kind, svg in found.items():
        write_file(paths[kind], svg.encode(), "--out")
    return "".join(f"{path}\n" for path in paths.values())
