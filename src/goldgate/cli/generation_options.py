"""Options of the commands that ask a model, and the task, answerer, limits and stop rule that they describe."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from goldgate.cli.options import (
    ability_options,
    choose_ability,
    format_option,
    out_option,
    protocol_option,
    workers_option,
)
from goldgate.errors import ConfigError
from goldgate.files.address import is_url
from goldgate.files.writing import is_utf8
from goldgate.suites import abilities_for

if TYPE_CHECKING:
    from goldgate.core.plan import Plan
    from goldgate.core.task import Task
    from goldgate.generation.answerer import Answerer, StopRule
    from goldgate.generation.journal import DocumentShard
    from goldgate.generation.run import GenerationOptions
    from goldgate.suites import SuiteAbility

MAX_COUNT = 1_000_000_000  # tokens, attempts: more is a slip of the hand
_COUNT = re.compile(r"[0-9]{1,5}")
_64_BITS = range(-(2**63), 2**63)  # what JSON libraries agree on


class FiniteFloat(click.FloatRange):
    """A number that is one: neither infinity nor NaN."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a finite number", param, ctx)
        return number


COMMON_OPTIONS = [
    ability_options("generate"),
    protocol_option("Settings, gates and prices, as YAML."),
    out_option("The journal and everything made from it.  [default: out/MODEL]"),
    click.option("--seeds", metavar="N,N,...", help="Ask once for each seed; it is sent, and chooses the examples."),
    click.option("--temperature", type=FiniteFloat(min=0), default=0.0, show_default=True, help="0: no sampling."),
    click.option(
        "--max-tokens",
        type=click.IntRange(1, MAX_COUNT),
        default=2048,
        show_default=True,
        help="Longest answer, in tokens.",
    ),
    click.option(
        "--max-total-tokens", type=click.IntRange(min=1), help="Stop before all requests exceed so many tokens."
    ),
    click.option("--max-cost", metavar="AMOUNT", help="Stop before it costs more, by the protocol's prices."),
    click.option(
        "--shard", metavar="I/N", help="Ask only the Ith of N parts of the documents, for one of N processes."
    ),
    click.option("--merge", is_flag=True, help="Ask nothing: put together what all shards in --out were answered."),
    click.option("--allow-missing", is_flag=True, help="Missing answers do not make the exit status 2."),
    click.option("--dry-run", is_flag=True, help="Show the first prompt, the number of requests and an estimate."),
    click.option("--quiet", is_flag=True, help="Print nothing but errors."),
]
ENDPOINT_OPTIONS = [
    click.option("--model", metavar="NAME", help="The model's name, as the endpoint knows it."),
    click.option(
        "--base-url",
        multiple=True,
        metavar="URL...",
        help="Of the endpoint, such as http://127.0.0.1:8000/v1, or of several with the same model.",
    ),
    click.option(
        "--api-key-env",
        multiple=True,
        metavar="NAME...",
        help="The environment variable with the key: one for all endpoints, or one for each (`none`: no key)."
        "  [default: OPENAI_API_KEY]",
    ),
    click.option(
        "--concurrency",
        type=click.IntRange(1, 4096),
        default=32,
        show_default=True,
        help="Requests at the same time, to each endpoint.",
    ),
    click.option("--rpm", type=FiniteFloat(min=0, min_open=True), help="Requests a minute, at most, to each endpoint."),
    click.option("--tpm", type=FiniteFloat(min=0, min_open=True), help="Tokens a minute, at most, of each endpoint."),
    click.option(
        "--timeout", type=FiniteFloat(min=0, min_open=True), default=600.0, show_default=True, help="Seconds."
    ),
    click.option(
        "--attempts", type=click.IntRange(1, 1000), default=8, show_default=True, help="Maximum attempts per request."
    ),
    click.option(
        "--response-format",
        type=click.Choice(["auto", "json_schema", "json_object", "text"]),
        default="auto",
        show_default=True,
        help="auto: json_schema, and less if the endpoint refuses.",
    ),
    click.option(
        "--param", multiple=True, metavar="NAME=JSON", help="A field of the request; null leaves one out. Repeatable."
    ),
]
CHECKPOINT_OPTIONS = [
    click.option("--checkpoint", metavar="PATH", help="A model on disk (transformers) instead of an endpoint."),
    click.option(
        "--batch-size", type=click.IntRange(min=1), default=8, show_default=True, help="Prompts at the same time."
    ),
    click.option("--device", metavar="NAME", help="cpu, cuda, cuda:1.  [default: cuda if there is one]"),
]
SCORING_OPTIONS = [
    workers_option(),
    format_option(("json", "text", "markdown")),
]
STOPPING_OPTIONS = [
    click.option(
        "--stop-when-decided", is_flag=True, help="Ask in a random order, and only until every gate is decided."
    ),
    click.option(
        "--most-predictions",
        type=click.IntRange(1, MAX_COUNT),
        help="With it: no answer predicts more in a document. For gates on precision and F1.",
    ),
    click.option("--order-seed", type=int, default=0, show_default=True, help="With it: the seed of the order."),
]


