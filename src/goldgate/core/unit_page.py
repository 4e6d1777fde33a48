"""One unit as a page: its texts with marks on gold and predicted values, and what went wrong in it. No layout.

Nothing here is escaped: text from data is made safe where it is laid out.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import orjson

from goldgate.core.finding import limit_length
from goldgate.core.page import Block, Cell, Column, MeasuredValue, Table, count_text
from goldgate.core.value_text import NormalizedText, Span


class Mark(NamedTuple):
    """A part of a text, by its characters, at least one; and what is said of it.

    `kind` says whose it is: gold, predicted, both; in an answer read, repair, left out, thought; quote in a source;
    cut where the text stands for what was left out. A suite may have others.
    """

    start: int
    end: int
    kind: str
    label: str  # an event type and role, a repair
    wrong: str = ""  # the name of the error, where it is one


class MarkedText(NamedTuple):
    """A text with marks that may overlap. They are in the order of their start; the longer of two comes first."""

    text: str
    marks: tuple[Mark, ...] = ()
    note: str = ""  # what the text does not show: values that are not in it, how much was left out


class UnitSection(NamedTuple):
    """Blocks under a title: the source text, the answer, the thought, the errors."""

    title: str
    blocks: tuple[Block | MarkedText, ...]
    in_pairs: bool = True  # also shown where two systems are side by side; False: another section has the same there


class UnitPage(NamedTuple):
    """A unit with all that explains its result."""

    id: str
    sections: tuple[UnitSection, ...]


class UnitSummary(NamedTuple):
    """A unit in a list: what went wrong in few words, how much, and by what it can be found."""

    id: str
    word: str = ""  # empty where nothing went wrong
    weight: int = 0  # how much went wrong: the largest is looked at first
    facets: Mapping[str, tuple[str, ...]] = {}  # such as error, event type, role, parsed as
    metric: str = ""  # what `score` is of
    score: MeasuredValue | None = None  # the unit's own value of the suite's first metric; None where it has none
    snippet: str = ""  # the beginning of what it is about


class InputLookup(Protocol):
    """The opened inputs of an evaluation, for looking up what a unit's record was made from."""

    def for_unit(self, record: Mapping[str, object]) -> Mapping[str, Any]:
        """By the name of the input, the unit's part of it; without those that are not there, or have changed."""


class SharedInputLookup:
    """A lookup that adds what is the same for every unit, made when the first unit is looked up."""

    def __init__(self, records: InputLookup, make: Callable[[], Mapping[str, Any]]) -> None:
        self._records = records
        self._make = make

    @cached_property
    def _shared(self) -> Mapping[str, Any]:
        return self._make()

    def for_unit(self, record: Mapping[str, object]) -> Mapping[str, Any]:
        return {**self._records.for_unit(record), **self._shared}


class EmptyInputLookup:
    """Inputs that cannot be looked up: each lookup is empty."""

    def for_unit(self, record: Mapping[str, object]) -> Mapping[str, Any]:
        return {}


SNIPPET_CHARACTERS = 160


def text_snippet(text: str) -> str:
    """The beginning of a text on one line."""
    start = " ".join(text[: 2 * SNIPPET_CHARACTERS].split())
    return start if len(start) <= SNIPPET_CHARACTERS else f"{start[:SNIPPET_CHARACTERS]}…"


def longest_text(inputs: Mapping[str, Any]) -> str:
    """The longest text of a unit's gold record, which is what the unit is about; empty where there is none."""
    gold = inputs.get("gold")
    values = gold.items() if isinstance(gold, Mapping) else ()
    return max((value for name, value in values if isinstance(value, str) and name != "id"), key=len, default="")


MAX_CHARACTERS = 20_000  # of a text on a page
MAX_MARKS = 10_000
CONTEXT_CHARACTERS = 200  # characters before and after the ends of a mark
RIGHT = "right"  # the result of a row in which a system agrees with gold
CUT = "cut"  # the kind of mark on the words that stand for what was left out


def marked_text(text: str, marks: Iterable[Mark], notes: Iterable[str] = (), most: int = MAX_CHARACTERS) -> MarkedText:
    """The text with its marks in order; errors first where there are too many, or where the text is too long."""
    sentences = [*notes]
    ordered = sorted({_within(mark, len(text)) for mark in marks} if text else (), key=_order)
    if len(ordered) > MAX_MARKS:
        sentences.append(f"{len(ordered) - MAX_MARKS:,} more places are not marked.")
        ordered = sorted(sorted(ordered, key=lambda mark: not mark.wrong)[:MAX_MARKS], key=_order)
    if len(text) <= most:
        return MarkedText(text, tuple(ordered), " ".join(sentences))
    windows = _windows(len(text), ordered, most)
    cut, unseen = _cut(text, ordered, windows)
    left_out = len(text) - sum(end - start for start, end in windows)
    also = f", with {unseen:,} of the places that would be marked" if unseen else ""
    sentences.append(f"{left_out:,} of {len(text):,} characters are left out{also}.")
    return MarkedText(cut.text, cut.marks, " ".join(sentences))


