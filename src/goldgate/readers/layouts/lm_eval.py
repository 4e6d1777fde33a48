"""samples_*.jsonl of lm-evaluation-harness: a document a line, with its place in the data set and all responses to it.

The id is that of the document, where it has one. Of several responses the first counts. A task with several filters has
a line a document for each: the responses are the same, so only the lines of the first filter count.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.record_id import record_id
from goldgate.readers.layouts.layout import Answer, RecordLayout, not_generated

_RESPONSES = ("resps", "filtered_resps")  # as the model wrote it; some exports have only what the filter left of it


def recognizes(record: Any) -> bool:
    return isinstance(record, dict) and "doc_id" in record and any(name in record for name in _RESPONSES)


def answer(record: Mapping[str, Any]) -> Answer:
    document, place = record.get("doc"), record.get("doc_id")
    identity = record_id(document) if isinstance(document, dict) else None
    name = next((name for name in _RESPONSES if record.get(name) is not None), _RESPONSES[0])
    response = record.get(name)
    while isinstance(response, list) and response:
        response = response[0]
    if not isinstance(response, str):  # log-likelihoods, of a task that scores given answers
        raise not_generated(name, record.get(name))
    position = place if type(place) is int and place >= 0 else None
    if identity is None and position is None:
        identity = record_id({"id": place})
    return Answer(identity, {"response": response}, position)


def view(record: Mapping[str, Any]) -> object:
    """The filter, whose name a line has since filters can be several."""
    return record.get("filter")


LAYOUT = RecordLayout(
    "lm-eval", "samples_*.jsonl of lm-evaluation-harness", recognizes, answer, in_order=True, view=view
)
