"""Hints: what stands out in the answers is said with the setting that reads it, and changes no number."""

from __future__ import annotations

import json
from typing import Any

import yaml

import goldgate
from goldgate import Evaluation
from goldgate.core.tally import total
from goldgate.suites.extraction.hints import BEGINNINGS, HINT_SHARE, NULL_WORDS, counted_hints
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
        ([{"event_type": "Sue", "arguments": [{"plaintiff": "Ann"}]}], []),  # no setting reads it
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
    whole = counted_hints(total(tallies), scorer.form)
    assert whole == counted_hints(total([total(tallies[3:]), total(reversed(tallies[:3]))]), scorer.form)
    assert {hint.of for hint in whole} == {6}
    assert not any("hint" in name for name in scorer.metrics(total(tallies)))


def test_hints_stand_in_text_and_markdown_a_line_each() -> None:
    evaluation = evaluate([MAPPING])
    text, markdown = goldgate.render(evaluation), goldgate.render(evaluation, "markdown")
    assert "Hints\n  They change no number.\n  - 1 of 1 answers have arguments as an object:" in text
    assert "\n- 1 of 1 answers have arguments as an object: `metrics: {response: {arguments: mapping}}`\n" in markdown
    assert all(len(line) <= 80 for line in text.splitlines())
    usual = evaluate([[SUE]])
    assert "Hints" not in goldgate.render(usual) + goldgate.render(usual, "markdown")


def test_every_null_word_is_there_once() -> None:
    assert len(set(NULL_WORDS)) == len(NULL_WORDS)


# --- no score of 0 without a hint

ROLES = {"plaintiff": "Ann", "date": ["May", "June"]}
RECORD = gold(event("Sue", ("plaintiff", "Ann"), ("date", "May"), ("date", "June")))


def listed(role: str = "role", argument: str = "argument") -> list[Any]:
    return [{role: name, argument: value} for name, value in ROLES.items()]


SHAPES: dict[str, Any] = {
    "flat events": [{"event_type": "Sue", **ROLES}],
    "flat events with a trigger": [{"event_type": "Sue", "trigger": "sued", **ROLES}],
    "flat events under a key": {"events": [{"event_type": "Sue", **ROLES}]},
    "flat events, another key": [{"type": "Sue", **ROLES}],
    "one flat event": {"event_type": "Sue", **ROLES},
    "flat, no type": ROLES,
    "flat, no type, in a list": [ROLES],
    "mapping": [{"event_type": "Sue", "arguments": ROLES}],
    "mapping, type": [{"type": "Sue", "arguments": ROLES}],
    "mapping, other keys": [{"kind": "Sue", "slots": ROLES}],
    "text for argument": [{"event_type": "Sue", "arguments": listed(argument="text")}],
    "other keys": [{"kind": "Sue", "slots": listed("slot", "filler")}],
    "the same key at two levels": [{"type": "Sue", "args": listed("type", "text")}],
    "events under another key": {"result": [event("Sue", *ROLES.items())]},
    "several beside the value": [
        {"event_type": "Sue", "arguments": [{"role": r, "id": "T1", "text": v, "score": 1} for r, v in ROLES.items()]}
    ],
}


@cases("shape", [*SHAPES])
def test_the_joint_setting_reads_what_scores_zero(shape: str) -> None:
    answer = SHAPES[shape]
    for predicted in (answer, {"events": answer if isinstance(answer, list) else None}):
        if predicted == {"events": None}:
            continue
        evaluation = evaluate([predicted], record=RECORD)
        assert evaluation["strict_f1"] == 0
        zero = next(each for each in evaluation.report["stands_out"] if each["code"] == "zero")
        setting = evaluation.report["hints_setting"]
        assert zero["message"].endswith(f"to read them, write in the protocol: {setting}")
        response = yaml.safe_load(setting)["metrics"]["response"]
        read = evaluate([predicted], response, record=RECORD)
        assert (read["strict_f1"], read["type_f1"], said(read)) == (1.0, 1.0, [])