def _within(mark: Mark, size: int) -> Mark:
    """The mark inside the text, and on at least one character: a place at the end is marked on the last one."""
    start = max(0, min(mark.start, size - 1))
    end = max(start + 1, min(mark.end, size))
    return mark if (start, end) == mark[:2] else mark._replace(start=start, end=end)


def _order(mark: Mark) -> tuple[int, int, str, str, str]:
    return mark.start, -mark.end, mark.kind, mark.label, mark.wrong


def _windows(size: int, marks: Sequence[Mark], most: int) -> list[Span]:
    """The parts to show: the beginning, what is around errors, and around other marks, as far as there is room."""
    kept = [(0, min(size, CONTEXT_CHARACTERS))]
    for wrong in (True, False):
        points = sorted({at for mark in marks if bool(mark.wrong) == wrong for at in (mark.start, mark.end)})
        around = [(max(0, at - CONTEXT_CHARACTERS), min(size, at + CONTEXT_CHARACTERS)) for at in points]
        fewest, many = 0, len(around)
        while fewest < many:
            middle = (fewest + many + 1) // 2
            if sum(end - start for start, end in _joined([*kept, *around[:middle]])) <= most:
                fewest = middle
            else:
                many = middle - 1
        kept = _joined([*kept, *around[:fewest]])
    return kept


def _joined(spans: Iterable[Span]) -> list[Span]:
    """The ranges in order, those that overlap or touch joined."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _cut(text: str, marks: Sequence[Mark], windows: Sequence[Span]) -> tuple[MarkedText, int]:
    """The windows with words between them that say how much is missing; and how many marks are in none of them."""
    parts: list[str] = []
    moved: list[Mark] = []
    offsets: list[int] = []
    size = done = 0
    for start, end in (*windows, (len(text), len(text))):
        if start > done:
            words = f" [… {start - done:,} characters left out …] "
            moved.append(Mark(size, size + len(words), CUT, "left out"))
            parts.append(words)
            size += len(words)
        offsets.append(size - start)
        parts.append(text[start:end])
        size += end - start
        done = end
    ends, seen = [end for _, end in windows], 0
    for mark in marks:
        before = len(moved)
        for number in range(bisect_left(ends, mark.start + 1), len(windows)):
            start, end = max(mark.start, windows[number][0]), min(mark.end, windows[number][1])
            if start >= end:
                break
            moved.append(mark._replace(start=start + offsets[number], end=end + offsets[number]))
        seen += len(moved) > before
    return MarkedText("".join(parts), tuple(sorted(moved, key=_order))), len(marks) - seen


UnitBlocks = tuple[Block | MarkedText, ...]
SIDES = ("A", "B")  # the two systems of a page, the reference first


def pair_pages(one: UnitPage, other: UnitPage, names: Sequence[str]) -> tuple[UnitPage, UnitPage, UnitPage]:
    """What the pages of two systems have in common, texts and gold once; and the rest of each."""
    twins = {section.title: section.blocks for section in other.sections}
    merged = {each.title: _merge_blocks(each.blocks, twins.get(each.title, ()), names) for each in one.sections}
    shared = [UnitSection(title, blocks) for title, blocks in merged.items() if blocks]
    paired = any(isinstance(block, Table) and block.shared for section in shared for block in section.blocks)
    rest = [
        page._replace(
            sections=tuple(s for s in page.sections if not merged.get(s.title) and (s.in_pairs or not paired))
        )
        for page in (one, other)
    ]
    return UnitPage(one.id, tuple(shared)), rest[0], rest[1]


def _merge_blocks(one: UnitBlocks, other: UnitBlocks, names: Sequence[str]) -> UnitBlocks:
    """The blocks of two systems as those of one section; empty where they have too little in common."""
    match one, other:
        case (MarkedText() as text,), (MarkedText() as same,) if text.text == same.text:
            return (merge_marks(text, same),)
        case (Table() as table,), (Table() as twin,) if 0 < table.shared == twin.shared:
            return (merge_tables(table, twin, names),)
    return one if one == other else ()


def merge_tables(one: Table, other: Table, names: Sequence[str]) -> Table:
    """The tables of two systems as one, the shared columns once; rows that only one of them has right are marked.

    A row without gold is there because a system predicted something: one that did not is right.
    """
    sides = [_rows_by_key(table) for table in (one, other)]
    absent = ("",) * (len(one.columns) - one.shared - 1)
    rows: list[tuple[Cell, ...]] = []
    for key in {**sides[0], **sides[1]}:
        shared, own, right = key[: one.shared], list[Cell](), list[str]()
        for letter, side in zip(SIDES, sides, strict=True):
            *values, result = side.get(key, (*absent, "not predicted"))
            is_right = key not in side or str(result) == RIGHT
            own += [*values, f"{'✓' if is_right else '✗'} {result}"]
            right += [letter] if is_right else []
        rows.append((*shared, *own, " and ".join(right) or "neither"))
    marked = frozenset(number for number, row in enumerate(rows) if row[-1] in SIDES)
    columns = [column._replace(group=name) for name in names for column in one.columns[one.shared :]]
    return Table(
        (*one.columns[: one.shared], *columns, Column("right in")), tuple(rows), shared=one.shared, marked=marked
    )


def _rows_by_key(table: Table) -> dict[tuple[Cell, ...], tuple[Cell, ...]]:
    """A system's own cells, by the shared ones; without gold, also by what it predicted; of rows alike, by a number."""
    rows: dict[tuple[Cell, ...], tuple[Cell, ...]] = {}
    for row in table.rows:
        key = row[: table.shared + (not str(row[table.shared - 1]))]
        while key in rows:
            key = (*key, "again")
        rows[key] = row[table.shared :]
    return rows


