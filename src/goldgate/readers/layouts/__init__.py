"""Predictions as other programs write them. A new layout is a file here and a line in one of the lists."""

from __future__ import annotations

from typing import Any

from goldgate.core.record_id import record_id
from goldgate.readers.dialects import recognize
from goldgate.readers.layouts import inspect_log, llama_factory, lm_eval, openai_batch, parquet, table, textee
from goldgate.readers.layouts.layout import Answer, FileLayout, RecordLayout
from goldgate.readers.records import RecordFile

RECORD_LAYOUTS: tuple[RecordLayout, ...] = (openai_batch.LAYOUT, llama_factory.LAYOUT, lm_eval.LAYOUT, textee.LAYOUT)
FILE_LAYOUTS: tuple[FileLayout, ...] = (parquet.LAYOUT, table.LAYOUT, inspect_log.LAYOUT)


def recognize_record(record: Any) -> RecordLayout | None:
    """The layout of a decoded record; None for our own form, and for what nobody knows."""
    found = next((layout for layout in RECORD_LAYOUTS if layout.recognizes(record)), None)
    return found if found is not None else _as_gold(record)


def recognize_file(file: RecordFile) -> FileLayout | None:
    """The layout of a file that does not hold a record a line."""
    return next((layout for layout in FILE_LAYOUTS if layout.recognizes(file)), None)


def _as_gold(record: Any) -> RecordLayout | None:
    """The layout of a prediction that is written as gold is, in a dialect that has its id elsewhere than we do."""
    dialect = None if isinstance(record, dict) and "id" in record else recognize(record)
    if dialect is None or (isinstance(record, dict) and "event_list" in record):
        return None

    def answer(given: Any) -> Answer:
        converted = dialect.convert(given)
        return Answer(record_id(converted), {"events": converted["events"]})

    return RecordLayout(dialect.name, dialect.about, dialect.recognizes, answer, in_tokens=True)