@dataclass(frozen=True, slots=True)
class GenerationChoices:
    """What a command line comes to."""

    options: GenerationOptions
    able: SuiteAbility  # what asks, and scores the answers
    inputs: dict[str, Any]  # of the task
    answerer: Answerer
    protocol: str | None


def parse_choices(given: dict[str, Any]) -> GenerationChoices:
    """Everything that was chosen; a contradiction is an error of click's."""
    from goldgate.generation.journal import SHARDS_FOLDER
    from goldgate.generation.run import GenerationOptions

    shard = parse_shard(given["shard"])
    _check_shard_options(given)
    if is_url(given["out"]):
        raise click.UsageError(
            "--out must be a folder of this machine: the journal in it grows line by line. Upload it later."
        )
    answerer, model = _choose_answerer(given)
    out = Path(given["out"]) if given["out"] else default_folder(model)
    options = GenerationOptions(
        out=out if shard is None else out / SHARDS_FOLDER / shard.folder,
        model=model,
        seeds=parse_seeds(given["seeds"]),
        parameters=parse_parameters(given["temperature"], given["max_tokens"], given.get("param", ())),
        response_format=given.get("response_format", "auto"),
        max_cost=parse_money(given["max_cost"]),
        max_total_tokens=given["max_total_tokens"],
        shard=shard,
    )
    names = {each.name for _, ability in abilities_for("generate") for each in ability.inputs}
    inputs = {name: value for name, value in given.items() if name in names}
    able = choose_ability("generate", given["suite"], inputs)
    return GenerationChoices(options, able, inputs, answerer, given["protocol"])


def _check_shard_options(given: dict[str, Any]) -> None:
    """What goes with a part of the documents, and with putting parts together."""
    for option, name in (("shard", "--shard"), ("merge", "--merge")):
        if given[option] and given.get("stop_when_decided"):
            raise click.UsageError(f"--stop-when-decided hears all answers in one order: it does not go with {name}")
    if given["merge"] and given["shard"]:
        raise click.UsageError("--merge is for all shards: leave out --shard")
    if given["merge"] and given["dry_run"]:
        raise click.UsageError("--merge asks nothing: leave out --dry-run")


def _choose_answerer(given: dict[str, Any]) -> tuple[Answerer, str]:
    """Who answers, and the model's name: the one place where an endpoint and a checkpoint are told apart."""
    checkpoint, addresses, model = given.get("checkpoint"), given.get("base_url", ()), given.get("model")
    named = (checkpoint is not None) + bool(addresses)
    if named == 2 or (named == 0 and not given["merge"]):
        names = "--base-url (with --model) or --checkpoint" if "checkpoint" in given else "--base-url and --model"
        raise click.UsageError(f"name who is to answer: {names}")
    if checkpoint is not None:
        from goldgate.generation.checkpoint import CheckpointAnswerer

        name = check_text(model or Path(checkpoint).resolve().name, "--model")
        return CheckpointAnswerer(checkpoint, given["batch_size"], given["device"]), name
    if not model:
        raise click.UsageError("--base-url needs --model" if addresses else "--merge needs --model")
    return _endpoints(given, addresses), check_text(model, "--model")


