"""Hallucination: predicted values that the source text does not support."""

from __future__ import annotations

import pytest

from tests.cases import cases

from ...helpers import Json, answer, event, gold, judge, score

TEXT = "甲公司 于2020年1月 质押《股份》 ABC"


def spanned(value: str, start: object, end: object) -> Json:
    return {"event_type": "T", "arguments": [{"role": "r", "argument": value, "start": start, "end": end}]}


@cases(
    ("value", "normalized", "exact"),
    [
        pytest.param("甲公司", True, True, id="as-it-stands"),
        pytest.param("公司于2020年", True, False, id="blank-in-the-text"),
        pytest.param("<股份>", True, False, id="folded-punctuation"),
        pytest.param("abc", True, False, id="case"),
        pytest.param("ＡＢＣ", True, False, id="full-width"),
        pytest.param("乙公司", False, False, id="not-there"),
        pytest.param("ABC ", True, False, id="blank-at-the-end"),
        pytest.param("2020年1月 质押", True, True, id="with-the-text's-blank"),
    ],
)
def test_value_is_supported(value: str, normalized: bool, exact: bool) -> None:
    for mode, supported in (("normalized_substring", normalized), ("exact_span", exact)):
        result = score([event("T", ("r", value))], gold(text=TEXT), hallucination=mode)
        assert result["hallucination_rate"] == (0 if supported else 1)
        assert result["hallucination_entity_rate"] == (0 if supported else 1)


@cases(
    ("predicted", "supported"),
    [
        pytest.param(spanned("甲公司", 0, 3), True, id="right-place"),
        pytest.param(spanned("甲公司", 1, 4), False, id="wrong-place"),
        pytest.param(spanned("甲公司", 50, 53), False, id="beyond-the-text"),
        pytest.param(spanned("ABC", 20, 23), True, id="at-the-very-end"),
        pytest.param(spanned("ABC", 20, 99), False, id="past-the-end"),
        pytest.param(spanned("甲公司", 5, 2), False, id="end-before-start"),
        pytest.param(spanned("甲公司", 0, 0), False, id="no-characters"),
        pytest.param(spanned("甲公司", -3, 99), False, id="negative-start"),
        pytest.param(spanned("甲公司", -10, -7), False, id="negative"),
        pytest.param(spanned("甲公司", "0", "3"), False, id="no-numbers"),
        pytest.param(
            {"event_type": "T", "arguments": [{"role": "r", "argument": ["甲公司", "ABC"], "start": 5, "end": 2}]},
            False,
            id="of-a-list",
        ),
        pytest.param(spanned("乙公司", 0, 3), False, id="other-text-there"),
        pytest.param(event("T", ("r", "甲公司")), True, id="without-offsets-anywhere"),
    ],
)
def test_exact_span_looks_at_the_offsets_if_there_are_any(predicted: Json, supported: bool) -> None:
    result = score([predicted], gold(text=TEXT), hallucination="exact_span")
    assert result["hallucination_rate"] == (0 if supported else 1)


def test_normalized_substring_does_not_look_at_offsets() -> None:
    assert score([spanned("甲公司", 50, 53)], gold(text=TEXT))["hallucination_rate"] == 0


def test_every_value_is_checked_once_and_empty_ones_not() -> None:
    # checked: 甲公司, 乙, 2020, "丙" and "ABC" of the list = 5; unsupported: 乙, 丙
    values = ["甲公司", "甲公司", "乙", "", " ", None, 2020, ["丙", "ABC", ""], True, "乙"]
    record = score([event("T", *(("r", value) for value in values))], gold(text=TEXT)).record
    assert record["hallucination"] == {"checked": 5, "unsupported": [("T", "r", "乙"), ("T", "r", "丙")]}


@cases(
    ("predicted", "normalized", "exact"),
    [
        pytest.param([event("T", ("r", "甲公司")), event("T", ("r", "甲公司"))], 1, 1, id="in-two-events"),
        pytest.param([event("T", ("r", "甲公司"), ("s", "甲公司"))], 2, 2, id="in-two-roles"),
        pytest.param([event("T", ("r", "甲公司")), event("U", ("r", "甲公司"))], 2, 2, id="in-two-types"),
        pytest.param([event("T", ("r", "甲公司"), ("r", "甲 公司 "))], 1, 1, id="written-in-two-ways"),
        pytest.param([spanned("甲公司", 0, 3), spanned("甲公司", 0, 3)], 1, 1, id="at-one-place-twice"),
        pytest.param([spanned("甲公司", 0, 3), spanned("甲公司", 1, 4)], 1, 2, id="at-two-places"),
        pytest.param([spanned("甲公司", 0, 3), event("T", ("r", "甲公司"))], 1, 2, id="with-and-without-a-place"),
        pytest.param([event("T", ("r", "2020"), ("r", 2020))], 1, 1, id="number-and-its-text"),
    ],
)
def test_value_is_one_if_type_role_and_normalized_text_are_the_same_and_under_exact_span_the_offsets(
    predicted: list[Json], normalized: int, exact: int
) -> None:
    for mode, checked in (("normalized_substring", normalized), ("exact_span", exact)):
        record = score(predicted, gold(text=TEXT), hallucination=mode).record
        assert record["hallucination"]["checked"] == checked


