"""A reply in pieces (server-sent events), which nobody asked for, put together: it was paid for all the same."""

from __future__ import annotations

from typing import Any

from goldgate.generation.answerers.openai.lenient import parse_lenient

_START = b"data:"
_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")


def join_stream(body: bytes) -> dict[str, Any] | None:
    """The completion that the pieces come to; None if it is no stream, or one that breaks off."""
    body = body.lstrip(b"\xef\xbb\xbf \t\r\n")
    if not body.startswith((_START, b":", b"event:")):
        return None
    texts: dict[str, list[str]] = {}
    calls: dict[int, dict[str, list[str]]] = {}
    whole: dict[str, Any] = {}
    finish = None
    for line in body.splitlines():
        if not line.startswith(_START) or line[len(_START) :].strip() == b"[DONE]":
            continue
        try:
            piece = parse_lenient(line[len(_START) :].strip())
        except ValueError:
            return None
        if not isinstance(piece, dict):
            return None
        whole |= {name: piece[name] for name in ("model", "usage", "error") if piece.get(name)}
        choice = _first(piece.get("choices"))
        finish = choice.get("finish_reason") or finish
        said = choice.get("delta") or choice.get("message")
        if not isinstance(said, dict):
            continue
        for name in _TEXTS:
            if isinstance(said.get(name), str):
                texts.setdefault(name, []).append(said[name])
        _add_calls(calls, said)
    if finish is None:
        return {"error": whole["error"]} if "error" in whole else None
    message: dict[str, Any] = {name: "".join(parts) for name, parts in texts.items()}
    message["tool_calls"] = [
        {"function": {name: "".join(parts) for name, parts in calls[index].items()}} for index in sorted(calls)
    ]
    return {**whole, "choices": [{"finish_reason": finish, "message": message}]}


def _add_calls(calls: dict[int, dict[str, list[str]]], delta: dict[str, Any]) -> None:
    """Add what a piece holds of tool calls, names and arguments, to the calls of the same index."""
    pieces = delta.get("tool_calls") or ([{"function": delta["function_call"]}] if delta.get("function_call") else [])
    for place, piece in enumerate(pieces if isinstance(pieces, list) else []):
        function = piece.get("function") if isinstance(piece, dict) else None
        if not isinstance(function, dict):
            continue
        index = piece.get("index", place)
        call = calls.setdefault(index if isinstance(index, int) else place, {"name": [], "arguments": []})
        for name, parts in call.items():
            if isinstance(function.get(name), str):
                parts.append(function[name])


def _first(choices: Any) -> dict[str, Any]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}
