"""The files and folders in a folder elsewhere, as `os.scandir` has those of a disk. A store knows no links."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.remote.connect import LISTING_SECONDS, Connected, call, connect, seconds_for, tried, wait_for
from goldgate.files.remote.failure import read_error
from goldgate.files.remote.remote_file import identity_of
from goldgate.files.remote.web import read_parts
from goldgate.files.url import LISTED_NOWHERE, has_query, join_url, scheme_of, shown_url

MOST_ENTRIES = 1_000_000  # of one folder


class RemoteEntry:
    """A file or a folder of a listing."""

    __slots__ = ("_is_folder", "_kind", "_marks", "_place", "name", "path", "size")

    def __init__(self, name: str, path: str, kind: str, place: Connected, info: Mapping[str, Any]) -> None:
        self.name = name
        self.path = path  # its URL
        self.size: int = info.get("size") or 0
        self._kind = kind
        self._place = place
        self._marks = dict(identity_of(info).marks)
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
            found: bytes = call(place, "cat_file", seconds_for(self.size), place.path)
            return found

        data: bytes = _try(place, self.path, self._kind, read_all)
        if len(data) != self.size:
            raise InputError(
                f"{self._kind}.changed",
                "the file changed while it was being read",
                place=Place(shown_url(self.path)),
                found=f"it had {self.size:,} bytes and now has {len(data):,}",
                expected="files that stay as they are until the end",
                advice="is the agent still at work? run the command again when it is done",
            )
        return data


def scan(url: str, kind: str) -> list[RemoteEntry]:
    """What lies in a folder, sorted by name; an InputError if it cannot be listed."""
    place = connect(require_listed(url, kind))
    folder = place.path.rstrip("/")

    def listed() -> list[dict[str, Any]]:
        if place.is_s3:
            return wait_for(place, _list_s3(place), LISTING_SECONDS)
        place.filesystem.invalidate_cache()
        found: list[dict[str, Any]] = call(place, "ls", LISTING_SECONDS, place.path, detail=True)
        return found

    entries = []
    for info in _try(place, url, kind, listed):
        path = str(info["name"]).rstrip("/")
        name = path.rpartition("/")[2]
        if path.strip("/") == folder.strip("/") or not name:
            continue  # some stores have an object with the name of the folder
        inner = Connected(place.filesystem, path, place.scheme)
        entries.append(RemoteEntry(name, join_url(url, name), kind, inner, info))
    return sorted(entries, key=lambda entry: entry.name)


class EndlessListingError(Exception):
    """A listing that begins again, or does not end."""


async def _list_s3(place: Connected) -> list[dict[str, Any]]:
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
        if len(entries) > MOST_ENTRIES:
            raise EndlessListingError(f"the folder has more than {MOST_ENTRIES:,} files and folders")
        tokens.add(token)
        parameters["ContinuationToken"] = token
    if not entries:
        raise FileNotFoundError(place.path)
    return entries


def require_listed(url: str, kind: str) -> str:
    """A ConfigError for a folder that nobody can list."""
    if scheme_of(url) in LISTED_NOWHERE or has_query(url):
        raise ConfigError(
            f"{kind}.not_listed",
            "a folder on a web server cannot be listed",
            place=Place(shown_url(url)),
            expected="a folder, or a URL of a store, such as s3://bucket/runs",
            advice="copy the folder to this machine first",
        )
    return url


def _try(place: Connected, url: str, kind: str, work: Callable[[], Any]) -> Any:
    return tried(place, work, lambda problem: read_error(problem, shown_url(url), kind))
