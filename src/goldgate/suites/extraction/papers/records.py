"""Events as papers score them: triggers, offsets, and records of a document with the arguments that are right.

Also the base of measures that count each event type by itself.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from goldgate.core.assignment import best_pairs, mask_of, total_weight
from goldgate.core.measure import RatioMeasure
from goldgate.core.sums import Counts
from goldgate.core.tally import UnitCounts
from goldgate.core.value_text import Blanks, normalizer
from goldgate.response import Status
from goldgate.suites.extraction.events import NO_SPAN, Events, event_list
from goldgate.suites.extraction.events.answer_form import Form
from goldgate.suites.extraction.records import Facts

# Where a trigger begins: in our own form, and in DuEE 1.0, which does not say where it ends.
_STARTS = ("start", "trigger_start_index")


class Mention(NamedTuple):
    """Some words: as they were written, normalized, and where they stand, if that was said.

    Words that normalize to nothing are a mention where they have a place: offsets, or the numbers of empty tokens.
    """

    written: str
    text: str
    span: tuple[int, ...] | None


class PaperArgument(NamedTuple):
    """A role and the words that fill it."""

    role: str
    mention: Mention


class PaperEvent(NamedTuple):
    """An event as papers score it. It may have no trigger, and has several where it is mentioned several times."""

    event_type: str
    triggers: tuple[Mention, ...]
    arguments: tuple[PaperArgument, ...]
    without_unit: tuple[PaperArgument, ...] = ()  # arguments with an empty role, or words that normalize to nothing


def gold_events(facts: Facts) -> list[PaperEvent]:
    """The events of the gold record."""
    gold = facts.sample.gold
    return paper_events(gold.events, gold.event_list)


def predicted_events(facts: Facts, form: Form) -> list[PaperEvent]:
    """The events of the answer; none where there is no answer, or none that could be read."""
    parsed, sample = facts.parsed, facts.sample
    if parsed is None or parsed.status == Status.ERROR:
        return []
    value = parsed.value
    if sample.response is None and isinstance(value, list):
        value = form.as_answer(value)
    events = event_list(form.to_canonical(value, tuple(sample.gold.events.units)))
    return paper_events(facts.predicted, () if events is None else events.items)


def paper_events(events: Events, items: Sequence[Any]) -> list[PaperEvent]:
    """Events with the triggers that the list has for them. An event without a type is none, and has none."""
    typed = [item for item in items if _has_type(item)]
    with_triggers = []
    for number, (event_type, roles, texts, normalized, spans) in enumerate(events.columns):
        arguments = tuple(
            PaperArgument(role, Mention(text, normalized[place], None if span == NO_SPAN else span))
            for place, (role, text, span) in enumerate(zip(roles, texts, spans or [None] * len(roles), strict=True))
        )
        item = typed[number] if number < len(typed) else {}
        with_triggers.append(
            PaperEvent(event_type, _triggers(item, events.blanks), arguments, _without_unit(item, events.blanks))
        )
    return with_triggers


def _has_type(item: Any) -> bool:
    return type(item) is dict and type(item.get("event_type")) is str and bool(item["event_type"].strip())


def _triggers(item: dict[str, Any], blanks: Blanks) -> tuple[Mention, ...]:
    """The trigger of an event (words with the event's own offsets, or an object that has both), and other mentions."""
    trigger, mentions = item.get("trigger"), item.get("mentions")
    objects = [trigger if type(trigger) is dict else item | {"text": trigger}]
    if type(mentions) is list:
        objects += [mention for mention in mentions if type(mention) is dict]
    return tuple(dict.fromkeys(mention for part in objects if (mention := _mention(part, blanks)) is not None))


def _without_unit(item: dict[str, Any], blanks: Blanks) -> tuple[PaperArgument, ...]:
    """The arguments that a published scorer counts by their offsets, although they give no unit."""
    entries = item.get("arguments")
    arguments = []
    for argument in entries if type(entries) is list else ():
        if type(argument) is dict and type(argument.get("role")) is str:
            role, mention = argument["role"].strip(), _mention(argument, blanks, "argument")
            if mention is not None and not (role and mention.text):
                arguments.append(PaperArgument(role, mention))
    return tuple(arguments)


def _mention(part: dict[str, Any], blanks: Blanks, key: str = "text") -> Mention | None:
    words = part.get(key)
    if type(words) is not str:
        return None
    text, span = normalizer(blanks)(words), _span(part, words)
    return Mention(words, text, span) if text or span is not None else None


def _span(place: dict[str, Any], text: str) -> tuple[int, ...] | None:
    """The offsets of some words; of empty tokens, their numbers behind offsets that no words have."""
    first, last = place.get("token_start"), place.get("token_end")
    if not text and type(first) is int and type(last) is int:
        return -1, -1, first, last
    start = next((place[key] for key in _STARTS if place.get(key) is not None), None)
    if type(start) is not int:
        return None
    end = place.get("end") if place.get("start") is not None else start + len(text)
    return (start, end) if type(end) is int and 0 <= start < end else None


PaperRecord = Mapping[str, frozenset[str]]  # role → its values; a role without a value is not there


def records_by_type(events: Sequence[PaperEvent], value: Callable[[Mention], str]) -> dict[str, list[PaperRecord]]:
    """The records of each event type, in the order of the events. An event without an argument is no record."""
    records: dict[str, list[PaperRecord]] = {}
    for event_type, _, arguments, _ in events:
        values: dict[str, set[str]] = {}
        for role, mention in arguments:
            values.setdefault(role, set()).add(value(mention))
        if values:
            records.setdefault(event_type, []).append({role: frozenset(texts) for role, texts in values.items()})
    return records


def argument_count(record: PaperRecord) -> int:
    """How many arguments a record has."""
    return sum(map(len, record.values()))


def right_arguments(record: PaperRecord, other: PaperRecord) -> int:
    """How many arguments two records have in common."""
    return sum(len(values & other[role]) for role, values in record.items() if role in other)


def assign_as_doc2edag(
    predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]
) -> list[tuple[PaperRecord, PaperRecord]]:
    """Predicted records with the gold records that Doc2EDAG assigns to them: greedily, and dependent on their order.

    Predicted records with more roles come first; each takes the gold record that is most like it of those left, where
    two records are alike in a role that both leave empty, too. Of equals, the first one is taken.
    """
    left, pairs = [*gold], []
    for record in sorted(predicted, key=len, reverse=True)[: len(gold)]:
        taken = max(left, key=lambda other: right_arguments(record, other) - len(record.keys() | other.keys()))
        left.remove(taken)
        pairs.append((record, taken))
    return pairs


