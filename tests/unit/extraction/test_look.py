"""A sample to look at: what is marked in its texts, its errors beside their partners, and its place in a list."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goldgate.core.page import Paragraph, Table
from goldgate.core.unit_page import MarkedText, UnitPage
from goldgate.suites.extraction.explain import make_reader, sample_summary
from goldgate.suites.extraction.sample_page import sample_page
from goldgate.suites.extraction.scorer import Scorer
from goldgate.suites.extraction.settings import ExtractionSettings, ResponseSettings, SchemaSettings
from tests.cases import cases
from tests.responses.corpus import Case, load_corpus, one_of_each_manner

from ..helpers import Json, answer, event, gold

SETTINGS = ExtractionSettings(schema=SchemaSettings("syntax_only"))


def record_of(wanted: Json, response: Any, settings: ExtractionSettings = SETTINGS) -> Any:
    return json.loads(json.dumps(Scorer(settings, None).score(response, wanted).record))


def page_of(wanted: Json, response: Any, settings: ExtractionSettings = SETTINGS) -> UnitPage:
    stored: dict[str, Any] = {"gold": wanted, "protocol": make_reader(settings)}
    if response is not None:
        stored["predictions"] = {"id": "1", "response" if isinstance(response, str) else "events": response}
    return sample_page(record_of(wanted, response, settings), stored)


def section(page: UnitPage, title: str) -> list[Any]:
    return [block for each in page.sections if each.title == title for block in each.blocks]


def text_of(page: UnitPage, title: str) -> MarkedText:
    [text] = [block for block in section(page, title) if isinstance(block, MarkedText)]
    return text


def marks(page: UnitPage, title: str = "Source text") -> list[tuple[str, str, str, str]]:
    """What is marked, as whose, as what, and what is wrong with it."""
    shown = text_of(page, title)
    return [(shown.text[each.start : each.end], each.kind, each.label, each.wrong) for each in shown.marks]


def rows(page: UnitPage, title: str) -> list[list[str]]:
    [table] = [block for block in section(page, title) if isinstance(block, Table)]
    return [[cell if isinstance(cell, str) else cell.text for cell in row] for row in table.rows]  # type: ignore[union-attr]


STORY = "Lena Ortiz joined Harbour Bank on 3 May. On Monday Corvid was sold to ORTIZ."
WANTED = gold(
    event("Hire", ("Person", "Lena Ortiz"), ("Company", "Harbour Bank"), ("Date", "3 May")),
    event("Deal", ("Target", "Corvid")),
    text=STORY,
)
SAID = answer(
    event("Hire", ("Person", "Ortiz"), ("Position", "Harbour Bank"), ("Target", "Corvid"), ("Date", "3 May")),
    event("Deal", ("Price", "$5 million")),
)


def test_values_are_marked_wherever_they_stand_with_whose_they_are_and_what_is_wrong() -> None:
    assert marks(page_of(WANTED, SAID)) == [
        ("Lena Ortiz", "gold", "Hire · Person", "boundary"),
        ("Ortiz", "predicted", "Hire · Person", "boundary"),
        ("Harbour Bank", "gold", "Hire · Company", "wrong_role"),
        ("Harbour Bank", "predicted", "Hire · Position", "wrong_role"),
        ("3 May", "both", "Hire · Date", ""),
        ("Corvid", "gold", "Deal · Target", "wrong_type"),
        ("Corvid", "predicted", "Hire · Target", "wrong_type"),
        ("ORTIZ", "predicted", "Hire · Person", "boundary"),
    ]


def test_values_that_are_not_in_the_text_are_named() -> None:
    note = text_of(page_of(WANTED, SAID), "Source text").note
    assert note == "Not in the text: predicted “$5 million” (Deal · Price)."


def test_each_error_stands_beside_its_gold_partner() -> None:
    assert rows(page_of(WANTED, SAID), "Errors") == [
        ["boundary", "Hire · Person", "Ortiz", "Hire · Person", "Lena Ortiz"],
        ["wrong_role", "Hire · Position", "Harbour Bank", "Hire · Company", "Harbour Bank"],
        ["wrong_type", "Hire · Target", "Corvid", "Deal · Target", "Corvid"],
        ["hallucinated", "Deal · Price", "$5 million", "", ""],
    ]


def test_arguments_of_both_sides_are_side_by_side() -> None:
    assert rows(page_of(WANTED, SAID), "Arguments") == [
        ["Hire", "Person", "Lena Ortiz", "Ortiz", "boundary"],
        ["Hire", "Company", "Harbour Bank", "Harbour Bank (as Hire · Position)", "wrong_role"],
        ["Hire", "Date", "3 May", "3 May", "right"],
        ["Deal", "Target", "Corvid", "Corvid (as Hire · Target)", "wrong_type"],
        ["Deal", "Price", "", "$5 million", "hallucinated"],
    ]


def test_of_several_events_of_a_type_it_is_said_which_have_an_argument() -> None:
    two = [event("Hire", ("Person", "Lena")), event("Hire", ("Person", "Ortiz"), ("Person", "Lena"))]
    assert rows(page_of(gold(*two, text=STORY), answer(two[0])), "Arguments") == [
        ["Hire", "Person", "Lena (event 1, 2)", "Lena", "right"],
        ["Hire", "Person", "Ortiz (event 2)", "", "missing"],
    ]


def test_event_types_without_arguments_are_not_left_out() -> None:
    page = page_of(gold(event("Hire"), event("Deal"), text=STORY), answer(event("Hire"), event("Sue")))
    assert rows(page, "Arguments") == [
        ["Hire", "", "(without arguments)", "(without arguments)", "right"],
        ["Deal", "", "(without arguments)", "", "missing"],
        ["Sue", "", "", "(without arguments)", "spurious"],
    ]
    short = sample_summary(record_of(gold(event("Hire"), event("Deal")), answer(event("Hire"), event("Sue"))))
    assert (short.word, short.weight) == ("event type spurious 1, event type missing 1", 2)


def test_of_events_without_arguments_the_triggers_are_marked() -> None:
    wanted = gold({**event("Hire"), "trigger": "joined"}, {**event("Deal"), "trigger": "sold"}, text=STORY)
    said = json.dumps([{**event("Hire"), "trigger": "joined"}, {**event("Sue"), "trigger": "Monday"}])
    assert marks(page_of(wanted, said)) == [
        ("joined", "both", "Hire · trigger", ""),
        ("Monday", "predicted", "Sue · trigger", "spurious"),
        ("sold", "gold", "Deal · trigger", "missing"),
    ]


def test_right_offsets_of_gold_decide_which_mention_is_meant() -> None:
    text = "Acme sued Acme."
    placed = {"role": "Plaintiff", "argument": "Acme", "start": 10, "end": 14}
    right = gold({"event_type": "Sue", "arguments": [placed]}, text=text)
    assert [each.start for each in text_of(page_of(right, answer()), "Source text").marks] == [10]
    wrong = gold({"event_type": "Sue", "arguments": [{**placed, "start": 9, "end": 13}]}, text=text)
    assert [each.start for each in text_of(page_of(wrong, answer()), "Source text").marks] == [0, 10]


@cases(
    ("text", "value", "found"),
    [
        ("合计１２％，约 1 2%", "12%", ["１２％", "1 2%"]),
        ("😀 הבנק המרכזי הודיע 😀", "הבנק המרכזי", ["הבנק המרכזי"]),
        ("قال البنك المركزي", "البنك", ["البنك"]),
        ("𝔸cme and Acme", "acme", ["𝔸cme", "Acme"]),
    ],
)
def test_places_are_characters_in_any_writing(text: str, value: str, found: list[str]) -> None:
    page = page_of(gold(event("T", ("r", value)), text=text), answer(event("T", ("r", value))))
    assert marks(page) == [(each, "both", "T · r", "") for each in found]


def test_the_answer_shows_what_was_read_repaired_left_out_and_thought() -> None:
    first, second = answer(event("T", ("r", "x"))), answer(event("T", ("r", "y")))
    response = f"<think>😀 hm</think>{first} no: {second[:-1]},]"
    page = page_of(gold(event("T", ("r", "y")), text="xy"), response)
    assert marks(page, "Answer") == [
        ("<think>😀 hm</think>", "thought", "thought", ""),
        (first, "left out", "replaced", ""),
        (second[:-1] + ",]", "read", "read as the answer", ""),
        (",", "repair", "trailing_comma", ""),
    ]
    assert rows_of_repairs(page) == [["trailing_comma", "a comma before a closing bracket is skipped"]]
    assert text_of(page, "Thought").text == "😀 hm"


def rows_of_repairs(page: UnitPage) -> list[list[str]]:
    [table] = [block for block in section(page, "Answer") if isinstance(block, Table)]
    return [[row[0].text, row[1]] for row in table.rows]  # type: ignore[union-attr,list-item]


def test_places_are_those_of_the_response_behind_a_prefix_of_the_prompt() -> None:
    settings = replace(SETTINGS, response=ResponseSettings(prefix="<think>"))
    said = answer(event("T", ("r", "y")))
    page = page_of(gold(event("T", ("r", "y")), text="xy"), f"hm</think>{said}", settings)
    assert marks(page, "Answer")[:2] == [
        ("hm</think>", "thought", "thought", ""),
        (said, "read", "read as the answer", ""),
    ]


@pytest.mark.parametrize("corpus", [one_of_each_manner, pytest.param(load_corpus, marks=pytest.mark.slow)])
def test_every_response_is_read_on_the_page_as_it_was_scored(corpus: Callable[[], tuple[Case, ...]]) -> None:
    for case in corpus():
        page = page_of(gold(event("T", ("r", "x")), text="x"), case.response)
        answer_text = text_of(page, "Answer")
        assert answer_text.text == case.response, case.name
        assert all(0 <= mark.start < mark.end <= len(case.response) for mark in answer_text.marks), case.name
        repairs = {mark.label for mark in answer_text.marks if mark.kind == "repair"}
        assert repairs == {*record_of(WANTED, case.response)["parse"]["repairs"]}, case.name
        assert not [block for block in section(page, "Answer") if isinstance(block, Paragraph)], case.name


def test_the_thought_has_the_predicted_values_that_it_names() -> None:
    said = f"<think>Lena Ortiz, who else?</think>{answer(event('Hire', ('Person', 'Lena Ortiz')))}"
    assert marks(page_of(WANTED, said), "Thought") == [("Lena Ortiz", "both", "Hire · Person", "")]


def test_without_its_inputs_a_page_says_what_it_does_not_show() -> None:
    record = record_of(WANTED, SAID)
    page = sample_page(record, {})
    assert section(page, "Source text") == [Paragraph("The gold record is gone or has changed; its text is not shown.")]
    assert Paragraph("The prediction is gone or has changed.") in section(page, "Answer")
    assert rows(page, "Errors")[0] == ["boundary", "Hire · Person", "ortiz", "Hire · Person", "lenaortiz"]


def test_without_the_protocol_repairs_are_not_guessed() -> None:
    said = SAID[:-1] + ",]"
    page = sample_page(record_of(WANTED, said), {"gold": WANTED, "predictions": {"id": "1", "response": said}})
    assert [each[1] for each in marks(page, "Answer")] == ["read"]
    assert any("Repairs are not marked: the protocol" in str(block) for block in section(page, "Answer"))


def test_an_answer_that_is_read_otherwise_now_is_not_explained_by_that() -> None:
    said = SAID[:-1] + ",]"
    record = record_of(WANTED, said)
    record["parse"]["repairs"] = ["comments"]
    page = sample_page(
        record, {"gold": WANTED, "predictions": {"id": "1", "response": said}, "protocol": make_reader(SETTINGS)}
    )
    assert [each[1] for each in marks(page, "Answer")] == ["read"]
    assert any("parses the answer differently" in str(block) for block in section(page, "Answer"))


def test_an_answer_that_could_not_be_read_comes_first() -> None:
    titles = {
        response: [each.title for each in page_of(WANTED, response).sections[:3]]
        for response in (None, "I cannot.", "[]")
    }
    assert titles[None] == titles["I cannot."] == ["Result", "Answer", "Errors"]
    assert titles["[]"] == ["Result", "Errors", "Source text"]


def test_no_prediction_an_empty_one_and_structured_events() -> None:
    assert section(page_of(WANTED, None), "Answer") == [Paragraph("There is no prediction for this sample.")]
    assert text_of(page_of(WANTED, ""), "Answer").note == "The response is empty."
    events = [event("Deal", ("Target", "Corvid"))]
    page = page_of(WANTED, events)
    assert json.loads(text_of(page, "Answer").text) == events
    assert ["Deal", "Target", "Corvid", "Corvid", "right"] in rows(page, "Arguments")


@cases(
    ("wanted", "said", "word", "weight"),
    [
        ([event("T", ("r", "x"))], answer(event("T", ("r", "x"))), "", 0),
        ([event("T", ("r", "x"))], None, "no prediction; missing 1", 2),
        ([], "I cannot tell.", "no answer read: nothing in it looks like one", 1),
        ([], '{"a": 1}', "1 violation", 1),
        ([event("T", ("r", "xy"))], answer(event("T", ("r", "x"))), "boundary 1", 2),
        ([event("T", ("r", "x"))], answer(event("T", ("r", "x"), ("r", "q"))), "hallucinated 1", 2),
        ([event("T", ("r", "q"))], answer(event("T", ("r", "q"))), "1 unsupported value", 1),
    ],
)
def test_a_summary_says_what_went_wrong_and_how_much(
    wanted: list[Json], said: str | None, word: str, weight: int
) -> None:
    short = sample_summary(record_of(gold(*wanted, text="xy"), said))
    assert (short.word, short.weight) == (word, weight)


def test_a_summary_says_that_values_stand_in_other_events() -> None:
    halves = answer(event("T", ("r", "x")), event("T", ("q", "y")))
    record = record_of(gold(event("T", ("r", "x"), ("q", "y")), text="xy"), halves)
    counts = {"units": {"event": [0, 2, 1]}}  # as samples.jsonl has them
    assert sample_summary(record | counts).word == "every value is right, but not how they are grouped into events"
    assert sample_summary(record | {"units": {"event": [1, 1, 1]}}).word == ""


def test_a_sample_is_found_by_its_errors_names_and_how_it_was_read() -> None:
    facets = sample_summary(record_of(WANTED, SAID[:-1] + ",]")).facets
    assert facets == {
        "parsed as": ("repaired",),
        "answer form": ("whole",),
        "repair": ("trailing_comma",),
        "error": ("boundary", "wrong_role", "wrong_type", "hallucinated"),
        "confused": ("Hire · Company → Position", "Deal → Hire"),
        "unsupported values": ("yes",),
        "event type": ("Hire", "Deal"),
        "role": ("Person", "Company", "Date", "Target", "Position", "Price"),
    }


@given(st.text(max_size=60), st.text(max_size=40), st.text(max_size=8))
def test_any_text_answer_and_value_make_a_page(text: str, response: str, value: str) -> None:
    wanted = gold(event("T", ("r", value)), text=text)
    for said in (response, f"{response}{answer(event('T', ('r', value + text[:5])))}{response}"):
        page = page_of(wanted, said)
        for block in (block for each in page.sections for block in each.blocks if isinstance(block, MarkedText)):
            assert all(0 <= mark.start < mark.end <= len(block.text) for mark in block.marks)


def test_many_values_at_many_places_stay_within_bounds() -> None:
    text = "ab " * 60_000
    said = answer(event("T", *(("r", "ab" * number) for number in range(1, 500))))
    page = page_of(gold(event("T", ("r", "a")), text=text), said)
    shown = text_of(page, "Source text")
    assert len(shown.text) < 50_000
    assert len(shown.marks) <= 10_001
    assert "Only the first 10,000 places are marked." in shown.note
    assert "characters are left out" in shown.note
