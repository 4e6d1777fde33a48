from __future__ import annotations

from fractions import Fraction

import pytest

from goldgate.stats.interval import Interval, NoInterval
from goldgate.stats.multiple_testing import (
    Runs,
    RunsDifference,
    RunsSummary,
    benjamini_hochberg,
    compare_runs,
    holm,
    summarize_runs,
)


def test_holm_by_hand() -> None:
    # Sorted 0.01 0.02 0.03 0.04, times 4 3 2 1: 0.04, 0.06, 0.06, 0.04 → never less than the one before
    assert holm([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.06, 0.04, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []


def test_adjusting_leaves_no_dust_behind() -> None:
    """p-values are shown rounded up: 0.00030000000000000003 would be shown as 0.0004."""
    assert holm([0.0001, 0.0001, 0.0002]) == [0.0003, 0.0003, 0.0003]
    assert benjamini_hochberg([0.0001, 0.5, 0.7]) == [0.0003, 0.7, 0.7]


def test_benjamini_hochberg_by_hand() -> None:
    # Sorted 0.01 0.02 0.03 0.04, times 4/1 4/2 4/3 4/4: all 0.04
    assert benjamini_hochberg([0.04, 0.01, 0.03, 0.02]) == pytest.approx([0.04] * 4)
    assert benjamini_hochberg([0.01, 0.5]) == pytest.approx([0.02, 0.5])


def test_one_run_has_the_spread_of_its_documents_alone() -> None:
    summary = summarize_runs({((1, 1),): 10, ((0, 1),): 10})
    assert isinstance(summary, RunsSummary)
    assert (summary.mean, summary.between_runs, summary.se_runs) == (Fraction(1, 2), 0.0, 0.0)
    assert summary.se == summary.se_units == pytest.approx((20 / 19 * 20 * 0.25) ** 0.5 / 20)


def test_runs_that_agree_add_nothing() -> None:
    one, three = summarize_runs({((1, 1),): 10, ((0, 1),): 10}), summarize_runs({((1, 1),) * 3: 10, ((0, 1),) * 3: 10})
    assert isinstance(one, RunsSummary)
    assert isinstance(three, RunsSummary)
    assert three.interval == one.interval


def test_runs_that_disagree_widen() -> None:
    # All documents alike, runs at 0.2, 0.5, 0.8: no spread between documents; s = 0.3, s²/3 = 0.03
    summary = summarize_runs({((2, 10), (5, 10), (8, 10)): 40})
    assert isinstance(summary, RunsSummary)
    assert summary.between_runs == pytest.approx(0.3)
    assert summary.se_runs == pytest.approx(0.03**0.5)
    assert summary.se_units == 0
    assert summary.df == pytest.approx(2)
    assert isinstance(summary.interval, Interval)
    assert summary.interval.high - summary.interval.low > 0.8


def test_what_only_varies_by_document_and_run_counts_once() -> None:
    # Each document is right in one of two runs, by turns: both runs have 1/2, and the mean of every document is 1/2.
    summary = summarize_runs({((1, 1), (0, 1)): 10, ((0, 1), (1, 1)): 10})
    assert isinstance(summary, RunsSummary)
    assert (summary.se_runs, summary.se_units) == (0, 0)
    assert isinstance(summary.interval, Interval)
    assert summary.interval.high > summary.interval.low


def test_a_run_without_counts_is_said() -> None:
    assert isinstance(summarize_runs({((1, 1), (0, 0)): 3}), NoInterval)
    assert isinstance(summarize_runs({}), NoInterval)


def test_two_systems_with_runs() -> None:
    better: Runs = ((9, 10), (8, 10), (10, 10))
    worse: Runs = ((5, 10), (6, 10))
    units: dict[tuple[Runs, Runs], int] = {(better, worse): 10, (tuple((a - 1, b) for a, b in better), worse): 10}
    found = compare_runs(units)
    assert isinstance(found, RunsDifference)
    assert found.value == Fraction(17, 20) - Fraction(11, 20)
    assert isinstance(found.interval, Interval)
    assert found.p is not None
    assert found.interval.low > 0 or found.p > 0.05
    turned = compare_runs({(second, first): times for (first, second), times in units.items()})
    assert isinstance(turned, RunsDifference)
    assert (turned.value, turned.se, turned.p) == (-found.value, found.se, found.p)


def test_a_system_with_itself_over_runs() -> None:
    runs = ((9, 10), (8, 10))
    found = compare_runs({(runs, runs): 10})
    assert isinstance(found, RunsDifference)
    assert found.value == 0
    assert found.p == 1.0


def test_one_document_says_nothing_about_others_however_often_it_was_asked() -> None:
    summary = summarize_runs({((1, 2), (2, 2)) * 4: 1})
    assert isinstance(summary, RunsSummary)
    assert (summary.df, summary.se_units) == (0, 0)
    assert isinstance(summary.interval, Interval)
    assert (summary.interval.low, summary.interval.high) == (0, 1)
    above = summarize_runs({((3, 2), (4, 2)): 1}, share=False)
    assert isinstance(above, RunsSummary)
    assert above.interval == NoInterval("one unit shows no spread")


def test_a_ratio_above_1_lies_within_its_interval() -> None:
    # Means 43/40 and 89/80; 1.094 ± t · 0.0486
    units: dict[Runs, int] = {((12, 10), (13, 10)): 3, ((10, 10), (10, 10)): 5}
    summary = summarize_runs(units, share=False)
    assert isinstance(summary, RunsSummary)
    assert isinstance(summary.interval, Interval)
    assert summary.interval.low < summary.mean < summary.interval.high
    assert summary.interval.method == "runs-t"
    alike = summarize_runs({((12, 10), (12, 10)): 3}, share=False)
    assert isinstance(alike, RunsSummary)
    assert alike.interval == NoInterval("the units and the runs show no spread")


def test_ratios_may_differ_by_more_than_1() -> None:
    high, low = ((40, 10), (42, 10)), ((10, 10), (10, 10))
    found = compare_runs({(high, low): 4, (low, low): 1}, share=False)
    assert isinstance(found, RunsDifference)
    assert isinstance(found.interval, Interval)
    assert found.interval.low < found.value < found.interval.high
    assert found.value > 2
