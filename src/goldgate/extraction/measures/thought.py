"""Chain-of-thought diagnostics: whether the thought names the types and arguments of the answer.

Diagnostics only, and never without their coverage: a model that thinks in few samples can be
consistent in all of them.
"""

from __future__ import annotations

from typing import Literal

from goldgate.core.metric import Count, Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.extraction.event import Events, Unit
from goldgate.extraction.event_schema import EventSchema
from goldgate.extraction.normalize import STANDS_ALONE, Haystack, normalize
from goldgate.extraction.response import Status
from goldgate.extraction.response.thoughts import ThoughtState
from goldgate.extraction.sample import Facts, ThoughtCheck
from goldgate.protocol.model import CotSettings

CHECKED, SKIPPED, PARSE_FAIL = "cot_checked", "cot_skipped", "cot_parse_fail"
_DISABLED = "metrics.cot.enabled is false"


class Thought:
    """Every sample falls into one of three buckets; the rates are over the checked ones."""

    section: Literal["main", "diagnostics"] = "diagnostics"

    def __init__(self, settings: CotSettings) -> None:
        self.enabled = settings.enabled

    def count(self, facts: Facts, tally: Tally) -> None:
        check = facts.thought
        if check is None:
            return
        counts = tally.counts
        counts[check.bucket] += 1
        counts["cot_type_consistent"] += check.type_consistent
        counts["cot_argument_consistent"] += check.argument_consistent
        counts["cot_faithful"] += check.type_consistent and check.argument_consistent

    def metrics(self, tally: Tally) -> Metrics:
        counts = tally.counts
        checked, skipped, failed = counts[CHECKED], counts[SKIPPED], counts[PARSE_FAIL]
        nothing = "no thought was checked" if self.enabled else _DISABLED
        return {
            "cot_type_consistency": Rate(counts["cot_type_consistent"], checked, nothing),
            "cot_argument_consistency": Rate(counts["cot_argument_consistent"], checked, nothing),
            "cot_faithfulness": Rate(counts["cot_faithful"], checked, nothing),
            "cot_coverage_rate": Rate(
                checked, checked + skipped + failed, "there are no samples" if self.enabled else _DISABLED
            ),
            **{
                name: Count(counts[name]) if self.enabled else Count(None, _DISABLED)
                for name in (CHECKED, SKIPPED, PARSE_FAIL)
            },
        }


class ThoughtChecker:
    """Checks one sample's thought against its answer."""

    def __init__(self, settings: CotSettings, schema: EventSchema) -> None:
        self.require_block = settings.require_thought_block
        self.strict = settings.mode == "strict_span"
        folded = [name.casefold() for name in schema.event_types]
        self.has_case = any(name.upper() != name.lower() for name in schema.event_types)  # Chinese has none
        # The longer names that a name is part of, with where in them it stands.
        self.longer = {
            name: [(other, at) for other in folded if other != name for at in _occurrences(other, name)]
            for name in folded
        }
        # A name, what is looked for, and whether any occurrence of it is a mention.
        self.types = [
            (name, wanted, not self.longer[wanted] and wanted[0] not in _LATIN and wanted[-1] not in _LATIN)
            for name, wanted in zip(schema.event_types, folded, strict=True)
        ]

    def check(self, facts: Facts) -> ThoughtCheck:
        parsed = facts.parsed
        if parsed is None or parsed.status == Status.ERROR or parsed.thought_state == ThoughtState.UNCLOSED:
            return ThoughtCheck(PARSE_FAIL)
        thought = parsed.thought.strip()
        if not thought and not self.require_block:
            thought = parsed.preamble.strip()
        if not thought:
            return ThoughtCheck(SKIPPED)
        folded = thought.casefold() if self.has_case else thought
        predicted = facts.predicted.units.keys()
        mentioned = [
            name
            for name, wanted, stands_alone in self.types
            if wanted in folded and (stands_alone or self._is_mentioned(folded, wanted))
        ]
        more_is_fine = not self.strict and len(predicted) > 0
        type_consistent = predicted <= set(mentioned) and (len(mentioned) == len(predicted) or more_is_fine)
        missing = self._first_missing(facts.predicted, thought)
        return ThoughtCheck(CHECKED, type_consistent, missing is None, mentioned, missing)

    def _is_mentioned(self, folded: str, name: str) -> bool:
        """Whether the name stands somewhere by itself: not inside a longer type's name, not inside a word."""
        longer = self.longer[name]
        at = folded.find(name)
        while at >= 0:
            if _is_whole_word(folded, at, name):
                for other, inside in longer:
                    if at >= inside and folded.startswith(other, at - inside):
                        break
                else:
                    return True
            at = folded.find(name, at + 1)
        return False

    def _first_missing(self, events: Events, thought: str) -> Unit | None:
        """The first predicted argument that the thought does not have; one is enough to be inconsistent."""
        if self.strict and _usual(events, thought):
            return None
        text = Haystack(thought)
        lines_of: dict[str, str] = {}  # role → the lines that name it, normalized; no value has a line break
        for unit, value, _ in events.values():
            if not self.strict:
                found = text.contains(value)
            else:
                if unit.role not in lines_of:
                    lines_of[unit.role] = _lines_naming(unit.role, thought)
                found = unit.argument in lines_of[unit.role]
            if not found:
                return unit
        return None


def _lines_naming(role: str, thought: str) -> str:
    if not _names(thought, role):
        return ""
    return "\n".join(normalize(line) for line in thought.split("\n") if _names(line, role))


def _usual(events: Events, thought: str) -> bool:
    """The usual case, fast: every value stands there as it is, after its role on the same line."""
    find, rfind, padded = thought.find, thought.rfind, thought + " "
    end = 0  # thoughts mostly go through the arguments in the order of the answer
    for _, roles, texts, _, _ in events.said:
        for role, value in zip(roles, texts, strict=True):
            at = find(value, end)
            if at < 0:
                at = find(value)
            role_at = find(role, rfind("\n", 0, at) + 1, at) if at > 0 else -1
            end = at + len(value)
            if (
                role_at < 0
                or "\n" in value
                or padded[role_at + len(role)] in _LATIN
                or padded[role_at - 1] in _LATIN  # before the first character stands, by wrapping, the blank
                or value[0] not in STANDS_ALONE
                or padded[end] not in STANDS_ALONE
            ):
                return False
    return True


def _names(line: str, role: str) -> bool:
    """Whether a line names a role: case does not matter, and it must be a word of its own."""
    folded, wanted = line.casefold(), role.casefold()
    return any(_is_whole_word(folded, at, wanted) for at in _occurrences(folded, wanted))


def _occurrences(text: str, part: str) -> list[int]:
    """Where the part stands in the text, overlaps included."""
    found: list[int] = []
    at = text.find(part)
    while at >= 0:
        found.append(at)
        at = text.find(part, at + 1)
    return found


_LATIN = frozenset(chr(code) for code in range(128) if chr(code).isalnum())


def _is_whole_word(text: str, at: int, word: str) -> bool:
    """A name in Latin letters is not part of a longer word: `sue` in `issue` is none. Chinese has no such edge."""
    if word[0] in _LATIN and at > 0 and text[at - 1] in _LATIN:
        return False
    end = at + len(word)
    return not (word[-1] in _LATIN and end < len(text) and text[end] in _LATIN)
