"""Commands that prepare files: `check` and `contracts`, `convert`, `schema` and `import-runs`."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import click

from goldgate.cli.options import (
    MultiValueCommand,
    ability_options,
    choose_ability,
    format_option,
    input_paths,
    option,
    out_option,
)
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.runner import Result, check_result, command
from goldgate.files.writing import atomic_file, write_file
from goldgate.readers.dialects import OWN_FORM, all_dialects
from goldgate.shape import schema_of
from goldgate.suites import abilities_for, all_suites

_PROTOCOL = "protocol"
_KINDS = [*dict.fromkeys(ability.kind for _, ability in abilities_for("check")), _PROTOCOL]


@command(
    "check",
    "Check gold, golden queries or a run for mistakes.",
    click.argument("paths", nargs=-1, required=True, metavar="PATH..."),
    option("--as kind", "What the files are. Default: recognized by content.", type=click.Choice(_KINDS)),
    ability_options("check"),
    format_option(),
    cls=MultiValueCommand,
)
def check_command(paths: Sequence[str], kind: str | None, suite: str | None, **options: Any) -> Result:
    """Check inputs for mistakes and list each with its place.

    \b
    Example:
      goldgate check gold.jsonl --schema schema.json

    Gold (one file or more): unknown types and roles, arguments that are not in the text, wrong offsets, duplicate ids,
    malformed records. Golden queries: contradictory labels, sufficient queries without ids, near-duplicate objectives.
    A run directory: files against their contracts, evidence against stored sources, steps and manifests.
    A protocol (.yaml): its settings and gates; the first mistake is reported.

    Exit status: 0 no errors, 1 errors found, 2 the command failed.
    """
    if kind == _PROTOCOL or (kind is None and paths[0].lower().endswith((".yaml", ".yml"))):
        from goldgate.suites.plan import check_protocol

        if len(paths) > 1 or any(value not in (None, (), "text") for value in options.values()):
            raise click.UsageError("a protocol is checked alone: name one file, and no option but --suite or --format")
        return check_result("check", check_protocol(paths[0], suite))
    return check_result("check", choose_ability("check", suite, options, kind, paths[0]).ability.load()(paths, options))


@command(
    "contracts",
    "Write the JSON Schemas of all file formats.",
    out_option("Folder to write them to. Default: print them as one object."),
)
def contracts_command(out: str | None) -> str | bytes:
    """Write the JSON Schema of every file that goldgate reads or writes.

    \b
    Example:
      goldgate contracts --out schemas

    Exit status: 0 written, 2 the command failed.
    """
    from goldgate.core.evaluation import render_json

    schemas = all_schemas()
    if out is None:
        return render_json(schemas)
    for file, schema in schemas.items():
        write_file(os.path.join(out, file), render_json(schema), "--out")
    return "".join(f"{os.path.join(out, file)}\n" for file in schemas)


def all_schemas() -> dict[str, dict[str, Any]]:
    """Every schema by the name of its file."""
    from goldgate.protocol import protocol_file_type
    from goldgate.runs.contracts import COMPARISON_CONTRACTS, TREND_CONTRACTS
    from goldgate.suites.plan import all_sections

    contracts = {file: contract for suite in all_suites() for file, contract in suite.contracts.items()}
    contracts |= COMPARISON_CONTRACTS | TREND_CONTRACTS
    contracts["protocol.schema.json"] = "Protocol", protocol_file_type(all_sections())
    return {file: schema_of(kind, title) for file, (title, kind) in contracts.items()}


_DIALECTS = "\n".join(f"    {dialect.name}: {dialect.about}" for dialect in all_dialects())


@command(
    "convert",
    "Convert gold of a published data set to goldgate's format.",
    click.argument("gold", nargs=-1, required=True, metavar="IN..."),
    out_option("File to write, as JSON Lines.", "FILE", required=True),
    ability_options("convert"),
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
)
def convert_command(gold: Sequence[str], out: str, suite: str | None, **options: Any) -> str:
    ability = choose_ability("convert", suite, options).ability
    check_not_input((*gold, *input_paths(ability, options)), out)
    with atomic_file(out, "choose a file for --out that can be written to") as stream:
        summary, losses = ability.load()(gold, stream, options)
    return f"{summary} in {out}\n{losses}"


@command(
    "schema",
    "Derive an event schema from gold.",
    option("--from gold", "Gold files, all splits.", "GOLD...", required=True, multiple=True),
    out_option("File to write the event schema to, as JSON.", "FILE", required=True),
    ability_options("schema"),
    cls=MultiValueCommand,
)
def schema_command(gold: Sequence[str], out: str, suite: str | None, **options: Any) -> str:
    """Derive an event schema from gold: its event types, and the roles of each.

    \b
    Example:
      goldgate schema --from train.jsonl test.jsonl --out schema.json

    Types and roles that the gold never uses are missing from the schema: give all splits.

    Exit status: 0 written, 2 the command failed.
    """
    from goldgate.core.evaluation import render_json

    check_not_input(gold, out)
    schema, summary = choose_ability("schema", suite, options).ability.load()(gold, options)
    write_file(out, render_json(schema), "--out")
    return f"{summary} in {out}\n"


@command(
    "import-runs",
    "Convert an agent's traces to run folders.",
    click.argument("traces", metavar="IN...", nargs=-1, required=True),
    out_option("Folder for the runs; new or empty.", "FOLDER", required=True),
    ability_options("import-runs"),
    format_option(),
)
def import_runs_command(traces: Sequence[str], out: str, suite: str | None, **options: Any) -> Result:
    """Write a run folder for every trace in files or folders of OpenTelemetry, LangSmith or OpenAI Agents spans.

    \b
    Example:
      goldgate import-runs traces.jsonl --out outputs

    What a trace does not say is left out, and listed in the summary and in the run's import.json.

    Exit status: 0 every run is complete, 1 something is missing or was not read, 2 the command failed.
    """
    run_import = choose_ability("import-runs", suite, options).ability.load()
    return check_result("import-runs", run_import(traces, out, options))
