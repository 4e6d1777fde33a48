"""`goldgate view` and `goldgate label`: stored results, and items to label, in a browser on this machine."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.options import COMMON, ability_options, choose_ability, input_paths, option, out_option
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.process import ProgressLine, print_output
from goldgate.cli.runner import command
from goldgate.errors import EXIT_PASSED, require_extra

if TYPE_CHECKING:
    from goldgate.runs.sources import SystemSource
    from goldgate.viewer.folder import ViewedFolder
    from goldgate.viewer.server import AccessControl, ServedSite

PORT = option(
    "--port",
    "Port to listen on. Default: any free one.",
    "N",
    default=0,
    type=click.IntRange(0, 65535),
    show_default=False,
)
NO_BROWSER = option("--no-browser", "Only print the address.", is_flag=True)


@command(
    "view",
    "Browse results; compare them sample by sample.",
    click.argument("systems", nargs=-1, required=True, metavar="DIR..."),
    PORT,
    NO_BROWSER,
    COMMON,
    option("--root", "Folder that the paths of the inputs start from now.", "DIR"),
)
def view_command(
    systems: Sequence[str],
    port: int,
    no_browser: bool,
    common: bool,
    root: str | None,
) -> str:
    """Browse results: the report, every sample, and what changed between systems.

    \b
    Example:
      goldgate view out/model-a out/model-b

    DIR is a folder that a suite wrote with --out. Several are compared, and named as in goldgate compare. The folders
    are only read; an index of their samples is kept in the user's cache.

    Press Ctrl-C to stop. Exit status: 0 done, 2 the command failed.
    """
    from goldgate.runs.sources import find_systems

    require_extra("view", "goldgate view", "h11")
    sources = find_systems(systems, alone=True)
    with ExitStack() as stack:
        folders = _open(sources, root, stack)
        compared = None
        if len(sources) > 1:
            from goldgate.viewer.comparison import compare_folders

            compared = compare_folders(sources, folders, common)
        from goldgate.viewer.site import Site

        for folder in folders:
            _ = folder.inputs  # they are opened while the first page is looked at
        _serve(Site(folders, compared), "view", port, no_browser)
        return ""


def _open(sources: Sequence[SystemSource], root: str | None, stack: ExitStack) -> list[ViewedFolder]:
    """Every run of every system, indexed."""
    from goldgate.viewer.folder import open_folder

    folders: list[ViewedFolder] = []
    for source in sources:
        for path in source.paths:
            name = source.name if len(source.paths) == 1 else f"{source.name}/{os.path.basename(os.path.abspath(path))}"
            line = ProgressLine("kilobyte", quiet=False, scale=1024)
            folder = open_folder(path, name, line, root)
            line.clear()
            stack.callback(folder.close)
            folders.append(folder)
    return folders


@command(
    "label",
    "Label items by hand, one at a time, in a browser.",
    click.argument("items", metavar="ITEMS"),
    out_option("File for the labels, as JSON Lines. What it has already is kept.", "FILE", required=True),
    ability_options("label"),
    PORT,
    NO_BROWSER,
)
def label_command(items: str, out: str, suite: str | None, port: int, no_browser: bool, **options: Any) -> str:
    """Label items by hand: a page with one item at a time, and keys for the labels.

    \b
    Example:
      goldgate label drawn.jsonl --out labels.jsonl --labels supported,unsupported

    ITEMS is a draw of goldgate sample, or any file of items; they come in its order. Every label is on disk before the
    next item shows. The same command goes on where it was stopped. Only this machine can reach the page.

    Press Ctrl-C to stop. Exit status: 0 done, 2 the command failed.
    """
    require_extra("view", "goldgate label", "h11")
    ability = choose_ability("label", suite, options).ability
    check_not_input((items, *input_paths(ability, options)), out, "the labels")
    site = ability.load()(items, out, options)
    try:
        _serve(site, "label", port, no_browser, takes_forms=True)
        return f"{site.summary}\n"
    finally:
        site.close()


def _serve(site: ServedSite, command: str, port: int, no_browser: bool, *, takes_forms: bool = False) -> None:
    from goldgate.viewer.server import AccessControl, listen, serve_site

    with listen(port) as listening:
        access = AccessControl(listening.getsockname()[1], command, takes_forms)
        serve_site(site, access, listening, lambda: _announce(access, no_browser))


def _announce(access: AccessControl, no_browser: bool) -> None:
    print_output(f"goldgate {access.command}: {access.address}\nPress Ctrl-C to stop.\n", EXIT_PASSED)
    if not no_browser:
        import webbrowser

        address = access.address_once()
        threading.Thread(target=webbrowser.open, args=(address,), daemon=True).start()
