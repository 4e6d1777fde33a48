"""The relaxed matching is as large as trying all of them shows it can be."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import goldgate
from goldgate import Protocol
from goldgate.extraction.normalize import normalize
from goldgate.protocol.model import MetricSettings, RelaxedSettings, SchemaSettings
from goldgate.protocol.shape import Share

Argument = tuple[str, tuple[int, int] | None]

span = st.one_of(st.none(), st.tuples(st.integers(0, 8), st.integers(1, 6)).map(lambda s: (s[0], s[0] + s[1])))
words = st.text(alphabet="abcd", min_size=1, max_size=4)
sides = st.lists(st.tuples(words, span), max_size=4)
thresholds = st.sampled_from(["0", "0.2", "0.3333", "0.5", "0.6", "1"])
MANY = settings(max_examples=400)


def hits(mode: str, threshold: str, predicted: list[Argument], gold: list[Argument]) -> tuple[int, int]:
    """Strict and relaxed hits as goldgate counts them."""
    relaxed = RelaxedSettings(mode, Share(threshold), Share(threshold))  # type: ignore[arg-type]  # one of the two
    settings = MetricSettings(relaxed=relaxed, schema=SchemaSettings("syntax_only"))
    scorer = goldgate.load_scorer(None, Protocol(metrics=settings))
    score = scorer.score(_events(predicted), {"id": "1", "events": _events(gold)})
    strict, found = score.metrics["strict_precision"].as_json(), score.metrics["relaxed_precision"].as_json()
    return int(str(strict["numerator"])), int(str(found["numerator"]))


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
    common, union = set(a) & set(b), set(a) | set(b)
    return a in b or b in a or Fraction(len(common), len(union)) >= threshold


def common_stretch(a: str, b: str) -> int:
    return max(
        (end - start for start in range(len(a)) for end in range(start + 1, len(a) + 1) if a[start:end] in b), default=0
    )


def iou(a: str, spans_a: list[tuple[int, int]], b: str, spans_b: list[tuple[int, int]], threshold: Fraction) -> bool:
    if a == b:
        return True
    if spans_a and spans_b:
        return any(
            Fraction(len(set(range(*x)) & set(range(*y))), len(set(range(*x)) | set(range(*y)))) >= threshold
            for x in spans_a
            for y in spans_b
        )
    stretch = common_stretch(a, b)
    return Fraction(stretch, len(a) + len(b) - stretch) >= threshold


def distinct(arguments: list[Argument]) -> dict[str, list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for value, place in arguments:
        found.setdefault(normalize(value), []).extend([] if place is None else [place])
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
@given(sides, sides, thresholds)
def test_span_iou_matching_is_the_largest(predicted: list[Argument], gold: list[Argument], threshold: str) -> None:
    ours, theirs = distinct(predicted), distinct(gold)
    fits = [[iou(a, ours[a], b, theirs[b], Fraction(threshold)) for b in theirs] for a in ours]
    strict, relaxed = hits("span_iou", threshold, predicted, gold)
    assert strict == len(ours.keys() & theirs.keys())
    assert relaxed == largest(list(ours), list(theirs), fits)
