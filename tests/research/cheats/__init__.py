"""Cheats: functions that change stored runs so that a FAIL might become a PASS. None of them may succeed.

Each takes an outputs folder of honest failures and changes files in it, as whoever wants a PASS could. A cheat names
the finding that its rule leaves in the report. A new rule gets a cheat here; `logs/` holds log lines to append.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

Change = Callable[[Path], None]


class Cheat(NamedTuple):
    """What is done to the files, and the finding that shows it.

    `lifts` is a gate that it may turn: whoever takes runs away takes their uncovered claims with them.
    """

    change: Change
    finding: str
    lifts: str | None = None


CHEATS: dict[str, Cheat] = {}


def cheat(finding: str, lifts: str | None = None) -> Callable[[Change], Change]:
    """Register a function as a cheat under its name."""

    def register(change: Change) -> Change:
        CHEATS[change.__name__] = Cheat(change, finding, lifts)
        return change

    return register
