"""The site on which a person labels items one by one: `goldgate label`.

The file of labels is written anew for every label, beside the old one, flushed to disk, and then takes its place. So it
is whole at every moment, whoever reads it and however the process ends, a changed label leaves no second line, and
there is one way of writing, not one for new labels and one for changes. It costs a write of the whole file: 11 ms at a
thousand labels, 36 ms at ten thousand, and people give one in some seconds. Lines are in the order of first labels.
"""

from __future__ import annotations

import getpass
import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from stat import S_ISREG
from typing import Any

import orjson

from goldgate.core.finding import record_id
from goldgate.core.suite import Options
from goldgate.errors import ConfigError, GoldgateError, InputError, Place, describe_value
from goldgate.files.writing import FolderLock, atomic_file, write_failure
from goldgate.readers.draw import ItemFiles, ItemKey, label_key, questions_by_id
from goldgate.readers.guess import field_error
from goldgate.readers.labels import DRAWN, HUMAN, ITEM_SHA256, JUDGE, LABELS_SHA256, UNSURE
from goldgate.readers.records import bounded_lines, decode_json
from goldgate.suites.judged.ask import (
    YES_AND_NO,
    LabelChoice,
    open_items_to_label,
    parse_choices,
    read_judges,
    read_question,
)
from goldgate.suites.judged.label_page import (
    BACK,
    LABEL_ASSETS,
    MAX_NOTE_CHARACTERS,
    NEXT,
    REFERRER,
    ItemView,
    StoredLabel,
    is_same_label,
    render_done,
    render_item,
    render_label_error,
)
from goldgate.viewer.pages import server_policy
from goldgate.viewer.server import (
    BAD_REQUEST,
    NO_SUCH_PAGE,
    NOT_FOUND,
    OK,
    POST,
    SERVER_ERROR,
    HttpRequest,
    SiteResponse,
    query_fields,
    redirect,
)

_ITEM = re.compile(r"/items/([1-9][0-9]{0,9})")
_SAVED = re.compile(r"saved=([1-9][0-9]{0,9})")
_MAX_FIELDS = 10  # of a form
_OUT_ADVICE = "choose a file for --out that can be written to"
_OTHER_OUT = "choose another file for --out"


def open_label_site(items: str, out: str, options: Options) -> LabelSite:
    """The site for these items and labels; a draw is recognized by its first line."""
    choices = parse_choices(options.get("labels"), options.get("protocol"))
    question, judges = read_question(options.get("question")), options.get("judge")
    with ExitStack() as opened:
        to_label = opened.enter_context(open_items_to_label(items, question))
        judge = {} if judges is None else read_judges(judges, to_label)
        labels = LabelFile(out, options.get("by"), to_label, [choice.value for choice in choices])
        opened.pop_all()  # the site closes them
        return LabelSite(to_label, labels, choices, question or "", judge)


