"""The folder of a run's files: all of them of one run, or none of them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from goldgate.errors import ConfigError, Place

REPORT_JSON, REPORT_MARKDOWN, SAMPLES, RUN = "report.json", "report.md", "samples.jsonl", "run.json"
NAMES = (SAMPLES, REPORT_JSON, REPORT_MARKDOWN, RUN)
_UNFINISHED = ".unfinished"


class OutFolder:
    """Files are written under another name and renamed when all of them are complete."""

    def __init__(self, path: str, inputs: Iterable[str]) -> None:
        """Make the folder and remove what an earlier run left; nothing that is an input is touched."""
        if not path:
            raise ConfigError("out.unwritable", "--out names no folder", found="an empty name")
        self.path = Path(path)
        self._samples: SamplesFile | None = None
        _protect(self.path, inputs)
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as problem:
            raise _cannot_write(self.path, problem, "the folder for the results cannot be made") from None
        self.discard()

    def open_samples(self) -> SamplesFile:
        """The file that takes a line a sample while the run goes on."""
        self._samples = SamplesFile(self._unfinished(SAMPLES))
        return self._samples

    def publish(self, files: Mapping[str, bytes], *, with_samples: bool) -> None:
        """Complete the run's files and give them their names."""
        names = list(files)
        for name, content in files.items():
            path = self._unfinished(name)
            try:
                path.write_bytes(content)
            except OSError as problem:
                raise _cannot_write(path, problem) from None
        if self._samples is not None:
            self._samples.close()
            if with_samples:
                names.append(SAMPLES)
            else:
                _remove(self._unfinished(SAMPLES))
        for name in sorted(names, key=NAMES.index):
            try:
                os.replace(self._unfinished(name), self.path / name)
            except OSError as problem:
                raise _cannot_write(self.path / name, problem) from None

    def discard(self) -> None:
        """Remove every file of a run."""
        if self._samples is not None:
            with suppress(ConfigError):
                self._samples.close()
        for name in NAMES:
            for path in (self.path / name, self._unfinished(name)):
                _remove(path)

    def _unfinished(self, name: str) -> Path:
        return self.path / (name + _UNFINISHED)


class SamplesFile(io.BufferedWriter):
    """A file whose failures (a full disk) are errors with a place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            super().__init__(io.FileIO(path, "wb"))
        except OSError as problem:
            raise _cannot_write(path, problem) from None

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as problem:
            raise _cannot_write(self._path, problem) from None

    def close(self) -> None:
        try:
            super().close()
        except OSError as problem:
            raise _cannot_write(self._path, problem) from None


def _protect(folder: Path, inputs: Iterable[str]) -> None:
    for given in inputs:
        for name in NAMES:
            with suppress(OSError):  # one of the two is not there: then they are not the same
                if os.path.samefile(given, folder / name):
                    raise ConfigError(
                        "out.is_an_input",
                        f"writing {name} would overwrite an input of this run",
                        place=Place(given),
                        advice="choose another folder for --out",
                    )


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as problem:
        raise _cannot_write(path, problem) from None


def _cannot_write(path: Path, problem: OSError, message: str = "a result cannot be written") -> ConfigError:
    reason = problem.strerror or type(problem).__name__
    return ConfigError(
        "out.unwritable",
        message,
        place=Place(str(path)),
        found=reason,
        advice="--out needs a folder that can be written to",
    )
