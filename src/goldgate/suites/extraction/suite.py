"""The extraction suite: a model read documents and answered with events; its answers are compared with gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from goldgate.core.plan import Plan
from goldgate.core.suite import Contract, Input, Inputs, Measure, Report, Suite
from goldgate.suites.extraction.settings import ExtractionSettings

if TYPE_CHECKING:  # nothing heavy before it is used: the help of the command line names every suite
    from goldgate.core.page import Page
    from goldgate.suites.extraction.sample import Facts
    from goldgate.suites.extraction.source import ExtractionSource


class ExtractionSuite(Suite):
    """Strict, relaxed and type P/R/F1, parse diagnostics, schema compliance, hallucination, thoughts."""

    name = "extraction"
    about = "Score stored answers of an event extraction model."
    inputs = (
        Input(
            "gold",
            "Gold records, as JSON Lines or an array, also gzipped; one file or more, - is standard input.",
            many=True,
        ),
        Input("predictions", "A model's stored answers, likewise; one file or more.", many=True),
        Input("schema", "The event schema: event types and their roles.", required=False),
    )
    section = "metrics"
    settings = ExtractionSettings
    metrics_version = "2.0"
    headline = ("strict_f1", "relaxed_f1", "type_f1")
    preload = "goldgate.suites.extraction.source"

    @property
    def contracts(self) -> Mapping[str, Contract]:
        from goldgate.suites.extraction.contracts import CONTRACTS

        return CONTRACTS

    def check(self, plan: Plan) -> None:
        from goldgate.suites.extraction.check_settings import check_settings

        check_settings(plan)

    def measures(self, settings: ExtractionSettings) -> Sequence[Measure[Facts]]:
        from goldgate.suites.extraction.measures import all_measures

        return all_measures(settings)

    def open(self, inputs: Inputs, plan: Plan, written: Sequence[str] = ()) -> AbstractContextManager[ExtractionSource]:
        from goldgate.suites.extraction.source import open_source

        return open_source(inputs, plan)

    def describe(self, report: Report) -> Page:
        from goldgate.suites.extraction.page import describe

        return describe(report)


SUITE = ExtractionSuite()
