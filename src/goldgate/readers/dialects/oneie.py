"""OneIE's form of ACE and ERE, which TextEE uses for all its data sets: a sentence or window a line.

Tokens count from the beginning of the sentence, the end of a span is exclusive. Sentences of one document are a group.
https://blender.cs.illinois.edu/software/oneie, https://github.com/ej0cl6/TextEE
"""

from __future__ import annotations

from typing import Any

from goldgate.readers.dialects.dialect import Dialect, Record, mapped, word
from goldgate.readers.dialects.wikievents import mention_record

_IDS = ("wnd_id", "sent_id")


def recognizes(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and {"tokens", "event_mentions"} <= record.keys()
        and any(name in record for name in _IDS)
        and "id" not in record
    )


def convert(record: Any) -> Record:
    record = mapped(record, "")
    name = next((name for name in _IDS if name in record), _IDS[-1])
    identity = word(record.get(name), name)
    document = record.get("doc_id")
    group = {"group": document} if isinstance(document, str) and document else {}
    text = record.get("sentence", record.get("text"))
    return {"id": identity, **group, **mention_record(record, text)}


DIALECT = Dialect(
    "oneie",
    "OneIE and TextEE: ACE, ERE and others by sentence or window",
    recognizes,
    convert,
    ("tokens", "event_mentions", "sent_id"),
)
