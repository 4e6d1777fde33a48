"""Predictions in the order of the data set, which need no ids: lm-evaluation-harness and LLaMA-Factory.

samples_*.jsonl of lm-evaluation-harness has a document per line, with its place in the data set and all responses
to it. The id is that of the document, where it has one. Of several responses the first counts. A task with several
filters has a line per document for each: the responses are the same, so only the lines of the first filter count.

generated_predictions.jsonl of LLaMA-Factory has prompt, predict and label.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.finding import record_id
from goldgate.readers.layouts.layout import LayoutAnswer, RecordLayout, not_generated_error

_RESPONSES = ("resps", "filtered_resps")  # as the model wrote it; some exports have only what the filter left of it


def _is_lm_eval(record: Any) -> bool:
    return isinstance(record, dict) and "doc_id" in record and any(name in record for name in _RESPONSES)


def _lm_eval_answer(record: Mapping[str, Any]) -> LayoutAnswer:
    document, place = record.get("doc"), record.get("doc_id")
    identity = record_id(document) if isinstance(document, dict) else None
    name = next((name for name in _RESPONSES if record.get(name) is not None), _RESPONSES[0])
    response = record.get(name)
    while isinstance(response, list) and response:
        response = response[0]
    if not isinstance(response, str):  # log-likelihoods, of a task that scores given answers
        raise not_generated_error(name, record.get(name))
    position = place if type(place) is int and place >= 0 else None
    if identity is None and position is None:
        identity = record_id({"id": place})
    return LayoutAnswer(identity, {"response": response}, position)


def _lm_eval_filter(record: Mapping[str, Any]) -> object:
    """The filter, whose name a line has since filters can be several."""
    return record.get("filter")


LM_EVAL = RecordLayout(
    "lm-eval",
    "samples_*.jsonl of lm-evaluation-harness",
    _is_lm_eval,
    _lm_eval_answer,
    in_order=True,
    view=_lm_eval_filter,
)


def _is_llama_factory(record: Any) -> bool:
    return isinstance(record, dict) and {"predict", "label"} <= record.keys() <= {"prompt", "predict", "label"}


def _llama_factory_answer(record: Mapping[str, Any]) -> LayoutAnswer:
    return LayoutAnswer(None, {"response": record.get("predict")})


LLAMA_FACTORY = RecordLayout(
    "llama-factory",
    "generated_predictions.jsonl of LLaMA-Factory",
    _is_llama_factory,
    _llama_factory_answer,
    in_order=True,
)
