"""The interface of a dialect, a published format of gold: recognize a record, convert it to goldgate's own form.

A record in our form is {id, text, tokens, events}; an event {event_type, trigger, start, end, arguments}; an
argument {role, argument, start, end, entity, mentions}. `start` and `end` are characters of the text, the end
exclusive; `token_start` and `token_end`, likewise exclusive, count tokens. What a format does not have is left
out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from goldgate.errors import InputError, Place, describe_value

CharacterSpan = tuple[int, int]


class TokenText(NamedTuple):
    """A text, and the span of each of its tokens in it; or of each of its characters."""

    text: str
    spans: list[CharacterSpan]
    in_characters: bool = False

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


def as_characters(text: str) -> TokenText:
    return TokenText(text, [(at, at + 1) for at in range(len(text))], in_characters=True)


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


class PlacedWords(NamedTuple):
    """The words of a mention with its offsets, and whether they are there: by tokens, and by characters."""

    path: str
    words: str
    span: CharacterSpan
    fits: tuple[bool, bool]

    def __str__(self) -> str:
        return f"{describe_value(self.words)} at [{self.span[0]}, {self.span[1]})"


def has_words(text: TokenText, start: int, end: int, words: object) -> bool:
    """Whether these tokens are these words: blanks aside, and marks too, because tokenizers rewrite some."""
    both = text.text[slice(*text.characters(start, end))], str(words)
    ours, theirs = ("".join(filter(str.isalnum, each)) or "".join(each.split()) for each in both)
    return ours == theirs


class Dialect(NamedTuple):
    """A published format. `convert` raises an InputError that names the field; a record without an id gets a number.

    `convert_characters` is for a format whose offsets count tokens in some files and characters in others; the words of
    its `mentions` tell which.
    """

    name: str
    about: str
    recognizes: Callable[[Any], bool]
    convert: Callable[[Any], JsonObject]
    keys: tuple[str, ...] = ()  # that a record has; none where a record is a list
    is_conclusive: Callable[[Any], bool] = lambda record: True  # False: the record may also be of a similar dialect
    mentions: Callable[[Any], Iterable[PlacedWords]] = lambda record: ()
    convert_characters: Callable[[Any], JsonObject] | None = None
    oddities: Callable[[Any], Iterable[tuple[str, str]]] = lambda record: ()  # place, and how it was read


class OffsetReading(NamedTuple):
    """How the offsets of a file are read: the dialect that converts them so, and whether some mentions do not fit."""

    dialect: Dialect
    in_characters: bool = False
    has_misplaced: bool = False

    def misplaced(self, record: Any) -> Iterator[PlacedWords]:
        """The mentions of a record whose words are not at their offsets: they are converted without offsets."""
        mentions = self.dialect.mentions(record) if self.has_misplaced else ()
        return (mention for mention in mentions if not mention.fits[self.in_characters])


def choose_reading(
    dialect: Dialect, records: Iterable[tuple[Any, Any]], place: Callable[[Any, str], Place] | None = None
) -> OffsetReading:
    """The reading that fits most mentions; tokens where both fit as many, or where nothing can be compared.

    Where it does not fit even half of them, an InputError with the place of the first, if there is a `place`.
    """
    if dialect.convert_characters is None:
        return OffsetReading(dialect)
    mentions, misfits = 0, [0, 0]
    first: list[tuple[Any, PlacedWords] | None] = [None, None]
    for key, record in records:
        with suppress(InputError):  # converting the record names what is wrong
            for mention in dialect.mentions(record):
                mentions += 1
                for reading in (0, 1):
                    misfits[reading] += not mention.fits[reading]
                    if first[reading] is None and not mention.fits[reading]:
                        first[reading] = key, mention
    in_characters = misfits[1] < misfits[0]
    example = first[in_characters]
    if place is not None and example is not None and 2 * misfits[in_characters] > mentions:
        raise InputError(
            "gold.wrong_offsets",
            "most mentions are not at their offsets",
            place=place(example[0], example[1].path),
            expected="the words of a mention at its offsets, which count tokens or characters, the end exclusive",
            found=f"other words for {misfits[in_characters]} of {mentions} mentions, such as {example[1]}",
            advice="are the ends inclusive, or is another text counted? correct the offsets, or leave them out",
        )
    if in_characters:
        dialect = dialect._replace(name=f"{dialect.name}.characters", convert=dialect.convert_characters)
    return OffsetReading(dialect, in_characters, example is not None)


class Node:
    """A part of a record, with its path. Whatever is not as the format has it is an InputError that names the path."""

    __slots__ = ("_key", "_parent", "value")

    def __init__(self, value: Any, parent: Node | None = None, key: str | int = "") -> None:
        self.value = value
        self._parent = parent
        self._key = key

    @property
    def path(self) -> str:
        if self._parent is None:
            return ""
        step = f".{self._key}" if isinstance(self._key, str) else f"[{self._key}]"
        return (self._parent.path + step).removeprefix(".")

    def __getitem__(self, key: str) -> Node:
        return Node(self.get(key), self, key)

    def get(self, key: str) -> Any:
        """The value of a member of an object; None for one that is not there."""
        return self.as_object().get(key)

    def section(self, key: str) -> Node:
        """The object under a key; an empty one where there is none."""
        section = Node(self.get(key) or {}, self, key)
        section.as_object()
        return section

    def as_object(self) -> dict[str, Any]:
        if isinstance(self.value, dict):
            return self.value
        raise self.error("an object")

    def as_list(self) -> list[Any]:
        """A list; one that is not there is empty."""
        if isinstance(self.value, list):
            return self.value
        if self.value is None:
            return []
        raise self.error("a list")

    def items(self, key: str | None = None) -> list[Node]:
        """The items of this list, or of the one under a key."""
        parent = self if key is None else self[key]
        return [Node(item, parent, number) for number, item in enumerate(parent.as_list())]

    def text(self, key: str | None = None) -> str:
        """This text, or the one under a key, which is not blank."""
        text = self.value if key is None else self.get(key)
        if isinstance(text, str) and text.strip():
            return text
        raise (self if key is None else self[key]).error("a text that is not empty")

    def tokens(self) -> list[str]:
        tokens = self.as_list()
        for number, token in enumerate(tokens):
            if not isinstance(token, str):
                raise Node(token, self, number).error("a token")
        return tokens

    def token_span(self, start: Any, end: Any, tokens: int) -> tuple[int, int]:
        """Check a span of tokens, its end exclusive, against the number of tokens, and return it."""
        if type(start) is int and type(end) is int and 0 <= start < end <= tokens:
            return start, end
        raise self.error(f"0 <= start < end <= {tokens}, the number of tokens", describe_value(f"{start} to {end}"))

    def error(self, expected: str, found: str | None = None) -> InputError:
        """The error for a part that is not what the format has there."""
        return InputError(
            "gold.not_in_dialect",
            "this record does not have the form of its dialect",
            place=Place(field=self.path),
            expected=expected,
            found=describe_value(self.value) if found is None else found,
            advice="is it damaged, or of another format? --dialect names the one to read it as",
        )


def id_and_group(record: JsonObject) -> JsonObject:
    """What a record says of itself, if it does."""
    return {key: record[key] for key in ("id", "group") if key in record}


def token_part(text: TokenText, start: int, end: int, name: str) -> JsonObject:
    """What stands at these tokens: its text under this name, and where it is."""
    first, last = text.characters(start, end)
    part: JsonObject = {name: text.text[first:last]}
    if first < last:
        part |= {"start": first, "end": last}
    return part if text.in_characters else part | {"token_start": start, "token_end": end}


def character_part(text: object, start: object, end: object, name: str) -> JsonObject:
    """A text under this name, with its offsets if they are a span."""
    part: JsonObject = {name: text}
    if type(start) is int and type(end) is int and 0 <= start < end:
        part |= {"start": start, "end": end}
    return part


def merge_mentions(mentions: list[JsonObject], name: str) -> JsonObject:
    """The first mention in the text, its text under this name, with all of them where there are several."""
    if not mentions:
        return {}
    mentions = sort_mentions(mentions)
    first = {name if key == "text" else key: value for key, value in mentions[0].items()}
    return first | {"mentions": mentions} if len(mentions) > 1 else first


def sort_mentions(mentions: list[JsonObject]) -> list[JsonObject]:
    """Mentions in the order of the text."""
    return sorted(mentions, key=lambda mention: (mention.get("start", 0), mention.get("end", 0)))
