"""How goldgate was built: its inner loop compiled, or all of it plain Python. Both do the same."""

from __future__ import annotations

from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec

_INNERMOST = "goldgate.suites.extraction.events.match"  # every sample passes through it


def how_built() -> str:
    """`compiled` or `plain Python`."""
    spec = find_spec(_INNERMOST)
    place = spec.origin if spec is not None and spec.origin is not None else ""
    return "compiled" if place.endswith(tuple(EXTENSION_SUFFIXES)) else "plain Python"
