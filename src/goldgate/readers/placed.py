"""Predicted events that name tokens, in the text of their gold record: its words, and its characters for offsets.

Gold in tokens has its offsets from there too, so that the same tokens have the same offsets on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from goldgate.core.record_id import record_id
from goldgate.errors import InputError, Place
from goldgate.readers.dialects.dialect import in_tokens
from goldgate.readers.records import RecordFile, decode, iterate
from goldgate.readers.tokens import TokenText, aligned_or_joined

Part = dict[str, Any]


class GoldTexts:
    """The tokens of the gold records, by id; read when they are first asked for."""

    def __init__(self, files: Sequence[RecordFile]) -> None:
        self._files = files
        self._found: dict[str, Part] | None = None

    def place(self, identity: str | None, events: Sequence[Part]) -> list[Part]:
        """The events with words and offsets. Without tokens in gold, offsets are taken as they are."""
        if self._found is None:
            self._found = dict(_records(self._files))
        if identity not in self._found:
            return [*events]  # whoever joins them says so
        record = self._found[identity]
        text = aligned_or_joined(record["tokens"], record["text"]) if record["tokens"] else None
        return [_event(event, f"events[{number}]", text) for number, event in enumerate(events)]


def _records(files: Sequence[RecordFile]) -> Iterator[tuple[str, Part]]:
    """Text and tokens of each gold record that has an id."""
    for file in files:
        for _, data in iterate(file):
            record = decode(data)
            identity = record_id(record) if isinstance(record, dict) else None
            if identity is not None:
                tokens = record.get("tokens")
                whole = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
                yield identity, {"text": record.get("text"), "tokens": tokens if whole else None}


def _event(event: Part, path: str, text: TokenText | None) -> Part:
    arguments = [
        _placed(argument, f"{path}.arguments[{number}]", "argument", text)
        for number, argument in enumerate(event.get("arguments", []))
    ]
    return _placed(event, path, "trigger", text) | {"arguments": arguments}


def _placed(part: Part, path: str, name: str, text: TokenText | None) -> Part:
    if "token_start" not in part:
        return dict(part)
    start, end = part["token_start"], part["token_end"]
    if text is not None and end <= len(text.spans):
        return part | in_tokens(text, start, end, name)
    if text is None and "start" in part:
        return dict(part)  # its own text gave it offsets
    if text is None and isinstance(part.get(name), str):
        return part | {"start": start, "end": end}
    raise _no_such_tokens(path, start, end, text)


def _no_such_tokens(path: str, start: int, end: int, text: TokenText | None) -> InputError:
    expected = "gold with tokens" if text is None else f"tokens of a gold record that has {len(text.spans)}"
    return InputError(
        "predictions.no_such_tokens",
        "this prediction names tokens that its gold record does not have",
        place=Place(field=path),
        expected=expected,
        found=f"tokens {start} to {end}",
        advice="are these the predictions for this gold, and for this tokenization of it?",
    )
