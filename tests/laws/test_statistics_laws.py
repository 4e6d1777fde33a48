"""Laws of the statistics: order and split change nothing, exchanged systems only signs, more data never widens."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.sums import Counts, RatioForm, UnitSums, pair_sums
from goldgate.runs.differences import paired_difference, rate_difference
from goldgate.stats import paired
from goldgate.stats.distributions import t_quantile, t_tail
from goldgate.stats.interval import Interval, NoInterval, share_interval
from goldgate.stats.multiple_testing import Runs, benjamini_hochberg, holm
from goldgate.stats.paired import UnitPair, difference_interval, paired_sums, swap_test
from tests.examples import examples
from tests.unit.stats.macro import MacroSums, macro_interval

shares = st.integers(0, 12).flatmap(lambda b: st.tuples(st.integers(0, b), st.just(b)))
pairs_of_systems = st.lists(st.tuples(shares, shares).map(lambda pair: pair[0] + pair[1]), min_size=1, max_size=30)
runs_of_systems = st.tuples(shares, shares, shares)
counts = st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 9))
weights = st.tuples(*[st.integers(-1, 2)] * 3)
classes = st.dictionaries(st.sampled_from("ABC"), shares, max_size=3)


@given(st.lists(counts, max_size=40), weights, weights)
def test_sums_by_column_are_those_of_the_units_one_by_one(units: list[Counts], above: Counts, below: Counts) -> None:
    form = RatioForm(above, below)
    summed = UnitSums({"rate": form})
    for unit in units:
        summed.add(unit)
    assert summed.sums() == {"rate": pair_sums(Counter(map(form.of, units)))}


@given(st.lists(shares, max_size=40))
def test_an_interval_has_a_width_and_holds_its_rate(units: list[tuple[int, int]]) -> None:
    sums = pair_sums(Counter(units))
    found = share_interval(sums)
    if isinstance(found, NoInterval):
        assert sums.b == 0
        return
    assert 0 <= found.low < found.high <= 1
    assert found.low <= Fraction(sums.a, sums.b) <= found.high


@given(st.lists(shares, min_size=1, max_size=30), st.integers(2, 5))
def test_the_same_documents_again_never_widen(units: list[tuple[int, int]], times: int) -> None:
    once = share_interval(pair_sums(Counter(units)))
    again = share_interval(pair_sums(Counter(units * times)))
    if isinstance(once, Interval) and isinstance(again, Interval):
        assert again.high - again.low <= once.high - once.low


@given(st.lists(classes, min_size=1, max_size=20), st.integers(2, 4))
def test_the_same_documents_again_never_widen_a_macro_average(
    units: list[dict[str, tuple[int, int]]], times: int
) -> None:
    once, again = MacroSums(), MacroSums()
    for unit in units:
        once.add(unit)
        for _ in range(times):
            again.add(unit)
    found, more = macro_interval(once), macro_interval(again)
    if isinstance(found, Interval) and isinstance(more, Interval):
        assert more.high - more.low <= found.high - found.low


@given(st.lists(shares, min_size=1, max_size=30))
def test_right_and_wrong_exchanged_mirror_the_interval(units: list[tuple[int, int]]) -> None:
    found = share_interval(pair_sums(Counter(units)))
    mirrored = share_interval(pair_sums(Counter((b - a, b) for a, b in units)))
    if isinstance(found, Interval) and isinstance(mirrored, Interval):
        assert abs(found.low - (1 - mirrored.high)) < 3e-9
        assert abs(found.high - (1 - mirrored.low)) < 3e-9


@given(pairs_of_systems)
def test_exchanged_systems_flip_the_signs_and_nothing_else(units: list[UnitPair]) -> None:
    found = paired_difference(Counter(units))
    turned = paired_difference(Counter((a2, b2, a1, b1) for a1, b1, a2, b2 in units))
    assert turned == found.mirrored()
    assert turned.detectable == found.detectable


@given(st.lists(st.tuples(runs_of_systems, runs_of_systems), min_size=2, max_size=12))
def test_exchanged_systems_with_several_runs_too(units: list[tuple[Runs, Runs]]) -> None:
    pairs = Counter(one + other for one, other in units)
    assert rate_difference(pairs, (0, 1, 2), (3, 4, 5), share=True) == (
        rate_difference(pairs, (3, 4, 5), (0, 1, 2), share=True).mirrored()
    )


@given(st.lists(shares, min_size=1, max_size=30))
def test_a_system_with_itself_differs_by_nothing(units: list[tuple[int, int]]) -> None:
    found = paired_difference(Counter(unit + unit for unit in units))
    if found.value is not None:
        assert found.value == 0
        assert found.p == 1.0
        assert found.standing is not None
        assert found.standing.wins == found.standing.losses == 0


@given(pairs_of_systems, st.integers(2, 4))
def test_the_same_pairs_again_never_widen(units: list[UnitPair], times: int) -> None:
    once = difference_interval(paired_sums(Counter(units)))
    again = difference_interval(paired_sums(Counter(units * times)))
    if isinstance(once, Interval) and isinstance(again, Interval):
        assert again.high - again.low <= once.high - once.low


@given(pairs_of_systems, st.integers(1, 50))
def test_documents_without_counts_change_nothing(units: list[UnitPair], empty: int) -> None:
    assert paired_difference(Counter([*units, *[(0, 0, 0, 0)] * empty])) == paired_difference(Counter(units))


@given(pairs_of_systems)
@examples(50)
def test_the_swap_test_is_a_probability_that_does_not_depend_on_order(units: list[UnitPair]) -> None:
    one, other = paired_difference(Counter(units)), paired_difference(Counter(reversed(units)))
    assert one == other
    if one.p is not None:
        assert 0 < one.p <= 1
        assert one.p == 1 or one.value != 0


@given(pairs_of_systems, st.integers(1, 400), st.integers(0, 2_000))
@examples(50)
def test_ways_that_are_not_counted_are_too_many_to_count(units: list[UnitPair], steps: int, bits: int) -> None:
    """Seen beforehand or not, the same tests count all ways, with the same result."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paired, "_MAX_STEPS", steps)
        patch.setattr(paired, "_MAX_BITS", bits)
        seen = swap_test(Counter(units), 99)
        patch.setattr(paired, "takes_too_long", lambda _: False)
        assert swap_test(Counter(units), 99) == seen


@given(st.floats(1e-9, 1 - 1e-9), st.floats(0.5, 1e6))
def test_tail_and_quantile_are_inverse(p: float, df: float) -> None:
    assert abs(t_tail(t_quantile(p, df), df) - (1 - p)) <= 1e-9 * min(p, 1 - p) + 1e-15


@given(st.lists(st.floats(0, 1), max_size=12))
def test_adjusted_p_values_keep_their_order_and_never_fall(p_values: list[float]) -> None:
    for adjusted in (holm(p_values), benjamini_hochberg(p_values)):
        assert all(after >= before for before, after in zip(p_values, adjusted, strict=True))
        assert all(value <= 1 for value in adjusted)
        ranked = [after for _, after in sorted(zip(p_values, adjusted, strict=True))]
        assert ranked == sorted(ranked)
    for careful, bold in zip(holm(p_values), benjamini_hochberg(p_values), strict=True):
        assert careful >= bold
