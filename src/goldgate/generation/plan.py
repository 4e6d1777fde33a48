"""A plan is everything that determines the requests of a run; each request has a key that is a hash of it all.

Another prompt, model, endpoint, parameter, response format, document or seed is another key,
so that answers to different questions can lie in one journal and are never taken for each other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import orjson

from goldgate.errors import ConfigError
from goldgate.generation.budget import A_MESSAGE, ASSUMED_OUTPUT, estimate_tokens
from goldgate.generation.documents import Document
from goldgate.generation.examples import ExamplePool
from goldgate.generation.prompt import Message, Template, messages, schema_values
from goldgate.suites.extraction.events.event_schema import EventSchema

PLAN_VERSION = 1  # raised whenever the same settings may give another request

Format = Literal["json_schema", "json_object", "text"]
FORMATS: tuple[Format, ...] = get_args(Format)  # each one asks less of the endpoint than the one before
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
    """What all requests of a run share. `source` says who answers: an endpoint or a checkpoint."""

    source: Mapping[str, str]
    model: str
    template: Template
    schema: EventSchema
    shared: Mapping[str, str]
    parameters: Mapping[str, Any]
    few_shot: int
    train: str | None
    response_format: Literal["auto", "json_schema", "json_object", "text"]
    examples: Mapping[int | None, ExamplePool]  # by seed; its keys are the seeds of the run
    other_form: bool = False  # the protocol declares answers in another form than the event schema describes

    @property
    def seeds(self) -> tuple[int | None, ...]:
        return tuple(self.examples)

    @property
    def first_format(self) -> Format:
        """What is tried first. A thought before the JSON can only be written where the format leaves room for it."""
        if self.response_format != "auto":
            return self.response_format
        room_for_text = self.template.wants_thought or self.other_form
        return "text" if room_for_text or "endpoint" not in self.source else "json_schema"

    @property
    def formats(self) -> tuple[Format, ...]:
        """Every format that it may be asked in, the first one first."""
        first = self.first_format
        return FORMATS[FORMATS.index(first) :] if self.response_format == "auto" else (first,)

    @property
    def output_limit(self) -> int:
        """The most tokens that an answer may have."""
        limits = [self.parameters[name] for name in OUTPUT_LIMITS if isinstance(self.parameters.get(name), int)]
        return max(limits, default=ASSUMED_OUTPUT)

    def chat(self, document: Document, seed: int | None) -> list[Message]:
        """What a document is asked with, in any response format."""
        return messages(self.template, self.shared, document.text, self.examples[seed].without(document.text))

    def settings(self) -> dict[str, Any]:
        """The plan in words, as it is stored; all but the response format."""
        return {
            "version": PLAN_VERSION,
            **self.source,
            "model": self.model,
            "prompt": {"name": self.template.name, "sha256": self.template.sha256},
            "schema": self.schema.sha256,
            "parameters": dict(self.parameters),
            "few_shot": {"examples": self.few_shot, "train": self.train} if self.few_shot else None,
        }

    def base(self) -> str:
        """A hash of the plan without its response format."""
        return _hash(orjson.dumps(self.settings(), option=orjson.OPT_SORT_KEYS))


def make_plan(
    *,
    source: Mapping[str, str],
    model: str,
    template: Template,
    schema: EventSchema,
    parameters: Mapping[str, Any],
    examples: Mapping[int | None, ExamplePool],
    few_shot: int = 0,
    train: str | None = None,
    response_format: Literal["auto", "json_schema", "json_object", "text"] = "auto",
    other_form: bool = False,
) -> Plan:
    """Put a plan together; what contradicts itself is a ConfigError."""
    if few_shot and template.assistant is None:
        raise ConfigError(
            "prompt.no_assistant",
            f"the prompt {template.name} has no part that says how an example is answered",
            expected="a part `--- assistant ---` with {answer}",
        )
    if template.wants_thought and response_format in ("json_schema", "json_object"):
        raise ConfigError(
            "response_format.no_room",
            f"the prompt {template.name} asks for a thought, which --response-format {response_format} forbids",
            advice="use --response-format text (or auto), or a prompt without a thought",
        )
    if other_form and response_format == "json_schema":
        raise ConfigError(
            "response_format.other_form",
            "metrics.response declares another form of answers than --response-format json_schema would demand",
            advice="use --response-format text, json_object or auto, or a protocol without that form",
        )
    shared = schema_values(schema)
    return Plan(
        source, model, template, schema, shared, parameters, few_shot, train, response_format, examples, other_form
    )


class Requests:
    """Makes the requests of a plan in one response format."""

    def __init__(self, plan: Plan, form: Format) -> None:
        self.plan = plan
        self.form = form
        self.identity = _hash(f"{plan.base()}:{form}".encode())
        fixed: dict[str, Any] = {"model": plan.model, **_format_field(form, plan.schema), **plan.parameters}
        self._shared = {
            seed: {name: value for name, value in {"seed": seed, **fixed}.items() if value is not None}
            for seed in plan.seeds
        }
        self._tail = {seed: b"," + orjson.dumps(fields)[1:] for seed, fields in self._shared.items()}

    def make(self, document: Document, seed: int | None) -> Request:
        """The request for one document. It is the same, key and bytes, whenever it is made."""
        chat = self.plan.chat(document, seed)
        encoded = encode_chat(chat)
        estimate = estimate_tokens(encoded) + A_MESSAGE * len(chat)
        body = b'{"messages":' + encoded + self._tail[seed]
        return Request(self.key(document.id, seed, encoded), document.id, seed, chat, body, estimate)

    def key(self, document_id: str, seed: int | None, encoded: bytes) -> str:
        """The key of the request with this chat."""
        return _hash(self.identity.encode(), orjson.dumps([document_id, seed]), encoded)


def encode_chat(chat: list[Message]) -> bytes:
    """A chat as it is sent."""
    return orjson.dumps([{"role": message.role, "content": message.content} for message in chat])


def response_schema(schema: EventSchema) -> dict[str, Any]:
    """The event schema's JSON Schema as strict structured output wants it: every property is a required one.

    What satisfies it satisfies `EventSchema.json_schema()`: only what may be left out there is left out here.
    """
    strict: dict[str, Any] = _all_required(schema.json_schema())
    strict.pop("$schema", None)
    return strict


def _format_field(form: Format, schema: EventSchema) -> dict[str, Any]:
    if form == "text":
        return {}
    if form == "json_object":
        return {"response_format": {"type": "json_object"}}
    described = {"name": "events", "strict": True, "schema": response_schema(schema)}
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def _all_required(value: Any) -> Any:
    if isinstance(value, list):
        return [_all_required(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _all_required(item) for name, item in value.items()}
    if value.get("type") == "object" and isinstance(value.get("required"), list):
        kept["properties"] = {name: kept["properties"][name] for name in value["required"]}
    return kept


def _hash(*parts: bytes) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))  # so that no two lists of parts run together
        digest.update(part)
    return digest.hexdigest()[:32]
