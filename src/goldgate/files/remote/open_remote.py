"""Opening what a URL names: by ranges, or as a copy where its server has none, which is then said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goldgate.errors import InputError, Place
from goldgate.files.opened import copy_aside
from goldgate.files.random_access import RandomAccess
from goldgate.files.remote.connect import Connected, connect, trying
from goldgate.files.remote.failure import is_error, read_error
from goldgate.files.remote.remote_file import PIECE, Identity, RemoteFile, ask_info, identify, identity_of
from goldgate.files.remote.web import WebStream, WrongPartError, read_parts, read_whole
from goldgate.files.url import shown_url

_NO_RANGES = "its server does not give parts of a file"
_NO_MARKS = "its server does not mark versions of a file (ETag, Last-Modified)"


def open_remote(url: str, kind: str, most: int | None = None) -> RandomAccess:
    """The file; an InputError if it is not there, must not be read, or cannot be reached.

    Where it has to be copied, one with more than `most` bytes is cut off after that.
    """
    place, name = connect(url), shown_url(url)
    try:
        info: dict[str, Any] = trying(place, lambda: ask_info(place))
        if info.get("type") == "directory":
            raise _is_a_folder(name, kind)
        identity = identity_of(info)
        if place.is_web and not trying(place, lambda: _gives_ranges(place, info, identity)):
            return _copied(place, name, kind, most)
        return RemoteFile(url, kind, identity, place)
    except Exception as problem:
        if is_error(problem):
            raise
        raise read_error(problem, name, kind) from None


def _gives_ranges(place: Connected, info: dict[str, Any], identity: Identity) -> bool:
    """Whether a server gives parts of this file; for one that is read in one piece it need not."""
    if identity.size < 0 or not identity.marks:  # answers of several versions would look alike
        return False
    marks = dict(identity.marks)
    # Other answers than a file are empty too, which is an error; and some servers say so of every file.
    if identity.size == 0 and read_whole(place, marks, 0):
        return False
    if identity.size <= PIECE:
        return True
    if not info.get("partial", True):
        return False
    try:
        return len(read_parts(place, marks, [(1, 2)], 1)[0]) == 1
    except WrongPartError:
        return False


def _copied(place: Connected, name: str, kind: str, most: int | None) -> RandomAccess:
    """All of the file, in the temporary folder; one that changes meanwhile is an error.

    Of one with more than `most` bytes there is one byte more than that.
    """
    before = identify(place)
    wanted = min((size for size in (before.size, most) if size is not None and size >= 0), default=None)
    with WebStream(place, dict(before.marks)) as stream:
        copy = copy_aside(name, kind, _up_to(stream, wanted), _NO_RANGES if before.marks else _NO_MARKS)
    if most is not None and copy.size() > most:
        return copy
    if before.size >= 0 and copy.size() != before.size:
        came = f"{copy.size():,} bytes came of {before.size:,}" if copy.size() < before.size else "more bytes came"
        raise copy.changed(came)
    if identify(place) != before:
        raise copy.changed("it was written again")
    return copy


def _up_to(stream: WebStream, wanted: int | None) -> Callable[[int], bytes]:
    """Reads from a stream what is wanted and one byte more, which tells that there is more."""
    if wanted is None:
        return stream.read
    left = [wanted + 1]

    def read(length: int) -> bytes:
        data = stream.read(min(length, left[0])) if left[0] else b""
        left[0] -= len(data)
        return data

    return read


def _is_a_folder(name: str, kind: str) -> InputError:
    return InputError(
        f"{kind}.is_a_directory",
        f"this is a directory, not a {kind} file",
        place=Place(name),
        expected="a file",
        advice="name the file in it",
    )