class LabelSite:
    """Pages of items, forms that label them, and a page at the end."""

    def __init__(
        self,
        items: ItemFiles,
        labels: LabelFile,
        choices: Sequence[LabelChoice],
        question: str,
        judge: Mapping[ItemKey, tuple[str, ...]],
    ) -> None:
        self._items = items
        self._keys = list(items)
        self._labels = labels
        self._choices = choices
        self._question = question
        self._judge = judge
        self._drafts: dict[ItemKey, str] = {}  # notes of items without a label

    @property
    def summary(self) -> str:
        """How far the person has come; at the end, the command that takes the labels."""
        progress = f"{len(self._labels):,} of {len(self._keys):,} items labelled in {self._labels.path}"
        if len(self._labels) < len(self._keys) or self._items.header is None:
            return progress
        labels, draw = shlex.quote(str(self._labels.path)), shlex.quote(self._items.store.name)
        command = f"goldgate judged --labels {labels} [JUDGE.jsonl] --items ITEMS.jsonl --draw {draw}"
        if self._choices is YES_AND_NO:
            return f"{progress}\nnext: {command}"
        words = ", ".join(f"{choice.word}: NUMBER" for choice in self._choices)
        return f"{progress}\nnext: {command} --protocol FILE, with judged: {{labels: {{{words}}}}} in it"

    @property
    def policy(self) -> str:
        return server_policy(*LABEL_ASSETS)

    def error_page(self, message: str) -> str:
        return render_label_error(message)

    def close(self) -> None:
        """Close the items and let others write the labels."""
        self._items.store.close()
        self._labels.close()

    def respond(self, request: HttpRequest) -> SiteResponse:
        try:
            response = self._respond(request)
        except GoldgateError as error:
            response = SiteResponse(SERVER_ERROR, self.error_page(str(error)))
        return response._replace(headers={**response.headers, "Referrer-Policy": REFERRER})

    def _respond(self, request: HttpRequest) -> SiteResponse:
        match = _ITEM.fullmatch(request.path)
        if match is not None and int(match[1]) <= len(self._keys):
            place = int(match[1]) - 1
            if request.method == POST:
                return self._take(place, query_fields(request.body.decode("ascii", "replace"), _MAX_FIELDS))
            return SiteResponse(OK, self._item_page(place, saved=self._saved_words(request.query)))
        if request.path == "/" and request.method != POST:
            return self._to_next(0)
        if request.path == "/done" and request.method != POST:
            return SiteResponse(OK, self._done_page())
        return SiteResponse(NOT_FOUND, self.error_page(NO_SUCH_PAGE))

    def _take(self, place: int, fields: Mapping[str, str]) -> SiteResponse:
        """Do what a form asks for: the label and the note are on disk before the answer."""
        key, wish = self._keys[place], fields.get("do", "")
        note = fields.get("note", "").replace("\r\n", "\n").strip()
        answer = self._labels.get(key)
        values = {str(number): choice.value for number, choice in enumerate(self._choices, 1)} | {UNSURE: UNSURE}
        if wish not in (*values, BACK, NEXT):
            return SiteResponse(BAD_REQUEST, self.error_page("The form has no label that is known here."))
        if len(note) > MAX_NOTE_CHARACTERS:
            problem = f"Not saved: a note has at most {MAX_NOTE_CHARACTERS:,} characters, this one {len(note):,}."
            return SiteResponse(BAD_REQUEST, self._item_page(place, note=note, problem=problem))
        if wish in values or answer is not None:
            label = values.get(wish, None if answer is None else answer.label)
            is_changed = answer is not None and not is_same_label(answer.label, label)
            try:
                self._labels.give(key, label, note, judge_seen=is_changed and key in self._judge)
            except ConfigError as error:
                problem = f"Not saved: {error.found or error.message}. {error.advice or ''}"
                return SiteResponse(SERVER_ERROR, self._item_page(place, note=note, problem=problem))
            self._drafts.pop(key, None)
        else:
            self._drafts[key] = note
        if wish == BACK:
            return redirect(f"/items/{max(place, 1)}")
        if wish == NEXT:
            return redirect(f"/items/{place + 2}" if place + 1 < len(self._keys) else "/done")
        return self._to_next(place + 1, f"?saved={place + 1}")

    def _to_next(self, place: int, query: str = "") -> SiteResponse:
        """Lead to the first item without a label from a place on, then from the beginning; else to the end."""
        following = next((first for begin in (place, 0) if (first := self._first_open(begin)) is not None), None)
        return redirect("/done" if following is None else f"/items/{following + 1}{query}")

    def _first_open(self, begin: int) -> int | None:
        places = range(begin, len(self._keys))
        return next((place for place in places if self._labels.get(self._keys[place]) is None), None)

    def _item_page(self, place: int, *, saved: str = "", note: str | None = None, problem: str = "") -> str:
        key = self._keys[place]
        answer = self._labels.get(key)
        if note is None:
            note = self._drafts.get(key, "") if answer is None else answer.note
        judge = () if answer is None else self._judge.get(key, ())
        self._items.store.require_unchanged()
        view = ItemView(
            place + 1, len(self._keys), len(self._labels), self._items[key], self._question, answer, note, judge,
            saved, problem,
        )  # fmt: skip
        return render_item(view, self._choices)

    def _saved_words(self, query: str) -> str:
        """The message about the label that was saved last, with the judge's label of the same item."""
        match = _SAVED.fullmatch(query)
        if match is None or int(match[1]) > len(self._keys):
            return ""
        key = self._keys[int(match[1]) - 1]
        answer = self._labels.get(key)
        if answer is None:
            return ""
        judge = "".join(f" Judge: {words}." for words in self._judge.get(key, ()))
        return f"Saved item {int(match[1]):,}: {self._word(answer.label)}.{judge}"

    def _word(self, label: object) -> str:
        return next((choice.word for choice in self._choices if is_same_label(choice.value, label)), str(label))

    def _done_page(self) -> str:
        counts = dict.fromkeys([*(choice.word for choice in self._choices), UNSURE], 0)
        for label in self._labels.labels():
            counts[self._word(label)] += 1
        first = self._first_open(0)
        return render_done(len(self._keys), counts, None if first is None else first + 1, self._labels.path)


