"""A checkpoint on disk as an answerer: in batches, through the same journal as an endpoint."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from goldgate.errors import ConfigError, Place
from goldgate.generation.answerers.answerer import Assignment, Ending
from goldgate.generation.answerers.ending_signals import ending_signals
from goldgate.generation.answerers.local_model import LocalModel
from goldgate.generation.counts import Listener
from goldgate.generation.outcome import Answer, NoAnswer, Usage
from goldgate.generation.plan import Request

_OUT_OF_MEMORY = NoAnswer("final", "out_of_memory", "the device has too little memory for this prompt")


@dataclass(frozen=True, slots=True)
class CheckpointAnswerer:
    """A folder with a model. Ctrl-C ends asking after the batch; a second one at once."""

    path: str
    batch_size: int = 8
    device: str | None = None

    takes_formats: ClassVar[bool] = False

    def identify(self) -> dict[str, str]:
        return {"checkpoint": checkpoint_hash(self.path)}

    def also(self) -> tuple[()]:
        return ()

    def get_ready(self) -> None:
        pass

    def answer(self, assignment: Assignment) -> Ending:
        model = LocalModel(self.path, self.device)
        requests, listener = assignment.ladder.current, assignment.listener
        listener.say(f"{requests.plan.model} on {model.device}, {self.batch_size} prompts at a time")
        assignment.journal.begin(requests.identity, requests.plan.base(), requests.form, requests.plan.settings())
        with _stopped_by_signals(listener) as stopped:
            return self._answer_batches(model, assignment, stopped)

    def advice(self, message: str) -> str | None:
        return None

    def _answer_batches(self, model: LocalModel, assignment: Assignment, stopped: list[int]) -> Ending:
        plan, budget, listener = assignment.ladder.plan, assignment.budget, assignment.listener
        at, size = 0, self.batch_size
        while at < len(assignment.pending) and not stopped:
            batch = _next_batch(assignment, at, size)
            expected = Usage(sum(request.estimate for request in batch), len(batch) * plan.output_limit)
            if budget.exceeded(expected) is not None:
                return Ending("budget", f"the next batch could exceed the cap of {budget.describe_caps()}")
            began = time.perf_counter()
            outcomes = model.answer(batch, plan.parameters)
            if outcomes is None and len(batch) > 1:  # out of memory
                size = max(1, len(batch) // 2)
                listener.say(f"out of memory: going on with {size} prompts at a time")
                continue
            for request, outcome in zip(batch, outcomes or [_OUT_OF_MEMORY], strict=True):
                _keep(assignment, request, outcome, time.perf_counter() - began)
            at += len(batch)
            listener.on_progress(assignment.counts)
        number = stopped[0] if stopped else None
        return Ending("interrupted" if at < len(assignment.pending) else "done", signal=number)


def checkpoint_hash(path: str) -> str:
    """A hash of every file of a checkpoint: another checkpoint under the same name is another model."""
    folder = Path(path)
    if not os.path.isfile(folder / "config.json"):  # Path.is_file fails where a name is too long to be one
        raise ConfigError(
            "checkpoint.missing",
            "not a checkpoint",
            place=Place(path),
            expected="a folder with config.json, weights and a tokenizer",
        )
    digest = hashlib.sha256()
    for file in sorted(file for file in folder.rglob("*") if file.is_file()):
        with open(file, "rb") as stream:
            content = hashlib.file_digest(stream, "sha256").hexdigest()
        digest.update(f"{file.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()


@contextmanager
def _stopped_by_signals(listener: Listener) -> Iterator[list[int]]:
    """The signals that came: after the first the batch is finished, the second is a KeyboardInterrupt."""
    stopped: list[int] = []

    def stop(number: int, _: object) -> None:
        if stopped:
            raise KeyboardInterrupt
        stopped.append(number)
        listener.say("stopping after this batch; Ctrl-C again stops at once")

    before = {number: signal.signal(number, stop) for number in ending_signals()}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _next_batch(assignment: Assignment, at: int, size: int) -> list[Request]:
    """Requests of one seed, from the next one on."""
    positions = assignment.pending[at : at + size]
    make, seed = assignment.ladder.current.make, positions[0][1]
    return [make(assignment.question(*position), seed) for position in positions if position[1] == seed]


def _keep(assignment: Assignment, request: Request, outcome: Answer | NoAnswer, seconds: float) -> None:
    journal, counts, identity = assignment.journal, assignment.counts, assignment.ladder.current.identity
    if isinstance(outcome, NoAnswer):
        journal.failure(request, identity, outcome, 1)
        counts.failed += 1
        return
    journal.answer(request, identity, outcome, 1, seconds)
    counts.answered += 1
    if outcome.usage is not None:
        assignment.budget.settle(Usage(), outcome.usage)
        counts.spent(assignment.budget)
