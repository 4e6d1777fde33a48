"""Gold and predictions in any dialect and layout, with ids under any name or joined by order.

Predictions in a published format of gold are converted as gold would be. Predicted events that name tokens get
words and character offsets from the text of their gold record, so that both sides have the same offsets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from goldgate.core.finding import blanks_remarks, record_id, remark
from goldgate.core.measure import BLANKS_ONLY
from goldgate.core.suite import ANSWERS, Inputs, Outcome, single_input
from goldgate.core.tally import Example, Tally
from goldgate.errors import InputError, Place, as_yaml, describe_value
from goldgate.readers.dialects import recognize_dialect
from goldgate.readers.dialects.dialect import Dialect, JsonObject, TokenText, align_or_join, token_part
from goldgate.readers.gold_files import GoldOpener, decode_published, first_record, rewrite_records, with_id
from goldgate.readers.guess import EXPECTED_ID, bad_id_error, likely_id_key, list_keys
from goldgate.readers.id_index import IdIndex, index_stores
from goldgate.readers.layouts import recognize_file_layout, recognize_record_layout
from goldgate.readers.layouts.layout import (
    OWN_FIELDS,
    FieldPaths,
    LayoutAnswer,
    RecordLayout,
    answer_of,
    has_path,
    id_at,
)
from goldgate.readers.nested_records import extract_records
from goldgate.readers.records import (
    RecordFile,
    RecordStore,
    copy_records,
    decode_record,
    decode_value,
    iterate_records,
    open_records,
    records_with_lines,
)

if TYPE_CHECKING:
    from goldgate.core.contracts import RemarkValue, SuiteReport

_UNCONVERTED_DIALECTS = ("duee", "duee-fin")
_EVENT_KEYS = ("event_type", "trigger", "start", "end", "mentions")
_ARGUMENT_KEYS = ("role", "argument", "start", "end")
_TEXTLESS_DIALECTS = ("wikievents", "oneie", "bio", "triples")  # which may be read with the text of the gold

FindGold = Callable[[str], Mapping[str, Any] | None]  # the gold record with this id
AnswerLine = tuple[int, LayoutAnswer | None]  # the line of the file, and the answer in it


def recognize_published(record: Any) -> Dialect | None:
    """The dialect that a prediction is written in; none where it has a response of its own."""
    if isinstance(record, dict) and "response" in record:
        return None
    dialect = recognize_dialect(record)
    return None if dialect is None or dialect.name in _UNCONVERTED_DIALECTS else dialect


def published_answer(record: Any, dialect: Dialect, find_gold: FindGold) -> LayoutAnswer:
    """What a record predicts. Offsets must be those of the gold's text: a prediction with another one is an error."""
    try:
        converted = dialect.convert(record)
        identity = record_id(converted)
        gold = find_gold(identity) if identity is not None else None
        text = None if gold is None else gold.get("text")
        has_text = not dialect.name.startswith(_TEXTLESS_DIALECTS) or "text" in record or "sentence" in record
        if isinstance(text, str) and not has_text:
            converted = dialect.convert({**record, "text": text})
    except InputError as error:
        error.code = error.code.replace("gold.", "predictions.", 1)
        raise
    if isinstance(text, str) and converted["text"] != text:
        raise InputError(
            "predictions.other_text",
            "this prediction has another text than the gold, so its offsets are not those of the gold",
            place=Place(field="text"),
            expected="the text of the gold record with this id",
            found="another, or tokens that are not in it",
            advice="score it by the gold that it was made from",
        )
    return LayoutAnswer(identity, {"events": [_select_event(event) for event in converted["events"]]})


def _select_event(event: Mapping[str, Any]) -> JsonObject:
    arguments = [_select_keys(each, _ARGUMENT_KEYS) for each in event["arguments"] if each["argument"] is not None]
    return {**_select_keys(event, _EVENT_KEYS), "arguments": arguments}


def _select_keys(part: Mapping[str, Any], names: tuple[str, ...]) -> JsonObject:
    return {name: part[name] for name in names if name in part}


