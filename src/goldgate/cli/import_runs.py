"""`goldgate import-runs`: traces of other tools as run folders for the research suite."""

from __future__ import annotations

from typing import Any

import click

from goldgate.cli.check import FORMATS, carry_out_check

_FORMS = ("otel", "langgraph", "langsmith", "openai-agents")


@click.command("import-runs", short_help="Make run folders of an agent's traces.")
@click.argument("traces", metavar="IN...", nargs=-1, required=True)
@click.option("--out", metavar="FOLDER", required=True, help="The folder of the runs: new, or empty.")
@click.option("--mapping", metavar="FILE", help="Where in a trace a run's parts are, as YAML.")
@click.option(
    "--from", "form", type=click.Choice(_FORMS), help="The form of the traces. Without it: as their keys show."
)
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the output.")
@click.pass_context
def import_runs_command(
    context: click.Context, traces: tuple[str, ...], out: str, mapping: str | None, form: str | None, format: str
) -> None:
    """Write a run folder for every trace in files or folders of OpenTelemetry, LangSmith or OpenAI Agents spans.

    What a trace does not say is left out and named, in the summary and in import.json of the run: nothing is made up.

    Exit status: 0 every run is complete, 1 something is missing or was not read, 2 it could not be carried out.
    """
    if mapping is not None and form is not None:
        raise click.UsageError("--mapping names the form of the traces itself: give --mapping or --from, not both.")

    def work() -> tuple[dict[str, Any], str]:
        from goldgate.core.page import counted
        from goldgate.imports.carry_out import import_runs
        from goldgate.imports.mapping import load_mapping

        result = import_runs(traces, out, load_mapping(mapping) if mapping is not None else None, form)
        summary = (
            f"{counted(result.runs, 'run')} of {counted(result.spans, 'span')} ({result.mapping.format}), "
            f"{result.complete} complete"
        )
        lacking = ", ".join(f"{name} in {count}" for name, count in sorted(result.lacking.items()))
        summary += f"; missing: {lacking}" if lacking else ""
        summary += f"; {counted(result.flaws, 'part')} of the files not read" if result.flaws else ""
        return result.as_json(), summary

    context.exit(carry_out_check("import-runs", format, work))
