"""Limits of an answer that no honest one reaches, so that its author cannot set the cost of scoring it.

What lies beyond is counted: it is predicted and wrong. Values that equal gold's are kept before anything else, and of
the rest the first in canonical order, so that the order of an answer changes no number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from heapq import nsmallest
from typing import TYPE_CHECKING, Final

from goldgate.core.value_text import first_values

if TYPE_CHECKING:
    from goldgate.suites.extraction.events import AllowedRoles, ArgumentColumns, RoleArgument, Units

# The longest list of values in some 9,000 real answers has 1,081.
MAX_ROLE_VALUES: Final = 2_000  # of one role, or twice as many as gold has there
MAX_VALUES: Final = 20_000  # of all roles together, or twice as many as gold has
MAX_CHARACTERS: Final = 500_000  # of all normalized values together, or twice as many as gold's have
MAX_UNKNOWN_TYPES: Final = 1_000  # that neither the event schema nor the gold of the sample has
MAX_UNKNOWN_ROLES: Final = 1_000  # of all event types together, likewise
MAX_SEARCHED: Final = 5_000  # distinct values that are searched in the source text
MAX_NAME: Final = 200  # characters of an unknown event type or role; longer ones are told apart by a digest
MAX_LISTED: Final = 100  # violations of a name in one answer; the others are counted

BEYOND: Final = "(too many)"  # the event type and role under which what is left out is counted

_Values = dict[str, dict[str, set[str]]]  # event type → role → normalized values


@dataclass(slots=True)
class Excess:
    """What lies beyond the limits: distinct values by event type and role, and event types."""

    by_role: defaultdict[str, defaultdict[str, int]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(int))
    )
    values: int = 0
    types: int = 0
    bare_types: int = 0  # of these, the ones without a value

    def add(self, event_type: str, role: str, values: int) -> None:
        if values:
            self.by_role[event_type][role] += values
            self.values += values


class Limits:
    """The limits of the answer to one sample: they depend on its gold, and on the event schema if there is one."""

    def __init__(self, gold: Units, schema: AllowedRoles) -> None:
        self.gold = gold
        self.schema = schema

    def exceeded_by(self, columns: list[ArgumentColumns]) -> bool:
        """False if no limit can be reached, which costs next to nothing to say."""
        if len(columns) > MAX_UNKNOWN_TYPES:
            return True
        values = characters = 0
        for event_type, roles, _, arguments, _ in columns:
            values += len(roles)
            characters += sum(map(len, arguments))
            if len(event_type) > MAX_NAME or max(map(len, roles), default=0) > MAX_NAME:
                return True
        return values > MAX_UNKNOWN_ROLES or characters > MAX_CHARACTERS

    def cut(self, columns: list[ArgumentColumns]) -> tuple[list[ArgumentColumns], Excess | None]:
        """The columns of an answer within the limits, and what lies beyond if anything does."""
        columns = [*map(self._with_short_names, columns)]
        values: _Values = {}
        for event_type, roles, _, arguments, _ in columns:
            _add_values(values, event_type, zip(roles, arguments, strict=True))
        gold: _Values = {}
        for event_type, pairs in self.gold.items():
            _add_values(gold, event_type, pairs)
        excess = Excess()
        unknown = sorted(name for name in values if name not in gold and name not in self.schema)
        for name in unknown[MAX_UNKNOWN_TYPES:]:
            excess.add(BEYOND, BEYOND, sum(map(len, values[name].values())))
            excess.types += 1
            excess.bare_types += not values.pop(name)
        roles_of = (*values.items(),)
        unknown_roles = sorted((name, role) for name, of in roles_of for role in of if not self._has(name, role))
        for name, role in unknown_roles[MAX_UNKNOWN_ROLES:]:
            excess.add(name, BEYOND, len(values[name].pop(role)))
        _cut_values(values, gold, excess)
        return ([*_kept(columns, values)], excess) if excess.values or excess.types else (columns, None)

    def _has(self, event_type: str, role: str) -> bool:
        """Whether a role is one of the event schema or of gold."""
        return role in self.schema.get(event_type, ()) or (event_type, role) in self._gold_roles

    @cached_property
    def _gold_roles(self) -> set[tuple[str, str]]:
        return {(event_type, role) for event_type, pairs in self.gold.items() for role, _ in pairs}

    def _with_short_names(self, columns: ArgumentColumns) -> ArgumentColumns:
        event_type, roles, texts, arguments, spans = columns
        roles = [role if len(role) <= MAX_NAME or self._has(event_type, role) else _short_name(role) for role in roles]
        keeps_type = len(event_type) <= MAX_NAME or event_type in self.gold or event_type in self.schema
        return event_type if keeps_type else _short_name(event_type), roles, texts, arguments, spans


def _add_values(values: _Values, event_type: str, pairs: Iterable[RoleArgument]) -> None:
    """Add the values of an event by role."""
    by_role = values.setdefault(event_type, {})
    for role, argument in pairs:
        if role in by_role:
            by_role[role].add(argument)
        else:
            by_role[role] = {argument}


def _cut_values(values: _Values, gold: _Values, excess: Excess) -> None:
    """Leave out the values that are too many for their role, then those that are too many for the answer."""
    hits: dict[tuple[str, str], set[str]] = {}
    for name, by_role in values.items():
        for role, arguments in by_role.items():
            gold_arguments = gold.get(name, {}).get(role, set())
            hits[name, role] = arguments & gold_arguments
            by_role[role] = first_values(arguments, gold_arguments, max(MAX_ROLE_VALUES, 2 * len(gold_arguments)))
            excess.add(name, role, len(arguments) - len(by_role[role]))
    ours, theirs = _texts(values), _texts(gold)
    most, characters = max(MAX_VALUES, 2 * len(theirs)), max(MAX_CHARACTERS, 2 * sum(map(len, theirs)))
    if len(ours) <= most and sum(map(len, ours)) <= characters:
        return
    others = ((*pair, argument) for pair, hit in hits.items() for argument in values[pair[0]][pair[1]] - hit)
    kept = {pair: {*hit} for pair, hit in hits.items()}
    characters -= sum(len(argument) for hit in hits.values() for argument in hit)
    for name, role, argument in nsmallest(most - sum(map(len, hits.values())), others):
        characters -= len(argument)
        if characters < 0:
            break
        kept[name, role].add(argument)
    for (name, role), arguments in kept.items():
        excess.add(name, role, len(values[name][role]) - len(arguments))
        values[name][role] = arguments


def _texts(values: _Values) -> list[str]:
    return [argument for by_role in values.values() for arguments in by_role.values() for argument in arguments]


def _kept(columns: list[ArgumentColumns], values: _Values) -> Iterator[ArgumentColumns]:
    for event_type, roles, texts, arguments, spans in columns:
        by_role = values.get(event_type)
        if by_role is not None:
            kept = [at for at, role in enumerate(roles) if arguments[at] in by_role.get(role, ())]
            yield (
                event_type,
                [roles[at] for at in kept],
                [texts[at] for at in kept],
                [arguments[at] for at in kept],
                None if spans is None else [spans[at] for at in kept],
            )


def _short_name(name: str) -> str:
    """A name short enough to be repeated wherever it is counted; names that differ stay different."""
    if len(name) <= MAX_NAME:
        return name
    return f"{name[:MAX_NAME]}… ({sha256(name.encode('utf-8', 'replace')).hexdigest()[:12]})"
