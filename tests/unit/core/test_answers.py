"""The digest of all answers: the same in any order and split, and another for any other answer."""

from __future__ import annotations

import json
from itertools import permutations

from goldgate.core.tally import Tally, answer_digest

ANSWERS = [("a", "x", None, ""), ("b", "y", None, ""), ("c", None, [{"v": 1}], ""), ("d", None, None, "")]


def digest(*answers: tuple[object, ...]) -> str | None:
    tally = Tally()
    for identity, text, *more in answers:
        tally.add_answer(answer_digest(identity, text, *more))  # type: ignore[arg-type]
    return tally.answers_digest()


def test_order_and_split_change_nothing() -> None:
    assert len({digest(*order) for order in permutations(ANSWERS)}) == 1
    first, second = Tally(), Tally()
    for number, (identity, text, *more) in enumerate(ANSWERS):
        (first if number % 2 else second).add_answer(answer_digest(identity, text, *more))
    first += second
    assert first.answers_digest() == digest(*ANSWERS)


def test_another_answer_has_another_digest() -> None:
    first = [
        ("a", "x ", None, ""),
        ("a", "", None, ""),
        ("a", None, None, ""),
        ("a", "x", None, "why"),
        ("e", "x", None, ""),
    ]
    exchanged = [("a", "y", None, ""), ("b", "x", None, "")]
    others = [*([each, *ANSWERS[1:]] for each in first), [*exchanged, *ANSWERS[2:]], ANSWERS[:1]]
    digests = {digest(*answers) for answers in others} | {digest(*ANSWERS)}
    assert len(digests) == len(others) + 1
    assert None not in digests


def test_without_an_answer_or_one_that_has_a_digest_there_is_none() -> None:
    assert digest() is None
    tally = Tally()
    for number in (answer_digest("a", "\ud800"), answer_digest("b", None, json.loads("[" * 200 + "]" * 200)), 0):
        assert (tally.answers_digest() is None) == (tally.answers == 1)
        tally.add_answer(number)
    assert tally.answers_digest() is None
