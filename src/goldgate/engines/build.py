"""Which goldgate this is, to the byte: the same build on two machines gives the same numbers."""

from __future__ import annotations

import hashlib
import platform
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import orjson

import goldgate

SHOWN = 12  # characters: a digest is not read to its end


class Build(NamedTuple):
    """What can change a number, or how it is written, from machine to machine."""

    goldgate: str
    sources: str  # one digest of the package's modules: a checkout may be ahead of its version
    python: str  # without the last part
    unicode: str
    orjson: str


def difference_of(ours: Sequence[str], theirs: Sequence[str]) -> str | None:
    """The first thing in which their build differs from ours, with both; None if there is none."""
    for name, here, there in zip_longest(Build._fields, ours, theirs):
        if here != there:
            return f"{name} {str(there)[:SHOWN]}, and {str(here)[:SHOWN]} here"
    return None


@cache
def this_build() -> Build:
    """The build of this process."""
    python = platform.python_version().rpartition(".")[0]
    return Build(goldgate.__version__, _sources(), python, unicodedata.unidata_version, orjson.__version__)


def _sources() -> str:
    digest, folder = hashlib.sha256(), Path(goldgate.__file__).parent
    for path in sorted(folder.rglob("*.py")):
        digest.update(path.relative_to(folder).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()
