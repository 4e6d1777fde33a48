"""Which items people label: a random draw that can be repeated from the same items, and the file that holds it.

The order of the items comes from a hash of each one's id and question, keyed with a seed that is made from all ids,
the question's text, the template and the number of the draw. So every machine and every order of the items file give
the same draw, and a larger draw without strata begins with the smaller one. What the items show is in the header and
not in the seed: a blank more in one of them must not draw anew.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal, NamedTuple, Self, TypedDict, cast

import orjson

from goldgate.core.finding import limit_length, record_id
from goldgate.core.page import count_text
from goldgate.errors import ConfigError, InputError, Place, describe_value
from goldgate.readers.guess import EXPECTED_ID, describe_keys, field_error
from goldgate.readers.records import (
    LocatedRecord,
    RecordFile,
    RecordStore,
    decode_record,
    open_records,
    record_group,
)
from goldgate.readers.stored_result import require_type
from goldgate.shape import AtLeast

DEFAULT_QUESTION = "default"
LEAST_IN_STRATUM = 5  # the specification's; also a tenth of the draw
MAX_DRAW = 1_000_000_000
SHOWN_IDS = 5  # in a message
BY_JUDGE, NO_LABEL = "judge", "no label"
_HEADER_KEY = "goldgate_draw"
_VERSION = 2

Item = Mapping[str, Any]  # an id, maybe a group and the key of its question, and anything else that is shown
Digests = Mapping["ItemKey", str]  # of what each item shows: item_sha256
NOT_SHOWN = frozenset({"id", "group", "question"})  # what names an item says nothing about it


class ItemKey(NamedTuple):
    """What names an item: its id, and the key of the question that is asked about it."""

    id: str
    question: str = DEFAULT_QUESTION

    def as_bytes(self) -> bytes:
        return bytes(memoryview(orjson.dumps([self.id, self.question])))  # a copy: orjson's own keeps 1 kB


def item_key(item: Item, kind: str = "an item") -> ItemKey:
    """The key of an item, or of what a label is for; a wrong id or question is an InputError that names the field."""
    identity, question = record_id(item), item.get("question")
    if identity is None:
        error = field_error("items.bad_id", f"{kind} needs an id", "id", EXPECTED_ID, item.get("id"))
        if "id" not in item:
            error.found = describe_keys(item)
        raise error
    if question is None:
        return ItemKey(identity)
    if type(question) is not str or not question:
        raise field_error("items.bad_question", "a question is named by a string", "question", "a string", question)
    return ItemKey(identity, question)


def label_key(label: Item, questions: Mapping[str, str | None]) -> ItemKey:
    """The item that a label is for; `questions` (`questions_by_id`) has the question where the label names none."""
    key = item_key(label, "a label")
    if label.get("question") is None:
        return key._replace(question=questions.get(key.id) or DEFAULT_QUESTION)
    return key


def shown_fields(item: Item) -> dict[str, Any]:
    """What people and judges see of an item."""
    return {name: value for name, value in item.items() if name not in NOT_SHOWN}


def item_sha256(item: Item) -> str:
    """The digest of what an item shows: of its JSON with sorted keys and without blanks, without what names it."""
    try:
        return hashlib.sha256(_canonical(shown_fields(item))).hexdigest()
    except TypeError:  # more than 254 levels
        raise InputError("items.too_deep", "an item is nested too deeply", expected="at most 250 levels") from None


def items_sha256(digests: Digests) -> str:
    """The digest of what all items show, each under its key, in the order of the bytes of their keys."""
    lines = sorted(key.as_bytes() + b" " + digest.encode() + b"\n" for key, digest in digests.items())
    return hashlib.sha256(b"".join(lines)).hexdigest()


class Stratum(TypedDict):
    """A part of the items that is drawn from separately."""

    name: str
    items: int
    drawn: int


class DrawHeader(TypedDict):
    """The first line of a draw: how it was made."""

    goldgate_draw: int
    items: int  # that were drawn from
    ids_sha256: str
    items_sha256: str  # of what all of them show
    question_sha256: str | None  # of the question's text
    template_sha256: str | None
    labels_sha256: str | None  # of the judge's label file, which is then older than the labels of people
    draw: Annotated[int, AtLeast(1)]
    n: Annotated[int, AtLeast(0)]
    by: str | None  # judge, group or a field of the items; None: no strata
    strata: list[Stratum]
    signature: str


class DrawSettings(NamedTuple):
    """How many items are drawn, and what is fixed with the draw."""

    n: int
    items_sha256: str
    by: str | None = None
    question_sha256: str | None = None
    template_sha256: str | None = None
    labels_sha256: str | None = None
    draw: int = 1


Population = Mapping[ItemKey, str]  # every item, with the name of its stratum


class DrawnKeys(NamedTuple):
    """The header of a draw, and what was drawn, in the order in which it is labelled."""

    header: DrawHeader
    keys: list[ItemKey]


def draw_items(population: Population, settings: DrawSettings) -> DrawnKeys:
    """Draw n items, or all where there are fewer. With several strata: proportionally, and at least max(5, n/10) each.

    More strata than can have their least number are a ConfigError.
    """
    strata = population if settings.by is not None else dict.fromkeys(population, "")
    ids, n, sizes = _ids_sha256(population), min(settings.n, len(population)), Counter(strata.values())
    shares = allocate(sizes, n)
    seed = hashlib.sha256(_canonical([ids, settings.question_sha256, settings.template_sha256, settings.draw])).digest()
    left, drawn = dict(shares), []
    for key in sorted(population, key=lambda key: hashlib.blake2b(key.as_bytes(), key=seed, digest_size=16).digest()):
        if left[strata[key]]:
            left[strata[key]] -= 1
            drawn.append(key)
    unsigned = {
        _HEADER_KEY: _VERSION,
        "items": len(population),
        "ids_sha256": ids,
        **settings._replace(n=n)._asdict(),
        "strata": [
            {"name": name, "items": sizes[name], "drawn": shares[name]} for name in sorted(sizes) if settings.by
        ],
    }
    signed = {**unsigned, "signature": _signature(unsigned)}
    return DrawnKeys(cast(DrawHeader, {name: signed[name] for name in DrawHeader.__annotations__}), drawn)


def allocate(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """How many of each stratum are drawn: by size, never fewer than max(5, n/10) unless the stratum has no more."""
    least = max(LEAST_IN_STRATUM, -(-n // 10)) if len(sizes) > 1 else 0
    shares = {name: min(size, least) for name, size in sizes.items()}
    if sum(shares.values()) > n:
        raise ConfigError(
            "draw.too_many_strata",
            f"{n} items cannot be shared among {len(sizes)} strata",
            expected=f"at least {least} items for each stratum, or all that it has: {sum(shares.values())} in all",
            advice="draw more (--n), or leave --by out: the intervals take account of groups without it",
        )
    free = set(sizes)  # strata whose proportional share is more than the least
    while free:
        rest = n - sum(shares[name] for name in sizes if name not in free)
        total = sum(sizes[name] for name in free)
        small = {name for name in free if Fraction(rest * sizes[name], total) < shares[name]}
        if not small:
            shares.update(_proportional({name: sizes[name] for name in free}, rest))
            break
        free -= small
    return shares


def _proportional(sizes: Mapping[str, int], n: int) -> dict[str, int]:
    """Whole shares by the largest remainder; of equal remainders the first name."""
    total = sum(sizes.values())
    shares = {name: n * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(n * sizes[name] % total), name))
    for name in by_remainder[: n - sum(shares.values())]:
        shares[name] += 1
    return shares


@dataclass(frozen=True, slots=True)
class Draw:
    """A draw as it is stored: its header, and the drawn items in the order in which they are labelled."""

    header: DrawHeader
    items: Mapping[ItemKey, Item]
    digests: Digests  # of what each drawn item shows
    file: str
    sha256: str

    @property
    def choice_sha256(self) -> str:
        """The digest of all that decides which ids are drawn: two systems that are compared show different things."""
        strata = () if self.header["by"] == BY_JUDGE else ("labels_sha256",)  # there they are the judge's labels
        left_out = ("items_sha256", "signature", *strata)
        return _signature({name: value for name, value in self.header.items() if name not in left_out})

    def check(self, population: Population, digests: Digests | None) -> None:
        """Draw again from the items, and raise an InputError unless the same items come out and show the same.

        The strata of the population (`assign_strata`) matter only if it was drawn by strata. `digests`: what all items
        show, or None where that is not known.
        """
        header = self.header
        if header["ids_sha256"] != _ids_sha256(population):
            raise InputError(
                "draw.other_items",
                "the draw was not made from these items",
                place=Place(self.file),
                expected=f"the {header['items']} items that were drawn from",
                found=f"{len(population)} items" + (" with other ids" if len(population) == header["items"] else ""),
                advice="add --items FILE: what `goldgate sample --from` was given, or what its --items wrote",
            )
        if digests is not None:
            self._require_same_content(digests)
        values: dict[str, Any] = {name: value for name, value in header.items() if name in DrawSettings._fields}
        try:
            again = draw_items(population, DrawSettings(**values))
        except ConfigError as error:  # no such draw can have been made
            raise self.changed(error.message) from None
        if again.header != header:
            stated, redrawn = dict(header), dict(again.header)
            names = sorted(name for name in {**stated, **redrawn} if stated.get(name) != redrawn.get(name))
            raise self.changed(f"a header with another value of {', '.join(names)}")
        if again.keys != [*self.items]:
            raise self.changed("other items, or the same in another order")

    def _require_same_content(self, digests: Digests) -> None:
        """Refuse items that show something else than those that were drawn from, and drawn items that were edited."""
        others = [key for key, digest in self.digests.items() if digests.get(key) != digest]
        if self.header["items_sha256"] == items_sha256(digests):
            if others:
                raise self.changed(f"{count_text(len(others), 'item')} with another text: {first_ids(others)}")
            return
        drawn = f"{len(others)} of the {len(self.items)} drawn items: {first_ids(others)}"
        raise InputError(
            "draw.items_changed",
            "the items have the ids of those that were drawn from, and show something else",
            place=Place(self.file),
            expected=f"what all {self.header['items']} items showed when they were drawn",
            found=f"other content in {drawn if others else 'items that were not drawn'}",
            advice="draw again with the same `goldgate sample` command, which draws the same ids, and label again "
            "what was changed",
        )

    def changed(self, found: str) -> InputError:
        """The error for a draw that is not as goldgate sample wrote it."""
        return InputError(
            "draw.changed",
            "drawing again gives another draw: the file was changed, or was not written by goldgate sample",
            place=Place(self.file),
            expected="the drawn items and their header, as goldgate sample wrote them",
            found=found,
            advice="draw again with `goldgate sample`, and keep the file as it is",
        )


def load_draw(path: str) -> Draw:
    """The draw in a file; its header and items are checked, but not yet against the items that were drawn from."""
    with open_items(path, "draw") as items:
        header = items.header
        if header is None:
            raise InputError(
                "draw.no_header",
                "this is not a draw",
                place=Place(items.store.name, 1),
                expected=f'a file of `goldgate sample`, which begins with {{"{_HEADER_KEY}": {_VERSION}, …}}',
                advice="give what `goldgate sample --out` wrote, or draw first: goldgate sample --from ITEMS --n 100 "
                "--out drawn.jsonl",
            )
        require_version(header, items.store.name)
        require_type(header, DrawHeader, "draw", items.store.name)
        draw = Draw(cast(DrawHeader, header), dict(items), items.digests, items.store.name, items.store.sha256s()[0])
    if _signature(header) != header["signature"]:
        raise draw.changed("a header whose signature does not fit")
    return draw


def require_version(header: Item, file: str) -> None:
    """Refuse a draw of another version."""
    version = header[_HEADER_KEY]
    if version != _VERSION or type(version) is not int:
        raise InputError(
            "draw.other_version",
            "this is not a draw that this version of goldgate wrote",
            place=Place(file, 1, _HEADER_KEY),
            expected=str(_VERSION),
            found=describe_value(version),
            advice="draw again with the same goldgate sample command: the drawn items are the same",
        )


def open_items(path: str, kind: Literal["items", "draw", "labels"] = "items") -> ItemFiles:
    """The items of a file, a draw or labels; bad records and duplicate ids are errors with their line."""
    return ItemFiles(RecordStore([open_records(path, kind)]))


class ItemFiles(Mapping[ItemKey, Item]):
    """Items by their keys, in the order of the files, which are open; an item is read again when it is asked for."""

    def __init__(self, store: RecordStore) -> None:
        self.store = store
        self._places: dict[ItemKey, tuple[RecordFile, int, int]] = {}  # offset and length
        self.groups: dict[ItemKey, str | None] = {}
        self.digests: dict[ItemKey, str] = {}  # of what each item shows
        self.header: Item | None = None  # of a draw
        try:
            for record in store.records():
                self._add(record)
        except BaseException:
            store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.store.close()

    def _add(self, record: LocatedRecord) -> None:
        file, item = record.file, record.value
        if file.kind == "draw" and not self._places and self.header is None and is_draw_header(item):
            self.header = item
            return
        try:
            key = new_item_key(item, self._places)
            self.groups[key], self.digests[key] = record_group(item), item_sha256(item)
        except InputError as error:
            error.code = f"{file.kind}.{error.code.partition('.')[2]}"
            raise record.at(error) from None
        if file.kind != "labels" and "label" in item and item.get("kind") in ("human", "judge"):
            raise _labels_error(key, record.place())
        record.require_one_id()
        file.records += 1
        self._places[key] = file, record.offset, len(record.data)

    def require_any(self) -> None:
        """Raise an InputError where there is no item."""
        if not self:
            place = Place(self.store.name)
            raise InputError("items.empty", "there are no items", place=place, expected="at least one item")

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[ItemKey]:
        return iter(self._places)

    def __contains__(self, key: object) -> bool:
        return key in self._places  # without reading the item

    def __getitem__(self, key: ItemKey) -> Item:
        file, offset, size = self._places[key]
        return decode_record(file, offset, file.plain.read(offset, size)).value


def _labels_error(key: ItemKey, place: Place) -> InputError:
    return InputError(
        "items.are_labels",
        "this file has labels, not items",
        place=place,
        expected="items, which have what is to be judged",
        found=f"a label of {key.id}",
        advice="give the file that these labels are for",
    )


def questions_by_id(items: Iterable[ItemKey]) -> dict[str, str | None]:
    """The question of each id, which a label without one is for; None where an id is asked several."""
    questions: dict[str, str | None] = {}
    for key in items:
        questions[key.id] = None if key.id in questions else key.question
    return questions


def is_draw_header(record: Item) -> bool:
    """Whether a record is the first line of a draw."""
    return _HEADER_KEY in record


def new_item_key(record: Item, taken: Collection[ItemKey]) -> ItemKey:
    """The key of an item; the header of a draw, and a key that is taken, are InputErrors."""
    if is_draw_header(record):
        message, expected = "this is a draw, not the items", "the file that `goldgate sample --from` was given"
        raise field_error("items.is_a_draw", message, _HEADER_KEY, expected, record[_HEADER_KEY])
    key = item_key(record)
    if key in taken:
        message, expected = "two items have the same id and question", "each id once for each question"
        raise field_error("items.duplicate_id", message, "id", expected, key.id)
    return key


def assign_strata(
    items: Iterable[tuple[ItemKey, Item]], by: str | None, judge: Mapping[ItemKey, str] | None = None
) -> dict[ItemKey, str]:
    """Every item with the name of its stratum: the judge's label, its group, or the value of another field.

    `judge`: the names that `judge_strata` gives, where `by` is judge. Without `by` all are in one stratum.
    """
    if by is None:
        return {key: "" for key, _ in items}
    if by == BY_JUDGE:
        names = judge or {}
        return {key: names.get(key, NO_LABEL) for key, _ in items}
    return {key: _field_stratum(key, item, by) for key, item in items}


def _field_stratum(key: ItemKey, item: Item, name: str) -> str:
    value = key.question if name == "question" else item.get(name)
    if value is None or isinstance(value, (str, bool, int)):
        return "none" if value is None else value if isinstance(value, str) else orjson.dumps(value).decode()
    message = f"the item {key.id} cannot be put into a stratum by this field"
    raise field_error("items.bad_stratum", message, name, "a text, a whole number, true or false", value)


def judge_strata(path: str) -> dict[ItemKey, str]:
    """The stratum of each item by the labels of one judge in a file."""
    with open_items(path, "labels") as labels:
        return strata_of_labels(labels)


def strata_of_labels(labels: ItemFiles) -> dict[ItemKey, str]:
    """The stratum of each item by the labels of one judge; labels of several are an InputError."""
    givers = sorted({f"{label.get('by')} ({label.get('kind')})" for label in labels.values()})
    if len(givers) != 1 or not givers[0].endswith("(judge)"):
        raise InputError(
            "labels.not_one_judge",
            "strata are made from the labels of one judge",
            place=Place(labels.store.name),
            expected='labels with one `by`, and the `kind` "judge"',
            found=", ".join(givers[:5]) or "no labels",
        )
    return {key: label_stratum(label.get("label")) for key, label in labels.items()}


def label_stratum(label: object) -> str:
    """The stratum of an item that a judge gave this label; a score between 0 and 1 is below 0.5 or from 0.5."""
    if isinstance(label, str):
        return label
    if isinstance(label, (bool, int, float)) and 0 <= label <= 1:
        return str(int(label)) if label in (0, 1) else "below 0.5" if label < 0.5 else "from 0.5"
    return NO_LABEL


def first_ids(keys: Iterable[ItemKey]) -> str:
    """The first of the ids, for a message."""
    first = sorted(key.id for key in keys)
    return ", ".join(limit_length(each) for each in first[:SHOWN_IDS]) + (", …" if len(first) > SHOWN_IDS else "")


def _ids_sha256(keys: Collection[ItemKey]) -> str:
    """The digest of all ids with their questions, in the order of their bytes, one JSON array a line."""
    return hashlib.sha256(b"".join(line + b"\n" for line in sorted(key.as_bytes() for key in keys))).hexdigest()


def _signature(header: Mapping[str, object]) -> str:
    return hashlib.sha256(
        _canonical({name: value for name, value in header.items() if name != "signature"})
    ).hexdigest()


def _canonical(value: object) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
