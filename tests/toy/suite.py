"""Question answering: is the answer right, are the sources those of the gold, is silence kept where they are silent?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, TypedDict

from goldgate.core.contracts import CountedRecord, ErrorReport, PlainReport
from goldgate.core.finding import Finding
from goldgate.core.gate import Gate
from goldgate.core.measure import RatioMeasure, over, precision_recall_f1
from goldgate.core.suite import Contract, Measure
from goldgate.core.sums import Counts
from goldgate.readers.joined_suite import JoinedSuite, JoinedWork


class Gold(TypedDict):
    """A question; its answer is null where the sources have none."""

    id: str | int
    question: str
    answer: str | None
    sources: list[str]


class Prediction(TypedDict):
    """An answer, null for none, and the sources that it names."""

    id: str | int
    answer: str | None
    citations: list[str]


class Facts(TypedDict):
    """A sample, compared. It is also its record."""

    id: str
    answerable: bool
    answered: bool | None  # None: there is no prediction
    right: bool
    cited: list[str]
    sources: list[str]


class Record(Facts, CountedRecord):
    """A line of samples.jsonl."""


@dataclass(frozen=True)
class QaSettings:
    """The section `qa` of a protocol."""

    case_sensitive: bool = False


class Answers(RatioMeasure[Facts]):
    """exact_match = right answers / answerable questions; abstention = unanswered / unanswerable questions."""

    table = "answers"
    columns = ("right", "answerable", "silent", "unanswerable")
    ratios = {
        "exact_match": over("right", "answerable", "no question has an answer"),
        "abstention": over("silent", "unanswerable", "every question has an answer"),
    }

    def row(self, facts: Facts) -> Counts:
        right = int(facts["right"])
        return (right, 1, 0, 0) if facts["answerable"] else (0, 0, right, 1)


class Citations(RatioMeasure[Facts]):
    """Cited sources that are in the gold: over those cited, over those in the gold."""

    table = "citations"
    columns = ("hits", "cited", "sources")
    ratios = precision_recall_f1("citation_", "hits", "cited", "sources")

    def row(self, facts: Facts) -> Counts:
        cited, sources = {*facts["cited"]}, {*facts["sources"]}
        return len(cited & sources), len(cited), len(sources)


class QaWork(JoinedWork[Facts]):
    gold_kind = Gold
    prediction_kind = Prediction

    def compare(self, identity: str, gold: Gold, prediction: Prediction | None) -> Facts:
        wanted, said = gold["answer"], prediction and prediction["answer"]
        fold = str if self.settings.case_sensitive else str.casefold
        same = said is wanted if said is None or wanted is None else fold(said) == fold(wanted)
        return {
            "id": identity,
            "answerable": wanted is not None,
            "answered": None if prediction is None else said is not None,
            "right": prediction is not None and same,
            "cited": prediction["citations"] if prediction else [],
            "sources": gold["sources"],
        }

    def findings(self, facts: Facts) -> Iterable[Finding]:
        if facts["answered"] is None:
            yield Finding("missing_prediction", "error", "predictions", None, "", "no prediction", facts["id"])


class QaSuite(JoinedSuite):
    name = "qa"
    about = "Score stored answers with citations."
    section = "qa"
    settings = QaSettings
    work = QaWork
    metrics_version = "1.0"
    headline = ("exact_match", "citation_f1")
    default_gates: ClassVar[Mapping[str, Gate]] = {"exact_match": Gate(min=Decimal("0.5"))}
    contracts: ClassVar[Mapping[str, Contract]] = {
        "qa_gold.schema.json": ("Gold record of the qa suite", Gold),
        "qa_predictions.schema.json": ("Prediction record of the qa suite", Prediction),
        "qa_report.schema.json": ("Report of the qa suite", PlainReport | ErrorReport),
        "qa_sample.schema.json": ("Sample, a line of samples.jsonl", Record),
    }

    def measures(self, settings: QaSettings) -> Sequence[Measure[Facts]]:
        return [Answers(), Citations()]


SUITE = QaSuite()
