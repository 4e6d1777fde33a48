"""Names of folders for runs: safe on any file system, one a run, and the same whatever else is imported."""

from __future__ import annotations

import hashlib
import re

_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}(?<!\.)")
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_SHOWN = 40  # characters of an id that cannot be a name as it is


def folder_name(run_id: str) -> str:
    """`run_` and the id; of one that is long, or has other characters, what can be shown of it and a hash.

    Capital letters get a hash too: some file systems do not tell them apart.
    """
    if _PLAIN.fullmatch(run_id) and ".." not in run_id:
        return f"run_{run_id}"
    digest = hashlib.sha256(run_id.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    shown = _UNSAFE.sub("_", run_id)[:_SHOWN].strip("_")
    return f"run_{shown}~{digest}" if shown else f"run_~{digest}"  # a plain id has no ~
