"""Work that leaves traces, dies and dawdles, for the nodes of a cluster to carry out."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path


class Traced:
    """Returns the shard, and notes in a folder that it was worked on and by which process.

    It takes `seconds`; with `until`, all shards but the first take as long, or until that file exists.
    """

    def __init__(self, folder: Path, seconds: float = 0.0, until: Path | None = None) -> None:
        self.folder = folder
        self.seconds = seconds
        self.until = until

    def __call__(self, shard: int) -> int:
        trace = Path(self.folder, f"{shard}-{os.getppid()}-{os.getpid()}")
        trace.touch()
        if self.until is None:
            time.sleep(self.seconds)
        elif shard > 0:
            end = time.monotonic() + self.seconds
            while not self.until.exists() and time.monotonic() < end:
                time.sleep(0.05)
        trace.write_text("done")
        return shard

    def tries(self) -> list[int]:
        """The shards that were begun, once for each process that did."""
        return sorted(int(path.name.split("-")[0]) for path in self.folder.iterdir())

    def is_under_way(self, parent: int) -> bool:
        """Whether a child of this process is at work on one."""
        return any(not path.stat().st_size for path in self.folder.glob(f"*-{parent}-*"))


class FirstIsSlow:
    """The first shard is done when the others have begun: whoever waits for it keeps nobody waiting."""

    def __init__(self, folder: Path, others: int) -> None:
        self.folder = folder
        self.others = others

    def __call__(self, shard: int) -> int:
        Path(self.folder, str(shard)).touch()
        end = time.monotonic() + 60
        while shard == 0 and len(list(self.folder.iterdir())) <= self.others and time.monotonic() < end:
            time.sleep(0.05)
        return len(list(self.folder.iterdir())) if shard == 0 else shard


class Killed:
    """Is killed, as a process is that takes all memory: the first so many times that it works on shard 3."""

    def __init__(self, folder: Path, times: int) -> None:
        self.folder = folder
        self.times = times

    def __call__(self, shard: int) -> int:
        if shard == 3:
            before = len(list(self.folder.iterdir()))
            Path(self.folder, str(before)).touch()
            if before < self.times:
                os.kill(os.getpid(), signal.SIGKILL)
        return shard


def without_memory(shard: int) -> int:
    raise MemoryError
