"""The folder of a run's files: all of them of one run, and an earlier run's until the new ones are complete."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from goldgate.core.uninterrupted import uninterrupted
from goldgate.engines.parts import PART
from goldgate.engines.shared_parts import FOLDER
from goldgate.errors import ConfigError, Place
from goldgate.files import folder_lock
from goldgate.files.atomic_write import UNFINISHED, unwritable
from goldgate.files.folder_lock import FolderLock

REPORT_JSON, REPORT_MARKDOWN, REPORT_HTML, JUNIT = "report.json", "report.md", "report.html", "junit.xml"
SAMPLES, RUN = "samples.jsonl", "run.json"
# In this order they get their names: the verdict is the last.
NAMES = (REPORT_MARKDOWN, REPORT_HTML, JUNIT, RUN, REPORT_JSON)


class OutFolder:
    """Files are written under another name and renamed when all of them are complete.

    The folder is locked until `close`, which also removes what is unfinished.
    """

    def __init__(self, path: str, inputs: Iterable[str], records: str = SAMPLES, names: Sequence[str] = NAMES) -> None:
        """Make and lock the folder, remove what a killed run left unfinished; no input and no report is touched."""
        if not path:
            raise ConfigError("out.unwritable", "--out needs the name of a folder", found="an empty name")
        self.path = Path(path)
        self._samples: SamplesFile | None = None
        self._records = records  # the name of the file with a line for each unit
        self._names = (records, *names)
        self._made = _missing_folders(self.path)
        self._published = False
        _protect(self.path, inputs, self._names)
        _require_free(self.path, self._names)
        try:
            self._lock = FolderLock(self.path)
        except OSError as problem:
            raise _cannot_write(self.path, problem, "the folder for the results cannot be made or locked") from None
        # Where the file system knows no locks, another process may be at work: its names must be other ones.
        self._ending = UNFINISHED if self._lock.held else f".{os.getpid()}{UNFINISHED}"
        try:
            self._remove_unfinished()
        except BaseException:
            self._lock.release()
            raise

    def open_samples(self) -> SamplesFile:
        """The file that takes a line a sample while the run goes on."""
        self._samples = SamplesFile(self._unfinished(self._records))
        return self._samples

    def read_samples(self, offset: int, length: int) -> bytes:
        """A part of that file, which is written already."""
        return self._samples.read_part(offset, length) if self._samples is not None else b""

    def publish(self, files: Mapping[str, bytes], *, with_samples: bool) -> None:
        """Complete the run's files and give them their names, in place of an earlier run's."""
        names = set(files)
        if self._samples is not None and with_samples:
            self._samples.close()
            names.add(self._records)
        else:
            self._drop_samples()  # first: on a full disk it makes room for the report that says so
        for name, content in files.items():
            path = self._unfinished(name)
            try:
                with open(path, "xb") as stream:
                    stream.write(content)
            except OSError as problem:
                raise _cannot_write(path, problem) from None
        with uninterrupted():
            for name in self._names:
                if name not in names:
                    _remove(self.path / name)
                    continue
                try:
                    os.replace(self._unfinished(name), self.path / name)
                except OSError as problem:
                    raise _cannot_write(self.path / name, problem) from None
            self._published = True

    def close(self) -> None:
        """Remove what is unfinished, unlock the folder; one that was made for nothing goes too."""
        with uninterrupted():
            with suppress(ConfigError):
                self._drop_samples()
                self._remove_unfinished()
            self._lock.release()
            if not self._published:
                for folder in self._made:
                    with suppress(OSError):
                        folder.rmdir()

    def _drop_samples(self) -> None:
        if self._samples is not None:
            with suppress(ConfigError):
                self._samples.close()
        _remove(self._unfinished(self._records))

    def _unfinished(self, name: str) -> Path:
        return self.path / (name + self._ending)

    def _remove_unfinished(self) -> None:
        for name in self._names:
            _remove(self._unfinished(name))
        _remove(self.path / (self._records + PART))
        folder = self.path / (self._records + FOLDER)
        if folder.exists():
            import shutil

            shutil.rmtree(folder, ignore_errors=True)


class SamplesFile(io.BufferedWriter):
    """A file whose failures (a full disk) are errors with a place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            super().__init__(io.FileIO(path, "xb"))
        except OSError as problem:
            raise _cannot_write(path, problem) from None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as problem:
            raise _cannot_write(self._path, problem) from None

    def read_part(self, offset: int, length: int) -> bytes:
        """So many bytes of what was written."""
        try:
            self.flush()
            with open(self._path, "rb") as written:
                written.seek(offset)
                return written.read(length)
        except OSError as problem:
            raise _cannot_write(self._path, problem) from None

    def close(self) -> None:
        try:
            super().close()
        except OSError as problem:
            raise _cannot_write(self._path, problem) from None


def _missing_folders(path: Path) -> list[Path]:
    """The folders that are to be made, the innermost first."""
    # Path.exists fails where a name is too long; making the folder then says so.
    return [folder for folder in (path, *path.parents) if not os.path.exists(folder)]


def _protect(folder: Path, inputs: Iterable[str], written: Sequence[str]) -> None:
    names = [*written, *(name + UNFINISHED for name in written), folder_lock.NAME]
    for given in inputs:
        for name in names:
            with suppress(OSError):  # one of the two is not there: then they are not the same
                if os.path.samefile(given, folder / name):
                    raise ConfigError(
                        "out.is_an_input",
                        f"writing {name} would overwrite an input of this run",
                        place=Place(given),
                        advice="choose another folder for --out",
                    )


def _require_free(folder: Path, written: Sequence[str]) -> None:
    """Refuse a file in place of the folder, and folders in the place of its files, before any work is done."""
    for path in (folder, *folder.parents):
        if os.path.lexists(path) and not os.path.isdir(path):
            raise ConfigError(
                "out.is_a_file",
                "--out names a file" if path == folder else "--out names a folder inside a file",
                place=Place(str(path)),
                expected="a folder, which is made if it is not there",
                found="a file" if os.path.exists(path) else "a link that leads nowhere",
                advice="choose another folder for --out",
            )
    for name in written:
        if os.path.isdir(folder / name):
            raise ConfigError(
                "out.is_a_directory",
                f"{name} is to be written here, and a directory has that name",
                place=Place(str(folder / name)),
                expected="no such directory",
                found="a directory",
                advice="move it, or choose another folder for --out",
            )


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise _cannot_write(path, problem) from None


def _cannot_write(path: Path, problem: OSError, message: str = "a result cannot be written") -> ConfigError:
    return unwritable(path, problem, "--out needs a folder that can be written to, with room for the results", message)
