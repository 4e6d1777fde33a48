"""`goldgate extraction`: score stored answers of an event extraction model and judge them."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

import click

from goldgate.cli.many_values import ManyValues
from goldgate.cli.progress import ProgressLine
from goldgate.cli.run import Job, carry_out
from goldgate.core.uninterrupted import uninterrupted
from goldgate.report import RENDERERS

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation


@click.command("extraction", cls=ManyValues, short_help="Score stored answers of an event extraction model.")
@click.option("--gold", required=True, multiple=True, metavar="FILE...", help="Gold records; one file or more.")
@click.option(
    "--predictions", required=True, multiple=True, metavar="FILE...", help="A model's stored answers; one file or more."
)
@click.option("--schema", metavar="FILE", help="The event schema: event types and their roles.")
@click.option("--protocol", metavar="FILE", help="Settings and gates, as YAML. Without it: the defaults, no gates.")
@click.option("--out", metavar="DIR", help="Write report.json, report.md, samples.jsonl and run.json here.")
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to score with.")
@click.option(
    "--format", type=click.Choice(list(RENDERERS)), default="text", show_default=True, help="Of the printed report."
)
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.pass_context
def extraction_command(
    context: click.Context,
    gold: tuple[str, ...],
    predictions: tuple[str, ...],
    schema: str | None,
    protocol: str | None,
    out: str | None,
    workers: int,
    format: str,
    quiet: bool,
) -> None:
    """Score stored answers of an event extraction model and judge them.

    Files are JSON Lines or a JSON array, plain or gzipped; one of them may be - (standard input).
    Exit status: 0 all gates passed, 1 a gate failed, 2 it could not be carried out.
    """
    inputs = {
        "gold": list(gold),
        "predictions": list(predictions),
        "schema": [schema] if schema is not None else [],
        "protocol": [protocol] if protocol is not None else [],
    }
    progress = ProgressLine(quiet=quiet)

    def evaluate(records: IO[bytes] | None) -> Evaluation:
        with uninterrupted():  # a module that is half imported is a fault that hides the signal
            from goldgate.pipeline import evaluate_files

        try:
            return evaluate_files(
                gold, predictions, schema, protocol, workers=workers, records=records, progress=progress
            )
        finally:
            progress.clear()

    context.exit(carry_out(Job("extraction", inputs, out, format, quiet, workers), evaluate))
