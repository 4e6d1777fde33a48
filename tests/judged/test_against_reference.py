"""The suite's numbers against the formulas worked out a second time from their specification (`reference.py`)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from goldgate.core.metric import Metric
from goldgate.stats.interval import Interval, gate_interval_of, interval_of
from goldgate.suites.judged.measures import TABLE, LabelledRates

from . import reference
from .made import metrics, pair, random_items

CLOSE = 3e-9  # ends are cut to nine digits, and long scores of a judge are rounded to as many
MODES = ("plain", "groups", "strata")


def ends(metric: Metric, *, gate: bool = False) -> tuple[float, float]:
    interval = (gate_interval_of if gate else interval_of)(metric, 0.95)
    assert isinstance(interval, Interval)
    return interval.low, interval.high


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(40))
def test_the_corrected_rate_is_that_of_the_specification(mode: str, seed: int) -> None:
    items = random_items(random.Random(f"{mode} {seed}"), mode)
    found = metrics(items)
    for gate in (False, True):
        expected = reference.estimate(items, gate=gate)
        if isinstance(expected, reference.Undefined):
            assert found["rate"].value is None
            assert found["rate"].reason
            continue
        middle = (expected.lower.rate + expected.upper.rate) / 2
        assert found["rate"].value == pytest.approx(middle, abs=1e-9)
        assert ends(found["rate"], gate=gate) == pytest.approx(expected.interval, abs=CLOSE)
        worth = min(expected.lower.labels_worth, expected.upper.labels_worth)
        assert gate or found["labels_worth"].value == pytest.approx(worth, rel=1e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_gate_takes_the_worse_of_the_rate_with_and_without_a_judge_that_may_be_newer(seed: int) -> None:
    items = random_items(random.Random(f"newer {seed}"), "plain")
    found = metrics(items, older=False)["rate"]
    if found.value is None:
        return
    both = [
        ends(each["rate"], gate=True) for each in (metrics(items), metrics([replace(one, judge=None) for one in items]))
    ]
    assert ends(found, gate=True) == (min(low for low, _ in both), max(high for _, high in both))
    assert ends(found) == ends(metrics(items)["rate"])


@pytest.mark.parametrize("seed", range(40))
def test_the_difference_of_two_systems_is_that_of_the_specification(seed: int) -> None:
    rng = random.Random(seed)
    first = [replace(item, human=1) if item.human == "unsure" else item for item in random_items(rng, "plain")]
    second = [
        replace(item, human=item.human if item.human is None else rng.choice([0, 1]), judge=rng.choice([0, 1, None]))
        for item in first
    ]
    found = LabelledRates().difference("rate", (TABLE,), pair(first, second))
    expected = reference.difference(first, second)
    if isinstance(expected, reference.Undefined):
        assert found.value is None
        assert found.reason
        return
    assert found.value is not None
    assert found.interval_at is not None
    interval = found.interval_at(0.95)
    assert float(found.value) == pytest.approx(expected[0], abs=1e-9)
    assert (interval.low, interval.high) == pytest.approx(expected[1:], abs=CLOSE)
