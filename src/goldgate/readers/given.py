"""What the record of a joined suite was made from: its lines of gold and predictions, looked up by id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from goldgate.core.suite import Inputs
from goldgate.errors import InputError
from goldgate.readers.index import Index, Opener, index_files
from goldgate.readers.records import open_records

JOINED = ("gold", "predictions")
_SECONDS = 10.0  # for which a store elsewhere need not be asked again


class JoinedGiven:
    """Indexes of open files. What was changed since they were opened is left out, for nobody scored it."""

    def __init__(self, indexes: Mapping[str, Index]) -> None:
        self._indexes = indexes

    def of(self, record: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, index in self._indexes.items():
            try:
                value = index.find(str(record["id"]))
                index.store.require_unchanged(_SECONDS)  # after reading: what was read is what was there before
            except InputError:
                continue
            if value is not None:
                found[name] = value
        return found


@contextmanager
def open_joined_given(inputs: Inputs, opener: Opener = open_records) -> Iterator[JoinedGiven]:
    """The files that are named of gold and predictions, opened and indexed."""
    with ExitStack() as stack:
        indexes: dict[str, Index] = {}
        for name in JOINED:
            if inputs.get(name):
                indexes[name] = index_files(inputs[name], name, opener)
                stack.callback(indexes[name].store.close)
        yield JoinedGiven(indexes)
