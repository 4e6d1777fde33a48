"""Texts that stand in several samples: copies of a document make every interval narrower than it is."""

from __future__ import annotations

from zlib import crc32

from goldgate.core.metric import Metrics
from goldgate.core.tally import Tally
from goldgate.suites.extraction.sample import Facts


class Texts:
    """It has no metrics of its own; the report's `reading.texts` is its sketch. Copies in a group are one unit."""

    section = "main"

    def count(self, facts: Facts, tally: Tally) -> None:
        text = facts.sample.gold.text
        if text and tally.group is None:
            tally.sketch.add(crc32(text.encode("utf-8", "replace")) << 32 | len(text))

    def metrics(self, tally: Tally) -> Metrics:
        return {}
