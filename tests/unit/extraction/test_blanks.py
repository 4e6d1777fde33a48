"""Blanks in values: removed, which a warning counts, or kept as the protocol says; and all that follows from it."""

from __future__ import annotations

from typing import Any

import goldgate
from goldgate.core.tally import total
from goldgate.core.value_text import Blanks, normalize_with_blanks
from goldgate.suites.extraction.sample_page import page_of_view, sample_page
from goldgate.suites.extraction.source import page_inputs
from tests.cases import cases

from ..helpers import Json, event, gold


def settings(blanks: Blanks, **more: Any) -> Json:
    return {"metrics": {"blanks": blanks, "schema": {"mode": "syntax_only"}, **more}}


@cases(
    ("text", "form"),
    [
        ("now  here", "now here"),
        (" now\n\there ", "now here"),
        ("1 12", "1 12"),
        ("20 %", "20%"),
        ("€ 20", "€20"),
        ("a - b", "a-b"),
        ("( a )", "(a)"),
        ("张 三", "张三"),
        ("张 A", "张a"),
        ("カ ナ", "カナ"),
        ("ㄅ ㄆ", "ㄅㄆ"),
        ("삼성 전자", "삼성 전자"),
        ("A\u3000B", "a b"),
        ("a \u200b b", "a b"),
        ("、 a", ",a"),
        (" \u200b ", ""),
    ],
)
def test_where_a_blank_is_kept(text: str, form: str) -> None:
    assert normalize_with_blanks(text) == form


def _counts(evaluation: goldgate.Evaluation, name: str) -> tuple[int, int]:
    metric: Any = evaluation.metrics[name].as_json()
    return metric["numerator"], metric["denominator"]


TEXT = "The bus is now here with 1 12 people, New York, 20 %."
GOLD = gold(event("Ride", ("where", "now here"), ("count", "1 12"), ("city", "New York"), ("cut", "20 %")), text=TEXT)
ANSWER = event("Ride", ("where", "nowhere"), ("count", "11 2"), ("city", "new\n york"), ("cut", "20%"))


def test_values_that_differ_in_blanks_only_are_hits_unless_blanks_are_kept() -> None:
    predictions = [{"id": "1", "events": [ANSWER]}]
    removed = goldgate.evaluate([GOLD], predictions, None, settings("remove"))
    kept = goldgate.evaluate([GOLD], predictions, None, settings("keep"))
    # Of four values, "nowhere" for "now here" and "11 2" for "1 12" are other words.
    assert [_counts(each, "strict_f1") for each in (removed, kept)] == [(8, 8), (4, 8)]
    assert [_counts(each, "hallucination_entity_rate") for each in (removed, kept)] == [(0, 4), (2, 4)]
    assert _counts(kept, "relaxed_f1") == (8, 8)  # the same characters, blanks aside
    assert [error["value"] for name, error in kept.report["errors"].items() if name == "boundary"] == [4]
    assert "|blanks:keep|" in kept.report["signature"]
    assert "blanks" not in removed.report["signature"]


def test_hits_without_blanks_are_a_warning_with_examples() -> None:
    golds = [gold(event("T", ("r", f"{n} 1"), ("s", "same one")), identity=str(n)) for n in range(5)]
    answers = [{"id": str(n), "events": [event("T", ("r", f"{n}1"), ("s", "same  one"))]} for n in range(5)]
    report = goldgate.evaluate(golds, answers, None, settings("remove")).report
    remark = next(each for each in report["stands_out"] if each["code"] == "blanks_only")
    assert remark["counts"] == {"hits": 5}
    assert remark["message"] == (
        "5 hits rest on removed blanks, such as “01” for “0 1”, “11” for “1 1”, “21” for “2 1”; "
        "to count them as wrong, write in the protocol: metrics: {blanks: keep}"
    )
    kept = goldgate.evaluate(golds, answers, None, settings("keep")).report
    assert "blanks_only" not in [each["code"] for each in kept["stands_out"]]
    assert _counts(goldgate.evaluate(golds, answers, None, settings("keep")), "strict_f1") == (10, 20)


