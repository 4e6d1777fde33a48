"""Whether a thought names the arguments of an answer: the rule, a quick look for the usual case, and all at once.

The rule (`first_missing_plainly`): an argument is there if its normalized value is in the normalized
thought; if lines count, on a line that also names its role. `first_missing` gives the same.
"""

from __future__ import annotations

from goldgate.suites.extraction.events.event import Events, Unit
from goldgate.suites.extraction.events.normalize import STANDS_ALONE, Haystack, normalize
from goldgate.suites.extraction.events.occurrences import FEW, LATIN, automata, contained_at_once

MANY_LINES = 20_000  # values times lines, from which on looking for one role after the other takes too long

MANY_CHARACTERS = 1_000  # below, no answer is long enough to be worth a count

# Before and after a role, these leave no doubt that it is a word of its own, in whatever case it is compared.
_EDGES = frozenset(each for each in STANDS_ALONE if each not in LATIN and each.casefold() == each)


def first_missing(events: Events, thought: str, by_line: bool) -> Unit | None:
    """The first predicted argument that the thought does not have; one is enough to be inconsistent."""
    if by_line and names_all(events, thought):
        return None
    values = sum([len(columns[2]) for columns in events.columns])
    lines = thought.count("\n") + 1 if by_line else 0
    if values * len(thought) > FEW or values * lines > MANY_LINES:
        return first_missing_at_once(events, thought, by_line)
    return first_missing_plainly(events, thought, by_line)


def first_missing_plainly(events: Events, thought: str, by_line: bool) -> Unit | None:
    """The same by the rule, one argument after the other."""
    text = Haystack(thought)
    lines_of: dict[str, str] = {}  # role → the lines that name it, normalized; no value has a line break
    for unit, value, _ in events.values():
        if not by_line:
            found = text.contains(value)
        else:
            if unit.role not in lines_of:
                lines_of[unit.role] = _lines_naming(unit.role, thought)
            found = unit.argument in lines_of[unit.role]
        if not found:
            return unit
    return None


def first_missing_at_once(events: Events, thought: str, by_line: bool) -> Unit | None:
    """The same in time that grows with the answer and the thought, not with their product."""
    units = dict.fromkeys(value.unit for value in events.values())
    values = dict.fromkeys(unit.argument for unit in units)
    if not by_line:
        found = contained_at_once(values, normalize(thought))
        return next((unit for unit in units if unit.argument not in found), None)
    lines = _lines_with_roles({unit.role.casefold() for unit in units}, thought)
    wanted: dict[str, set[str]] = {value: set() for value in values}  # value → the roles it was not yet seen with
    for unit in units:
        wanted[unit.argument].add(unit.role.casefold())
    for automaton in automata(values, max((len(line) for line, _ in lines), default=0)):
        for line, roles in lines:
            for value in automaton.found_in(line):
                wanted[value] = wanted[value] - roles  # looks through the smaller of the two
    return next((unit for unit in units if unit.role.casefold() in wanted[unit.argument]), None)


def names_all(events: Events, thought: str) -> bool | None:
    """True in the usual case: every value stands there as it is, after its role on the same line. None: not known."""
    if len(thought) > MANY_CHARACTERS and sum([len(columns[2]) for columns in events.columns]) * len(thought) > FEW:
        return None
    find, rfind, padded = thought.find, thought.rfind, thought + " "
    end = 0  # thoughts mostly go through the arguments in the order of the answer
    for _, roles, texts, _, _ in events.columns:
        for role, value in zip(roles, texts, strict=True):
            at = find(value, end)
            if at < 0:
                at = find(value)
            role_at = find(role, rfind("\n", 0, at) + 1, at) if at > 0 else -1
            end = at + len(value)
            if (
                role_at < 0
                or "\n" in value
                or padded[role_at + len(role)] not in _EDGES
                or padded[role_at - 1] not in _EDGES  # before the first character stands, by wrapping, the blank
                or value[0] not in STANDS_ALONE
                or padded[end] not in STANDS_ALONE
            ):
                return None
    return True


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
    for automaton in automata(roles, max(map(len, folded))):
        for number, line in enumerate(folded):
            found = automaton.found_in(line, as_words=True)
            if found:
                named.setdefault(number, set()).update(found)
    return [(normalize(lines[number]), found) for number, found in sorted(named.items())]
