"""The interface of a layout of predictions: recognize the file of another program, and get the answers in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from goldgate.core.finding import record_id
from goldgate.errors import InputError, MachineError, Place, describe_value, did_you_mean
from goldgate.files.reading import BLOCK
from goldgate.readers.guess import EXPECTED_ID, field_error, list_keys, no_answer_error
from goldgate.readers.records import RecordFile

_HEAD = 4096  # bytes
ANSWER_NAMES = ("response", "events", "event_list", "value")  # under which a record in our form has its answer
_BESIDE_ANSWER = ("confidence",)  # what a record may say of its answer


class LayoutAnswer(NamedTuple):
    """An answer: the id of what was asked, or its place in the data set from 0, or neither; and its content."""

    id: str | None
    content: dict[str, Any]  # `response`, or `events`
    position: int | None = None
    part: bool = False  # one of several records that are one answer, all of the same id
    record: Mapping[str, Any] | None = None  # of an answer without an id: what else the record has


class FieldPaths(NamedTuple):
    """Where a record has the id and the response: dotted paths. None stands for our own names."""

    id: str | None = None
    response: str | None = None


OWN_FIELDS = FieldPaths()


class RecordLayout(NamedTuple):
    """One answer a record. `answer` gives None for a request that failed: it has no answer."""

    name: str
    about: str
    recognizes: Callable[[Any], bool]
    answer: Callable[[Mapping[str, Any]], LayoutAnswer | None]
    in_order: bool = False  # it never has ids, and is in the order of the data set
    in_tokens: bool = False  # its events name tokens of the gold record
    view: Callable[[Mapping[str, Any]], object] = lambda _: None  # only records with that of the first one count


class FileLayout(NamedTuple):
    """Answers in a file of another kind, each with its line; of one without lines, the number of the answer."""

    name: str
    about: str
    answers: Callable[[RecordFile, FieldPaths], Iterator[tuple[int, LayoutAnswer | None]]]
    endings: tuple[str, ...] = ("",)  # of its name, without .gz
    magic: bytes = b""  # its first bytes
    words: tuple[bytes, ...] = ()  # or else it is a JSON object with these near its beginning

    def recognizes(self, file: RecordFile) -> bool:
        is_named = file.name.lower().removesuffix(".gz").endswith(self.endings)
        if is_named and file.plain.read_some(0, len(self.magic)) == self.magic:
            return True
        head = file.plain.read_some(file.start, BLOCK).lstrip()[:_HEAD] if self.words else b""
        return head.startswith(b"{") and all(word in head for word in self.words)


def answer_of(record: Mapping[str, Any], fields: FieldPaths) -> LayoutAnswer:
    """The answer of a record with these fields; InputError where one is named that the record does not have."""
    identity = record_id(record) if fields.id is None else id_at(record, fields.id)
    rest = record if identity is None else None
    if fields.response is not None:
        response = value_at(record, fields.response, through_null=True, option="--response-field")
        return LayoutAnswer(identity, {"response": response}, record=rest)
    answer = {name: record[name] for name in ANSWER_NAMES if name in record}
    if not answer:
        raise no_answer_error(record)
    answer |= {name: record[name] for name in _BESIDE_ANSWER if name in record}
    return LayoutAnswer(identity, answer, record=rest)


def id_at(record: Mapping[str, Any], path: str) -> str:
    """The id at a dotted path; InputError if there is none."""
    value = value_at(record, path)
    identity = record_id({"id": value})
    if identity is None:
        message, expected = "this prediction cannot be joined", f"an id: {EXPECTED_ID}"
        raise field_error("predictions.bad_id", message, path, expected, value)
    return identity


_LIST_POSITION = re.compile(r"-?[0-9]{1,9}")


def value_at(
    record: Any, path: str, *, through_null: bool = False, kind: str = "predictions", option: str = "--id-field"
) -> Any:
    """What is at a dotted path; a number is a place in a list, -1 the last one. InputError if there is nothing.

    With `through_null` there is null at every path that leads through a null.
    """
    if isinstance(record, Mapping) and path in record:
        return record[path]
    value = record
    for part in path.split("."):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and _LIST_POSITION.fullmatch(part) and -len(value) <= int(part) < len(value):
            value = value[int(part)]
        elif value is None and through_null:
            return None
        else:
            actual = f"the keys {list_keys(value)}" if isinstance(value, Mapping) else describe_value(value)
            raise InputError(
                f"{kind}.no_field",
                f"there is no {part} here",
                place=Place(field=path),
                expected=f"the field that {option} names",
                found=actual,
                advice=did_you_mean(part, value) if isinstance(value, Mapping) else None,
            )
    return value


def has_path(record: Mapping[str, Any], path: str) -> bool:
    """Whether there is something at a dotted path."""
    try:
        value_at(record, path)
    except InputError:
        return False
    return True


def not_generated_error(path: str, found: object) -> InputError:
    """The error for a record of another kind of task, in which no model wrote anything."""
    message = "this record has no text that a model wrote"
    advice = "was this a task of another kind, such as multiple choice or embeddings?"
    return field_error("predictions.not_generated", message, path, "a generated answer", found, advice)


def missing_package_error(file: RecordFile, content: str, package: str, instead: str = "") -> MachineError:
    """The error for a file that cannot be read without a package that goldgate does not need otherwise."""
    return MachineError(
        "machine.missing_package",
        f"this {content}, and the package {package} is not installed",
        place=Place(file.name),
        advice=f"pip install {package}{instead}",
    )