def test_a_hit_with_any_spelling_that_has_the_blanks_of_gold_is_no_warning() -> None:
    answer = event("T", ("r", "nowhere"), ("r", "now here"))
    report = goldgate.evaluate(
        [gold(event("T", ("r", "now here")))], [{"id": "1", "events": [answer]}], None, settings("remove")
    ).report
    assert "blanks_only" not in [each["code"] for each in report["stands_out"]]


def test_examples_of_shards_add_up_in_any_order() -> None:
    scorer = goldgate.load_scorer(None, settings("remove"))
    tallies = []
    for n in range(6):
        score = scorer.score([event("T", ("r", f"{n}1"))], gold(event("T", ("r", f"{n} 1"))))
        tally = scorer.tally()
        scorer.add(score.facts, tally)
        tallies.append(tally)
    whole = total(tallies)
    assert total([total(tallies[4:]), total(tallies[:4])]) == total(reversed(tallies)) == whole
    assert whole.counts["blanks_only"] == 6
    assert whole.examples["blanks_only"] == [("01", "0 1"), ("11", "1 1"), ("21", "2 1")]


def test_gold_that_was_parsed_before_is_compared_as_the_protocol_says() -> None:
    parsed = goldgate.parse_gold(gold(event("T", ("r", "now here"))))
    answers = [[event("T", ("r", text))] for text in ("nowhere", "now here")]
    for blanks, hits in (("remove", [1, 1]), ("keep", [0, 1])):
        scorer = goldgate.load_scorer(None, settings(blanks))  # type: ignore[arg-type]
        assert [scorer.score(answer, parsed)["strict_f1"] for answer in answers] == hits


@cases("mode", ["strict_span", "weak_mention"])
@cases(("thought", "consistent"), [("T r nowhere", 0), ("T r now  here", 1), ("T r no where", 0)])
def test_thoughts_name_values_with_their_blanks(thought: str, consistent: int, mode: str) -> None:
    schema = {"event_types": {"T": {"roles": ["r"]}}}
    rules = settings("keep", cot={"enabled": True, "mode": mode})
    scorer = goldgate.load_scorer(schema, rules)
    events = '[{"event_type": "T", "arguments": [{"role": "r", "argument": "now here"}]}]'
    score = scorer.score(f"<think>{thought}</think>{events}", gold(event("T", ("r", "now here"))))
    assert score["cot_argument_consistency"] == consistent


def test_a_value_may_stand_across_the_lines_of_a_thought() -> None:
    schema = {"event_types": {"T": {"roles": ["r"]}}}
    scorer = goldgate.load_scorer(schema, settings("keep", cot={"enabled": True, "mode": "weak_mention"}))
    events = '[{"event_type": "T", "arguments": [{"role": "r", "argument": "now here"}]}]'
    score = scorer.score(f"<think>T: now\nhere.</think>{events}", gold(event("T", ("r", "now here"))))
    assert score["cot_argument_consistency"] == 1


def test_pages_mark_values_with_their_blanks() -> None:
    from goldgate.suites.extraction.explain import view_score

    record = gold(event("T", ("r", "now here")), text="nowhere, but now\nhere")
    scorer = goldgate.load_scorer(None, settings("keep"))
    score = scorer.score([event("T", ("r", "now here"))], record)
    prediction = {"id": "1", "events": [event("T", ("r", "now here"))]}
    inputs = {"gold": record, "predictions": prediction, **page_inputs(scorer.settings, None)}
    stored: Any = score.record
    for page in (page_of_view(view_score(score)), sample_page(stored, inputs)):
        source: Any = next(section for section in page.sections if section.title == "Source text").blocks[0]
        assert [source.text[mark.start : mark.end] for mark in source.marks] == ["now\nhere"]
