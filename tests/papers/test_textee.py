"""TextEE's numbers: by hand, and against the published definition on random data."""

from __future__ import annotations

from typing import Any

import pytest

import goldgate
from goldgate.errors import ConfigError
from tests.cases import cases

from . import published
from .made import count, event, judge, judge_all, rate, settings, triple

FAMILIES = ("ti", "tc", "ai", "ac", "ai_plus", "ac_plus")

# "Bob bombed Rome and attacked Oslo": two attacks, both by Bob.
GOLD = [
    event("Attack", ("Attacker", "Bob", 0, 3), ("Place", "Rome", 11, 15), trigger=("bombed", 4, 10)),
    event("Attack", ("Attacker", "Bob", 0, 3), ("Place", "Oslo", 29, 33), trigger=("attacked", 20, 28)),
]


def triples(evaluation: goldgate.Evaluation) -> dict[str, tuple[int, int, int]]:
    return {family: triple(evaluation, f"textee_{family}") for family in FAMILIES}


def test_the_answer_that_is_gold_is_all_right() -> None:
    # Bob attacks twice: one (Attack, Bob) without a trigger, two with one.
    assert triples(judge("textee", GOLD, GOLD)) == {
        "ti": (2, 2, 2),
        "tc": (2, 2, 2),
        "ai": (3, 3, 3),
        "ac": (3, 3, 3),
        "ai_plus": (4, 4, 4),
        "ac_plus": (4, 4, 4),
    }


def test_worked_by_hand() -> None:
    predicted = [
        # The trigger is right, its type is not: ti but not tc, and nothing of its arguments.
        event("Transport", ("Attacker", "Bob", 0, 3), trigger=("bombed", 4, 10)),
        # Rome belongs to the other attack, under another role: ai, but not ac, ai_plus or ac_plus.
        event("Attack", ("Attacker", "Bob", 0, 3), ("Target", "Rome", 11, 15), trigger=("attacked", 20, 28)),
    ]
    assert triples(judge("textee", GOLD, predicted)) == {
        "ti": (2, 2, 2),
        "tc": (1, 2, 2),
        "ai": (2, 3, 3),
        "ac": (1, 3, 3),  # (Attack, Bob), (Attack, Rome); of these, Bob has his role
        "ai_plus": (1, 3, 4),
        "ac_plus": (1, 3, 4),
    }


def test_repeats_count_once() -> None:
    assert triples(judge("textee", GOLD, [*GOLD, *GOLD])) == triples(judge("textee", GOLD, GOLD))


def test_offsets_decide_where_both_sides_have_them() -> None:
    elsewhere = [event("Attack", trigger=("bombed", 40, 46))]
    found = judge("textee", [event("Attack", trigger=("bombed", 4, 10))], elsewhere)
    assert triple(found, "textee_ti") == (0, 1, 1)
    assert (count(found, "textee_by_offsets"), count(found, "textee_by_text")) == (1, 0)


WITHOUT_OFFSETS = [event("Attack", ("Place", "ROME"), trigger=("Bombed", 4, 10))]


def test_what_has_no_offsets_beside_gold_that_has_is_no_hit() -> None:
    found = judge("textee", GOLD, WITHOUT_OFFSETS)
    assert triple(found, "textee_tc") == (1, 1, 2)  # the trigger has offsets
    assert triple(found, "textee_ac_plus") == (0, 1, 4)
    assert [count(found, f"textee_{name}") for name in ("by_offsets", "by_text", "without_offsets")] == [1, 0, 1]
    (warning,) = [each for each in found.report["stands_out"] if each["code"] == "answers_without_offsets"]
    assert warning["counts"] == {"answers": 1, "of": 1}
    assert warning["message"].endswith("write in the protocol: metrics: {profile_offsets: words}")


