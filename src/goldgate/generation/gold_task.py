"""Tasks that ask a model about the documents of gold: what they share, whatever is asked and however it is scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

from goldgate.errors import InputError, Place
from goldgate.generation.prompt import Template
from goldgate.readers.gold_files import GoldOpener, require_stored_gold
from goldgate.readers.id_index import IdIndex, index_files, join_indexes
from goldgate.readers.records import LINE_ENDS_TO_BLANKS, LocatedRecord


class Document(Protocol):
    """A gold record, parsed."""

    id: str
    text: str | None


GoldDocument = TypeVar("GoldDocument", bound=Document)
ParseGold = Callable[[LocatedRecord, str], GoldDocument]  # from a record and its id


class Documents(Generic[GoldDocument]):
    """All documents of the gold, by position. What is kept in memory is an index."""

    def __init__(self, index: IdIndex, parse: ParseGold[GoldDocument]) -> None:
        self._index = index
        self._parse = parse

    def __len__(self) -> int:
        return len(self._index)

    def __getitem__(self, position: int) -> GoldDocument:
        """The record, parsed; one that cannot be asked about is an InputError."""
        record = self._index.record(position)
        identity = record.require_id()
        with record.locate_errors():
            document = self._parse(record, identity)
            if document.text is None:
                raise InputError(
                    "gold.no_text",
                    "a model can only be asked about a record that has a text",
                    place=Place(field="text"),
                    expected="a string that is not empty",
                )
        return document

    def __iter__(self) -> Iterator[GoldDocument]:
        return map(self.__getitem__, range(len(self)))

    def data(self, position: int) -> bytes:
        """The record as it is stored, on one line."""
        # A record of an array may have line ends; inside a string they are escaped.
        return self._index.data(position).translate(LINE_ENDS_TO_BLANKS)

    def close(self) -> None:
        self._index.store.close()


def open_documents(
    paths: Sequence[str | Path], opener: GoldOpener, parse: ParseGold[GoldDocument]
) -> Documents[GoldDocument]:
    """Read and check the gold; a malformed record, an id twice or a record without text is an InputError."""
    require_stored_gold(paths)
    index = index_files(paths, "gold", opener)
    documents = Documents(index, parse)
    try:
        join_indexes(index, index)  # a duplicate id is an error of its own
        for _ in documents:
            pass
    except BaseException:
        documents.close()
        raise
    return documents


@dataclass(frozen=True)
class GoldTask(Generic[GoldDocument]):
    """A task about each document of the gold, in the words of a prompt, to be answered by a schema."""

    documents: Documents[GoldDocument]
    schema: Any
    template: Template

    @property
    def prompt(self) -> dict[str, str]:
        """The name and the digest of the prompt."""
        return {"name": self.template.name, "sha256": self.template.sha256}

    @property
    def signature(self) -> dict[str, object]:
        return {"prompt": f"{self.template.name}@{self.template.sha256[:12]}"}

    def __len__(self) -> int:
        return len(self.documents)

    def id(self, position: int) -> str:
        return self.documents[position].id

    def prediction(self, document_id: str, response: str) -> dict[str, Any]:
        return {"id": document_id, "response": response}

    def record(self, position: int) -> bytes:
        return self.documents.data(position)

    def close(self) -> None:
        self.documents.close()
