"""Gold and predictions as people have them: in any dialect and layout, with ids under any name, or none at all."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from goldgate.core.record_id import record_id
from goldgate.errors import InputError, Place, describe
from goldgate.readers.dialect_file import (
    GoldOpener,
    decode_published,
    first_record,
    numbered_lines,
    rewritten,
    with_id,
)
from goldgate.readers.dialects.dialect import Dialect
from goldgate.readers.guess import bad_id
from goldgate.readers.layouts import recognize_file, recognize_record
from goldgate.readers.layouts.layout import OUR_NAMES, Answer, Fields, RecordLayout, has_path, id_at, pick
from goldgate.readers.placed import placed
from goldgate.readers.published_answers import published_answer, published_form
from goldgate.readers.records import RecordFile, RecordStore, decode, iterate, open_records
from goldgate.readers.wrapped import on_their_lines, replaced, unwrapped

_GOLD_KEYS = ("events", "event_list")


class _Written(NamedTuple):
    """An answer, and the line of the file that it came from."""

    line: int
    answer: Answer | None


class PairOpener:
    """Opens gold first, then predictions. `by_order` says afterwards that they are joined by their order.

    That is so where neither has ids, and for layouts that never have any. With `alone` there is no gold, and
    predictions without ids are numbered.
    """

    def __init__(self, dialect: str | None = None, fields: Fields = OUR_NAMES, *, alone: bool = False) -> None:
        self._alone = alone
        self._open_gold = GoldOpener(dialect, id_field=fields.id)
        self.fields = fields
        self._gold: list[RecordFile] = []
        self._unnamed: InputError | None = None  # gold without ids: the error that it is where predictions have some
        self._ids: list[str] | None = None
        self._numbered = 0
        self._taken = 0
        self.by_order = False

    def __call__(self, path: str | Path, kind: str) -> RecordFile:
        if kind != "predictions":
            self._gold.append(self._named_gold(self._open_gold(path, kind)))
            return self._gold[-1]
        file = open_records(path, kind)
        try:
            return self._predictions(file)
        except BaseException as error:
            file.close()
            if isinstance(error, InputError) and error.place.file is None:
                error.place = Place(file.name, error.place.line, error.place.field)
            raise

    def require_joined(self, gold: int) -> None:
        """Gold without ids is an error where nothing was joined by order; what was must be equally long."""
        if self._unnamed is not None and not self.by_order:
            raise self._unnamed
        if self.by_order and self._taken and self._taken != gold:
            raise _other_count(Place(), gold, str(self._taken))

    def _named_gold(self, file: RecordFile) -> RecordFile:
        """The gold file with an id in every record: the record's own, or its number."""
        record = first_record(file)
        if not isinstance(record, dict) or "id" in record or not any(key in record for key in _GOLD_KEYS):
            return file
        first = RecordStore([file]).place(next(iterate(file))[0], "id")
        if self._unnamed is None:
            self._unnamed = bad_id(record, "gold", first)

        def number(record: dict[str, Any]) -> str:
            if "id" in record:
                raise _some_without_id(record["id"], first)
            self._numbered += 1
            return str(self._numbered)

        return rewritten(file, file.form, lambda data: with_id(data, number))

    def _predictions(self, file: RecordFile) -> RecordFile:
        layout = recognize_file(file)
        if layout is not None:
            found = (_Written(*each) for each in layout.answers(file, self.fields))
            return self._copy(file, layout.name, found, in_order=False)
        record = first_record(file)
        if recognize_record(record) is None and published_form(record) is None:
            file = unwrapped(file, [path.split(".")[0] for path in self.fields if path is not None])
            record = first_record(file)
        fields = self._fields_of(record)
        of_record = recognize_record(record) if fields.response is None else None
        if of_record is not None:
            answers = self._answers(file, of_record, fields)
            if of_record.in_tokens:
                answers = self._in_gold_text(file, answers)
            return self._copy(file, of_record.name, answers, in_order=of_record.in_order)
        if fields != OUR_NAMES:
            return self._copy(file, None, self._answers(file, None, fields), in_order=False)
        dialect = published_form(record)
        if dialect is not None:
            return self._copy(file, dialect.name, self._published(file, dialect), in_order=False)
        if self._gold_has_no_ids and isinstance(record, dict) and "id" not in record:
            return self._copy(file, None, self._answers(file, None, fields), in_order=False)
        if self._unnamed is not None and record is not None:
            raise self._unnamed
        return file

    def _fields_of(self, record: Any) -> Fields:
        """The fields of a file with this first record: its own `id`, where only the gold has the field for ids."""
        path = self.fields.id
        if path is None or not self._open_gold.used_id_field or not isinstance(record, dict):
            return self.fields
        return self.fields._replace(id=None) if "id" in record and not has_path(record, path) else self.fields

    def _answers(self, file: RecordFile, layout: RecordLayout | None, fields: Fields) -> Iterator[_Written]:
        store, first = RecordStore([file]), None
        for line, offset, data in numbered_lines(file):
            record = store.decode(offset, data)
            if layout is not None:
                first = (layout.view(record),) if first is None else first
                if first != (layout.view(record),):
                    continue
            try:
                answer = pick(record, fields) if layout is None else layout.answer(record)
                if layout is not None and answer is not None and fields.id is not None:
                    answer = answer._replace(id=id_at(record, fields.id))
            except InputError as error:
                raise store.at(error, offset) from None
            yield _Written(line, answer)

    def _in_gold_text(self, file: RecordFile, found: Iterator[_Written]) -> Iterator[_Written]:
        """The answers with words and offsets from the gold; several records that are one answer are one."""
        texts = _Texts(self._gold)
        parts: dict[str | None, _Written] = {}
        for line, answer in found:
            if answer is None:
                continue
            try:
                events = placed(answer.said["events"], texts.record(answer.id))
            except InputError as error:
                error.place = Place(file.name, line, error.place.field)
                raise
            if not answer.part:
                yield _Written(line, answer._replace(said={"events": events}))
            elif answer.id not in parts:
                parts[answer.id] = _Written(line, answer._replace(said={"events": events}))
            else:
                first = parts[answer.id].answer
                assert first is not None
                first.said["events"].extend(events)
        yield from parts.values()

    def _published(self, file: RecordFile, dialect: Dialect) -> Iterator[_Written]:
        texts = _Texts(self._gold)
        store = RecordStore([file])
        for line, offset, data in numbered_lines(file):
            try:
                record = decode_published(data)
            except ValueError:
                record = store.decode(offset, data)  # which says what is wrong with it
            try:
                yield _Written(line, published_answer(record, dialect, texts.of))
            except InputError as error:
                raise store.at(error, offset) from None

    def _copy(self, file: RecordFile, form: str | None, found: Iterator[_Written], *, in_order: bool) -> RecordFile:
        """The answers as predictions, each on its line, with the id that it is joined by."""
        return replaced(file, on_their_lines(self._records(file, found, in_order=in_order)), form)

    def _records(self, file: RecordFile, found: Iterator[_Written], *, in_order: bool) -> Iterator[tuple[int, bytes]]:
        for line, answer in found:
            if answer is None:  # what failed is a missing answer
                continue
            identity = self._identity(answer, file, line, in_order=in_order)
            yield line, orjson.dumps({"id": identity, **answer.said}, option=orjson.OPT_NON_STR_KEYS, default=str)

    def _identity(self, answer: Answer, file: RecordFile, line: int, *, in_order: bool) -> str:
        if answer.id is not None:
            return answer.id
        if not self._gold_has_no_ids and not in_order:
            raise InputError(
                "predictions.bad_id",
                "a predictions record needs an id",
                place=Place(file.name, line, self.fields.id or "id"),
                expected="a string that is not empty, or an integer",
                found="no id",
                advice="--id-field names the field or the column with the id",
            )
        if self._alone:
            self._taken += 1
            return str(self._taken)
        self.by_order = True
        position = answer.position
        ids = self._gold_ids()
        if position is None:
            position, self._taken = self._taken, self._taken + 1
            if position == len(ids):
                raise _other_count(Place(file.name, line), len(ids), "more")
        return ids[position] if position < len(ids) else str(position + 1)  # which no gold record has: an error later

    @property
    def _gold_has_no_ids(self) -> bool:
        return self._alone or self._unnamed is not None or self._open_gold.numbered

    def _gold_ids(self) -> list[str]:
        if self._ids is None:
            records = (decode(data) for file in self._gold for _, data in iterate(file))
            self._ids = [record_id(record) or "" for record in records if isinstance(record, dict)]
        return self._ids


