"""How often the relaxed rule matches values that have nothing to do with each other: a diagnostic of the rule.

Over sets of characters, names that share nothing but the alphabet are often matched. For every event type and role a
sample of predicted and gold values is kept, which adds like a count; pairs of values from different samples are tried.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from hashlib import sha256
from typing import Final

from goldgate.core.measure import SampledMeasure
from goldgate.core.metric import Metrics, Rate
from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.match import words_by_unit
from goldgate.suites.extraction.events.relaxed_matching import RelaxedRule, word_codes
from goldgate.suites.extraction.records import Facts
from goldgate.suites.extraction.settings import RelaxedSettings

MAX_LENGTH: Final = 1_000  # characters of a value in the sample
_TABLE: Final = "relaxed_chance"
_SIDES: Final = ("predicted", "gold")
_DIGEST, _ID = 32, 8  # bytes: an entry is a digest, one of the sample's id, and the value
_NO_PAIRS: Final = "no role has predicted and gold values from different samples"
_NO_INTERVAL: Final = "it is over pairs of values, which are not independent"


class RelaxedChance(SampledMeasure[Facts]):
    """Pairs of a predicted and a gold value of one role, from different samples and not equal, that the relaxed rule
    matches / all such pairs. Of each role and side, the values with the smallest SHA-256 of sample and value count."""

    section = "diagnostics"

    def __init__(self, settings: RelaxedSettings) -> None:
        self.rule = RelaxedRule(settings)

    def metrics(self, tally: Tally) -> Metrics:
        matched = pairs = 0
        roles: defaultdict[tuple[str, ...], dict[str, list[bytes]]] = defaultdict(dict)
        for (table, *role, side), entries in tally.samples.items():
            if table == _TABLE:
                roles[(*role,)][side] = entries
        for sides in roles.values():
            if len(sides) == len(_SIDES):
                for a, b in self._pairs(*(sides[side] for side in _SIDES)):
                    pairs += 1
                    matched += self.rule.fits(a, (), b, ())
        return {_TABLE: Rate(matched, pairs, _NO_PAIRS, interval_reason=_NO_INTERVAL)}

    def _pairs(self, predicted: list[bytes], gold: list[bytes]) -> Iterator[tuple[str, str]]:
        """The pairs in the form that the rule compares; offsets in different texts say nothing."""
        texts = [entry[_DIGEST + _ID :].decode().partition("\0") for entry in (*predicted, *gold)]
        forms = word_codes([words for *_, words in texts]) if self.rule.uses_words else [text for text, *_ in texts]
        for at, entry in enumerate(predicted):
            for place, other in enumerate(gold, len(predicted)):
                is_same_sample = entry[_DIGEST : _DIGEST + _ID] == other[_DIGEST : _DIGEST + _ID]
                if not is_same_sample and texts[at][0] != texts[place][0]:
                    yield forms[at], forms[place]

    def add_to(self, tally: Tally, facts: Facts) -> None:
        identity = facts.sample.gold.id.encode("utf-8", "replace") + b"\0"
        sample = sha256(identity).digest()[:_ID]
        for side, events in zip(_SIDES, (facts.predicted, facts.sample.gold.events), strict=True):
            words = words_by_unit(events) if self.rule.uses_words else {}
            for event_type, pairs in events.units.items():
                for role, argument in pairs:
                    if len(argument) <= MAX_LENGTH:
                        value = argument.encode("utf-8", "replace")
                        digest = sha256(identity + value).digest()
                        if words:
                            value += b"\0" + words[event_type, role, argument].encode("utf-8", "replace")
                        tally.add_sample((_TABLE, event_type, role, side), digest, sample + value)
