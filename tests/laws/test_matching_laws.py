"""The relaxed matching is as large as trying all of them shows it can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import goldgate
from goldgate import Protocol
from goldgate.core.metric import Rate
from goldgate.core.value_text import Blanks, normalizer
from goldgate.shape import Share
from goldgate.suites.extraction.scorer import Score, Scorer
from goldgate.suites.extraction.settings import ExtractionSettings, RelaxedSettings, SchemaSettings
from tests.examples import examples

Unit = tuple[str, str, str]
Argument = tuple[str, tuple[int, int] | None]

span = st.one_of(st.none(), st.tuples(st.integers(0, 8), st.integers(1, 6)).map(lambda s: (s[0], s[0] + s[1])))
words = st.text(alphabet="abcd", min_size=1, max_size=4)
sides = st.lists(st.tuples(words, span), max_size=4)
spaced = st.text(alphabet="abc 甲%", min_size=1, max_size=5).filter(str.strip)
spaced_sides = st.lists(st.tuples(spaced, span), max_size=4)
thresholds = st.sampled_from(["0", "0.2", "0.3333", "0.5", "0.6", "1"])
MANY = examples(400)


def scorer_of(mode: str, threshold: str, blanks: Blanks = "remove") -> Scorer:
    relaxed = RelaxedSettings(mode, Share(threshold), Share(threshold))  # type: ignore[arg-type]  # one of the two
    settings = ExtractionSettings(blanks=blanks, relaxed=relaxed, schema=SchemaSettings("syntax_only"))
    scorer: Scorer = goldgate.load_scorer(None, Protocol(sections={"metrics": settings}))
    return scorer


def scored(
    mode: str, threshold: str, predicted: list[Argument], gold: list[Argument], blanks: Blanks = "remove"
) -> Score:
    return scorer_of(mode, threshold, blanks).score(_events(predicted), {"id": "1", "events": _events(gold)})


def hits(
    mode: str, threshold: str, predicted: list[Argument], gold: list[Argument], blanks: Blanks = "remove"
) -> tuple[int, int]:
    """Strict and relaxed hits as goldgate counts them."""
    score = scored(mode, threshold, predicted, gold, blanks)
    strict, relaxed_rate = score.metrics["strict_precision"], score.metrics["relaxed_precision"]
    assert isinstance(strict, Rate)
    assert isinstance(relaxed_rate, Rate)
    return strict.numerator, relaxed_rate.numerator


def _events(arguments: list[Argument]) -> list[dict[str, Any]]:
    listed = [
        {"role": "r", "argument": value} | ({} if place is None else {"start": place[0], "end": place[1]})
        for value, place in arguments
    ]
    return [{"event_type": "T", "arguments": listed}]


def largest(predicted: list[Any], gold: list[Any], fits: list[list[bool]]) -> int:
    """By trying every assignment."""
    if len(predicted) > len(gold):
        return largest(gold, predicted, [list(column) for column in zip(*fits, strict=True)])
    return max(
        (sum(fits[i][j] for i, j in enumerate(chosen)) for chosen in permutations(range(len(gold)), len(predicted))),
        default=0,
    )


def overlap(a: str, b: str, threshold: Fraction) -> bool:
    one, other = set(a.replace(" ", "")), set(b.replace(" ", ""))
    common, union = one & other, one | other
    return a in b or b in a or Fraction(len(common), len(union)) >= threshold


def common_stretch(a: str, b: str) -> int:
    return max(
        (end - start for start in range(len(a)) for end in range(start + 1, len(a) + 1) if a[start:end] in b), default=0
    )


def iou(a: str, spans_a: list[tuple[int, int]], b: str, spans_b: list[tuple[int, int]], threshold: Fraction) -> bool:
    if a == b:
        return True
    if len({*spans_a}) == 1 and spans_b:  # a prediction at several places has none
        return any(
            Fraction(len(set(range(*x)) & set(range(*y))), len(set(range(*x)) | set(range(*y)))) >= threshold
            for x in spans_a
            for y in spans_b
        )
    stretch = common_stretch(a, b)
    return Fraction(stretch, len(a) + len(b) - stretch) >= threshold


def distinct(arguments: list[Argument], blanks: Blanks = "remove") -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for value, place in arguments:
        found.setdefault(normalizer(blanks)(value), []).extend([] if place is None else [place])
    return found


@MANY
@given(sides, sides, thresholds)
def test_char_overlap_matching_is_the_largest(predicted: list[Argument], gold: list[Argument], threshold: str) -> None:
    ours, theirs = list(distinct(predicted)), list(distinct(gold))
    fits = [[overlap(a, b, Fraction(threshold)) for b in theirs] for a in ours]
    strict, relaxed = hits("include_or_char_overlap", threshold, predicted, gold)
    assert strict == len(set(ours) & set(theirs))
    assert relaxed == largest(ours, theirs, fits)


@MANY
@given(spaced_sides, spaced_sides, thresholds, st.sampled_from(["include_or_char_overlap", "span_iou"]))
def test_matching_with_blanks_is_the_largest(
    predicted: list[Argument], gold: list[Argument], threshold: str, mode: str
) -> None:
    ours, theirs = distinct(predicted, "keep"), distinct(gold, "keep")
    share = Fraction(threshold)
    if mode == "span_iou":
        fits = [[iou(a, ours[a], b, theirs[b], share) for b in theirs] for a in ours]
    else:
        fits = [[overlap(a, b, share) for b in theirs] for a in ours]
    strict, relaxed = hits(mode, threshold, predicted, gold, "keep")
    assert strict == len(ours.keys() & theirs.keys())
    assert relaxed == largest(list(ours), list(theirs), fits)


@MANY
@given(sides, sides, thresholds)
def test_span_iou_matching_is_the_largest(predicted: list[Argument], gold: list[Argument], threshold: str) -> None:
    ours, theirs = distinct(predicted), distinct(gold)
    fits = [[iou(a, ours[a], b, theirs[b], Fraction(threshold)) for b in theirs] for a in ours]
    strict, relaxed = hits("span_iou", threshold, predicted, gold)
    assert strict == len(ours.keys() & theirs.keys())
    assert relaxed == largest(list(ours), list(theirs), fits)


def best_pairs(predicted: list[str], gold: list[str], fits: list[list[bool]]) -> list[tuple[str, str]]:
    """By trying every assignment: most pairs, most equal ones, most characters in common, first in sorted order."""

    def choices(at: int, left: frozenset[int]) -> Iterator[list[tuple[str, str]]]:
        if at == len(predicted):
            yield []
            return
        for j in sorted(left):
            if fits[at][j]:
                yield from ([(predicted[at], gold[j]), *rest] for rest in choices(at + 1, left - {j}))
        yield from choices(at + 1, left)

    def key(pairs: list[tuple[str, str]]) -> tuple[int, int, int, list[tuple[str, str]]]:
        common = sum((Counter(a) & Counter(b)).total() for a, b in pairs)
        return -len(pairs), -sum(a == b for a, b in pairs), -common, pairs

    return min(choices(0, frozenset(range(len(gold)))), key=key)


@MANY
@given(
    st.lists(words, max_size=5),
    st.lists(words, max_size=5),
    thresholds,
    st.sampled_from(["include_or_char_overlap", "span_iou"]),
    st.data(),
)
def test_pairs_are_those_of_the_best_of_all_largest_matchings(
    predicted: list[str], gold: list[str], threshold: str, mode: str, data: st.DataObject
) -> None:
    ours, theirs, share = sorted(set(predicted)), sorted(set(gold)), Fraction(threshold)
    if mode == "span_iou":
        fits = [[iou(a, [], b, [], share) for b in theirs] for a in ours]
    else:
        fits = [[overlap(a, b, share) for b in theirs] for a in ours]
    sides: list[list[Argument]] = [
        [(value, None) for value in data.draw(st.permutations(side))] for side in (predicted, gold)
    ]
    record = scored(mode, threshold, sides[0], sides[1]).record
    pairs = sorted((pair["predicted"][2], pair["gold"][2]) for pair in record["relaxed_pairs"])
    assert pairs == [(a, b) for a, b in best_pairs(ours, theirs, fits) if a != b]


@pytest.mark.parametrize("size", [64, 65])
def test_best_matching_is_looked_for_among_64_values(size: int) -> None:
    # All fit all, and each shares its one character with one of gold, which come in the other order.
    best = {(chr(0x4E00 + n), chr(0x4D00 - n) + chr(0x4E00 + n)) for n in range(size)}
    sides: list[list[Argument]] = [[(pair[side], None) for pair in best] for side in (0, 1)]
    record = scored("include_or_char_overlap", "0", sides[0], sides[1]).record
    pairs = [(pair["predicted"][2], pair["gold"][2]) for pair in record["relaxed_pairs"]]
    assert len(pairs) == size
    assert ({*pairs} == best) == (size == 64)


units = st.lists(st.tuples(st.sampled_from("TUV"), st.sampled_from("qrs"), words), max_size=12)


@MANY
@given(units, units, thresholds, st.sampled_from(["include_or_char_overlap", "span_iou"]), st.data())
def test_every_error_has_one_name_and_none_that_a_like_value_explains_is_left(
    predicted: list[Unit], gold: list[Unit], threshold: str, mode: str, data: st.DataObject
) -> None:
    def errors(predicted: list[Unit], gold: list[Unit]) -> list[dict[str, Any]]:
        ours, theirs = (
            [{"event_type": t, "arguments": [{"role": r, "argument": value}]} for t, r, value in side]
            for side in (predicted, gold)
        )
        score = scorer_of(mode, threshold).score(ours, {"id": "1", "events": theirs})
        return sorted(score.record["errors"], key=lambda error: (error["side"], error["unit"]))

    def alike(a: str, b: str) -> bool:
        share = Fraction(threshold)
        return iou(a, [], b, [], share) if mode == "span_iou" else overlap(a, b, share)

    named = errors(predicted, gold)
    assert named == errors(data.draw(st.permutations(predicted)), data.draw(st.permutations(gold)))
    for side, ours, theirs in (("predicted", predicted, gold), ("gold", gold, predicted)):
        of_side = [error["unit"] for error in named if error["side"] == side]
        assert len(of_side) == len({*of_side})
        assert {*of_side} == {*ours} - {*theirs}
    for error in named:
        if error["error"] in ("wrong_role", "wrong_type"):
            same, other = (0, 1) if error["error"] == "wrong_role" else (1, 0)
            unit, partner = error["unit"], error["paired_with"]
            assert unit[same] == partner[same]
            assert unit[other] != partner[other]
            assert alike(unit[2], partner[2])
    for spurious in (error["unit"] for error in named if error["error"] == "spurious"):
        for missing in (error["unit"] for error in named if error["error"] == "missing"):
            assert (spurious[0] != missing[0] and spurious[1] != missing[1]) or not alike(spurious[2], missing[2])
