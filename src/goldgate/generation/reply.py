"""Interpret a server's reply: an answer, or the reason for its absence and what can be done about it.

`FailureKind` of `goldgate.generation.request` lists what can be done.

Replies are read leniently, since the answer is already paid for: a byte order mark, UTF-16, half of a surrogate pair,
NaN and Infinity, long numbers, control characters in strings, invalid UTF-8, text after the JSON value, and
server-sent events that were not requested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import orjson

from goldgate.files.writing import replace_surrogates
from goldgate.generation.request import MAX_ANSWER_TOKENS, FailureKind, ModelAnswer, NoAnswer, Usage
from goldgate.generation.secret import Secret
from goldgate.readers.layouts.chat import calls_text

LONGEST_RETRY_AFTER = 120.0  # servers have been seen to ask for hours
_UNITS = {"ms": 0.001, "mil": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_TIME = r"(\d{1,9}(?:\.\d{1,9})?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)(?![a-z])"
_IN_WORDS = re.compile(
    rf"(?:try|retry[_ -]?delay|retry[_ -]?after|wait|resets?|available)\b[^0-9]{{0,40}}?((?:{_TIME}(?:\s|,|and)*)+)",
    re.IGNORECASE,
)
_BARE = re.compile(r"retry[_ -]?after[_ -]?(ms|seconds|secs?)?\W{1,4}(\d{1,9}(?:\.\d{1,9})?)\b", re.IGNORECASE)


def retry_after_header(headers: Mapping[str, str], now: datetime) -> float | None:
    """The seconds that a reply asks us to wait: `retry-after-ms`, or `Retry-After` in seconds or as a date."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return _capped(milliseconds / 1000)
    value = headers.get("Retry-After") or headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None:
        return _capped(seconds)
    if not value:
        return None
    try:
        when = parsedate_to_datetime(value)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return _capped((when - now).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):  # no date, or one that no calendar has
        return None


def retry_after_text(text: str) -> float | None:
    """The seconds that an error's text asks us to wait: `retry in 1.2s`, `try again in 6m0s`, `"retryDelay": "34s"`."""
    if match := _IN_WORDS.search(text):
        parts = re.findall(_TIME, match[1], re.IGNORECASE)
        return _capped(sum(float(number) * _unit(unit.lower()) for number, unit in parts))
    if match := _BARE.search(text):
        return _capped(float(match[2]) * _unit((match[1] or "s").lower()))
    return None


def _number(text: str | None) -> float | None:
    try:
        number = float(text) if text is not None else None
    except ValueError:
        return None
    return number if number is not None and number == number else None


def _unit(name: str) -> float:
    return _UNITS.get(name) or _UNITS["mil" if name.startswith("mil") else name[0]]


def _capped(seconds: float) -> float:
    return min(max(seconds, 0.0), LONGEST_RETRY_AFTER)


_MAX_DIGITS = 18  # fits 64 bits; longer numbers become None, which no field of ours takes


def parse_lenient(body: bytes) -> Any:
    """The value of a body; ValueError if there is none. Of a name that stands twice, the last one counts."""
    try:
        return orjson.loads(body)
    except ValueError:
        return _parse(body, dict)


def parse_first(body: bytes) -> Any:
    """The value of a body, or None. Of a name that stands twice, the first one counts."""
    try:
        return _parse(body, lambda pairs: dict(reversed(pairs)))
    except ValueError:
        return None


def _parse(body: bytes, pairs_hook: Any) -> Any:
    text = body.decode(json.detect_encoding(body), "replace").lstrip("\ufeff \t\r\n")
    decoder = json.JSONDecoder(
        strict=False,
        object_pairs_hook=pairs_hook,
        parse_int=lambda digits: int(digits) if len(digits) <= _MAX_DIGITS else None,
        parse_constant=lambda _: None,
    )
    try:
        return decoder.raw_decode(text)[0]
    except RecursionError:
        raise ValueError("nested too deeply") from None


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
        choice = _first_choice(piece.get("choices"))
        finish = choice.get("finish_reason") or finish
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            continue
        for name in _TEXTS:
            if isinstance(delta.get(name), str):
                texts.setdefault(name, []).append(delta[name])
        _add_calls(calls, delta)
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


