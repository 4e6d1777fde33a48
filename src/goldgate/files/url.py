"""Inputs and results that are named by a URL: what is one, what of it may be shown, and what is refused.

A URL is shown without its query: that of a signed one is as good as a password until it runs out.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from goldgate.errors import ConfigError, Place

HIDDEN = "[hidden]"
LISTED_NOWHERE = ("http", "https")  # servers of these can neither list a folder nor take a file

# With a blank before it or one slash too few it is one too, and refused: as a path its query would be shown.
_URL = re.compile(r"\s*(?:https?:/|(?:[a-z][a-z0-9+.-]*::)*[a-z][a-z0-9+.-]*://)", re.IGNORECASE)
_CHAIN = re.compile(r"^[a-z0-9+.-]+::|::[a-z0-9+.-]+://", re.IGNORECASE)
_LOCAL = ("file", "local")
_OTHER_NAMES = {"s3a": "s3", "gcs": "gs"}
_NO_PORT = re.compile(r":[^\]]*[^0-9\]][^\]]*$")
_IN_TEXT = re.compile(r"\b([a-z][a-z0-9+.-]*://)([^\s/'\"<>]*@)?([^\s?#'\"<>]*)([?#][^\s'\"<>]*)?", re.IGNORECASE)


def is_url(path: Any) -> bool:
    """Whether this names something by a URL; a path has no `://` behind its first word."""
    return isinstance(path, str) and _URL.match(path) is not None


def scheme_of(url: str) -> str:
    """The word before `://`, in small letters."""
    return url.partition(":/")[0].strip().lower()


def one_spelling(path: str) -> str:
    """A URL as all that name the same thing are spelled: `s3a://` is `s3://`; a path stays as it is."""
    if not is_url(path):
        return path
    scheme = scheme_of(path)
    return _OTHER_NAMES.get(scheme, scheme) + path.strip()[len(scheme) :].rstrip("/")


def real_place(path: str | Path) -> str:
    """The same text for all paths and URLs of one thing, links resolved: to compare, not to read."""
    return os.path.realpath(one_spelling(str(path)))


def shown_url(path: str) -> str:
    """A URL as it may be shown and stored; a path is shown as it is."""
    if not is_url(path):
        return path
    start, host, rest = _apart(path)
    if _has_torn_password(path):
        return start + HIDDEN
    if "@" in host:
        host = f"{HIDDEN}@{host.rpartition('@')[2]}"
    name, mark, _ = _cut(rest, _secret_marks(path))
    return start + host + name + (mark and mark + HIDDEN)


def _apart(url: str) -> tuple[str, str, str]:
    """The beginning with all its slashes, the host with a user and a password, the rest."""
    place = url.partition(":/")[2].lstrip("/")
    start = url[: len(url) - len(place)]
    host, _, _ = _cut(place, "/" + _secret_marks(url))
    return start, host, place[len(host) :]


def _has_torn_password(url: str) -> bool:
    """Whether what stands for the host is more likely the beginning of a password with a slash in it."""
    _, host, rest = _apart(url)
    if _NO_PORT.search(host.rpartition("@")[2]) is None:
        return False
    return scheme_of(url) in LISTED_NOWHERE or ("@" in rest and not host.startswith("arn:"))


def _secret_marks(url: str) -> str:
    """What begins the part of a URL that may be a secret."""
    return "?#" if scheme_of(url) in LISTED_NOWHERE else "?"


def _cut(text: str, marks: str) -> tuple[str, str, str]:
    """A text before and after the first of some characters, and which it is."""
    at = next((place for place, character in enumerate(text) if character in marks), len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]


def without_secrets(text: str) -> str:
    """A text in which no URL has a user, a password or a query."""

    def shown(found: re.Match[str]) -> str:
        scheme, user, rest, query = found.groups()
        return scheme + (f"{HIDDEN}@" if user else "") + rest + (query[0] + HIDDEN if query else "")

    return _IN_TEXT.sub(shown, text)


def has_query(url: str) -> bool:
    """Whether a URL has a part that may be a secret, and is not shown."""
    return not set(_secret_marks(url)).isdisjoint(url)


def join_url(folder: str, name: str) -> str:
    """The URL of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}"


def folder_beside(file: str | None, named: str, place: Place) -> Path:
    """Where a file looks for another one that it names; a ConfigError if that is elsewhere."""
    if is_url(named):
        raise ConfigError(
            "url.not_here",
            "stored results are compared with from a disk, not from a URL",
            place=place,
            found=shown_url(named),
            advice="copy that folder to this machine, and name it",
        )
    if file is not None and is_url(file) and not Path(named).is_absolute():
        raise ConfigError(
            "url.named_beside",
            "what is read from a URL can name other files only by their whole path",
            place=place,
            found=named,
            advice="name it by its whole path, or keep the protocol in a folder with what it names",
        )
    return Path(file).parent if file is not None else Path()


def check_url(url: str) -> str:
    """The URL, if it may be used: no password, no chain, no path of this machine."""
    shown = shown_url(url)
    if _CHAIN.search(url):
        raise ConfigError(
            "url.chained",
            "a URL that leads through another one is not read",
            place=Place(shown),
            expected="one URL, such as s3://bucket/gold.jsonl",
            advice="packed files (.gz) are unpacked without it",
        )
    if scheme_of(url) in _LOCAL:
        raise ConfigError(
            "url.local", "a file of this machine is named by its path", place=Place(shown), advice="leave out file://"
        )
    try:
        place = urlsplit(url)
        usable = bool(place.netloc) and url.isprintable() and url == url.strip()
        usable = usable and (scheme_of(url) not in LISTED_NOWHERE or place.port != 0)  # ValueError for no number
    except ValueError:
        usable = False
    if not usable:
        raise ConfigError(
            "url.invalid", "this is not a URL that can be used", place=Place(shown), expected="s3://bucket/gold.jsonl"
        )
    if "@" in place.netloc or _has_torn_password(url):
        raise ConfigError(
            "url.has_password",
            "this URL has a user or a password in it",
            place=Place(shown),
            expected="a URL without them",
            advice="take them out: credentials come from the environment of each process, as docs/remote.md says",
        )
    return url
