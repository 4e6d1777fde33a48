"""Remote folders: listed as `os.scandir` lists those of a disk, and written to by one run at a time.

An object is complete or not there at all. While a run writes to a folder, there is a marker in it. S3 and Google's
store make an object only if there is none of that name, so of two runs that begin at once one is refused;
elsewhere both may see none. A marker does not end with its process: one that a killed run left names that run.
"""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from goldgate.errors import ConfigError, InputError, Place
from goldgate.files import writing
from goldgate.files.address import WEB_SCHEMES, has_query, join_url, public_url, scheme_of
from goldgate.files.remote.connection import (
    LISTING_SECONDS,
    Connection,
    Failure,
    call_method,
    connect,
    failure_kind,
    library_errors_as,
    read_error,
    retry,
    run_coroutine,
    transfer_seconds,
    write_error,
)
from goldgate.files.remote.remote_file import read_parts, version_of

T = TypeVar("T")

MAX_ENTRIES = 1_000_000  # of one folder


class RemoteEntry:
    """A file or a folder of a listing."""

    __slots__ = ("_is_folder", "_kind", "_marks", "_place", "name", "path", "size")

    def __init__(self, name: str, path: str, kind: str, place: Connection, info: Mapping[str, Any]) -> None:
        self.name = name
        self.path = path  # its URL
        self.size: int = info.get("size") or 0
        self._kind = kind
        self._place = place
        self._marks = dict(version_of(info).marks)
        self._is_folder = info.get("type") == "directory"

    def is_symlink(self) -> bool:
        return False

    def is_dir(self) -> bool:
        return self._is_folder

    def is_file(self) -> bool:
        return not self._is_folder

    def read(self) -> bytes:
        """All of it, at once; an InputError if it has not as many bytes as the listing says."""
        place = self._place

        def read_all() -> bytes:
            if place.is_s3:
                return read_parts(place, self._marks, [(0, self.size)], 1)[0]
            content: bytes = call_method(place, "cat_file", transfer_seconds(self.size), place.path)
            return content

        data = _read(place, self.path, self._kind, read_all)
        if len(data) != self.size:
            raise InputError(
                f"{self._kind}.changed",
                "the file changed while it was being read",
                place=Place(public_url(self.path)),
                found=f"it had {self.size:,} bytes and now has {len(data):,}",
                expected="files that stay as they are until the end",
                advice="is the agent still at work? run the command again when it is done",
            )
        return data


def scan_remote(url: str, kind: str) -> list[RemoteEntry]:
    """What lies in a folder, sorted by name; an InputError if it cannot be listed."""
    place = connect(require_listable(url, kind))
    folder = place.path.rstrip("/")

    def list_folder() -> list[dict[str, Any]]:
        if place.is_s3:
            return run_coroutine(place, _list_s3(place), LISTING_SECONDS)
        place.filesystem.invalidate_cache()
        infos: list[dict[str, Any]] = call_method(place, "ls", LISTING_SECONDS, place.path, detail=True)
        return infos

    entries = []
    for info in _read(place, url, kind, list_folder):
        path = str(info["name"]).rstrip("/")
        name = path.rpartition("/")[2]
        if path.strip("/") == folder.strip("/") or not name:
            continue  # some stores have an object with the name of the folder
        inner = Connection(place.filesystem, path, place.scheme)
        entries.append(RemoteEntry(name, join_url(url, name), kind, inner, info))
    return sorted(entries, key=lambda entry: entry.name)


class EndlessListingError(Exception):
    """A listing that begins again, or does not end."""


async def _list_s3(place: Connection) -> list[dict[str, Any]]:
    """What lies in a folder of S3, a page after the other; s3fs itself would follow a listing without end."""
    files = place.filesystem
    bucket, key, _ = files.split_path(place.path)
    parameters = {"Bucket": bucket, "Prefix": f"{key.rstrip('/')}/" if key else "", "Delimiter": "/", **files.req_kw}
    entries: list[dict[str, Any]] = []
    tokens: set[str] = set()
    while True:
        page = await files._call_s3("list_objects_v2", **parameters)
        for folder in page.get("CommonPrefixes", ()):
            entries.append({"name": f"{bucket}/{folder['Prefix']}", "type": "directory"})
        for file in page.get("Contents", ()):
            entries.append({**file, "name": f"{bucket}/{file['Key']}", "size": file["Size"], "type": "file"})
        token = page.get("NextContinuationToken")
        if not page.get("IsTruncated") or token is None:
            break
        if token in tokens:
            raise EndlessListingError("the store gives the same page of its listing again and again")
        if len(entries) > MAX_ENTRIES:
            raise EndlessListingError(f"the folder has more than {MAX_ENTRIES:,} files and folders")
        tokens.add(token)
        parameters["ContinuationToken"] = token
    if not entries:
        raise FileNotFoundError(place.path)
    return entries


