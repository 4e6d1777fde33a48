"""The options of a command that asks a model, as a run takes them: its task, answerer and limits."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

import click
import orjson

from goldgate.files.writing import is_utf8
from goldgate.generation.answerer import Answerer
from goldgate.generation.checkpoint import CheckpointAnswerer
from goldgate.generation.limits import EndpointLimits
from goldgate.generation.openai import OpenAIAnswerer
from goldgate.generation.run import GenerationOptions
from goldgate.generation.transport import EndpointOptions

_64_BITS = range(-(2**63), 2**63)  # what JSON libraries agree on

USUAL_ADDRESSES = """
Usual addresses:
  --base-url https://api.openai.com/v1   OpenAI; key in OPENAI_API_KEY
  --base-url http://127.0.0.1:8000/v1    vLLM
  --base-url http://127.0.0.1:8080/v1    llama.cpp (llama-server)
  --base-url http://127.0.0.1:11434/v1   Ollama"""


def parse_generation_options(params: dict[str, Any]) -> tuple[GenerationOptions, Answerer]:
    """The options of a run, and what answers; a contradiction is an error of click's."""
    answerer, model = _choose_answerer(params)
    out = Path(params["out"]) if params["out"] else default_folder(model)
    options = GenerationOptions(
        out=out,
        model=model,
        seeds=parse_seeds(params["seeds"]),
        parameters=parse_parameters(params["temperature"], params["max_tokens"], params.get("param", ())),
        response_format=params.get("response_format", "auto"),
        max_cost=parse_money(params["max_cost"]),
        max_total_tokens=params["max_total_tokens"],
    )
    return options, answerer


def _choose_answerer(params: dict[str, Any]) -> tuple[Answerer, str]:
    """What answers, an endpoint or a checkpoint, and the model's name."""
    checkpoint, address, model = params.get("checkpoint"), params.get("base_url"), params.get("model")
    if (checkpoint is None) == (address is None):
        names = "either --base-url and --model, or --checkpoint" if "checkpoint" in params else "--base-url and --model"
        raise click.UsageError(f"Give {names}.{'' if address else USUAL_ADDRESSES}")
    if checkpoint is not None:
        name = check_text(model or Path(checkpoint).resolve().name, "--model")
        return CheckpointAnswerer(checkpoint, params["batch_size"], params["device"]), name
    if not model:
        raise click.UsageError("--base-url needs --model")
    limits = EndpointLimits(params["concurrency"], params["rpm"], params["tpm"], params["attempts"])
    endpoint = EndpointOptions(params["base_url"], limits, params["timeout"], params["api_key_env"])
    return OpenAIAnswerer(endpoint), check_text(model, "--model")


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


def parse_parameters(temperature: float, max_tokens: int, entries: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a request beside model and messages. What is not JSON is taken as text."""
    parameters: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
    for entry in entries:
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
