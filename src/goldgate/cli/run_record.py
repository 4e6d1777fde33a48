"""run.json: when, where and how it ran, which is what the report must not hold."""

from __future__ import annotations

import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

from goldgate.files.storable import storable
from goldgate.files.url import shown_url

if TYPE_CHECKING:
    from goldgate.cli.run import Job


def run_record(job: Job, began: datetime, seconds: float, status: int) -> dict[str, Any]:
    """The record of one run of a command."""
    import platform
    import unicodedata

    import orjson

    from goldgate import __version__
    from goldgate.generation.secret import shown_arguments

    return {
        "format_version": 1,
        "started": began.isoformat(timespec="seconds"),
        "wall_seconds": round(seconds, 3),
        "exit_status": status,
        "arguments": [storable(word) for word in shown_arguments(sys.argv)],
        "folder": _working_directory(),
        "inputs": {kind: [storable(shown_url(path)) for path in paths] for kind, paths in job.inputs.items()},
        "engine": job.engine,
        "workers": job.workers or (1 if job.engine == "processes" else None),
        "host": platform.node(),
        "platform": _platform(),
        "versions": {
            "goldgate": __version__,
            "python": platform.python_version(),
            "orjson": orjson.__version__,
            "unicode": unicodedata.unidata_version,
        },
    }


def _platform() -> str:
    """As `platform.platform()` says it, which would start a process to ask for the processor."""
    import platform

    library = "".join(platform.libc_ver())
    parts = (platform.system(), platform.release(), platform.machine(), f"with-{library}" if library else "")
    return "-".join(filter(None, parts))


def _working_directory() -> str | None:
    try:
        return storable(os.getcwd())
    except OSError:  # it was deleted
        return None