class LabelFile:
    """One person's labels of some items, locked while it is open. What `give` returns from is on disk."""

    def __init__(
        self,
        path: str,
        by: str | None,
        items: ItemFiles,
        values: Sequence[str | bool],
    ) -> None:
        self.path = path
        self._items = items
        _require_file(path)
        self._file = os.path.realpath(path)
        self._lock = _lock(self._file, path)
        try:
            self._labels = _read_person(self._file, path, by, items, (*values, UNSURE))
            self.by = _choose_name(self._labels, by)
            if not os.path.exists(self._file):
                self._write({})  # what cannot be written is said before anybody has labelled anything
        except BaseException:
            self._lock.release()
            raise

    def __len__(self) -> int:
        return len(self._labels)

    def get(self, key: ItemKey) -> StoredLabel | None:
        """The label of an item, if it has one."""
        return self._labels.get(key)

    def labels(self) -> Iterable[object]:
        """All labels that were given."""
        return (stored.label for stored in self._labels.values())

    def give(self, key: ItemKey, label: object, note: str, *, judge_seen: bool) -> None:
        """Store a label in place of an earlier one; a ConfigError if it cannot be written, and then nothing changes."""
        self._items.store.require_unchanged()
        before = self._labels.get(key)
        if before is not None and before.note == note and is_same_label(before.label, label):
            return
        judge_seen = judge_seen or (before is not None and before.judge_seen)
        item, header = self._items[key], self._items.header
        record = {
            "id": key.id,
            "label": label,
            "by": self.by,
            "kind": HUMAN,
            "group": self._items.groups[key],
            "question": None if item.get("question") is None else key.question,
            "note": note or None,
            "judge_seen": judge_seen or None,
            ITEM_SHA256: self._items.digests[key],
            DRAWN: None if header is None else header["n"],
            LABELS_SHA256: None if header is None else header.get(LABELS_SHA256),
        }
        line = orjson.dumps({name: value for name, value in record.items() if value is not None})
        labels = {**self._labels, key: StoredLabel(label, note, judge_seen, line)}
        self._write(labels)
        self._labels = labels

    def close(self) -> None:
        """Let other processes write the file."""
        self._lock.release()

    def _write(self, labels: Mapping[ItemKey, StoredLabel]) -> None:
        with atomic_file(self._file, _OUT_ADVICE, durable=True) as stream:
            stream.writelines(stored.line + b"\n" for stored in labels.values())


def _require_file(path: str) -> None:
    """Refuse what labels cannot be kept in: a folder, a device."""
    try:
        is_file = S_ISREG(os.stat(path).st_mode)
    except FileNotFoundError:
        return
    except OSError as problem:
        raise write_failure(path, problem, _OUT_ADVICE, "the labels cannot be written") from None
    if not is_file:
        raise ConfigError(
            "label.not_a_file",
            "labels are kept in a file of this machine",
            place=Place(path),
            expected="the path of a file",
            advice=_OTHER_OUT,
        )


def _lock(file: str, path: str) -> FolderLock:
    folder, name = os.path.split(file)
    try:
        return FolderLock(Path(folder), f".{name}.lock")
    except OSError as problem:
        raise write_failure(path, problem, _OUT_ADVICE, "the labels cannot be written") from None
    except ConfigError as error:
        if error.code != "out.in_use":
            raise
        raise ConfigError(
            "label.in_use",
            "another goldgate label is writing these labels",
            place=Place(path),
            found=error.found,
            advice="go on there, or end it first (Ctrl-C); a second person needs another file for --out",
        ) from None


