"""The output of a batch at OpenAI, and at whoever copies it: chat completions or responses, a request a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from goldgate.core.record_id import record_id
from goldgate.readers.layouts.layout import Answer, RecordLayout, not_generated


def recognizes(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("custom_id"), str)
        and "response" in record
        and (record["response"] is None or isinstance(record["response"], dict))
    )


def answer(record: Mapping[str, Any]) -> Answer | None:
    """The text of the reply; none where the request failed."""
    response = record.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    if not isinstance(response, dict) or not isinstance(body, dict):
        return None
    text = body_text(body)
    if text is not None:
        return Answer(record_id({"id": record.get("custom_id")}), {"response": text})
    if response.get("status_code", 200) == 200 and body and not body.get("error") and not record.get("error"):
        raise not_generated("response.body", body)
    return None


def body_text(body: Mapping[str, Any]) -> str | None:
    """What a model wrote: the first choice of a completion, or all texts of a response; None if there is nothing."""
    choices = body.get("choices")
    if isinstance(choices, list):
        first = choices[0] if choices and isinstance(choices[0], dict) else {}
        message = first.get("message")
        return message_text(message) if isinstance(message, dict) else first.get("text")  # of a plain completion
    output = body.get("output")
    if isinstance(output, list):
        items = [item for item in output if isinstance(item, dict)]
        calls = [item for item in items if item.get("type") in ("function_call", "custom_tool_call")]
        return "".join(_text(item.get("content")) for item in items) or calls_text({"tool_calls": calls})
    return None


def calls_text(message: Mapping[str, Any]) -> str:
    """The arguments of the only tool call of a message; of several calls all, as JSON; "" where there are none."""
    calls = message.get("tool_calls") or message.get("function_call")
    if not calls:
        return ""
    call = calls[0] if isinstance(calls, list) and len(calls) == 1 else calls
    function = (call.get("function") or call.get("custom") or call) if isinstance(call, dict) else None
    arguments = function.get("arguments", function.get("input")) if isinstance(function, dict) else None
    if isinstance(arguments, str):
        return arguments
    content = {"tool_calls": calls} if arguments is None else arguments
    return json.dumps(content, ensure_ascii=False)


def message_text(message: Mapping[str, Any]) -> str:
    """The text of a message; what it gave to tools where it says nothing else."""
    text = _text(message.get("content"))
    if text:
        return text
    refusal = message.get("refusal")
    return calls_text(message) or (refusal if isinstance(refusal, str) else "")


def _text(content: Any) -> str:
    """The text of a content, which is text, a part with text, or a list of those; other parts say nothing."""
    if isinstance(content, list):
        return "".join(map(_text, content))
    text = content.get("text") if isinstance(content, dict) else content
    return text if isinstance(text, str) else ""


LAYOUT = RecordLayout("openai-batch", "The output of an OpenAI batch", recognizes, answer)
