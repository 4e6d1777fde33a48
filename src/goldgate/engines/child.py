"""A process of this Python that works for this one: it imports what this one does, and nothing from where it stands."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

from goldgate.engines import start_worker


def start_child(module: str, argument: str, alive: int, connection: int, **options: Any) -> subprocess.Popen[bytes]:
    """Start `main(alive, connection, argument)` of a module, which ends when the pipe `alive` does."""
    told = [str(alive), str(connection), argument, *_library_folders()]
    return subprocess.Popen(
        [sys.executable, *_flags(), start_worker.__file__, module, *told],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        pass_fds=(alive, connection),
        process_group=0,  # what is typed at the terminal is for the first process
        **options,
    )


def _flags() -> list[str]:
    """`-P`: nothing is imported from the working directory. And what this process was told itself."""
    told = (("isolated", "-I"), ("ignore_environment", "-E"), ("no_user_site", "-s"))
    return ["-P", *(flag for name, flag in told if getattr(sys.flags, name))]


def _library_folders() -> list[str]:
    """Where this process imports from, but for the working directory; a worker looks there last."""
    return [path for path in sys.path if os.path.isabs(path) and not start_worker.is_here(path)]
