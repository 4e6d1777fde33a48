"""Strict and relaxed hits, worked out by hand."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import cases

from ..helpers import Json, answer, counts, event, gold, judge, score


def one_role(*values: str) -> Json:
    return event("T", *(("r", value) for value in values))


def spanned(value: str, start: int, end: int) -> Json:
    return {"role": "r", "argument": value, "start": start, "end": end}


def with_spans(*arguments: Json) -> Json:
    return {"event_type": "T", "arguments": list(arguments)}


def hits(predicted: Json, wanted: Json, **settings: Any) -> tuple[int, int]:
    """Strict and relaxed hits."""
    result = score([predicted], gold(wanted), **settings)
    (strict, _), (relaxed, _) = counts(result, "strict_precision", "relaxed_precision")
    return strict, relaxed


def test_strict_counts_exact_units_over_the_sets_of_a_sample() -> None:
    # P = {a, b, c}, G = {a, b, d, e}: TP 2, P 2/3, R 2/4, F1 = 2·2 / (3 + 4)
    result = score([one_role("a", "b", "c", "a")], gold(one_role("b", "a", "d", "e")))
    assert counts(result, "strict_precision", "strict_recall", "strict_f1") == ((2, 3), (2, 4), (4, 7))


@cases(
    ("predicted", "wanted"),
    [
        pytest.param(event("T", ("r", "x")), event("U", ("r", "x")), id="other-type"),
        pytest.param(event("T", ("r", "x")), event("T", ("s", "x")), id="other-role"),
        pytest.param(event("T", ("r", "xyz")), event("U", ("r", "xyzw")), id="relaxed-needs-the-same-type"),
        pytest.param(event("T", ("r", "xyz")), event("T", ("s", "xyzw")), id="relaxed-needs-the-same-role"),
    ],
)
def test_units_match_only_within_a_type_and_role(predicted: Json, wanted: Json) -> None:
    assert hits(predicted, wanted) == (0, 0)
    assert hits(predicted, wanted, relaxed="span_iou") == (0, 0)


def test_counts_are_summed_over_samples_before_they_are_divided() -> None:
    # sample 1: P 1, G 1, TP 1; sample 2: P 3, G 1, TP 0. P = 1/4, not the mean (1 + 0) / 2.
    result = judge(
        [gold(one_role("a"), identity="1"), gold(one_role("a"), identity="2")],
        [{"id": "1", "response": answer(one_role("a"))}, {"id": "2", "response": answer(one_role("b", "c", "d"))}],
    )
    assert counts(result, "strict_precision", "strict_recall", "strict_f1") == ((1, 4), (1, 2), (2, 6))


def test_same_unit_in_two_samples_counts_twice() -> None:
    golds = [gold(one_role("a"), identity=name) for name in "12"]
    result = judge(golds, [{"id": name, "events": [one_role("a")]} for name in "12"])
    assert counts(result, "strict_precision") == ((2, 2),)


@cases(
    ("predicted", "wanted", "relaxed"),
    [
        pytest.param("甲", "甲公司", 1, id="predicted-inside-gold"),
        pytest.param("甲公司的", "公司", 1, id="gold-inside-predicted"),
        pytest.param("甲 公司", "甲公司", 1, id="equal-once-normalized"),
        # {a,b,c,d} and {c,d,a,x}: 3 common of 5
        pytest.param("abcd", "cdax", 1, id="overlap-3-of-5"),
        # {a,b} and {a,c,…}: {a,b,c} ∩ {a,b,d} = 2, ∪ = 4: exactly 0.5
        pytest.param("abc", "dab", 1, id="overlap-exactly-a-half"),
        # {a,b,c} ∩ {a,d,e} = 1 of 5
        pytest.param("abc", "ade", 0, id="overlap-1-of-5"),
        # sets, not strings: {a,b} of "aaab" and {b,a} of "baba" are equal
        pytest.param("aaab", "baba", 1, id="characters-as-sets"),
        # {a,b,c,d,e} ∩ {a,b,c,x,y} = 3 of 7 < 1/2
        pytest.param("abcde", "cbaxy", 0, id="overlap-3-of-7"),
    ],
)
def test_include_or_char_overlap(predicted: str, wanted: str, relaxed: int) -> None:
    assert hits(one_role(predicted), one_role(wanted))[1] == relaxed


@cases(
    ("threshold", "relaxed"),
    [
        pytest.param("0.6", 1, id="exactly"),  # 3 of 5
        pytest.param("0.600000000000000000001", 0, id="a-hair-above"),
        pytest.param("0", 1, id="zero-matches-all"),
        pytest.param("1", 0, id="one-needs-equal-sets"),
    ],
)
def test_char_overlap_threshold_is_exact(threshold: str, relaxed: int) -> None:
    assert hits(one_role("abcd"), one_role("cdax"), threshold=threshold)[1] == relaxed


def test_third_is_not_0_3333_but_above_it() -> None:
    # {a,b} ∩ {b,c} = 1 of 3
    assert hits(one_role("ab"), one_role("bc"), threshold="0.3333")[1] == 1
    assert hits(one_role("ab"), one_role("bc"), threshold="0.3334")[1] == 0


@cases(
    ("predicted", "wanted", "threshold", "relaxed"),
    [
        # L = 4 ("abcd"), |a| = 4, |b| = 8: 4 / (4 + 8 − 4) = 0.5
        pytest.param("abcd", "abcdefgh", "0.5", 1, id="exactly-a-half"),
        # L = 4, |b| = 9: 4/9 < 0.5. Contained, but containment is not this rule.
        pytest.param("abcd", "abcdefghi", "0.5", 0, id="just-below"),
        # L = 3 ("bcd"): 3 / (4 + 5 − 3) = 0.5
        pytest.param("abcd", "xbcdy", "0.5", 1, id="common-stretch-inside"),
        # the longest stretch counts, not all stretches: "ab" of "abxcd" / "abycd": 2 / (5 + 5 − 2)
        pytest.param("abxcd", "abycd", "0.5", 0, id="one-stretch"),
        pytest.param("abxcd", "abycd", "0.25", 1, id="one-stretch-a-quarter"),
        pytest.param("甲 公司", "甲公司", "1", 1, id="equal-once-normalized"),
        pytest.param("x", "y", "0", 1, id="zero-matches-all"),
        # 1 / (2 + 2 − 1) = 1/3
        pytest.param("ab", "bc", "0.3333", 1, id="third-above-0.3333"),
        pytest.param("ab", "bc", "0.3334", 0, id="third-below-0.3334"),
    ],
)
def test_span_iou_without_offsets_uses_the_longest_common_stretch(
    predicted: str, wanted: str, threshold: str, relaxed: int
) -> None:
    assert hits(one_role(predicted), one_role(wanted), relaxed="span_iou", threshold=threshold)[1] == relaxed


@cases(
    ("predicted", "wanted", "relaxed"),
    [
        # [0,4) and [2,6): 2 common of 6
        pytest.param((0, 4), (2, 6), 0, id="a-third"),
        # [0,4) and [1,5): 3 of 5
        pytest.param((0, 4), (1, 5), 1, id="three-fifths"),
        # [0,6) and [2,8): 4 of 8, exactly a half
        pytest.param((0, 6), (2, 8), 1, id="exactly-a-half"),
        pytest.param((0, 4), (4, 8), 0, id="side-by-side"),
        pytest.param((0, 2), (5, 9), 0, id="apart"),
        # [0,10) and [0,5): 5 of 10
        pytest.param((0, 10), (0, 5), 1, id="inside"),
    ],
)
def test_span_iou_uses_offsets_where_both_carry_them(
    predicted: tuple[int, int], wanted: tuple[int, int], relaxed: int
) -> None:
    # The texts share nothing, so that only the offsets can match them.
    ours, theirs = with_spans(spanned("abc", *predicted)), with_spans(spanned("xyz", *wanted))
    assert hits(ours, theirs, relaxed="span_iou") == (0, relaxed)


def test_offsets_on_one_side_only_fall_back_on_the_text() -> None:
    ours, theirs = with_spans(spanned("abcd", 0, 4)), one_role("abcdef")  # 4 / (4 + 6 − 4) = 2/3
    assert hits(ours, theirs, relaxed="span_iou")[1] == 1
    far = with_spans(spanned("abcd", 0, 4)), with_spans(spanned("abcdef", 50, 56))  # both: [0,4) and [50,56)
    assert hits(*far, relaxed="span_iou")[1] == 0


def test_equal_arguments_match_wherever_they_stand() -> None:
    ours, theirs = with_spans(spanned("abc", 0, 3)), with_spans(spanned("abc", 50, 53))
    assert hits(ours, theirs, relaxed="span_iou") == (1, 1)


def test_gold_argument_that_stands_at_two_places_may_be_matched_by_either() -> None:
    theirs = with_spans(spanned("xyz", 0, 4), spanned("xyz", 50, 54))
    assert hits(with_spans(spanned("abc", 51, 55)), theirs, relaxed="span_iou") == (0, 1)  # 3 of 5


def test_one_value_at_all_offsets_matches_nothing_by_them() -> None:
    theirs = with_spans(spanned("xyz", 51, 55))
    everywhere = [spanned("abc", start, start + 4) for start in range(60)]
    assert hits(with_spans(*everywhere), theirs, relaxed="span_iou") == (0, 0)
    assert hits(with_spans(everywhere[51], everywhere[51]), theirs, relaxed="span_iou") == (0, 1)  # one place, twice
    padded = [spanned("xyz abc", start, start + 7) for start in range(60)]  # its text: 3 of 6
    assert hits(with_spans(*padded), theirs, relaxed="span_iou") == (0, 1)


def test_offsets_do_not_matter_to_the_other_rule() -> None:
    ours, theirs = with_spans(spanned("abc", 0, 4)), with_spans(spanned("xyz", 0, 4))
    assert hits(ours, theirs) == (0, 0)


@cases(
    ("predicted", "wanted", "strict", "relaxed"),
    [
        # ab–ab exactly leaves b and a, which do not fit; ab–a and b–ab do: the exact hit is rerouted.
        pytest.param(["ab", "b"], ["ab", "a"], 1, 2, id="exact-hit-is-rerouted"),
        # a fits ab and ac, abc fits both: greedy a–ab would be as good, but a must leave ab to b
        pytest.param(["a", "b"], ["ab", "a"], 1, 2, id="exact-hit-kept"),
        pytest.param(["abcd"], ["ab", "cd"], 0, 1, id="one-to-one"),
        pytest.param(["ab", "cd"], ["abcd"], 0, 1, id="one-to-one-the-other-way"),
        # x1 fits 1 only, 12 fits 1 and 2: greedy 12–1 would leave x1 alone
        pytest.param(["12", "x1"], ["1", "2"], 0, 2, id="choice-that-greedy-gets-wrong"),
        # a chain of three: 12–2, 1y–1, 23–3
        pytest.param(["12", "1y", "23"], ["1", "2", "3"], 0, 3, id="chain"),
        pytest.param(["abc"], ["xyz"], 0, 0, id="nothing-fits"),
        pytest.param(["p", "q"], ["p", "q"], 2, 2, id="all-exact"),
    ],
)
def test_relaxed_matching_is_the_largest_possible(
    predicted: list[str], wanted: list[str], strict: int, relaxed: int
) -> None:
    assert hits(one_role(*predicted), one_role(*wanted)) == (strict, relaxed)
    assert hits(one_role(*predicted[::-1]), one_role(*wanted[::-1])) == (strict, relaxed)
    assert hits(one_role(*wanted), one_role(*predicted)) == (strict, relaxed)


BREATHING = ["some mild problems with his breathing", "any perioral cyanosis"]


@pytest.mark.parametrize("rule", [{}, {"relaxed": "span_iou", "threshold": "0.1"}, {"threshold": "0.2"}])
def test_pairs_of_a_role_are_those_that_share_most(rule: dict[str, Any]) -> None:
    # Both could be matched with both, and crosswise comes first in sorted order.
    wanted = gold(one_role("mild problems with his breathing", "perioral cyanosis"))
    for said in (BREATHING, BREATHING[::-1]):
        record = score([one_role(*said)], wanted, **rule).record
        pairs = {(pair["predicted"][2], pair["gold"][2]) for pair in record["relaxed_pairs"]}
        assert pairs == {
            ("somemildproblemswithhisbreathing", "mildproblemswithhisbreathing"),
            ("anyperioralcyanosis", "perioralcyanosis"),
        }


def test_relaxed_rates_are_over_the_same_distinct_units() -> None:
    # P = {ab, ab c}, G = {ab, x}: strict TP 1; relaxed TP 1 (ab c would fit ab, which is taken; x fits none)
    result = score([one_role("ab", "a b", "abc")], gold(one_role("ab", "x")))
    names = "relaxed_precision", "relaxed_recall", "relaxed_f1"
    assert counts(result, *names) == ((1, 2), (1, 2), (2, 4))


def test_record_shows_the_pairs_beyond_the_exact_ones() -> None:
    record = score([one_role("ab", "b")], gold(one_role("ab", "a"))).record
    pairs = {(tuple(pair["predicted"]), tuple(pair["gold"])) for pair in record["relaxed_pairs"]}
    assert pairs == {(("T", "r", "ab"), ("T", "r", "a")), (("T", "r", "b"), ("T", "r", "ab"))}


@cases(
    ("predicted", "wanted", "expected"),
    [
        # types {T, U} and {T, V}: TP 1
        pytest.param(["T", "U"], ["T", "V"], ((1, 2), (1, 2), (2, 4)), id="one-of-two"),
        pytest.param(["T", "T"], ["T"], ((1, 1), (1, 1), (2, 2)), id="set-not-list"),
        pytest.param([], ["T"], ((0, 0), (0, 1), (0, 1)), id="nothing-predicted"),
        pytest.param([], [], ((0, 0), (0, 0), (0, 0)), id="nothing-at-all"),
    ],
)
def test_type_counts_sets_of_types_per_sample(
    predicted: list[str], wanted: list[str], expected: tuple[tuple[int, int], ...]
) -> None:
    result = score([event(name) for name in predicted], gold(*(event(name) for name in wanted)))
    assert counts(result, "type_precision", "type_recall", "type_f1") == expected


AB, AC = event("T", ("head", "a"), ("tail", "b")), event("T", ("head", "a"), ("tail", "c"))
BA = event("T", ("head", "b"), ("tail", "a"))


@cases(
    ("predicted", "wanted", "expected"),
    [
        pytest.param([AC, AB], [AB, AC], (2, 2, 2), id="in-any-order"),
        pytest.param([BA], [AB], (0, 1, 1), id="swapped-roles"),
        pytest.param([AB, BA], [AB], (1, 2, 1), id="both-ways"),
        pytest.param(
            [event("T", ("tail", " B"), ("head", "A"))], [AB], (1, 1, 1), id="normalized-arguments-in-any-order"
        ),
        pytest.param([event("U", ("head", "a"), ("tail", "b"))], [AB], (0, 1, 1), id="other-type"),
        pytest.param([event("T", ("head", "a"), ("tail", "b"), ("on", "c"))], [AB], (0, 1, 1), id="one-too-many"),
        pytest.param([event("T", ("head", "a")), event("T", ("tail", "b"))], [AB], (0, 2, 1), id="split"),
        pytest.param([event("T", ("head", "a"), ("tail", "b"), ("tail", "c"))], [AB, AC], (0, 1, 2), id="merged"),
        pytest.param([AB, AB, AC], [AB], (1, 2, 1), id="equal-events-count-once"),
        pytest.param([AB], [AB, AB], (1, 1, 1), id="equal-gold-events-count-once"),
        pytest.param([AB, event("T"), event("T", ("r", None))], [AB, event("U")], (1, 1, 1), id="without-units"),
        pytest.param([], [], (0, 0, 0), id="nothing"),
    ],
)
def test_whole_events_are_right_with_all_of_their_arguments(
    predicted: list[Json], wanted: list[Json], expected: tuple[int, int, int]
) -> None:
    hits, ours, theirs = expected
    for answered, known in ((predicted, wanted), (predicted[::-1], wanted[::-1])):
        score_ = score(answered, gold(*known))
        assert counts(score_, "event_precision", "event_recall") == ((hits, ours), (hits, theirs))
        assert counts(score_, "event_f1") == ((2 * hits, ours + theirs),)


def test_no_event_is_right_in_an_answer_beyond_the_limits() -> None:
    # Of 2,003 values of a role 2,000 are kept, gold's first: what is left of an event may look right.
    crowd = event("U", ("r", [str(n) for n in range(2_003)]))
    assert counts(score([AB, crowd], gold(AB)), "event_precision") == ((0, 2 + 3),)


def test_zero_denominator_is_undefined_never_zero_or_one() -> None:
    result = score([], gold())
    for name in ("strict_precision", "strict_recall", "strict_f1", "relaxed_f1", "type_f1"):
        assert result[name] is None