def attach_text(events: Sequence[JsonObject], gold: Mapping[str, Any] | None) -> list[JsonObject]:
    """The events with words and offsets. Where gold has no tokens, those of the prediction are offsets as they are."""
    if gold is None:
        return [*events]  # joining them is an error
    tokens, text = gold.get("tokens"), None
    if isinstance(tokens, list) and all(isinstance(token, str) for token in tokens):
        text = align_or_join(tokens, gold.get("text"))
    return [
        _attach_to_part(event, f"events[{number}]", "trigger", text)
        | {
            "arguments": [
                _attach_to_part(argument, f"events[{number}].arguments[{place}]", "argument", text)
                for place, argument in enumerate(event["arguments"])
            ]
        }
        for number, event in enumerate(events)
    ]


def _attach_to_part(part: JsonObject, path: str, name: str, text: TokenText | None) -> JsonObject:
    start, end = part["token_start"], part["token_end"]
    if text is not None and end <= len(text.spans):
        return part | token_part(text, start, end, name)
    if text is None and isinstance(part.get(name), str):
        return part | {"start": start, "end": end}
    raise InputError(
        "predictions.no_such_tokens",
        "this prediction names tokens that its gold record does not have",
        place=Place(field=path),
        expected="gold with tokens" if text is None else f"tokens of a gold record that has {len(text.spans)}",
        found=f"tokens {start} to {end}",
        advice="are these the predictions for this gold, and for this tokenization of it?",
    )


_GOLD_KEYS = ("events", "event_list", "value")


class PairOutcome(Outcome):
    """The outcome for pairs that a `PairOpener` opened: it signs the fields, or the order, that joined them."""

    section = ""  # of the protocol, in which blanks are set
    _by_order = False
    _blanks_only: tuple[int, Sequence[Example]] = (0, ())

    def note_opener(self, opener: PairOpener, gold: int, **others: str | None) -> None:
        """Sign where ids and responses were found, if not under our names, what joined them, and `others`."""
        opener.require_joined(gold)
        self.findings += opener.gold.findings.to_list()
        self._by_order = opener.by_order
        joined = "by_order" if opener.by_order else None
        sources = {"id_field": opener.fields.id, "response_field": opener.fields.response, **others, "joined": joined}
        self.settings.update({name: value for name, value in sources.items() if value is not None})

    def note_counts(self, tally: Tally) -> None:
        self.inputs[ANSWERS] = tally.answers_digest()
        self._blanks_only = tally.counts[BLANKS_ONLY], tally.examples.get(BLANKS_ONLY, ())

    def remarks(self, report: SuiteReport) -> Iterator[RemarkValue]:
        if self._by_order:
            message = "the predictions have no ids: they were joined with the gold by their order"
            yield remark("joined_by_order", message)
        yield from blanks_remarks(*self._blanks_only, as_yaml(f"{self.section}.blanks", "keep"))


def pair_opener(inputs: Inputs, dialect: str | None) -> PairOpener:
    """What opens gold and predictions as these inputs say."""
    return PairOpener(dialect, FieldPaths(single_input(inputs, "id_field"), single_input(inputs, "response_field")))


