"""Addresses of inputs and results that are not paths: URLs, and `-` for standard input, which can be read once.

A URL is printed without its query: the query of a signed URL is as good as a password until it expires.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any
from urllib.parse import unquote, urlsplit
from weakref import WeakSet

from goldgate.errors import ConfigError, InputError, Place

HIDDEN = "[hidden]"
WEB_SCHEMES = ("http", "https")  # servers of these can neither list a folder nor take a file

# With a blank before it or one slash too few it is one too, and refused: as a path its query would be shown.
# Patterns are compiled when an address is there: most commands name only paths.
_URL = r"(?i)\s*(?:https?:/|(?:[a-z][a-z0-9+.-]*::)*[a-z][a-z0-9+.-]*://)"
_SCHEMES = ("https", "s3", "gs", "hf")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")  # the only hosts that http:// is allowed for
_NO_PORT = r":[^\]]*[^0-9\]][^\]]*$"
_AFTER_PATH = r"(?s)[?#].*"  # of an address: what may hold a key under any name
_ADDRESS = r"(?i)\b[a-z][a-z0-9+.-]*://\S+"
_IN_TEXT = r"(?i)\b([a-z][a-z0-9+.-]*://)([^\s/'\"<>]*@)?([^\s?#'\"<>]*)([?#][^\s'\"<>]*)?"


def is_url(path: Any) -> bool:
    """Whether this names something by a URL; a path has no `://` behind its first word."""
    return isinstance(path, str) and ":" in path and re.match(_URL, path) is not None


def scheme_of(url: str) -> str:
    """The word before `://`, in small letters."""
    return url.partition(":/")[0].strip().lower()


def normalize_url(path: str) -> str:
    """A URL as all that name the same thing are spelled: `S3://` is `s3://`; a path stays as it is."""
    if not is_url(path):
        return path
    scheme = scheme_of(path)
    return scheme + path.strip()[len(scheme) :].rstrip("/")


def resolved_path(path: str | Path) -> str:
    """The canonical form of a path or URL, links resolved: to compare with another one, not to read from."""
    return os.path.realpath(normalize_url(str(path)))


def public_url(path: str) -> str:
    """A URL as it may be shown and stored; a path is shown as it is."""
    if not is_url(path):
        return path
    start, host, rest = _split_url(path)
    if _has_torn_password(path):
        return start + HIDDEN
    if "@" in host:
        host = f"{HIDDEN}@{host.rpartition('@')[2]}"
    name, mark, _ = _cut(rest, _secret_marks(path))
    return start + host + name + (mark and mark + HIDDEN)


def file_name(path: str) -> str:
    """The name of a file or folder without the folders it is in; empty for one that has no name of its own."""
    if path == STANDARD_INPUT:
        return STANDARD_INPUT_NAME
    name = os.path.basename(public_url(path).rstrip("/"))
    return "" if name in (".", "..") else name.encode("utf-8", "backslashreplace").decode()


def _split_url(url: str) -> tuple[str, str, str]:
    """The beginning with all its slashes, the host with a user and a password, the rest."""
    place = url.partition(":/")[2].lstrip("/")
    start = url[: len(url) - len(place)]
    host, _, _ = _cut(place, "/" + _secret_marks(url))
    return start, host, place[len(host) :]


def _has_torn_password(url: str) -> bool:
    """Whether what stands for the host is more likely the beginning of a password with a slash in it."""
    _, host, rest = _split_url(url)
    if re.search(_NO_PORT, host.rpartition("@")[2]) is None:
        return False
    return scheme_of(url) in WEB_SCHEMES or ("@" in rest and not host.startswith("arn:"))


def _secret_marks(url: str) -> str:
    """What begins the part of a URL that may be a secret."""
    return "?#" if scheme_of(url) in WEB_SCHEMES else "?"


def _cut(text: str, marks: str) -> tuple[str, str, str]:
    """A text before and after the first of some characters, and which it is."""
    at = next((place for place, character in enumerate(text) if character in marks), len(text))
    return text[:at], text[at : at + 1], text[at + 1 :]


def hide_secrets(text: str) -> str:
    """A text in which no URL has a user, a password or a query."""

    def hidden(url: re.Match[str]) -> str:
        scheme, user, rest, query = url.groups()
        return scheme + (f"{HIDDEN}@" if user else "") + rest + (query[0] + HIDDEN if query else "")

    return re.sub(_IN_TEXT, hidden, text)


def has_query(url: str) -> bool:
    """Whether a URL has a part that may be a secret, and is not shown."""
    return not set(_secret_marks(url)).isdisjoint(url)


def join_url(folder: str, name: str) -> str:
    """The URL of a file in a folder."""
    return f"{folder.rstrip('/')}/{name}"


def file_beside(file: str, name: str, place: Place, kind: str) -> str:
    """Where a file is that a data file names; an InputError unless it is in the folder of that one, links resolved.

    Otherwise a file that comes from a stranger could read any other of its reader's.
    """
    if is_url(file):
        folder = _cut(file, _secret_marks(file))[0].rpartition("/")[0]
        path, parts = join_url(folder, name), re.split(r"[/\\]", unquote(name))
        inside = not is_url(name) and parts[0] != "" and ".." not in parts
    else:
        folder, path = os.path.dirname(file), os.path.join(os.path.dirname(file), name)
        root = os.path.join(os.path.realpath(folder or "."), "")
        inside = "\0" not in name and not is_url(name) and os.path.realpath(path).startswith(root)
    if inside:
        return path
    raise InputError(
        f"{kind}.outside_folder",
        "a data file names only files in its own folder",
        place=place,
        expected=f"a file in {public_url(folder) or 'the folder of this one'}, in place of a link that leads elsewhere",
        found=public_url(name),
        advice="copy it there, and name it from there",
    )


def folder_of_reference(file: str | None, reference: str, place: Place) -> Path:
    """Where a file looks for another one that it names; a ConfigError if that is elsewhere."""
    if is_url(reference):
        raise ConfigError(
            "url.not_here",
            "stored results are compared with from a disk, not from a URL",
            place=place,
            found=public_url(reference),
            advice="copy that folder to this machine, and name it",
        )
    if file is not None and is_url(file) and not Path(reference).is_absolute():
        raise ConfigError(
            "url.named_beside",
            "what is read from a URL can name other files only by their whole path",
            place=place,
            found=reference,
            advice="name it by its whole path, or keep the protocol in a folder with what it names",
        )
    return Path(file).parent if file is not None else Path()


def check_url(url: str) -> str:
    """The URL, if it may be used: of a kind that is read, and without a password."""
    public, scheme = public_url(url), scheme_of(url)
    try:
        place = urlsplit(url)
        usable = bool(place.netloc) and url.isprintable() and url == url.strip()
        usable = usable and (scheme not in WEB_SCHEMES or place.port != 0)  # ValueError for no number
    except ValueError:
        usable = False
    if scheme not in _SCHEMES and not (usable and scheme == "http" and place.hostname in _LOOPBACK):
        raise ConfigError(
            "url.unknown_kind",
            f"{scheme}:// URLs are not read",
            place=Place(public),
            expected=f"{', '.join(f'{each}://' for each in _SCHEMES)}, or a path on this machine",
        )
    if not usable:
        raise ConfigError(
            "url.invalid", "this is not a URL that can be used", place=Place(public), expected="s3://bucket/gold.jsonl"
        )
    if "@" in place.netloc or _has_torn_password(url):
        raise ConfigError(
            "url.has_password",
            "this URL has a user or a password in it",
            place=Place(public),
            expected="a URL without them",
            advice="take them out: credentials come from the environment of each process, as docs/remote.md says",
        )
    return url


STANDARD_INPUT = "-"
STANDARD_INPUT_NAME = "standard input"

_streams_used: WeakSet[object] = WeakSet()


def open_standard_input(kind: str) -> IO[bytes]:
    """The stream of standard input; an InputError for the second input that asks for it."""
    stream = sys.stdin
    if stream is None:  # closed by the process that started this one
        raise InputError(f"{kind}.unreadable", "standard input is closed", place=Place(STANDARD_INPUT_NAME))
    if stream in _streams_used:
        raise InputError(
            f"{kind}.standard_input_twice",
            "standard input can be read only once",
            place=Place(STANDARD_INPUT),
            expected=f"{STANDARD_INPUT} for one input at most",
            advice="store one of them in a file",
        )
    _streams_used.add(stream)
    return stream.buffer


def redact_arguments(arguments: Sequence[str]) -> list[str]:
    """A command line without what may be secret in its addresses: user, password, query and fragment."""
    words, option = [], ""
    for word in arguments:
        name, equals, value = word.partition("=")
        if word.startswith("-"):
            option = name
        if name == "--base-url" and equals:
            word = name + equals + _redact_url(value)
        elif option == "--base-url":  # also a text that is not an address
            word = _redact_url(word)
        elif is_url(word):
            word = public_url(word)
        elif equals and is_url(value):
            word = name + equals + public_url(value)
        elif "://" in word:
            word = re.sub(_ADDRESS, lambda match: _redact_url(match[0]), word)
        words.append(word)
    return words


def _redact_url(address: str) -> str:
    start, slashes, rest = address.partition("://") if "://" in address else ("", "", address)
    rest = re.sub(_AFTER_PATH, "?" + HIDDEN, rest)
    host, slash, path = rest.partition("/")
    if "@" in host:
        host = f"{HIDDEN}@{host.rpartition('@')[2]}"
    return start + slashes + host + slash + path
