"""Choosing what report.html shows: a fault of our own is said on the page, and costs no verdict."""

from __future__ import annotations

import pytest

from goldgate.cli.runner import SampleCollector
from goldgate.core.evaluation import Evaluation
from goldgate.core.unit_page import EmptyInputLookup
from goldgate.errors import ConfigError
from goldgate.protocol import Protocol
from goldgate.suites import load_suite
from goldgate.suites.plan import load_plan
from goldgate.suites.worst_units import UnitWeigher, WorstUnits

PLAN = load_plan(load_suite("extraction"), Protocol())


def weighed(*lines: bytes) -> WorstUnits:
    weigh = UnitWeigher(load_suite("extraction"), PLAN)
    worst = weigh.nothing()
    for line in lines:
        weigh.add(worst, line)
    return worst


def test_a_fault_is_said_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    looking = SampleCollector("extraction", lambda *_: b"")
    looking(Evaluation({}), PLAN, EmptyInputLookup(), weighed(b'{"id": "a"}\n'))
    assert looking.units is not None
    assert "a bug in goldgate" in looking.units.note
    assert "KeyError" in looking.units.note
    monkeypatch.setenv("GOLDGATE_DEBUG", "1")
    with pytest.raises(RuntimeError, match="KeyError"):
        looking(Evaluation({}), PLAN, EmptyInputLookup(), weighed(b'{"id": "a"}\n'))


def test_what_is_wrong_with_the_machine_is_an_error() -> None:
    def read(offset: int, length: int) -> bytes:
        raise ConfigError("out.unwritable", "a result cannot be written")

    worst = WorstUnits()
    worst.overall.add(1, 0, 0, 1)
    with pytest.raises(ConfigError):
        SampleCollector("extraction", read)(Evaluation({}), PLAN, EmptyInputLookup(), worst)
