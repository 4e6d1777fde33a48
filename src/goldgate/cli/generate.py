"""`goldgate generate`: ask a model about every gold document and store its answers; evaluate_api.py scores them too."""

from __future__ import annotations

import math
from typing import Any

import click

from goldgate.cli.options import (
    MultiValueCommand,
    ability_options,
    add_options,
    format_option,
    option,
    out_option,
    protocol_option,
    workers_option,
)

MAX_COUNT = 1_000_000_000  # tokens, attempts: more is a slip of the hand


class FiniteFloat(click.FloatRange):
    """A number that is one: neither infinity nor NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


COMMON_OPTIONS = [
    protocol_option("Settings, gates and prices, as YAML."),
    out_option("Folder for the journal and everything made from it.  [default: out/MODEL]"),
    option("--seeds", "Ask once per seed; it is sent, and chooses the examples.", "N,N,..."),
    option("--temperature", "Sampling temperature; 0: none.", default=0.0, type=FiniteFloat(min=0)),
    option("--max-tokens", "Maximum tokens per answer.", default=2048, type=click.IntRange(1, MAX_COUNT)),
    option(
        "--max-total-tokens", "Stop before all requests together exceed this many tokens.", type=click.IntRange(min=1)
    ),
    option("--max-cost", "Stop before the cost exceeds this, by the protocol's prices.", "AMOUNT"),
    option("--allow-missing", "Do not exit with 2 if answers are missing.", is_flag=True),
    option("--dry-run", "Show the first prompt, the number of requests and an estimate.", is_flag=True),
    option("--quiet", "Print nothing but errors.", is_flag=True),
]
ENDPOINT_OPTIONS = [
    option("--model", "Model name, as the endpoint knows it.", "NAME"),
    option("--base-url", "Address of an OpenAI-compatible endpoint.", "URL"),
    option("--api-key-env", "Environment variable with the key (`none`: no key).  [default: OPENAI_API_KEY]", "NAME"),
    option("--concurrency", "Concurrent requests.", default=32, type=click.IntRange(1, 4096)),
    option("--rpm", "Maximum requests per minute.", type=FiniteFloat(min=0, min_open=True)),
    option("--tpm", "Maximum tokens per minute.", type=FiniteFloat(min=0, min_open=True)),
    option("--timeout", "Seconds to wait for an answer.", default=600.0, type=FiniteFloat(min=0, min_open=True)),
    option("--attempts", "Maximum attempts per request.", default=8, type=click.IntRange(1, 1000)),
    option(
        "--response-format",
        "auto: json_schema, or less if the endpoint refuses it.",
        default="auto",
        type=click.Choice(["auto", "json_schema", "json_object", "text"]),
    ),
    option("--param", "Extra request field; null leaves one out. Repeatable.", "NAME=JSON", multiple=True),
]
CHECKPOINT_OPTIONS = [
    option("--checkpoint", "A model on disk (transformers) instead of an endpoint.", "PATH"),
    option("--batch-size", "Prompts per batch.", default=8, type=click.IntRange(min=1)),
    option("--device", "cpu, cuda, cuda:1.  [default: cuda if there is one]", "NAME"),
]
SCORING_OPTIONS = [
    workers_option(),
    format_option(("json", "text", "markdown")),
]


@click.command(
    "generate", cls=MultiValueCommand, short_help="Ask a model about every gold document and keep the answers."
)
@add_options(ability_options("generate"), *COMMON_OPTIONS, *ENDPOINT_OPTIONS, *CHECKPOINT_OPTIONS)
@click.pass_context
def generate_command(context: click.Context, /, **options: Any) -> None:
    """Ask a model about every gold document and keep every answer.

    \b
    Example, with a local vLLM:
      goldgate generate --gold gold.jsonl --model NAME \\
          --base-url http://127.0.0.1:8000/v1

    Writes journal.jsonl (every answer as it arrives), predictions.jsonl (for the suite's command) and generation.json
    (what was asked, what is missing, what it cost) to --out. Run the same command again to ask for missing answers.

    Exit status: 0 every document is answered, 2 some are not, or the command failed.
    """
    context.exit(_run(options, score=False))


@click.command("evaluate_api", cls=MultiValueCommand)
@add_options(ability_options("generate"), *COMMON_OPTIONS, *ENDPOINT_OPTIONS, *SCORING_OPTIONS)
@click.pass_context
def evaluate_api_command(context: click.Context, /, **options: Any) -> None:
    """Ask an OpenAI-compatible endpoint about every gold document, keep every answer, score and judge them.

    \b
    Example, with a local vLLM:
      python evaluate_api.py --gold gold.jsonl --model NAME \\
          --base-url http://127.0.0.1:8000/v1

    Run the same command again to ask for missing answers.

    Exit status: 0 all gates passed, 1 a gate failed, 2 the command failed, or answers are missing (--allow-missing).
    """
    context.exit(_run(options, score=True))


@click.command("evaluate", cls=MultiValueCommand)
@add_options(ability_options("generate"), *COMMON_OPTIONS, *CHECKPOINT_OPTIONS, *SCORING_OPTIONS)
@click.pass_context
def evaluate_checkpoint_command(context: click.Context, /, **options: Any) -> None:
    """Ask a checkpoint on disk about every gold document, keep every answer, score and judge them.

    \b
    Example:
      python evaluate.py --gold gold.jsonl --checkpoint models/mine

    Without --checkpoint, evaluate.py scores stored answers: see evaluate.py --help. Run the same command again to ask
    for missing answers.

    Exit status: 0 all gates passed, 1 a gate failed, 2 the command failed, or answers are missing (--allow-missing).
    """
    context.exit(_run(options, score=True))


def _run(options: dict[str, Any], *, score: bool) -> int:
    from goldgate.cli.generation_command import GenerateCommand

    return GenerateCommand(options, score=score).run()
