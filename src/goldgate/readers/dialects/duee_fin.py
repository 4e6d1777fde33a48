"""DuEE-Fin: announcements with a title, their events under `event_list`, which is not there where there are none.

The source text is the title, a line break, and the text.
https://www.luge.ai, data set DuEE-fin
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects import duee
from goldgate.readers.dialects.dialect import Dialect, Record, mapped


def recognizes(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("title"), str)
        and isinstance(record.get("text"), str)
        and "events" not in record
        and ("event_list" not in record or isinstance(record["event_list"], list))
    )


def convert(record: Any) -> Record:
    found = duee.convert(mapped(record, ""))
    title, text = found.get("title"), found.get("text")
    if isinstance(title, str) and isinstance(text, str):
        del found["title"]
        found["text"] = f"{title}\n{text}"
    if isinstance(title, str) and found.get("events") is None and found.get("event_list") is None:
        found.pop("event_list", None)
        found["events"] = []
    return found


DIALECT = Dialect(
    "duee-fin", "DuEE-Fin: announcements with title, text and event_list", recognizes, convert, ("title", "text")
)
