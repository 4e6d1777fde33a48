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
