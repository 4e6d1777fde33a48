"""`goldgate contracts`: the JSON Schemas of all files that goldgate reads and writes."""

from __future__ import annotations

import os
from typing import Any

import click

from goldgate.cli.options import out_option, renamed
from goldgate.cli.runner import exit_with
from goldgate.files.writing import write_file


@click.command("contracts", short_help="Write the JSON Schemas of the files that goldgate reads and writes.")
@out_option("The folder to write them to. Without it they are printed as one object.")
@click.pass_context
def contracts_command(context: click.Context, out: str | None) -> None:
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

    exit_with(context, "contracts", work)


schemas_command = renamed(contracts_command, "schemas")


def all_schemas() -> dict[str, dict[str, Any]]:
    """Every schema by the name of its file."""
    from goldgate.protocol import protocol_file_type
    from goldgate.runs.contracts import COMPARISON_CONTRACTS as COMPARISONS
    from goldgate.runs.contracts import TREND_CONTRACTS as TRENDS
    from goldgate.shape.json_schema import schema_of
    from goldgate.suites import all_suites
    from goldgate.suites.plan import all_sections

    contracts = {file: contract for suite in all_suites() for file, contract in suite.contracts.items()}
    contracts |= COMPARISONS | TRENDS
    contracts["protocol.schema.json"] = "Protocol", protocol_file_type(all_sections())
    return {file: schema_of(kind, title) for file, (title, kind) in contracts.items()}
