"""What a published format of gold is: how to recognize a record of it, and how to turn one into ours.

A record in our form is {id, text, tokens, events}; an event {event_type, trigger, start, end, arguments}; an argument
{role, argument, start, end, entity, mentions}. `start` and `end` are characters of the text, the end exclusive;
`token_start` and `token_end`, likewise exclusive, count tokens. What a format does not have is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from goldgate.errors import InputError, Place, describe
from goldgate.readers.tokens import TokenText

Record = dict[str, Any]


class Dialect(NamedTuple):
    """A published format. `convert` raises an InputError that names the field; a record without an id gets a number."""

    name: str
    about: str
    recognizes: Callable[[Any], bool]
    convert: Callable[[Any], Record]
    keys: tuple[str, ...] = ()  # that a record has; none where a record is a list
    tells: Callable[[Any], bool] = lambda record: True  # whether a record could not be of a dialect much like it


def wrong(path: str, expected: str, found: object) -> InputError:
    """The error for a part of a record that is not what the format has there."""
    return InputError(
        "gold.not_in_dialect",
        "this record does not have the form of its dialect",
        place=Place(field=path),
        expected=expected,
        found=describe(found),
        advice="is it damaged, or of another format? --dialect names the one to read it as",
    )


def no_labels(path: str, found: str) -> InputError:
    """The error for a record of a test split, whose labels nobody published."""
    return InputError(
        "gold.no_labels",
        "this split was published without its labels, so there is nothing to score by",
        place=Place(field=path),
        expected="events",
        found=found,
        advice="score on a split that has them, such as train or valid",
    )


def word(value: object, path: str) -> str:
    """A text that is not blank."""
    if isinstance(value, str) and value.strip():
        return value
    raise wrong(path, "a text that is not empty", value)


def listed(value: object, path: str) -> list[Any]:
    """A list; one that is not there is empty."""
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise wrong(path, "a list", value)


def numbered(value: object, path: str) -> Iterator[tuple[str, Any]]:
    """The items of a list, each with its path."""
    return ((f"{path}[{number}]", item) for number, item in enumerate(listed(value, path)))


def mapped(value: object, path: str) -> Mapping[str, Any]:
    """An object."""
    if isinstance(value, dict):
        return value
    raise wrong(path, "an object", value)


def words(value: object, path: str) -> list[str]:
    """A list of tokens."""
    found = listed(value, path)
    for place, token in enumerate(found):
        if not isinstance(token, str):
            raise wrong(f"{path}[{place}]", "a token", token)
    return found


def token_span(start: object, end: object, path: str, tokens: Sequence[str]) -> tuple[int, int]:
    """The place of some tokens, the end exclusive."""
    if type(start) is int and type(end) is int and 0 <= start < end <= len(tokens):
        return start, end
    raise wrong(path, f"0 <= start < end <= {len(tokens)}, the number of tokens", f"{start} to {end}")


def in_tokens(text: TokenText, start: int, end: int, name: str) -> Record:
    """What stands at these tokens: its text under this name, and where it is."""
    first, last = text.characters(start, end)
    found: Record = {name: text.text[first:last]}
    if first < last:
        found |= {"start": first, "end": last}
    return found | {"token_start": start, "token_end": end}


def in_characters(text: object, start: object, end: object, name: str) -> Record:
    """A text under this name, with its offsets if they are a span."""
    found: Record = {name: text}
    if type(start) is int and type(end) is int and 0 <= start < end:
        found |= {"start": start, "end": end}
    return found


def mentioned(mentions: list[Record], name: str) -> Record:
    """The first mention, its text under this name, with all of them where there are several."""
    if not mentions:
        return {}
    first = {name if key == "text" else key: value for key, value in mentions[0].items()}
    return first | {"mentions": mentions} if len(mentions) > 1 else first


def in_order(mentions: list[Record]) -> list[Record]:
    """Mentions in the order of the text."""
    return sorted(mentions, key=lambda mention: (mention.get("start", 0), mention.get("end", 0)))