def test_leaving_out_the_offsets_of_one_argument_makes_no_hits_of_wrong_offsets() -> None:
    # Every word is right and every offset is wrong, but that the last argument has none: 0 of 40 in 10 samples.
    arguments = [
        ("Place", "Rome", 11, 15),
        ("Place", "Oslo", 29, 33),
        ("Attacker", "Bob", 0, 3),
        ("Target", "Mary", 5, 9),
    ]
    gold = [event("Attack", *arguments)]
    moved = [(role, words, start + 1, end + 1) for role, words, start, end in arguments]
    answer = [event("Attack", *moved[:3], ("Target", "Mary"))]
    assert triple(judge_all("textee", [gold] * 10, [answer] * 10), "textee_ac") == (0, 40, 40)
    by_words = judge_all("textee", [gold] * 10, [answer] * 10, profile_offsets="words")
    assert triple(by_words, "textee_ac") == (40, 40, 40)
    assert "profile:textee.v3+words|" in by_words.report["signature"]


def test_words_decide_where_gold_has_no_offsets_or_the_protocol_says_so() -> None:
    bare = [event("Attack", ("Place", "Rome"), trigger=("bombed",))]
    for gold, answer, declared in ((GOLD, WITHOUT_OFFSETS, {"profile_offsets": "words"}), (bare, WITHOUT_OFFSETS, {})):
        found = judge("textee", gold, answer, **declared)
        assert triple(found, "textee_tc")[:2] == triple(found, "textee_ac_plus")[:2] == (1, 1)
        assert [count(found, f"textee_{name}") for name in ("by_offsets", "by_text", "without_offsets")] == [0, 1, 0]


def test_offsets_by_words_are_a_setting_of_textee_only() -> None:
    for profile in ("doc2edag", "values"):
        with pytest.raises(ConfigError, match="only the profile textee compares offsets"):
            judge(profile, GOLD, GOLD, profile_offsets="words")


def test_an_event_without_a_trigger_is_attached_to_nothing() -> None:
    bare = [event("Attack", ("Place", "Rome", 11, 15))]
    found = judge("textee", bare, bare)
    assert rate(found, "textee_ti_f1").value is None  # no trigger on either side
    assert triple(found, "textee_ac_plus") == (1, 1, 1)
    assert triple(judge("textee", GOLD, bare), "textee_ac_plus") == (0, 1, 4)


def test_nothing_at_all_is_undefined_where_textee_gives_zero() -> None:
    found = judge("textee", [], [])
    assert rate(found, "textee_tc_f1").value is None
    assert rate(found, "textee_tc_f1").reason
    assert published.textee([_instance("0", [])], [_instance("0", [])])["tc"] == (0, 0, 0)


def test_a_missing_prediction_costs_recall_where_textee_ends_in_an_assertion() -> None:
    found = goldgate.evaluate([{"id": "0", "events": GOLD}], [], protocol=settings("textee"), allow_empty=True)
    assert triple(found, "textee_tc") == (0, 0, 2)
    with pytest.raises(AssertionError):
        published.textee([], [_instance("0", [])])


@cases(
    "trigger",
    [
        {"trigger": {"text": "bombed", "start": 4, "end": 10}},  # an object of its own
        {"trigger": "bombed", "trigger_start_index": 4},  # DuEE 1.0 says where it begins
        {"trigger": " bombed ", "start": 4, "end": 10},
    ],
)
def test_ways_to_write_a_trigger(trigger: dict[str, Any]) -> None:
    gold = [event("Attack", trigger=("bombed", 4, 10))]
    found = judge("textee", gold, [{"event_type": "Attack", "arguments": [], **trigger}])
    assert (triple(found, "textee_tc"), count(found, "textee_by_offsets")) == ((1, 1, 1), 1)


@cases("trigger", [None, 5, "", "  ", ["bombed"], {"start": 4, "end": 10}, {"text": 4}, {"text": None}])
def test_what_is_no_trigger_is_none(trigger: Any) -> None:
    answer = [{"event_type": "Attack", "arguments": [], "trigger": trigger}]
    assert triple(judge("textee", [event("Attack", trigger=("bombed", 4, 10))], answer), "textee_ti") == (0, 0, 1)


@cases("place", [{"start": 10, "end": 4}, {"start": -1, "end": 3}, {"start": "4", "end": 10}, {}])
def test_a_trigger_with_offsets_that_are_none_has_none(place: dict[str, Any]) -> None:
    answer = [{"event_type": "Attack", "arguments": [], "trigger": "bombed", **place}]
    found = judge("textee", [event("Attack", trigger=("bombed", 4, 10))], answer)
    assert (triple(found, "textee_tc"), count(found, "textee_without_offsets")) == ((0, 1, 1), 1)


