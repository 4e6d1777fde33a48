"""A sample's errors with their partners, and all arguments of gold and prediction side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from goldgate.core.finding import cut
from goldgate.core.page import Block, Cell, Column, Name, Paragraph, Table, counted
from goldgate.suites.extraction.events.event import Unit
from goldgate.suites.extraction.look.marks import label
from goldgate.suites.extraction.look.sample import LookedAt, Side, stored_unit

MOST_ROWS = 500
RIGHT = "right"
_NO_ARGUMENTS = "(without arguments)"


def errors(sample: LookedAt) -> tuple[Block, ...]:
    """A row for each error: what was predicted, and what gold has in its place."""
    columns = (
        Column("error"),
        Column("argument", group="predicted"),
        Column("value", group="predicted"),
        Column("argument", group="gold"),
        Column("value", group="gold"),
    )
    rows = [
        (Name(error), *_unit(predicted, sample.predicted), *_unit(gold, sample.gold))
        for error, predicted, gold in _pairs(sample)
    ]
    return _table(columns, rows, "error")


def arguments(sample: LookedAt) -> tuple[Block, ...]:
    """Every argument of both sides, type by type; an argument that is meant for another is in one row with it."""
    several = any(count > 1 for side in (sample.gold, sample.predicted) for count in side.events.values())
    columns = (
        Column("event type"),
        Column("role"),
        *(Column(title, group=side) for side in ("gold", "predicted") for title in ("value", "event")[: 1 + several]),
        Column("result"),
    )
    rows = []
    for result, predicted, gold in _in_order(sample):
        values = (*_value(gold, sample.gold, several), *_value(predicted, sample.predicted, several))
        rows.append((*_names(gold, predicted), *values, Name(result)))
    for event_type, result in _bare_types(sample):
        sides = [_NO_ARGUMENTS if event_type in side.types else "" for side in (sample.gold, sample.predicted)]
        cells = [part for text in sides for part in (text, "")[: 1 + several]]
        rows.append((Name(event_type), "", *cells, Name(result)))
    return _table(columns, rows, "argument")


def _pairs(sample: LookedAt) -> Iterator[tuple[str, Unit | None, Unit | None]]:
    """Error, predicted and gold unit; a pair, which both sides are blamed for, comes once."""
    named = {
        (stored_unit(error["unit"]), stored_unit(error["paired_with"]))
        for error in sample.record["errors"]
        if error["side"] == "predicted" and error["paired_with"] is not None
    }
    for error in sample.record["errors"]:
        unit = stored_unit(error["unit"])
        partner = None if error["paired_with"] is None else stored_unit(error["paired_with"])
        if error["side"] == "predicted":
            yield error["error"], unit, partner
        elif partner is None or (partner, unit) not in named:
            yield error["error"], partner, unit


def _in_order(sample: LookedAt) -> Iterator[tuple[str, Unit | None, Unit | None]]:
    """Hits and errors in the order of gold; what only the prediction has, after those of the same type and role."""
    found: dict[tuple[str, str], list[tuple[str, Unit | None, Unit | None]]] = {}
    place: dict[Unit, int] = {}  # in its group, in the order of gold
    for unit in sample.gold.units:
        group = found.setdefault(unit[:2], [])
        place[unit] = len(place)
        if unit in sample.predicted.units:
            group.append((RIGHT, unit, unit))
    for pair in _pairs(sample):
        found.setdefault((pair[2] or pair[1] or ("", ""))[:2], []).append(pair)  # one of the two is there
    for rows in found.values():
        yield from sorted(rows, key=lambda row: len(place) if row[2] is None else place[row[2]])


def _bare_types(sample: LookedAt) -> Iterator[tuple[str, str]]:
    """Event types of which one side has no argument, and what that comes to."""
    gold, predicted = sample.record["gold"], sample.record["predicted"]
    for event_type in {**gold, **predicted}:
        if gold.get(event_type) or predicted.get(event_type):
            continue
        both = event_type in gold and event_type in predicted
        yield event_type, RIGHT if both else "missing" if event_type in gold else "spurious"


def _unit(unit: Unit | None, side: Side) -> tuple[Cell, Cell]:
    return ("", "") if unit is None else (Name(label(unit)), cut(side.text(unit)))


def _names(gold: Unit | None, predicted: Unit | None) -> tuple[Cell, Cell]:
    """The type and the role of gold, and what they were predicted as where that is another."""
    one = gold or predicted
    assert one is not None  # a row is of one of the two
    other = predicted or one
    return tuple(  # type: ignore[return-value]  # two
        Name(here) if here == there else f"{here} (predicted: {there})"
        for here, there in zip(one[:2], other[:2], strict=True)
    )


def _value(unit: Unit | None, side: Side, with_events: bool) -> tuple[Cell, ...]:
    written = side.units.get(unit) if unit is not None else None
    text = "" if unit is None else cut(side.text(unit))
    events = ", ".join(map(str, written.events[:9])) if written is not None else ""
    return (text, events) if with_events else (text,)


def _table(columns: tuple[Column, ...], rows: Sequence[tuple[Cell, ...]], thing: str) -> tuple[Block, ...]:
    table = Table(columns, tuple(rows[:MOST_ROWS]))
    more = len(rows) - MOST_ROWS
    return (table,) if more <= 0 else (table, Paragraph(f"And {counted(more, f'more {thing}')}."))
