"""`goldgate research`: judge what an agent's runs left on disk."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.run import guarded, say, show_error
from goldgate.errors import ConfigError, GoldgateError, Place
from goldgate.files.atomic_write import write_whole
from goldgate.report import RENDERERS

if TYPE_CHECKING:
    from goldgate.core.evaluation import Evaluation

SUITE = "research"


@click.command("research", short_help="Judge stored runs of a research agent.")
@click.option("--golden", required=True, metavar="FILE", help="The golden queries, as JSON.")
@click.option("--outputs", required=True, metavar="DIR", help="The folder with one directory a run.")
@click.option(
    "--report", metavar="FILE", help="Where the JSON report goes. Without it: OUTPUTS.report.json, beside them."
)
@click.option(
    "--corpus",
    metavar="PATH",
    help="The sources that you know: SHA-256 hashes, a line each, or their folder. Evidence from them is anchored.",
)
@click.option("--protocol", metavar="FILE", help="Settings and gates, as YAML. Without it: the defaults.")
@click.option(
    "--format", type=click.Choice(list(RENDERERS)), default="text", show_default=True, help="Of the printed report."
)
@click.option("--workers", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to read with.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
@click.pass_context
def research_command(
    context: click.Context,
    golden: str,
    outputs: str,
    report: str | None,
    corpus: str | None,
    protocol: str | None,
    format: str,
    workers: int,
    quiet: bool,
) -> None:
    """Judge stored runs of a research agent against golden queries and stored sources.

    Exit status: 0 all gates passed, 1 a gate failed, 2 it could not be carried out (SYSTEM_ERROR).
    """
    path = report if report is not None else default_report(outputs)

    def evaluate() -> Evaluation:
        from goldgate.suites.research.evaluate import evaluate_outputs

        _protect(path, outputs, [given for given in (golden, protocol, corpus) if given is not None])
        own = frozenset({os.path.basename(path)} if _is_in(path, outputs) else ())
        return evaluate_outputs(golden, outputs, protocol, corpus=corpus, workers=workers, own_files=own)

    outcome = guarded(evaluate)
    failed = outcome if isinstance(outcome, GoldgateError) else None
    content: dict[str, Any] = _error_report(outcome) if isinstance(outcome, GoldgateError) else outcome.report
    if failed is None or not failed.code.startswith("report."):
        written = guarded(lambda: _write(path, content, make_folder=report is not None))
        if isinstance(written, GoldgateError) and failed is None:
            failed, content = written, _error_report(written)
    if failed is not None:
        show_error(failed)
        context.exit(
            _print(content, format, failed.exit_status) if format != "text" and not quiet else failed.exit_status
        )
    assert not isinstance(outcome, GoldgateError)
    context.exit(outcome.exit_status if quiet else _print(content, format, outcome.exit_status))


def default_report(outputs: str) -> str:
    """Beside the outputs, named after them."""
    plain = outputs.rstrip("/" + os.sep)
    if os.path.basename(plain) in ("", ".", ".."):
        plain = os.path.realpath(outputs)
    return plain + ".report.json"


def _print(content: dict[str, Any], format: str, status: int) -> int:
    rendered = RENDERERS[format](content)
    return say(rendered.encode() if format == "json" else rendered, status)


def _write(path: str, content: dict[str, Any], *, make_folder: bool) -> None:
    from goldgate.core.evaluation import render_json

    write_whole(path, render_json(content), "--report", make_folder=make_folder)


def _error_report(error: GoldgateError) -> dict[str, Any]:
    from goldgate.core.evaluation import error_report

    report: dict[str, Any] = _storable(error_report(SUITE, error))
    return report


def _storable(value: Any) -> Any:
    """Names need not be UTF-8; Python then keeps their bytes as surrogates, which JSON refuses."""
    if isinstance(value, str):
        return str(value).encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {key: _storable(item) for key, item in value.items()}
    return [_storable(item) for item in value] if isinstance(value, list) else value


def _is_in(path: str, outputs: str) -> bool:
    """Whether the report lies in the outputs folder itself."""
    return os.path.realpath(os.path.dirname(path) or ".") == os.path.realpath(outputs)


def _protect(path: str, outputs: str, inputs: list[str]) -> None:
    """The report must not overwrite an input, and not become a file of a run."""
    folder, root = os.path.realpath(os.path.dirname(path) or "."), os.path.realpath(outputs)
    if folder.startswith(os.path.join(root, "")):
        raise ConfigError(
            "report.inside_a_run",
            "the report would lie inside a run",
            place=Place(path),
            expected="a place beside the outputs",
            advice="choose another file for --report",
        )
    for given in inputs:
        if os.path.realpath(given) == os.path.realpath(path):
            raise ConfigError(
                "report.is_an_input",
                "writing the report would overwrite an input",
                place=Place(path),
                advice="choose another file for --report",
            )
