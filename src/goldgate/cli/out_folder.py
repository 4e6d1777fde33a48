"""The folder that `--out` names: files of a single run, replaced only when the new ones are complete.

A folder without report.json has no finished run: an earlier report.json is removed before any other file is replaced,
and the new one gets its name last.

Also run.json (when, where and how a run was made), and checks that no input is overwritten.
"""

from __future__ import annotations

import io
import os
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from goldgate import __version__
from goldgate.core.process import block_signals
from goldgate.engines.parts import FOLDER, PART
from goldgate.errors import ConfigError, Place
from goldgate.files import writing
from goldgate.files.address import (
    STANDARD_INPUT,
    is_url,
    public_url,
    redact_arguments,
    resolved_path,
)
from goldgate.files.writing import UNFINISHED_SUFFIX, FolderLock, escape_surrogates

if TYPE_CHECKING:
    from goldgate.cli.runner import Job


REPORT_JSON, REPORT_MARKDOWN, REPORT_HTML, JUNIT = "report.json", "report.md", "report.html", "junit.xml"
SAMPLES, RUN_JSON = "samples.jsonl", "run.json"
# The files of an evaluation and their formats. In this order they get their names: the verdict is the last.
REPORT_FORMATS = {REPORT_MARKDOWN: "markdown", REPORT_HTML: "html", JUNIT: "junit", REPORT_JSON: "json"}
REPORT_FILES = (REPORT_MARKDOWN, REPORT_HTML, JUNIT, RUN_JSON, REPORT_JSON)

_write_errors = partial(
    writing.write_errors, advice="--out needs a folder that can be written to, with room for the results"
)


class OutFolder:
    """Files are written under another name and renamed when all of them are complete.

    The folder is locked until `close`, which also removes what is unfinished.
    """

    def __init__(
        self, path: str, inputs: Iterable[str], records: str = SAMPLES, names: Sequence[str] = REPORT_FILES
    ) -> None:
        """Make and lock the folder, remove what a killed run left unfinished; no input and no report is touched."""
        if not path:
            raise ConfigError("out.unwritable", "--out needs the name of a folder", found="an empty name")
        self.path = Path(path)
        self._samples: SamplesFile | None = None
        self._records = records  # the name of the file with a line for each unit
        self._names = (records, *names)
        # The folders that are to be made. Path.exists fails where a name is too long; making the folder then says so.
        self._new_folders = [folder for folder in (self.path, *self.path.parents) if not os.path.exists(folder)]
        self._published = False
        _check_inputs(self.path, inputs, self._names)
        _require_free(self.path, self._names)
        with _write_errors(self.path, message="the folder for the results cannot be created or locked"):
            self._lock = FolderLock(self.path)
        # Where the file system knows no locks, another process may be at work: its names must be other ones.
        self._ending = UNFINISHED_SUFFIX if self._lock.held else f".{os.getpid()}{UNFINISHED_SUFFIX}"
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
        """A part of the samples file, which is written already."""
        return self._samples.read_part(offset, length) if self._samples is not None else b""

    def read_head(self, name: str, length: int) -> bytes:
        """The first bytes of a file of an earlier run; none if it is not there."""
        try:
            with open(self.path / name, "rb") as stream:
                return stream.read(length)
        except OSError:
            return b""

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
            with _write_errors(path), open(path, "xb") as stream:
                stream.write(content)
        with block_signals():
            # A kill from here on leaves no verdict beside another run's records.
            remove_file(self.path / self._names[-1])
            for name in self._names:
                if name not in names:
                    remove_file(self.path / name)
                    continue
                with _write_errors(self.path / name):
                    os.replace(self._unfinished(name), self.path / name)
            self._published = True

    def close(self) -> None:
        """Remove what is unfinished, unlock the folder; one that was made for nothing goes too."""
        with block_signals():
            with suppress(ConfigError):
                self._drop_samples()
                self._remove_unfinished()
            self._lock.release()
            if not self._published:
                for folder in self._new_folders:
                    with suppress(OSError):
                        folder.rmdir()

    def _drop_samples(self) -> None:
        if self._samples is not None:
            with suppress(ConfigError):
                self._samples.close()
        remove_file(self._unfinished(self._records))

    def _unfinished(self, name: str) -> Path:
        return self.path / (name + self._ending)

    def _remove_unfinished(self) -> None:
        for name in self._names:
            remove_file(self._unfinished(name))
        remove_file(self.path / (self._records + PART))
        folder = self.path / (self._records + FOLDER)
        if folder.exists():
            import shutil

            shutil.rmtree(folder, ignore_errors=True)


