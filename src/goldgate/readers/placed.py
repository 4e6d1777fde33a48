"""Predicted events that name tokens, in the text of their gold record: its words, and its characters for offsets.

Gold in tokens has its offsets from there too, so that the same tokens have the same offsets on both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from goldgate.errors import InputError, Place
from goldgate.readers.dialects.dialect import in_tokens
from goldgate.readers.tokens import TokenText, aligned_or_joined

Part = dict[str, Any]


def placed(events: Sequence[Part], gold: Mapping[str, Any] | None) -> list[Part]:
    """The events with words and offsets. Where gold has no tokens, those of the prediction are offsets as they are."""
    if gold is None:
        return [*events]  # whoever joins them says so
    tokens = gold.get("tokens")
    text = None
    if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        text = aligned_or_joined(tokens, gold.get("text"))
    return [_event(event, f"events[{number}]", text) for number, event in enumerate(events)]


def _event(event: Part, path: str, text: TokenText | None) -> Part:
    arguments = [
        _placed(argument, f"{path}.arguments[{number}]", "argument", text)
        for number, argument in enumerate(event["arguments"])
    ]
    return _placed(event, path, "trigger", text) | {"arguments": arguments}


def _placed(part: Part, path: str, name: str, text: TokenText | None) -> Part:
    start, end = part["token_start"], part["token_end"]
    if text is not None and end <= len(text.spans):
        return part | in_tokens(text, start, end, name)
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
