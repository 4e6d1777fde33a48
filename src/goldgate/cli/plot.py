"""`goldgate plot`: pictures of stored results, as SVG."""

from __future__ import annotations

import os
from collections.abc import Mapping

import click

from goldgate.cli.guarded import guarded
from goldgate.cli.printing import say, show_error
from goldgate.errors import EXIT_PASSED, ConfigError, GoldgateError, Place
from goldgate.files.atomic_write import write_whole

ENDING = ".svg"
_OTHER_FORMATS = frozenset((".png", ".pdf", ".eps", ".jpg", ".jpeg", ".gif", ".webp", ".html"))


@click.command("plot", short_help="Draw scores, gates, errors and systems as SVG.")
@click.argument("systems", nargs=-1, required=True, metavar="DIR...")
@click.option("--kind", "kinds", multiple=True, metavar="KIND", help="Draw only this; may be repeated. Default: all.")
@click.option(
    "--out", metavar="PATH", help=f"A file ({ENDING}) for one picture, or a folder. Without it one is printed."
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
        from goldgate.comparison.systems import find_systems
        from goldgate.results.pictures import draw_results

        _require_svg(out)
        sources = find_systems(systems, names, alone=True)
        return _put(draw_results(sources, kinds, against=against, common=common), out)

    outcome = guarded(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        context.exit(outcome.exit_status)
    context.exit(say(outcome, EXIT_PASSED))


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
            expected=f"a name that ends in {ENDING}, or a folder",
            found=ending,
            advice=f"write {ENDING}; browsers, rsvg-convert and Inkscape make other formats of it",
        )
    if ending != ENDING and os.path.lexists(out) and not os.path.isdir(out):
        raise ConfigError(
            "out.is_a_file",
            "--out names a file that is no picture",
            place=Place(out),
            expected=f"a file that ends in {ENDING}, or a folder, which is made if it is not there",
            advice="choose another place for --out",
        )


def _put(found: Mapping[str, str], out: str | None) -> str:
    """The picture, or the paths of the files that were written."""
    to_folder = out is not None and (os.path.isdir(out) or not out.endswith(ENDING))
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
    paths = {kind: os.path.join(out, kind + ENDING) if to_folder else out for kind in found}
    for kind, svg in found.items():
        write_whole(paths[kind], svg.encode(), "--out")
    return "".join(f"{path}\n" for path in paths.values())
