"""Labels as they are stored, read into what people and judges said of each item."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

from goldgate.errors import ConfigError, InputError, Place, as_yaml, describe_value, did_you_mean
from goldgate.files.parsing import decode_strictly
from goldgate.readers.draw import ItemKey, is_draw_header, label_key
from goldgate.readers.guess import describe_keys, field_error, likely_id_key, unread_layout_advice
from goldgate.readers.id_index import open_store
from goldgate.readers.layouts.tables import TABLE, cell_value, label_rows
from goldgate.readers.records import LocatedRecord, RecordFile, RecordStore, decode_record, open_records, record_group

UNSURE: Literal["unsure"] = "unsure"
HUMAN, JUDGE = "human", "judge"
# In a label: what was shown, the size of the draw, and which labels of a judge the draw named.
ITEM_SHA256, DRAWN, LABELS_SHA256 = "item_sha256", "drawn", "labels_sha256"
_MAX_NAMED = 3
_NAME_KEYS = "annotator labeler labeller rater reviewer author user completed_by model name".split()
_SHA256 = re.compile("[0-9a-f]{64}")
_KEYS = ("id", "question", "label", "by", "kind", "group", "judge_seen", ITEM_SHA256, DRAWN, LABELS_SHA256)
_QUOTED_KEY = re.compile(f'"(?:{"|".join(_KEYS)})"'.encode())
Label = Fraction | Literal["unsure"] | None  # None: a judge whose answer had no label


class NamedLabel(NamedTuple):
    """A label and whose it is."""

    by: str
    label: Label


@dataclass(slots=True)
class ItemLabels:
    """Every label of one item."""

    people: dict[str, Label] = field(default_factory=dict)
    judges: dict[str, Label] = field(default_factory=dict)
    group: str | None = None
    judge_groups: bool = False  # whether labels of judges alone name the group
    item_sha256: str | None = None  # of what was shown; None: no label says
    drawn: int | None = None  # items of the smallest draw that a label of a person names

    @property
    def human(self) -> Fraction | None:
        """The mean of the labels that people gave; None where they gave none, or all are unsure."""
        return _mean(self.people.values())

    @property
    def is_unsure(self) -> bool:
        """Whether every person who labelled the item was unsure."""
        return bool(self.people) and self.human is None

    def judge(self) -> Fraction | None:
        """The mean of the judges that gave a label; None where none did."""
        return _mean(self.judges.values())


def _mean(labels: Iterable[Label]) -> Fraction | None:
    numbers = [label for label in labels if isinstance(label, Fraction)]
    if len(numbers) == 1:  # the usual case, in a fraction of the time
        return numbers[0]
    return sum(numbers, Fraction(0)) / len(numbers) if numbers else None


@dataclass(slots=True)
class LocatedRecords:
    """Where the records about each item are in their files; a record is read again when it is asked for."""

    store: RecordStore
    _places: dict[ItemKey, list[tuple[RecordFile, int, int]]] = field(default_factory=dict)

    def __contains__(self, key: ItemKey) -> bool:
        return key in self._places

    def __iter__(self) -> Iterator[LocatedRecord]:
        """Every record of every file; one with two ids is an error with its line."""
        for record in self.store.records():
            record.file.records += 1
            if isinstance(record.value.get("id"), str):
                record.require_one_id()
            yield record

    def add(self, key: ItemKey, record: LocatedRecord) -> None:
        self._places.setdefault(key, []).append((record.file, record.offset, len(record.data)))

    def located(self, key: ItemKey) -> Iterator[LocatedRecord]:
        """The records about an item, in the order of the files."""
        for file, offset, size in self._places.get(key, ()):
            yield decode_record(file, offset, file.plain.read(offset, size))

    def records(self, key: ItemKey) -> list[dict[str, Any]]:
        """The values of the records about an item, in the order of the files."""
        return [record.value for record in self.located(key)]


@dataclass(slots=True)
class LabelSet:
    """The labels of some files by item, the names of people and judges, and counts of unusual labels."""

    located: LocatedRecords
    items: dict[ItemKey, ItemLabels] = field(default_factory=dict)
    people: set[str] = field(default_factory=set)
    judges: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)  # judges whose labels are not taken
    judge_seen: int = 0  # labels that people changed after they had seen the judge's
    unread: int = 0  # labels of judges that are neither a number from 0 to 1 nor a word of the protocol
    unread_example: str | None = None  # one of these, whatever the order of the lines
    undigested: Counter[str] = field(default_factory=Counter)  # labels that do not say what was shown, by kind
    authors: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # labels by file, kind and name
    # Labels of people that say what was shown, by the size of the draw; None: they do not say that they were drawn.
    sizes: Counter[int | None] = field(default_factory=Counter)
    # Digests of the labels of a judge that draws named when people labelled; None: a label of a person names none.
    older: set[str | None] = field(default_factory=set)

    @property
    def labelled(self) -> Iterator[ItemKey]:
        """The items with a label of a person, `unsure` among them."""
        return (key for key, labels in self.items.items() if labels.people)

    def digests(self) -> list[LabelDigest]:
        """The digest of each file, and who gave how many of its labels."""
        authors, entries, store = sorted(self.authors.items()), list[LabelDigest](), self.located.store
        for file, digest in zip(store.files, store.sha256s(), strict=True):
            people, judges = (
                {name: count for (path, own, name), count in authors if (path, own) == (file.name, kind)}
                for kind in (HUMAN, JUDGE)
            )
            entries.append({"sha256": digest, "labels": file.records, "people": people, "judges": judges})
        return entries


class LabelDigest(TypedDict):
    """A file of labels: how many, and how many of them each person and each judge gave."""

    sha256: str
    labels: int
    people: dict[str, int]
    judges: dict[str, int]


def open_labels(paths: Sequence[str]) -> LocatedRecords:
    """Open files of labels, which may be tables; nothing but these is read yet."""
    return LocatedRecords(open_store(paths, "labels", _open_label_file))


def _open_label_file(path: str | Path, kind: str) -> RecordFile:
    file = open_records(path, kind)
    try:
        return label_rows(file) if TABLE.recognizes(file) else file
    except BaseException:
        file.close()
        raise


def read_labels(
    located: LocatedRecords,
    words: Mapping[str, object],
    section: str,
    judge: str | None = None,
    questions: Mapping[str, str | None] | None = None,
    people: Collection[str] | None = (),
) -> LabelSet:
    """All labels; the first mistake is an InputError with its line.

    Without names of `people`, a file has labels of people or of judges; with them, these are all people there are, each
    with labels in files of one kind. None asks for neither, to look labels up.
    `words` are labels of a section of the protocol, and `judge` names the only one that counts. A label without a
    question has that of the item with its id, where `questions` knows one.
    """
    if UNSURE in words:
        raise ConfigError(
            "labels.unsure_is_no_word",
            f"`{UNSURE}` is an answer of its own, and has no number",
            place=Place(field=f"{section}.labels.{UNSURE}"),
            advice="take it out of the protocol's labels",
        )
    labels, numbers = LabelSet(located), {word: Fraction(str(number)) for word, number in words.items()}
    names, kinds = set[str](), dict[str, str]()  # of judges; of files
    for record in located:
        try:
            if record.data.count(b":") != len(record.value):  # each key has one, and some texts do
                _require_single_keys(record)
            key, kind, name = _label_key(record.value, questions or {}), _kind(record.value), _name(record.value)
            located.add(key, record)
            labels.authors[record.file.name, kind, name] += 1
            if people:
                _require_named(kind, name, people, section)
            elif people is not None and kinds.setdefault(record.file.name, kind) != kind:
                raise _two_kinds(kind, section)
            if kind == JUDGE:
                names.add(name)
                if judge not in (None, name):
                    labels.left_out.add(name)
                    continue
            label = _parse_label(record, kind, numbers, section)
            _add_label(labels, key, kind, name, label)
            if label is None and record.value.get("label") is not None:
                labels.unread += 1
                text = describe_value(record.value["label"])
                labels.unread_example = min(text, labels.unread_example or text)
            _add_group(labels.items[key], kind, record.value)
            _add_shown(labels, key, kind, record.value)
            labels.judge_seen += kind == HUMAN and record.value.get("judge_seen") is True
        except InputError as error:
            error.code = error.code.replace("items.", "labels.", 1).replace("gold.", "labels.", 1)
            raise record.at(error) from None
    if people:
        _require_one_kind_of_file(labels.authors)
    if judge is not None and judge not in names:
        raise ConfigError(
            "labels.unknown_judge",
            "no label is of this judge",
            expected=", ".join(sorted(names)) or "a name that labels of the kind judge have as `by`",
            found=judge,
            advice=did_you_mean(judge, sorted(names)),
        )
    return labels


def _require_single_keys(record: LocatedRecord) -> None:
    """Refuse a label with one of its keys twice, of which only the last was read."""
    data = record.data
    names = _QUOTED_KEY.findall(data)
    if len(names) == len({*names}) and b"\\u00" not in data:  # as a letter of a key may be written
        return
    for code, problem, message in decode_strictly(data.decode("utf-8", "replace")).flaws:
        if code == "duplicate_key" and problem.pointer.removeprefix("/") in _KEYS:
            raise InputError("labels.duplicate_key", message, expected=problem.expected, found=problem.found)


def _label_key(record: dict[str, Any], questions: Mapping[str, str | None]) -> ItemKey:
    if is_draw_header(record):
        raise InputError(
            "labels.is_a_draw",
            "this is a draw, not labels",
            expected="what goldgate label or goldgate judge wrote",
            advice="give it as --draw; --labels takes the labels of what was drawn",
        )
    try:
        return label_key(record, questions)
    except InputError as error:
        other = likely_id_key(record)
        error.advice = unread_layout_advice(record) or (other and f"is {other} the id? then rename it to id")
        raise


def _kind(record: dict[str, Any]) -> Literal["human", "judge"]:
    if record.get("kind") == HUMAN:
        return "human"
    if record.get("kind") == JUDGE:
        return "judge"
    message, expected = "a label needs its kind: of a person or of a judge", '"human" or "judge"'
    advice = "write human where a person gave the label, and judge where a model did"
    raise _unusable("labels.bad_kind", message, "kind", expected, record.get("kind"), record, advice)


def _name(record: dict[str, Any]) -> str:
    name = record.get("by")
    if type(name) is str and name:
        return name
    other = next((key for key in _NAME_KEYS if key in record), None)
    advice = "write any text that tells people apart" if other is None else f"is it {other}? then rename that to by"
    message, expected = "a label needs the name of who gave it", "a string that is not empty"
    raise _unusable("labels.bad_by", message, "by", expected, name, record, advice)


def _two_kinds(kind: str, section: str) -> InputError:
    """The error for people in a judge's file: its author must not be able to add people."""
    return InputError(
        "labels.two_kinds",
        "this file has labels of people and of judges",
        place=Place(field="kind"),
        expected="labels of people and labels of judges in files of their own",
        found=f"{kind}, after labels of the other kind",
        advice="split the file, or name the people in the protocol: " + as_yaml(f"{section}.people", "[ann, bob]"),
    )


