"""What the extraction suite asks a model: each gold document, with a prompt, the event schema and worked examples.

The gold is checked once before anything is paid for, then read again document by document. Examples are chosen from a
training file by a seed, never the document asked about.
"""

from __future__ import annotations

import hashlib
import heapq
import logging
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import orjson

from goldgate.core.suite import Options, Plan
from goldgate.core.task import AnswerFormat, AnswerSchema, Question
from goldgate.errors import ConfigError, Place
from goldgate.generation.gold_task import Documents, GoldTask, open_documents
from goldgate.generation.prompt import Example, Template, find_template, prompt_messages, require_room
from goldgate.readers.gold_files import GoldOpener, require_stored_gold
from goldgate.readers.records import read_records
from goldgate.suites.extraction.events.answer_form import form_of
from goldgate.suites.extraction.events.event_schema import EventSchema, derived_note, load_event_schema
from goldgate.suites.extraction.gold_commands import derive_event_schema, parse_records
from goldgate.suites.extraction.records import Gold, parse_gold
from goldgate.suites.extraction.settings import ResponseSettings

BUILT_IN = ("en", "en-thought", "zh", "zh-thought")


def load_template(name: str) -> Template:
    """A built-in template by its name, or a file of the user's own."""
    return find_template(name, BUILT_IN, resources.files("goldgate.suites.extraction") / "prompts")


def schema_values(schema: EventSchema) -> dict[str, str]:
    """What an event schema gives to a template: the same for all documents."""
    lines = (f"{_json(name)}: {_json(list(roles))}" for name, roles in schema.role_order.items())
    return {"schema": "\n".join(lines), "json_schema": _json(schema.json_schema())}


def _json(value: object) -> str:
    return orjson.dumps(value).decode()


def load_examples(
    path: str | Path, count: int, seed: int, dialect: str | None = None, schema: EventSchema | None = None
) -> list[Example]:
    """Choose `count` records of a training file, and a spare one; `schema` has the roles of flat events."""
    best: dict[str, tuple[bytes, Example]] = {}  # by text, so that no text is an example twice
    with closing(GoldOpener(dialect)(path, "train")) as file:
        for _, gold in parse_records(read_records(file), schema):
            if gold.text is None:
                continue
            rank = hashlib.sha256(f"{seed}:{gold.id}".encode()).digest()
            if len(best) > count and gold.text not in best:
                worst = max(best, key=lambda text: best[text][0])
                if best[worst][0] <= rank:
                    continue
                del best[worst]
            if gold.text not in best or rank < best[gold.text][0]:
                best[gold.text] = rank, _example(gold)
    ranked = [example for _, example in heapq.nsmallest(count + 1, best.values(), key=lambda entry: entry[0])]
    if len(ranked) < count:
        raise ConfigError(
            "train.too_few",
            f"{count} examples are asked for, and the training file has fewer",
            place=Place(str(path)),
            found=f"{len(ranked)} different texts",
        )
    return ranked


def _example(gold: Gold) -> Example:
    events: list[dict[str, Any]] = []
    lines: list[str] = []
    for event in gold.event_list:
        arguments = [{"role": a["role"], "argument": a["argument"]} for a in event["arguments"]]
        arguments = [argument for argument in arguments if argument["argument"] is not None]
        events.append({"event_type": event["event_type"], "arguments": arguments})
        lines.append(str(event["event_type"]))
        for argument in arguments:
            value = argument["argument"]
            lines.append(f"{argument['role']}: {', '.join(map(str, value)) if isinstance(value, list) else value}")
    return Example(gold.text or "", orjson.dumps({"events": events}).decode(), "\n".join(lines) or "—")


