"""`goldgate trend` and `goldgate plot`: stored results as tables over time, and as SVG pictures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import click

from goldgate.cli.printing import print_output, show_error, terminal_width, use_colour
from goldgate.cli.process import result_or_error
from goldgate.errors import EXIT_PASSED, ConfigError, GoldgateError, Place
from goldgate.files.writing import write_file
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
        from goldgate.runs.trend import trend
        from goldgate.suites import all_suites

        return trend(reports, all_suites(), metrics)

    outcome = result_or_error(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        if format == "json":
            from goldgate.core.evaluation import error_report, render_json

            print_output(render_json(error_report("trend", outcome)), outcome.exit_status)
        context.exit(outcome.exit_status)
    context.exit(print_output(_render_trend(outcome, format), EXIT_PASSED))


def _render_trend(found: dict[str, Any], format: str) -> str | bytes:
    from goldgate.core.evaluation import render_json
    from goldgate.report import render_page
    from goldgate.runs.trend import describe_trend

    if format == "json":
        return render_json(found)
    return render_page(describe_trend(found), format, columns=terminal_width(), colour=use_colour())


SVG_SUFFIX = ".svg"
_OTHER_FORMATS = frozenset((".png", ".pdf", ".eps", ".jpg", ".jpeg", ".gif", ".webp", ".html"))


@click.command("plot", short_help="Draw scores, gates, errors and systems as SVG.")
@click.argument("systems", nargs=-1, required=True, metavar="DIR...")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Draw only this; may be repeated. Default: all.")
@click.option(
    "--out", metavar="PATH", help=f"A file ({SVG_SUFFIX}) for one picture, or a folder. Without it one is printed."
)
@click.option("--name", "names", multiple=True, metavar="NAME", help="A system's name, once for each, in their order.")
@click.option("--against", metavar="NAME", help="The system that differences are from. Without it: the first.")
@click.option("--common", is_flag=True, help="Compare what all have, though they were judged by different gold.")
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
    """Draw what is in result folders: SVG for papers, READMEs and web pages.

    DIR is a folder that --out of any suite wrote. Of one: gates, scores, and what its suite has to show (of
    extraction: errors, types, confused-event-types, confused-roles). Of several systems, which are named as for
    goldgate compare, or of a folder that it wrote: systems, differences; where one has several runs: runs.

    Exit status: 0 it was carried out, 2 it could not be.
    """

    def work() -> str:
        from goldgate.report.plot import draw_results
        from goldgate.runs.sources import find_systems

        _require_svg(out)
        sources = find_systems(systems, names, alone=True)
        return _write_pictures(draw_results(sources, kinds, against=against, common=common), out)

    outcome = result_or_error(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        context.exit(outcome.exit_status)
    context.exit(print_output(outcome, EXIT_PASSED))


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