def _require_one_kind_of_file(authors: Iterable[tuple[str, str, str]]) -> None:
    """Refuse a person with labels in files of people and in a judge's: who writes that could add to them."""
    judged = {file for file, kind, _ in authors if kind == JUDGE}
    own = {name: file for file, kind, name in sorted(authors) if kind == HUMAN and file not in judged}
    for file, kind, name in sorted(authors):
        if kind == HUMAN and file in judged and name in own:
            raise InputError(
                "labels.two_kinds",
                "one person has labels in a file of people and in one that has labels of judges too",
                place=Place(file, field="by"),
                expected=f"all labels of {name} in {own[name]}, or all of them in {file}",
                found=name,
            )


def _require_named(kind: str, name: str, people: Collection[str], section: str) -> None:
    if kind == HUMAN and name not in people:
        raise InputError(
            "labels.other_person",
            "the protocol does not name this person",
            place=Place(field="by"),
            expected=", ".join(sorted(people)),
            found=name,
            advice=did_you_mean(name, people) or f"add the name to {section}.people, or leave out these labels",
        )


def _parse_label(record: LocatedRecord, kind: str, words: Mapping[str, Fraction], section: str) -> Label:
    """A label as a number, or `unsure`; None for a judge's label that cannot be read."""
    label = record.value.get("label")
    if isinstance(label, str) and label not in words and record.file.form == TABLE.name:
        label = cell_value(label)
    if isinstance(label, str):
        if label in words:
            return words[label]
        if label == UNSURE and kind == HUMAN:
            return UNSURE
    elif isinstance(label, (bool, int, float)) and 0 <= label <= 1:
        return Fraction(repr(label + 0))
    if kind == JUDGE:
        return None
    word_list = "".join(f"{word}, " for word in words) or "a word that the protocol lists, "
    expected = f'true, false, a number from 0 to 1, {word_list}or "{UNSURE}"'
    message, advice = "this label of a person cannot be read", _label_advice(label, words, section)
    raise _unusable("labels.bad_label", message, "label", expected, label, record.value, advice)