def _endpoints(given: dict[str, Any], addresses: tuple[str, ...]) -> Answerer:
    from goldgate.generation.openai import EndpointOptions, OpenAIAnswerer
    from goldgate.generation.openai.pacing import EndpointLimits

    keys: tuple[str | None, ...] = given["api_key_env"] or (None,)
    keys = keys * len(addresses) if len(keys) == 1 else keys
    if len(keys) != len(addresses):
        raise click.UsageError(
            f"{len(keys)} --api-key-env for {len(addresses)} --base-url: name one key for all of them, or one for each"
        )
    limits = EndpointLimits(given["concurrency"], given["rpm"], given["tpm"], given["attempts"])
    endpoints = tuple(
        EndpointOptions(address, limits, given["timeout"], key) for address, key in zip(addresses, keys, strict=True)
    )
    fleet = len(endpoints) != 1 or bool(given["shard"] or given["merge"])
    return OpenAIAnswerer(endpoints, fleet)


def parse_shard(text: str | None) -> DocumentShard | None:
    """`3/16` as the third of sixteen parts."""
    from goldgate.generation.journal import MAX_SHARDS, DocumentShard

    if text is None:
        return None
    number, slash, of = text.partition("/")
    if slash and _COUNT.fullmatch(number) and _COUNT.fullmatch(of) and 1 <= int(number) <= int(of) <= MAX_SHARDS:
        return DocumentShard(int(number), int(of))
    raise click.BadParameter(
        f"expected I/N, such as 3/16: the number of a part, from 1, and how many there are, at most {MAX_SHARDS:,}",
        param_hint="--shard",
    )


def parse_seeds(text: str | None) -> tuple[int, ...]:
    """`3407,3408` as numbers, each once."""
    if text is None:
        return ()
    try:
        seeds = tuple(int(part) for part in text.split(","))
        if not all(seed in _64_BITS for seed in seeds):
            raise ValueError
    except ValueError:  # also a number of thousands of digits
        raise click.BadParameter(
            "expected whole numbers of at most 64 bits with commas between them", param_hint="--seeds"
        ) from None
    if len(set(seeds)) < len(seeds):
        raise click.BadParameter("duplicate seed", param_hint="--seeds")
    return seeds


def parse_parameters(temperature: float, max_tokens: int, given: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a request beside model and messages. What is not JSON is taken as text."""
    import orjson

    parameters: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
    for entry in given:
        name, equals, value = entry.partition("=")
        if not equals or name in ("model", "messages", "stream", "n", "response_format"):
            raise click.BadParameter(
                f"{entry}: expected NAME=JSON, and no field of goldgate's own", param_hint="--param"
            )
        try:
            parameters[name] = orjson.loads(value)
        except ValueError:
            parameters[name] = check_text(value, "--param")
        check_text(name, "--param")
    return parameters


def check_text(text: str, option: str) -> str:
    """A text that can be sent: a terminal may give bytes that are no UTF-8."""
    if not is_utf8(text):
        raise click.BadParameter("it is not UTF-8", param_hint=option)
    return text


def parse_money(text: str | None) -> Decimal | None:
    """An amount, exactly as it is written."""
    try:
        amount = Decimal(text) if text is not None else None
    except InvalidOperation:
        amount = Decimal(-1)
    if amount is not None and not (amount.is_finite() and amount >= 0):
        raise click.BadParameter("expected an amount such as 2.50", param_hint="--max-cost")
    return amount


def default_folder(model: str) -> Path:
    """out/MODEL, with only such characters as every file system takes."""
    return Path("out", re.sub(r"[^\w.-]+", "-", model).strip(".-") or "model")


def stop_rule(plan: Plan, task: Task, options: GenerationOptions, given: dict[str, Any]) -> StopRule | None:
    """What the options ask for; None where all documents are to be asked. What cannot be watched is a ConfigError."""
    if not given.get("stop_when_decided"):
        return None
    if len(options.seeds) > 1:
        raise ConfigError(
            "stop.several_seeds",
            "--stop-when-decided asks one run of a model, and several seeds are several",
            advice="name one seed, or leave out --stop-when-decided",
        )
    from goldgate.generation.answerer import StopRule
    from goldgate.stats.early_stopping import GateWatch, early_bounds

    most = given["most_predictions"]
    counts = task.counter(plan.settings)
    bounds = early_bounds(plan, counts.measures, counts.unanswered(), most)
    watch = GateWatch(bounds, len(task))
    return StopRule(watch, counts, given["order_seed"], bool(given["allow_missing"]), most)
