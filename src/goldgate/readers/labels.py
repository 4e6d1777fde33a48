"""Labels as they are stored, read into what people and judges said of each item."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypedDict

from goldgate.core.contracts import StandsOut
from goldgate.core.finding import remark
from goldgate.core.page import count_text
from goldgate.errors import ConfigError, InputError, Place, as_yaml, describe_value, did_you_mean
from goldgate.files.parsing import decode_strictly
from goldgate.readers.draw import DEFAULT_QUESTION, Digests, Draw, ItemKey, first_ids, is_draw_header, item_key
from goldgate.readers.guess import describe_keys, likely_id_key, unread_layout_advice
from goldgate.readers.id_index import open_store
from goldgate.readers.layouts.table import TABLE, cell_value, label_rows
from goldgate.readers.records import LocatedRecord, RecordFile, RecordStore, decode_record, open_records, record_group

UNSURE: Literal["unsure"] = "unsure"
HUMAN, JUDGE = "human", "judge"
ITEM_SHA256, DRAWN = "item_sha256", "drawn"  # what was shown, and the size of the draw, in a label
_MAX_NAMED = 3
_NAME_KEYS = (
    "annotator",
    "labeler",
    "labeller",
    "rater",
    "reviewer",
    "author",
    "user",
    "completed_by",
    "model",
    "name",
)
_SHA256 = re.compile("[0-9a-f]{64}")
_KEYS = ("id", "question", "label", "by", "kind", "group", "judge_seen", ITEM_SHA256, DRAWN)
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


class LocatedRecords:
    """Where the records about each item are in their files; a record is read again when it is asked for."""

    def __init__(self, store: RecordStore) -> None:
        self.store = store
        self._places: dict[ItemKey, list[tuple[RecordFile, int, int]]] = {}

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
        """The same without their places."""
        return [record.value for record in self.located(key)]


@dataclass(slots=True)
class LabelBook:
    """The labels of all files by item, the names of people and judges, and counts of unusual labels."""

    located: LocatedRecords
    items: dict[ItemKey, ItemLabels] = field(default_factory=dict)
    people: set[str] = field(default_factory=set)
    judges: set[str] = field(default_factory=set)
    left_out: set[str] = field(default_factory=set)  # judges whose labels are not taken
    judge_seen: int = 0  # labels that people changed after they had seen the judge's
    unread: int = 0  # labels of judges that are neither a number from 0 to 1 nor a word of the protocol
    unread_example: str | None = None  # one of these, whatever the order of the lines
    undigested: Counter[str] = field(default_factory=Counter)  # labels that do not say what was shown, by kind
    # Labels of people that say what was shown, by the size of the draw; None: they do not say that they were drawn.
    sizes: Counter[int | None] = field(default_factory=Counter)

    @property
    def labelled(self) -> Iterator[ItemKey]:
        """The items with a label of a person, `unsure` among them."""
        return (key for key, labels in self.items.items() if labels.people)


def open_labels(paths: Sequence[str], kind: str = "labels") -> LocatedRecords:
    """Open files of labels, which may be tables, or of items; nothing but tables is read yet."""
    return LocatedRecords(open_store(paths, kind, _open_label_file if kind == "labels" else open_records))


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
) -> LabelBook:
    """All labels; the first mistake is an InputError with its line.

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
    book, numbers = LabelBook(located), {word: Fraction(str(number)) for word, number in words.items()}
    names: set[str] = set()
    for record in located:
        try:
            if record.data.count(b":") != len(record.value):  # each key has one, and some texts do
                _require_single_keys(record)
            key, kind, name = _label_key(record.value, questions or {}), _kind(record.value), _name(record.value)
            located.add(key, record)
            if kind == JUDGE:
                names.add(name)
                if judge not in (None, name):
                    book.left_out.add(name)
                    continue
            label = _parse_label(record, kind, numbers, section)
            _add_label(book, key, kind, NamedLabel(name, label))
            if label is None and record.value.get("label") is not None:
                book.unread += 1
                text = describe_value(record.value["label"])
                book.unread_example = min(text, book.unread_example or text)
            _add_group(book.items[key], record.value)
            _add_shown(book, key, kind, record.value)
            book.judge_seen += kind == HUMAN and record.value.get("judge_seen") is True
        except InputError as error:
            error.code = error.code.replace("items.", "labels.", 1).replace("gold.", "labels.", 1)
            raise record.at(error) from None
    if judge is not None and judge not in names:
        raise ConfigError(
            "labels.unknown_judge",
            "no label is of this judge",
            expected=", ".join(sorted(names)) or "a name that labels of the kind judge have as `by`",
            found=judge,
            advice=did_you_mean(judge, sorted(names)),
        )
    return book


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
        key = item_key(record, "a label")
    except InputError as error:
        other = likely_id_key(record)
        error.advice = unread_layout_advice(record) or (other and f"is {other} the id? then rename it to id")
        raise
    if record.get("question") is None:
        return key._replace(question=questions.get(key.id) or DEFAULT_QUESTION)
    return key