def _label_advice(label: object, words: Mapping[str, Fraction], section: str) -> str | None:
    """What to do about a label that cannot be read."""
    if isinstance(label, str):
        if label.casefold() in ("true", "false"):
            return f"write {label.casefold()} without quotation marks"
        near = did_you_mean(label, words) or (f"did you mean {UNSURE}?" if label.casefold().strip() == UNSURE else None)
        numbers = as_yaml(f"{section}.labels", f"{{{label}: NUMBER, …}}")
        return near or f"say in the protocol what number each word is: {numbers}"
    if isinstance(label, (int, float)):
        return "scale it: a score from 1 to 5 is (score - 1) / 4"
    return None


def _add_label(labels: LabelSet, key: ItemKey, kind: str, name: str, label: Label) -> None:
    item = labels.items.setdefault(key, ItemLabels())
    own, names = (item.people, labels.people) if kind == HUMAN else (item.judges, labels.judges)
    names.add(name)
    first = own.setdefault(name, label)
    if first != label:
        first_text, text = (str(float(each)) if isinstance(each, Fraction) else str(each) for each in (first, label))
        raise InputError(
            "labels.two_labels",
            f"{name} gave this item two different labels",
            place=Place(field="label"),
            expected="one label for each id, question and name",
            found=f"{key.id}: {first_text} and {text}",
            advice="keep the one that counts",
        )


