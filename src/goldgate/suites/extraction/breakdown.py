"""Where the score comes from: per event type, per role, per error name, and how answers were read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from goldgate.core.metric import Rate, mean, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.events.mistakes import Mistake
from goldgate.suites.extraction.measures.unit_counts import UnitCounts, unit_counts_by
from goldgate.suites.extraction.response.parsed import METHODS
from goldgate.suites.extraction.response.step import Step
from goldgate.suites.extraction.response.thoughts import THOUGHT_STATES


def breakdown(tally: Tally) -> dict[str, Any]:
    """Counts and P/R/F1, strict and relaxed, for each event type and role, with macro averages."""
    types, roles = unit_counts_by(tally, 1), unit_counts_by(tally, 2)
    return {
        "event_types": [_entry(("event_type",), key, counts) for key, counts in types.items()],
        "roles": [_entry(("event_type", "role"), key, counts) for key, counts in roles.items()],
        "macro": {"event_types": _macro(types.values()), "roles": _macro(roles.values())},
    }


def error_names(tally: Tally) -> dict[str, Any]:
    """How often each error name was given to a false positive and to a false negative."""
    names: dict[str, Any] = {}
    for mistake in Mistake:
        false_positives = tally.counts[f"mistake.{mistake}.predicted"]
        false_negatives = tally.counts[f"mistake.{mistake}.gold"]
        names[mistake.value] = {
            "value": false_positives + false_negatives,
            "false_positives": false_positives,
            "false_negatives": false_negatives,
        }
    return names


def reading(tally: Tally) -> dict[str, Any]:
    """How the answers were found and mended, and which violations they had."""
    counts = tally.counts
    return {
        "methods": {method: counts[f"method.{method}"] for method in METHODS},
        "thoughts": {state: counts[f"thought.{state}"] for state in THOUGHT_STATES},
        "repairs": {step.value: counts[f"repair.{step}"] for step in Step if counts[f"repair.{step}"]},
        "violations": {
            violation.value: {
                "samples": counts[f"violation_samples.{violation}"],
                "occurrences": counts[f"violation.{violation}"],
            }
            for violation in Violation
            if counts[f"violation.{violation}"]
        },
        "null_words": counts["hint.null_words"],
        "values": {"distinct": counts["hallucination_values"], "units": counts["hallucination_units"]},
    }


def _entry(names: tuple[str, ...], key: tuple[str, ...], counts: UnitCounts) -> dict[str, Any]:
    return {
        **dict(zip(names, key, strict=True)),
        "predicted": counts.predicted,
        "gold": counts.gold,
        "strict_hits": counts.strict,
        "relaxed_hits": counts.relaxed,
        **{name: rate.as_json() for name, rate in _rates(counts).items()},
    }


def _macro(all_counts: Iterable[UnitCounts]) -> dict[str, Any]:
    rates = [_rates(counts) for counts in all_counts]
    return {name: mean([each[name] for each in rates]).as_json() for name in _rates(UnitCounts(0, 0, 0, 0))}


def _rates(counts: UnitCounts) -> dict[str, Rate]:
    return {
        **precision_recall_f1("strict_", counts.strict, counts.predicted, counts.gold),
        **precision_recall_f1("relaxed_", counts.relaxed, counts.predicted, counts.gold),
    }
