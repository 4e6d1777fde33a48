"""Where the score comes from: per event type, per role, per error name, and how answers were read."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from goldgate.core.measure import RatioMeasure
from goldgate.core.metric import Mean, Metrics, Rate, mean
from goldgate.core.tally import Tally
from goldgate.stats.reported import GROUP, with_interval
from goldgate.suites.extraction.events.event import Violation
from goldgate.suites.extraction.events.mistakes import Mistake
from goldgate.suites.extraction.measures import all_measures
from goldgate.suites.extraction.measures.hallucination import Hallucination
from goldgate.suites.extraction.measures.matched import Matched
from goldgate.suites.extraction.measures.texts import text_counts
from goldgate.suites.extraction.response.parsed import METHODS
from goldgate.suites.extraction.response.step import Step
from goldgate.suites.extraction.response.thoughts import THOUGHT_STATES
from goldgate.suites.extraction.sample import Facts
from goldgate.suites.extraction.settings import ExtractionSettings

SAMPLE = "sample"


def breakdown(tally: Tally, settings: ExtractionSettings) -> dict[str, Any]:
    """Counts and P/R/F1, strict and relaxed, for each event type and role, with macro averages.

    What a profile counts for each event type is under `papers`, here and among the averages.
    """
    unit = GROUP if tally.is_grouped else SAMPLE
    types, roles = _parts(tally, 1), _parts(tally, 2)
    # Roles that meet in a sample are many: to sum the products of their counts would cost as much as to score it.
    macro = {"event_types": Matched().means(tally), "roles": _means(roles.values())}
    by_paper = [m for m in all_measures(settings) if isinstance(m, RatioMeasure) and m.section == "papers" and m.parts]
    if by_paper:
        whole = [measure for measure in by_paper if measure.metrics(tally)]  # others count only parts of one of these
        macro["papers"] = {name: mean for measure in whole for name, mean in measure.means(tally).items()}
    return {
        "event_types": [_entry(("event_type",), key, metrics, unit) for key, metrics in types.items()],
        "roles": [_entry(("event_type", "role"), key, metrics, unit) for key, metrics in roles.items()],
        **({"papers": _of_papers(tally, by_paper, unit)} if by_paper else {}),
        "macro": {
            kind: {name: with_interval(mean, unit) for name, mean in means.items()} for kind, means in macro.items()
        },
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
        "values": {"distinct": _checked_values(tally), "units": counts["hallucination_units"]},
        "texts": text_counts(tally),
    }


def _of_papers(tally: Tally, measures: list[RatioMeasure[Facts]], unit: str) -> list[dict[str, Any]]:
    """The rates of each event type that a profile counts, and of its roles where it counts them."""
    found: dict[str, Any] = {}
    for measure in measures:
        for (event_type,), metrics in _parts(tally, 1, measure).items() if measure.metrics(tally) else ():
            rates = {name: with_interval(metric, unit) for name, metric in metrics.items()}
            found.setdefault(event_type, {"event_type": event_type, "metrics": {}})["metrics"].update(rates)
        for (event_type, role), metrics in _parts(tally, 2, measure).items():
            rates = {name: with_interval(metric, unit) for name, metric in metrics.items()}
            found[event_type].setdefault("roles", []).append({"role": role, "metrics": rates})
    return [found[event_type] for event_type in sorted(found)]


def _checked_values(tally: Tally) -> int:
    rate = Hallucination().metrics(tally)["hallucination_entity_rate"]
    assert isinstance(rate, Rate)
    return rate.denominator


def _parts(tally: Tally, names: int, of: RatioMeasure[Facts] | None = None) -> dict[tuple[str, ...], Metrics]:
    """The metrics of each event type (`names` 1), or of each role of an event type (2), sorted by name."""
    measure = Matched() if of is None else of
    keys = sorted(key for key in tally.tables if key[0] == measure.table and len(key) == names + 1)
    return {key[1:]: measure.metrics_of(tally, key) for key in keys}


def _entry(names: tuple[str, ...], key: tuple[str, ...], metrics: Metrics, unit: str) -> dict[str, Any]:
    precision, recall = metrics["strict_precision"], metrics["relaxed_recall"]
    assert isinstance(precision, Rate)
    assert isinstance(recall, Rate)
    return {
        **dict(zip(names, key, strict=True)),
        "predicted": precision.denominator,
        "gold": recall.denominator,
        "strict_hits": precision.numerator,
        "relaxed_hits": recall.numerator,
        **{name: with_interval(metric, unit) for name, metric in metrics.items()},
    }


def _means(parts: Collection[Metrics]) -> dict[str, Mean]:
    return {name: mean([rate for part in parts if isinstance(rate := part[name], Rate)]) for name in Matched.ratios}
