"""The judged suite: the rate that people would find, from a few labels of people and many of a model."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from goldgate.core.plan import Plan
from goldgate.core.suite import Input, Inputs, Mapper, Measure, Source, Suite
from goldgate.suites.judged.abilities import ABILITIES
from goldgate.suites.judged.settings import JudgedSettings


class JudgedSuite(Suite):
    """Replaced by the suite itself when the two branches meet: here it only declares what commands ask for."""

    name = "judged"
    about = "Judge labels of people and models."
    unit = "item"
    inputs = (Input("labels", "Labels.", many=True),)
    section = "judged"
    settings = JudgedSettings
    metrics_version = "1.0"
    headline = ("rate",)
    abilities = ABILITIES

    def measures(self, settings: JudgedSettings) -> Sequence[Measure[Any]]:
        return ()

    def open(
        self, inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
    ) -> AbstractContextManager[Source[Any, Any]]:
        raise NotImplementedError


SUITE = JudgedSuite()
