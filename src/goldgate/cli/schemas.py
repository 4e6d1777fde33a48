"""`goldgate schema`: derive an event schema from gold. `goldgate schemas`: write the JSON Schemas of all files."""

from __future__ import annotations

import os
from typing import Any

import click

from goldgate.cli.convert import dialect_option
from goldgate.cli.options import MultiValueCommand, out_option
from goldgate.cli.out_folder import check_not_input
from goldgate.cli.runner import exit_with
from goldgate.files.writing import write_file


@click.command("schema", cls=MultiValueCommand, short_help="Derive an event schema from gold.")
@click.option(
    "--from",
    "gold",
    required=True,
    multiple=True,
    metavar="GOLD...",
    help="Gold records; one file or more, all splits.",
)
@out_option("The event schema to write, as JSON.", "FILE", required=True)
@dialect_option
@click.pass_context
def schema_command(context: click.Context, gold: tuple[str, ...], out: str, dialect: str | None) -> None:
    """Derive an event schema from gold: its event types, and the roles that occur in each.

    What the gold never uses is not in it: give all splits. Exit status: 0 written, 2 it could not be carried out.
    """

    def work() -> str:
        from goldgate.core.evaluation import render_json
        from goldgate.core.page import count_text
        from goldgate.files.writing import write_file
        from goldgate.suites.extraction.convert import derive_event_schema

        check_not_input(gold, out)
        found = derive_event_schema(gold, dialect)
        write_file(out, render_json(found), "--out")
        roles = [kind["roles"] for kind in found["event_types"].values()]
        return f"{count_text(len(roles), 'event type')}, {count_text(sum(map(len, roles)), 'role')} in {out}\n"

    exit_with(context, "schema", work)


@click.command("schemas", short_help="Write the JSON Schemas of the files that goldgate reads and writes.")
@out_option("The folder to write them to. Without it they are printed as one object.")
@click.pass_context
def schemas_command(context: click.Context, out: str | None) -> None:
    """JSON Schemas of every file that goldgate reads or writes: suites, comparisons, trends, imports, the protocol.

    They are generated from the types that describe these files.
    """

    def work() -> str | bytes:
        from goldgate.core.evaluation import render_json

        schemas = all_schemas()
        if out is None:
            return render_json(schemas)
        for file, schema in schemas.items():
            write_file(os.path.join(out, file), render_json(schema), "--out")
        return "".join(f"{os.path.join(out, file)}\n" for file in schemas)

    exit_with(context, "schemas", work)


def all_schemas() -> dict[str, dict[str, Any]]:
    """Every schema by the name of its file."""
    from goldgate.imports.mapping import CONTRACTS as IMPORTS
    from goldgate.protocol import protocol_file_type
    from goldgate.runs.contracts import COMPARISON_CONTRACTS as COMPARISONS
    from goldgate.runs.contracts import TREND_CONTRACTS as TRENDS
    from goldgate.shape.json_schema import schema_of
    from goldgate.suites import all_suites
    from goldgate.suites.plan import all_sections

    contracts = {file: contract for suite in all_suites() for file, contract in suite.contracts.items()}
    contracts |= COMPARISONS | TRENDS | IMPORTS
    contracts["protocol.schema.json"] = "Protocol", protocol_file_type(all_sections())
    return {file: schema_of(kind, title) for file, (title, kind) in contracts.items()}
