"""Relaxed precision, recall and F1 in which numbers and dates are compared by what they are worth."""

from __future__ import annotations

from collections.abc import Mapping

from goldgate.core.measure import precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.suites.extraction.events.candidates import kept_rows
from goldgate.suites.extraction.events.event import Events
from goldgate.suites.extraction.events.largest_matching import largest_matching
from goldgate.suites.extraction.events.relaxed_rule import relaxed_rule
from goldgate.suites.extraction.papers.by_event_type import ByEventType
from goldgate.suites.extraction.papers.value_rule import read_text, value_rows
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

ByRole = dict[str, dict[str, str]]  # role → normalized argument → as it was written


class Valued(ByEventType):
    """TP = size of the largest one-to-one matching within each (event type, role), under the rule of `value_rule`.

    The units are those of strict and relaxed matching; equal ones are always matched, so strict hits ≤ these.
    """

    table = "values"
    columns = ("hits", "predicted", "gold")
    known = frozenset({"gold"})
    ratios = precision_recall_f1("values_", "hits")

    def __init__(self, settings: ExtractionSettings) -> None:
        self.rule = relaxed_rule(settings.relaxed)

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        ours, theirs = _written(facts.predicted), _written(facts.sample.gold.events)
        found = {}
        for event_type in ours.keys() | theirs.keys():
            predicted, gold = ours.get(event_type, {}), theirs.get(event_type, {})
            if predicted or gold:
                hits = sum(self._hits(predicted[role], gold[role]) for role in predicted.keys() & gold.keys())
                found[event_type] = (hits, sum(map(len, predicted.values())), sum(map(len, gold.values())))
        return found

    def _hits(self, predicted: dict[str, str], gold: dict[str, str]) -> int:
        """How many arguments of a role the largest matching has. The order of the input makes no difference."""
        lefts, rights = sorted(predicted), sorted(gold)
        place = {argument: number for number, argument in enumerate(rights)}
        equal = {place[argument]: number for number, argument in enumerate(lefts) if argument in place}
        if len(equal) == min(len(lefts), len(rights)):
            return len(equal)
        ours, theirs = [read_text(predicted[a]) for a in lefts], [read_text(gold[b]) for b in rights]
        row = kept_rows(value_rows(ours, theirs, self.rule), len(rights))
        return len(largest_matching(len(lefts), len(rights), row, equal))


def _written(events: Events) -> dict[str, ByRole]:
    """Event type → role → its distinct arguments, each with the words that it was written in."""
    found: dict[str, ByRole] = {}
    for event_type, roles, texts, normalized, _ in events.columns:
        by_role = found.setdefault(event_type, {})
        for role, text, argument in zip(roles, texts, normalized, strict=True):
            known = by_role.setdefault(role, {})
            known[argument] = min(known.get(argument, text), text)  # of several ways to write it, always the same one
    return found
