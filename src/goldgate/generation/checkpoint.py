"""Answer with a checkpoint on disk (the extra `local`: transformers), one batch of prompts at a time.

Nothing is downloaded, and no code of the checkpoint is run.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from goldgate.core.process import handle_signals
from goldgate.core.task import Message
from goldgate.errors import ConfigError, Place, missing_extra, require_extra
from goldgate.generation.answerer import Assignment, Ending
from goldgate.generation.request import ModelAnswer, ModelRequest, NoAnswer, Usage

_NEEDS_EXTRA = "answering with a checkpoint"
_ROLE_NAMES = {"system": "Instructions", "user": "Question", "assistant": "Answer"}  # without a chat template


class LocalModel:
    """A model and its tokenizer, loaded from disk."""

    def __init__(self, path: str, device: str | None) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            import torch
            import transformers
        except ModuleNotFoundError:
            raise missing_extra("local", _NEEDS_EXTRA) from None
        transformers.logging.set_verbosity_error()
        self._torch = torch
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        # With trust_remote_code unset, transformers asks whether to run the checkpoint's code, and runs it after a y.
        safely: Any = {"local_files_only": True, "trust_remote_code": False}
        try:
            config = transformers.AutoConfig.from_pretrained(path, **safely)
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, config=config, **safely)
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                path, config=config, dtype="auto", **safely
            ).to(self.device)
        except (OSError, ValueError, RuntimeError) as problem:
            raise _unusable(path, str(problem) or type(problem).__name__) from None
        self._model.eval()
        self._pad = next(
            token
            for token in (self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, 0)
            if token is not None
        )  # fmt: skip

    def answer(self, batch: Sequence[ModelRequest], parameters: Any) -> list[ModelAnswer | NoAnswer] | None:
        """An answer for each request; None if the device ran out of memory."""
        torch = self._torch
        longest = int(parameters.get("max_tokens") or 2048)
        prompts = [self.encode(request.messages) for request in batch]
        room = getattr(self._model.config, "max_position_embeddings", None)
        fitting = [prompt for prompt in prompts if room is None or len(prompt) < room]
        if fitting and room is not None:
            longest = min(longest, room - max(map(len, fitting)))
        try:
            answers = iter(self._generate(fitting, longest, batch[0], parameters) if fitting else [])
        except torch.OutOfMemoryError:
            torch.cuda.empty_cache()
            return None
        return [
            self._answer(prompt, next(answers), longest)
            if room is None or len(prompt) < room
            else NoAnswer("final", "too_long", f"the prompt has {len(prompt)} tokens, the model takes {room}")
            for prompt in prompts
        ]

    def encode(self, chat: Sequence[Message]) -> list[int]:
        """The chat as tokens, by the model's chat template or as plain text.

        What stands in a message is never read as one of the model's special tokens, so that a document
        cannot end its message: the template is laid out around marks, and the messages are put in as plain text.
        """
        if getattr(self._tokenizer, "chat_template", None):
            marks = [f"\ue000{number}\ue001" for number in range(len(chat))]
            laid_out = self._layout([m._replace(content=mark) for m, mark in zip(chat, marks, strict=True)])
            if laid_out is not None:
                return self._pieces(laid_out, {mark: m.content for m, mark in zip(chat, marks, strict=True)})
        text = "\n\n".join(f"{_ROLE_NAMES[message.role]}:\n{message.content}" for message in chat)
        first = self._tokenizer.bos_token_id
        start = [] if first is None else [first]
        return [*start, *self._plain(f"{text}\n\n{_ROLE_NAMES['assistant']}:\n")]

    def _layout(self, marked: Sequence[Message]) -> str | None:
        from jinja2 import TemplateError

        def apply(messages: Sequence[Message]) -> str:
            turns = [{"role": message.role, "content": message.content} for message in messages]
            return str(self._tokenizer.apply_chat_template(turns, tokenize=False, add_generation_prompt=True))

        try:
            return apply(marked)
        except TemplateError:  # some models know no system message: it then goes before the first question
            if marked[0].role != "system" or len(marked) < 2:
                return None
            joined = Message(marked[1].role, f"{marked[0].content}\n\n{marked[1].content}")
            try:
                return apply([joined, *marked[2:]])
            except TemplateError:
                return None

    def _pieces(self, laid_out: str, contents: dict[str, str]) -> list[int]:
        """The tokens of a chat that was laid out around marks, with the contents in their places."""
        tokens: list[int] = []
        for piece in re.split(f"({'|'.join(contents)})", laid_out):
            if piece in contents:
                tokens += self._plain(contents[piece])
            elif piece:
                tokens += self._tokenizer.encode(piece, add_special_tokens=False)
        return tokens

    def _plain(self, text: str) -> list[int]:
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        return tokens

    def _generate(
        self, prompts: list[list[int]], longest: int, first: ModelRequest, parameters: Any
    ) -> list[list[int]]:
        torch = self._torch
        width = max(len(prompt) for prompt in prompts)
        padded = [[self._pad] * (width - len(prompt)) + prompt for prompt in prompts]  # on the left: it goes on right
        seen = [[0] * (width - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        temperature = float(parameters.get("temperature") or 0.0)
        options: dict[str, Any] = {"max_new_tokens": longest, "pad_token_id": self._pad, "do_sample": temperature > 0}
        if temperature > 0:
            options["temperature"] = temperature
            torch.manual_seed((first.seed or 0) ^ int(first.key[:12], 16))  # the same batch says the same again
        else:
            options |= {"temperature": None, "top_p": None, "top_k": None}
        with torch.inference_mode():
            output = self._model.generate(
                input_ids=torch.tensor(padded, device=self.device),
                attention_mask=torch.tensor(seen, device=self.device),
                **options,
            )
        return [row[width:].tolist() for row in output]

    def _answer(self, prompt: list[int], tokens: list[int], longest: int) -> ModelAnswer:
        ends = self._model.generation_config.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends]) | {self._tokenizer.eos_token_id}
        length = next((number for number, token in enumerate(tokens) if token in stops), None)
        text = self._tokenizer.decode(tokens[:length], skip_special_tokens=True)
        used = len(tokens) if length is None else length + 1
        finish = "length" if length is None else "stop"
        return ModelAnswer(text, Usage(len(prompt), min(used, longest)), finish)


def _unusable(path: str, problem: str) -> ConfigError:
    reason, advice = problem.splitlines()[0][:200], None
    if "trust_remote_code" in problem:
        reason = "it can only be loaded with Python code of its own (auto_map in one of its files)"
        advice = "goldgate never runs a checkpoint's code: serve it with a program that may, and use evaluate_api.py"
    message = "the checkpoint cannot be loaded"
    return ConfigError("checkpoint.unusable", message, place=Place(path), found=reason, advice=advice)


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

    def get_ready(self) -> None:
        """Require the extra."""
        require_extra("local", _NEEDS_EXTRA, "torch", "transformers")

    def answer(self, assignment: Assignment) -> Ending:
        model = LocalModel(self.path, self.device)
        requests, callbacks = assignment.ladder.current, assignment.callbacks
        callbacks.on_message(f"{requests.plan.model} on {model.device}, {self.batch_size} prompts at a time")
        assignment.journal.begin(requests)
        stopped: list[int] = []

        def stop(number: int) -> None:
            if stopped:
                raise KeyboardInterrupt
            stopped.append(number)
            callbacks.on_message("stopping after this batch; Ctrl-C again stops at once")

        with handle_signals(stop):
            return self._answer_batches(model, assignment, stopped)

    def advice(self, message: str) -> str | None:
        return None

    def _answer_batches(self, model: LocalModel, assignment: Assignment, stopped: list[int]) -> Ending:
        plan, budget, callbacks = assignment.ladder.plan, assignment.budget, assignment.callbacks
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
                callbacks.on_message(f"out of memory: going on with {size} prompts at a time")
                continue
            for request, outcome in zip(batch, outcomes or [_OUT_OF_MEMORY], strict=True):
                _store_outcome(assignment, request, outcome, time.perf_counter() - began)
            at += len(batch)
            callbacks.on_progress(assignment.counts)
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


def _next_batch(assignment: Assignment, at: int, size: int) -> list[ModelRequest]:
    """Requests of one seed, from the next one on."""
    positions = assignment.pending[at : at + size]
    make, seed = assignment.ladder.current.make, positions[0][1]
    return [make(assignment.question(*position), seed) for position in positions if position[1] == seed]


def _store_outcome(
    assignment: Assignment, request: ModelRequest, outcome: ModelAnswer | NoAnswer, seconds: float
) -> None:
    journal, counts = assignment.journal, assignment.counts
    if isinstance(outcome, NoAnswer):
        journal.failure(request, outcome, 1)
        counts.failed += 1
        return
    journal.answer(request, outcome, 1, seconds)
    counts.answered += 1
    if outcome.usage is not None:
        assignment.budget.settle(Usage(), outcome.usage)
        counts.update_spending(assignment.budget)
