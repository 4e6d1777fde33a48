"""`goldgate validate`: check one run directory, for whoever writes an agent."""

from __future__ import annotations

from typing import Any

import click

from goldgate.cli.check import FORMATS, carry_out_check
from goldgate.errors import InputError, Place
from goldgate.files.url import is_url, shown_url


@click.command("validate", short_help="Check the files of one run of a research agent.")
@click.argument("run", metavar="RUN_DIR")
@click.option("--protocol", metavar="FILE", help="Settings, as YAML. Without it: the defaults.")
@click.option("--corpus", metavar="PATH", help="The sources that you know: hashes, a line each, or their folder.")
@click.option("--format", type=click.Choice(FORMATS), default="text", show_default=True, help="Of the output.")
@click.pass_context
def validate_command(context: click.Context, run: str, protocol: str | None, corpus: str | None, format: str) -> None:
    """Check a run directory: files against their contracts, evidence against stored sources, steps and manifests.

    Exit status: 0 no errors, 1 errors found, 2 it could not be carried out.
    """

    def check() -> tuple[dict[str, Any], str]:
        from goldgate.suites.plan import load_plan
        from goldgate.suites.research.corpus import load_corpus
        from goldgate.suites.research.source import run_settings
        from goldgate.suites.research.suite import SUITE
        from goldgate.suites.research.validate import validate_run

        if is_url(run):
            raise InputError(
                "run.elsewhere",
                "a run is validated on a disk, not behind a URL",
                place=Place(shown_url(run)),
                expected="a run directory",
                advice="copy the folder to this machine first; goldgate research judges runs where they are",
            )
        anchors = load_corpus(corpus).hashes if corpus is not None else frozenset()
        result = validate_run(run, run_settings(load_plan(SUITE, protocol), anchors))
        facts = result.facts
        valid = facts.structural + facts.verbatim + facts.chain + facts.anchored
        summary = (
            f"{result.run}: {facts.covered} of {facts.verified} verified claims covered, {valid} of {facts.ledger} "
            f"evidence records valid, {facts.with_manifest} of {facts.steps} steps with a manifest"
        )
        return result.as_json(), summary

    context.exit(carry_out_check("validate", format, check))
