"""The interface of a dialect, a published format of gold: recognize a record, convert it to goldgate's own form.

A record in our form is {id, text, tokens, events}; an event {event_type, trigger, start, end, arguments}; an
argument {role, argument, start, end, entity, mentions}. `start` and `end` are characters of the text, the end
exclusive; `token_start` and `token_end`, likewise exclusive, count tokens. What a format does not have is left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from goldgate.errors import InputError, Place, describe_value

CharacterSpan = tuple[int, int]


class TokenText(NamedTuple):
    """A text, and the span of each of its tokens in it."""

    text: str
    spans: list[CharacterSpan]

    def characters(self, start: int, end: int) -> CharacterSpan:
        """The span in characters of the tokens from `start` to before `end`, of which there is at least one."""
        return self.spans[start][0], self.spans[end - 1][1]


def join_tokens(tokens: Sequence[str]) -> TokenText:
    """The tokens with a blank between two."""
    spans: list[CharacterSpan] = []
    at = 0
    for token in tokens:
        spans.append((at, at + len(token)))
        at += len(token) + 1
    return TokenText(" ".join(tokens), spans)


def align_tokens(tokens: Sequence[str], text: str) -> TokenText | None:
    """The tokens found in the text, one after the other; None if the text has another letter or digit in between.

    Blanks, marks and invisible characters that no token has are passed over: tokenizers leave such things out.
    """
    spans: list[CharacterSpan] = []
    at = 0
    for token in tokens:
        start = at if text.startswith(token, at) else _after_marks(token, text, at)
        if start is None:
            return None
        at = start + len(token)
        spans.append((start, at))
    return TokenText(text, spans)


def align_or_join(tokens: Sequence[str], text: object) -> TokenText:
    """The tokens in their text or, where there is none that has them all in order, joined by blanks."""
    aligned = align_tokens(tokens, text) if isinstance(text, str) else None
    return aligned if aligned is not None else join_tokens(tokens)


def _after_marks(token: str, text: str, at: int) -> int | None:
    while at < len(text):
        if text.startswith(token, at):
            return at
        if text[at].isalnum():
            return None
        at += 1
    return None if token else at


JsonObject = dict[str, Any]


class Dialect(NamedTuple):
    """A published format. `convert` raises an InputError that names the field; a record without an id gets a number."""

    name: str
    about: str
    recognizes: Callable[[Any], bool]
    convert: Callable[[Any], JsonObject]
    keys: tuple[str, ...] = ()  # that a record has; none where a record is a list
    tells: Callable[[Any], bool] = lambda record: True  # whether a record could not be of a dialect much like it


def format_error(path: str, expected: str, found: object) -> InputError:
    """The error for a part of a record that is not what the format has there."""
    return InputError(
        "gold.not_in_dialect",
        "this record does not have the form of its dialect",
        place=Place(field=path),
        expected=expected,
        found=describe_value(found),
        advice="is it damaged, or of another format? --dialect names the one to read it as",
    )


def no_labels_error(path: str, found: str) -> InputError:
    """The error for a record of a test split, whose labels are not published."""
    return InputError(
        "gold.no_labels",
        "this split was published without its labels, so there is nothing to score by",
        place=Place(field=path),
        expected="events",
        found=found,
        advice="score on a split that has them, such as train or valid",
    )


def require_text(value: object, path: str) -> str:
    """A text that is not blank."""
    if isinstance(value, str) and value.strip():
        return value
    raise format_error(path, "a text that is not empty", value)


def require_list(value: object, path: str) -> list[Any]:
    """A list; one that is not there is empty."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise format_error(path, "a list", value)


def items_with_paths(value: object, path: str) -> Iterator[tuple[str, Any]]:
    """The items of a list, each with its path."""
    return ((f"{path}[{number}]", item) for number, item in enumerate(require_list(value, path)))


def require_object(value: object, path: str) -> Mapping[str, Any]:
    """An object."""
    if isinstance(value, dict):
        return value
    raise format_error(path, "an object", value)


def require_tokens(value: object, path: str) -> list[str]:
    """A list of tokens."""
    items = require_list(value, path)
    for place, token in enumerate(items):
        if not isinstance(token, str):
            raise format_error(f"{path}[{place}]", "a token", token)
    return items


def token_span(start: object, end: object, path: str, tokens: Sequence[str]) -> tuple[int, int]:
    """The place of some tokens, the end exclusive."""
    if type(start) is int and type(end) is int and 0 <= start < end <= len(tokens):
        return start, end
    raise format_error(path, f"0 <= start < end <= {len(tokens)}, the number of tokens", f"{start} to {end}")


def token_part(text: TokenText, start: int, end: int, name: str) -> JsonObject:
    """What stands at these tokens: its text under this name, and where it is."""
    first, last = text.characters(start, end)
    part: JsonObject = {name: text.text[first:last]}
    if first < last:
        part |= {"start": first, "end": last}
    return part | {"token_start": start, "token_end": end}


def character_part(text: object, start: object, end: object, name: str) -> JsonObject:
    """A text under this name, with its offsets if they are a span."""
    part: JsonObject = {name: text}
    if type(start) is int and type(end) is int and 0 <= start < end:
        part |= {"start": start, "end": end}
    return part


def merge_mentions(mentions: list[JsonObject], name: str) -> JsonObject:
    """The first mention, its text under this name, with all of them where there are several."""
    if not mentions:
        return {}
    first = {name if key == "text" else key: value for key, value in mentions[0].items()}
    return first | {"mentions": mentions} if len(mentions) > 1 else first


def sort_mentions(mentions: list[JsonObject]) -> list[JsonObject]:
    """Mentions in the order of the text."""
    return sorted(mentions, key=lambda mention: (mention.get("start", 0), mention.get("end", 0)))
