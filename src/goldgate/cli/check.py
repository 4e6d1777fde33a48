"""`goldgate check-gold`, `goldgate validate` and `goldgate lint-golden`: check gold, runs and golden queries."""

from __future__ import annotations

import click

from goldgate.cli.convert import dialect_option, id_field_option
from goldgate.cli.options import MultiValueCommand, format_option, protocol_option
from goldgate.cli.runner import Result, check_result, exit_with
from goldgate.errors import EXIT_GATE_FAILED, EXIT_PASSED, InputError, Place
from goldgate.files.address import is_url, public_url


@click.command("check-gold", cls=MultiValueCommand)
@click.option("--gold", required=True, multiple=True, metavar="FILE...", help="Gold records; one file or more.")
@click.option("--schema", metavar="FILE", help="The event schema. Without it, types and roles are not checked.")
@dialect_option
@id_field_option
@format_option()
@click.pass_context
def check_gold_command(
    context: click.Context,
    gold: tuple[str, ...],
    schema: str | None,
    dialect: str | None,
    id_field: str | None,
    format: str,
) -> None:
    """Check gold against its own event schema and text.

    Looks for unknown types and roles, arguments that are not in the text, wrong offsets,
    duplicate ids and malformed records. Exit status: 0 no errors, 1 errors found, 2 it could not be
    carried out.
    """

    def work() -> Result:
        from goldgate.report.verdicts import describe_gold_check
        from goldgate.suites.extraction.check_gold import check_gold
        from goldgate.suites.extraction.events.event_schema import load_event_schema

        result = check_gold(gold, None if schema is None else load_event_schema(schema), dialect, id_field)
        return Result(result.as_json(), describe_gold_check, EXIT_PASSED if result.passed else EXIT_GATE_FAILED)

    exit_with(context, "check-gold", work, format)


@click.command("validate", short_help="Check the files of one run of a research agent.")
@click.argument("run", metavar="RUN_DIR")
@protocol_option()
@click.option("--corpus", metavar="PATH", help="The sources that you know: hashes, a line each, or their folder.")
@format_option()
@click.pass_context
def validate_command(context: click.Context, run: str, protocol: str | None, corpus: str | None, format: str) -> None:
    """Check a run directory: files against their contracts, evidence against stored sources, steps and manifests.

    Exit status: 0 no errors, 1 errors found, 2 it could not be carried out.
    """

    def work() -> Result:
        from goldgate.suites.plan import load_plan
        from goldgate.suites.research.checks import validate_run
        from goldgate.suites.research.golden import load_corpus
        from goldgate.suites.research.source import run_settings
        from goldgate.suites.research.suite import SUITE

        if is_url(run):
            raise InputError(
                "run.elsewhere",
                "a run is validated on a disk, not behind a URL",
                place=Place(public_url(run)),
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
        return check_result(result.as_json(), summary)

    exit_with(context, "validate", work, format)


@click.command("lint-golden", short_help="Check golden queries for what measures nothing.")
@click.option("--golden", required=True, metavar="FILE", help="The golden queries, as JSON.")
@click.option("--outputs", metavar="DIR", help="Runs whose ledgers and chunks must know the required ids.")
@format_option()
@click.pass_context
def lint_golden_command(context: click.Context, golden: str, outputs: str | None, format: str) -> None:
    """Check golden queries: contradictory labels, sufficient queries without ids, near-duplicate objectives.

    With --outputs also: ids that no stored ledger or chunk has. Exit status: 0 no errors, 1 errors found,
    2 it could not be carried out.
    """

    def work() -> Result:
        from goldgate.suites.research.checks import lint_golden
        from goldgate.suites.research.run.files import ReadLimits

        result = lint_golden(golden, outputs, ReadLimits())
        return check_result(result.as_json(), f"{result.queries} golden queries")

    exit_with(context, "lint-golden", work, format)
