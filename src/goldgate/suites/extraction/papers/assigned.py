"""Arguments of assigned records, as work on whole documents reports them, and DuEE-Fin's scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence

from goldgate.core.measure import Over, over, precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.suites.extraction.events.form import form_of
from goldgate.suites.extraction.papers.by_event_type import ByEventType
from goldgate.suites.extraction.papers.read_events import Mention, gold_events, predicted_events
from goldgate.suites.extraction.papers.records import (
    Record,
    as_duee_fin,
    at_best,
    records_by_type,
    size,
    whole,
)
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

Sides = tuple[Sequence[Record], Sequence[Record]]  # predicted, gold


class Assigned(ByEventType):
    """P = right / predicted arguments, R = right / gold arguments, F1 = 2 right / (predicted + gold).

    Three ways: as published, under the best one-to-one assignment, and over whole records. `below_best` is the share
    of assignments (an event type in a document, with records on both sides) in which the published one finds less
    than the best: there, order may have decided.
    """

    columns: tuple[str, ...] = (
        *("hits", "best", "predicted", "gold"),
        *("records", "predicted_records", "gold_records"),
        *("below_best", "assignments"),
    )
    known = frozenset({"gold", "gold_records"})

    def __init__(self, settings: ExtractionSettings) -> None:
        self.form = form_of(settings.response)

    @abstractmethod
    def assign(self, predicted: Sequence[Record], gold: Sequence[Record]) -> int:
        """How many arguments are right as records are assigned where this was published."""

    @abstractmethod
    def value(self, mention: Mention) -> str:
        """What is compared of an argument."""

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        return {event_type: self.of_type(*sides) for event_type, sides in self.records(facts).items()}

    def records(self, facts: Facts) -> dict[str, Sides]:
        """The predicted records and those of gold, event type by event type."""
        ours = records_by_type(predicted_events(facts, self.form), self.value)
        theirs = records_by_type(gold_events(facts), self.value)
        return {kind: (ours.get(kind, []), theirs.get(kind, [])) for kind in sorted(ours.keys() | theirs.keys())}

    def of_type(self, predicted: Sequence[Record], gold: Sequence[Record]) -> Counts:
        """What the records of one event type count."""
        hits, best = self.assign(predicted, gold), at_best(predicted, gold)
        return (
            *(hits, best, sum(map(size, predicted)), sum(map(size, gold))),
            *(whole(predicted, gold), len(predicted), len(gold)),
            *(int(hits < best), int(bool(predicted and gold))),
        )


def assigned_ratios(prefix: str) -> dict[str, Over]:
    """The rates under each way to assign."""
    return {
        **precision_recall_f1(f"{prefix}_", "hits"),
        **precision_recall_f1(f"{prefix}_best_", "best"),
        **precision_recall_f1(f"{prefix}_record_", "records", "predicted_records", "gold_records"),
        f"{prefix}_below_best": over("below_best", "assignments", "no event type has records on both sides"),
    }


class DueeFin(Assigned):
    """Values are compared normalized. The rules of the competition (LIC 2021) and of its baseline; its scorer is not
    public."""

    table = "duee_fin"
    ratios = assigned_ratios("duee_fin")

    def assign(self, predicted: Sequence[Record], gold: Sequence[Record]) -> int:
        return as_duee_fin(predicted, gold)

    def value(self, mention: Mention) -> str:
        return mention.text
