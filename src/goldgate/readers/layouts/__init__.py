"""Predictions as other programs write them. A new layout is a file here and a line in one of the lists."""

from __future__ import annotations

from typing import Any

from goldgate.readers.layouts import chat, inspect_log, llama_factory, lm_eval, openai_batch, parquet, table, textee
from goldgate.readers.layouts.layout import FileLayout, RecordLayout
from goldgate.readers.records import RecordFile

RECORD_LAYOUTS: tuple[RecordLayout, ...] = (
    openai_batch.LAYOUT,
    llama_factory.LAYOUT,
    lm_eval.LAYOUT,
    textee.LAYOUT,
    chat.LAYOUT,
)
FILE_LAYOUTS: tuple[FileLayout, ...] = (parquet.LAYOUT, table.LAYOUT, inspect_log.LAYOUT)


def recognize_record(record: Any) -> RecordLayout | None:
    """The layout of a decoded record; None for our own form, and for what nobody knows."""
    return next((layout for layout in RECORD_LAYOUTS if layout.recognizes(record)), None)


def recognize_file(file: RecordFile) -> FileLayout | None:
    """The layout of a file that does not hold a record a line."""
    return next((layout for layout in FILE_LAYOUTS if layout.recognizes(file)), None)