def _read_person(
    file: str, path: str, by: str | None, items: ItemFiles, values: Sequence[str | bool]
) -> dict[ItemKey, StoredLabel]:
    """The labels of an earlier sitting; any that this one cannot go on with is an InputError with its line.

    A last line that was cut off, by whatever copied the file, is left out: its item is asked again.
    """
    labels: dict[ItemKey, StoredLabel] = {}
    questions = questions_by_id(items)
    try:
        with open(file, "rb") as stream:
            for number, line in enumerate(bounded_lines(stream, "label", path), 1):
                try:
                    record = _decode_line(line)
                    if record is not None:
                        stored = _parse_line(record, line.rstrip(b"\r\n"), by, values)
                        by, key = record["by"], label_key(record, questions)
                        _require_fitting(record, key, labels.get(key), items)
                        labels[key] = stored
                except InputError as error:
                    error.place = Place(path, number, error.place.field)
                    raise
    except FileNotFoundError:
        pass
    except OSError as problem:
        raise write_failure(path, problem, _OUT_ADVICE, "the labels cannot be read") from None
    return labels


def _decode_line(line: bytes) -> Any:
    """The value of a line; None for a blank one, and for a last one that was cut off."""
    try:
        return decode_json(line) if line.strip() else None
    except ValueError as problem:
        if not line.endswith(b"\n"):
            return None
        advice = f"mend the line, or {_OTHER_OUT}"
        raise InputError("label.not_json", "this line is not JSON", found=str(problem), advice=advice) from None


def _parse_line(record: Any, line: bytes, by: str | None, values: Sequence[str | bool]) -> StoredLabel:
    """A line of a person's labels."""
    identity = record_id(record) if isinstance(record, dict) else None
    if identity is None or type(record.get("by")) is not str or not record["by"] or record.get("kind") != HUMAN:
        raise InputError(
            "label.not_a_label",
            "this is not a label of a person",
            expected='{"id": …, "label": …, "by": …, "kind": "human"}',
            found="a label of a judge" if isinstance(record, dict) and record.get("kind") == JUDGE else None,
            advice=_OTHER_OUT,
        )
    name, label, note = record["by"], record.get("label"), record.get("note")
    if by not in (None, name):
        advice = "every person needs a file of their own: choose another --out, or go on as that person with --by"
        raise field_error("label.other_person", f"these are labels of {name}", "by", f"labels of {by}", name, advice)
    if not any(is_same_label(label, value) for value in values):
        words = " or ".join(orjson.dumps(value).decode() for value in values)
        advice = f"give the --labels or the --protocol that the file was begun with, or {_OTHER_OUT}"
        raise field_error("label.other_words", "this label cannot be given here", "label", words, label, advice)
    return StoredLabel(label, note if isinstance(note, str) else "", record.get("judge_seen") is True, line)


def _require_fitting(record: Mapping[str, Any], key: ItemKey, before: StoredLabel | None, items: ItemFiles) -> None:
    """Refuse a label of an item that is not here, or showed something else; and a second label of an item."""
    same_items = "give the items that the file was begun with"
    if key not in items:
        raise InputError(
            "label.other_items",
            "this label is of an item that is not to be labelled here",
            expected="labels of the items that are given",
            found=describe_value(key.id),
            advice=f"{same_items}, or {_OTHER_OUT}",
        )
    if before is not None and not is_same_label(before.label, record["label"]):
        labels = f"{record['id']}: {before.label} and {record['label']}"
        advice = "keep the one that counts"
        raise InputError("label.two_labels", "this item has two different labels", found=labels, advice=advice)
    digest = record.get(ITEM_SHA256)
    if digest not in (None, items.digests[key]):
        raise InputError(
            "label.other_item",
            "the item was changed since it was labelled",
            place=Place(field=ITEM_SHA256),
            expected=f"{items.digests[key]}: what {record['id']} shows now",
            found=str(digest),
            advice=f"{same_items}, take the line out to label the item again, or {_OTHER_OUT}",
        )


def _choose_name(labels: Mapping[ItemKey, StoredLabel], by: str | None) -> str:
    if by is not None and by.strip():
        return by
    if labels:
        return str(orjson.loads(next(iter(labels.values())).line)["by"])
    try:
        name = "" if by is not None else getpass.getuser()
    except (OSError, KeyError):
        name = ""
    if not name:
        raise ConfigError("label.no_name", "whose labels these are is not known", advice="give your name: --by NAME")
    return name