def test_triggers_are_found_in_a_raw_response_and_in_another_form() -> None:
    gold = [{"id": "1", "events": [event("Attack", ("Place", "Rome"), trigger=("bombed",))]}]
    own = 'So: {"event_type": "Attack", "trigger": "bombed", "arguments": [{"role": "Place", "argument": "Rome"}]}'
    other = '[{"type": "Attack", "trigger": "bombed", "arguments": {"Place": "Rome"}}, {"type": ""}, 3]'
    form = {"keys": {"event_type": ["type"]}, "arguments": "mapping"}
    for response, declared in ((own, {}), (other, form)):
        protocol = settings("textee", response=declared)
        found = goldgate.evaluate(gold, [{"id": "1", "response": response}], protocol=protocol)
        assert triple(found, "textee_ac_plus") == (1, 1, 1), response


def test_every_mention_of_an_event_is_a_trigger_and_arguments_belong_to_the_first() -> None:
    mentions = [{"text": "bombed", "start": 4, "end": 10}, {"text": "attack", "start": 40, "end": 46}]
    gold = [event("Attack", ("Place", "Rome", 11, 15), trigger=("bombed", 4, 10)) | {"mentions": mentions}]
    found = judge("textee", gold, [event("Attack", ("Place", "Rome", 11, 15), trigger=("attack", 40, 46))])
    assert triple(found, "textee_tc") == (1, 1, 2)
    assert triple(found, "textee_ac") == (1, 1, 1)
    assert triple(found, "textee_ac_plus") == (0, 1, 1)


def test_an_event_that_is_none_does_not_take_the_trigger_of_the_next() -> None:
    answer: list[Any] = [3, {"event_type": " ", "trigger": "x", "arguments": []}, event("Attack", trigger=("bombed",))]
    assert triple(judge("textee", [event("Attack", trigger=("bombed",))], answer), "textee_tc") == (1, 1, 1)


def test_words_that_normalize_to_nothing_and_empty_roles_count_by_their_offsets() -> None:
    gold = [event("Attack", ("Place", "\u200b", 11, 12), ("Place", "Rome", 13, 17), trigger=(" ", 4, 5))]
    answer = [event("Attack", ("Place", "\u200b", 11, 12), ("", "Rome", 13, 17), trigger=("\u00ad", 4, 5))]
    instances = [_instance("0", answer)], [_instance("0", gold)]
    found = judge("textee", gold, answer)
    assert triples(found) == published.textee(*instances)
    assert triple(found, "textee_ac") == (1, 2, 2)
    assert triple(found, "strict") == (0, 0, 1)
    # Where words decide, a word that is nothing is not a key; an empty role is a role.
    said = [event("Attack", ("Place", "\u200b"), ("", "Rome"), trigger=("x",))]
    by_text = judge("textee", gold, said, profile_offsets="words")
    assert (triple(by_text, "textee_ti"), triple(by_text, "textee_ai")) == ((0, 1, 0), (1, 1, 1))
    assert triple(by_text, "textee_ac") == (0, 1, 1)


def test_empty_tokens_are_compared_by_their_numbers() -> None:
    def tokens(start: int) -> list[dict[str, Any]]:
        return [{"event_type": "Attack", "arguments": [], "trigger": "", "token_start": start, "token_end": start + 1}]

    for start, hits in ((3, 1), (4, 0)):
        assert triple(judge("textee", tokens(3), tokens(start)), "textee_tc") == (hits, 1, 1)


def _instance(number: str, events: list[dict[str, Any]]) -> dict[str, Any]:
    """The same as TextEE has it, with offsets of characters in place of tokens: they are only compared."""
    return {
        "doc_id": number,
        "wnd_id": f"{number}-0",
        "events": [
            {
                "trigger": [e["start"], e["end"], e["event_type"], e["trigger"]],
                "arguments": [[a["start"], a["end"], a["role"], a["argument"]] for a in e["arguments"]],
            }
            for e in events
        ],
    }
