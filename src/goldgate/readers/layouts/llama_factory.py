"""LLaMA-Factory's generated_predictions.jsonl: prompt, predict and label, in the order of the data set, without ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.readers.layouts.layout import Answer, RecordLayout


def recognizes(record: Any) -> bool:
    return isinstance(record, dict) and {"predict", "label"} <= record.keys() <= {"prompt", "predict", "label"}


def answer(record: Mapping[str, Any]) -> Answer:
    return Answer(None, {"response": record.get("predict")})


LAYOUT = RecordLayout(
    "llama-factory", "generated_predictions.jsonl of LLaMA-Factory", recognizes, answer, in_order=True
)