def doc2edag_hits(predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]) -> int:
    """Arguments that are right as Doc2EDAG assigns records."""
    return sum(right_arguments(record, other) for record, other in assign_as_doc2edag(predicted, gold))


def doc2edag_role_hits(predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]) -> dict[str, Counts]:
    """By role, the arguments that are right as Doc2EDAG assigns records, those predicted, and those of gold."""
    hits: Counter[str] = Counter()
    for record, other in assign_as_doc2edag(predicted, gold):
        hits.update({role: len(values & other.get(role, frozenset())) for role, values in record.items()})
    ours, theirs = (_by_role(side) for side in (predicted, gold))
    return {role: (hits[role], ours[role], theirs[role]) for role in sorted({*ours, *theirs})}


def _by_role(records: Sequence[PaperRecord]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for record in records:
        counts.update({role: len(values) for role, values in record.items()})
    return counts


def duee_fin_hits(predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]) -> int:
    """Arguments that are right as DuEE-Fin's rules have it: each gold record, in turn, takes its best prediction.

    Of equals, the first is taken; one in which nothing is right is left for others.
    """
    left, hits = [*predicted], 0
    for record in gold:
        counts = [right_arguments(record, other) for other in left]
        if most := max(counts, default=0):
            hits += most
            del left[counts.index(most)]
    return hits


def best_hits(predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]) -> int:
    """Arguments that are right under the best one-to-one assignment, whatever the order.

    Equal records are assigned to each other first, which costs nothing: for sets, |g ∩ p'| + |g' ∩ g| is at most
    |g| + |g' ∩ p'|.
    """
    ours, theirs = _argument_counter(predicted), _argument_counter(gold)
    equal = ours & theirs
    hits = sum(times * sum(len(values) for _, values in record) for record, times in equal.items())
    left, right = ([dict(record) for record in (side - equal).elements()] for side in (ours, theirs))
    if not left or not right:
        return hits
    rows = []
    for record in right:
        columns: dict[int, list[int]] = {}  # those with each weight
        for column, other in enumerate(left):
            if weight := right_arguments(record, other):
                columns.setdefault(weight, []).append(column)
        rows.append([(weight, mask_of(of_weight)) for weight, of_weight in columns.items()])
    return hits + total_weight(rows, best_pairs(rows, len(left)))


def right_records(predicted: Sequence[PaperRecord], gold: Sequence[PaperRecord]) -> int:
    """Records that are right in every role; a gold record answers for one predicted record."""
    return (_argument_counter(predicted) & _argument_counter(gold)).total()


def _argument_counter(records: Sequence[PaperRecord]) -> Counter[frozenset[tuple[str, frozenset[str]]]]:
    return Counter(frozenset(record.items()) for record in records)


def add_beyond_limits(by_type: Mapping[str, Counts], facts: Facts, place: int, columns: int) -> dict[str, Counts]:
    """The counts of each event type with the values that an answer has beyond its limits: predicted, at this place."""
    summed = dict(by_type)
    for event_type, by_role in ({} if facts.predicted.excess is None else facts.predicted.excess.by_role).items():
        counts = [*summed.get(event_type, (0,) * columns)]
        counts[place] += sum(by_role.values())
        summed[event_type] = (*counts,)
    return summed


class EventTypeRates(RatioMeasure[Facts]):
    """Rates whose counts for a sample are the sums over its event types."""

    section = "papers"
    parts = {"event type": "macro"}

    @abstractmethod
    def counts(self, facts: Facts) -> Mapping[str, Counts]:
        """What each event type of the sample counts."""

    def row(self, facts: Facts) -> Counts:
        return self.summed(self.counts(facts))

    def count(self, facts: Facts) -> UnitCounts:
        return self.by_table(self.counts(facts))

    def by_table(self, by_type: Mapping[str, Counts]) -> UnitCounts:
        """What a sample counts, and each event type in it."""
        unit: UnitCounts = {self.key: self.summed(by_type)}
        return unit | {(self.table, event_type): counts for event_type, counts in by_type.items()}

    def summed(self, by_type: Mapping[str, Counts]) -> Counts:
        """What the sample counts: the sum over its event types."""
        return tuple(map(sum, zip(*by_type.values(), strict=True))) if by_type else (0,) * len(self.columns)