def _first_choice(choices: Any) -> dict[str, Any]:
    choice = choices[0] if isinstance(choices, list) and choices else None
    return choice if isinstance(choice, dict) else {}


RETRIED = frozenset({408, 409, 425})
UNDECIDED = frozenset({408, 409, 425, 429, 502, 503, 504})  # what became of the request is not known, or nothing did
MAX_DETAIL = 300
MAX_NAME_LENGTH = 200  # characters of a model's name or a finish reason that are kept

_READ = 8 * MAX_DETAIL  # of a message, before keys are looked for in it: that takes time
_MAX_REREAD = 1024 * 1024  # bytes of a body that is read a second time
_SEARCHED = 64 * 1024  # bytes of an error in which a retry time is looked for
_HOPELESS = {
    401: "the key is refused",
    402: "payment is required",
    403: "access is refused",
    404: "the address or the model is unknown",
    405: "the address takes no questions",
}
_FORMAT = re.compile(
    r"response[_ ]?format|json[_ ]?schema|json[_ ]?object|json mode|structured[_ ]?output|guided|grammar", re.IGNORECASE
)
_DENIED = re.compile(
    r"not\s+(?:yet\s+|currently\s+|be\s+)?"
    r"(?:support|availab|implement|allow|enabl|permit|recogni|valid|known|compat|one of)"
    r"|n't support|un(?:support|known|recogni|expect|availab)|in(?:valid|compat)|must be|should be|only|disabled"
    r"|extra (?:field|input)|no such|cannot be used|(?:no|without|lacks) support|schema (?:is )?too",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[_ ](?:length|window|size)|(?<!schema )(?<!schema is )too (?:long|large|many tokens)|reduce the length"
    r"|maximum (?:context|length|input|prompt|number of)|max_(?:model_len|seq_len|input)|token limit"
    r"|(?:prompt|input|request)[^.]{0,40}exceed|exceed[^.]{0,40}(?:tokens|context|length)|string_above_max_length",
    re.IGNORECASE,
)
_NO_MONEY = re.compile(
    r"insufficient[_ ](?:quota|funds?|balance|credits?)|credit balance|exceeded your current quota|out of credits"
    r"|billing[_ ](?:hard[_ ]limit|not[_ ]active)|check your billing|(?:add|buy|purchase) (?:more )?credits",
    re.IGNORECASE,
)


def read_reply(
    status: int, content_type: str, body: bytes, secret: Secret, asked: float | None = None
) -> ModelAnswer | NoAnswer:
    """Make sense of a reply; nothing in it can raise. `asked` is the pause that its headers ask for."""
    try:
        value = parse_lenient(body)
    except ValueError:
        value = join_stream(body)
        if value is None and 200 <= status < 300:
            kind = secret.hide(replace_surrogates(content_type[:_READ]))[:40] or "no content type"
            return NoAnswer("again", "not_json", f"{kind}: {_server_words(None, body, secret)}", asked, billed=True)
    if not 200 <= status < 300:
        return _refusal(status, value, body, secret, asked)
    answer = _answer(value, secret)
    if answer is None and isinstance(value, dict) and value.get("error"):  # some gateways wrap an error into a 200
        return _refusal(_code(value["error"]), value, body, secret, asked)
    if answer is None and isinstance(value, dict) and len(body) <= _MAX_REREAD:
        answer = _answer(parse_first(body), secret)  # a name twice: the other one may have it
    if answer is not None:
        return answer
    used = _usage(value.get("usage")) if isinstance(value, dict) else None
    return NoAnswer("again", "no_answer", _server_words(value, body, secret), asked, billed=True, usage=used)