def _kind(record: dict[str, Any]) -> Literal["human", "judge"]:
    if record.get("kind") == HUMAN:
        return "human"
    if record.get("kind") == JUDGE:
        return "judge"
    message, expected = "a label needs its kind: of a person or of a judge", '"human" or "judge"'
    error = _wrong("bad_kind", message, "kind", expected, record.get("kind"))
    error.advice = "write human where a person gave the label, and judge where a model did"
    raise _with_keys(error, record, "kind")


def _name(record: dict[str, Any]) -> str:
    name = record.get("by")
    if type(name) is str and name:
        return name
    error = _wrong("bad_by", "a label needs the name of who gave it", "by", "a string that is not empty", name)
    other = next((key for key in _NAME_KEYS if key in record), None)
    error.advice = (
        "write any text that tells people apart" if other is None else f"is it {other}? then rename that to by"
    )
    raise _with_keys(error, record, "by")


def _with_keys(error: InputError, record: dict[str, Any], key: str) -> InputError:
    """The error for a label that lacks a key: what it has, and what it may be instead."""
    if key not in record:
        error.found = describe_keys(record)
        if "label" not in record:
            keys = "a label has the keys id, label, by and kind; goldgate label and goldgate judge make them of items"
            error.advice = unread_layout_advice(record) or keys
    return error


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
    error = _wrong("bad_label", "this label of a person cannot be read", "label", expected, label)
    error.advice = _label_advice(label, words, section)
    raise _with_keys(error, record.value, "label")


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


def _add_label(book: LabelBook, key: ItemKey, kind: str, named: NamedLabel) -> None:
    item = book.items.setdefault(key, ItemLabels())
    labels, names = (item.people, book.people) if kind == HUMAN else (item.judges, book.judges)
    names.add(named.by)
    if named.by not in labels:
        labels[named.by] = named.label
    elif labels[named.by] != named.label:
        raise InputError(
            "labels.two_labels",
            f"{named.by} gave this item two different labels",
            place=Place(field="label"),
            expected="one label for each id, question and name",
            found=f"{key.id}: {_describe(labels[named.by])} and {_describe(named.label)}",
            advice="keep the one that counts",
        )


def _add_group(item: ItemLabels, record: dict[str, Any]) -> None:
    group = record_group(record)
    if group is not None and item.group not in (None, group):
        raise _wrong("two_groups", "two labels name different groups of this item", "group", str(item.group), group)
    item.group = item.group or group


def _add_shown(book: LabelBook, key: ItemKey, kind: str, record: dict[str, Any]) -> None:
    """What the person or judge was shown, and of what size the draw was then."""
    item, digest, drawn = book.items[key], record.get(ITEM_SHA256), record.get(DRAWN)
    if digest is None:
        book.undigested[kind] += 1
    elif type(digest) is not str or _SHA256.fullmatch(digest) is None:
        raise _wrong("bad_item_sha256", "this is not the digest of an item", ITEM_SHA256, "64 hex digits", digest)
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
        raise _wrong("bad_drawn", "this is not the size of a draw", DRAWN, "a whole number from 1", drawn)
    if kind == HUMAN and (digest is not None or drawn is not None):
        book.sizes[drawn] += 1
        item.drawn = drawn if item.drawn is None else min(item.drawn, drawn or item.drawn)


def _describe(label: Label) -> str:
    return str(float(label)) if isinstance(label, Fraction) else str(label)


def _wrong(code: str, message: str, field_name: str, expected: str, found: object) -> InputError:
    return InputError(
        f"labels.{code}", message, place=Place(field=field_name), expected=expected, found=describe_value(found)
    )


def human_numbers(labels: Iterable[ItemLabels]) -> Iterator[Fraction]:
    """Every number of people that is counted, alone and as the mean of several."""
    for item in labels:
        if item.human is not None:
            yield item.human
            yield from (label for label in item.people.values() if isinstance(label, Fraction))


def require_groups(book: LabelBook, groups: Mapping[ItemKey, str | None]) -> None:
    """A label that names another group than its item is an error: no digest holds the groups of items."""
    others = [key for key, group in groups.items() if key in book.items and book.items[key].group not in (None, group)]
    if others:
        first = min(others)
        record = next(each for each in book.located.located(first) if each.value.get("group") is not None)
        raise InputError(
            "labels.other_group",
            "labels were given to items of other groups than these, under the same ids",
            place=record.place("group"),
            expected=f"{first.id} in {groups[first] or 'no group'}, as in the items",
            found=f"{count_text(len(others), 'item')} in another group: {first_ids(others)}",
            advice="give the items with the groups that they had when they were labelled",
        )


