"""The breakdown per event type and role, its macro averages, and the error names of a report."""

from __future__ import annotations

from typing import Any

import pytest

from goldgate import Evaluation

from ..helpers import Json, event, gold, judge


@pytest.fixture
def evaluation() -> Evaluation:
    """Two samples.

    sample 1: gold T.r {ab, c}, T.s {d};  predicted T.r {a, c}, U.r {d}
    sample 2: gold T.r {e};               predicted nothing
    """
    golds = [
        gold(event("T", ("r", "ab"), ("r", "c"), ("s", "d")), text="abcd", identity="1"),
        gold(event("T", ("r", "e")), text="e", identity="2"),
    ]
    predictions: list[Json] = [
        {"id": "1", "events": [event("T", ("r", "a"), ("r", "c")), event("U", ("r", "d"))]},
        {"id": "2", "events": []},
    ]
    return judge(golds, predictions)


def pick(entry: dict[str, Any], *names: str) -> tuple[Any, ...]:
    return tuple(entry[name] for name in names)


COUNTS = "predicted", "gold", "strict_hits", "relaxed_hits"


def plain(metric: Json) -> Json:
    """A metric but for its interval."""
    return {key: value for key, value in metric.items() if not key.startswith("interval")}


def test_event_types_have_their_own_counts(evaluation: Evaluation) -> None:
    types = evaluation.report["breakdown"]["event_types"]
    # T: predicted 2; gold 3 + 1; strict c; relaxed c and a–ab. U: one predicted.
    assert [(entry["event_type"], *pick(entry, *COUNTS)) for entry in types] == [("T", 2, 4, 1, 2), ("U", 1, 0, 0, 0)]
    assert plain(types[0]["strict_f1"]) == {"value": 2 / 6, "numerator": 2, "denominator": 6}
    assert plain(types[0]["relaxed_f1"]) == {"value": 4 / 6, "numerator": 4, "denominator": 6}
    assert types[1]["strict_recall"]["value"] is None


def test_roles_have_their_own_counts(evaluation: Evaluation) -> None:
    roles = evaluation.report["breakdown"]["roles"]
    assert [(*pick(entry, "event_type", "role"), *pick(entry, *COUNTS)) for entry in roles] == [
        ("T", "r", 2, 3, 1, 2),
        ("T", "s", 0, 1, 0, 0),
        ("U", "r", 1, 0, 0, 0),
    ]


def test_parts_of_the_breakdown_add_up_to_the_whole(evaluation: Evaluation) -> None:
    breakdown, main = evaluation.report["breakdown"], evaluation.report["metrics"]["main"]
    for entries in (breakdown["event_types"], breakdown["roles"]):
        predicted, wanted, strict, relaxed = (sum(entry[name] for entry in entries) for name in COUNTS)
        assert plain(main["strict_f1"]) == {
            "value": 2 * strict / (predicted + wanted),
            "numerator": 2 * strict,
            "denominator": predicted + wanted,
        }
        assert main["relaxed_precision"]["numerator"] == relaxed


def test_macro_average_is_over_the_defined_rates(evaluation: Evaluation) -> None:
    macro = evaluation.report["breakdown"]["macro"]
    # types: strict F1 of T 2/6, of U 0/1: (1/3 + 0) / 2 = 1/6
    assert plain(macro["event_types"]["strict_f1"]) == {"value": pytest.approx(1 / 6), "averaged": 2, "undefined": 0}
    # recall of U is undefined: T alone, 1/4
    assert plain(macro["event_types"]["strict_recall"]) == {"value": 0.25, "averaged": 1, "undefined": 1}
    # roles, relaxed precision: T.r 2/2, T.s undefined, U.r 0/1: (1 + 0) / 2
    assert plain(macro["roles"]["relaxed_precision"]) == {"value": 0.5, "averaged": 2, "undefined": 1}


def test_error_names_add_up_to_all_errors(evaluation: Evaluation) -> None:
    # FP: a (boundary), U.r d (no: T.s d has another type and role: spurious). FN: ab (boundary), d, e (missing).
    errors = {
        name: pick(entry, "false_positives", "false_negatives") for name, entry in evaluation.report["errors"].items()
    }
    assert errors == {
        "boundary": (1, 1),
        "wrong_role": (0, 0),
        "wrong_type": (0, 0),
        "hallucinated": (0, 0),
        "spurious": (1, 0),
        "missing": (0, 2),
    }
    # 3 predicted and 4 gold, 1 hit: 2 FP, 3 FN
    assert sum(entry["value"] for entry in evaluation.report["errors"].values()) == (3 - 1) + (4 - 1)


def test_breakdown_of_nothing_is_empty() -> None:
    breakdown = judge([gold()], []).report["breakdown"]
    assert (breakdown["event_types"], breakdown["roles"]) == ([], [])
    assert breakdown["macro"]["roles"]["strict_f1"]["value"] is None
