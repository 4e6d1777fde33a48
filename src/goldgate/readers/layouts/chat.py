"""Chats: records with `messages`, replies of OpenAI-compatible endpoints, and the output of an OpenAI batch.

A reply has `choices` or `output`; a line of a batch has one under `response`. A request that failed has no answer.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from goldgate.core.finding import record_id
from goldgate.errors import InputError, Place, describe_value
from goldgate.readers.guess import list_keys
from goldgate.readers.layouts.layout import ANSWER_NAMES, LayoutAnswer, RecordLayout, not_generated_error


def _is_batch(record: Any) -> bool:
    return (
        isinstance(record, dict)
        and isinstance(record.get("custom_id"), str)
        and "response" in record
        and (record["response"] is None or isinstance(record["response"], dict))
    )


def _batch_answer(record: Mapping[str, Any]) -> LayoutAnswer | None:
    """The text of the reply; none where the request failed."""
    response = record.get("response")
    body = response.get("body") if isinstance(response, dict) else None
    if not isinstance(response, dict) or not isinstance(body, dict):
        return None
    text = body_text(body)
    if text is not None:
        return LayoutAnswer(record_id({"id": record.get("custom_id")}), {"response": text})
    if response.get("status_code", 200) == 200 and body and not body.get("error") and not record.get("error"):
        raise not_generated_error("response.body", body)
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
        return "".join(_content_text(item.get("content")) for item in items) or calls_text({"tool_calls": calls})
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
    text = _content_text(message.get("content"))
    if text:
        return text
    refusal = message.get("refusal")
    return calls_text(message) or (refusal if isinstance(refusal, str) else "")


def _content_text(content: Any) -> str:
    """The text of a content, which is text, a part with text, or a list of those; other parts say nothing."""
    if isinstance(content, list):
        return "".join(map(_content_text, content))
    text = content.get("text") if isinstance(content, dict) else content
    return text if isinstance(text, str) else ""


OPENAI_BATCH = RecordLayout("openai-batch", "The output of an OpenAI batch", _is_batch, _batch_answer)


def is_chat_record(record: Any) -> bool:
    if not isinstance(record, dict) or any(name in record for name in ANSWER_NAMES):
        return False
    return is_reply(record) or record.get("choices") == [] or _is_messages(record.get("messages"))


def _chat_answer(record: Mapping[str, Any]) -> LayoutAnswer | None:
    """The last message of the assistant, or the text of a reply; None where a request failed."""
    messages = record.get("messages")
    if messages is not None:
        turns = [turn for turn in messages if turn["role"] == "assistant"] if _is_messages(messages) else []
        if not turns:
            raise not_generated_error("messages", messages)
        return LayoutAnswer(record_id(record), {"response": message_text(turns[-1])})
    if is_reply(record):
        return LayoutAnswer(record_id(record), {"response": body_text(record)})
    if any(name in record for name in ANSWER_NAMES):
        raise _not_a_chat_error(record)
    if not record.get("choices") and not record.get("output"):
        return None
    raise not_generated_error("choices", record.get("choices"))


def _not_a_chat_error(record: Mapping[str, Any]) -> InputError:
    """The error for an answer in goldgate's own form behind chats: it must not pass for a request that failed."""
    return InputError(
        "predictions.mixed",
        "this record has another form than the first one of the file, which is a chat",
        place=Place(field=next(name for name in ANSWER_NAMES if name in record)),
        expected='"messages", or a reply with "choices" or "output"',
        found=f"the keys {list_keys(sorted(map(str, record)))}",
        advice="write all predictions of a file in one form, or each form to a file of its own",
    )


def is_reply(value: Any) -> bool:
    """Whether this is a chat completion, a plain completion, or a reply of the Responses API."""
    if not isinstance(value, Mapping):
        return False
    choices = value.get("choices")
    if isinstance(choices, list) and choices:
        return isinstance(choices[0], dict) and ("message" in choices[0] or "text" in choices[0])
    return value.get("object") == "response" and isinstance(value.get("output"), list)