def require_drawn(draw: Draw, book: LabelBook, population: Collection[ItemKey]) -> None:
    """A label of a person for an item that was not drawn is an error."""
    undrawn = [key for key in book.labelled if key not in draw.items and key in population]
    if undrawn:
        raise InputError(
            "labels.not_drawn",
            "people labelled items that were not drawn",
            place=Place(file_names(book.located)),
            expected=f"labels for the {len(draw.items)} drawn items only",
            found=f"{count_text(len(undrawn), 'other item')}: {first_ids(undrawn)}",
            advice="leave them out, or draw more: a larger `goldgate sample --n` begins with the same items",
        )


def require_shown(book: LabelBook, digests: Digests) -> None:
    """A label that was given to something else than what the item shows is an error."""
    others = {key: digests[key] for key, labels in book.items.items() if labels.item_sha256 and key in digests}
    others = {key: digest for key, digest in others.items() if book.items[key].item_sha256 != digest}
    if others:
        first = min(others)
        records = [*book.located.located(first)]
        record = next(each for each in records if each.value.get(ITEM_SHA256) not in (None, others[first]))
        raise InputError(
            "labels.other_item",
            "labels were given to other items than these, under the same ids",
            place=record.place(ITEM_SHA256),
            expected=f"{others[first]}: what {first.id} shows now",
            found=f"{count_text(len(others), 'item')} that showed something else: {first_ids(others)}",
            advice="these items need labels of their own: goldgate label for people, goldgate judge for a judge",
        )


Sampling = Literal["drawn", "complete", "trusted"]


def find_sampling(
    book: LabelBook, draw: Draw | None, population: Collection[ItemKey], setting: str, section: str
) -> Sampling:
    """How the labelled items were chosen; an InputError where that is not known.

    `setting` is `sampling` in a section of the protocol.
    """
    if draw is not None:
        return "drawn"
    labelled = sum(key in population for key in book.labelled)
    if labelled in (0, len(population)):
        return "complete"
    if setting == "trusted":
        return "trusted"
    raise InputError(
        "labels.not_a_draw",
        "people labelled some of the items, and nothing says that these are a random sample",
        place=Place(file_names(book.located)),
        expected="--draw FILE: what `goldgate sample` drew",
        found=f"labels for {labelled} of {len(population)} items",
        advice=f"add --draw FILE; if they are a random sample that something else drew, put {section}: "
        "{sampling: trusted} in the protocol, which the report says",
    )


class LabelDraws(TypedDict):
    """Labels of people that were not given under this draw, and whether the judge does as well on later ones.

    `compared` items have labels of people and judge, who agree on `agreed` of them: `first` are items of the smallest
    draw that labels name, `later` those that only a larger one has.
    """

    sizes: list[int]  # of the draws that labels name
    other_labels: int  # labels that name another size than the draw's, or none
    first_agreed: int
    first_compared: int
    later_agreed: int
    later_compared: int


def find_label_draws(
    book: LabelBook, draw: Draw | None, items: int, agreed: Mapping[ItemKey, bool]
) -> LabelDraws | None:
    """The labels of other draws; None where there are none. `agreed`: the items that have both labels.

    Without a draw, labels may name none, or one of all `items`.
    """
    usual: set[int | None] = {items, None} if draw is None else {draw.header["n"]}
    if {*book.sizes} <= usual:
        return None
    sizes = sorted(size for size in book.sizes if size is not None)
    first = {key: is_agreed for key, is_agreed in agreed.items() if sizes and book.items[key].drawn == sizes[0]}
    later = {key: is_agreed for key, is_agreed in agreed.items() if (book.items[key].drawn or 0) > (sizes or [0])[0]}
    return {
        "sizes": sizes,
        "other_labels": book.sizes.total() - sum(book.sizes[size] for size in usual),
        "first_agreed": sum(first.values()),
        "first_compared": len(first),
        "later_agreed": sum(later.values()),
        "later_compared": len(later),
    }


def sampling_remarks(
    book: LabelBook, draw: Draw | None, sampling: Sampling, draws: LabelDraws | None
) -> Iterator[StandsOut]:
    """What stands out in how items were chosen and shown."""
    if sampling == "trusted":
        yield remark(
            "trusted_sampling",
            "the labelled items were not drawn by goldgate sample: who chose them may have chosen the result",
        )
    if draw is not None and draw.header["draw"] > 1:
        number = draw.header["draw"]
        yield remark("later_draw", f"this is draw {number} from these items: what did the others give?", draw=number)
    if draws is not None:
        yield _other_sizes(draws, None if draw is None else draw.header["n"])
    if book.undigested:
        people, judge = book.undigested[HUMAN], book.undigested[JUDGE]
        message = (
            f"{count_text(people, 'label')} of people and {judge} of judges do not say what was shown: whether an "
            "item was changed since is not known"
        )
        yield remark("unknown_items", message, people=people, judges=judge)


