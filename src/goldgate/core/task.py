"""What a suite asks a model: a task. Whoever asks knows its questions and its records, and nothing of their subject."""

from __future__ import annotations

from collections.abc import Mapping
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
        """The same in short, for the one line that stands beside a score: a name and the start of a digest."""

    @property
    def answer_schema(self) -> AnswerSchema | None:
        """What an answer must look like; None where no JSON Schema describes it."""

    @property
    def first_format(self) -> AnswerFormat:
        """What is tried first if nobody chooses: `text` where JSON alone leaves no room for what is asked."""

    @property
    def headline(self) -> str:
        """The metric that is named where there is room for one."""

    def __len__(self) -> int:
        """How many documents there are."""

    def id(self, position: int) -> str:
        """Of the document at this position: what its question is called, without making it."""

    def question(self, position: int, seed: int | None) -> Question:
        """What is asked about the document at this position; a seed may choose worked examples."""

    def prediction(self, document_id: str, response: str) -> dict[str, Any]:
        """The record that the suite reads as this model's answer."""

    def perfect_prediction(self, position: int) -> dict[str, Any]:
        """The record of an answer that is right throughout: what a missing answer could have been at best."""

    def record(self, position: int) -> bytes:
        """The gold record of the document, as it is stored, on one line."""

    def close(self) -> None:
        """Let go of the files."""
