"""Hints: what stands out in the answers is said with the setting that reads it, and changes no number."""

from __future__ import annotations

import json
from typing import Any

import yaml

import goldgate
from goldgate import Evaluation
from goldgate.core.tally import total
from goldgate.suites.extraction.measures import HINT_SHARE, NULL_WORDS, OTHER_KEYS, hint_section
from tests.cases import cases
from tests.unit.helpers import event, gold

SUE = event("Sue", ("plaintiff", "Ann"), ("date", "May"))
FLAT = {"plaintiff": "Ann", "date": "null"}
MAPPING = [{"event_type": "Sue", "arguments": {"plaintiff": "Ann", "date": "N/A"}}]
OTHER = [{"type": "Sue", "args": [{"name": "plaintiff", "text": "Ann"}]}]


def evaluate(answers: list[Any], response: Any = None, record: Any = None) -> Evaluation:
    """One gold event, and these answers to it; a list under `events` is a structured prediction."""
    protocol = {"metrics": {"response": response or {}, "schema": {"mode": "syntax_only"}}}
    golds = [(record or gold(SUE)) | {"id": str(number)} for number in range(len(answers))]
    predictions = [
        {"id": str(number)}
        | (answer if isinstance(answer, dict) and "events" in answer else {"response": json.dumps(answer)})
        for number, answer in enumerate(answers)
    ]
    return goldgate.evaluate(golds, predictions, None, protocol)


def said(evaluation: Evaluation) -> list[str]:
    return [
        f"{hint['answers']} of {hint['of']} answers have {hint['have']}: {hint['setting']}"
        for hint in evaluation.report["hints"]
    ]


@cases(
    ("answer", "expected"),
    [
        ([SUE], []),
        ([], []),
        ({"event_type": "Sue", "trigger": "sued"}, []),
        (
            FLAT,
            [
                "1 of 1 answers have one flat object from roles to values: "
                "metrics: {response: {flat: {event_type: {from: gold}}}}",
                '1 of 1 answers have a word for null as a value: metrics: {response: {null_words: ["null"]}}',
            ],
        ),
        (
            MAPPING,
            [
                "1 of 1 answers have arguments as an object: metrics: {response: {arguments: mapping}}",
                '1 of 1 answers have a word for null as a value: metrics: {response: {null_words: ["n/a"]}}',
            ],
        ),
        (
            OTHER,
            [
                "1 of 1 answers have type for event_type: "
                'metrics: {response: {keys: {event_type: ["event_type", "type"]}}}',
                "1 of 1 answers have args for arguments: "
                'metrics: {response: {keys: {arguments: ["arguments", "args"]}}}',
                '1 of 1 answers have name for role: metrics: {response: {keys: {role: ["role", "name"]}}}',
                '1 of 1 answers have text for argument: metrics: {response: {keys: {argument: ["argument", "text"]}}}',
            ],
        ),
        (
            {"type": "Sue", "arguments": {"plaintiff": "Ann"}},
            [
                "1 of 1 answers have arguments as an object: metrics: {response: {arguments: mapping}}",
                "1 of 1 answers have type for event_type: "
                'metrics: {response: {keys: {event_type: ["event_type", "type"]}}}',
            ],
        ),
        (
            [event("Sue", ("date", ["None", "无"]))],
            ['1 of 1 answers have a word for null as a value: metrics: {response: {null_words: ["none", "无"]}}'],
        ),
    ],
)
def test_a_hint_names_the_setting_that_reads_the_answer(answer: Any, expected: list[str]) -> None:
    assert said(evaluate([answer])) == expected


@cases("answer", [FLAT, MAPPING, OTHER, [event("Sue", ("date", "none"))]])
def test_the_settings_of_the_hints_silence_them(answer: Any) -> None:
    settings: dict[str, Any] = {}
    for hint in evaluate([answer]).report["hints"]:
        for name, value in yaml.safe_load(hint["setting"])["metrics"]["response"].items():  # as it would be pasted
            settings[name] = {**settings.get(name, {}), **value} if name == "keys" else value
    assert settings
    read = evaluate([answer], settings)
    assert said(read) == []
    assert read["schema_compliance_rate"] == 1.0


def test_a_hint_needs_a_share_of_the_answers() -> None:
    assert HINT_SHARE * 10 == 1
    assert said(evaluate([FLAT, *([[SUE]] * 9)]))[0].startswith("1 of 10 answers have one flat object")
    assert said(evaluate([FLAT, *([[SUE]] * 10)])) == []


@cases("answer", [MAPPING, OTHER, [event("Sue", ("date", "n/a"))]])
def test_decoded_events_give_the_hints_of_a_response(answer: Any) -> None:
    assert said(evaluate([{"events": answer}])) == said(evaluate([answer])) != []


def test_a_word_that_the_gold_has_too_is_a_value() -> None:
    record = gold(event("Sue", ("date", "None")))
    assert said(evaluate([[event("Sue", ("date", "none"))]], record=record)) == []


def test_hints_add_up_over_any_split_and_change_no_number() -> None:
    scorer = goldgate.load_scorer(None, {"metrics": {"schema": {"mode": "syntax_only"}}})
    answers = [FLAT, MAPPING, OTHER, [SUE], [], "no idea"]
    tallies = [scorer.score(json.dumps(answer), gold(SUE)).tally for answer in answers]
    whole = hint_section(total(tallies), scorer.form)
    assert whole == hint_section(total([total(tallies[3:]), total(reversed(tallies[:3]))]), scorer.form)
    assert {hint["of"] for hint in whole} == {6}
    assert not any("hint" in name for name in scorer.metrics(total(tallies)))


def test_hints_stand_in_text_and_markdown_a_line_each() -> None:
    evaluation = evaluate([MAPPING])
    text, markdown = goldgate.render(evaluation), goldgate.render(evaluation, "markdown")
    assert "Hints\n  They change no number.\n  - 1 of 1 answers have arguments as an object:" in text
    assert "\n- 1 of 1 answers have arguments as an object: `metrics: {response: {arguments: mapping}}`\n" in markdown
    assert all(len(line) <= 80 for line in text.splitlines())
    usual = evaluate([[SUE]])
    assert "Hints" not in goldgate.render(usual) + goldgate.render(usual, "markdown")


def test_a_report_stored_before_there_were_hints_can_be_shown() -> None:
    report = {name: part for name, part in evaluate([[SUE]]).report.items() if name != "hints"}
    assert "Scores" in goldgate.render(report)


def test_every_word_and_key_of_the_hints_is_one_that_could_be_declared() -> None:
    assert len(set(NULL_WORDS)) == len(NULL_WORDS)
    for names in (("event_type", "arguments"), ("role", "argument")):
        keys = [key for name in names for key in OTHER_KEYS[name]]
        assert len(set(keys)) == len(keys)
        assert not set(keys) & set(names) - {"argument"}
