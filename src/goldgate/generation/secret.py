"""API keys: read from an environment variable, sent in one header, removed from text that is stored or printed."""

from __future__ import annotations

import base64
import ipaddress
import os
import re
import sys
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from goldgate.errors import ConfigError

DEFAULT_VARIABLE = "OPENAI_API_KEY"
REDACTED = "[hidden]"
NO_KEY = "none"  # instead of a variable's name: an endpoint that gets no key

_PIECE_LENGTH = 8  # characters of a key that do not occur by chance
_MASKED = re.compile(r"\S*\*{3,}\S*")  # how servers quote a wrong key: its ends, and stars
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]{0,60}")
_SECRET_FIELD = re.compile(r"(?:^|&)[^=&]*(?:key|token|secret|password|sig)[^=&]*=", re.IGNORECASE)
_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")
_HOST = re.compile(r"[A-Za-z0-9._~-]+")
_LONG_VALUE = 16  # characters of a query's value that no answer has by chance


class Secret:
    """A key that only the header of a request contains; its `repr` does not show it."""

    __slots__ = ("_hidden", "_key", "_query", "variable")

    def __init__(self, key: str | None, variable: str = DEFAULT_VARIABLE, address: str = "") -> None:
        self._key = key
        self.variable = variable
        self._query = _query_forms(address)  # the query of the endpoint's address is as secret as the key
        self._hidden: list[str] = []
        if key:
            encoded = base64.b64encode(key.encode()).decode().rstrip("=")
            forms = {key, quote(key, safe=""), encoded, key.replace("/", "\\/")}
            if len(key) > _PIECE_LENGTH:
                forms |= {key[at : at + _PIECE_LENGTH] for at in range(len(key) - _PIECE_LENGTH + 1)}
            self._hidden = sorted(forms, key=len, reverse=True)

    def __repr__(self) -> str:
        return f"Secret(from {self.variable})" if self._key else "Secret(none)"

    def with_address(self, address: str) -> Secret:
        """This key, and what the query of an address contains."""
        return Secret(self._key, self.variable, address)

    @property
    def is_set(self) -> bool:
        return self._key is not None

    def headers(self) -> dict[str, str]:
        """The one place where the key itself is given away."""
        return {"Authorization": f"Bearer {self._key}"} if self._key else {}

    def hide(self, text: str) -> str:
        """A server's or a library's text without the key, without pieces of it, and without passwords of addresses."""
        for form in (*self._query, *self._hidden):
            if form in text:
                text = text.replace(form, REDACTED)
        text = re.sub(
            f"(?:[^\\s\"']{{0,{_PIECE_LENGTH}}}{re.escape(REDACTED)})+[^\\s\"']{{0,{_PIECE_LENGTH}}}", REDACTED, text
        )
        return _USERINFO.sub(REDACTED + "@", _MASKED.sub(REDACTED, text))

    def hide_whole(self, text: str) -> str:
        """A model's answer without the key. Short keys (`EMPTY`, as local servers have them) are no secret."""
        secrets = [self._key] if self._key and len(self._key) >= _PIECE_LENGTH else []
        for secret in (*secrets, *(form for form in self._query if len(form) >= _LONG_VALUE)):
            text = text.replace(secret, REDACTED)
        return text


def read_secret(variable: str | None) -> Secret:
    """The key from the environment. A variable that was named must be set; the usual one may be missing."""
    if variable == NO_KEY:
        return Secret(None)
    name = variable or DEFAULT_VARIABLE
    key = os.environ.get(name, "").strip()
    if not key:
        if variable is not None and variable != DEFAULT_VARIABLE:
            if not _VARIABLE.fullmatch(name):  # more likely the key itself, which must not be printed
                raise ConfigError(
                    "key.no_variable",
                    "--api-key-env does not name an environment variable that is set",
                    expected="the name of a variable, such as MY_KEY; never the key itself",
                )
            raise ConfigError(
                "key.not_set",
                f"the environment variable {name} is not set",
                advice=f"put the key into it: export {name}=…",
            )
        return Secret(None, name)
    if not key.isascii() or any(character.isspace() or not character.isprintable() for character in key):
        raise ConfigError("key.unusable", f"the key in {name} has a character that no header can carry")
    if len(key) >= _PIECE_LENGTH and any(key in argument for argument in sys.argv):
        raise ConfigError(
            "key.on_command_line",
            "the key is on the command line, where other users and log files can see it",
            advice=f"leave it out there; it is taken from the environment variable {name}",
        )
    return Secret(key, name)


def redact_address(url: str) -> str:
    """An address without user, password and query: what may be stored and shown."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    port = f":{parts.port}" if parts.port else ""
    return f"{parts.scheme}://{host}{port}{parts.path}".rstrip("/")


def check_address(url: str) -> str:
    """A base address that can be used; one that carries a password is refused."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and _is_host(parts.hostname or "") and parts.port != 0
        valid = valid and url.isprintable() and " " not in url
    except ValueError:  # also of a port above 65535, and of a name with a part that is empty or too long
        valid = False
    if not valid:
        raise ConfigError(
            "base_url.invalid",
            "--base-url is not an address",
            expected="for example https://api.example.com/v1 or http://127.0.0.1:8000/v1",
            found=url.partition("?")[0] if "@" not in url else None,
        )
    if "@" in parts.netloc or _SECRET_FIELD.search(parts.query):
        raise ConfigError(
            "base_url.has_password",
            "--base-url has a password or a key in it",
            advice="take it out; the key comes from an environment variable",
        )
    return url


def _is_host(name: str) -> bool:
    if ":" in name:
        return bool(ipaddress.ip_address(name.partition("%")[0]))
    return _HOST.fullmatch(name.encode("idna").decode()) is not None


def _query_forms(address: str) -> list[str]:
    """A query as a whole, each field of it, and each value that is more than a word, as written and decoded."""
    try:
        query = urlsplit(address).query
    except ValueError:
        return []
    fields = [field for field in query.split("&") if "=" in field]
    values = [field.partition("=")[2] for field in fields] + [value for _, value in parse_qsl(query)]
    forms = {query, unquote(query), *fields, *(value for value in values if len(value) >= 4)} - {""}
    return sorted(forms, key=lambda form: (-len(form), form))
