"""A plan is everything that determines the requests of a run; each request has a key that is a hash of it all.

Another task, model, endpoint, parameter, response format, document or seed is another key,
so that answers to different questions can lie in one journal and are never taken for each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import orjson

from goldgate.core.task import FORMATS, Format, Message, Question, Task
from goldgate.errors import ConfigError
from goldgate.generation.budget import ASSUMED_OUTPUT, TOKENS_AROUND_MESSAGE, estimate_tokens

PLAN_VERSION = 1  # raised whenever the same settings may give another request

ResponseFormat = Literal["auto", "json_schema", "json_object", "text"]
OUTPUT_LIMITS = ("max_tokens", "max_completion_tokens", "max_new_tokens")


@dataclass(frozen=True, slots=True)
class Request:
    """One question, ready to be sent."""

    key: str
    id: str
    seed: int | None
    messages: list[Message]
    body: bytes
    estimate: int  # of its tokens


@dataclass(frozen=True, slots=True)
class Plan:
    """What all requests of a run share. `source` says who answers, in the words that are stored."""

    task: Task
    source: Mapping[str, str]
    model: str
    parameters: Mapping[str, Any]
    seeds: tuple[int | None, ...]
    formats: tuple[Format, ...]  # every format that it may be asked in, the first one first
    also: tuple[Mapping[str, str], ...] = ()  # other sources whose answers count too

    @property
    def output_limit(self) -> int:
        """The most tokens that an answer may have."""
        limits = [self.parameters[name] for name in OUTPUT_LIMITS if isinstance(self.parameters.get(name), int)]
        return max(limits, default=ASSUMED_OUTPUT)

    def settings(self) -> dict[str, Any]:
        """The plan in words, as it is stored; all but the response format."""
        return {
            "version": PLAN_VERSION,
            **self.source,
            "model": self.model,
            **self.task.settings,
            "parameters": dict(self.parameters),
        }

    def others(self) -> list[Plan]:
        """The same plan for each of the other sources."""
        return [replace(self, source=source, also=()) for source in self.also]

    def base(self) -> str:
        """A hash of the plan without its response format."""
        return _hash(orjson.dumps(self.settings(), option=orjson.OPT_SORT_KEYS))


def make_plan(
    task: Task,
    source: Mapping[str, str],
    model: str,
    parameters: Mapping[str, Any],
    *,
    seeds: tuple[int | None, ...] = (None,),
    response_format: ResponseFormat = "auto",
    takes_formats: bool = True,
    also: Sequence[Mapping[str, str]] = (),
) -> Plan:
    """Put a plan together. An answerer that takes no formats is asked for text, unless one is named."""
    if response_format == "json_schema" and task.answer_schema is None:
        raise ConfigError(
            "response_format.no_schema",
            "--response-format json_schema needs a JSON Schema, and this task has none",
            advice="use --response-format json_object, text or auto",
        )
    if response_format != "auto":
        formats: tuple[Format, ...] = (response_format,)
    else:
        formats = FORMATS[FORMATS.index(task.first_format if takes_formats else "text") :]
    return Plan(task, source, model, parameters, seeds, formats, tuple(also))


class Requests:
    """Makes the requests of a plan in one response format."""

    def __init__(self, plan: Plan, form: Format) -> None:
        self.plan = plan
        self.form = form
        self.identity = _hash(f"{plan.base()}:{form}".encode())
        fixed: dict[str, Any] = {"model": plan.model, **_format_field(form, plan.task), **plan.parameters}
        self._tail: dict[int | None, bytes] = {}
        for seed in plan.seeds:
            fields = {name: value for name, value in {"seed": seed, **fixed}.items() if value is not None}
            self._tail[seed] = b"," + orjson.dumps(fields)[1:]

    def make(self, question: Question, seed: int | None) -> Request:
        """The request for one question. It is the same, key and bytes, whenever it is made."""
        chat = question.messages
        encoded = encode_chat(chat)
        estimate = estimate_tokens(encoded) + TOKENS_AROUND_MESSAGE * len(chat)
        body = b'{"messages":' + encoded + self._tail[seed]
        return Request(self.key(question.id, seed, encoded), question.id, seed, chat, body, estimate)

    def key(self, document_id: str, seed: int | None, encoded: bytes) -> str:
        """The key of the request with this chat."""
        return _hash(self.identity.encode(), orjson.dumps([document_id, seed]), encoded)


def encode_chat(chat: list[Message]) -> bytes:
    """A chat as it is sent."""
    return orjson.dumps([{"role": message.role, "content": message.content} for message in chat])


def _format_field(form: Format, task: Task) -> dict[str, Any]:
    if form == "text":
        return {}
    schema = task.answer_schema
    if form == "json_object" or schema is None:
        return {"response_format": {"type": "json_object"}}
    described = {"name": schema.name, "strict": True, "schema": schema.schema}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))  # so that no two lists of parts run together
        digest.update(part)
    return digest.hexdigest()[:32]
