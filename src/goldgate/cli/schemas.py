"""`goldgate schemas`: the JSON Schemas of all artifacts, written to a folder or printed."""

from __future__ import annotations

import os
from typing import Any

import click

from goldgate.cli.guarded import guarded
from goldgate.cli.printing import say, show_error
from goldgate.errors import EXIT_PASSED, GoldgateError
from goldgate.files.atomic_write import write_whole


@click.command("schemas", short_help="Write the JSON Schemas of the files that goldgate reads and writes.")
@click.option("--out", metavar="DIR", help="The folder to write them to. Without it they are printed as one object.")
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
            write_whole(os.path.join(out, file), render_json(schema), "--out")
        return "".join(f"{os.path.join(out, file)}\n" for file in schemas)

    outcome = guarded(work)
    if isinstance(outcome, GoldgateError):
        show_error(outcome)
        context.exit(outcome.exit_status)
    context.exit(say(outcome, EXIT_PASSED))


def all_schemas() -> dict[str, dict[str, Any]]:
    """Every schema by the name of its file."""
    from goldgate.comparison.contracts import CONTRACTS as COMPARISONS
    from goldgate.imports.contracts import CONTRACTS as IMPORTS
    from goldgate.protocol.model import file_kind
    from goldgate.results.contracts import CONTRACTS as TRENDS
    from goldgate.shape.json_schema import schema_of
    from goldgate.suites import all_suites
    from goldgate.suites.plan import all_sections

    contracts = {file: contract for suite in all_suites() for file, contract in suite.contracts.items()}
    contracts |= COMPARISONS | TRENDS | IMPORTS
    contracts["protocol.schema.json"] = "Protocol", file_kind(all_sections())
    return {file: schema_of(kind, title) for file, (title, kind) in contracts.items()}