@cases("beginning", BEGINNINGS)
def test_an_answer_without_its_beginning_is_hinted_at(beginning: str) -> None:
    only = event("Sue", *ROLES.items())
    whole: Any = {"events": [only]} if "events" in beginning else only if beginning[1] == '"' else [only]
    prediction = {"id": "1", "response": json.dumps(whole).removeprefix(beginning)}
    protocol: Any = {"metrics": {"schema": {"mode": "syntax_only"}}}
    evaluation = goldgate.evaluate([RECORD], [prediction], None, protocol)
    if evaluation["strict_f1"] == 0:  # some are read as they are
        protocol["metrics"] |= yaml.safe_load(evaluation.report["hints_setting"])["metrics"]
        assert goldgate.evaluate([RECORD], [prediction], None, protocol)["strict_f1"] == 1.0


def test_one_answer_is_enough_where_the_score_is_zero() -> None:
    others: list[Any] = [[]] * 30
    few = evaluate([SHAPES["mapping, type"], *others], record=RECORD)
    assert len(said(few)) == 2
    assert said(evaluate([SHAPES["mapping, type"], [event("Sue", *ROLES.items())], *others], record=RECORD)) == []


def test_of_settings_that_exclude_each_other_that_of_more_answers_is_taken() -> None:
    flat, mapping = SHAPES["flat events"], SHAPES["mapping, type"]
    for answers, part in (([flat, flat, mapping], "flat: true"), ([flat, mapping, mapping], "arguments: mapping")):
        setting = evaluate(answers, record=RECORD).report["hints_setting"]
        assert setting == f'metrics: {{response: {{keys: {{event_type: ["event_type", "type"]}}, {part}}}}}'


@cases(
    ("answer", "expected"),
    [
        ([event("sue", ("plaintiff", "Ann"))], ["the event type “sue” where gold has “Sue”"]),
        ([event("“Sue”:", ("plaintiff", "Ann"))], ["the event type ““Sue”:” where gold has “Sue”"]),
        (
            [event("Sue", ("Plaintiff", "Ann"), ("*date*", "May"))],
            ["the role “*date*” where gold has “date”", "the role “Plaintiff” where gold has “plaintiff”"],
        ),
        ([{"event_type": "SUE", "arguments": {"DATE": "May"}}], [
            "arguments as an object",
            "the event type “SUE” where gold has “Sue”",
            "the role “DATE” where gold has “date”",
        ]),
        ({"Date": "May"}, ["one flat object from roles to values", "the role “Date” where gold has “date”"]),
    ],
)  # fmt: skip
def test_names_in_another_spelling_are_to_be_renamed(answer: Any, expected: list[str]) -> None:
    report = evaluate([answer], record=RECORD).report
    assert [hint["have"] for hint in report["hints"]] == expected
    settings = [hint["setting"] for hint in report["hints"] if "where gold has" in hint["have"]]
    assert settings == [None] * len(settings)
    messages = [each["message"] for each in report["stands_out"]]
    assert any(message.endswith("rename one of the two") for message in messages)


def test_gold_in_another_form_given_as_predictions_gets_its_hint() -> None:
    record = {"id": "1", "events": [{"type": "Sue", "arguments": {"plaintiff": "Ann"}}]}
    report = goldgate.evaluate([record], [record], None, {"metrics": {"schema": {"mode": "syntax_only"}}}).report
    zero = next(each for each in report["stands_out"] if each["code"] == "zero")
    assert "arguments: mapping" in zero["message"]
    flat = {"id": "1", "events": [{"event_type": "Sue", "plaintiff": "Ann"}]}
    schema = {"event_types": {"Sue": {"roles": ["plaintiff"]}}}
    report = goldgate.evaluate([flat], [flat], schema).report
    assert report["hints_setting"] == "metrics: {response: {flat: true}}"
