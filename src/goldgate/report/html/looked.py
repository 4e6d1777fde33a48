"""The units that are shown with a page: the worst of them, and which explain a gate that did not pass."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from goldgate.core.unit_page import UnitPage, UnitSummary


class Looked(NamedTuple):
    """Units in the order in which they are looked at, beside how many there are."""

    units: tuple[tuple[UnitSummary, UnitPage], ...] = ()
    total: int = 0
    wrong: int = 0  # those of all in which something went wrong
    unit: str = "sample"
    # By the metric of a gate that did not pass: how many units cost it something, and those shown, the worst first.
    explains: Mapping[str, tuple[int, tuple[str, ...]]] = MappingProxyType({})
    note: str = ""  # what could not be shown, and why
    # Where units are that are not in the page: by the metric of a gate each with its id, and all of them.
    unit_links: Mapping[tuple[str, str], str] = MappingProxyType({})
    gate_links: Mapping[str, str] = MappingProxyType({})