def test_one_right_argument_at_300_offsets_dilutes_nothing() -> None:
    # Two distinct values, 乙 unsupported: 1/2, with one ABC or 300 of them.
    made_up = event("T", ("r", "乙"))
    for times in (1, 300):
        answers = [made_up, *[spanned("ABC", start, start + 3) for start in range(times)]]
        assert score(answers, gold(text=TEXT))["hallucination_entity_rate"] == 1 / 2


def test_supported_value_said_200_times_does_not_dilute_the_others() -> None:
    made_up = event("T", ("r", "甲公司"), ("r", "乙"))
    once, often = (score([made_up, *[event("T", ("r", "ABC"))] * times], gold(text=TEXT)) for times in (1, 200))
    assert once["hallucination_entity_rate"] == often["hallucination_entity_rate"] == 1 / 3


def test_spelling_a_value_in_many_ways_dilutes_nothing() -> None:
    spellings = [("r", "ABC" + " " * blanks) for blanks in range(6)]
    for mode, unsupported in (("normalized_substring", ["乙"]), ("exact_span", ["ABC ", "乙"])):
        record = score([event("T", *spellings, ("r", "乙"))], gold(text=TEXT), hallucination=mode).record
        found = record["hallucination"]
        # Of the six spellings of ABC the worst counts: one with a blank that the text does not have.
        assert (found["checked"], [text for *_, text in found["unsupported"]]) == (2, unsupported), mode


def test_one_argument_at_many_offsets_stands_out() -> None:
    events = [spanned("ABC", start, start + 3) for start in range(6)]
    result = judge([gold(text=TEXT)], [{"id": "1", "events": events}], hallucination="exact_span")
    assert result.report["stands_out"][-1] == {
        "code": "value_variants",
        "message": "6 values were checked for 1 units: one argument at many offsets makes "
        "hallucination_entity_rate smaller",
        "counts": {"values": 6, "units": 1},
    }


def counts(metric: Json) -> tuple[int, int]:
    return metric["numerator"], metric["denominator"]


def test_rates_over_samples_and_values() -> None:
    # sample 1: 2 values, 1 unsupported; 2: 1 value, 0; 3: no prediction; 4: no text; 5: empty text
    golds = [gold(text=TEXT, identity=name) for name in "123"]
    golds += [gold(identity="4"), gold(text="", identity="5")]
    predictions = [
        {"id": "1", "response": answer(event("T", ("r", "甲公司"), ("r", "乙")))},
        {"id": "2", "response": answer(event("T", ("r", "ABC")))},
        {"id": "4", "response": answer(event("T", ("r", "乙")))},
        {"id": "5", "response": answer(event("T", ("r", "乙")))},
    ]
    main = judge(golds, predictions).report["metrics"]["main"]
    assert counts(main["hallucination_rate"]) == (1, 3)
    assert counts(main["hallucination_entity_rate"]) == (1, 3)
    assert main["hallucination_unchecked"]["value"] == 2


def test_without_any_text_the_rates_are_undefined_with_a_reason() -> None:
    main = judge([gold()], [{"id": "1", "events": [event("T", ("r", "x"))]}]).report["metrics"]["main"]
    assert main["hallucination_rate"]["value"] is None
    assert main["hallucination_rate"]["reason"] == "no sample has a source text"
    assert main["hallucination_entity_rate"]["reason"] == "no predicted value could be checked"
    assert main["hallucination_unchecked"]["value"] == 1


def test_nothing_predicted_is_no_hallucination() -> None:
    result = score([], gold(text=TEXT))
    assert result["hallucination_rate"] == 0
    assert result["hallucination_entity_rate"] is None


def test_duee_fin_text_is_title_and_text() -> None:
    record = {"id": "1", "title": "甲公司公告", "text": "质押股份", "event_list": []}
    assert score([event("T", ("r", "甲公司"))], record)["hallucination_rate"] == 0
    assert score([event("T", ("r", "公告\n质押"))], record, hallucination="exact_span")["hallucination_rate"] == 0
