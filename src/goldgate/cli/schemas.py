"""`goldgate schemas`: the JSON Schemas of all artifacts, written to a folder or printed."""

from __future__ import annotations

import os

import click

from goldgate.cli.run import guarded, say, show_error
from goldgate.errors import EXIT_PASSED, GoldgateError
from goldgate.files.atomic_write import write_whole


@click.command("schemas", short_help="Write the JSON Schemas of all artifacts.")
@click.option("--out", metavar="DIR", help="The folder to write them to. Without it they are printed as one object.")
@click.pass_context
def schemas_command(context: click.Context, out: str | None) -> None:
    """JSON Schemas of golden queries, ResearchOutput, event, manifest, chunk, report and protocol.

    They are generated from the types that read these files.
    """

    def work() -> str | bytes:
        from goldgate.core.evaluation import render_json
        from goldgate.suites.research.schemas import all_schemas

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
