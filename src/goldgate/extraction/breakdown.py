"""Where the score comes from: per event type, per role, per error name, and how answers were read."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from goldgate.core.metric import Rate, mean, precision_recall_f1
from goldgate.core.tally import Tally
from goldgate.extraction.event import Violation
from goldgate.extraction.mistakes import Mistake
from goldgate.extraction.repair import Step
from goldgate.extraction.response import METHODS, THOUGHT_STATES

_FIELDS = ("predicted", "gold", "strict_hits", "relaxed_hits")


def breakdown(tally: Tally) -> dict[str, Any]:
    """Counts and P/R/F1, strict and relaxed, for each event type and role, with macro averages."""
    roles: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    types: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    for (event_type, role, *counts), times in tally.rows.items():
        for sums in (roles[str(event_type), str(role)], types[(str(event_type),)]):
            for number, count in enumerate(counts):
                sums[number] += int(count) * times
    return {
        "event_types": _entries(types, ("event_type",)),
        "roles": _entries(roles, ("event_type", "role")),
        "macro": {"event_types": _macro(types), "roles": _macro(roles)},
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
    }


def _entries(sums: dict[tuple[str, ...], list[int]], names: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {
            **dict(zip(names, key, strict=True)),
            **dict(zip(_FIELDS, sums[key], strict=True)),
            **{name: rate.as_json() for name, rate in _rates(sums[key]).items()},
        }
        for key in sorted(sums)
    ]


def _macro(sums: dict[tuple[str, ...], list[int]]) -> dict[str, Any]:
    columns: dict[str, list[Rate]] = {name: [] for name in _rates([0, 0, 0, 0])}
    for counts in sums.values():
        for name, rate in _rates(counts).items():
            columns[name].append(rate)
    return {name: mean(rates).as_json() for name, rates in columns.items()}


def _rates(counts: list[int]) -> dict[str, Rate]:
    predicted, gold, strict, relaxed = counts
    return {
        **precision_recall_f1("strict_", strict, predicted, gold),
        **precision_recall_f1("relaxed_", relaxed, predicted, gold),
    }
