"""What a server's reply means: an answer, or a trouble that says what can be done about it.

busy     ask again later, as often as it takes (429)
again    ask again, a limited number of times (408, 409, 425, 5xx, a body that is no answer)
format   the endpoint refuses the response format
final    this request will never be answered (other 4xx)
hopeless no request will be answered: wrong key, unknown model, no money left
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, Literal

import orjson

from goldgate.generation.secret import Secret

RETRIED = frozenset({408, 409, 425})
MAX_DETAIL = 300

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
_NO_MONEY = re.compile(r"insufficient_quota|billing|credit balance", re.IGNORECASE)

Means = Literal["busy", "again", "format", "final", "hopeless"]


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens as the endpoint counted them. Reasoning tokens are part of the output."""

    input: int = 0
    output: int = 0
    reasoning: int = 0
    estimated: bool = False  # the endpoint did not say, and these are our own guess

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said."""

    response: str
    usage: Usage | None = None
    finish_reason: str | None = None
    reasoning: str | None = None
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why there is no answer. `billed` is True where the endpoint may have worked, and charged, all the same."""

    means: Means
    cause: str
    detail: str = ""
    retry_after: float | None = field(default=None, compare=False)
    billed: bool = False


def read_reply(status: int, content_type: str, body: bytes, secret: Secret) -> Answer | Trouble:
    """Make sense of a reply that came whole; nothing in it can raise."""
    if status != 200:
        return _refusal(status, _told(body, secret))
    try:
        value = orjson.loads(body)
    except ValueError:
        kind = secret.hide(content_type)[:40] or "no content type"
        return Trouble("again", "not_json", f"{kind}: {_told(body, secret)}", billed=True)
    if isinstance(value, dict) and value.get("error"):  # some gateways wrap an error into a 200
        code = value["error"].get("code") if isinstance(value["error"], dict) else None
        known = int(code) if isinstance(code, int | str) and str(code).isdecimal() and 400 <= int(code) < 600 else 500
        return _refusal(known, _told(body, secret))
    return _answer(value, secret) or Trouble("again", "no_answer", _told(body, secret), billed=True)


def _answer(value: Any, secret: Secret) -> Answer | None:
    choices = value.get("choices") if isinstance(value, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return None
    content = message.get("content")
    if isinstance(content, list):  # parts
        content = "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    refusal, reasoning = message.get("refusal"), message.get("reasoning_content") or message.get("reasoning")
    if content is None and (isinstance(refusal, str) or choice.get("finish_reason") is not None):
        content = refusal if isinstance(refusal, str) else ""  # it said nothing: that is an answer too
    if not isinstance(content, str):
        return None
    finish, model = choice.get("finish_reason"), value.get("model")
    return Answer(
        secret.hide_whole(content),
        _usage(value.get("usage")),
        secret.hide_whole(finish) if isinstance(finish, str) else None,
        secret.hide_whole(reasoning) if isinstance(reasoning, str) and reasoning else None,
        secret.hide_whole(model) if isinstance(model, str) else None,
    )


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("completion_tokens_details")
    counts = [
        value.get("prompt_tokens"),
        value.get("completion_tokens"),
        details.get("reasoning_tokens") if isinstance(details, dict) else 0,
    ]
    tokens = [count if type(count) is int and count >= 0 else 0 for count in counts]
    return Usage(tokens[0], tokens[1], tokens[2]) if type(counts[0]) is int else None


def _refusal(status: int, told: str) -> Trouble:
    cause = f"http_{status}"
    if status == 429 and not _NO_MONEY.search(told):
        return Trouble("busy", cause, told)
    if status in (400, 415, 422, 500, 501) and _FORMAT.search(told):
        return Trouble("format", cause, told)
    if status in _HOPELESS or status == 429:
        return Trouble("hopeless", cause, f"{_HOPELESS.get(status, 'no money is left')}: {told}")
    if status in RETRIED or status >= 500:
        return Trouble("again", cause, told, billed=status >= 500)
    return Trouble("final", cause, told)


def _told(body: bytes, secret: Secret) -> str:
    """The server's own words, shortened, on one line, without the key."""
    text = body[: 8 * MAX_DETAIL].decode("utf-8", "replace")
    try:
        error = orjson.loads(body).get("error")
        said = error.get("message") if isinstance(error, dict) else error
        code = error.get("code") if isinstance(error, dict) else None
        if isinstance(said, str):
            text = f"{said} ({code})" if isinstance(code, str) and code not in said else said
    except (ValueError, AttributeError):
        pass
    return secret.hide(" ".join(text.split()))[:MAX_DETAIL]