def require_listable(url: str, kind: str) -> str:
    """The URL of a folder; a ConfigError if it cannot be listed."""
    if scheme_of(url) in WEB_SCHEMES or has_query(url):
        raise ConfigError(
            f"{kind}.not_listed",
            "a folder on a web server cannot be listed",
            place=Place(public_url(url)),
            expected="a folder, or a URL of a store, such as s3://bucket/runs",
            advice="copy the folder to this machine first",
        )
    return url


def _read(place: Connection, url: str, kind: str, work: Callable[[], T]) -> T:
    with library_errors_as(lambda problem: read_error(problem, public_url(url), kind)):
        return retry(place, work)


_MARKER = re.compile(r"([0-9]{1,9}) on (.+)\n?")
_MAX_MARKER_LENGTH = 200


def write_object(url: str, content: bytes, option: str) -> None:
    """Write one object, in one go."""
    require_writable(url, option)
    _write(url, option, lambda files, path: files.pipe_file(path, content))


def require_writable(url: str, option: str) -> None:
    """A ConfigError for a URL to which nothing can be written, before any work is done."""
    if scheme_of(url) in WEB_SCHEMES:
        raise ConfigError(
            "out.not_writable_there",
            "nothing can be written to a web server",
            place=Place(public_url(url)),
            expected="a folder, or a URL of a store, such as s3://bucket/results",
            advice=f"choose another place for {option}",
        )
    if has_query(url):
        raise ConfigError(
            "out.has_query", f"a URL for {option} has no query", place=Place(public_url(url)), advice="leave out ?…"
        )


class RemoteFolder:
    """A folder elsewhere that this run writes to, from the beginning until `release`."""

    def __init__(self, url: str, option: str = "--out") -> None:
        require_writable(url, option)
        self.url = url.rstrip("/")
        self._option = option
        self._hold(f"{os.getpid()} on {platform.node()}\n".encode())
        self._held = True

    def upload(self, path: Path, name: str) -> None:
        """Put a file of this machine there, in the place of an older one."""

        def put(files: Any, target: str) -> None:
            files.put_file(str(path), target)
            files.invalidate_cache()
            if files.info(target)["size"] != path.stat().st_size:
                raise OSError("the store has not as many bytes as were sent")

        self._change(name, put)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        self._change(name, lambda files, path: files.rm_file(path) if files.exists(path) else None)

    def read_head(self, name: str, length: int) -> bytes:
        """The first bytes of a file; none if it is not there."""

        def read(files: Any, path: str) -> bytes:
            if not files.exists(path) or not files.info(path)["size"]:
                return b""  # of an empty object S3 gives no part
            return bytes(files.cat_file(path, start=0, end=length))

        return self._change(name, read)

    def release(self) -> None:
        """Remove the marker."""
        if self._held:
            self._held = False
            with suppress(ConfigError):
                self.remove(writing.LOCK_FILE)

    def _change(self, name: str, work: Callable[[Any, str], T]) -> T:
        return _write(join_url(self.url, name), self._option, work)

    def _hold(self, marker: bytes) -> None:
        if self._change(writing.LOCK_FILE, lambda files, path: _create_object(files, path, marker)):
            return
        owner = self.read_head(writing.LOCK_FILE, _MAX_MARKER_LENGTH).decode(errors="replace")
        if not _is_dead_process(owner):
            raise self._in_use(owner.strip())
        self._change(writing.LOCK_FILE, lambda files, path: files.pipe_file(path, marker))

    def _in_use(self, owner: str) -> ConfigError:
        return ConfigError(
            "out.in_use",
            "another run is writing to this folder, or was killed while it did",
            place=Place(public_url(self.url)),
            found=f"process {owner}" if _MARKER.fullmatch(owner) else f"a file {writing.LOCK_FILE} that says nothing",
            advice="wait for it to end, or choose another folder for --out; "
            f"if it was killed, remove {writing.LOCK_FILE}",
        )


def _create_object(files: Any, path: str, content: bytes) -> bool:
    """Make an object, if there is none; whether it was made."""
    try:
        files.pipe_file(path, content, mode="create")
        return True
    except FileExistsError:
        return False
    except (NotImplementedError, TypeError, ValueError):  # a store that cannot make a difference
        pass
    except Exception as problem:
        if failure_kind(problem) is Failure.CHANGED:  # how S3 says that it exists
            return False
        raise
    files.invalidate_cache()
    if files.exists(path):
        return False
    files.pipe_file(path, content)
    return True


def _is_dead_process(owner: str) -> bool:
    """Whether the process that left a marker was one of this machine, and has ended."""
    marker = _MARKER.fullmatch(owner)
    if marker is None or marker[2] != platform.node() or int(marker[1]) == os.getpid():
        return False
    try:
        os.kill(int(marker[1]), 0)
    except ProcessLookupError:
        return True
    except OSError:
        pass
    return False


def _write(url: str, option: str, work: Callable[[Any, str], T]) -> T:
    """The result of `work` with the store's library and the path in it."""
    place = connect(url)

    def work_on_current() -> T:
        place.filesystem.invalidate_cache()
        return work(place.filesystem, place.path)

    with library_errors_as(lambda problem: write_error(problem, public_url(url), option)):
        return retry(place, work_on_current)
