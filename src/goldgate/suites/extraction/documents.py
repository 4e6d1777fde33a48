"""The gold as documents to ask about: checked once before anything is paid for, then read again one by one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from goldgate.errors import InputError, Place
from goldgate.files.standard_input import STANDARD_INPUT
from goldgate.readers.dialect_file import GoldOpener
from goldgate.readers.index import Index, index_files
from goldgate.readers.join import join
from goldgate.readers.noted import id_of
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.records import parse_gold, read_gold, source_text
from goldgate.suites.extraction.sample import Gold


class Document(NamedTuple):
    """A document of the gold: its id, its source text, and the events that an answer should find."""

    id: str
    text: str
    events: list[Any]


class Documents:
    """All documents of the gold, by position. What is kept in memory is an index."""

    def __init__(self, index: Index, schema: EventSchema | None = None) -> None:
        self._index = index
        self._schema = schema

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, position: int) -> Document:
        index = self._index
        location = index.locations[position]
        record = index.store.decode(location, index.store.read(location, index.lengths[position]))
        events = read_gold(record, None, self._schema).listed
        return Document(id_of(record, index.store, location), str(source_text(record)), events)

    def data(self, position: int) -> bytes:
        """The record as it is stored, on one line."""
        index = self._index
        return index.store.read(index.locations[position], index.lengths[position])

    def gold(self, position: int) -> Gold:
        """The record, parsed."""
        location, data = self._index.locations[position], self.data(position)
        record = self._index.store.decode(location, data)
        return parse_gold(record, id_of(record, self._index.store, location), data, self._schema)

    def close(self) -> None:
        self._index.store.close()


def load_documents(
    paths: Sequence[str | Path], dialect: str | None = None, schema: EventSchema | None = None
) -> Documents:
    """Read and check the gold; a malformed record, an id twice or a record without text is an InputError.

    Flat events are read by the roles of `schema`.
    """
    if STANDARD_INPUT in map(str, paths):
        raise InputError(
            "gold.standard_input",
            "the gold is read more than once here: to ask, and to score the answers",
            place=Place(STANDARD_INPUT),
            expected="a file",
            advice="store it in a file first",
        )
    index = index_files(paths, "gold", GoldOpener(dialect))
    join(index, index)  # a duplicate id is an error of its own
    store = index.store
    for location, length in zip(index.locations, index.lengths, strict=True):
        data = store.read(location, length)
        record = store.decode(location, data)
        try:
            gold = parse_gold(record, id_of(record, store, location), data, schema)
            if gold.text is None:
                raise InputError(
                    "gold.no_text",
                    "a model can only be asked about a record that has a text",
                    place=Place(field="text"),
                    expected="a string that is not empty",
                )
        except InputError as error:
            raise store.at(error, location) from None
    return Documents(index, schema)
