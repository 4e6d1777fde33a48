"""Whether a thought names the arguments of an answer: the rule, a quick look for the usual case, and all at once.

The rule (`first_missing_plainly`): an argument is there if its normalized value is in the normalized
thought; if lines count, on a line that also names its role. `first_missing` gives the same. Of the thought counts
what is left without clauses that negate (`without_negations`) and without copies of the source text (`counted_lines`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple, final

from goldgate.core.pieces import ALONE, stands_alone
from goldgate.suites.extraction.events.event import Events, Unit
from goldgate.suites.extraction.events.normalize import Haystack, normalize, normalize_all
from goldgate.suites.extraction.events.occurrences import FEW, LATIN, automata, contained
from goldgate.suites.extraction.events.relaxed_rule import alike, alike_before

MANY_LINES = 20_000  # values times lines, from which on looking for one role after the other takes too long

MANY_CHARACTERS = 20_000  # in a thought that is looked at quickly

# Words by which a clause negates. Single characters (不, 无, 非) are not among them: they are part of many names.
NEGATION: Final = re.compile(
    r"\b(?:not|never|neither|nor|none|without|cannot|no(?!\.\s*\d))\b|n['’]t\b"
    "|不是|不属于|不为|不包括|不存在|不应|不能|不会|并非|并不|并未|绝非|而非|没有|没提|未提|未说明|无关|无法",
    re.IGNORECASE,
)
# What ends a clause. A question does not, because its answer may negate it; a mark inside a number does not either.
_CLAUSE_END: Final = re.compile(r"([;!，。；！\n]|[,.](?!\d)|\bbut\b|而是)", re.IGNORECASE)

COPIED = 50  # characters by which a stretch of the source text must be longer than any value, to be a copy
_PLACES = 16  # of a part in the source text that are looked at
# Not ASCII, a Chinese character, a wide form or a usual Chinese mark: those are one character or none, normalized.
_MAY_GROW: Final = re.compile(r"[^\x00-\x7f\u4e00-\u9fff\u3000-\u3003\u3008-\u3011\uff01-\uff5e]")
_GAP = "\0"  # what is left of what does not count; no value goes across it

# Before and after a role, these leave no doubt that it is a word of its own, in whatever case it is compared.
_EDGES: Final = frozenset(chr(code) for code in range(128)) - LATIN


def _is_edge(character: str) -> bool:
    """The same of any character."""
    return character not in LATIN and character.casefold() == character


class Look(NamedTuple):
    """What a look at a thought came to: the first argument that it does not have, if there is one."""

    missing: Unit | None


def without_negations(events: Events, thought: str) -> str:
    """The thought without the clauses that negate, on as many lines.

    Nothing is left out where a value of the answer negates itself (`not guilty`).
    """
    if NEGATION.search(thought) is None or any(
        NEGATION.search(text) is not None for columns in events.columns for text in columns[2]
    ):
        return thought
    parts = _CLAUSE_END.split(thought)
    parts[::2] = [_GAP if NEGATION.search(clause) is not None else clause for clause in parts[::2]]
    return "".join(parts)


def counted_lines(events: Events, thought: str, affirmed: str, source: str) -> list[str] | None:
    """The normalized lines of a thought as far as they count for values; None where all of it does.

    `affirmed` is the thought without negations, `source` the normalized source text, empty where there is none.
    """
    least = COPIED + max((len(argument) for columns in events.columns for argument in columns[3]), default=0)
    if affirmed is thought and (len(source) < least or len(thought) < least or _has_short_lines(thought, least)):
        return None
    lines = normalize_all(affirmed.split("\n"))
    counted = [line if len(line) < least else _without_copies(line, source, least) for line in lines]
    return None if affirmed is thought and counted == lines else counted


def _has_short_lines(thought: str, least: int) -> bool:
    """Whether no normalized line has so many characters; False where normalizing might make a line longer."""
    return max(map(len, thought.split("\n"))) < least and _MAY_GROW.search(thought) is None


def _without_copies(line: str, source: str, least: int) -> str:
    """A line without the stretches of at least this length that stand in the source text, too."""
    size = least // 2
    copies: list[tuple[int, int]] = []
    for at in range(0, len(line) - size + 1, least - size + 1):  # every stretch has such a part in it
        part = line[at : at + size]
        place = source.find(part)
        for _ in range(_PLACES):
            if place < 0:
                break
            start = at - alike_before(line[:at], source[:place])
            end = at + size + alike(line[at + size :], source[place + size :])
            if end - start >= least:
                copies.append((start, end))
            place = source.find(part, place + 1)
    kept: list[str] = []
    after = 0
    for start, end in sorted(copies):
        if start > after:
            kept.append(line[after:start])
        after = max(after, end)
    return _GAP.join([*kept, line[after:]]) if copies else line


def first_missing(
    events: Events, thought: str, by_line: bool, affirmed: str | None = None, source: str = ""
) -> Unit | None:
    """The first predicted argument that the thought does not have; one is enough to be inconsistent.

    What `affirmed` and `source` are, `counted_lines` says; without them all of the thought counts.
    """
    counted = counted_lines(events, thought, thought if affirmed is None else affirmed, source)
    values = sum([len(columns[2]) for columns in events.columns])
    lines = thought.count("\n") + 1 if by_line else 0
    if values * len(thought) > FEW or values * lines > MANY_LINES:
        return first_missing_at_once(events, thought, by_line, counted)
    look = first_missing_quickly(events, thought) if by_line and counted is None else None
    return first_missing_plainly(events, thought, by_line, counted) if look is None else look.missing


def first_missing_plainly(
    events: Events, thought: str, by_line: bool, counted: Sequence[str] | None = None
) -> Unit | None:
    """The same by the rule, one argument after the other."""
    if by_line:
        lines = Lines(thought, counted)
        for unit, _, _ in events.values():
            if unit[2] not in lines.naming(unit[1]):
                return unit
        return None
    if counted is not None:
        whole = "".join(counted)
        return next((value.unit for value in events.values() if value.unit[2] not in whole), None)
    text = Haystack(thought)
    for unit, value, _ in events.values():
        if not text.contains(value):
            return unit
    return None


def first_missing_at_once(
    events: Events, thought: str, by_line: bool, counted: Sequence[str] | None = None
) -> Unit | None:
    """The same in time that grows with the answer and the thought, not with their product."""
    units = dict.fromkeys(value.unit for value in events.values())
    values = dict.fromkeys(argument for _, _, argument in units)
    if not by_line:
        found = contained(values, normalize(thought) if counted is None else "".join(counted))
        return next((unit for unit in units if unit[2] not in found), None)
    lines = _lines_with_roles({role.casefold() for _, role, _ in units}, thought, counted)
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
    whole = ""
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
                and ((edge := padded[role_at + len(role)]) in _EDGES or _is_edge(edge))
                # before the first character stands, by wrapping, the blank
                and ((edge := padded[role_at - 1]) in _EDGES or _is_edge(edge))
                and (value[0] in ALONE or stands_alone(value[0]))
                and ((after := padded[at + len(value)]) in ALONE or stands_alone(after))
            ):
                end = at + len(value)
                continue
            if lines is None:
                lines = Lines(thought)
                whole = lines.whole
            argument = arguments[place]
            if argument not in whole or argument not in lines.naming(role):
                return Look((event_type, role, argument))
    return Look(None)


@final
class Lines:
    """The lines of a thought, normalized; those of a role are put together once."""

    __slots__ = ("_folded", "_lines", "_of")

    def __init__(self, thought: str, counted: Sequence[str] | None = None) -> None:
        self._lines = normalize_all(thought.split("\n")) if counted is None else counted
        self._folded = thought.casefold()  # character by character, so that its lines are those of the thought
        self._of: dict[str, str] = {}

    @property
    def whole(self) -> str:
        """The normalized thought: a line end joins no two characters."""
        return "".join(self._lines)

    def naming(self, role: str) -> str:
        """The lines that name a role, one after the other; no value has a line break."""
        known = self._of.get(role)
        if known is None:
            known = self._of[role] = "\n".join([self._lines[number] for number in self._numbers(role)])
        return known

    def _numbers(self, role: str) -> list[int]:
        """Which lines name a role: case does not matter, and it must be a word of its own."""
        folded, wanted, numbers = self._folded, role.casefold(), list[int]()
        if "\n" in wanted:
            return numbers
        number = counted = 0
        at = folded.find(wanted)
        while at >= 0:
            if is_whole_word(folded, at, wanted):
                number += folded.count("\n", counted, at)
                numbers.append(number)
                counted = at = folded.find("\n", at)  # one mention is enough
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


def _lines_with_roles(roles: set[str], thought: str, counted: Sequence[str] | None) -> list[tuple[str, set[str]]]:
    """The lines that name any role, normalized, each with the roles that it names."""
    lines = thought.split("\n")
    folded = [line.casefold() for line in lines]
    named: dict[int, set[str]] = {}
    for automaton in automata(roles, max(map(len, folded)), len(thought)):
        for number, line in enumerate(folded):
            found = automaton.found_in(line, as_words=True)
            if found:
                named.setdefault(number, set()).update(found)
    return [
        (normalize(lines[number]) if counted is None else counted[number], found)
        for number, found in sorted(named.items())
    ]
