"""Whether a thought names the arguments of an answer: the rule, a quick look for the usual case, and all at once.

The rule (`first_missing_plainly`): an argument is there if its normalized value is in the normalized
thought; if lines count, on a line that also names its role. `first_missing` gives the same.
"""

from __future__ import annotations

from typing import NamedTuple, final

from goldgate.suites.extraction.events.event import Events, Unit
from goldgate.suites.extraction.events.normalize import STANDS_ALONE, Haystack, normalize
from goldgate.suites.extraction.events.occurrences import FEW, LATIN, automata, contained

MANY_LINES = 20_000  # values times lines, from which on looking for one role after the other takes too long

MANY_CHARACTERS = 20_000  # in a thought that is looked at quickly

# Before and after a role, these leave no doubt that it is a word of its own, in whatever case it is compared.
_EDGES = frozenset(each for each in STANDS_ALONE if each not in LATIN and each.casefold() == each)


class Look(NamedTuple):
    """What a look at a thought came to: the first argument that it does not have, if there is one."""

    missing: Unit | None


def first_missing(events: Events, thought: str, by_line: bool) -> Unit | None:
    """The first predicted argument that the thought does not have; one is enough to be inconsistent."""
    values = sum([len(columns[2]) for columns in events.columns])
    lines = thought.count("\n") + 1 if by_line else 0
    if values * len(thought) > FEW or values * lines > MANY_LINES:
        return first_missing_at_once(events, thought, by_line)
    look = first_missing_quickly(events, thought) if by_line else None
    return first_missing_plainly(events, thought, by_line) if look is None else look.missing


def first_missing_plainly(events: Events, thought: str, by_line: bool) -> Unit | None:
    """The same by the rule, one argument after the other."""
    text = Haystack(thought)
    lines_of: dict[str, str] = {}  # role → the lines that name it, normalized; no value has a line break
    for unit, value, _ in events.values():
        _, role, argument = unit
        if not by_line:
            found = text.contains(value)
        else:
            if role not in lines_of:
                lines_of[role] = _lines_naming(role, thought)
            found = argument in lines_of[role]
        if not found:
            return unit
    return None


def first_missing_at_once(events: Events, thought: str, by_line: bool) -> Unit | None:
    """The same in time that grows with the answer and the thought, not with their product."""
    units = dict.fromkeys(value.unit for value in events.values())
    values = dict.fromkeys(argument for _, _, argument in units)
    if not by_line:
        found = contained(values, normalize(thought))
        return next((unit for unit in units if unit[2] not in found), None)
    lines = _lines_with_roles({role.casefold() for _, role, _ in units}, thought)
    wanted: dict[str, set[str]] = {value: set() for value in values}  # value → the roles it was not yet seen with
    for _, role, argument in units:
        wanted[argument].add(role.casefold())
    for automaton in automata(values, max((len(line) for line, _ in lines), default=0), len(thought)):
        for line, roles in lines:
            for value in automaton.found_in(line):
                wanted[value] = wanted[value] - roles  # looks through the smaller of the two
    return next((unit for unit in units if unit[1].casefold() in wanted[unit[2]]), None)


def first_missing_quickly(events: Events, thought: str) -> Look | None:
    """The same by lines, for a short thought: what stands there as it is, after its role, is not looked for twice.

    What is not in the thought as a whole is on no line of it: a line end joins no two characters. Only for what is
    left are the lines of a role put together.
    """
    if len(thought) > MANY_CHARACTERS:
        return None
    find, rfind, padded = thought.find, thought.rfind, thought + " "
    lines: Lines | None = None
    end = 0  # thoughts mostly go through the arguments in the order of the answer
    for event_type, roles, texts, arguments, _ in events.columns:
        for place, value in enumerate(texts):
            role = roles[place]
            at = find(value, end)
            if at < 0:
                at = find(value)
            role_at = find(role, rfind("\n", 0, at) + 1, at) if at > 0 else -1
            if (
                role_at >= 0
                and "\n" not in value
                and padded[role_at + len(role)] in _EDGES
                and padded[role_at - 1] in _EDGES  # before the first character stands, by wrapping, the blank
                and value[0] in STANDS_ALONE
                and padded[at + len(value)] in STANDS_ALONE
            ):
                end = at + len(value)
                continue
            if lines is None:
                lines = Lines(thought)
            argument = arguments[place]
            if argument not in lines.whole or argument not in lines.naming(role):
                return Look((event_type, role, argument))
    return Look(None)


@final
class Lines:
    """The lines of a thought, normalized; those of a role are put together once."""

    __slots__ = ("_folded", "_lines", "_of", "whole")

    def __init__(self, thought: str) -> None:
        self.whole = normalize(thought)
        self._lines = thought.split("\n")
        self._folded = thought.casefold()  # character by character, so that its lines are those of the thought
        self._of: dict[str, str] = {}

    def naming(self, role: str) -> str:
        """The lines that name a role, one after the other; no value has a line break."""
        known = self._of.get(role)
        if known is None:
            known = self._of[role] = "\n".join([normalize(self._lines[number]) for number in self._numbers(role)])
        return known

    def _numbers(self, role: str) -> list[int]:
        folded, wanted, numbers = self._folded, role.casefold(), list[int]()
        if "\n" in wanted:
            return numbers
        at = folded.find(wanted)
        while at >= 0:
            if is_whole_word(folded, at, wanted):
                numbers.append(folded.count("\n", 0, at))
                at = folded.find("\n", at)  # one mention is enough
                if at < 0:
                    break
            at = folded.find(wanted, at + 1)
        return numbers


def occurrences(text: str, part: str) -> list[int]:
    """Where the part stands in the text, overlaps included."""
    found: list[int] = []
    at = text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


def is_whole_word(text: str, at: int, word: str) -> bool:
    """A name in Latin letters is not part of a longer word: `sue` in `issue` is none. Chinese has no such edge."""
    if word[0] in LATIN and at > 0 and text[at - 1] in LATIN:
        return False
    end = at + len(word)
    return not (word[-1] in LATIN and end < len(text) and text[end] in LATIN)


def _lines_naming(role: str, thought: str) -> str:
    if not _names(thought, role):
        return ""
    return "\n".join(normalize(line) for line in thought.split("\n") if _names(line, role))


def _names(line: str, role: str) -> bool:
    """Whether a line names a role: case does not matter, and it must be a word of its own."""
    folded, wanted = line.casefold(), role.casefold()
    return any(is_whole_word(folded, at, wanted) for at in occurrences(folded, wanted))


def _lines_with_roles(roles: set[str], thought: str) -> list[tuple[str, set[str]]]:
    """The lines that name any role, normalized, each with the roles that it names."""
    lines = thought.split("\n")
    folded = [line.casefold() for line in lines]
    named: dict[int, set[str]] = {}
    for automaton in automata(roles, max(map(len, folded)), len(thought)):
        for number, line in enumerate(folded):
            found = automaton.found_in(line, as_words=True)
            if found:
                named.setdefault(number, set()).update(found)
    return [(normalize(lines[number]), found) for number, found in sorted(named.items())]
