"""Small gold, an event schema, and a run of the whole line in this process."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import pytest

from goldgate.generation import limits
from goldgate.generation.answerer import RunCallbacks
from goldgate.generation.limits import EndpointLimits
from goldgate.generation.openai import OpenAIAnswerer
from goldgate.generation.run import GenerationOptions, GenerationResult, PreparedRun, generate, open_journal, prepare
from goldgate.generation.secret import Secret
from goldgate.generation.transport import EndpointOptions
from goldgate.suites.extraction.settings import ExtractionSettings
from goldgate.suites.extraction.task import TaskOptions, load_task
from goldgate.suites.plan import load_protocol
from tests.generation.server import Behaviour, Running, load_gold

SCHEMA = {"event_types": {"质押": {"roles": ["质押方", "质权方"]}, "Strike": {"roles": ["Union", "Place"]}}}


@pytest.fixture(autouse=True)
def _no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name == "OPENAI_API_KEY":
            monkeypatch.delenv(name)


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """A 25th of the pauses between attempts; those that a server asks for stay as they are."""
    monkeypatch.setattr(limits, "FIRST_PAUSE", limits.FIRST_PAUSE / 25)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endpoint that never answers is given up after a 25th of the time."""
    monkeypatch.setattr(limits, "FIRST_SECONDS", limits.FIRST_SECONDS / 25)


class Data:
    """A folder with gold and an event schema; `start` starts an endpoint that answers with that gold."""

    def __init__(self, folder: Path, documents: int) -> None:
        self.folder = folder
        self.documents = documents
        self.gold, self.schema, self.out = folder / "gold.jsonl", folder / "schema.json", folder / "out"
        lines = [json.dumps(record(number), ensure_ascii=False) for number in range(documents)]
        self.gold.write_text("\n".join(lines) + "\n", "utf-8")
        self.schema.write_text(json.dumps(SCHEMA), "utf-8")

    def behaviour(self, **changes: Any) -> Behaviour:
        return Behaviour(gold=load_gold(self.gold), **changes)

    def prepare(self, url: str, secret: Secret | None = None, **changes: Any) -> PreparedRun:
        """What a command with these options prepares; an option of the task, the answerer or the run by its name."""
        protocol = load_protocol(changes.pop("protocol", None)).protocol
        of_task = {name: changes.pop(name) for name in ("prompt", "train", "few_shot") if name in changes}
        limits = changes.pop("limits", EndpointLimits(concurrency=8, attempts=4))
        endpoint = EndpointOptions(url, limits, changes.pop("timeout", 5.0), secret=secret or Secret(None))
        answerer = OpenAIAnswerer(endpoint)
        options = GenerationOptions(self.out, **{"model": "m", **changes})
        task = TaskOptions([str(self.gold)], str(self.schema), **of_task)
        response, asked_for = protocol.section("metrics", ExtractionSettings).response, options.response_format
        return prepare(
            options, answerer, protocol.generation, lambda: load_task(task, options.all_seeds, response, asked_for)
        )

    def generate(self, url: str, secret: Secret | None = None, **changes: Any) -> tuple[GenerationResult, list[str]]:
        """Ask in this process; what came of it, and what was said."""
        said: list[str] = []
        prepared = self.prepare(url, secret, **changes)
        try:
            with open_journal(prepared) as journal:
                return generate(prepared, journal, RunCallbacks(said.append)), said
        finally:
            prepared.task.close()

    def journal(self, kind: str) -> list[dict[str, Any]]:
        lines = (self.out / "journal.jsonl").read_bytes().splitlines()
        return [line for line in map(json.loads, lines) if line["kind"] == kind]


def record(number: int) -> dict[str, Any]:
    union, place = f"Union {number}", f"Town {number}"
    arguments = [{"role": "Union", "argument": union}, {"role": "Place", "argument": place}]
    text = f"{union} went on strike in {place} on day {number}."
    return {"id": f"d{number}", "text": text, "events": [{"event_type": "Strike", "arguments": arguments}]}


@pytest.fixture
def make_data(tmp_path: Path) -> Callable[[int], Data]:
    return lambda documents: Data(tmp_path, documents)


@pytest.fixture
def data(tmp_path: Path) -> Data:
    return Data(tmp_path, 12)


@dataclass
class Asked:
    """A run whose endpoint is still there."""

    data: Data
    server: Running
    outcome: GenerationResult
    said: list[str]

    def __post_init__(self) -> None:
        self.summary = self.outcome.summaries[0]
        self.requests = self.server.seen.requests

    def again(self, **changes: Any) -> Asked:
        return Asked(self.data, self.server, *self.data.generate(self.server.url, **changes))


Ask = Callable[..., Asked]
Serve = Callable[[Behaviour], Running]
MakeData = Callable[[int], Data]


@pytest.fixture
def ask(make_data: MakeData, serve: Serve) -> Ask:
    """Ask about so many documents: how the endpoint behaves, and the options of `Data.generate`, by their names."""

    def start(documents: int = 12, **changes: Any) -> Asked:
        behaviour = {each.name: changes.pop(each.name) for each in fields(Behaviour) if each.name in changes}
        data = make_data(documents)
        server = serve(data.behaviour(**behaviour))
        return Asked(data, server, *data.generate(server.url, **changes))

    return start


@pytest.fixture
def serve() -> Iterator[Callable[[Behaviour], Running]]:
    running: list[Running] = []

    def start(behaviour: Behaviour) -> Running:
        server = Running(behaviour)
        running.append(server)
        return server.__enter__()

    yield start
    for server in running:
        server.__exit__()
