"""A model on disk and its tokenizer (the extra `local`: transformers): chats in, answers out, a batch at a time.

Nothing is downloaded and no code of the checkpoint is run.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from goldgate.core.missing_extra import missing_extra
from goldgate.core.task import Message
from goldgate.errors import ConfigError, Place
from goldgate.generation.outcome import Answer, NoAnswer, Usage
from goldgate.generation.plan import Request

_ROLE_NAMES = {"system": "Instructions", "user": "Question", "assistant": "Answer"}  # without a chat template


class LocalModel:
    """A model and its tokenizer, loaded from disk."""

    def __init__(self, path: str, device: str | None) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            import torch
            import transformers
        except ModuleNotFoundError:
            raise missing_extra("local", "answering with a checkpoint") from None
        transformers.logging.set_verbosity_error()
        self._torch = torch
        self.device = device or ("cuda" if torch.cuda.is_available() else "cpu")
        try:
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(path, local_files_only=True)
            self._model: Any = transformers.AutoModelForCausalLM.from_pretrained(
                path, local_files_only=True, dtype="auto"
            ).to(self.device)
        except (OSError, ValueError, RuntimeError) as problem:
            raise ConfigError(
                "checkpoint.unusable",
                "the checkpoint cannot be loaded",
                place=Place(path),
                found=str(problem).splitlines()[0][:200] if str(problem) else type(problem).__name__,
            ) from None
        self._model.eval()
        self._pad = next(
            token
            for token in (self._tokenizer.pad_token_id, self._tokenizer.eos_token_id, 0)
            if token is not None
        )  # fmt: skip

    def answer(self, batch: Sequence[Request], parameters: Any) -> list[Answer | NoAnswer] | None:
        """An answer for each request; None if the device ran out of memory."""
        torch = self._torch
        longest = int(parameters.get("max_tokens") or 2048)
        prompts = [self.encode(request.messages) for request in batch]
        room = getattr(self._model.config, "max_position_embeddings", None)
        outcomes: list[Answer | NoAnswer | None] = [None] * len(batch)
        if room is not None:
            for number, prompt in enumerate(prompts):
                if len(prompt) >= room:
                    detail = f"the prompt has {len(prompt)} tokens, the model takes {room}"
                    outcomes[number] = NoAnswer("final", "too_long", detail)
        asked = [number for number, outcome in enumerate(outcomes) if outcome is None]
        if asked:
            width = max(len(prompts[number]) for number in asked)
            longest = min(longest, room - width) if room is not None else longest
            try:
                said = self._generate([prompts[number] for number in asked], longest, batch[0], parameters)
            except torch.OutOfMemoryError:
                torch.cuda.empty_cache()
                return None
            for number, tokens in zip(asked, said, strict=True):
                outcomes[number] = self._answer(prompts[number], tokens, longest)
        return [outcome for outcome in outcomes if outcome is not None]

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
        return [*self._start(), *self._plain(f"{text}\n\n{_ROLE_NAMES['assistant']}:\n")]

    def _layout(self, marked: Sequence[Message]) -> str | None:
        from jinja2 import TemplateError

        def apply(messages: Sequence[Message]) -> str:
            listed = [{"role": message.role, "content": message.content} for message in messages]
            return str(self._tokenizer.apply_chat_template(listed, tokenize=False, add_generation_prompt=True))

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
        tokens: list[int] = []
        rest = laid_out
        while rest:
            at = {mark: rest.find(mark) for mark in contents if mark in rest}
            if not at:
                tokens += self._tokenizer.encode(rest, add_special_tokens=False)
                break
            mark = min(at, key=lambda name: at[name])
            if at[mark]:
                tokens += self._tokenizer.encode(rest[: at[mark]], add_special_tokens=False)
            tokens += self._plain(contents[mark])
            rest = rest[at[mark] + len(mark) :]
        return tokens

    def _plain(self, text: str) -> list[int]:
        tokens: list[int] = self._tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        return tokens

    def _start(self) -> list[int]:
        first = self._tokenizer.bos_token_id
        return [first] if first is not None else []

    def _generate(self, prompts: list[list[int]], longest: int, first: Request, parameters: Any) -> list[list[int]]:
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

    def _answer(self, prompt: list[int], tokens: list[int], longest: int) -> Answer:
        ends = self._model.generation_config.eos_token_id
        stops = set(ends if isinstance(ends, list) else [ends]) | {self._tokenizer.eos_token_id}
        length = next((number for number, token in enumerate(tokens) if token in stops), None)
        said = tokens if length is None else tokens[:length]
        finish = "stop" if length is not None else "length"
        text = self._tokenizer.decode(said, skip_special_tokens=True)
        return Answer(text, Usage(len(prompt), min(len(said) + (length is not None), longest)), finish)
