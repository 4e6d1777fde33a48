"""Choosing what report.html shows: a fault of our own is said on the page, and costs no verdict."""

from __future__ import annotations

import pytest

from goldgate.cli.looking import Looking
from goldgate.core.evaluation import Evaluation
from goldgate.core.unit_page import NothingGiven
from goldgate.errors import ConfigError
from goldgate.protocol.model import Protocol
from goldgate.suites import load_suite
from goldgate.suites.plan import load_plan

PLAN = load_plan(load_suite("extraction"), Protocol())


def test_a_fault_is_said_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    looking = Looking("extraction", lambda: [b'{"id": "a"}\n'])
    looking(Evaluation({}), PLAN, NothingGiven())
    assert looking.looked is not None
    assert "a fault of goldgate" in looking.looked.note
    assert "KeyError" in looking.looked.note
    monkeypatch.setenv("GOLDGATE_DEBUG", "1")
    with pytest.raises(KeyError):
        looking(Evaluation({}), PLAN, NothingGiven())


def test_what_is_wrong_with_the_machine_is_an_error() -> None:
    def lines() -> list[bytes]:
        raise ConfigError("out.unwritable", "a result cannot be written")

    with pytest.raises(ConfigError):
        Looking("extraction", lines)(Evaluation({}), PLAN, NothingGiven())
