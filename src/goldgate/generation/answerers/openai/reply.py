"""What a server's reply means: an answer, or the reason why there is none, which says what can be done about it.

busy     ask again later, as often as it takes (429)
again    ask again, a limited number of times (408, 409, 425, 5xx, a body that is no answer)
format   the endpoint says that it does not support the response format
unclear  this request is refused (400, 422), perhaps for its response format
final    this request will never be answered (other 4xx, a document that is too long)
hopeless no request will be answered: wrong key, unknown model, no money left
"""

from __future__ import annotations

import json
import re
from typing import Any

from goldgate.files.storable import whole_text
from goldgate.generation.answerers.openai.lenient import parse_first, parse_lenient
from goldgate.generation.answerers.openai.streamed import join_stream
from goldgate.generation.answerers.openai.waiting import pause_in_words
from goldgate.generation.outcome import MOST_TOKENS, Answer, Means, NoAnswer, Usage
from goldgate.generation.secret import Secret
from goldgate.readers.layouts.openai_batch import calls_text

RETRIED = frozenset({408, 409, 425})
UNDECIDED = frozenset({408, 409, 425, 429, 502, 503, 504})  # what became of the request is not known, or nothing did
MAX_DETAIL = 300
MOST_NAME = 200  # characters of a model's name or a finish reason that are kept

_READ = 8 * MAX_DETAIL  # of a message, before keys are looked for in it: that takes time
_TWICE = 1024 * 1024  # bytes of a body that is read a second time
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
) -> Answer | NoAnswer:
    """Make sense of a reply; nothing in it can raise. `asked` is the pause that its headers ask for."""
    try:
        value = parse_lenient(body)
    except ValueError:
        value = join_stream(body)
        if value is None and 200 <= status < 300:
            kind = secret.hide(whole_text(content_type[:_READ]))[:40] or "no content type"
            return NoAnswer("again", "not_json", f"{kind}: {_server_words(None, body, secret)}", asked, billed=True)
    if not 200 <= status < 300:
        return _refusal(status, value, body, secret, asked)
    answer = _answer(value, secret)
    if answer is None and isinstance(value, dict) and value.get("error"):  # some gateways wrap an error into a 200
        return _refusal(_code(value["error"]), value, body, secret, asked)
    if answer is None and isinstance(value, dict) and len(body) <= _TWICE:  # a name twice: the other one may have it
        answer = _answer(parse_first(body), secret)
    if answer is not None:
        return answer
    used = _usage(value.get("usage")) if isinstance(value, dict) else None
    return NoAnswer("again", "no_answer", _server_words(value, body, secret), asked, billed=True, usage=used)


def _answer(value: Any, secret: Secret) -> Answer | None:
    choices = value.get("choices") if isinstance(value, dict) else None
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
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
        return secret.hide_whole(whole_text(text))[:most] if isinstance(text, str) and text else None

    return Answer(
        kept(content) or "",
        _usage(value.get("usage")),
        kept(choice.get("finish_reason"), MOST_NAME),
        kept(reasoning),
        kept(value.get("model"), MOST_NAME),
    )


def _usage(value: Any) -> Usage | None:
    if not isinstance(value, dict):
        return None
    details = value.get("completion_tokens_details")
    asked, said = _tokens(value.get("prompt_tokens")), _tokens(value.get("completion_tokens"))
    reasoning = _tokens(details.get("reasoning_tokens")) if isinstance(details, dict) else 0
    return Usage(asked, said or 0, reasoning or 0) if asked is not None else None


def _tokens(value: Any) -> int | None:
    """A count of tokens; None for what cannot be one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_TOKENS:
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
    means = _meaning(status, words, _parameter(value), searched)
    if status == 429 and means == "busy" and asked is None:
        asked = pause_in_words(searched)
    elif status == 429 and means == "hopeless" and asked is not None:
        means = "busy"  # whoever names a time has not run out of money, whatever else is said about plans and bills
    if means == "hopeless":
        words = f"{_HOPELESS.get(status, 'no money is left')}: {words}"
    return NoAnswer(
        means, f"http_{status}", words, asked,
        billed=used is not None or (means == "again" and status >= 500),
        undecided=status in UNDECIDED,
        usage=used,
    )  # fmt: skip


def _meaning(status: int, words: str, parameter: str, searched: str) -> Means:
    if status == 429:
        clear = _NO_MONEY.search(searched) and pause_in_words(searched) is None
        return "hopeless" if clear else "busy"
    if status in (400, 413, 422) and _TOO_LONG.search(words):  # even if it names the response format on the way
        return "final"
    named = _FORMAT.search(words) and _DENIED.search(words)
    if status in (400, 415, 422, 500, 501) and (named or parameter.startswith("response_format")):
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
    named = error.get("param") if isinstance(error, dict) else None
    return named if isinstance(named, str) else ""


def _server_words(value: Any, body: bytes, secret: Secret) -> str:
    """The server's own words, shortened, on one line, without the key."""
    text = body[:_READ].decode("utf-8", "replace")
    error = _error(value)
    said = error.get("message") if isinstance(error, dict) else error
    code = error.get("code") if isinstance(error, dict) else None
    if isinstance(said, str):
        text = said[:_READ]
        if isinstance(code, str) and code not in text:
            text = f"{text[:MAX_DETAIL]} ({code[:80]})"
    return secret.hide(" ".join(whole_text(text).split()))[:MAX_DETAIL]
