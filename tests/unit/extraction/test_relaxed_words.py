"""The unit of the relaxed rules, and how often they match by chance."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest

import goldgate
from goldgate import Protocol
from goldgate.core.tally import total
from goldgate.suites.extraction.events.relaxed_matching import argument_words
from goldgate.suites.extraction.settings import ExtractionSettings, RelaxedSettings, SchemaSettings
from tests.cases import cases

from ..helpers import Json, event, gold

NAMES = [
    "Northwind Steel", "Meridian Foods", "Harbour Bank", "Atlas Mining", "Corvus Energy", "Delta Airlines",
    "Summit Paper", "Orion Media", "Vertex Labs", "Solstice Wines", "Granite Insurance", "Pioneer Rail",
    "Evergreen Timber", "Cobalt Motors", "Sterling Textiles", "Lantern Books",
]  # fmt: skip


def protocol(unit: str, mode: str = "include_or_char_overlap", blanks: str = "remove") -> Protocol:
    relaxed = RelaxedSettings(mode, unit=unit)  # type: ignore[arg-type]  # the words of the file
    settings = ExtractionSettings(relaxed=relaxed, schema=SchemaSettings("syntax_only"), blanks=blanks)  # type: ignore[arg-type]
    return Protocol(sections={"metrics": settings})


def one(value: str, span: tuple[int, int] | None = None) -> Json:
    offsets = {} if span is None else {"start": span[0], "end": span[1]}
    return {"event_type": "T", "arguments": [{"role": "r", "argument": value, **offsets}]}


def matches(mode: str, unit: str, predicted: Json, wanted: Json) -> bool:
    scorer = goldgate.load_scorer(None, protocol(unit, mode))
    return bool(scorer.score([predicted], gold(wanted))["relaxed_f1"] == 1)


@cases(
    ("predicted", "wanted", "include", "iou"),
    [
        pytest.param("Northwind Steel", "Meridian Foods", False, False, id="no-word-shared"),
        pytest.param("the Northwind Steel", "Northwind Steel", True, True, id="contained"),
        pytest.param("Northwind Steel Works", "Northwind", True, False, id="one-of-three"),
        pytest.param("Northwind", "North", False, False, id="part-of-a-word"),
        pytest.param("Steel of Northwind", "Northwind Steel", True, False, id="other-order-2-of-3"),
        pytest.param("Steel from old Northwind", "new Northwind Steel", False, False, id="2-of-5"),
        pytest.param("NORTHWIND-Steel", "northwind steel", True, True, id="marks-and-case"),
        pytest.param("Ｎorthwind Ltd", "northwind ltd.", True, True, id="full-width"),
        pytest.param("海蓝银行", "海蓝商业银行", True, False, id="chinese-4-of-6-and-2-of-8"),
        pytest.param("槐安银行", "云汐银行", False, False, id="chinese-2-of-6"),
        pytest.param("3 Mai 2020", "Mai 2020", True, True, id="digits"),
        pytest.param("हिन्दी समाचार", "हिन्दी", True, True, id="marks-of-letters"),
        pytest.param("$", "€", False, False, id="no-words"),
        pytest.param("$", "$ 5", False, False, id="no-words-is-in-nothing"),
    ],
)
def test_words_instead_of_characters(predicted: str, wanted: str, include: bool, iou: bool) -> None:
    for mode, expected in (("include_or_char_overlap", include), ("span_iou", iou)):
        assert matches(mode, "word", one(predicted), one(wanted)) == expected
        assert matches(mode, "word", one(wanted), one(predicted)) == expected


def test_offsets_decide_under_span_iou_whatever_the_words() -> None:
    assert matches("span_iou", "word", one("a b", (0, 4)), one("c d", (1, 4)))
    assert not matches("span_iou", "word", one("a b", (0, 3)), one("a-b", (5, 8)))


def test_words() -> None:
    assert argument_words("Don't pay $1,000 to 海蓝 Bank!", "") == "don t pay 1 000 to 海 蓝 bank"
    assert argument_words(" % ", "%") == "%"


def test_names_are_matched_by_chance_over_characters_and_not_over_words() -> None:
    pairs = [(a, b) for a, b in combinations(NAMES, 2)]
    by_unit = {
        u: sum(matches("include_or_char_overlap", u, one(a), one(b)) for a, b in pairs) for u in ("character", "word")
    }
    assert by_unit["character"] >= len(pairs) // 5
    assert by_unit["word"] == 0


@pytest.mark.parametrize("mode", ["include_or_char_overlap", "span_iou"])
@pytest.mark.parametrize("blanks", ["remove", "keep"])
def test_matching_of_many_words_is_the_largest_of_all(mode: str, blanks: str) -> None:
    choice = random.Random(3)
    words = ["a", "b", "c", "d", "e"]
    fit = {}
    for _ in range(60):
        sides = [
            sorted({" ".join(choice.choices(words, k=choice.randint(1, 3))) for _ in range(choice.randint(1, 5))})
            for _ in "ab"
        ]
        for a in sides[0]:
            for b in sides[1]:
                if (a, b) not in fit:
                    fit[a, b] = matches(mode, "word", one(a), one(b))
        result = goldgate.load_scorer(None, protocol("word", mode, blanks)).score(
            [event("T", ("r", sides[0]))], gold(event("T", ("r", sides[1])))
        )
        assert result.metrics["relaxed_recall"].numerator == largest(sides[0], sides[1], fit)


def largest(lefts: list[str], rights: list[str], fit: dict[tuple[str, str], bool]) -> int:
    """By trying everything."""
    if not lefts:
        return 0
    first, rest = lefts[0], lefts[1:]
    return max(
        largest(rest, rights, fit),
        *(1 + largest(rest, [b for b in rights if b != other], fit) for other in rights if fit[first, other]),
        0,
    )


def samples(count: int) -> tuple[list[Json], list[Json]]:
    golds = [gold(event("Buy", ("buyer", NAMES[at % 16])), identity=str(at)) for at in range(count)]
    answers = [{"id": str(at), "events": [event("Buy", ("buyer", NAMES[(at + 1) % 16]))]} for at in range(count)]
    return golds, answers


def chance(golds: list[Json], answers: list[Json], unit: str = "character") -> Any:
    return goldgate.evaluate(golds, answers, None, protocol(unit))


def test_share_of_pairs_by_chance_is_a_warning_that_names_the_setting() -> None:
    # 16 predicted and 16 gold values: 256 pairs, of which 16 are of one sample and 16 of one name.
    report = chance(*samples(16)).report
    entry = report["metrics"]["diagnostics"]["relaxed_chance"]
    assert entry["denominator"] == 256 - 16 - 16
    assert entry["value"] == entry["numerator"] / 224 > 0.1
    assert entry["interval"] is None
    assert entry["interval_reason"]
    [warning] = [each for each in report["stands_out"] if each["code"] == "relaxed_chance"]
    assert "metrics: {relaxed: {unit: word}}" in warning["message"]
    by_words = chance(*samples(16), "word").report
    assert by_words["metrics"]["diagnostics"]["relaxed_chance"]["numerator"] == 0
    assert "relaxed_chance" not in [each["code"] for each in by_words["stands_out"]]


def test_few_pairs_are_no_warning() -> None:
    # Four samples: 16 pairs, 4 of one sample, and 3 of one name.
    report = chance(*samples(4)).report
    assert report["metrics"]["diagnostics"]["relaxed_chance"]["denominator"] == 9
    assert "relaxed_chance" not in [each["code"] for each in report["stands_out"]]


def test_without_pairs_it_is_undefined() -> None:
    entry = chance(*samples(1)).report["metrics"]["diagnostics"]["relaxed_chance"]
    assert entry["value"] is None
    assert entry["denominator"] == 0


def test_sample_is_the_same_for_any_order_and_split() -> None:
    golds, answers = samples(60)
    scorer = goldgate.load_scorer(None, protocol("word"))
    scores = [scorer.score(answer["events"], record) for record, answer in zip(golds, answers, strict=True)]
    order = random.Random(1)
    whole = total(score.tally for score in scores)
    order.shuffle(scores)
    halves = [total(score.tally for score in part) for part in (scores[:7], scores[7:])]
    assert total(halves).samples == whole.samples
    assert {len(values) for values in whole.samples.values()} == {16}
    assert scorer.metrics(total(halves))["relaxed_chance"] == scorer.metrics(whole)["relaxed_chance"]
