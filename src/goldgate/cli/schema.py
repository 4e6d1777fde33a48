"""`goldgate schema`: the event schema that a gold file follows, for a data set that was published without one."""

from __future__ import annotations

import click

from goldgate.cli.convert import dialect_option, end, require_other_file
from goldgate.cli.guarded import guarded
from goldgate.cli.many_values import ManyValues


@click.command("schema", cls=ManyValues, short_help="Derive an event schema from gold.")
@click.option(
    "--from",
    "gold",
    required=True,
    multiple=True,
    metavar="GOLD...",
    help="Gold records; one file or more, all splits.",
)
@click.option("--out", required=True, metavar="FILE", help="The event schema to write, as JSON.")
@dialect_option
@click.pass_context
def schema_command(context: click.Context, gold: tuple[str, ...], out: str, dialect: str | None) -> None:
    """Derive an event schema from gold: its event types, and the roles that occur in each.

    What the gold never uses is not in it: give all splits. Exit status: 0 written, 2 it could not be carried out.
    """

    def work() -> str:
        from goldgate.core.evaluation import render_json
        from goldgate.core.page import counted
        from goldgate.files.atomic_write import write_whole
        from goldgate.suites.extraction.convert import derive_event_schema

        require_other_file(gold, out)
        found = derive_event_schema(gold, dialect)
        write_whole(out, render_json(found), "--out")
        roles = [kind["roles"] for kind in found["event_types"].values()]
        return f"{counted(len(roles), 'event type')}, {counted(sum(map(len, roles)), 'role')} in {out}\n"

    end(context, guarded(work))
