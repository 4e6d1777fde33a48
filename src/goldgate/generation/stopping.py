"""Asking only until every gate is decided: documents in a random order, heard in that order, whoever answers first.

The order is a hash of a seed and the document's id, so that it depends neither on the files nor on the answers. An
answer that comes early waits for those before it: taken as they arrive, quick answers would come first, and those are
no random ones.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from goldgate.core.sums import Counts
from goldgate.generation.budget import cost
from goldgate.generation.outcome import Usage
from goldgate.protocol.model import Price
from goldgate.stats.gate_watch import ERROR_RATE, GateWatch

ORDER_SEED = 0

# What the answer about a document counts, by table; None is no answer.
CountAnswer = Callable[[int, str | None], Mapping[str, Counts | None]]


@dataclass(frozen=True, slots=True)
class StopRule:
    """What is watched, how an answer is counted, and the seed of the order."""

    watch: GateWatch
    count: CountAnswer
    seed: int = ORDER_SEED
    allow_missing: bool = False  # a document without an answer counts as one where nothing was said
    most_predictions: int | None = None


class Stopping:
    """Hears of every document that was asked, and says when enough is known."""

    def __init__(self, rule: StopRule, ids: Sequence[str]) -> None:
        self.rule = rule
        self.order = sorted(range(len(ids)), key=lambda position: _drawn(rule.seed, ids[position]))
        self._place = {position: place for place, position in enumerate(self.order)}
        self._waiting: dict[int, Mapping[str, Counts | None]] = {}  # by place in the order
        self._next = 0

    def place(self, position: int) -> int:
        return self._place[position]

    def hear(self, position: int, response: str | None) -> bool:
        """An answer, or that there will be none; whether every gate is decided."""
        if response is not None or self.rule.allow_missing:
            self._waiting[self._place[position]] = self.rule.count(position, response)
        while not self.is_decided and self._next in self._waiting:
            self.rule.watch.add(self._waiting.pop(self._next))
            self._next += 1
        return self.is_decided

    @property
    def is_decided(self) -> bool:
        return self.rule.watch.decided_after is not None

    @property
    def decided(self) -> list[int]:
        """The documents that decided it, in their own order; none where nothing is decided."""
        return sorted(self.order[: self.rule.watch.decided_after or 0])


@dataclass(frozen=True, slots=True)
class Saved:
    """What was not asked, and what that would have cost about, by what was asked."""

    documents: int
    usage: Usage
    money: Decimal | None


def saved(not_asked: int, spent: Usage, answered: int, price: Price | None) -> Saved:
    """Every document that was not asked is taken to cost as much as one that was."""
    share = Usage(spent.input * not_asked // max(1, answered), spent.output * not_asked // max(1, answered))
    return Saved(not_asked, share, cost(share, price))


def stopped_json(stopping: Stopping, answered: int, saved: Saved, money: str | None) -> dict[str, Any]:
    """`generation.stopped` of a report: what was decided about all documents, after how many, and what that saved."""
    watch, rule = stopping.rule.watch, stopping.rule
    return {
        "documents": watch.documents,
        "decided_after": watch.decided_after,
        "answered": answered,
        "order_seed": rule.seed,
        "error_rate": ERROR_RATE,
        "most_predictions": rule.most_predictions,
        "gates": [
            {
                "metric": bound.metric,
                bound.side: str(bound.threshold),
                "kept_by_all": kept,
                "largest": bound.largest,
            }
            for bound, kept in watch.decisions()
        ],
        "saved": {
            "documents": saved.documents,
            "tokens": {"input": saved.usage.input, "output": saved.usage.output},
            "cost": money,
        },
    }


def _drawn(seed: int, identity: str) -> bytes:
    return hashlib.blake2b(f"{seed}\0{identity}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
