"""`--out` with a URL: files are made in a temporary folder and uploaded when all are complete, report.json last.

A folder without report.json has no finished run: an earlier report.json is removed before the first upload.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from goldgate.cli.out_folder import REPORT_FILES, SAMPLES, OutFolder, input_error
from goldgate.errors import MachineError
from goldgate.files import writing
from goldgate.files.address import join_url, normalize_url, public_url
from goldgate.files.remote.remote_folder import RemoteFolder

_PREFIX = "goldgate-out-"


class UploadedFolder(OutFolder):
    """A folder of results elsewhere. Until they are uploaded, they are in a temporary folder, which is then removed."""

    def __init__(
        self, url: str, inputs: Iterable[str], records: str = SAMPLES, names: Sequence[str] = REPORT_FILES
    ) -> None:
        _check_inputs(url, inputs, (records, *names, writing.LOCK_FILE))
        self._remote = RemoteFolder(url)
        try:
            _remove_stale_folders()
            self._temporary = _make_temporary()
            super().__init__(str(self._temporary), (), records, names)
        except BaseException:
            self._remote.release()
            raise

    def read_head(self, name: str, length: int) -> bytes:
        """The first bytes of a file of an earlier run."""
        return self._remote.read_head(name, length)

    def publish(self, files: Mapping[str, bytes], *, with_samples: bool) -> None:
        super().publish(files, with_samples=with_samples)
        self._remote.remove(self._names[-1])
        for name in self._names:  # the last of them says that all are there
            if (self.path / name).exists():
                self._remote.upload(self.path / name, name)
            else:
                self._remote.remove(name)

    def close(self) -> None:
        super().close()
        shutil.rmtree(self._temporary, ignore_errors=True)
        self._remote.release()


def _check_inputs(url: str, inputs: Iterable[str], written: Sequence[str]) -> None:
    names = {normalize_url(join_url(url, name)): name for name in written}
    for each in inputs:
        if normalize_url(each) in names:
            raise input_error(names[normalize_url(each)], public_url(each))


def _make_temporary() -> Path:
    try:
        return Path(tempfile.mkdtemp(prefix=_PREFIX))
    except OSError as problem:
        raise MachineError(
            "machine.temporary_folder",
            "the results cannot be written to the temporary folder, where they are until they are uploaded",
            found=problem.strerror or type(problem).__name__,
            advice="name a folder with room for them in the environment variable TMPDIR",
        ) from None


def _remove_stale_folders() -> None:
    """Remove the temporary folders of runs that were killed: their lock files exist, and no process holds them."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            if folder.stat().st_uid != os.getuid():
                continue
            descriptor = os.open(folder / writing.LOCK_FILE, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(descriptor)
