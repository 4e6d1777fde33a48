"""Predictions as other programs write them. A new layout is a file here and a line in one of the lists."""

from __future__ import annotations

from typing import Any

from goldgate.readers.layouts import chat, dataset_order, inspect_log, parquet, table, textee
from goldgate.readers.layouts.layout import ANSWER_NAMES, FileLayout, RecordLayout
from goldgate.readers.records import RecordFile

RECORD_LAYOUTS: tuple[RecordLayout, ...] = (
    chat.OPENAI_BATCH,
    dataset_order.LLAMA_FACTORY,
    dataset_order.LM_EVAL,
    textee.TEXTEE,
    chat.CHAT,
)
FILE_LAYOUTS: tuple[FileLayout, ...] = (parquet.PARQUET, table.TABLE, inspect_log.INSPECT)


# Beside an answer in our own form, each layout with records that may have it has one of these.
_FOREIGN_KEYS = frozenset({"custom_id", "doc_id", "wnd_id"})


def recognize_record_layout(record: Any) -> RecordLayout | None:
    """The layout of a decoded record; None for our own form, and for an unknown one."""
    if isinstance(record, dict) and not record.keys().isdisjoint(ANSWER_NAMES) and _FOREIGN_KEYS.isdisjoint(record):
        return None
    return next((layout for layout in RECORD_LAYOUTS if layout.recognizes(record)), None)


def recognize_file_layout(file: RecordFile) -> FileLayout | None:
    """The layout of a file that does not hold a record a line."""
    return next((layout for layout in FILE_LAYOUTS if layout.recognizes(file)), None)
