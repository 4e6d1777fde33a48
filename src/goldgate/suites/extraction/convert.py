"""Gold in any dialect, made into ours: a file of our records, or the event schema that the gold follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from goldgate.core.page import count_text
from goldgate.core.suite import Options
from goldgate.errors import InputError, Place
from goldgate.readers.dialects import OWN_FORM
from goldgate.readers.gold_files import GoldOpener, GoldProblem, load_clusters, record_flaws
from goldgate.readers.id_index import open_store
from goldgate.readers.records import LocatedRecord, RecordStore, require_unchanged_files
from goldgate.report.escape import losses_text
from goldgate.suites.extraction.events.event import value_as_written
from goldgate.suites.extraction.events.event_schema import EventSchema, derive_from_events, obtain_event_schema
from goldgate.suites.extraction.records import parse_gold, with_own_event_form
from goldgate.suites.extraction.sample import Gold


class LostPart(NamedTuple):
    """A part of a record that could not be written as it was stored, and what became of it."""

    file: str
    line: int
    field: str
    message: str

    @classmethod
    def of(cls, file: str, line: int, flaw: GoldProblem) -> LostPart:
        return cls(file, line, flaw.field or "", flaw.message)


@dataclass(slots=True)
class Conversion:
    """How much was converted, and from what."""

    dialects: list[str] = field(default_factory=list)
    records: int = 0
    events: int = 0
    mentions: int = 0  # of events: each counts at least once
    arguments: int = 0
    lost: list[LostPart] = field(default_factory=list)  # what is not written as it was stored


def convert_gold(
    paths: Sequence[str | Path],
    out: IO[bytes],
    dialect: str | None = None,
    coref: Sequence[str | Path] = (),
    id_field: str | None = None,
    schema: EventSchema | None = None,
) -> Conversion:
    """Write every record of some gold files in our form, one a line; a record that cannot be one is an InputError.

    `coref` are WikiEvents' files of coreference, `id_field` is a dotted path to the id of records that have no `id`;
    flat events are read by the roles of `schema`.
    """
    clusters = {name: each for path in coref for name, each in load_clusters(path).items()}
    opener = GoldOpener(dialect, clusters=clusters, id_field=id_field, keep_flaws=True)
    conversion = Conversion()
    names: set[str] = set()
    for record, gold in _gold(paths, opener, schema, conversion.lost, with_ids=True):
        data, form = record.data, record.file.form
        names.update([form] if form is not None else gold.shapes or [OWN_FORM], gold.shapes)
        conversion.records += 1
        conversion.events += len(gold.event_list)
        conversion.mentions += sum(max(1, len(event.get("mentions") or ())) for event in gold.event_list)
        conversion.arguments += sum(len(event["arguments"]) for event in gold.event_list)
        out.write((data.strip() if _is_kept(gold, data) else _rewritten(data, schema)) + b"\n")
    conversion.dialects = sorted(names)
    return conversion


def derive_event_schema(paths: Sequence[str | Path], dialect: str | None = None) -> EventSchema:
    """The event schema that some gold files follow."""
    try:
        return derive_from_gold(gold for _, gold in _gold(paths, GoldOpener(dialect), None, None, with_ids=False))
    except InputError as error:
        if error.code == "gold.no_events":
            error.place = Place(", ".join(map(str, paths)))
        if error.code == "gold.arguments_not_list" and "--schema" in (error.advice or ""):
            error.advice = (
                "are its roles keys of the event? which keys are roles cannot be derived from such gold: write the "
                'event schema yourself, {"event_types": {"Type": {"roles": ["Role"]}}}'
            )
        raise


def derive_from_store(store: RecordStore) -> EventSchema:
    """The event schema that the gold in open files follows."""
    return derive_from_gold(gold for _, gold in _parsed(store, None, with_ids=False))


def derive_from_gold(records: Iterable[Gold]) -> EventSchema:
    """The event schema that parsed gold follows."""
    return derive_from_events((name, roles) for gold in records for name, roles, *_ in gold.events.columns)


def _gold(
    paths: Sequence[str | Path],
    opener: GoldOpener,
    schema: EventSchema | None,
    lost: list[LostPart] | None,
    *,
    with_ids: bool,
) -> Iterator[tuple[LocatedRecord, Gold]]:
    """Every record, as it is stored and parsed; what cannot be kept of it is noted in `lost`."""
    with closing(open_store(paths, "gold", opener)) as store, require_unchanged_files([store]):
        if lost is not None:
            lost += [LostPart.of(file.name, *flaw) for file in store.files for flaw in file.flaws]
        for record, gold in _parsed(store, schema, with_ids=with_ids):
            if lost is not None and record.file.form is None and not _is_kept(gold, record.data):
                line = record.place().line or 1
                lost += [LostPart.of(record.file.name, line, flaw) for flaw in record_flaws(record.data)]
            yield record, gold


def _parsed(store: RecordStore, schema: EventSchema | None, *, with_ids: bool) -> Iterator[tuple[LocatedRecord, Gold]]:
    """Every record of some open files, as it is stored and parsed."""
    for record in store.records():
        identity = record.require_id() if with_ids else ""
        with record.locate_errors():
            gold = parse_gold(record.value, identity, record.data, schema)
        yield record, gold


def _is_kept(gold: Gold, data: bytes) -> bool:
    """Whether a record is written as it is stored: it is in our own form, on one line."""
    return not gold.shapes and b"\n" not in data.strip()


def _rewritten(data: bytes, schema: EventSchema | None) -> bytes:
    """The record in our own form, on one line; numbers keep their digits."""
    record = with_own_event_form(value_as_written(data), schema)
    as_written = orjson.OPT_PASSTHROUGH_DATACLASS  # a number is one
    return orjson.dumps(record, default=lambda number: orjson.Fragment(number.text), option=as_written)


def run_convert(paths: Sequence[str], out: IO[bytes], options: Options) -> tuple[str, str]:
    """`goldgate convert`: what was written, and lines on what is not written as it was stored."""
    schema = obtain_event_schema(options.get("schema"))
    dialect, coref, id_field = options.get("dialect"), options.get("coref", ()), options.get("id_field")
    conversion = convert_gold(paths, out, dialect, coref, id_field, schema)
    events = count_text(conversion.events, "event")
    if conversion.mentions > conversion.events:
        events += f" with {conversion.mentions} mentions"
    sizes = (count_text(conversion.records, "record"), events, count_text(conversion.arguments, "argument"))
    dialects = " and ".join(conversion.dialects) or OWN_FORM
    lost = [f"{each.file}:{each.line}: {each.field}: {each.message}" for each in conversion.lost]
    return f"{dialects}: {', '.join(sizes)}", losses_text("not written as stored", lost)


def run_schema(paths: Sequence[str], options: Options) -> tuple[dict[str, Any], str]:
    """`goldgate schema`: an event schema, and how much is in it."""
    schema = derive_event_schema(paths, options.get("dialect"))
    roles = schema.role_order
    size = f"{count_text(len(roles), 'event type')}, {count_text(sum(map(len, roles.values())), 'role')}"
    return {"event_types": {name: {"roles": [*roles[name]]} for name in roles}}, size
