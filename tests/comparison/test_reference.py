"""The example models, compared by plain code: a paired randomization and a bootstrap come to the same."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from goldgate.comparison import Comparison

Unit = tuple[int, int]  # 2 hits, predicted + gold


@pytest.fixture(scope="module")
def counts(stored: Path) -> list[tuple[Unit, Unit]]:
    """Strict F1 of both models in each document, straight from the records."""
    both = []
    for name in ("a", "b"):
        lines = (stored / name / "samples.jsonl").read_bytes().splitlines()
        found = {}
        for line in lines:
            record = json.loads(line)
            sides = [
                {(kind, *pair) for kind, pairs in record[side].items() for pair in map(tuple, pairs)}
                for side in ("predicted", "gold")
            ]
            strict, _, predicted, gold = record["units"]["matching"]
            assert gold == len(sides[1])
            found[record["id"]] = (2 * strict, predicted + gold)
        both.append(found)
    return [(both[0][identity], both[1][identity]) for identity in both[0]]


def rate(units: list[Unit]) -> float:
    return sum(a for a, _ in units) / sum(b for _, b in units)


def f1_difference(pairs: list[tuple[Unit, Unit]]) -> float:
    return rate([second for _, second in pairs]) - rate([first for first, _ in pairs])


def test_the_difference_is_that_of_the_two_rates(counts: list[tuple[Unit, Unit]], a_and_b: Comparison) -> None:
    found = a_and_b["strict_f1"]["difference"]
    assert found["value"] == pytest.approx(f1_difference(counts), abs=1e-12)


def test_a_bootstrap_over_documents_gives_much_the_same_interval(
    counts: list[tuple[Unit, Unit]], a_and_b: Comparison
) -> None:
    rng = random.Random(3)
    drawn = sorted(f1_difference(rng.choices(counts, k=len(counts))) for _ in range(4000))
    found = a_and_b["strict_f1"]["difference"]
    assert found["low"] == pytest.approx(drawn[100], abs=0.012)
    assert found["high"] == pytest.approx(drawn[-100], abs=0.012)


@pytest.mark.parametrize("metric", ["type_recall", "type_f1", "hallucination_rate"])
def test_a_plain_paired_randomization_gives_the_same_p_value(stored: Path, metric: str, a_and_b: Comparison) -> None:
    from goldgate.runs.differences import compared_rates
    from goldgate.suites import load_suite

    form = compared_rates(load_suite("extraction"))[metric]
    both = []
    for name in ("a", "b"):
        records = map(json.loads, (stored / name / "samples.jsonl").read_bytes().splitlines())
        both.append([form.form.of(tuple(record["units"][form.table])) for record in records])
    pairs = [*zip(*both, strict=True)]
    rng, observed, reached, draws = random.Random(11), abs(f1_difference(pairs)), 0, 4000
    for _ in range(draws):
        swapped = [pair if rng.random() < 0.5 else pair[::-1] for pair in pairs]
        reached += abs(f1_difference(swapped)) >= observed - 1e-12
    assert a_and_b[metric]["p"] == pytest.approx((1 + reached) / (1 + draws), abs=0.025)
