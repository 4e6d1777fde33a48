"""What the extraction suite asks a model: every gold document, with a prompt, the event schema and worked examples."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from goldgate.core.task import AnswerSchema, Format, Question
from goldgate.errors import ConfigError
from goldgate.suites.extraction.documents import Documents, load_documents
from goldgate.suites.extraction.events.event_schema import EventSchema, load_event_schema
from goldgate.suites.extraction.events.form import form_of
from goldgate.suites.extraction.prompts.examples import ExamplePool, load_examples, no_examples
from goldgate.suites.extraction.prompts.template import Template, load_template, messages, schema_values
from goldgate.suites.extraction.settings import ResponseSettings

_ONE_LINE = bytes.maketrans(b"\r\n", b"  ")


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What a user chooses: files, a prompt, and how many worked examples it shows."""

    gold: Sequence[str]
    schema: str
    prompt: str = "en"
    train: str | None = None
    few_shot: int = 0
    dialect: str | None = None  # of gold and train, where it is named


@dataclass(frozen=True)
class ExtractionTask:
    """Asks for the events of each document. `examples` are by seed."""

    documents: Documents
    schema: EventSchema
    template: Template
    examples: Mapping[int | None, ExamplePool]
    few_shot: int = 0
    train: str | None = None  # digest of the file that examples are taken from
    other_form: bool = False  # the protocol declares answers in another form than the event schema describes

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "prompt": {"name": self.template.name, "sha256": self.template.sha256},
            "schema": self.schema.sha256,
            "few_shot": {"examples": self.few_shot, "train": self.train} if self.few_shot else None,
        }

    @property
    def signature(self) -> dict[str, object]:
        return {"prompt": f"{self.template.name}@{self.template.sha256[:12]}", "shots": self.few_shot}

    @property
    def answer_schema(self) -> AnswerSchema:
        return AnswerSchema("events", response_schema(self.schema))

    @property
    def first_format(self) -> Format:
        """A thought before the JSON can only be written where the format leaves room for it."""
        return "text" if self.template.wants_thought or self.other_form else "json_schema"

    @property
    def headline(self) -> str:
        return "strict_f1"

    def __len__(self) -> int:
        return len(self.documents)

    def id(self, position: int) -> str:
        return self.documents[position].id

    def question(self, position: int, seed: int | None) -> Question:
        document = self.documents[position]
        examples = self.examples[seed].without(document.text)
        return Question(document.id, messages(self.template, self._schema_values, document.text, examples))

    def prediction(self, document_id: str, response: str) -> dict[str, Any]:
        return {"id": document_id, "response": response}

    def perfect_prediction(self, position: int) -> dict[str, Any]:
        document = self.documents[position]
        return {"id": document.id, "events": document.events}

    def record(self, position: int) -> bytes:
        # A record of an array may have line ends; inside a string they are escaped.
        return self.documents.data(position).translate(_ONE_LINE)

    def close(self) -> None:
        self.documents.close()

    @cached_property
    def _schema_values(self) -> dict[str, str]:
        return schema_values(self.schema)


def load_task(
    options: TaskOptions, seeds: Sequence[int | None], response: ResponseSettings, response_format: str = "auto"
) -> ExtractionTask:
    """Read and check everything that the questions are made of; what contradicts itself is a ConfigError."""
    if options.few_shot and options.train is None:
        raise ConfigError("train.missing", "--few-shot needs a training file", advice="name it with --train")
    template = load_template(options.prompt)
    other_form = form_of(response).other_layout
    _check_template(template, options.few_shot, response_format)
    if other_form and response_format == "json_schema":
        raise ConfigError(
            "response_format.other_form",
            "metrics.response declares another form of answers than --response-format json_schema would demand",
            advice="use --response-format text, json_object or auto, or a protocol without that form",
        )
    train, schema = options.train if options.few_shot else None, load_event_schema(options.schema)
    return ExtractionTask(
        schema=schema,
        template=template,
        examples={
            seed: load_examples(train, options.few_shot, seed or 0, options.dialect, schema)
            if train is not None
            else no_examples()
            for seed in seeds
        },
        few_shot=options.few_shot,
        train=_file_hash(train) if train is not None else None,
        other_form=other_form,
        documents=load_documents(options.gold, options.dialect, schema),  # last: it keeps files open
    )


def response_schema(schema: EventSchema) -> dict[str, Any]:
    """The event schema's JSON Schema as strict structured output wants it: every property is a required one.

    What satisfies it satisfies `EventSchema.json_schema()`: only what may be left out there is left out here.
    """
    strict: dict[str, Any] = _all_required(schema.json_schema())
    strict.pop("$schema", None)
    return strict


def _check_template(template: Template, few_shot: int, response_format: str) -> None:
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


def _all_required(value: Any) -> Any:
    if isinstance(value, list):
        return [_all_required(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {name: _all_required(item) for name, item in value.items()}
    if value.get("type") == "object" and isinstance(value.get("required"), list):
        kept["properties"] = {name: kept["properties"][name] for name in value["required"]}
    return kept


def _file_hash(path: str) -> str:
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