def _is_messages(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, dict) and isinstance(turn.get("role"), str) for turn in value)
    )


CHAT = RecordLayout("chat", "Chat messages, or replies of an OpenAI-compatible endpoint", is_chat_record, _chat_answer)


ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_CALLS = ("tool_calls", "function_call")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")


class ChatAnswer(NamedTuple):
    """What a model wrote, and the thought that was stored beside it (empty if there is none)."""

    response: str
    thought: str


def is_chat(value: Any) -> bool:
    """Whether a decoded value is meant as one message or more, and not as an answer.

    A list of arguments has roles too, `{"role": "Employer", "argument": …}`: it is not a chat.
    """
    messages = value if isinstance(value, (list, tuple)) else [value]
    if not messages or not all(isinstance(message, Mapping) for message in messages):
        return False
    return all(isinstance(message.get("role"), str) and "event_type" not in message for message in messages) and any(
        message["role"] in ROLES or "content" in message for message in messages
    )


def read_chat(value: Any) -> ChatAnswer:
    """The last assistant message; TypeError if there is none, or if it has no text that can be read."""
    messages = value if isinstance(value, (list, tuple)) else [value]
    answers = [message for message in messages if message["role"] == "assistant"]
    if not answers:
        roles = ", ".join(dict.fromkeys(message["role"] for message in messages))
        raise TypeError(f"chat messages need one with the role assistant; the roles are {roles}")
    message = answers[-1]
    content = message.get("content")
    texts, thoughts = _content_parts(content) if isinstance(content, (list, tuple)) else ([content], [])
    text = "".join(part for part in texts if isinstance(part, str))
    calls = any(message.get(key) for key in _CALLS)
    if not isinstance(content, (str, list, tuple)) and not (content is None and "content" in message) and not calls:
        actual = type(content).__name__ if "content" in message else "no content; its keys are " + ", ".join(message)
        raise TypeError(f"the content of an assistant message is text or a list of parts with text, not {actual}")
    if not text.strip() and calls:  # the reader knows how to take answers out of several calls
        text = calls_text(message)
    elif content is None and isinstance(message.get("refusal"), str):
        text = message["refusal"]
    beside = next((message[key] for key in _THOUGHTS if isinstance(message.get(key), str)), "")
    return ChatAnswer(text, "\n".join(part for part in (beside, *thoughts) if part))


def read_response(response: Any, is_decoded: Callable[[Any], bool], decoded: str) -> tuple[str | None, Any]:
    """The text of what a record has under `response`, or its JSON that was decoded elsewhere, which `decoded` names.

    Of chat messages the last one of the assistant is the text, of an endpoint's reply its own.
    """
    described, advice = describe_value(response), None
    if isinstance(response, str):
        return response, None
    if is_chat(response):
        try:
            return read_chat(response).response, None
        except TypeError as problem:
            described = str(problem)
    elif is_reply(response):
        return body_text(response), None
    elif isinstance(response, (dict, list)):
        if is_decoded(response):
            return None, response
        advice = "are these several answers? then --response-field response.0 takes the first of each"
    raise InputError(
        "predictions.wrong_type",
        "a response is the raw text that the model wrote",
        place=Place(field="response"),
        expected=f'a string ("" if the model wrote nothing), chat messages, {decoded}, or null for no answer',
        found=described,
        advice=advice,
    )


def _content_parts(content: Any) -> tuple[list[str], list[str]]:
    """The texts and the thoughts among the parts of a content; images and the like say nothing."""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in content:
        if not isinstance(part, (str, Mapping)):
            raise TypeError(f"a part of a message's content is an object with text, not {type(part).__name__}")
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
        else:
            thoughts += [part[key] for key in ("thinking", "reasoning") if isinstance(part.get(key), str)]
    return texts, thoughts