class PairOpener:
    """Opens gold first, then predictions. `by_order` says afterwards that they are joined by their order.

    That is so where neither has ids, and for layouts that never have any. With `alone` there is no gold, and
    predictions without ids are numbered.
    """

    def __init__(self, dialect: str | None = None, fields: FieldPaths = OWN_FIELDS, *, alone: bool = False) -> None:
        self._alone = alone
        self.gold = GoldOpener(dialect, id_field=fields.id)
        self.fields = fields
        self._gold: list[RecordFile] = []
        self._unnamed_record: Mapping[str, Any] = {}  # the first gold record without an id
        self._unnamed: InputError | None = None  # gold without ids: the error that it is where predictions have some
        self._numbered = 0
        self._taken = 0
        self.by_order = False

    def __call__(self, path: str | Path, kind: str) -> RecordFile:
        if kind != "predictions":
            self._gold.append(self._named_gold(self.gold(path, kind)))
            return self._gold[-1]
        file = open_records(path, kind)
        try:
            return self._predictions(file)
        except BaseException as error:
            file.close()
            if isinstance(error, InputError) and error.place.file is None:
                error.place = error.place._replace(file=file.name)
            raise

    def require_joined(self, gold: int) -> None:
        """Gold without ids is an error where nothing was joined by order; what was must be equally long."""
        if self._unnamed is not None and not self.by_order:
            raise self._unnamed
        if self.by_order and self._taken and self._taken != gold:
            raise _count_error(Place(), gold, str(self._taken))

    def _named_gold(self, file: RecordFile) -> RecordFile:
        """The gold file with an id in every record: the record's own, or its number."""
        record = first_record(file)
        if not isinstance(record, dict) or "id" in record or not any(key in record for key in _GOLD_KEYS):
            return file
        first = file.place(next(iterate_records(file))[0], "id")
        if self._unnamed is None:
            self._unnamed, self._unnamed_record = bad_id_error(record, "gold", first), record

        def number(record: dict[str, Any]) -> str:
            if "id" in record:
                raise _some_without_id_error(record["id"], first)
            self._numbered += 1
            return str(self._numbered)

        return rewrite_records(file, file.form, lambda data: with_id(data, number))

    def _predictions(self, file: RecordFile) -> RecordFile:
        of_file = recognize_file_layout(file)
        if of_file is not None:
            return self._copy(file, of_file.name, of_file.answers(file, self.fields))
        record = first_record(file)
        if recognize_record_layout(record) is None and recognize_published(record) is None:
            file = extract_records(file)
            record = first_record(file)
        fields = self._fields_of(record)
        layout = recognize_record_layout(record) if fields.response is None else None
        if layout is not None:
            answers = _join_parts(_read_answers(file, self._layout_reader(layout, fields)))
            return self._copy(file, layout.name, answers, in_order=layout.in_order)
        dialect = recognize_published(record) if fields == OWN_FIELDS else None
        if dialect is not None:
            find, read_as = self._gold_index.find, self.gold.dialects.get(dialect.name, dialect)
            answers = _read_answers(file, lambda record: published_answer(record, read_as, find), decode_published)
            return self._copy(file, read_as.name, answers)
        is_numbered = self._gold_has_no_ids and isinstance(record, dict) and "id" not in record
        if fields != OWN_FIELDS or is_numbered:
            return self._copy(file, None, _read_answers(file, lambda record: answer_of(record, fields)))
        if self._unnamed is not None and record is not None:
            raise self._unnamed
        return file

    def _fields_of(self, record: Any) -> FieldPaths:
        """The fields of a file with this first record: its own `id`, where only the gold has the field for ids."""
        path = self.fields.id
        if path is None or not self.gold.used_id_field or not isinstance(record, dict):
            return self.fields
        return self.fields._replace(id=None) if "id" in record and not has_path(record, path) else self.fields

    def _layout_reader(self, layout: RecordLayout, fields: FieldPaths) -> Callable[[Any], LayoutAnswer | None]:
        """What takes the answer from a record of a layout; of one with another view than the first, nothing."""
        views: list[object] = []
        find = self._gold_index.find if layout.in_tokens else None

        def read(record: Mapping[str, Any]) -> LayoutAnswer | None:
            view = layout.view(record)
            if view != (views or [view])[0]:
                return None
            views[:] = [view]
            answer = layout.answer(record)
            if answer is None:
                return None
            if fields.id is not None:
                answer = answer._replace(id=id_at(record, fields.id))
            if find is not None:
                gold = find(answer.id) if answer.id is not None else None
                answer = answer._replace(content={"events": attach_text(answer.content["events"], gold)})
            return answer

        return read

    def _copy(
        self, file: RecordFile, form: str | None, answers: Iterator[AnswerLine], *, in_order: bool = False
    ) -> RecordFile:
        """The answers as predictions, each on its line, with the id that it is joined by."""

        def records() -> Iterator[tuple[int, bytes]]:
            for number, (line, answer) in enumerate(answers, 1):
                if answer is not None:  # what failed is a missing answer
                    place = Place(file.name, line, record=number if file.is_array and form is None else None)
                    record = {"id": self._identity(answer, place, in_order=in_order), **answer.content}
                    yield line, orjson.dumps(record, option=orjson.OPT_NON_STR_KEYS, default=str)

        return copy_records(file, records(), form)

    def _identity(self, answer: LayoutAnswer, place: Place, *, in_order: bool) -> str:
        if answer.id is not None:
            return answer.id
        if not self._gold_has_no_ids and not in_order:
            raise InputError(
                "predictions.bad_id",
                "a predictions record needs an id",
                place=place._replace(field=self.fields.id or "id"),
                expected=EXPECTED_ID,
                found="no id",
                advice="--id-field names the field or the column with the id",
            )
        if self._alone:
            self._taken += 1
            return str(self._taken)
        if not self.by_order:
            self._require_no_common_id(answer.record or {}, place._replace(field="id"))
        self.by_order = True
        position, gold = answer.position, self._gold_index
        if position is None:
            position, self._taken = self._taken, self._taken + 1
            if position == len(gold):
                raise _count_error(place, len(gold), "more")
        if position < len(gold):
            return gold.record(position).require_id()
        return str(position + 1)  # which no gold record has: an error later

    def _require_no_common_id(self, record: Mapping[str, Any], place: Place) -> None:
        """Refuse to join by order where both sides have ids under another name: one line more would shift them all."""
        gold = self._unnamed_record
        both = {key: record[key] for key in record if key in gold and record_id({"id": gold[key]}) is not None}
        key = likely_id_key(both)
        if key is not None:
            raise InputError(
                "predictions.bad_id",
                f"there is no field id, and both files have {key}",
                place=place,
                expected="an id, so that each answer is compared with its own gold record",
                found=f"the keys {list_keys(record)}",
                advice=f"use --id-field {key}; to join by order, leave {key} out of one of the files",
            )

    @property
    def _gold_has_no_ids(self) -> bool:
        return self._alone or self._unnamed is not None or self.gold.numbered

    @cached_property
    def _gold_index(self) -> IdIndex:
        return index_stores([RecordStore(self._gold)])[0]


