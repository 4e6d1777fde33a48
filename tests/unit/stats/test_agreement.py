"""On the example data, what is computed without draws agrees with what others draw: a bootstrap, a randomization."""

from __future__ import annotations

import random
from collections import Counter
from functools import cache
from io import BytesIO
from pathlib import Path

import orjson
import pytest

from goldgate import evaluate_files
from goldgate.core.sums import pair_sums
from goldgate.runs.differences import paired_difference
from goldgate.stats.interval import Interval, share_interval
from tests.cases import cases

EXAMPLES = Path(__file__).parents[3] / "examples" / "extraction"
DRAWS = 2_000
Documents = list[tuple[int, int]]


@cache
def strict_counts(model: str) -> tuple[tuple[int, int], ...]:
    """2 hits, and predicted + gold, of every document."""
    lines, found = BytesIO(), []
    evaluate_files(EXAMPLES / "gold.jsonl", EXAMPLES / f"{model}.jsonl", EXAMPLES / "schema.json", records=lines)
    for line in lines.getvalue().splitlines():
        sample = orjson.loads(line)
        gold, predicted = (
            {(kind, *unit) for kind, units in (sample[side] or {}).items() for unit in units}
            for side in ("gold", "predicted")
        )
        found.append((2 * len(gold & predicted), len(gold) + len(predicted)))
    return tuple(found)


def f1(documents: Documents) -> float:
    return sum(a for a, _ in documents) / sum(b for _, b in documents)


@cases("model", ["model-a", "model-b"])
def test_interval_agrees_with_a_percentile_bootstrap(model: str) -> None:
    documents, rng = list(strict_counts(model)), random.Random(1)
    drawn = sorted(f1(rng.choices(documents, k=len(documents))) for _ in range(DRAWS))
    found = share_interval(pair_sums(Counter(documents)))
    assert isinstance(found, Interval)
    assert found.low == pytest.approx(drawn[DRAWS // 40], abs=0.012)
    assert found.high == pytest.approx(drawn[-DRAWS // 40], abs=0.012)
    assert found.low < f1(documents) < found.high


@pytest.mark.parametrize("documents", [slice(0, 6), slice(20, 28), slice(3, 80, 9), slice(0, 80)], ids=str)
def test_swap_test_agrees_with_a_paired_randomization(documents: slice) -> None:
    pairs = list(zip(strict_counts("model-a"), strict_counts("model-b"), strict=True))[documents]
    found = paired_difference(Counter(one + other for one, other in pairs))
    rng, reached = random.Random(1), 0
    observed = abs(f1([one for one, _ in pairs]) - f1([other for _, other in pairs]))
    for _ in range(DRAWS):
        swapped = [pair[::-1] if rng.random() < 0.5 else pair for pair in pairs]
        reached += abs(f1([one for one, _ in swapped]) - f1([other for _, other in swapped])) >= observed - 1e-12
    assert found.p == pytest.approx((1 + reached) / (1 + DRAWS), abs=0.04)
