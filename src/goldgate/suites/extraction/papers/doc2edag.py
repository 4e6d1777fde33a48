"""Doc2EDAG's scores (Zheng et al., EMNLP 2019): by event type and role, and by how many records a document has.

The source is github.com/dolphin-zs/Doc2EDAG: `dee/dee_metric.py`; the two kinds of documents are in
`dee/dee_helper.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from goldgate.core.measure import precision_recall_f1
from goldgate.core.metric import Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.suites.extraction.papers.assigned import Assigned, assigned_ratios
from goldgate.suites.extraction.papers.by_event_type import ByEventType
from goldgate.suites.extraction.papers.read_events import Mention
from goldgate.suites.extraction.papers.records import Record, as_doc2edag, roles_as_doc2edag
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

_NOTHING = (0, 0, 0)


class Doc2edag(Assigned):
    """Values are compared as they were written.

    `multi`: documents with more than one gold record, of whatever types; `single`: all others.
    """

    table = "doc2edag"
    columns: tuple[str, ...] = (
        *Assigned.columns,
        *("single_hits", "single_predicted", "single_gold"),
        *("multi_hits", "multi_predicted", "multi_gold"),
    )
    known = Assigned.known | {"single_gold", "multi_gold"}
    ratios = {
        **assigned_ratios("doc2edag"),
        **precision_recall_f1("doc2edag_single_", "single_hits", "single_predicted", "single_gold"),
        **precision_recall_f1("doc2edag_multi_", "multi_hits", "multi_predicted", "multi_gold"),
    }

    def assign(self, predicted: Sequence[Record], gold: Sequence[Record]) -> int:
        return as_doc2edag(predicted, gold)

    def value(self, mention: Mention) -> str:
        return mention.written

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        records = self.records(facts)
        is_multi = sum(len(gold) for _, gold in records.values()) > 1
        found = {}
        for event_type, sides in records.items():
            counts = self.of_type(*sides)
            hits, _, predicted, gold = counts[:4]
            own = (hits, predicted, gold)
            found[event_type] = (*counts, *(_NOTHING if is_multi else own), *(own if is_multi else _NOTHING))
        return found


class Doc2edagRoles(ByEventType):
    """The same, role by role: every role of an event type has a table of its own. Together they are `doc2edag`."""

    table = "doc2edag_role"
    columns = ("hits", "predicted", "gold")
    known = frozenset({"gold"})
    parts = {**ByEventType.parts, "role": "macro_roles"}
    ratios = precision_recall_f1("doc2edag_role_", "hits")

    def __init__(self, settings: ExtractionSettings) -> None:
        self._whole = Doc2edag(settings)

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        return {event_type: self.summed(roles) for event_type, roles in self._roles(facts).items()}

    def count(self, facts: Facts, tally: Tally) -> None:
        found = self._roles(facts)
        self.add({event_type: self.summed(roles) for event_type, roles in found.items()}, tally)
        for event_type, roles in found.items():
            for role, counts in roles.items():
                tally.add((self.table, event_type, role), self.forms, counts)

    def metrics(self, tally: Tally) -> Metrics:
        """None: over all roles they are those of `doc2edag`."""
        return {}

    def _roles(self, facts: Facts) -> dict[str, dict[str, Counts]]:
        return {kind: roles_as_doc2edag(*sides) for kind, sides in self._whole.records(facts).items()}
