"""`goldgate check`: look for mistakes in gold, golden queries and run directories before they are used."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from goldgate.cli.options import (
    MultiValueCommand,
    ability_options,
    add_options,
    choose_ability,
    format_option,
    input_option,
    print_renamed,
)
from goldgate.cli.runner import Result, check_result, exit_with
from goldgate.suites import abilities_for

_KINDS = list(dict.fromkeys(ability.kind for _, ability in abilities_for("check")))


@click.command("check", cls=MultiValueCommand, short_help="Check gold, golden queries or a run for mistakes.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--as", "kind", type=click.Choice(_KINDS), help="What it is. Without it, its content decides.")
@ability_options("check")
@format_option()
@click.pass_context
def check_command(
    context: click.Context, /, paths: tuple[str, ...], kind: str | None, suite: str | None, format: str, **options: Any
) -> None:
    """Check inputs: all mistakes in them, each with its place, not only the first.

    Gold (one file or more): unknown types and roles, arguments that are not in the text, wrong offsets, duplicate ids,
    malformed records. Golden queries: contradictory labels, sufficient queries without ids, near-duplicate objectives.
    A run directory: files against their contracts, evidence against stored sources, steps and manifests.

    Exit status: 0 no errors, 1 errors found, 2 it could not be carried out.
    """
    _check(context, "check", paths, kind or _recognize(paths, suite), suite, format, options)


def _recognize(paths: Sequence[str], suite: str | None) -> str | None:
    """The kind of the first path that a suite recognizes; None: whatever is checked without being recognized."""
    able = [ability for each, ability in abilities_for("check") if suite in (None, each.name)]
    for ability in able:
        if ability.recognizes is not None and ability.recognizes(paths[0]):
            return ability.kind
    return next((ability.kind for ability in able if ability.recognizes is None), None)


def _check(
    context: click.Context,
    command: str,
    paths: Sequence[str],
    kind: str | None,
    suite: str | None,
    format: str,
    options: dict[str, Any],
) -> None:
    def work() -> Result:
        return check_result("check", choose_ability("check", suite, options, kind).ability.load()(paths, options))

    exit_with(context, command, work, format)


def _renamed_check(name: str, kind: str, paths: Any) -> click.Command:
    """The command that did a part of `goldgate check` before there was one for all kinds of files."""

    @click.pass_context
    def command(context: click.Context, /, paths: str | Sequence[str], format: str, **options: Any) -> None:
        print_renamed(name, "check")
        _check(context, name, [paths] if isinstance(paths, str) else paths, kind, None, format, options)

    inputs = next(ability.inputs for _, ability in abilities_for("check") if ability.kind == kind)
    options = add_options(paths, *map(input_option, inputs), format_option())
    help = f"The old name of goldgate check --as {kind}."
    return click.command(name, cls=MultiValueCommand, hidden=True, help=help)(options(command))


check_gold_command = _renamed_check(
    "check-gold", "gold", click.option("--gold", "paths", required=True, multiple=True, metavar="FILE...")
)
lint_golden_command = _renamed_check(
    "lint-golden", "golden", click.option("--golden", "paths", required=True, metavar="FILE")
)
validate_command = _renamed_check("validate", "run", click.argument("paths", metavar="RUN_DIR"))
