"""Commands that prepare files: `check` and `contracts`, `convert`, `schema` and `import-runs`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from goldgate.cli.options import (
    MultiValueCommand,
    ability_options,
    add_options,
    as_list,
    choose_ability,
    format_option,
    input_option,
    out_option,
    print_renamed,
    renamed,
)
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.runner import Result, check_result, exit_with
from goldgate.files.writing import write_file
from goldgate.readers.dialects import OWN_FORM, all_dialects
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


_DIALECTS = "\n".join(f"    {dialect.name}: {dialect.about}" for dialect in all_dialects())


@click.command(
    "convert",
    cls=MultiValueCommand,
    help=f"""Convert gold of a published data set to goldgate's own format, one record per line.

    \b
    Example:
      goldgate convert train.jsonl dev.jsonl --out gold.jsonl

    Triggers, offsets in tokens and characters, entities and all their mentions are kept. Formats, recognized by their
    keys:

    \b
{_DIALECTS}
    {OWN_FORM}: goldgate's own

    Exit status: 0 written, 2 the command failed.
    """,
    short_help="Convert gold of a published data set to goldgate's format.",
)
@click.argument("gold", nargs=-1, required=True, metavar="IN...")
@out_option("File to write, as JSON Lines.", "FILE", required=True)
@ability_options("convert")
@click.pass_context
def convert_command(
    context: click.Context, /, gold: tuple[str, ...], out: str, suite: str | None, **options: Any
) -> None:
    def work() -> str:
        from goldgate.files.writing import atomic_file

        ability = choose_ability("convert", suite, options).ability
        paths = [path for each in ability.inputs if each.is_path for path in as_list(options[each.name])]
        check_not_input((*gold, *paths), out)
        with atomic_file(out, "choose a file for --out that can be written to") as stream:
            written, lost = ability.load()(gold, stream, options)
        return f"{written} in {out}\n{lost}"

    exit_with(context, "convert", work)


@click.command("schema", cls=MultiValueCommand, short_help="Derive an event schema from gold.")
@click.option(
    "--from",
    "gold",
    required=True,
    multiple=True,
    metavar="GOLD...",
    help="Gold files, all splits.",
)
@out_option("File to write the event schema to, as JSON.", "FILE", required=True)
@ability_options("schema")
@click.pass_context
def schema_command(
    context: click.Context, /, gold: tuple[str, ...], out: str, suite: str | None, **options: Any
) -> None:
    """Derive an event schema from gold: its event types, and the roles of each.

    \b
    Example:
      goldgate schema --from train.jsonl test.jsonl --out schema.json

    Types and roles that the gold never uses are missing from the schema: give all splits.

    Exit status: 0 written, 2 the command failed.
    """

    def work() -> str:
        from goldgate.core.evaluation import render_json

        check_not_input(gold, out)
        schema, summary = choose_ability("schema", suite, options).ability.load()(gold, options)
        write_file(out, render_json(schema), "--out")
        return f"{summary} in {out}\n"

    exit_with(context, "schema", work)


@click.command("import-runs", short_help="Convert an agent's traces to run folders.")
@click.argument("traces", metavar="IN...", nargs=-1, required=True)
@out_option("Folder for the runs; new or empty.", "FOLDER", required=True)
@ability_options("import-runs")
@format_option()
@click.pass_context
def import_runs_command(
    context: click.Context, /, traces: tuple[str, ...], out: str, suite: str | None, format: str, **options: Any
) -> None:
    """Write a run folder for every trace in files or folders of OpenTelemetry, LangSmith or OpenAI Agents spans.

    \b
    Example:
      goldgate import-runs traces.jsonl --out outputs

    What a trace does not say is left out, and listed in the summary and in the run's import.json.

    Exit status: 0 every run is complete, 1 something is missing or was not read, 2 the command failed.
    """

    def work() -> Result:
        return check_result(
            "import-runs", choose_ability("import-runs", suite, options).ability.load()(traces, out, options)
        )

    exit_with(context, "import-runs", work, format)
