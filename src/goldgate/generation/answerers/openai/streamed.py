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
        for name in _TEXTS:
            if isinstance(said, dict) and isinstance(said.get(name), str):
                texts.setdefault(name, []).append(said[name])
    if finish is None:
        return {"error": whole["error"]} if "error" in whole else None
    message = {name: "".join(parts) for name, parts in texts.items()}
    return {**whole, "choices": [{"finish_reason": finish, "message": message}]}


def _first(choices: Any) -> dict[str, Any]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}