def load_documents(
    paths: Sequence[str | Path], dialect: str | None = None, schema: EventSchema | None = None
) -> Documents[Gold]:
    """Read and check the gold; flat events are read by the roles of `schema`."""
    return open_documents(
        paths, GoldOpener(dialect), lambda record, identity: parse_gold(record.value, identity, record.data, schema)
    )


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
class ExtractionTask(GoldTask[Gold]):
    """Asks for the events of each document. `examples` are by seed: one more than needed, to have a spare."""

    headline = "strict_f1"
    schema: EventSchema
    examples: Mapping[int | None, Sequence[Example]]
    train: str | None = None  # digest of the file that examples are taken from
    other_form: bool = False  # the protocol declares answers in another form than the event schema describes
    options: TaskOptions = TaskOptions(())

    @property
    def settings(self) -> dict[str, Any]:
        shots = self.options.few_shot
        return {
            "prompt": self.prompt,
            "schema": self.schema.digest if self.schema.is_derived else self.schema.sha256,
            "few_shot": {"examples": shots, "train": self.train} if shots else None,
        }

    @property
    def signature(self) -> dict[str, object]:
        return {**super().signature, "shots": self.options.few_shot}

    @property
    def answer_schema(self) -> AnswerSchema:
        return AnswerSchema("events", self.schema.json_schema(strict=True))

    @property
    def first_format(self) -> AnswerFormat:
        """A thought before the JSON can only be written where the format leaves room for it."""
        return "text" if self.template.wants_thought or self.other_form else "json_schema"

    def question(self, position: int, seed: int | None) -> Question:
        gold = self.documents[position]
        text = gold.text or ""
        # A training record with that very text is passed over.
        examples = [example for example in self.examples[seed] if example.text != text][: self.options.few_shot]
        return Question(gold.id, prompt_messages(self.template, self._schema_values, text, examples))

    def perfect_prediction(self, position: int) -> dict[str, Any]:
        gold = self.documents[position]
        return {"id": gold.id, "events": [*gold.event_list]}

    def scored_inputs(self) -> dict[str, list[str]]:
        dialect = [] if self.options.dialect is None else [self.options.dialect]
        schema = [] if self.options.schema is None else [self.options.schema]
        return {"gold": [*self.options.gold], "schema": schema, "dialect": dialect}

    @cached_property
    def _schema_values(self) -> dict[str, str]:
        return schema_values(self.schema)


def open_task(plan: Plan, seeds: Sequence[int | None], response_format: str, options: Options) -> ExtractionTask:
    """`goldgate generate`: the task that the options of the command describe."""
    task_options = {name: options[name] for name in ("gold", "schema", "prompt", "train", "few_shot", "dialect")}
    return load_task(TaskOptions(**task_options), seeds, plan.settings.response, response_format)


def load_task(
    options: TaskOptions, seeds: Sequence[int | None], response: ResponseSettings, response_format: str = "auto"
) -> ExtractionTask:
    """Read and check everything that the questions are made of; what contradicts itself is a ConfigError."""
    if options.few_shot and options.train is None:
        raise ConfigError("train.missing", "--few-shot needs a training file", advice="name it with --train")
    template = load_template(options.prompt)
    other_form = form_of(response).other_layout
    if options.few_shot and template.assistant is None:
        raise ConfigError(
            "prompt.no_assistant",
            f"the prompt {template.name} has no part that says how an example is answered",
            expected="a part `--- assistant ---` with {answer}",
        )
    require_room(template, response_format)
    if other_form and response_format == "json_schema":
        raise ConfigError(
            "response_format.other_form",
            "metrics.response declares another form of answers than --response-format json_schema would demand",
            advice="use --response-format text, json_object or auto, or a protocol without that form",
        )
    schema = _load_schema(options)
    examples: dict[int | None, Sequence[Example]] = dict.fromkeys(seeds, ())
    digest = None
    if options.few_shot and options.train is not None:
        for seed in examples:
            examples[seed] = load_examples(options.train, options.few_shot, seed or 0, options.dialect, schema)
        with open(options.train, "rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    return ExtractionTask(
        schema=schema,
        template=template,
        examples=examples,
        train=digest,
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
