"""Parquet files: a row is an answer. Needs the extra `parquet`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from goldgate.errors import InputError, MachineError, Place
from goldgate.readers.layouts.layout import Answer, Fields, FileLayout, pick
from goldgate.readers.records import RecordFile

_MAGIC = b"PAR1"
_NAMES = ("id", "response", "events", "event_list")


def recognizes(file: RecordFile) -> bool:
    return file.plain.read_some(0, len(_MAGIC)) == _MAGIC


def answers(file: RecordFile, fields: Fields) -> Iterator[tuple[int, Answer | None]]:
    try:
        import pyarrow
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MachineError(
            "machine.missing_package",
            "this is a Parquet file, and the package pyarrow is not installed",
            place=Place(file.name),
            advice="pip install pyarrow",
        ) from None
    try:
        table: Any = ParquetFile(file.plain.stream())
        wanted = {path.split(".")[0] for path in fields if path is not None} | {*fields, *_NAMES}
        columns = [name for name in table.schema_arrow.names if name in wanted]
        number = 0
        for batch in table.iter_batches(columns=columns):
            for row in batch.to_pylist():
                number += 1
                yield number, pick(row, fields)
    except (pyarrow.ArrowException, OSError) as problem:
        raise InputError(
            "predictions.bad_table", "this table cannot be read", place=Place(file.name), found=str(problem)
        ) from None


LAYOUT = FileLayout("parquet", "Parquet", recognizes, answers)
