"""Prompts: template files with checked placeholders. A document is filled in so that it cannot leave its place."""

from __future__ import annotations

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import NamedTuple

from goldgate.core.task import Message
from goldgate.errors import ConfigError, Place, did_you_mean
from goldgate.files.reading import read_text_file

Parts = Mapping[str, Mapping[str, bool]]  # the placeholders of each part; those marked True must be there
PARTS: Parts = {
    "system": {"schema": False, "json_schema": False},
    "user": {"text": True, "tag": False, "schema": False, "json_schema": False},
    "assistant": {"answer": True, "thought": False},
}
TAG = "source-text"

_HEAD = re.compile(r"^--- *([a-z]+) *---[ \t]*$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"\{(\{[a-z_]+\})\}|\{([a-z_]+)\}")
# What chat servers read as the border between two messages, also inside of one.
_CONTROL = re.compile(
    r"<(?=[|｜][^<>\s]{1,60}[|｜]>)|<(?=/?(?:s|start_of_turn|end_of_turn|bos|eos)>)|\[(?=/?(?:INST|SYSTEM_PROMPT)\])"
    r"|<(?=</?SYS>>)"
)
_ZERO_WIDTH_SPACE = "\u200b"
# Not ASCII, dashes and quotation marks, Chinese characters or full-width punctuation: normalizing costs 60 µs.
_UNUSUAL = re.compile(r"[^\x00-\x7f\u2010-\u2027\u3000-\u303f\u3400-\u9fff\uff01-\uff20\uff3b-\uff40\uff5b-\uff65]")


class Example(NamedTuple):
    """A worked example: a document, and how it should have been answered."""

    text: str
    answer: str
    thought: str


@dataclass(frozen=True, slots=True)
class Template:
    """A prompt as it is stored; `sha256` is that of the file."""

    name: str
    system: str
    user: str
    assistant: str | None
    sha256: str

    @property
    def wants_thought(self) -> bool:
        """Whether the model is asked to write its thoughts before the JSON."""
        return "<thought>" in self.system + self.user + (self.assistant or "")


def find_template(name: str, built_in: Sequence[str], folder: Traversable, parts: Parts = PARTS) -> Template:
    """A built-in template by its name, or a file of the user's own; `folder` has a file for each built-in one."""
    if name in built_in:
        return parse_template((folder / f"{name}.md").read_text("utf-8"), name, None, parts)
    if not os.path.exists(name):  # Path.exists fails where a name is too long to be one
        raise ConfigError(
            "prompt.missing",
            "there is no such prompt",
            place=Place(name),
            expected="a file, or one of " + ", ".join(built_in),
            advice=did_you_mean(name, built_in),
        )
    return parse_template(read_text_file(name, "prompt").text, Path(name).name, name, parts)


def require_room(template: Template, response_format: str) -> None:
    """Refuse a template that asks for a thought where the format has room for JSON only."""
    if template.wants_thought and response_format in ("json_schema", "json_object"):
        raise ConfigError(
            "response_format.no_room",
            f"the prompt {template.name} asks for a thought, which --response-format {response_format} forbids",
            advice="use --response-format text (or auto), or a prompt without a thought",
        )


def parse_template(text: str, name: str, file: str | None, allowed: Parts = PARTS) -> Template:
    """Check a template's parts and placeholders; a mistake is a ConfigError with its line."""
    pieces = _HEAD.split(text)
    if pieces[0].strip() or len(pieces) == 1:
        raise _wrong("a template begins with the line `--- system ---` or `--- user ---`", file or name, 1)
    parts: dict[str, str] = {}
    line = 1 + pieces[0].count("\n")
    for part, body in zip(pieces[1::2], pieces[2::2], strict=True):
        if part not in allowed or part in parts:
            expected = "each part once, of: " + ", ".join(allowed)
            raise _wrong(f"the part {part} is not expected here", file or name, line, expected=expected)
        _check_placeholders(part, allowed[part], body, file or name, line)
        parts[part] = body.strip("\n")
        line += body.count("\n")
    if "user" not in parts:
        raise _wrong("the part `--- user ---` is missing", file or name, None)
    sha256 = hashlib.sha256(text.encode()).hexdigest()
    return Template(name, parts.get("system", ""), parts["user"], parts.get("assistant"), sha256)


def prompt_messages(
    template: Template, shared: Mapping[str, str], text: str, examples: Sequence[Example] = ()
) -> list[Message]:
    """The chat that asks about one document; `shared` are the values that are the same for all."""
    chat = [Message("system", fill_part(template.system, shared))] if template.system else []
    for example in examples:
        assert template.assistant is not None  # checked before examples are chosen
        chat.append(Message("user", _user(template, shared, example.text)))
        worked = {"answer": example.answer, "thought": example.thought}
        chat.append(Message("assistant", fill_part(template.assistant, worked)))
    chat.append(Message("user", _user(template, shared, text)))
    return chat


def fill_part(part: str, values: Mapping[str, str]) -> str:
    """The part with its placeholders replaced, in one pass."""
    return _PLACEHOLDER.sub(lambda match: match[1] or values[match[2]], part)


def enclose_document(text: str) -> tuple[str, str]:
    """The document between tags whose name does not occur in it, however it is written; and that name."""
    text = _CONTROL.sub(lambda match: match[0] + _ZERO_WIDTH_SPACE, text)
    looked_at = text.lower()
    if _UNUSUAL.search(text):  # it may hold letters in disguise: full width, mathematical, invisible ones between
        looked_at = unicodedata.normalize("NFKC", text).casefold()
        looked_at = "".join(character for character in looked_at if unicodedata.category(character) != "Cf")
    tag, number = TAG, 1
    while tag in looked_at:
        number += 1
        tag = f"source-{number}-text"
    return f"<{tag}>\n{text}\n</{tag}>", tag


def _user(template: Template, shared: Mapping[str, str], text: str) -> str:
    block, tag = enclose_document(text)
    return fill_part(template.user, {**shared, "text": block, "tag": tag})


def _check_placeholders(part: str, allowed: Mapping[str, bool], body: str, file: str, line: int) -> None:
    names_used: list[str] = []
    for match in _PLACEHOLDER.finditer(body):
        if match[2] is None:
            continue
        at = line + body.count("\n", 0, match.start())
        if match[2] not in allowed:
            names = ", ".join(f"{{{name}}}" for name in allowed)
            near = did_you_mean(match[2], allowed)
            advice = near or f"write {{{match[0]}}} if these very characters are meant"
            raise _wrong(f"{match[0]} is not a placeholder of the part {part}", file, at, expected=names, advice=advice)
        names_used.append(match[2])
    for name, needed in allowed.items():
        if needed and name not in names_used:
            raise _wrong(f"the part {part} needs the placeholder {{{name}}}", file, line)
    if names_used.count("text") > 1:
        raise _wrong("a prompt may have the document only once", file, line, expected="one {text}")


def _wrong(
    message: str, file: str, line: int | None, *, expected: str | None = None, advice: str | None = None
) -> ConfigError:
    return ConfigError("prompt.wrong", message, place=Place(file, line), expected=expected, advice=advice)
