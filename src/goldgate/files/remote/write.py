"""Writing to a store: an object is there whole or not at all, and a folder has a marker while a run writes to it.

What the marker is worth depends on the store. S3 and Google's store make an object only if there is none of that
name, so of two runs that begin at once one is refused. Elsewhere both may see none. On no store does a marker end with
its process: one that a killed run left says which it was.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from goldgate.errors import ConfigError, Place
from goldgate.files import folder_lock
from goldgate.files.remote.connect import Connected, connect, tried
from goldgate.files.remote.failure import Why, why, write_error
from goldgate.files.url import LISTED_NOWHERE, has_query, join_url, scheme_of, shown_url

_WHO = re.compile(r"([0-9]{1,9}) on (.+)\n?")
_SHOWN = 200


def write_object(url: str, content: bytes, option: str) -> None:
    """Write one object, in one go."""
    require_writable(url, option)
    place = connect(url)
    _try(place, url, option, lambda: place.filesystem.pipe_file(place.path, content))


def require_writable(url: str, option: str) -> None:
    """A ConfigError for a URL to which nothing can be written, before any work is done."""
    if scheme_of(url) in LISTED_NOWHERE:
        raise ConfigError(
            "out.not_writable_there",
            "nothing can be written to a web server",
            place=Place(shown_url(url)),
            expected="a folder, or a URL of a store, such as s3://bucket/results",
            advice=f"choose another place for {option}",
        )
    if has_query(url):
        raise ConfigError(
            "out.has_query", f"a URL for {option} has no query", place=Place(shown_url(url)), advice="leave out ?…"
        )


class RemoteFolder:
    """A folder elsewhere that this run writes to, from the beginning until `release`."""

    def __init__(self, url: str, option: str = "--out") -> None:
        require_writable(url, option)
        self.url = url.rstrip("/")
        self._option = option
        self._marker = f"{os.getpid()} on {platform.node()}\n"
        self._held = False
        self._hold()

    def upload(self, path: Path, name: str) -> None:
        """Put a file of this machine there, in the place of an older one."""
        url = join_url(self.url, name)
        place = connect(url)

        def put() -> None:
            place.filesystem.put_file(str(path), place.path)
            place.filesystem.invalidate_cache()
            if place.filesystem.info(place.path)["size"] != path.stat().st_size:
                raise OSError("the store has not as many bytes as were sent")

        _try(place, url, self._option, put)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        url = join_url(self.url, name)
        place = connect(url)

        def remove() -> None:
            place.filesystem.invalidate_cache()
            if place.filesystem.exists(place.path):
                place.filesystem.rm_file(place.path)

        _try(place, url, self._option, remove)

    def read_head(self, name: str, length: int) -> bytes:
        """The first bytes of a file; none if it is not there."""
        url = join_url(self.url, name)
        place = connect(url)

        def read() -> bytes:
            place.filesystem.invalidate_cache()
            if not place.filesystem.exists(place.path) or not place.filesystem.info(place.path)["size"]:
                return b""  # of an empty object S3 gives no part
            return bytes(place.filesystem.cat_file(place.path, start=0, end=length))

        found: bytes = _try(place, url, self._option, read)
        return found

    def release(self) -> None:
        """Remove the marker."""
        if self._held:
            self._held = False
            with suppress(ConfigError):
                self.remove(folder_lock.NAME)

    def _hold(self) -> None:
        url = join_url(self.url, folder_lock.NAME)
        place = connect(url)
        made = _try(place, url, self._option, lambda: _make(place, self._marker.encode()))
        if not made:
            who = self.read_head(folder_lock.NAME, _SHOWN).decode(errors="replace")
            if not _is_gone(who):
                raise self._in_use(who.strip())
            _try(place, url, self._option, lambda: place.filesystem.pipe_file(place.path, self._marker.encode()))
        self._held = True

    def _in_use(self, who: str) -> ConfigError:
        wait = "wait for it to end, or choose another folder for --out"
        return ConfigError(
            "out.in_use",
            "another run is writing to this folder, or was killed while it did",
            place=Place(shown_url(self.url)),
            found=f"process {who}" if _WHO.fullmatch(who) else f"a file {folder_lock.NAME} that says nothing",
            advice=f"{wait}; if it was killed, remove {folder_lock.NAME}",
        )


def _make(place: Connected, content: bytes) -> bool:
    """Make an object, if there is none; whether it was made."""
    filesystem = place.filesystem
    try:
        filesystem.pipe_file(place.path, content, mode="create")
        return True
    except FileExistsError:
        return False
    except (NotImplementedError, TypeError, ValueError):  # a store that cannot make a difference
        pass
    except Exception as problem:
        if why(problem) is Why.CHANGED:  # how S3 says that it exists
            return False
        raise
    filesystem.invalidate_cache()
    if filesystem.exists(place.path):
        return False
    filesystem.pipe_file(place.path, content)
    return True


def _is_gone(who: str) -> bool:
    """Whether the process that left a marker was one of this machine, and is no more."""
    found = _WHO.fullmatch(who)
    if found is None or found[2] != platform.node() or int(found[1]) == os.getpid():
        return False
    try:
        os.kill(int(found[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _try(place: Connected, url: str, option: str, work: Callable[[], Any]) -> Any:
    return tried(place, work, lambda problem: write_error(problem, shown_url(url), option))
