"""Predictions as other programs write them. A new layout is a file here and a line in one of the lists, or an
entry point `goldgate.layouts`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from goldgate.core.plugins import load_plugins
from goldgate.readers.layouts import chat, harnesses, tables
from goldgate.readers.layouts.layout import FileLayout, RecordLayout
from goldgate.readers.records import RecordFile

RECORD_LAYOUTS: tuple[RecordLayout, ...] = (
    chat.OPENAI_BATCH,
    harnesses.LLAMA_FACTORY,
    harnesses.LM_EVAL,
    harnesses.TEXTEE,
    chat.CHAT,
)
FILE_LAYOUTS: tuple[FileLayout, ...] = (tables.PARQUET, tables.TABLE, harnesses.INSPECT)


@cache
def _added_layouts() -> tuple[RecordLayout | FileLayout, ...]:
    """Those of other distributions, which are tried after ours."""
    taken = {*(layout.name for layout in RECORD_LAYOUTS), *(layout.name for layout in FILE_LAYOUTS)}
    return tuple(load_plugins("goldgate.layouts", (RecordLayout, FileLayout), taken))


def recognize_record_layout(record: Any) -> RecordLayout | None:
    """The layout of a decoded record; None for our own form, and for an unknown one."""
    added = (layout for layout in _added_layouts() if isinstance(layout, RecordLayout))
    return next((layout for layout in (*RECORD_LAYOUTS, *added) if layout.recognizes(record)), None)


def recognize_file_layout(file: RecordFile) -> FileLayout | None:
    """The layout of a file that does not hold a record a line."""
    added = (layout for layout in _added_layouts() if isinstance(layout, FileLayout))
    return next((layout for layout in (*FILE_LAYOUTS, *added) if layout.recognizes(file)), None)
