"""What a suite asks a model: a task. The code that asks knows its questions and records, not their subject."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple, Protocol, get_args

AnswerFormat = Literal["json_schema", "json_object", "text"]
ANSWER_FORMATS: tuple[AnswerFormat, ...] = get_args(AnswerFormat)  # each one asks less of a model than the one before


class Message(NamedTuple):
    """One message of a chat."""

    role: str
    content: str


class Question(NamedTuple):
    """What a model is asked about one document: the document's id, and the chat."""

    id: str
    messages: list[Message]


class AnswerSchema(NamedTuple):
    """The JSON Schema of an answer, under the name that the model is told."""

    name: str
    schema: Mapping[str, Any]


class Task(Protocol):
    """Documents, and how each is asked about. The same task gives the same questions, whenever it is asked for them."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """Everything that determines the questions, in names and digests: another value here is another question."""

    @property
    def signature(self) -> Mapping[str, object]:
        """The settings in short, for the signature of a score: a name and the start of a digest."""

    @property
    def answer_schema(self) -> AnswerSchema | None:
        """What an answer must look like; None where no JSON Schema describes it."""

    @property
    def first_format(self) -> AnswerFormat:
        """The format that is tried first by default: `text` if JSON alone leaves no room for the answer."""

    def __len__(self) -> int:
        """How many documents there are."""

    def id(self, position: int) -> str:
        """The id of the document at this position, without making its question."""

    def question(self, position: int, seed: int | None) -> Question:
        """What is asked about the document at this position; a seed may choose worked examples."""

    def prediction(self, document_id: str, response: str) -> dict[str, Any]:
        """The record that the suite reads as this model's answer."""

    def close(self) -> None:
        """Close the files."""


class ScoredTask(Task, Protocol):
    """A task whose answers are scored against gold."""

    @property
    def headline(self) -> str:
        """The metric that is named where there is room for one."""

    def perfect_prediction(self, position: int) -> dict[str, Any]:
        """The record of an answer that is right throughout: what a missing answer could have been at best."""

    def record(self, position: int) -> bytes:
        """The gold record of the document, as it is stored, on one line."""

    def scored_inputs(self) -> dict[str, list[str]]:
        """The inputs to score the answers by, beside the answers."""


class JudgingTask(Task, Protocol):
    """A task whose answers are a judge's labels."""

    def labels(self, predictions: Iterable[Mapping[str, Any]], model: str) -> Iterable[Mapping[str, Any]]:
        """A label for every item, read from the stored answers; null where there is none."""
