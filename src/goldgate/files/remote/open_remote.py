"""Opening what a URL names: by ranges, or as a copy where its server has none, which is then said."""

from __future__ import annotations

from typing import Any

from goldgate.errors import InputError, Place
from goldgate.files.opened import copy_aside
from goldgate.files.random_access import RandomAccess
from goldgate.files.remote.connect import Connected, connect, trying
from goldgate.files.remote.failure import is_error, read_error
from goldgate.files.remote.remote_file import PIECE, Identity, RemoteFile, identify, identity_of, web_headers
from goldgate.files.url import shown_url

_NO_RANGES = "its server does not give parts of a file"


def open_remote(url: str, kind: str) -> RandomAccess:
    """The file; an InputError if it is not there, must not be read, or cannot be reached."""
    place, name = connect(url), shown_url(url)
    try:
        info: dict[str, Any] = trying(place, lambda: _asked(place))
        if info.get("type") == "directory":
            raise _is_a_folder(name, kind)
        identity = identity_of(info)
        if place.is_web and not trying(place, lambda: _gives_ranges(place, info, identity)):
            return _copied(place, name, kind)
        return RemoteFile(url, kind, identity, place)
    except Exception as problem:
        if is_error(problem):
            raise
        raise read_error(problem, name, kind) from None


def _asked(place: Connected) -> dict[str, Any]:
    place.filesystem.invalidate_cache()
    info: dict[str, Any] = place.filesystem.info(place.path)
    return info


def _gives_ranges(place: Connected, info: dict[str, Any], identity: Identity) -> bool:
    """Whether a server gives parts of this file; for one that is read in one piece it need not."""
    if identity.size < 0:
        return False
    if identity.size <= PIECE:
        return True
    if not info.get("partial", True):
        return False
    headers = web_headers(identity)
    with place.filesystem.open(
        place.path, size=identity.size, cache_type="none", block_size=PIECE, headers=headers
    ) as file:
        file.seek(1)
        try:
            return len(file.read(1)) == 1
        except ValueError:  # how fsspec says that it got all of the file
            return False


def _copied(place: Connected, name: str, kind: str) -> RandomAccess:
    """All of the file, in the temporary folder; one that changes meanwhile is an error."""
    before = identify(place)
    with place.filesystem.open(place.path, block_size=0, headers=web_headers(before)) as stream:
        copy = copy_aside(name, kind, stream.read, _NO_RANGES)
    if before.size >= 0 and copy.size() != before.size:
        raise copy.changed(f"{copy.size():,} bytes came of {before.size:,}")
    if identify(place) != before:
        raise copy.changed("it was written again")
    return copy


def _is_a_folder(name: str, kind: str) -> InputError:
    return InputError(
        f"{kind}.is_a_directory",
        f"this is a directory, not a {kind} file",
        place=Place(name),
        expected="a file",
        advice="name the file in it",
    )
