"""Hints: what stands out in the answers is said with the setting that reads it, and changes no number."""

from __future__ import annotations

import json
from typing import Any

import yaml

import goldgate
from goldgate import Evaluation
from goldgate.core.tally import total
from goldgate.suites.extraction.hints import BEGINNINGS, CONVERT, HINT_SHARE, NULL_WORDS, counted_hints
from goldgate.suites.extraction.unread_forms import UNREAD_FORMS
from tests.cases import cases
from tests.unit.helpers import event, gold

SUE = event("Sue", ("plaintiff", "Ann"), ("date", "May"))
FLAT = {"plaintiff": "Ann", "date": "null"}
MAPPING = [{"event_type": "Sue", "arguments": {"plaintiff": "Ann", "date": "N/A"}}]
OTHER = [{"type": "Sue", "args": [{"name": "plaintiff", "text": "Ann"}]}]


def as_response(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer)


def evaluate(answers: list[Any], response: Any = None, record: Any = None) -> Evaluation:
    """One gold event, and these answers to it; a list under `events` is a structured prediction."""
    protocol = {"metrics": {"response": response or {}, "schema": {"mode": "syntax_only"}}}
    golds = [(record or gold(SUE)) | {"id": str(number)} for number in range(len(answers))]
    predictions = [
        {"id": str(number)}
        | (answer if isinstance(answer, dict) and "events" in answer else {"response": as_response(answer)})
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
    answers = [FLAT, MAPPING, OTHER, [SUE], [["Ann", "Sue", "May"]], {"results": [SUE]}]
    tallies = [scorer.score(json.dumps(answer), gold(SUE)).tally for answer in answers]
    whole = counted_hints(total(tallies), scorer.settings.response)
    assert whole == counted_hints(total([total(tallies[3:]), total(reversed(tallies[:3]))]), scorer.settings.response)
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


# --- forms that no setting reads

UNREAD: dict[str, tuple[str, ...]] = {
    "calls": (
        'result = [Sue(plaintiff="Ann", date=["May", "June"])]',
        "[sue(who='Bob')]",
        'Lawsuit(span="Ann")',
        "[\"Sue(plaintiff='Ann')\"]",
        "<think>Which?</think>\nSue()",
    ),
    "lines": (
        "Event type: Sue\nplaintiff: Ann\ndate: May",
        "Here it is.\n\n1. **Plaintiff**: Bob",
        "plaintiff：Ann",
        "- event_type: Sue\n  arguments:\n    - role: plaintiff\n      argument: Ann",
        '[{"event_type": "Sue", "arguments": ["plaintiff: Ann"]}]',
    ),
    "tags": (
        "<plaintiff>Ann</plaintiff> sued in <date>May</date>.",
        '<event id="1" type="Sue">…',
        "@@Ann## sued.",
        "[Ann](plaintiff) sued.",
        "{Ann|plaintiff} sued.",
    ),
    "tables": (
        "| event | plaintiff | when |\n|---|---|---|\n| Sue | Ann | May |",
        "| plaintiff | date |\n|---|---|\n| Bob | July |",
        "Sue\tplaintiff\tAnn",
        "type,role,value\nSue,plaintiff,Ann",
    ),
    "triples": (
        '[["Ann", "Sue", "May"]]',
        '["Ann", "Sue", "May"]',
        '{"triples": [["Ann", "Sue", "May"]]}',
        "(Ann; plaintiff; Sue)",
        "<Ann, sue, May>",
    ),
    "by_type": ('{"Sue": {"plaintiff": "Ann"}}', '[{"Sue": ["Ann"]}]', '{"sue": "Ann"}'),
    "by_role": (
        '[{"event_type": "Sue", "arguments": [{"plaintiff": "Ann"}]}]',
        '[{"event_type": "Sue", "arguments": {"plaintiff": {"text": "Ann"}}}]',
    ),
    "other_roles": (
        '[{"event_type": "Sue", "head": "Ann", "tail": "May"}]',
        '[{"text": "Ann", "label": "PER"}]',
        '{"subject": "Ann", "predicate": "accuses", "object": "Bob"}',
    ),
    "nested": (
        '{"result": {"events": []}}',
        '{"output": {"list": [{"event_type": "Sue"}]}}',
        '[{"event": {"event_type": "Sue", "arguments": [{"role": "plaintiff", "argument": "Ann"}]}}]',
    ),
    "rows": ('[{"event_type": "Sue", "role": "plaintiff", "argument": "Ann"}]',),
    "objects": (
        '[{"event_type": "Sue", "arguments": [{"role": "plaintiff", "argument": {"text": "Ann", "start": 3}}]}]',
        '[{"event_type": "Sue", "arguments": [{"role": "plaintiff", "argument": [{"text": "Ann"}]}]}]',
    ),
    "encoded": ('[{"event_type": "Sue", "arguments": "{\\"plaintiff\\": \\"Ann\\"}"}]',),
    "next_example": (
        '{"event_type": "Meet", "arguments": []}\nText: Ann sued.\n'
        '{"event_type": "Sue", "arguments": [{"role": "plaintiff", "argument": "Ann"}]}\nText: May',
    ),
}


@cases(("form", "answer"), [(form, answer) for form, answers in UNREAD.items() for answer in answers])
def test_a_form_that_no_setting_reads_is_named_with_the_way_out(form: str, answer: str) -> None:
    report = evaluate([answer], record=RECORD).report
    expected = {"answers": 1, "of": 1, "have": UNREAD_FORMS[form], "setting": None, "advice": CONVERT}
    assert (report["hints"], report["hints_setting"]) == ([expected], None)
    zero = next(each["message"] for each in report["stands_out"] if each["code"] in ("zero", "unread_form"))
    assert zero.endswith(f"{UNREAD_FORMS[form]}; {CONVERT}")
    if answer[0] == "[" and "(" not in answer and "](" not in answer:
        assert evaluate([{"events": json.loads(answer)}], record=RECORD).report["hints"] == [expected]


def test_every_unread_form_is_tried() -> None:
    assert UNREAD.keys() == UNREAD_FORMS.keys()


@cases(
    "answer",
    [
        "[]",
        "result = []",
        "<think>plaintiff: Ann</think>[]",
        "There are no events.",
        "def read(text):\n    return json.loads(text, strict=False)",
        "See [1], (2003), {x|y} and <b>bold</b>: it is | not | there.",
        '{"who": "Bob", "when": "noon"}',
        '[["noon", "late", "Bob"]]',
        '[{"event_type": "Steal", "arguments": []}]',
    ],
)
def test_what_holds_no_name_of_gold_has_no_hint(answer: str) -> None:
    assert said(evaluate([answer], record=RECORD)) == []


@cases(
    ("hits", "others", "is_named"),
    [(3, 400, True), (2, 100, True), (2, 400, False), (1, 99, True), (1, 100, False), (1, 0, True)],
)
def test_a_form_that_loses_whole_answers_is_named_from_three_answers_or_one_percent_on(
    hits: int, others: int, is_named: bool
) -> None:
    for answer in (UNREAD["calls"][0], {"results": [SUE]}):
        assert bool(said(evaluate([answer] * hits + [[SUE]] * others))) is is_named


# --- all hints are one setting to paste


@cases(("shape", "other"), [(one, other) for one in SHAPES for other in SHAPES if one < other])
def test_when_the_joint_setting_is_pasted_no_hint_with_a_setting_is_left(shape: str, other: str) -> None:
    answers = [SHAPES[shape], SHAPES[other], SHAPES[shape]]
    before = evaluate(answers, {"thought_tags": ["plan"], "null_words": ["Nil"]}, record=RECORD)
    joint = yaml.safe_load(before.report["hints_setting"])["metrics"]["response"]
    assert (joint["thought_tags"], joint["null_words"]) == (["plan"], ["Nil"])
    after = evaluate(answers, joint, record=RECORD)
    assert [hint for hint in after.report["hints"] if hint["setting"]] == []
    assert (after["strict_recall"] or 0) >= 2 / 3  # two of three answers, at least, are read whole


def test_the_joint_setting_has_what_all_layers_of_an_answer_need() -> None:
    answer = '"Sue", "args": {"plaintiff": "null"}}]'  # the prompt ended in [{"event_type":
    for text in (answer, json.dumps({"out": [{"kind": "Sue", "slots": [{"slot": "plaintiff", "filler": "none"}]}]})):
        joint = evaluate([text], record=RECORD).report["hints_setting"]
        after = evaluate([text], yaml.safe_load(joint)["metrics"]["response"], record=RECORD)
        assert (said(after), after["type_f1"]) == ([], 1.0)


def test_the_joint_setting_is_pasted_from_the_terminal() -> None:
    answers = [SHAPES["mapping, other keys"], SHAPES["mapping"], {"results": [{"kind": "Sue", "slots": FLAT}]}]
    evaluation = evaluate(answers, {"thought_tags": ["plan"]}, record=RECORD)
    text = goldgate.render(evaluation).split("All of them as one setting: ")[1].split("\n\n")[0]
    assert yaml.safe_load(text) == yaml.safe_load(evaluation.report["hints_setting"])


def test_a_declared_form_gives_way_to_that_of_most_answers() -> None:
    flat, mapping = SHAPES["flat events"], SHAPES["mapping"]
    for answers, setting in (([flat, flat, mapping], "metrics: {response: {flat: true}}"), ([flat, mapping], None)):
        report = evaluate(answers, {"arguments": "mapping"}, record=RECORD).report
        assert report["hints_setting"] == setting
        assert [hint["advice"] for hint in report["hints"]] == [None if setting else CONVERT]


def test_a_key_that_says_two_things_is_set_for_that_of_more_answers() -> None:
    as_role = [{"event_type": "Sue", "arguments": [{"name": "plaintiff", "argument": "Ann"}]}]
    as_value = [{"event_type": "Sue", "arguments": [{"role": "plaintiff", "name": "Ann"}]}]
    as_events = {"arguments": [event("Sue", *ROLES.items())]}  # beside an event's own arguments it would be unclear
    report = evaluate([as_role, as_value, as_role, as_events], record=RECORD).report
    assert report["hints_setting"] == 'metrics: {response: {keys: {role: ["role", "name"]}}}'
    after = evaluate([as_role, as_value], yaml.safe_load(report["hints_setting"])["metrics"]["response"], record=RECORD)
    assert after["strict_f1"] == 2 / 7  # a hit, one predicted, six in gold
