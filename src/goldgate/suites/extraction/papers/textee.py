"""Triggers and arguments, identified and classified, as TextEE counts them (Huang et al., Findings of ACL 2024).

Every count is one of sets of keys, one sample at a time. A place is a pair of offsets, or the normalized words in a
sample in which something has no offsets. By offsets, words that normalize to nothing and empty roles count like others.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import chain
from typing import NamedTuple

from goldgate.core.measure import EACH, Over, RatioMeasure, precision_recall_f1
from goldgate.core.sums import Counts
from goldgate.suites.extraction.events.form import form_of
from goldgate.suites.extraction.papers.read_events import Mention, PaperEvent, gold_events, predicted_events
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

# The family, and what it is called in TextEE's paper: TI, TC, AI, AC, AI+, AC+.
FAMILIES = ("ti", "tc", "ai", "ac", "ai_plus", "ac_plus")
BY_OFFSETS, BY_TEXT = "textee_by_offsets", "textee_by_text"

Keys = set[tuple[Hashable, ...]]


def _ratios() -> dict[str, Over]:
    found: dict[str, Over] = {}
    for family in FAMILIES:
        hits, predicted, gold = (f"{family}_{side}" for side in ("hits", "predicted", "gold"))
        found |= precision_recall_f1(f"textee_{family}_", hits, predicted, gold)
    return found


class Textee(RatioMeasure[Facts]):
    """TP = |P ∩ G| of sets of keys, summed over samples; P = TP / |P|, R = TP / |G|, F1 = 2 TP / (|P| + |G|).

    ti: (trigger); tc: (trigger, event type); ai: (event type, argument); ac: and the role; ai_plus and ac_plus: and
    the trigger. The source is `TextEE/scorer.py` of github.com/ej0cl6/TextEE.
    """

    section = "papers"
    table = "textee"
    columns = (
        *(f"{family}_{side}" for family in FAMILIES for side in ("hits", "predicted", "gold")),
        BY_OFFSETS,
        BY_TEXT,
        EACH,
    )
    single = frozenset({BY_OFFSETS, BY_TEXT, EACH})
    ratios = _ratios()
    counted = {BY_OFFSETS: BY_OFFSETS, BY_TEXT: BY_TEXT}

    def __init__(self, settings: ExtractionSettings) -> None:
        self.form = form_of(settings.response)

    def units(self, facts: Facts) -> Counts:
        return textee_counts(predicted_events(facts, self.form), gold_events(facts))


def textee_counts(predicted: Sequence[PaperEvent], gold: Sequence[PaperEvent]) -> Counts:
    """What a sample counts, in the order of the columns."""
    by_offsets = all(mention.span is not None for event in (*predicted, *gold) for mention in _mentions(event))
    ours, theirs = (_Keys.of(events, by_offsets) for events in (predicted, gold))
    counts: list[int] = []
    for one, other in zip(ours, theirs, strict=True):
        counts += (len(one & other), len(one), len(other))
    return (*counts, int(by_offsets), int(not by_offsets), 1)


class _Keys(NamedTuple):
    """The keys of one side, family by family."""

    ti: Keys
    tc: Keys
    ai: Keys
    ac: Keys
    ai_plus: Keys
    ac_plus: Keys

    @staticmethod
    def of(events: Sequence[PaperEvent], by_offsets: bool) -> _Keys:
        keys = _Keys(set(), set(), set(), set(), set(), set())
        for event_type, triggers, *arguments in events:
            places = [place for trigger in triggers if (place := _place(trigger, by_offsets))]
            keys.ti.update((place,) for place in places)
            keys.tc.update((place, event_type) for place in places)
            at = places[0] if places else None  # what arguments are attached to: without a trigger, nothing
            for role, mention in chain(*arguments):
                argument = _place(mention, by_offsets)
                if not argument:
                    continue
                keys.ai.add((event_type, argument))
                keys.ac.add((event_type, argument, role))
                keys.ai_plus.add((at, event_type, argument))
                keys.ac_plus.add((at, event_type, argument, role))
        return keys


def _place(mention: Mention, by_offsets: bool) -> tuple[int, ...] | str | None:
    """Offsets, or words: empty where they normalize to nothing."""
    return mention.span if by_offsets else mention.text


def _mentions(event: PaperEvent) -> list[Mention]:
    return [*event.triggers, *(mention for _, mention in (*event.arguments, *event.without_unit))]