def merge_marks(one: MarkedText, other: MarkedText) -> MarkedText:
    """A text with the marks of two systems: gold once, with the letter of each system that has the same."""
    places: dict[tuple[int, int, str], tuple[set[str], list[str]]] = {}
    for letter, marked in zip(SIDES, (one, other), strict=True):
        for mark in marked.marks:
            owners, wrong = places.setdefault((mark.start, mark.end, mark.label), (set(), []))
            owners.update({"both": ("gold", letter), "predicted": (letter,)}.get(mark.kind, (mark.kind,)))
            wrong += [f"{letter} {mark.wrong}"] if mark.wrong else []
    marks = [
        Mark(start, end, " + ".join(sorted(owners, key=lambda owner: (owner in SIDES, owner))), label, ", ".join(wrong))
        for (start, end, label), (owners, wrong) in places.items()
    ]
    return marked_text(one.text, marks, dict.fromkeys(filter(None, (one.note, other.note))))


def default_unit_page(record: Mapping[str, object], inputs: Mapping[str, Any]) -> UnitPage:
    """The record and what it was made from, each under its name."""
    values = {**inputs, "record": record}
    sections = tuple(UnitSection(name, (marked_text(_as_json(value), ()),)) for name, value in values.items())
    return UnitPage(str(record["id"]), sections)


def _as_json(value: Any) -> str:
    return value if isinstance(value, str) else orjson.dumps(value, default=str, option=orjson.OPT_INDENT_2).decode()


GOLD, PREDICTED, BOTH = "gold", "predicted", "both"

_MAX_SOUGHT = 2_000  # values that are looked for in a text
_MAX_VALUES = 20  # values that are not in the text
_LONGEST_VALUE = 100  # characters of such a value


class MarkedValue(NamedTuple):
    """A value of gold, of a prediction or of both: what is said of it, and where it is known to be in the text."""

    normalized: str  # what is looked for where no place is known; empty: it is not looked for
    text: str
    kind: str
    label: str
    wrong: str = ""  # the name of its error
    spans: Sequence[Span] = ()


def mark_values(text: NormalizedText, values: Sequence[MarkedValue], *, named: bool) -> MarkedText:
    """The text with values at their places, or else wherever they are in it; `named` lists those that it lacks."""
    distinct = dict.fromkeys([value.normalized for value in values if value.normalized and not value.spans])
    sought = [*distinct][:_MAX_SOUGHT]
    places = text.places(sought, MAX_MARKS)
    marks: list[Mark] = []
    for value in values:
        spans = value.spans or places.get(value.normalized, ())
        marks += [Mark(*span, value.kind, value.label, value.wrong) for span in spans]
        if len(marks) > 2 * MAX_MARKS:  # many values that stand at many places: enough to say that there are more
            break
    notes = _missing_values(values, {value for value in sought if value not in text.normalized}) if named else []
    if sum(map(len, places.values())) >= MAX_MARKS:
        notes.append(f"Only the first {MAX_MARKS:,} places are marked.")
    if len(distinct) > len(sought):
        notes.append(f"Only the first {_MAX_SOUGHT:,} values are looked for.")
    return marked_text(text.text, marks, notes)


def _missing_values(values: Sequence[MarkedValue], nowhere: set[str]) -> list[str]:
    """Which values the text does not have."""
    missing = [value for value in values if value.normalized in nowhere and not value.spans]
    if not missing:
        return []
    words = [
        f"{value.kind} “{limit_length(value.text, _LONGEST_VALUE)}” ({value.label})" for value in missing[:_MAX_VALUES]
    ]
    more = len(missing) - len(words)
    text_list = "; ".join([*words, *([f"and {count_text(more, 'more value')}"] if more else [])])
    return [f"Not in the text: {text_list}."]
