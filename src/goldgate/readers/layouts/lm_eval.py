"""samples_*.jsonl of lm-evaluation-harness: a document a line, with its place in the data set and all responses to it.

The id is that of the document, where it has one. Of several responses the first counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.record_id import record_id
from goldgate.readers.layouts.layout import Answer, RecordLayout


def recognizes(record: Any) -> bool:
    return isinstance(record, dict) and {"doc_id", "resps"} <= record.keys()


def answer(record: Mapping[str, Any]) -> Answer:
    document, place = record.get("doc"), record.get("doc_id")
    identity = record_id(document) if isinstance(document, dict) else None
    response = record.get("resps")
    while isinstance(response, list) and response:
        response = response[0]
    position = place if type(place) is int and place >= 0 else None
    if identity is None and position is None:
        identity = record_id({"id": place})
    return Answer(identity, {"response": response}, position)


LAYOUT = RecordLayout("lm-eval", "samples_*.jsonl of lm-evaluation-harness", recognizes, answer, in_order=True)
