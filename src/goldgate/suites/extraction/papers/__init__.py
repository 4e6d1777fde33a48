"""Numbers that papers report, beside the specification's: what a profile of the protocol adds to a report.

TextEE (Huang et al., Findings of ACL 2024) counts triggers and arguments, identified and classified. Work on whole
documents counts the arguments of assigned records: DuEE-Fin, and Doc2EDAG (Zheng et al., EMNLP 2019).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Literal

from goldgate.core.measure import UNITS_COLUMN, ColumnRatio, RatioMeasure, over, precision_recall_f1
from goldgate.core.metric import Metrics
from goldgate.core.suite import Measure
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally, UnitCounts
from goldgate.suites.extraction.events.answer_form import form_of
from goldgate.suites.extraction.papers.records import (
    EventTypeRates,
    Mention,
    PaperEvent,
    PaperRecord,
    add_beyond_limits,
    argument_count,
    best_hits,
    doc2edag_hits,
    doc2edag_role_hits,
    duee_fin_hits,
    gold_events,
    predicted_events,
    records_by_type,
    right_records,
)
from goldgate.suites.extraction.papers.value_matching import ValueRates
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

# The family, and what it is called in TextEE's paper: TI, TC, AI, AC, AI+, AC+.
FAMILIES = ("ti", "tc", "ai", "ac", "ai_plus", "ac_plus")
BY_OFFSETS, BY_TEXT, WITHOUT_OFFSETS = "textee_by_offsets", "textee_by_text", "textee_without_offsets"

Keys = set[tuple[Hashable, ...]]


_FAMILY_COLUMNS = {family: (f"{family}_hits", f"{family}_predicted", f"{family}_gold") for family in FAMILIES}


class TexteeRates(RatioMeasure[Facts]):
    """TP = |P ∩ G| of sets of keys, summed over samples; P = TP / |P|, R = TP / |G|, F1 = 2 TP / (|P| + |G|).

    ti: (trigger); tc: (trigger, event type); ai: (event type, argument); ac: and the role; ai_plus and ac_plus: and
    the trigger. The source is `TextEE/scorer.py` of github.com/ej0cl6/TextEE.
    """

    section = "papers"
    table = "textee"
    columns = (*chain.from_iterable(_FAMILY_COLUMNS.values()), BY_OFFSETS, BY_TEXT, WITHOUT_OFFSETS, UNITS_COLUMN)
    ratios = {
        name: ratio
        for family, columns in _FAMILY_COLUMNS.items()
        for name, ratio in precision_recall_f1(f"textee_{family}_", *columns).items()
    }
    counted = {name: name for name in (BY_OFFSETS, BY_TEXT, WITHOUT_OFFSETS)}

    def __init__(self, settings: ExtractionSettings) -> None:
        self.form = form_of(settings.response)
        self.by_words = settings.profile_offsets == "words"

    def row(self, facts: Facts) -> Counts:
        counts = textee_counts(predicted_events(facts, self.form), gold_events(facts), by_words=self.by_words)
        if not (beyond := facts.predicted.beyond):
            return counts
        of_arguments = {f"{family}_predicted" for family in FAMILIES if family.startswith("a")}
        return (*(n + beyond * (name in of_arguments) for name, n in zip(self.columns, counts, strict=True)),)


def textee_counts(predicted: Sequence[PaperEvent], gold: Sequence[PaperEvent], *, by_words: bool = False) -> Counts:
    """What a sample counts, in the order of the columns. Gold decides how: an answer that could would leave out the
    offsets that it does not know."""
    by_offsets = not by_words and _have_offsets(gold)
    lacks_offsets = by_offsets and any(map(_all_mentions, gold)) and not _have_offsets(predicted)
    ours, theirs = (_textee_keys(events, by_offsets) for events in (predicted, gold))
    counts: list[int] = []
    for one, other in zip(ours, theirs, strict=True):
        counts += (len(one & other), len(one), len(other))
    return (*counts, int(by_offsets), int(not by_offsets), int(lacks_offsets), 1)


def _have_offsets(events: Sequence[PaperEvent]) -> bool:
    return all(mention.span is not None for event in events for mention in _all_mentions(event))


def _textee_keys(events: Sequence[PaperEvent], by_offsets: bool) -> tuple[Keys, ...]:
    """The keys of one side, family by family."""
    ti, tc, ai, ac, ai_plus, ac_plus = families = tuple(Keys() for _ in FAMILIES)
    for event_type, triggers, *arguments in events:
        places = [place for trigger in triggers if (place := _key_place(trigger, by_offsets))]
        ti.update((place,) for place in places)
        tc.update((place, event_type) for place in places)
        at = places[0] if places else None  # what arguments are attached to: without a trigger, nothing
        for role, mention in chain(*arguments):
            if argument := _key_place(mention, by_offsets):
                ai.add((event_type, argument))
                ac.add((event_type, argument, role))
                ai_plus.add((at, event_type, argument))
                ac_plus.add((at, event_type, argument, role))
    return families


def _key_place(mention: Mention, by_offsets: bool) -> tuple[int, ...] | str | None:
    """Offsets, or words: empty where they normalize to nothing. Words without offsets are like no offsets of gold."""
    return mention.span if by_offsets and mention.span is not None else mention.text


def _all_mentions(event: PaperEvent) -> list[Mention]:
    return [*event.triggers, *(mention for _, mention in (*event.arguments, *event.without_unit))]


Sides = tuple[Sequence[PaperRecord], Sequence[PaperRecord]]  # predicted, gold


class AssignedRates(EventTypeRates):
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
    compared_text: Literal["text", "written"]  # of an argument: normalized, or as it was written

    def __init__(self, settings: ExtractionSettings) -> None:
        self.form = form_of(settings.response)

    @staticmethod
    @abstractmethod
    def assign(predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]) -> int:
        """How many arguments are right as records are assigned where this was published."""

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        by_type = {event_type: self.of_type(*sides) for event_type, sides in self.records(facts).items()}
        if facts.predicted.excess is not None:  # a record of which a wrong value was cut off is not right
            place = AssignedRates.columns.index("records")
            by_type = {name: (*counts[:place], 0, *counts[place + 1 :]) for name, counts in by_type.items()}
        return add_beyond_limits(by_type, facts, self.columns.index("predicted"), len(AssignedRates.columns))

    def records(self, facts: Facts) -> dict[str, Sides]:
        """The predicted records and those of gold, event type by event type."""
        events = predicted_events(facts, self.form), gold_events(facts)
        ours, theirs = (records_by_type(side, attrgetter(self.compared_text)) for side in events)
        return {kind: (ours.get(kind, []), theirs.get(kind, [])) for kind in sorted(ours.keys() | theirs.keys())}

    def of_type(self, predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]) -> Counts:
        """What the records of one event type count."""
        hits, best = self.assign(predicted, gold), best_hits(predicted, gold)
        return (
            *(hits, best, sum(map(argument_count, predicted)), sum(map(argument_count, gold))),
            *(right_records(predicted, gold), len(predicted), len(gold)),
            *(int(hits < best), int(bool(predicted and gold))),
        )


def assigned_ratios(prefix: str) -> dict[str, ColumnRatio]:
    """The rates under each way to assign."""
    return {
        **precision_recall_f1(f"{prefix}_", "hits"),
        **precision_recall_f1(f"{prefix}_best_", "best"),
        **precision_recall_f1(f"{prefix}_record_", "records", "predicted_records", "gold_records"),
        f"{prefix}_below_best": over("below_best", "assignments", "no event type has records on both sides"),
    }


class DueeFinRates(AssignedRates):
    """Values are compared normalized. The rules of the competition (LIC 2021) and of its baseline; its scorer is not
    public."""

    table = "duee_fin"
    ratios = assigned_ratios("duee_fin")
    compared_text = "text"
    assign = staticmethod(duee_fin_hits)


class Doc2edagRates(AssignedRates):
    """Values are compared as they were written.

    `multi`: documents with more than one gold record, of whatever types; `single`: all others.
    """

    table = "doc2edag"
    columns: tuple[str, ...] = (
        *AssignedRates.columns,
        *("single_hits", "single_predicted", "single_gold"),
        *("multi_hits", "multi_predicted", "multi_gold"),
    )
    ratios = {
        **assigned_ratios("doc2edag"),
        **precision_recall_f1("doc2edag_single_", "single_hits", "single_predicted", "single_gold"),
        **precision_recall_f1("doc2edag_multi_", "multi_hits", "multi_predicted", "multi_gold"),
    }

    compared_text = "written"
    assign = staticmethod(doc2edag_hits)

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        by_type, gold_records = super().counts(facts), self.columns.index("gold_records")
        is_multi = sum(counts[gold_records] for counts in by_type.values()) > 1
        with_own = {}
        for event_type, counts in by_type.items():
            hits, _, predicted, gold = counts[:4]
            none, own = (0, 0, 0), (hits, predicted, gold)
            with_own[event_type] = (*counts, *(none + own if is_multi else own + none))
        return with_own


class Doc2edagRoleRates(EventTypeRates):
    """`Doc2edag` role by role: every role of an event type has a table of its own. Together they are `doc2edag`."""

    table = "doc2edag_role"
    columns = ("hits", "predicted", "gold")
    parts = {**EventTypeRates.parts, "role": "macro_roles"}
    ratios = precision_recall_f1("doc2edag_role_", "hits")

    def __init__(self, settings: ExtractionSettings) -> None:
        self._whole = Doc2edagRates(settings)

    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        return {event_type: self.summed(roles) for event_type, roles in self._roles(facts).items()}

    def count(self, facts: Facts) -> UnitCounts:
        by_type = self._roles(facts)
        unit = self.by_table({event_type: self.summed(roles) for event_type, roles in by_type.items()})
        for event_type, roles in by_type.items():
            for role, counts in roles.items():
                unit[self.table, event_type, role] = counts
        return unit

    def metrics(self, tally: Tally) -> Metrics:
        """No metrics: over all roles they would be those of `doc2edag`."""
        return {}

    def _roles(self, facts: Facts) -> dict[str, dict[str, Counts]]:
        by_type = {kind: doc2edag_role_hits(*sides) for kind, sides in self._whole.records(facts).items()}
        for kind, excess in ({} if facts.predicted.excess is None else facts.predicted.excess.by_role).items():
            roles = by_type.setdefault(kind, {})
            for role, values in excess.items():
                hits, predicted, gold = roles.get(role, (0, 0, 0))
                roles[role] = hits, predicted + values, gold
        return by_type


# The measures of each profile. A new one is a file and a line here, and its name in the settings.
PROFILES: dict[str, tuple[Callable[[ExtractionSettings], Measure[Facts]], ...]] = {
    "textee": (TexteeRates,),
    "doc2edag": (Doc2edagRates, Doc2edagRoleRates),
    "duee-fin": (DueeFinRates,),
    "values": (ValueRates,),
}
ALL = "all"


def profile_measures(settings: ExtractionSettings) -> list[Measure[Facts]]:
    """The measures that the protocol's profile adds; none without a profile."""
    chosen = settings.profile
    return [make(settings) for name, made in PROFILES.items() if chosen in (name, ALL) for make in made]
