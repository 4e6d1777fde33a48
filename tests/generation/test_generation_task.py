"""The seam: any suite's task can be asked, by any answerer, through the same journal."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from goldgate.core.task import AnswerFormat, AnswerSchema, Message, Question, Task
from goldgate.errors import ConfigError
from goldgate.generation.answerer import Answerer, Assignment, Ending, RunCallbacks
from goldgate.generation.checkpoint import CheckpointAnswerer
from goldgate.generation.openai import OpenAIAnswerer
from goldgate.generation.request import ModelAnswer, Usage
from goldgate.generation.run import GenerationOptions, GenerationResult, PreparedRun, generate, open_journal, prepare
from goldgate.generation.secret import Secret
from goldgate.generation.transport import EndpointOptions
from goldgate.pipeline import evaluate_suite
from goldgate.protocol import GenerationSettings, Price
from goldgate.suites.extraction.task import ExtractionTask
from tests.generation.raw import Raw, completion, http
from tests.toy.suite import SUITE

SCHEMA = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
ANSWER = AnswerSchema("answer", SCHEMA)
TOWNS = {"q1": ("Vanholt lies by the sea.", "Vanholt"), "q2": ("Melomarsh has a mill.", "Melomarsh")}


@dataclass(frozen=True)
class TownQuestions:
    """Question answering: which town does a text speak of? The toy suite judges the answers."""

    documents: Mapping[str, tuple[str, str]]
    answer_schema: AnswerSchema | None = ANSWER
    first_format: AnswerFormat = "json_schema"

    settings: ClassVar[dict[str, Any]] = {"task": {"name": "towns", "sha256": "0123456789abcdef"}}
    signature: ClassVar[dict[str, object]] = {"task": "towns@0123456789ab"}
    headline: ClassVar[str] = "exact_match"

    def __len__(self) -> int:
        return len(self.documents)

    def id(self, position: int) -> str:
        return list(self.documents)[position]

    def question(self, position: int, seed: int | None) -> Question:
        identity = list(self.documents)[position]
        text = f"{self.documents[identity][0]} Which town is it?"
        return Question(identity, [Message("system", "Answer the question."), Message("user", text)])

    def prediction(self, document_id: str, response: str) -> dict[str, Any]:
        said = json.loads(response).get("answer") if response.startswith("{") else response
        return {"id": document_id, "answer": said, "citations": [document_id]}

    def perfect_prediction(self, position: int) -> dict[str, Any]:
        identity = list(self.documents)[position]
        return {"id": identity, "answer": self.documents[identity][1], "citations": [identity]}

    def record(self, position: int) -> bytes:
        return b"{}"

    def scored_inputs(self) -> dict[str, list[str]]:
        return {}

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class FirstWord:
    """Answers with the first word of the question."""

    name: str = "first-word"

    takes_formats: ClassVar[bool] = False

    def identify(self) -> Mapping[str, str]:
        return {"program": self.name}

    def get_ready(self) -> None:
        pass

    def answer(self, assignment: Assignment) -> Ending:
        requests, journal = assignment.ladder.current, assignment.journal
        journal.begin(requests)
        for position, seed in assignment.pending:
            request = requests.make(assignment.question(position, seed), seed)
            said = request.messages[-1].content.split()[0]
            journal.answer(request, ModelAnswer(said, Usage(4, 1)), 1, 0.0)
            assignment.counts.answered += 1
        return Ending("done")

    def advice(self, message: str) -> str | None:
        return None


def ask(out: Path, task: Task, answerer: Answerer, **changes: Any) -> tuple[GenerationResult, PreparedRun, list[str]]:
    said: list[str] = []
    settings = GenerationSettings(prices={"m": Price(input=1_000_000)})  # type: ignore[arg-type]
    options = GenerationOptions(out, "m", parameters={"max_tokens": 64}, **changes)
    prepared = prepare(options, answerer, settings, lambda: task)
    with open_journal(prepared) as journal:
        return generate(prepared, journal, RunCallbacks(said.append)), prepared, said


def predictions(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "predictions.jsonl").read_bytes().splitlines()]


def test_another_suites_task_is_asked_through_an_endpoint(tmp_path: Path) -> None:
    def reply(number: int, head: bytes, body: bytes) -> bytes:
        asked = json.loads(body)["messages"][-1]["content"]
        town = next(answer for text, answer in TOWNS.values() if text in asked)
        return http(completion(json.dumps({"answer": town})))

    with Raw(reply) as server:
        answerer = OpenAIAnswerer(EndpointOptions(server.url, secret=Secret(None)))
        outcome, _, _ = ask(tmp_path, TownQuestions(TOWNS), answerer)
        again, _, said = ask(tmp_path, TownQuestions(TOWNS), answerer)
        assert len(server.bodies) == 2
    sent = [json.loads(body) for body in server.bodies]
    assert {one["response_format"]["json_schema"]["name"] for one in sent} == {"answer"}
    assert sent[0]["response_format"]["json_schema"]["schema"] == SCHEMA
    assert predictions(tmp_path) == [TownQuestions(TOWNS).perfect_prediction(position) for position in range(2)]
    assert outcome.summary["signature"] == "model:m|task:towns@0123456789ab|format:json_schema|max_tokens:64"
    assert outcome.summary["settings"]["task"]["name"] == "towns"
    assert outcome.summary["cost"] == "10.00"  # 2 answers x 5 tokens of input, 1 a token
    assert (again.summary, said) == (outcome.summary, ["2 of 2 answers are in the journal; asking for 0"])


def test_the_suite_judges_what_its_task_was_answered(tmp_path: Path) -> None:
    """One answer is right, one is none of the towns: exact_match 1/2, and both name their source."""
    replies = {"Vanholt lies": "vanholt", "Melomarsh has": "Ellery"}

    def reply(number: int, head: bytes, body: bytes) -> bytes:
        asked = json.loads(body)["messages"][-1]["content"]
        return http(completion(json.dumps({"answer": next(said for text, said in replies.items() if text in asked)})))

    with Raw(reply) as server:
        ask(tmp_path, TownQuestions(TOWNS), OpenAIAnswerer(EndpointOptions(server.url, secret=Secret(None))))
    golds = [
        {"id": identity, "question": text, "answer": town, "sources": [identity]}
        for identity, (text, town) in TOWNS.items()
    ]
    (tmp_path / "gold.json").write_text(json.dumps(golds), encoding="utf-8")
    inputs = {"gold": [tmp_path / "gold.json"], "predictions": [tmp_path / "predictions.jsonl"]}
    evaluation = evaluate_suite(SUITE, inputs)
    assert (evaluation["exact_match"], evaluation["citation_f1"], evaluation.passed) == (0.5, 1.0, True)


def test_another_answerer_needs_nothing_but_the_contract(tmp_path: Path) -> None:
    outcome, prepared, _ = ask(tmp_path, TownQuestions(TOWNS), FirstWord())
    assert [record["answer"] for record in predictions(tmp_path)] == ["Vanholt", "Melomarsh"]
    assert prepared.plan.formats == ("text",)
    assert outcome.summary["settings"]["program"] == "first-word"
    other, _, said = ask(tmp_path, TownQuestions(TOWNS), FirstWord("another"))
    assert "what differs: program" in said[0]
    assert other.summaries[0].answered == 2


def test_a_task_without_a_json_schema_is_not_asked_for_one(tmp_path: Path) -> None:
    task = TownQuestions(TOWNS, None, "json_object")
    _, prepared, _ = ask(tmp_path, task, FirstWord())
    with pytest.raises(ConfigError) as caught:
        ask(tmp_path, task, FirstWord(), response_format="json_schema")
    assert caught.value.code == "response_format.no_schema"
    with Raw(lambda *_: http(completion())) as server:
        _, prepared, _ = ask(tmp_path, task, OpenAIAnswerer(EndpointOptions(server.url, secret=Secret(None))))
    assert prepared.plan.formats == ("json_object", "text")
    assert json.loads(server.bodies[0])["response_format"] == {"type": "json_object"}


def test_ours_keep_the_contracts() -> None:
    """Checked by mypy: each of ours is what the contract says."""
    answerers: list[Answerer] = [
        OpenAIAnswerer(EndpointOptions("http://a/v1")),
        CheckpointAnswerer("folder"),
        FirstWord(),
    ]
    tasks: list[type[Task]] = [ExtractionTask, TownQuestions]
    assert [answerer.takes_formats for answerer in answerers] == [True, False, False]
    assert all(hasattr(task, "perfect_prediction") for task in tasks)
