"""Many comparisons at once: their p-values, adjusted together, as a family."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from goldgate.stats.several import benjamini_hochberg, holm

HOLM, BENJAMINI_HOCHBERG = "holm", "benjamini-hochberg"
_METHODS: dict[str, Callable[[Sequence[float]], list[float]]] = {HOLM: holm, BENJAMINI_HOCHBERG: benjamini_hochberg}


def adjust(family: Sequence[dict[str, Any]], method: str) -> None:
    """Write `p_adjusted` and `adjustment` into each comparison of a family; null where there is no p-value."""
    tested = [entry for entry in family if entry["p"] is not None]
    for entry in family:
        entry["p_adjusted"], entry["adjustment"] = None, method
    for entry, p in zip(tested, _METHODS[method]([entry["p"] for entry in tested]), strict=True):
        entry["p_adjusted"] = p
