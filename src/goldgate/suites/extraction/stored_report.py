"""A stored report of the extraction suite, checked against itself: the sums over its event types are its rates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from goldgate.core.stored import ContradictionError, Counts, Stored, require_same, stated_rates, whole

_OF_ALL_SAMPLES = ("schema_compliance_rate",)


def stored(report: Mapping[str, Any]) -> Stored:
    """The rates under metrics.main; a ContradictionError where the event types, or each other, give others."""
    stated = stated_rates(report)
    samples = whole(report["metrics"]["main"]["total_samples"]["value"])
    units = {
        name: sum(whole(entry[name]) for entry in report["breakdown"]["event_types"])
        for name in ("predicted", "gold", "strict_hits", "relaxed_hits")
    }
    given = {
        **_family("strict_", units["strict_hits"], units["predicted"], units["gold"]),
        **_family("relaxed_", units["relaxed_hits"], units["predicted"], units["gold"]),
        # The breakdown has no sets of types: precision and recall give F1, and have one numerator.
        **_family("type_", stated["type_precision"][0], stated["type_precision"][1], stated["type_recall"][1]),
    }
    require_same("metrics.main", given, {name: stated[name] for name in given})
    for name in _OF_ALL_SAMPLES:
        if stated[name][1] != samples:
            raise ContradictionError(f"metrics.main.{name}.denominator", str(samples), str(stated[name][1]))
    return Stored(stated, {"samples": samples}, judged=report["inputs"]["predictions"] or None)


def _family(prefix: str, hits: int, predicted: int, gold: int) -> dict[str, Counts]:
    return {
        f"{prefix}precision": (hits, predicted),
        f"{prefix}recall": (hits, gold),
        f"{prefix}f1": (2 * hits, predicted + gold),
    }