def _other_sizes(draws: LabelDraws, n: int | None) -> StandsOut:
    """`n`: the size of the draw; None without one."""
    names = [str(size) for size in draws["sizes"] if size != n]
    sizes = first_names(names) or "no size"
    labels = count_text(draws["other_labels"], "label")
    if n is None:
        message = (
            f"{labels} of people given under a draw (size: {sizes}), and no --draw says what was drawn: items may have "
            "been left out when their labels were known"
        )
    else:
        message = (
            f"{labels} of people not given under this draw of {n} items (named: {sizes}): labelling was stopped, "
            "or the draw made larger, when the result could be known"
        )
    numbers = {name: value for name, value in draws.items() if isinstance(value, int)}
    if draws["first_compared"] and draws["later_compared"]:
        message += (
            f"; judge and people agree on {draws['first_agreed']}/{draws['first_compared']} items of the smallest "
            f"draw, and on {draws['later_agreed']}/{draws['later_compared']} later ones"
        )
    return remark("other_draw_size", message, **numbers)


def people_remarks(book: LabelBook, labels: Collection[ItemLabels], noun: str) -> Iterator[StandsOut]:
    """What stands out in who labelled; `labels` are those of everything that is judged, each of it a `noun`."""
    if book.judge_seen:
        changed = count_text(book.judge_seen, "label")
        message = f"{changed} changed by people after they had seen the judge's"
        yield remark("judge_seen", message, labels=book.judge_seen)
    judges = {*map(fold_name, book.judges)}
    both = sorted(name for name in book.people if fold_name(name) in judges)
    if both:
        yield remark("same_name", f"{first_names(both)}: labels as a person and as a judge", names=len(both))
    if all(item.human is None for item in labels):
        return
    folded = Counter(map(fold_name, book.people))
    alike = sorted(name for name in book.people if folded[fold_name(name)] > 1)
    if alike:
        yield remark("alike_names", f"{first_names([*map(repr, alike)])}: are they one person?", names=len(alike))
    overruled = sum(item.human is not None and UNSURE in item.people.values() for item in labels)
    if overruled:
        message = f"{count_text(overruled, noun)} that one person was unsure of, counted with the label of another"
        yield remark("unsure_overruled", message, items=overruled)
    advice = f"have a second person label a fifth of the {noun}s, to see whether people agree"
    if len(book.people) == 1:
        yield remark("one_person", f"one person gave every label: {advice}", people=1)
    elif all(len(item.people) < 2 for item in labels):
        yield remark("labelled_once", f"no {noun} has labels of two people: {advice}", people=len(book.people))


def judge_remarks(book: LabelBook, draw: Draw | None, missing: int, noun: str) -> Iterator[StandsOut]:
    """What stands out in the labels of judges; they gave no label to as many as are `missing`, each of it a `noun`."""
    if missing:
        message = f"{count_text(missing, noun)} without a label of the judge, counted as one half"
        if book.unread:
            unread = count_text(book.unread, "label")
            message += f": {unread} neither from 0 to 1 nor a word of the protocol, such as {book.unread_example}"
        yield remark("no_judge_label", message, items=missing)
    if book.judges and draw is not None and draw.header["labels_sha256"] and not judge_is_older(book, draw):
        yield remark("other_judge_labels", "the draw names the judge's labels, and they are not among these files")


def judge_is_older(book: LabelBook, draw: Draw | None) -> bool:
    """Whether the draw names the digest of one of the label files."""
    digest = None if draw is None else draw.header["labels_sha256"]
    return digest is not None and digest in book.located.store.sha256s()


def fold_name(name: str) -> str:
    """A name without what one does not see, or not at once: case, blanks, and characters without a width."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in folded if character.isalnum()) or folded


def first_names(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


class LabelDigest(TypedDict):
    """A file of labels."""

    sha256: str
    labels: int


def file_digests(located: LocatedRecords, things: str) -> list[dict[str, object]]:
    """The digest of each file, and how many things it has."""
    files = located.store.files
    return [
        {"sha256": digest, things: file.records} for digest, file in zip(located.store.sha256s(), files, strict=True)
    ]


def file_names(located: LocatedRecords) -> str:
    """The names of the files, for a message."""
    return ", ".join(file.name for file in located.store.files)