class SamplesFile(io.BufferedWriter):
    """A file whose failures (a full disk) are errors with a place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _write_errors(path):
            super().__init__(io.FileIO(path, "xb+"))

    def write(self, data: Any) -> int:
        with _write_errors(self._path):
            return super().write(data)

    def read_part(self, offset: int, length: int) -> bytes:
        """Read `length` bytes of what was written."""
        with _write_errors(self._path):
            self.flush()
            return os.pread(self.fileno(), length, offset)

    def close(self) -> None:
        with _write_errors(self._path):
            super().close()


def _check_inputs(folder: Path, inputs: Iterable[str], written: Sequence[str]) -> None:
    names = [*written, *(name + UNFINISHED_SUFFIX for name in written), writing.LOCK_FILE]
    for path in inputs:
        for name in names:
            with suppress(OSError):  # one of the two is not there: then they are not the same
                if os.path.samefile(path, folder / name):
                    raise _input_error(name, path)


def _input_error(
    name: str, path: str, input: str = "an input of this run", option: str = "--out", kind: str = "folder"
) -> ConfigError:
    """The error for an input that a result would replace."""
    return ConfigError(
        f"{option.strip('-')}.is_an_input",
        f"writing {name} would overwrite {input}",
        place=Place(public_url(path)),
        advice=f"choose another {kind} for {option}",
    )


def _require_free(folder: Path, written: Sequence[str]) -> None:
    """Refuse a file in place of the folder, and folders in the place of its files, before any work is done."""
    for path in (folder, *folder.parents):
        if os.path.lexists(path) and not os.path.isdir(path):
            raise ConfigError(
                "out.is_a_file",
                "--out names a file" if path == folder else "--out names a folder inside a file",
                place=Place(str(path)),
                expected="a folder; a new one is created",
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


def remove_file(path: Path) -> None:
    """Remove a file if it exists; a ConfigError where that fails."""
    with _write_errors(path):
        path.unlink(missing_ok=True)


def run_record(job: Job, began: datetime, seconds: float, status: int) -> dict[str, Any]:
    """The record of one run of a command."""
    import unicodedata

    import orjson

    # As `platform.platform()` says it, which would start a process to ask for the processor.
    library = "".join(platform.libc_ver())
    system = (platform.system(), platform.release(), platform.machine(), library and f"with-{library}")
    return {
        "format_version": 1,
        "started": began.isoformat(timespec="seconds"),
        "wall_seconds": round(seconds, 3),
        "exit_status": status,
        "arguments": [escape_surrogates(word) for word in redact_arguments(sys.argv)],
        "folder": _working_directory(),
        "inputs": {kind: [escape_surrogates(public_url(path)) for path in paths] for kind, paths in job.inputs.items()},
        "engine": job.engine,
        "workers": job.workers or (1 if job.engine == "processes" else None),
        "host": platform.node(),
        "platform": "-".join(filter(None, system)),
        "versions": {
            "goldgate": __version__,
            "python": platform.python_version(),
            "orjson": orjson.__version__,
            "unicode": unicodedata.unidata_version,
        },
    }


def _working_directory() -> str | None:
    try:
        return escape_surrogates(os.getcwd())
    except OSError:  # it was deleted
        return None


def check_not_input(
    inputs: Iterable[str], file: str, what: str = "the result", input: str = "an input", option: str = "--out"
) -> None:
    """Raise a ConfigError where the file that an option names is one of the inputs."""
    if any(resolved_path(path) == resolved_path(file) for path in inputs):
        raise _input_error(what, file, input, option, "file")


def check_overwrite(job: Job) -> None:
    """Raise a ConfigError where a result would overwrite an input, or become a file of what is judged.

    Also where standard input, which can be read once, is given for two inputs.
    """
    if job.paths.count(STANDARD_INPUT) > 1:
        raise ConfigError(
            "input.standard_input_twice",
            "standard input can be read only once",
            place=Place(STANDARD_INPUT),
            expected=f"{STANDARD_INPUT} for one input at most",
            advice="store one of them in a file",
        )
    if job.out is not None:
        _check_outside_runs(job, job.out, "--out")
    if job.report is not None:
        _check_outside_runs(job, job.report, "--report")
        if os.path.isdir(job.report):
            raise ConfigError(
                "report.is_a_directory",
                "--report names a directory",
                place=Place(job.report),
                expected="a file",
                advice="use --out for a folder with all results",
            )
        check_not_input(job.paths, job.report, "the report", option="--report")
        folder, name = os.path.split(job.report)
        # It may be report.json of `out`, which holds the same.
        if is_report_of(job.report, job.out):
            return
        in_out = job.out is not None and resolved_path(folder or ".") == resolved_path(job.out)
        is_verdict = name == REPORT_JSON and os.path.exists(os.path.join(folder, RUN_JSON))
        if is_verdict or (in_out and name in {job.records, *REPORT_FILES, writing.LOCK_FILE}):
            raise ConfigError(
                "report.is_a_result",
                f"--report names a file that {'--out writes' if in_out else 'belongs to the result in its folder'}",
                place=Place(job.report),
                advice="choose another file for --report, or leave it out: --out has report.json",
            )


def is_report_of(report: str, out: str | None) -> bool:
    """Whether the file is report.json of this folder of results."""
    return out is not None and resolved_path(report) == resolved_path(os.path.join(out, REPORT_JSON))


def _check_outside_runs(job: Job, path: str, option: str) -> None:
    # A report may lie beside the runs; a folder there would be taken for one of them.
    place = resolved_path(path if option == "--out" else os.path.dirname(path) or ".")
    for runs in job.folders:
        if is_url(runs):
            continue
        root = resolved_path(runs)
        if place.startswith(os.path.join(root, "")) or (option == "--out" and place == root):
            raise ConfigError(
                "report.inside_a_run",
                "the report would lie inside a run" if option == "--report" else "the results would lie among the runs",
                place=Place(path),
                expected=f"a place beside {runs}",
                advice=f"choose another place for {option}",
            )
