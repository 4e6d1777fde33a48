"""`goldgate check` and `goldgate contracts`: mistakes in files before they are used, and the schemas of all files."""

from __future__ import annotations

import os
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
    out_option,
    print_renamed,
    renamed,
)
from goldgate.cli.runner import Result, check_result, exit_with
from goldgate.files.writing import write_file
from goldgate.suites import abilities_for

_KINDS = list(dict.fromkeys(ability.kind for _, ability in abilities_for("check")))


@click.command("check", cls=MultiValueCommand, short_help="Check gold, golden queries or a run for mistakes.")
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--as", "kind", type=click.Choice(_KINDS), help="What the files are. Default: recognized by content.")
@ability_options("check")
@format_option()
@click.pass_context
def check_command(
    context: click.Context, /, paths: tuple[str, ...], kind: str | None, suite: str | None, format: str, **options: Any
) -> None:
    """Check inputs and list all mistakes, each with its place.

    \b
    Example:
      goldgate check gold.jsonl --schema schema.json

    Gold (one file or more): unknown types and roles, arguments that are not in the text, wrong offsets, duplicate ids,
    malformed records. Golden queries: contradictory labels, sufficient queries without ids, near-duplicate objectives.
    A run directory: files against their contracts, evidence against stored sources, steps and manifests.

    Exit status: 0 no errors, 1 errors found, 2 the command failed.
    """
    recognized_kind, recognized_suite = _recognize(paths, kind, suite)
    _check(context, "check", paths, kind or recognized_kind, suite or recognized_suite, format, options)


def _recognize(paths: Sequence[str], kind: str | None, suite: str | None) -> tuple[str | None, str | None]:
    """The kind of the first path, and the suite that recognizes it; else of what is checked without being recognized.

    Only abilities of the kind and of the suite that were named are asked.
    """
    able = [
        each
        for each in abilities_for("check")
        if suite in (None, each.suite.name) and kind in (None, each.ability.kind)
    ]
    for each in able:
        if each.ability.recognizes is not None and each.ability.recognizes(paths[0]):
            return each.ability.kind, each.suite.name
    return next(
        ((each.ability.kind, each.suite.name) for each in able if each.ability.recognizes is None), (None, None)
    )


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


@click.command("contracts", short_help="Write the JSON Schemas of all file formats.")
@out_option("Folder to write them to. Default: print them as one object.")
@click.pass_context
def contracts_command(context: click.Context, out: str | None) -> None:
    """Write the JSON Schema of every file that goldgate reads or writes.

    \b
    Example:
      goldgate contracts --out schemas

    Exit status: 0 written, 2 the command failed.
    """

    def work() -> str | bytes:
        from goldgate.core.evaluation import render_json

        schemas = all_schemas()
        if out is None:
            return render_json(schemas)
        for file, schema in schemas.items():
            write_file(os.path.join(out, file), render_json(schema), "--out")
        return "".join(f"{os.path.join(out, file)}\n" for file in schemas)

    exit_with(context, "contracts", work)


schemas_command = renamed(contracts_command, "schemas")


def all_schemas() -> dict[str, dict[str, Any]]:
    """Every schema by the name of its file."""
    from goldgate.protocol import protocol_file_type
    from goldgate.runs.contracts import COMPARISON_CONTRACTS as COMPARISONS
    from goldgate.runs.contracts import TREND_CONTRACTS as TRENDS
    from goldgate.shape import schema_of
    from goldgate.suites import all_suites
    from goldgate.suites.plan import all_sections

    contracts = {file: contract for suite in all_suites() for file, contract in suite.contracts.items()}
    contracts |= COMPARISONS | TRENDS
    contracts["protocol.schema.json"] = "Protocol", protocol_file_type(all_sections())
    return {file: schema_of(kind, title) for file, (title, kind) in contracts.items()}
