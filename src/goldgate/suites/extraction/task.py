"""What the extraction suite asks a model: each gold document, with a prompt, the event schema and worked examples.

The gold is checked once before anything is paid for, then read again document by document.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.core.measure import RatioCounter
from goldgate.core.suite import Options, Plan
from goldgate.core.task import AnswerFormat, AnswerSchema, Question, derived_schema_error
from goldgate.errors import ConfigError, InputError, Place
from goldgate.generation.prompt import Template, prompt_messages, require_room
from goldgate.readers.gold_files import GoldOpener, require_stored_gold
from goldgate.readers.id_index import IdIndex, index_files
from goldgate.readers.join import join_indexes
from goldgate.readers.records import LINE_ENDS_TO_BLANKS
from goldgate.suites.extraction.convert import derive_event_schema
from goldgate.suites.extraction.events.answer_form import form_of
from goldgate.suites.extraction.events.event_schema import EventSchema, derived_note, load_event_schema
from goldgate.suites.extraction.prompts import ExamplePool, load_examples, load_template, schema_values
from goldgate.suites.extraction.records import parse_gold, read_gold, source_text
from goldgate.suites.extraction.sample import Facts, Gold, Sample
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings, ResponseSettings


class Document(NamedTuple):
    """A document of the gold: its id, its source text, and the events that an answer should find."""

    id: str
    text: str
    events: list[Any]


class Documents:
    """All documents of the gold, by position. What is kept in memory is an index."""

    def __init__(self, index: IdIndex, schema: EventSchema | None = None) -> None:
        self._index = index
        self._schema = schema

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, position: int) -> Document:
        record = self._index.record(position)
        events = read_gold(record.value, None, self._schema).event_list
        return Document(record.require_id(), str(source_text(record.value)), events)

    def data(self, position: int) -> bytes:
        """The record as it is stored, on one line."""
        return self._index.data(position)

    def gold(self, position: int) -> Gold:
        """The record, parsed."""
        record = self._index.record(position)
        return parse_gold(record.value, record.require_id(), record.data, self._schema)

    def close(self) -> None:
        self._index.store.close()


def load_documents(
    paths: Sequence[str | Path], dialect: str | None = None, schema: EventSchema | None = None
) -> Documents:
    """Read and check the gold; a malformed record, an id twice or a record without text is an InputError.

    Flat events are read by the roles of `schema`.
    """
    require_stored_gold(paths)
    index = index_files(paths, "gold", GoldOpener(dialect))
    join_indexes(index, index)  # a duplicate id is an error of its own
    for position in range(len(index)):
        record = index.record(position)
        identity = record.require_id()
        with record.locate_errors():
            gold = parse_gold(record.value, identity, record.data, schema)
            if gold.text is None:
                raise InputError(
                    "gold.no_text",
                    "a model can only be asked about a record that has a text",
                    place=Place(field="text"),
                    expected="a string that is not empty",
                )
    return Documents(index, schema)


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """What a user chooses: files, a prompt, and how many worked examples it shows."""

    gold: Sequence[str]
    schema: str | None = None
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
    options: TaskOptions = TaskOptions(())

    @property
    def settings(self) -> dict[str, Any]:
        return {
            "prompt": {"name": self.template.name, "sha256": self.template.sha256},
            "schema": self.schema.digest if self.schema.is_derived else self.schema.sha256,
            "few_shot": {"examples": self.few_shot, "train": self.train} if self.few_shot else None,
        }

    @property
    def signature(self) -> dict[str, object]:
        return {"prompt": f"{self.template.name}@{self.template.sha256[:12]}", "shots": self.few_shot}

    @property
    def answer_schema(self) -> AnswerSchema:
        return AnswerSchema("events", response_schema(self.schema))

    @property
    def first_format(self) -> AnswerFormat:
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
        return Question(document.id, prompt_messages(self.template, self._schema_values, document.text, examples))

    def prediction(self, document_id: str, response: str) -> dict[str, Any]:
        return {"id": document_id, "response": response}

    def perfect_prediction(self, position: int) -> dict[str, Any]:
        document = self.documents[position]
        return {"id": document.id, "events": document.events}

    def record(self, position: int) -> bytes:
        # A record of an array may have line ends; inside a string they are escaped.
        return self.documents.data(position).translate(LINE_ENDS_TO_BLANKS)

    def counter(self, settings: ExtractionSettings) -> EventCounter:
        if self.options.schema is None:
            raise derived_schema_error("an event schema", "goldgate schema")
        return EventCounter(self.documents, settings, self.schema)

    def scored_inputs(self, asked: str | None) -> dict[str, list[str]]:
        dialect = [] if self.options.dialect is None or asked is not None else [self.options.dialect]  # asked is ours
        gold = list(self.options.gold) if asked is None else [asked]
        return {
            "gold": gold,
            "schema": [] if self.options.schema is None else [self.options.schema],
            "dialect": dialect,
        }

    def close(self) -> None:
        self.documents.close()

    @cached_property
    def _schema_values(self) -> dict[str, str]:
        return schema_values(self.schema)


def open_task(plan: Plan, seeds: Sequence[int | None], response_format: str, options: Options) -> ExtractionTask:
    """`goldgate generate`: the task that the options of the command describe."""
    chosen = {name: options[name] for name in ("gold", "schema", "prompt", "train", "few_shot", "dialect")}
    return load_task(TaskOptions(**chosen), seeds, plan.settings.response, response_format)


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
    train = options.train if options.few_shot else None
    schema = _load_schema(options)
    examples = dict.fromkeys(seeds, ExamplePool((), 0))
    if train is not None:
        examples = {
            seed: load_examples(train, options.few_shot, seed or 0, options.dialect, schema) for seed in examples
        }
    return ExtractionTask(
        schema=schema,
        template=template,
        examples=examples,
        few_shot=options.few_shot,
        train=_file_hash(train) if train is not None else None,
        other_form=other_form,
        options=options,
        documents=load_documents(options.gold, options.dialect, schema),  # last: it keeps files open
    )


def _load_schema(options: TaskOptions) -> EventSchema:
    if options.schema is not None:
        return load_event_schema(options.schema)
    require_stored_gold(options.gold)
    schema = derive_event_schema(options.gold, options.dialect)
    logging.getLogger("goldgate").warning("%s", derived_note(schema))
    return schema


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
    require_room(template, response_format)


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


class EventCounter(RatioCounter[Facts]):
    """Counts by table, for the document at a position of the gold."""

    def __init__(self, documents: Documents, settings: ExtractionSettings, schema: EventSchema) -> None:
        self.documents = documents
        self.scorer = Scorer(settings, schema)
        super().__init__(self.scorer.measures, len(documents))

    def facts(self, position: int, response: str | None) -> Facts:
        return self.scorer.facts(Sample(self.documents.gold(position), response))
