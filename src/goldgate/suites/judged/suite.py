"""The judged suite: what people would say of every item, from their labels on some and a judge's on all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

from goldgate.core.plan import Plan
from goldgate.core.suite import Contract, Input, Inputs, Mapper, Measure, StoredRates, Suite
from goldgate.suites.judged.abilities import ABILITIES
from goldgate.suites.judged.settings import JudgedSettings

if TYPE_CHECKING:  # nothing heavy before it is used: the help of the command line names every suite
    from goldgate.core.contracts import SuiteReport
    from goldgate.core.page import Page, Picture
    from goldgate.core.unit_page import InputLookup, UnitPage, UnitSummary
    from goldgate.suites.judged.contracts import ItemLabelsRecord, JudgedReport
    from goldgate.suites.judged.measures import ItemFacts
    from goldgate.suites.judged.source import JudgedSource

_LABELS = Input(
    "labels", "Labels of people and of judges, JSON Lines or a JSON array, may be gzipped.", many=True, judged=True
)
_ITEMS = Input(
    "items",
    "Everything to be judged, in the same formats. Without it: what the judge labelled.",
    many=True,
    required=False,
    judged=True,
)
_DRAW = Input("draw", "What goldgate sample drew for people to label.", required=False)
_JUDGE = Input("judge", "Take the labels of this judge only.", metavar="NAME", required=False, is_path=False)


class JudgedSuite(Suite):
    """The rate that people would find, with its interval; how far the judge and people agree."""

    name = "judged"
    about = "Estimate what people would say from a few labels of theirs and many of a judge."
    unit = "item"
    inputs = (_LABELS, _ITEMS, _DRAW, _JUDGE)
    section = "judged"
    settings = JudgedSettings
    metrics_version = "1.0"
    headline = ("rate", "human_rate")
    preload = "goldgate.suites.judged.source"
    abilities = ABILITIES

    @property
    def contracts(self) -> Mapping[str, Contract]:
        from goldgate.suites.judged.contracts import CONTRACTS

        return CONTRACTS

    def measures(self, settings: JudgedSettings) -> Sequence[Measure[ItemFacts]]:
        from goldgate.suites.judged.measures import judged_measures

        return judged_measures()

    def open(
        self, inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
    ) -> AbstractContextManager[JudgedSource]:
        from goldgate.suites.judged.source import open_judged_source

        return open_judged_source(inputs, plan)

    def open_inputs(self, inputs: Inputs, plan: Plan | None) -> AbstractContextManager[InputLookup]:
        from goldgate.suites.judged.source import open_judged_inputs

        return open_judged_inputs(inputs, plan)

    def describe(self, report: SuiteReport) -> Page:
        from goldgate.suites.judged.page import judged_page

        return judged_page(cast("JudgedReport", report))

    def pictures(self, report: SuiteReport) -> tuple[Picture, ...]:
        from goldgate.suites.judged.page import judged_pictures

        return judged_pictures(cast("JudgedReport", report))

    def summary(self, record: Mapping[str, object]) -> UnitSummary:
        from goldgate.suites.judged.explain import item_summary

        return item_summary(cast("ItemLabelsRecord", record))

    def snippet(self, record: Mapping[str, object], inputs: Mapping[str, Any]) -> str:
        from goldgate.suites.judged.explain import item_snippet

        return item_snippet(inputs)

    def unit_page(self, record: Mapping[str, object], inputs: Mapping[str, Any]) -> UnitPage:
        from goldgate.suites.judged.explain import item_page

        return item_page(cast("ItemLabelsRecord", record), inputs)

    def stored(self, report: SuiteReport) -> StoredRates:
        from goldgate.suites.judged.page import judged_rates

        return judged_rates(cast("JudgedReport", report))


SUITE = JudgedSuite()
