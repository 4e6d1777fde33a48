"""The research suite: an agent answered questions with claims and evidence; its stored runs are judged."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from goldgate.core.gate import Gate
from goldgate.core.plan import Plan
from goldgate.core.stored import Stored
from goldgate.core.suite import Contract, Input, Inputs, Mapper, Measure, Pairing, Report, Suite
from goldgate.suites.research.settings import DEFAULT_GATES, METRICS_VERSION, ResearchSettings

if TYPE_CHECKING:  # nothing heavy before it is used: the help of the command line names every suite
    from goldgate.core.page import Page
    from goldgate.core.unit_page import Given, UnitPage, UnitSummary
    from goldgate.suites.research.measures.trial import Trial
    from goldgate.suites.research.source import ResearchSource


class ResearchSuite(Suite):
    """Evidence coverage, golden recall, abstention accuracy and manifest integrity, with their companions."""

    name = "research"
    about = "Judge stored runs of a research agent."
    unit = "run"
    records = "runs.jsonl"
    inputs = (
        Input("golden", "The golden queries, as JSON."),
        Input("outputs", "The folder with one directory a run.", metavar="DIR", judged=True),
        Input(
            "corpus",
            "The sources that you know: SHA-256 hashes, a line each, or their folder. Evidence from them is anchored.",
            metavar="PATH",
            required=False,
        ),
    )
    section = "research"
    settings = ResearchSettings
    metrics_version = METRICS_VERSION
    headline = tuple(DEFAULT_GATES)
    default_gates = DEFAULT_GATES
    pairing = Pairing("objective", "query", several=True)
    writes_report = True
    preload = "goldgate.suites.research.shards"

    @property
    def contracts(self) -> Mapping[str, Contract]:
        from goldgate.suites.research.contracts import CONTRACTS

        return CONTRACTS

    def gates(self, plan: Plan) -> Mapping[str, Gate]:
        if plan.settings.manifests == "required":
            return DEFAULT_GATES
        return {name: gate for name, gate in DEFAULT_GATES.items() if name != "manifest_integrity"}

    def measures(self, settings: ResearchSettings) -> Sequence[Measure[Trial]]:
        from goldgate.suites.research.measures import all_measures

        return all_measures(settings)

    def open(
        self, inputs: Inputs, plan: Plan, written: Sequence[str] = (), engine: Mapper | None = None
    ) -> AbstractContextManager[ResearchSource]:
        from goldgate.suites.research.source import open_source

        return open_source(inputs, plan, written)

    def describe(self, report: Report) -> Page:
        from goldgate.suites.research.page import describe

        return describe(report)

    def input_digest(self, name: str, path: str) -> str | None:
        """A corpus is its hashes: how they are written down, or in what folder the sources lie, changes nothing."""
        if name != "corpus":
            return None
        from goldgate.suites.research.corpus import load_corpus

        return load_corpus(path).sha256

    def given(self, inputs: Inputs, plan: Plan | None) -> AbstractContextManager[Given]:
        from goldgate.suites.research.look.given import open_given

        return open_given(inputs, plan)

    def summary(self, record: Mapping[str, Any]) -> UnitSummary:
        from goldgate.suites.research.look.summary import summary

        return summary(record)

    def unit_page(self, record: Mapping[str, Any], given: Mapping[str, Any]) -> UnitPage:
        from goldgate.suites.research.look.page import unit_page

        return unit_page(record, given)

    def stored(self, report: Report) -> Stored:
        from goldgate.suites.research.stored_report import stored

        return stored(report)

    def report_file(self, inputs: Inputs) -> str | None:
        """Beside the outputs, named after them."""
        outputs = str(inputs["outputs"][0])
        plain = outputs.rstrip("/" + os.sep)
        if os.path.basename(plain) in ("", ".", ".."):
            plain = os.path.realpath(outputs)
        return plain + ".report.json"


SUITE = ResearchSuite()