def _answer(value: Any, secret: Secret) -> ModelAnswer | None:
    choice = _first_choice(value.get("choices") if isinstance(value, dict) else None)
    message = choice.get("message")
    if not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, list):  # parts
        texts = (part.get("text") for part in content if isinstance(part, dict))
        content = "".join(text for text in texts if isinstance(text, str))
    elif isinstance(content, dict):  # the JSON that was asked for, not as a text
        content = json.dumps(content, ensure_ascii=False)
    refusal, reasoning = message.get("refusal"), message.get("reasoning_content") or message.get("reasoning")
    if content is None or (isinstance(content, str) and not content.strip()):
        content = calls_text(message) or content
    if content is None and (isinstance(refusal, str) or choice.get("finish_reason") is not None):
        content = refusal if isinstance(refusal, str) else ""  # it said nothing: that is an answer too
    if not isinstance(content, str):
        return None

    def kept(text: Any, most: int | None = None) -> str | None:
        return secret.hide_whole(replace_surrogates(text))[:most] if isinstance(text, str) and text else None

    return ModelAnswer(
        kept(content) or "",
        _usage(value.get("usage")),
        kept(choice.get("finish_reason"), MAX_NAME_LENGTH),
        kept(reasoning),
        kept(value.get("model"), MAX_NAME_LENGTH),
    )


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("completion_tokens_details")
    prompt, output = _tokens(value.get("prompt_tokens")), _tokens(value.get("completion_tokens"))
    reasoning = _tokens(details.get("reasoning_tokens")) if isinstance(details, dict) else 0
    return Usage(prompt, output or 0, reasoning or 0) if prompt is not None else None


def _tokens(value: Any) -> int | None:
    """A count of tokens; None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MAX_ANSWER_TOKENS:
        return None
    return int(value)


def _code(error: Any) -> int:
    """The status that an error inside a 200 names."""
    code = str(error.get("code") or error.get("status")) if isinstance(error, dict) else ""
    return int(code) if re.fullmatch(r"[45][0-9]{2}", code) else 500


def _refusal(status: int, value: Any, body: bytes, secret: Secret, asked: float | None) -> NoAnswer:
    words = _server_words(value, body, secret)
    searched = body[:_SEARCHED].decode("utf-8", "replace")
    used = _usage(value.get("usage")) if isinstance(value, dict) else None
    means = _failure_kind(status, words, _parameter(value), searched)
    if status == 429 and means == "busy" and asked is None:
        asked = retry_after_text(searched)
    elif status == 429 and means == "hopeless" and asked is not None:
        means = "busy"  # a server that names a time has not run out of money, whatever it says about plans and bills
    if means == "hopeless":
        words = f"{_HOPELESS.get(status, 'no money is left')}: {words}"
    return NoAnswer(
        means, f"http_{status}", words, asked,
        billed=used is not None or (means == "again" and status >= 500),
        undecided=status in UNDECIDED,
        usage=used,
    )  # fmt: skip


def _failure_kind(status: int, words: str, parameter: str, searched: str) -> FailureKind:
    if status == 429:
        clear = _NO_MONEY.search(searched) and retry_after_text(searched) is None
        return "hopeless" if clear else "busy"
    if status in (400, 413, 422) and _TOO_LONG.search(words):  # even if it names the response format on the way
        return "final"
    refuses_format = _FORMAT.search(words) and _DENIED.search(words)
    if status in (400, 415, 422, 500, 501) and (refuses_format or parameter.startswith("response_format")):
        return "format"
    if status in _HOPELESS:
        return "hopeless"
    if status in (400, 422):
        return "unclear"
    return "again" if status in RETRIED or status >= 500 else "final"


def _error(value: Any) -> Any:
    """The error object of a reply; one vendor puts it into a list."""
    value = value[0] if isinstance(value, list) and value else value
    return value.get("error") if isinstance(value, dict) else None


def _parameter(value: Any) -> str:
    error = _error(value)
    parameter = error.get("param") if isinstance(error, dict) else None
    return parameter if isinstance(parameter, str) else ""


def _server_words(value: Any, body: bytes, secret: Secret) -> str:
    """The server's own words, shortened, on one line, without the key."""
    text = body[:_READ].decode("utf-8", "replace")
    error = _error(value)
    message = error.get("message") if isinstance(error, dict) else error
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(message, str):
        text = message[:_READ]
        if isinstance(code, str) and code not in text:
            text = f"{text[:MAX_DETAIL]} ({code[:80]})"
    return secret.hide(" ".join(replace_surrogates(text).split()))[:MAX_DETAIL]
