"""Texts that stand in several units: copies of a document make every interval narrower than it is."""

from __future__ import annotations

from zlib import crc32

from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.suites.extraction.sample import Facts

_UNIT_BITS = 32


class Texts:
    """It has no metrics of its own; the report's `reading.texts` is its sketch: pairs of a text and a unit that has it.

    Copies in one group are in one unit, and do no harm.
    """

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        gold, group = facts.sample.gold, tally.now.group
        if gold.text:
            text = crc32(gold.text.encode("utf-8", "replace")) << 32 | len(gold.text)
            unit = crc32((gold.id if group is None else group).encode("utf-8", "replace"))
            tally.sketch.add(text << _UNIT_BITS | unit)

    def metrics(self, tally: Tally) -> Metrics:
        return {}


def text_counts(tally: Tally) -> dict[str, int]:
    """Different texts among those looked at, and the units that have them."""
    pairs = tally.sketch.kept
    return {"distinct": len({pair >> _UNIT_BITS for pair in pairs}), "units": len(pairs)}