def _add_group(item: ItemLabels, kind: str, record: dict[str, Any]) -> None:
    group = record_group(record)
    if group is not None and item.group not in (None, group):
        raise field_error(
            "labels.two_groups", "two labels name different groups of this item", "group", str(item.group), group
        )
    if group is not None:
        item.judge_groups = kind == JUDGE and (item.group is None or item.judge_groups)
    item.group = item.group or group


def _add_shown(labels: LabelSet, key: ItemKey, kind: str, record: dict[str, Any]) -> None:
    """What the person or judge was shown, and of what size the draw was then."""
    item, digest, drawn = labels.items[key], record.get(ITEM_SHA256), record.get(DRAWN)
    if digest is None:
        labels.undigested[kind] += 1
    elif type(digest) is not str or _SHA256.fullmatch(digest) is None:
        raise field_error(
            "labels.bad_item_sha256", "this is not the digest of an item", ITEM_SHA256, "64 hex digits", digest
        )
    elif item.item_sha256 not in (None, digest):
        raise InputError(
            "labels.two_items",
            "labels of this id were given to items that show different things",
            place=Place(field=ITEM_SHA256),
            expected=f"{item.item_sha256}, as in another label of {key.id}",
            found=digest,
            advice="label what was changed again: goldgate label for people, goldgate judge for a judge",
        )
    item.item_sha256 = item.item_sha256 or digest
    if drawn is not None and (type(drawn) is not int or drawn < 1):
        raise field_error("labels.bad_drawn", "this is not the size of a draw", DRAWN, "a whole number from 1", drawn)
    if kind == HUMAN:
        labels.older.add(older if type(older := record.get(LABELS_SHA256)) is str else None)
    if kind == HUMAN and (digest is not None or drawn is not None):
        labels.sizes[drawn] += 1
        item.drawn = drawn if item.drawn is None else min(item.drawn, drawn or item.drawn)


def _unusable(
    code: str, message: str, name: str, expected: str, found: object, record: Mapping[str, Any], advice: str | None
) -> InputError:
    """The error for a label without a field, or with another value there: what it has, and what it may be instead."""
    error = field_error(code, message, name, expected, found, advice)
    if name not in record:
        error.found = describe_keys(record)
        if "label" not in record:
            keys = "a label has the keys id, label, by and kind; goldgate label and goldgate judge make them of items"
            error.advice = unread_layout_advice(record) or keys
    return error


def human_numbers(labels: Iterable[ItemLabels]) -> Iterator[Fraction]:
    """Every number of people that is counted, alone and as the mean of several."""
    for item in labels:
        if item.human is not None:
            yield item.human
            yield from (label for label in item.people.values() if isinstance(label, Fraction))


def file_digests(store: RecordStore, things: str) -> list[dict[str, object]]:
    """The digest of each file, and how many things it has."""
    return [{"sha256": sha256, things: file.records} for sha256, file in zip(store.sha256s(), store.files, strict=True)]
