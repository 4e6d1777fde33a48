"""Chain-of-thought diagnostics: whether the thought names the types and arguments of the answer.

Diagnostics only, and never without their coverage: a model that thinks in few samples can be
consistent in all of them.
"""

from __future__ import annotations

from goldgate.core.measure import EACH, RatioMeasure, over
from goldgate.core.metric import Count, Metrics
from goldgate.core.sums import Counts
from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.event_schema import EventSchema
from goldgate.suites.extraction.events.occurrences import LATIN
from goldgate.suites.extraction.response import Status
from goldgate.suites.extraction.response.thoughts import ThoughtState
from goldgate.suites.extraction.sample import Facts, ThoughtCheck
from goldgate.suites.extraction.settings import CotSettings
from goldgate.suites.extraction.thought.copied_thought import is_copied
from goldgate.suites.extraction.thought.named_in_thought import (
    first_missing,
    is_whole_word,
    occurrences,
    without_negations,
)

THOUGHT_VERSION = 2  # in the signature; 1 counted negations, copies of the text and copies of the answer
CHECKED, SKIPPED, PARSE_FAIL = "cot_checked", "cot_skipped", "cot_parse_fail"
_NOT_CHECKED: dict[str, Counts] = {SKIPPED: (0, 0, 0, 0, 0, 1, 0, 1), PARSE_FAIL: (0, 0, 0, 0, 0, 0, 1, 1)}
_DISABLED = "metrics.cot.enabled is false"


class Thought(RatioMeasure[Facts]):
    """Every sample falls into one of three buckets; the rates are over the checked ones.

    A thought is faithful if its types and arguments are those of the answer, and it is not the answer over again.
    """

    section = "diagnostics"
    table = "thought"
    columns = ("type_consistent", "argument_consistent", "faithful", "copied", CHECKED, SKIPPED, PARSE_FAIL, EACH)
    single = frozenset(columns)
    counted = {name: name for name in (CHECKED, SKIPPED, PARSE_FAIL)}

    def __init__(self, settings: CotSettings) -> None:
        self.enabled = settings.enabled
        nothing = "no thought was checked" if self.enabled else _DISABLED
        self.ratios = {
            "cot_type_consistency": over("type_consistent", CHECKED, nothing),
            "cot_argument_consistency": over("argument_consistent", CHECKED, nothing),
            "cot_faithfulness": over("faithful", CHECKED, nothing),
            "cot_copied_rate": over("copied", CHECKED, nothing),
            "cot_coverage_rate": over(CHECKED, EACH, "there are no samples" if self.enabled else _DISABLED),
        }

    def units(self, facts: Facts) -> Counts | None:
        check = facts.thought
        if check is None:
            return None
        if check.bucket != CHECKED:
            return _NOT_CHECKED[check.bucket]
        types, arguments = int(check.type_consistent), int(check.argument_consistent)
        faithful = types & arguments & (not check.copied)
        return types, arguments, faithful, int(check.copied), 1, 0, 0, 1

    def metrics(self, tally: Tally) -> Metrics:
        found = super().metrics(tally)
        return found if self.enabled else found | {name: Count(None, _DISABLED) for name in self.counted}


class ThoughtChecker:
    """Checks one sample's thought against its answer."""

    def __init__(self, settings: CotSettings, schema: EventSchema) -> None:
        self.require_block = settings.require_thought_block
        self.strict = settings.mode == "strict_span"
        folded = [name.casefold() for name in schema.event_types]
        self.has_case = any(name.upper() != name.lower() for name in schema.event_types)  # Chinese has none
        # The longer names that a name is part of, with where in them it stands.
        self.longer = {
            name: [(other, at) for other in folded if other != name for at in occurrences(other, name)]
            for name in folded
        }
        # A name, what is looked for, and whether any occurrence of it is a mention.
        self.types = [
            (name, wanted, not self.longer[wanted] and wanted[0] not in LATIN and wanted[-1] not in LATIN)
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
        affirmed = without_negations(facts.predicted, thought)
        folded = affirmed.casefold() if self.has_case else affirmed
        predicted = facts.predicted.units.keys()
        mentioned = [
            name
            for name, wanted, stands_alone in self.types
            if wanted in folded and (stands_alone or self._is_mentioned(folded, wanted))
        ]
        more_is_fine = not self.strict and len(predicted) > 0
        type_consistent = predicted <= set(mentioned) and (len(mentioned) == len(predicted) or more_is_fine)
        source = "" if facts.text is None else facts.text.normalized
        missing = first_missing(facts.predicted, thought, self.strict, affirmed, source)
        copied = is_copied(facts.predicted, parsed.source, thought)
        return ThoughtCheck(CHECKED, type_consistent, missing is None, mentioned, missing, copied)

    def _is_mentioned(self, folded: str, name: str) -> bool:
        """Whether the name stands somewhere by itself: not inside a longer type's name, not inside a word."""
        longer = self.longer[name]
        at = folded.find(name)
        while at >= 0:
            if is_whole_word(folded, at, name):
                for other, inside in longer:
                    if at >= inside and folded.startswith(other, at - inside):
                        break
                else:
                    return True
            at = folded.find(name, at + 1)
        return False
