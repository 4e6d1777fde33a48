"""Chain-of-thought diagnostics: buckets, type and argument consistency in both modes, coverage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest

from goldgate.core.evaluation import Evaluation
from goldgate.core.gate import Gate
from goldgate.errors import ConfigError
from goldgate.suites.extraction.settings import CotSettings
from tests.cases import cases

from ...helpers import SCHEMA, Json, answer, counts, event, gate, gold, judge, score, scorer

STRICT = CotSettings(enabled=True)
WEAK = CotSettings(enabled=True, mode="weak_mention")
BLOCK = CotSettings(enabled=True, require_thought_block=True)

PLEDGE = event("质押", ("质押方", "甲公司"))


def cot(response: str | list[Any] | None, settings: CotSettings = STRICT) -> Json:
    checked: Json = score(response, gold(), SCHEMA, cot=settings).record["cot"]
    return checked


@cases(
    ("response", "loose", "block"),
    [
        pytest.param(f"<think>x</think>{answer()}", "checked", "checked", id="thought-block"),
        pytest.param(f"I think so: {answer(PLEDGE)}", "checked", "skipped", id="text-before-the-answer"),
        pytest.param(f"Fine:\n```json\n{answer()}\n```", "checked", "skipped", id="text-before-the-fence"),
        pytest.param(answer(PLEDGE), "skipped", "skipped", id="nothing-but-the-answer"),
        pytest.param(f"{answer(PLEDGE)} since it says so", "skipped", "skipped", id="text-after-the-answer"),
        pytest.param(f"<think> </think>{answer()}", "skipped", "skipped", id="empty-block"),
        pytest.param(f"<think></think>So: {answer(PLEDGE)}", "checked", "skipped", id="empty-block-and-text"),
        pytest.param(f"reason</think>{answer()}", "checked", "checked", id="closing-tag-only"),
        pytest.param(f"<think>x {answer()}", "parse_fail", "parse_fail", id="never-closed"),
        pytest.param("<think>x</think>", "parse_fail", "parse_fail", id="no-answer"),
        pytest.param("nothing", "parse_fail", "parse_fail", id="no-json"),
        pytest.param(None, "parse_fail", "parse_fail", id="missing-prediction"),
        pytest.param([PLEDGE], "skipped", "skipped", id="structured"),
    ],
)
def test_every_sample_falls_into_one_bucket(response: str | list[Any] | None, loose: str, block: str) -> None:
    assert cot(response)["bucket"] == f"cot_{loose}"
    assert cot(response, BLOCK)["bucket"] == f"cot_{block}"


@cases(
    ("thought", "predicted", "strict", "weak"),
    [
        pytest.param("这是质押事件", ["质押"], True, True, id="named"),
        pytest.param("这是解除质押事件", ["解除质押"], True, True, id="longer-name"),
        pytest.param("这是解除质押事件", ["质押"], False, False, id="inside-a-longer-name-is-no-mention"),
        pytest.param("解除质押", ["质押"], False, False, id="longer-name-at-the-very-beginning"),
        pytest.param("解除质押，又质押", ["质押", "解除质押"], True, True, id="both-mentioned"),
        pytest.param("解除质押，又质押", ["解除质押"], False, True, id="more-mentioned-than-predicted"),
        pytest.param("没有事件", ["质押"], False, False, id="not-mentioned"),
        pytest.param("没有事件", [], True, True, id="nothing-predicted-nothing-mentioned"),
        pytest.param("they SUE him", ["Sue"], True, True, id="case-does-not-matter"),
        pytest.param("an issue is pursued", ["Sue"], False, False, id="part-of-a-word-is-no-mention"),
        pytest.param("an issue is pursued", [], True, True, id="part-of-a-word-and-nothing-predicted"),
        pytest.param("提起Sue诉讼", ["Sue"], True, True, id="latin-name-between-chinese"),
        pytest.param("质押 and 增持", ["质押"], True, True, id="types-outside-the-schema-are-not-mentions"),
        pytest.param("增持", ["增持"], False, False, id="predicted-outside-the-schema"),
        pytest.param("这不是质押", ["质押"], False, False, id="negated"),
        pytest.param("not a 质押 but they Sue", ["Sue"], True, True, id="negated-and-named"),
    ],
)
def test_type_consistency(thought: str, predicted: list[str], strict: bool, weak: bool) -> None:
    response = f"<think>{thought}</think>{answer(*map(event, predicted))}"
    assert cot(response)["type_consistent"] is strict
    assert cot(response, WEAK)["type_consistent"] is weak


def test_nothing_predicted_is_consistent_only_if_no_type_is_mentioned() -> None:
    assert cot("<think>可能是质押</think>[]")["type_consistent"] is False


def test_nothing_predicted_is_consistent_only_if_no_type_is_mentioned_under_weak_mention() -> None:
    assert cot("<think>可能是质押</think>[]", WEAK)["type_consistent"] is False


@cases(
    ("thought", "arguments", "strict", "weak"),
    [
        pytest.param("质押方是甲公司", [("质押方", "甲公司")], True, True, id="role-and-value-on-a-line"),
        pytest.param("甲公司是质押方", [("质押方", "甲公司")], True, True, id="value-before-role"),
        pytest.param("质押方\n甲公司", [("质押方", "甲公司")], False, True, id="role-on-another-line"),
        pytest.param("甲公司", [("质押方", "甲公司")], False, True, id="role-nowhere"),
        pytest.param("质押方是乙", [("质押方", "甲公司")], False, False, id="value-nowhere"),
        pytest.param("质押方是 甲 公司", [("质押方", "甲公司")], True, True, id="normalized"),
        pytest.param("质押方：《甲》", [("质押方", "<甲>")], True, True, id="folded-punctuation"),
        pytest.param("甲公司\n质押方：甲公司", [("质押方", "甲公司")], True, True, id="second-occurrence"),
        pytest.param("质押方甲，数量5", [("质押方", "甲"), ("数量", 5)], True, True, id="number"),
        pytest.param("质押方甲，数量无", [("质押方", "甲"), ("数量", "5")], False, False, id="one-of-two"),
        pytest.param("质押方甲、乙", [("质押方", ["甲", "乙"])], True, True, id="list"),
        pytest.param("the Plaintiff is A", [("plaintiff", "A")], True, True, id="role-in-another-case"),
        pytest.param("complaintiff: A", [("plaintiff", "A")], False, True, id="role-inside-a-word"),
        pytest.param("plaintiffs: A", [("plaintiff", "A")], False, True, id="role-as-part-of-a-plural"),
        pytest.param("x", [], True, True, id="nothing-predicted-is-trivially-consistent"),
        pytest.param("质押方绝非甲公司", [("质押方", "甲公司")], False, False, id="negated"),
        pytest.param("The plaintiff is certainly not A.", [("plaintiff", "A")], False, False, id="negated-in-english"),
        pytest.param("A isn't the plaintiff", [("plaintiff", "A")], False, False, id="negated-behind-the-value"),
        pytest.param("plaintiff: A? Never", [("plaintiff", "A")], False, False, id="question-and-negation"),
        pytest.param("质押方不是乙，而是甲公司", [("质押方", "甲公司")], True, True, id="role-in-a-negating-clause"),
        pytest.param("plaintiff not B but A", [("plaintiff", "A")], True, True, id="but"),
        pytest.param("plaintiff: not guilty", [("plaintiff", "not guilty")], True, True, id="value-that-negates"),
        pytest.param("date: not guilty, B", [("date", "not guilty")], True, True, id="value-that-negates-in-a-clause"),
        pytest.param("date: **No**\nplaintiff: A", [("date", "No"), ("plaintiff", "A")], True, True, id="value-no"),
        pytest.param(
            "plaintiff is not Ann; date: not",
            [("plaintiff", "Ann"), ("date", "not")],
            False,
            False,
            id="no-excuse-for-others",
        ),
        pytest.param(
            "date: not guilty, plaintiff: not Ann",
            [("plaintiff", "Ann"), ("date", "not guilty")],
            False,
            False,
            id="nor-this",
        ),
        pytest.param("质押方：无锡非凡公司", [("质押方", "无锡非凡公司")], True, True, id="name-with-such-characters"),
        pytest.param("plaintiff is No. 5", [("plaintiff", "No. 5")], True, True, id="number-sign"),
    ],
)
def test_argument_consistency(thought: str, arguments: list[tuple[str, Any]], strict: bool, weak: bool) -> None:
    response = f"<think>{thought}</think>{answer(event('质押', *arguments))}"
    assert cot(response)["argument_consistent"] is strict
    assert cot(response, WEAK)["argument_consistent"] is weak


def test_record_names_the_mentions_and_the_first_missing_argument() -> None:
    checked = cot(f"<think>质押</think>{answer(event('质押', ('质押方', '甲'), ('数量', '5')))}")
    assert checked["mentioned"] == ["质押"]
    assert checked["missing"] == ("质押", "质押方", "甲")


@cases(
    ("thought", "consistent"),
    [
        pytest.param("Contract No: 4711\nSeller: ACME", True, id="a-role-with-a-negation-in-its-name"),
        pytest.param("The contract no is 4711, the seller is ACME.", True, id="in-another-case"),
        pytest.param("No: 7\nContract No: 4711, Seller: ACME", True, id="a-role-that-is-a-negation-and-its-colon"),
        pytest.param("Contract No: not 4711\nSeller: ACME", False, id="a-negation-behind-the-name"),
        pytest.param("Contract No: 4711\nSeller: no, ACME is the buyer", True, id="a-negation-in-another-clause"),
        pytest.param("Contract No: 4711\nSeller: no ACME", False, id="a-negation-of-another-role"),
        pytest.param("Contract None: 4711\nContract No, Seller: ACME", False, id="a-longer-word-is-not-the-name"),
    ],
)
def test_names_of_the_schema_do_not_negate(thought: str, consistent: bool) -> None:
    schema = {"event_types": {"Sale": {"roles": ["Contract No", "Seller", "No"]}}}
    arguments = [("Contract No", "4711"), ("Seller", "ACME"), *([("No", "7")] if thought.startswith("No") else [])]
    response = f"<think>Sale\n{thought}</think>{answer(event('Sale', *arguments))}"
    checked = score(response, gold(), schema, cot=STRICT).record["cot"]
    assert (checked["argument_consistent"], checked["type_consistent"]) == (consistent, True)


VALUE_OF_TWO_LINES = event("质押", ("质押方", "甲\n公司"))


def test_other_arguments_do_not_change_whether_one_is_consistent() -> None:
    thought = "<think>质押方：甲\n公司，1是数量</think>"
    both = event("质押", ("质押方", "甲\n公司"), ("数量", "1"))
    alone = cot(f"{thought}{answer(VALUE_OF_TWO_LINES)}")["argument_consistent"]
    assert cot(f"{thought}{answer(both)}")["argument_consistent"] is alone


def test_rates_are_over_the_checked_and_stand_beside_their_coverage() -> None:
    responses = {
        "both": f"<think>质押，质押方甲</think>{answer(event('质押', ('质押方', '甲')))}",
        "type only": f"<think>质押</think>{answer(event('质押', ('质押方', '甲')))}",
        "argument only": f"<think>质押方甲</think>{answer(event('Sue', ('质押方', '甲')))}",
        "skipped": "[]",
        "failed": "none",
    }
    golds = [gold(identity=name) for name in [*responses, "missing"]]
    predictions = [{"id": name, "response": text} for name, text in responses.items()]
    report = judge(golds, predictions, SCHEMA, cot=STRICT).report
    shown = {
        name: (metric.get("numerator", metric["value"]), metric.get("denominator"))
        for name, metric in report["metrics"]["diagnostics"].items()
        if name.startswith("cot_")
    }
    # 质押方 names no type beyond 质押 itself, which stands inside it: "质押方甲" mentions 质押, predicted is Sue.
    assert shown == {
        "cot_type_consistency": (2, 3),
        "cot_argument_consistency": (2, 3),
        "cot_faithfulness": (1, 3),
        "cot_copied_rate": (0, 3),
        "cot_coverage_rate": (3, 6),
        "cot_checked": (3, None),
        "cot_skipped": (1, None),
        "cot_parse_fail": (2, None),
    }
    assert not any(name.startswith("cot_") for name in report["metrics"]["main"])


def test_disabled_diagnostics_are_undefined_with_the_reason() -> None:
    report = judge([gold()], [{"id": "1", "response": "<think>x</think>[]"}]).report
    for name, metric in report["metrics"]["diagnostics"].items():
        if not name.startswith("cot_"):
            continue
        assert metric["value"] is None
        assert metric["reason"] == "metrics.cot.enabled is false"


def test_diagnostics_need_an_event_schema() -> None:
    with pytest.raises(ConfigError) as caught:
        scorer(None, cot=STRICT)
    assert caught.value.code == "schema.required"


TWO = event("质押", ("质押方", "甲公司"), ("数量", "5"))
MEMBERS = '"质押方": "甲公司", "数量": 5'


@cases(
    ("thought", "copied"),
    [
        pytest.param(answer(TWO), True, id="the-answer-itself"),
        pytest.param(f"I think:\n```json\n{answer(TWO)}\n```\nThat is it.", True, id="in-a-fence-with-words"),
        pytest.param(answer(TWO).replace('"', "'"), True, id="in-single-quotes"),
        pytest.param(answer(TWO).replace('"', "“"), True, id="in-full-quotes"),
        pytest.param(answer(TWO).replace(", ", ",\n    "), True, id="on-many-lines"),
        pytest.param('{"质押": {' + MEMBERS + "}}", True, id="as-a-mapping"),
        pytest.param(answer(TWO).replace('"role"', "role").replace('"argument"', "argument"), True, id="bare-keys"),
        pytest.param("Event{event_type='质押', 质押方='甲公司', 数量='5'}", True, id="like-code"),
        pytest.param('{"质押方": ["乙", "甲公司"], "数量": "5", "event_type": "质押"}', True, id="in-another-form"),
        pytest.param('Draft: {"event_type": "质押", "质押方": "甲公司"}. No: 数量5', False, id="a-draft-of-two-thirds"),
        pytest.param(json.dumps(answer(TWO), ensure_ascii=False), True, id="escaped-in-quotes"),
        pytest.param(answer(TWO).replace('"', "&quot;"), True, id="as-html"),
        pytest.param(answer(TWO).replace('"', "»"), True, id="in-other-quotes"),
        pytest.param(
            "- event_type: 质押\n  arguments:\n  - role: 质押方\n    argument: 甲公司\n  - role: 数量\n    argument: 5",
            True,
            id="as-yaml",
        ),
        pytest.param('It says {"质押方": "甲公司"}.', False, id="a-third-of-it"),
        pytest.param("质押，质押方是甲公司，数量是5", False, id="words"),
        pytest.param("质押方: “甲公司”\n数量: “5”\n质押", False, id="quoted-words"),
        pytest.param('The keys are "role": and "argument": here. 质押 甲公司 5', False, id="words-about-json"),
    ],
)
def test_thought_that_repeats_the_answer_is_no_thought(thought: str, copied: bool) -> None:
    response = f"<think>{thought}</think>{answer(TWO)}"
    checked = cot(response)
    assert (checked["copied"], checked["bucket"]) == (copied, "cot_skipped" if copied else "cot_checked")
    report = judge([gold()], [{"id": "1", "response": response}], SCHEMA, cot=STRICT).report
    assert report["metrics"]["diagnostics"]["cot_copied_rate"]["value"] == copied
    assert ("copied_thought" in [entry["code"] for entry in report["stands_out"]]) is copied


GOOD = f"<think>质押，质押方是甲公司，数量是5</think>{answer(TWO)}"
BAD = f"<think>质押，质押方是乙公司</think>{answer(TWO)}"
COPIED = f"<think>{answer(TWO)}</think>{answer(TWO)}"


def judge_responses(
    responses: Sequence[str | None], gates: dict[str, Gate] | None = None, settings: CotSettings = STRICT
) -> Evaluation:
    golds = [gold(identity=str(number)) for number, _ in enumerate(responses)]
    predictions = [{"id": str(number), "response": text} for number, text in enumerate(responses) if text is not None]
    return judge(golds, predictions, SCHEMA, gates=gates, cot=settings)


def test_faithfulness_is_the_conjunction_of_types_and_arguments() -> None:
    # One thought in words, one that repeats its answer: 1 of 1 is faithful, and 1 of 2 thoughts is copied.
    evaluation = judge_responses([GOOD, COPIED])
    rates = ("cot_type_consistency", "cot_argument_consistency", "cot_faithfulness", "cot_copied_rate")
    assert counts(evaluation, *rates) == ((1, 1), (1, 1), (1, 1), (1, 2))
    assert [evaluation[f"cot_{bucket}"] for bucket in ("checked", "skipped", "parse_fail")] == [1, 1, 0]


@cases(
    ("left_out",),
    [
        pytest.param(BAD, id="bad-thought"),
        pytest.param(answer(TWO), id="no-thought"),
        pytest.param(f"<think> </think>{answer(TWO)}", id="empty-thought"),
        pytest.param(f"<think>x{answer(TWO)}", id="thought-without-an-end"),
        pytest.param(COPIED, id="thought-that-repeats-the-answer"),
        pytest.param("<think>质押，质押方是甲公司</think>", id="no-answer"),
        pytest.param(None, id="missing-prediction"),
    ],
)
def test_leaving_thoughts_out_passes_no_gate(left_out: str | None) -> None:
    # 12 good thoughts of 20 samples are 12/20, whatever the other 8 are.
    for settings in (STRICT, WEAK, BLOCK):
        for least, verdict in (("0.6", "PASS"), ("0.61", "FAIL")):
            gates = {"cot_faithfulness": Gate(min=Decimal(least), on_not_evaluable="pass")}
            evaluation = judge_responses([GOOD] * 12 + [left_out] * 8, gates, settings)
            assert evaluation.status == verdict
            measured = evaluation.report["gates"][0]["measured"]
            assert (measured["numerator"], measured["denominator"]) == (12, 20)
            assert bool(evaluation.passes(cot_faithfulness=least)) is (verdict == "PASS")


def test_gate_on_thoughts_shows_the_rate_that_decides_and_the_one_over_checked_thoughts() -> None:
    evaluation = judge_responses([GOOD] * 2 + [answer(TWO)] * 2, {"cot_faithfulness": gate(min="0.75")})
    note = "cot_faithfulness itself is 1.0000 (2/2); in a gate, a sample without a checked thought is a miss"
    assert evaluation.report["gates"][0]["reason"] == f"2/4 is not ≥ 0.75; {note}"
    assert counts(evaluation, "cot_faithfulness") == ((2, 2),)
    assert evaluation.report["metrics"]["diagnostics"]["cot_faithfulness"]["gate_rate"]["value"] == 0.5
    assert repr(evaluation.passes(cot_faithfulness=0.75)).endswith(f"0.5000 = 2/4 is not ≥ 0.75 ({note})")


def test_gate_with_a_confidence_counts_samples_without_a_thought() -> None:
    gates = {"cot_faithfulness": Gate(min=Decimal("0.8"), confidence=Decimal("0.95"))}
    assert judge_responses([GOOD] * 60, gates).status == "PASS"
    few = judge_responses([GOOD] * 20 + [answer(TWO)] * 40, gates)
    assert few.status == "FAIL"
    assert few.report["gates"][0]["reason"].startswith("20/60 is not ≥ 0.8: ")


def test_without_any_thought_a_gate_is_evaluable_and_fails() -> None:
    gates = {"cot_type_consistency": Gate(min=Decimal("0.1"), on_not_evaluable="pass")}
    evaluation = judge_responses([answer(TWO)] * 3, gates)
    assert evaluation["cot_type_consistency"] is None
    assert evaluation.report["gates"][0]["reason"].startswith("0/3 is not ≥ 0.1; cot_type_consistency itself is n/a")


def test_copies_of_the_source_text_name_no_value() -> None:
    sentences = [
        f"{number}日晚间，甲公司发布公告称，其控股股东将所持有的部分公司股份{number}万股进行了质押，用于自身资金周转需要，上述质押已在登记公司办理完毕手续。"
        for number in range(3)
    ]
    text = "".join(sentences)
    predicted = answer(event("质押", ("质押方", "甲公司"), ("数量", "2万股")))
    copies = {
        "the whole text on a line": f"质押方、数量：{text}",
        "a sentence on each line": "\n".join(f"质押方、数量：{sentence}" for sentence in sentences),
        "with blanks": f"质押方、数量：{' '.join(text)}",
        "twice": f"质押方 {text} 数量 {text}",
    }
    for name, thought in copies.items():
        for said, consistent in (("", False), ("\n质押方：甲公司\n数量：2万股", True)):
            response = f"<think>质押\n{thought}{said}</think>{predicted}"
            for settings in (STRICT, WEAK):
                record = score(response, gold(text=text), SCHEMA, cot=settings).record["cot"]
                assert record["argument_consistent"] is consistent, (name, said, settings.mode)
    short = score(
        f"<think>质押\n质押方、数量：{text[:40]}，2万股</think>{predicted}", gold(text=text), SCHEMA, cot=STRICT
    )
    assert short.record["cot"]["argument_consistent"] is True  # a few words of the text are no copy


def test_empty_answer_cannot_be_copied() -> None:
    assert cot(f'<think>{answer()} "a": 1</think>{answer()}')["copied"] is False


@pytest.mark.parametrize("settings", [STRICT, WEAK], ids=["strict", "weak"])
def test_large_answer_is_looked_for_in_one_pass(settings: CotSettings, monkeypatch: pytest.MonkeyPatch) -> None:
    # 3,000 roles, each with its value on a line of its own: 3,000 × 3,000 lines were looked through once.
    from goldgate.core import value_text
    from goldgate.suites.extraction import chain_of_thought

    steps = 0
    step = value_text.Automaton._step

    def counting(self: value_text.Automaton, node: int, code: int) -> int:
        nonlocal steps
        steps += 1
        return step(self, node, code)

    def never(*_: object) -> None:
        raise AssertionError("one after the other")

    monkeypatch.setattr(value_text.Automaton, "_step", counting)
    monkeypatch.setattr(chain_of_thought, "slow_first_missing", never)
    predicted = answer(event("Sue", *((f"r{number}", f"V {number} q") for number in range(3_000))))
    thought = "\n".join(f"r{number} v{number}q" for number in reversed(range(3_000)))
    response = f"<think>{thought}</think>{predicted}"
    assert cot(response, settings)["argument_consistent"] is True
    assert steps <= 5 * len(response)
    assert cot(response.replace("v1234q", "v1234p"), settings)["missing"] == ("Sue", "r1234", "v1234q")
