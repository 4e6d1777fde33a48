"""Events of a document as records, role by role, and how many arguments are right once records are assigned.

An argument can only be right in the record that its own was assigned to. What was predicted and what is in the gold
does not depend on the assignment, so precision and recall are decided by the arguments that are right alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from goldgate.core.sums import Counts
from goldgate.suites.extraction.events.largest_matching import BitIndex, largest_of
from goldgate.suites.extraction.papers.best_assignment import best_assignment
from goldgate.suites.extraction.papers.read_events import Mention, PaperEvent

Record = Mapping[str, frozenset[str]]  # role → its values; a role without a value is not there


def records_by_type(events: Sequence[PaperEvent], value: Callable[[Mention], str]) -> dict[str, list[Record]]:
    """The records of each event type, in the order of the events. An event without an argument is no record."""
    found: dict[str, list[Record]] = {}
    for event_type, _, arguments, _ in events:
        values: dict[str, set[str]] = {}
        for role, mention in arguments:
            values.setdefault(role, set()).add(value(mention))
        if values:
            found.setdefault(event_type, []).append({role: frozenset(given) for role, given in values.items()})
    return found


def size(record: Record) -> int:
    """How many arguments a record has."""
    return sum(map(len, record.values()))


def right(record: Record, other: Record) -> int:
    """How many arguments two records have in common."""
    return sum(len(values & other[role]) for role, values in record.items() if role in other)


def doc2edag_pairs(predicted: Sequence[Record], gold: Sequence[Record]) -> list[tuple[Record, Record]]:
    """Predicted records with the gold records that Doc2EDAG assigns to them: greedily, and dependent on their order.

    Predicted records with more roles come first; each takes the gold record that is most like it of those left, where
    two records are alike in a role that both leave empty, too. Of equals, the first one is taken.

    Of a predicted record, right - |all roles of both| is right + |common roles| - |roles of gold| and what is its own.
    """
    index, pairs, left = BitIndex([[*_items(record), *record] for record in gold]), [], (1 << len(gold)) - 1
    of_size = BitIndex([(len(record),) for record in gold])
    sizes = sorted({len(record) for record in gold})
    for record in sorted(predicted, key=len, reverse=True):
        if not left:
            break
        counters = index.count([*_items(record), *record])
        largest = [(size, *largest_of(counters, left & of_size.having(size))) for size in sizes]
        most = max(count - size for size, count, places in largest if places)
        taken = min(places & -places for size, count, places in largest if places and count - size == most)
        left ^= taken
        pairs.append((record, gold[taken.bit_length() - 1]))
    return pairs


def as_doc2edag(predicted: Sequence[Record], gold: Sequence[Record]) -> int:
    """Arguments that are right as Doc2EDAG assigns records."""
    return sum(right(record, other) for record, other in doc2edag_pairs(predicted, gold))


def roles_as_doc2edag(predicted: Sequence[Record], gold: Sequence[Record]) -> dict[str, Counts]:
    """Of each role, the arguments that are right as Doc2EDAG assigns records, those predicted, and those of gold."""
    hits: Counter[str] = Counter()
    for record, other in doc2edag_pairs(predicted, gold):
        hits.update({role: len(values & other.get(role, frozenset())) for role, values in record.items()})
    ours, theirs = (_by_role(side) for side in (predicted, gold))
    return {role: (hits[role], ours[role], theirs[role]) for role in sorted({*ours, *theirs})}


def _by_role(records: Sequence[Record]) -> Counter[str]:
    found: Counter[str] = Counter()
    for record in records:
        found.update({role: len(values) for role, values in record.items()})
    return found


def as_duee_fin(predicted: Sequence[Record], gold: Sequence[Record]) -> int:
    """Arguments that are right as DuEE-Fin's rules have it: each gold record, in turn, takes its best prediction.

    Of equals, the first is taken; one in which nothing is right is left for others.
    """
    index, left, hits = BitIndex([*map(_items, predicted)]), (1 << len(predicted)) - 1, 0
    for record in gold:
        most, places = largest_of(index.count(_items(record)), left)
        if most:
            hits += most
            left ^= places & -places
    return hits


def at_best(predicted: Sequence[Record], gold: Sequence[Record]) -> int:
    """Arguments that are right under the best one-to-one assignment, whatever the order.

    Equal records are assigned to each other first, which costs nothing: for sets, |g ∩ p'| + |g' ∩ g| is at most
    |g| + |g' ∩ p'|.
    """
    ours, theirs = _counted(predicted), _counted(gold)
    equal = ours & theirs
    hits = sum(times * sum(len(values) for _, values in record) for record, times in equal.items())
    left, wanted = ([dict(record) for record in (side - equal).elements()] for side in (ours, theirs))
    if not left or not wanted:
        return hits
    index = BitIndex([*map(_items, left)])
    return hits + best_assignment([_levels(index.count(_items(record))) for record in wanted], len(left))


def _items(record: Record) -> list[tuple[str, str]]:
    """The arguments of a record, each with its role."""
    return [(role, value) for role, values in record.items() for value in values]


def _levels(counters: Sequence[int]) -> dict[int, int]:
    """What counters hold, turned round: a number above zero → the bits at which they hold it."""
    levels = {0: -1}
    for place, digit in enumerate(counters):
        parts = [(number + (1 << place), bits & digit) for number, bits in levels.items()]
        levels = {number: bits & ~digit for number, bits in levels.items()} | dict(parts)
        levels = {number: bits for number, bits in levels.items() if bits or not number}
    return {number: bits for number, bits in levels.items() if number and bits}


def whole(predicted: Sequence[Record], gold: Sequence[Record]) -> int:
    """Records that are right in every role; a gold record answers for one predicted record."""
    return (_counted(predicted) & _counted(gold)).total()


def _counted(records: Sequence[Record]) -> Counter[frozenset[tuple[str, frozenset[str]]]]:
    return Counter(frozenset(record.items()) for record in records)