class _Texts:
    """Gold records and their texts, by id, each read when it is asked for."""

    def __init__(self, files: list[RecordFile]) -> None:
        self._files = files

    @cached_property
    def _places(self) -> dict[str, tuple[RecordFile, int, int]]:
        found = {}
        for file in self._files:
            for offset, data in iterate(file):
                record = _decoded(data)
                identity = record_id(record) if isinstance(record, dict) else None
                if identity is not None:
                    found[identity] = (file, offset, len(data))
        return found

    def of(self, identity: str) -> Any:
        record = self.record(identity)
        return None if record is None else record.get("text")

    def record(self, identity: str | None) -> dict[str, Any] | None:
        place = self._places.get(identity) if identity is not None else None
        if place is None:
            return None
        file, offset, length = place
        found = _decoded(file.plain.read(offset, length))
        return found if isinstance(found, dict) else None


def _decoded(data: bytes) -> Any:
    try:
        return decode(data)
    except ValueError:
        return None  # whoever reads the gold says so


def _some_without_id(identity: Any, first: Place) -> InputError:
    return InputError(
        "gold.bad_id",
        "some gold records have an id, and some have none",
        place=Place(field="id"),
        expected="an id in every record, or in none",
        found=f"{describe(identity)} here, and no id in line {first.line}",
        advice="give every record an id of its own",
    )


def _other_count(place: Place, gold: int, found: str) -> InputError:
    return InputError(
        "predictions.other_count",
        "gold and predictions are joined by their order, and one has more records than the other",
        place=place,
        expected=f"{gold} predictions, as many as there are gold records",
        found=found,
        advice="is this gold of another split? With ids in both, or --id-field, order makes no difference",
    )
