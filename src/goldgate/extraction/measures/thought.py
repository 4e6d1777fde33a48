"""Chain-of-thought diagnostics: whether the thought names the types and arguments of the answer.

Diagnostics only, and never without their coverage: a model that thinks in few samples can be
consistent in all of them.
"""

from __future__ import annotations

from typing import Literal

from goldgate.core.metric import Count, Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.extraction.event import Value
from goldgate.extraction.event_schema import EventSchema
from goldgate.extraction.match import Unit
from goldgate.extraction.normalize import Haystack, survives
from goldgate.extraction.response import Status, ThoughtState
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
        self.types = [(name, name.casefold()) for name in schema.event_types]
        # The longer names that a name is part of, with where in them it stands.
        self.longer = {
            name: [(other, at) for _, other in self.types if other != name for at in _occurrences(other, name)]
            for _, name in self.types
        }

    def check(self, facts: Facts) -> ThoughtCheck:
        parsed = facts.parsed
        if parsed is None or parsed.status == Status.ERROR or parsed.thought_state == ThoughtState.UNCLOSED:
            return ThoughtCheck(PARSE_FAIL)
        thought = parsed.thought.strip()
        if not thought and not self.require_block:
            thought = parsed.preamble.strip()
        if not thought:
            return ThoughtCheck(SKIPPED)
        folded = thought.casefold()
        predicted = facts.predicted.units.keys()
        mentioned = tuple(
            name for name, wanted in self.types if wanted in folded and self._is_mentioned(folded, wanted)
        )
        if self.strict:
            type_consistent = predicted == set(mentioned)
        else:
            type_consistent = predicted <= set(mentioned)
        missing = self._first_missing(facts.predicted.values, thought)
        return ThoughtCheck(CHECKED, type_consistent, missing is None, mentioned, missing)

    def _is_mentioned(self, folded: str, name: str) -> bool:
        """Whether the name stands somewhere by itself: not inside a longer type's name, not inside a word."""
        longer = self.longer[name]
        return any(
            not any(at >= inside and folded.startswith(other, at - inside) for other, inside in longer)
            for at in _occurrences(folded, name)
            if _is_whole_word(folded, at, name)
        )

    def _first_missing(self, values: list[Value], thought: str) -> Unit | None:
        """The first predicted argument that the thought does not have; one is enough to be inconsistent."""
        text = Haystack(thought)
        lines: list[Haystack] = []
        for event_type, role, value, normalized, _ in values:
            if not self.strict:
                found = text.contains(value)
            elif not (found := _follows_its_role(thought, role, value)):
                lines = lines or [Haystack(line) for line in thought.split("\n")]
                found = any(_names(line.text, role) and line.contains(value) for line in lines)
            if not found:
                return Unit(event_type, role, normalized)
        return None


def _follows_its_role(thought: str, role: str, value: str) -> bool:
    """The usual case, fast: the value's first occurrence has its role before it on the line."""
    at = thought.find(value)
    if at < 0:
        return False
    role_at = thought.find(role, thought.rfind("\n", 0, at) + 1, at)
    if role_at < 0 or not survives(thought, at, value):
        return False
    return (role[0] not in _LATIN and role[-1] not in _LATIN) or _is_whole_word(thought, role_at, role)


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