def _read_answers(
    file: RecordFile,
    read: Callable[[Any], LayoutAnswer | None],
    decode: Callable[[bytes], Any] | None = None,
) -> Iterator[AnswerLine]:
    """The answer of each record, which is an object, or whatever `decode` gives; an error has its line."""
    for line, offset, data in records_with_lines(file):
        record = decode_record(file, offset, data).value if decode is None else decode_value(file, offset, data, decode)
        try:
            yield line, read(record)
        except InputError as error:
            error.place = file.place(offset, error.place.field)
            raise


def _join_parts(answers: Iterator[AnswerLine]) -> Iterator[AnswerLine]:
    """The answers; several records that are one answer are one, at the end."""
    parts: dict[str | None, tuple[int, LayoutAnswer]] = {}
    for line, answer in answers:
        if answer is None or not answer.part:
            yield line, answer
        elif answer.id in parts:
            parts[answer.id][1].content["events"].extend(answer.content["events"])
        else:
            parts[answer.id] = line, answer
    yield from parts.values()


def _some_without_id_error(identity: Any, first: Place) -> InputError:
    return InputError(
        "gold.bad_id",
        "some gold records have an id, and some have none",
        place=Place(field="id"),
        expected="an id in every record, or in none",
        found=f"{describe_value(identity)} here, and no id in line {first.line}",
        advice="give every record an id of its own",
    )


def _count_error(place: Place, gold: int, found: str) -> InputError:
    return InputError(
        "predictions.other_count",
        "gold and predictions are joined by their order, and one has more records than the other",
        place=place,
        expected=f"{gold} predictions, as many as there are gold records",
        found=found,
        advice="is this gold of another split? With ids in both, or --id-field, order makes no difference",
    )
