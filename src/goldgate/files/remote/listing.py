"""The files and folders in a folder elsewhere, as `os.scandir` has those of a disk. A store knows no links."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from goldgate.errors import ConfigError, InputError, Place
from goldgate.files.remote.connect import Connected, connect, tried
from goldgate.files.remote.failure import read_error
from goldgate.files.url import LISTED_NOWHERE, has_query, join_url, scheme_of, shown_url


class RemoteEntry:
    """A file or a folder of a listing."""

    __slots__ = ("_is_folder", "_kind", "_place", "name", "path", "size")

    def __init__(self, name: str, path: str, kind: str, place: Connected, size: int | None, *, is_folder: bool) -> None:
        self.name = name
        self.path = path  # its URL
        self.size = size or 0
        self._kind = kind
        self._place = place
        self._is_folder = is_folder

    def is_symlink(self) -> bool:
        return False

    def is_dir(self) -> bool:
        return self._is_folder

    def is_file(self) -> bool:
        return not self._is_folder

    def read(self) -> bytes:
        """All of it, at once; an InputError if it has not as many bytes as the listing says."""
        data: bytes = _try(
            self._place, self.path, self._kind, lambda: self._place.filesystem.cat_file(self._place.path)
        )
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
        place.filesystem.invalidate_cache()
        found: list[dict[str, Any]] = place.filesystem.ls(place.path, detail=True)
        return found

    entries = []
    for info in _try(place, url, kind, listed):
        path = str(info["name"]).rstrip("/")
        name = path.rpartition("/")[2]
        if path.strip("/") == folder.strip("/") or not name:
            continue  # some stores have an object with the name of the folder
        inner = Connected(place.filesystem, path, place.scheme)
        is_folder = info.get("type") == "directory"
        entries.append(RemoteEntry(name, join_url(url, name), kind, inner, info.get("size"), is_folder=is_folder))
    return sorted(entries, key=lambda entry: entry.name)


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
